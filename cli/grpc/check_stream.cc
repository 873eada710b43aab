#include "cli/grpc/check_stream.h"

#include <chrono>
#include <condition_variable>
#include <deque>
#include <memory>
#include <mutex>
#include <string>
#include <utility>

#include "absl/status/status.h"
#include "cli/check/command.h"
#include "cli/check/record_stream.h"
#include "cli/exit_code.h"
#include "cli/interrupt.h"
#include "cli/lock/options.h"
#include "cli/output.h"
#include "real_client/change_stream_client.h"
#include "real_client/os.h"
#include "sim/scenario/error_text.h"

namespace whorl::cli {
namespace {

using real_client::ChangeStreamClient;
using real_client::ChangeStreamObserver;
using real_client::ChangeStreamOptions;
using sim::Cat;

bool Says(const Status& status, std::string_view text) {
  return status.message.view().find(text) != std::string_view::npos;
}

// Not the database, nor its instance.
bool IsStreamMissing(const Status& status) {
  return status.code == Code::kNotFound && !Says(status, "atabase not found") &&
         !Says(status, "nstance not found");
}

// What went wrong, and what can be done about it.
std::string Remedied(const StreamRequest& stream, const LockRequest& where, const Status& status) {
  const std::string named = Cat("change stream ", stream.name, " of ", where.database);
  const std::string said = sim::Printable(FormatStatus(status), 1'000);
  if (IsStreamMissing(status)) {
    return Cat("there is no change stream ", stream.name, " in ", where.database,
               "; `whorl lock init --stream ", stream.name, "` makes one for the next time (", said,
               ")");
  }
  if (Says(status, "syntax error at or near")) {
    return Cat(where.database,
               " seems to be of the PostgreSQL dialect, and its change streams are read otherwise: "
               "let a client write their records into files (",
               said, ")");
  }
  if (status.code == Code::kOutOfRange) {
    return Cat(
        named,
        " has no records of that time: it keeps them for its retention period, and has "
        "none from before it was created; without --from the oldest that are there are read (",
        said, ")");
  }
  if (status.code == Code::kPermissionDenied) {
    return Cat(named, ": ", said,
               where.database_role.empty() ? ""
                                           : Cat("; the role ", where.database_role,
                                                 " needs SELECT on the change stream and "
                                                 "EXECUTE on the table function READ_",
                                                 stream.name));
  }
  return Cat(named, ": ", said);
}

// What was asked for cannot be, or it cannot be had now.
absl::Status ToAbsl(const Status& status, const std::string& message) {
  const bool is_bad_input = status.code == Code::kInvalidArgument || IsStreamMissing(status) ||
                            status.code == Code::kOutOfRange;
  return is_bad_input ? absl::InvalidArgumentError(message) : absl::UnavailableError(message);
}

// A queue from the client's thread, which must not wait, to the thread that judges.
class StreamQueue final : public RecordStream, public ChangeStreamObserver {
 public:
  StreamQueue(const StreamRequest& stream, const LockRequest& where)
      : stream_(stream), where_(where) {}

  Status Open(ChangeStreamOptions options) {
    return ChangeStreamClient::Open(std::move(options), *this, client_);
  }

  std::string name() const override { return Cat("change stream ", stream_.name); }
  bool MayWait() const override {
    const std::lock_guard lock(mutex_);
    return stream_.follow && !ended_ && pieces_.empty();
  }
  bool Next(Piece& piece) override {
    // A signal is heard by another thread, so it does not end the wait.
    constexpr std::chrono::milliseconds kLookForSignals(100);
    std::unique_lock lock(mutex_);
    while (pieces_.empty() && !ended_ && !SignalNotice::HasCome()) {
      changed_.wait_for(lock, kLookForSignals);
    }
    if (pieces_.empty()) return false;
    piece = std::move(pieces_.front());
    pieces_.pop_front();
    return true;
  }
  absl::Status status() const override {
    const std::lock_guard lock(mutex_);
    return status_.ok() ? absl::OkStatus() : ToAbsl(status_, Remedied(stream_, where_, status_));
  }

  void OnChange(Timestamp /*commit*/, std::string json) override {
    Put({.record = std::move(json), .reached = {}});
  }
  void OnReached(Timestamp at) override { Put({.record = {}, .reached = at}); }
  void OnEnd(Status status) override {
    const std::lock_guard lock(mutex_);
    ended_ = true;
    status_ = std::move(status);
    changed_.notify_one();
  }

 private:
  void Put(Piece piece) {
    const std::lock_guard lock(mutex_);
    pieces_.push_back(std::move(piece));
    changed_.notify_one();
  }

  const StreamRequest stream_;
  const LockRequest where_;
  mutable std::mutex mutex_;
  std::condition_variable changed_;
  std::deque<Piece> pieces_;                    // guarded by mutex_
  bool ended_ = false;                          // guarded by mutex_
  Status status_;                               // guarded by mutex_
  std::unique_ptr<ChangeStreamClient> client_;  // last: it calls this object until it is gone
};

}  // namespace

int RunCheckStream(const CheckRequest& request) {
  const StreamRequest& stream = request.stream;
  LockRequest where;
  where.database = stream.database;
  where.database_role = stream.database_role;
  where.endpoint = stream.endpoint;
  where.credentials_file = stream.credentials_file;
  where.ca_file = stream.ca_file;
  if (const std::string wrong = Complete(where); !wrong.empty()) {
    Complain(wrong);
    return kBadInput;
  }
  ChangeStreamOptions options = {.database = where.database,
                                 .database_role = where.database_role,
                                 .connection = ClientOptionsOf(where).connection,
                                 .stream = stream.name,
                                 .from = stream.from,
                                 .to = stream.to};
  if (!stream.follow && !stream.to) options.to = real_client::SystemNow();
  auto queue = std::make_unique<StreamQueue>(stream, where);
  if (const Status status = queue->Open(std::move(options)); !status.ok()) {
    Complain(status.message);
    return kBadInput;
  }
  return RunCheck(request, std::move(queue));
}

}  // namespace whorl::cli
