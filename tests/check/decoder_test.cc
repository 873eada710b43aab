// Compressed histories, byte by byte.

#include "check/decoder.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <zlib.h>
#include <zstd.h>

#include <string>
#include <string_view>

namespace whorl::check::decoder_test {
namespace {

using testing::HasSubstr;

std::string Gzip(std::string text) {
  z_stream stream = {};
  EXPECT_EQ(deflateInit2(&stream, 6, Z_DEFLATED, MAX_WBITS + 16, 8, Z_DEFAULT_STRATEGY), Z_OK);
  std::string out(text.size() + 1'000, '\0');
  stream.next_in = reinterpret_cast<Bytef*>(text.data());
  stream.avail_in = static_cast<uInt>(text.size());
  stream.next_out = reinterpret_cast<Bytef*>(out.data());
  stream.avail_out = static_cast<uInt>(out.size());
  EXPECT_EQ(deflate(&stream, Z_FINISH), Z_STREAM_END);
  out.resize(stream.total_out);
  deflateEnd(&stream);
  return out;
}

// With a checksum, as zstd's command writes it.
std::string Zstd(std::string_view text) {
  std::string out(ZSTD_compressBound(text.size()), '\0');
  ZSTD_CCtx* context = ZSTD_createCCtx();
  ZSTD_CCtx_setParameter(context, ZSTD_c_checksumFlag, 1);
  out.resize(ZSTD_compress2(context, out.data(), out.size(), text.data(), text.size()));
  ZSTD_freeCCtx(context);
  return out;
}

struct Decoded {
  std::string text;
  std::string wrong;
};

Decoded Decode(std::string_view bytes, size_t piece) {
  Decoder decoder;
  Decoded decoded;
  for (size_t at = 0; at < bytes.size() && decoded.wrong.empty(); at += piece) {
    decoded.wrong = decoder.Add(bytes.substr(at, piece), decoded.text);
  }
  if (decoded.wrong.empty()) decoded.wrong = decoder.Finish(decoded.text);
  return decoded;
}

std::string Long() {
  std::string text;
  for (int i = 0; i < 20'000; ++i) text += "line " + std::to_string(i) + "\n";
  return text;
}

// A file may be several compressed ones, one after the other, as log rotation makes them.
TEST(CheckDecoder, EveryKindInPiecesOfAnySize) {
  const std::string text = Long();
  for (const size_t piece : {size_t{1}, size_t{7}, size_t{4'096}, size_t{10'000'000}}) {
    EXPECT_EQ(Decode(text, piece).text, text);
    EXPECT_EQ(Decode(Gzip(text), piece).text, text);
    EXPECT_EQ(Decode(Gzip(text) + Gzip("more\n"), piece).text, text + "more\n");
    EXPECT_EQ(Decode(Zstd(text), piece).text, text);
    EXPECT_EQ(Decode(Zstd(text) + Zstd("more\n"), piece).text, text + "more\n");
    EXPECT_EQ(Decode(Zstd(text) + Zstd("more\n"), piece).wrong, "");
  }
  EXPECT_EQ(Decode("", 1).text, "");
  EXPECT_EQ(Decode("\x1f", 1).text, "\x1f");
}

TEST(CheckDecoder, CutAndBrokenFilesAreSaid) {
  const std::string text = Long();
  for (const std::string& whole : {Gzip(text), Zstd(text)}) {
    EXPECT_THAT(Decode(whole.substr(0, whole.size() / 2), 1'000).wrong, HasSubstr("is cut"));
    std::string broken = whole;
    for (size_t i = 100; i < 200; ++i) broken[i] = static_cast<char>(broken[i] ^ 0x5a);
    EXPECT_THAT(Decode(broken, 1'000).wrong, HasSubstr("is broken"));
  }
}

// What has come is there at once: a stream that is followed waits for no more bytes.
TEST(CheckDecoder, GivesWhatHasCome) {
  Decoder decoder;
  std::string out;
  EXPECT_EQ(decoder.Add("one\n", out), "");
  EXPECT_EQ(out, "one\n");
}

}  // namespace
}  // namespace whorl::check::decoder_test
