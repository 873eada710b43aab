// Turns the bytes of a file into its text: as they are, or out of gzip, zstd or UTF-16, which their first bytes
// show. Each piece is decoded as far as it goes, so that a stream can be followed.
#pragma once

#include <memory>
#include <string>
#include <string_view>

namespace whorl::check {

class Decoder {
 public:
  Decoder();
  Decoder(Decoder&&) noexcept;
  Decoder& operator=(Decoder&&) noexcept;
  ~Decoder();

  // Appends the text of the next bytes to `out`. Returns what is wrong with them, or an empty text.
  std::string Add(std::string_view bytes, std::string& out);
  // The file has ended.
  std::string Finish(std::string& out);

  class Stream {
   public:
    virtual ~Stream() = default;
    virtual std::string Add(std::string_view bytes, std::string& out) = 0;
    // Whether the text may end here.
    virtual bool MayEnd() const = 0;
  };

 private:
  std::unique_ptr<Stream> stream_;  // once the first bytes are there
  std::string first_;
};

}  // namespace whorl::check
