#include "cli/check/source.h"

#include <poll.h>
#include <unistd.h>

#include <algorithm>
#include <utility>

#include "base/text.h"
#include "cli/inputs.h"
#include "cli/interrupt.h"

namespace whorl::cli {

absl::Status Source::Open(const std::string& path) {
  place_.file = path == "-" ? "standard input" : path;
  if (path == "-") return absl::OkStatus();
  file_ = std::make_unique<std::ifstream>();
  return OpenInput(path, *file_);
}

void Source::Open(std::unique_ptr<RecordStream> stream) {
  place_.file = stream->name();
  stream_ = std::move(stream);
}

void Source::ReadAs(const ProtocolInfo& protocol, check::InputOptions options) {
  input_ = std::make_unique<check::Input>(protocol, std::move(options));
}

bool Source::NextPiece() {
  piece_ = {};
  if (!stream_->Next(piece_)) return false;
  line_ = piece_.record;
  if (!line_.empty() || piece_.change) ++place_.line;
  return true;
}

bool Source::Next() {
  if (stream_ != nullptr) return NextPiece();
  const bool went_on = std::exchange(goes_on_, false);
  size_t end = text_.find('\n', begin_);
  while (end == std::string::npos && !has_ended_ && text_.size() - begin_ < kPart) {
    text_.erase(0, begin_);
    const size_t had = text_.size();
    begin_ = 0;
    Fill();
    end = text_.find('\n', had);
  }
  if (begin_ >= text_.size() && end == std::string::npos && !went_on) return false;
  goes_on_ = end == std::string::npos && !has_ended_;
  end = std::min(end, text_.size());
  line_ = std::string_view(text_).substr(begin_, end - begin_);
  begin_ = goes_on_ ? end : end + 1;
  if (!went_on) ++place_.line;
  return true;
}

void Source::Fill() {
  const std::string_view bytes = Bytes();
  std::string wrong = bytes.empty() ? decoder_.Finish(text_) : decoder_.Add(bytes, text_);
  has_ended_ = bytes.empty() || !wrong.empty();
  if (!wrong.empty()) broken_ = Cat(place_.file, ": ", wrong);
}

std::string_view Source::Bytes() {
  if (file_ == nullptr) {
    // A signal is heard by another thread, so it does not end the call.
    constexpr int kMilliseconds = 100;
    pollfd input = {.fd = STDIN_FILENO, .events = POLLIN, .revents = 0};
    while (!SignalNotice::HasCome() && poll(&input, 1, kMilliseconds) == 0) continue;
    if (SignalNotice::HasCome()) return {};
    const ssize_t got = read(STDIN_FILENO, buffer_.data(), buffer_.size());
    return {buffer_.data(), got > 0 ? static_cast<size_t>(got) : 0};
  }
  if (file_->peek() == std::ifstream::traits_type::eof()) return {};
  const auto there = static_cast<size_t>(std::max<std::streamsize>(1, file_->rdbuf()->in_avail()));
  file_->read(buffer_.data(), static_cast<std::streamsize>(std::min(there, buffer_.size())));
  return {buffer_.data(), static_cast<size_t>(file_->gcount())};
}

}  // namespace whorl::cli
