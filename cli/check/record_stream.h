// Passes what is read of a database to `whorl check` as an input: a change stream, or versions of
// rows. The program whorl-grpc reads it (cli/grpc/).
#pragma once

#include <optional>
#include <string>

#include "absl/status/status.h"
#include "check/operation.h"

namespace whorl::cli {

class RecordStream {
 public:
  struct Piece {
    std::string record;                // a data change record, as JSON; empty: there is none
    std::optional<Timestamp> reached;  // all records that were committed before have been given
    std::optional<check::RowChange> change;  // of versions, in the place of a record
    std::optional<check::Unseen> unseen;     // what no version shows
  };

  virtual ~RecordStream() = default;
  virtual std::string name() const = 0;
  // Whether Next() may wait for long: the stream has no end.
  virtual bool MayWait() const = 0;
  // Waits for a piece. False at the end, after an error, or when a signal has come.
  virtual bool Next(Piece& piece) = 0;
  // Why it ended early; OK if it did not. kInvalidArgument: what was asked for cannot be.
  virtual absl::Status status() const = 0;
};

}  // namespace whorl::cli
