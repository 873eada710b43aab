// Reads one input of a history: a file, whatever it is compressed with, or what is read of a
// database.
#pragma once

#include <cstddef>
#include <fstream>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "absl/status/status.h"
#include "check/decoder.h"
#include "check/input.h"
#include "cli/check/record_stream.h"

namespace whorl::cli {

class Source {
 public:
  // "-" is standard input.
  absl::Status Open(const std::string& path);
  void Open(std::unique_ptr<RecordStream> stream);

  // Gives readers a line of their own: the file's format is found out by its first lines.
  void ReadAs(const ProtocolInfo& protocol, check::InputOptions options);
  check::Input& input() { return *input_; }

  // Whether Next() waits for another program to write.
  bool MayWait() const {
    if (stream_ != nullptr) return stream_->MayWait();
    return file_ == nullptr && !has_ended_ && text_.find('\n', begin_) == std::string::npos;
  }
  // Goes to the next line, or part of a long one, and waits for one if there is none yet. False at the end of the input.
  bool Next();
  std::string_view line() const { return line_; }
  // Whether the line is long, and line() a part of it that is not the last.
  bool goes_on() const { return goes_on_; }
  // With an empty line: all changes that were committed before it have been read.
  std::optional<Timestamp> reached() const { return piece_.reached; }
  // In the place of a line: a change of a row, and what is not known of one.
  const std::optional<check::RowChange>& change() const { return piece_.change; }
  const std::optional<check::Unseen>& unseen() const { return piece_.unseen; }
  const check::Place& place() const { return place_; }
  // What was wrong with the bytes; empty if nothing was.
  const std::string& broken() const { return broken_; }
  // Null if the input is a file.
  const RecordStream* stream() const { return stream_.get(); }

 private:
  bool NextPiece();
  void Fill();
  // The bytes that are there, waiting for the first of them; none at the end.
  std::string_view Bytes();

  static constexpr size_t kPiece = size_t{64} << 10U;
  // Few records are longer; a document in one line is read by its parts.
  static constexpr size_t kPart = size_t{256} << 10U;
  std::unique_ptr<std::ifstream> file_;
  std::unique_ptr<RecordStream> stream_;
  RecordStream::Piece piece_;  // of it
  std::unique_ptr<check::Input> input_;
  check::Decoder decoder_;
  std::vector<char> buffer_ = std::vector<char>(kPiece);
  std::string text_;
  size_t begin_ = 0;
  bool has_ended_ = false;
  bool goes_on_ = false;
  std::string_view line_;
  check::Place place_;
  std::string broken_;
};

}  // namespace whorl::cli
