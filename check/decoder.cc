#include "check/decoder.h"

#include <zlib.h>
#include <zstd.h>

#include <array>
#include <cstdint>
#include <optional>
#include <utility>

#include "base/text.h"

namespace whorl::check {
namespace {

constexpr std::string_view kGzip = "\x1f\x8b";
constexpr std::string_view kZstd = "\x28\xb5\x2f\xfd";
constexpr std::string_view kUtf16Little = "\xff\xfe";
constexpr std::string_view kUtf16Big = "\xfe\xff";
constexpr size_t kPiece = size_t{64} << 10U;

class Plain final : public Decoder::Stream {
 public:
  std::string Add(std::string_view bytes, std::string& out) override {
    out += bytes;
    return {};
  }
  bool MayEnd() const override { return true; }
};

// One member of gzip after the other.
class Gzip final : public Decoder::Stream {
 public:
  Gzip() {
    constexpr int kOfGzip = 16;
    is_ready_ = inflateInit2(&stream_, MAX_WBITS + kOfGzip) == Z_OK;
  }
  Gzip(const Gzip&) = delete;
  Gzip& operator=(const Gzip&) = delete;
  ~Gzip() override { inflateEnd(&stream_); }

  std::string Add(std::string_view bytes, std::string& out) override {
    if (!is_ready_) return "there is no memory for gzip";
    stream_.next_in = reinterpret_cast<Bytef*>(const_cast<char*>(bytes.data()));
    stream_.avail_in = static_cast<uInt>(bytes.size());
    while (true) {
      if (may_end_ && stream_.avail_in == 0) return {};
      if (may_end_) inflateReset(&stream_);
      may_end_ = false;
      stream_.next_out = reinterpret_cast<Bytef*>(piece_.data());
      stream_.avail_out = kPiece;
      const int code = inflate(&stream_, Z_NO_FLUSH);
      out.append(piece_.data(), kPiece - stream_.avail_out);
      may_end_ = code == Z_STREAM_END;
      if (code != Z_OK && code != Z_STREAM_END && code != Z_BUF_ERROR) {
        return Cat("is broken gzip: ", stream_.msg == nullptr ? "no text" : stream_.msg);
      }
      if (stream_.avail_in == 0 && stream_.avail_out > 0) return {};
    }
  }
  bool MayEnd() const override { return may_end_; }

 private:
  z_stream stream_ = {};
  bool is_ready_ = false;
  bool may_end_ = false;
  std::array<char, kPiece> piece_;
};

class Zstd final : public Decoder::Stream {
 public:
  std::string Add(std::string_view bytes, std::string& out) override {
    ZSTD_inBuffer in = {.src = bytes.data(), .size = bytes.size(), .pos = 0};
    while (true) {
      ZSTD_outBuffer piece = {.dst = piece_.data(), .size = kPiece, .pos = 0};
      const size_t left = ZSTD_decompressStream(stream_.get(), &piece, &in);
      if (ZSTD_isError(left) != 0) return Cat("is broken zstd: ", ZSTD_getErrorName(left));
      out.append(piece_.data(), piece.pos);
      may_end_ = left == 0;
      if (in.pos == in.size && piece.pos < kPiece) return {};
    }
  }
  bool MayEnd() const override { return may_end_; }

 private:
  struct Free {
    void operator()(ZSTD_DStream* stream) const { ZSTD_freeDStream(stream); }
  };
  std::unique_ptr<ZSTD_DStream, Free> stream_{ZSTD_createDStream()};
  bool may_end_ = false;
  std::array<char, kPiece> piece_;
};

// As PowerShell writes files. A surrogate without the other is shown as what is no character.
class Utf16 final : public Decoder::Stream {
 public:
  std::string Add(std::string_view bytes, std::string& out) override {
    for (const char c : bytes) {
      const auto byte = static_cast<unsigned char>(c);
      if (!half_) {
        half_ = byte;
        continue;
      }
      const uint32_t unit =
          is_big_ ? *half_ << 8U | byte : static_cast<uint32_t>(byte) << 8U | *half_;
      half_.reset();
      if (!std::exchange(has_begun_, true) && unit == kSwappedMark) {
        is_big_ = !is_big_;
        continue;
      }
      Unit(unit, out);
    }
    return {};
  }
  bool MayEnd() const override { return !half_ && high_ == 0; }

 private:
  static constexpr uint32_t kMark = 0xFEFF;
  static constexpr uint32_t kSwappedMark = 0xFFFE;

  void Unit(uint32_t unit, std::string& out) {
    constexpr uint32_t kNone = 0xFFFD;
    const bool is_high = unit >= 0xD800 && unit < 0xDC00;
    const bool is_low = unit >= 0xDC00 && unit < 0xE000;
    if (high_ != 0 && is_low) {
      Put(0x10000U + ((high_ - 0xD800U) << 10U) + (unit - 0xDC00U), out);
      high_ = 0;
      return;
    }
    if (high_ != 0) Put(kNone, out);
    high_ = is_high ? unit : 0;
    if (is_high || unit == kMark) return;
    Put(is_low ? kNone : unit, out);
  }
  static void Put(uint32_t code, std::string& out) {
    const auto tail = [&](unsigned shift) {
      out += static_cast<char>(0x80U | ((code >> shift) & 0x3FU));
    };
    if (code < 0x80U) {
      out += static_cast<char>(code);
    } else if (code < 0x800U) {
      out += static_cast<char>(0xC0U | code >> 6U);
      tail(0);
    } else if (code < 0x10000U) {
      out += static_cast<char>(0xE0U | code >> 12U);
      tail(6);
      tail(0);
    } else {
      out += static_cast<char>(0xF0U | code >> 18U);
      tail(12);
      tail(6);
      tail(0);
    }
  }

  bool is_big_ = false;
  bool has_begun_ = false;
  std::optional<uint32_t> half_;
  uint32_t high_ = 0;  // the first of two surrogates
};

}  // namespace

Decoder::Decoder() = default;
Decoder::Decoder(Decoder&&) noexcept = default;
Decoder& Decoder::operator=(Decoder&&) noexcept = default;
Decoder::~Decoder() = default;

std::string Decoder::Add(std::string_view bytes, std::string& out) {
  if (stream_ != nullptr) return stream_->Add(bytes, out);
  first_ += bytes;
  if (first_.starts_with(kGzip)) {
    stream_ = std::make_unique<Gzip>();
  } else if (first_.starts_with(kZstd)) {
    stream_ = std::make_unique<Zstd>();
  } else if (first_.starts_with(kUtf16Little) || first_.starts_with(kUtf16Big)) {
    stream_ = std::make_unique<Utf16>();
  } else if (kUtf16Little.starts_with(first_) || kUtf16Big.starts_with(first_) ||
             kGzip.starts_with(first_) || kZstd.starts_with(first_)) {
    return {};
  } else {
    stream_ = std::make_unique<Plain>();
  }
  return stream_->Add(std::exchange(first_, {}), out);
}

std::string Decoder::Finish(std::string& out) {
  if (stream_ == nullptr) {
    out += std::exchange(first_, {});
    return {};
  }
  return stream_->MayEnd() ? std::string() : std::string("is cut: it ends within what is encoded");
}

}  // namespace whorl::check
