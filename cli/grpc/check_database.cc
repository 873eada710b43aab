#include <memory>
#include <optional>
#include <string>
#include <utility>

#include "absl/status/status.h"
#include "base/text.h"
#include "cli/check/command.h"
#include "cli/check/record_stream.h"
#include "cli/exit_code.h"
#include "cli/grpc/commands.h"
#include "cli/grpc/piece_queue.h"
#include "cli/lock/options.h"
#include "cli/output.h"
#include "real_client/change_stream_client.h"
#include "real_client/os.h"
#include "real_client/version_client.h"
#include "sim/scenario/rules.h"

namespace whorl::cli {
namespace {

using real_client::ChangeStreamClient;
using real_client::ChangeStreamObserver;
using real_client::ChangeStreamOptions;
using real_client::RowVersions;
using real_client::VersionClient;
using real_client::VersionObserver;
using real_client::VersionOptions;

// What was to be read is not there, while the database and its instance are.
bool IsMissing(const Status& status) {
  return status.code == Code::kNotFound && !status.Says("atabase not found") &&
         !status.Says("nstance not found");
}

// What went wrong with a change stream, and what can be done about it.
std::string Remedied(const DatabaseRequest& asked, const LockRequest& where, const Status& status) {
  const std::string named = Cat("change stream ", asked.stream, " of ", where.database);
  const std::string said = Printable(FormatStatus(status), 1'000);
  if (IsMissing(status)) {
    return Cat("there is no change stream ", asked.stream, " in ", where.database,
               "; `whorl lock init --stream ", asked.stream, "` makes one for the next time (",
               said, ")");
  }
  if (status.Says("syntax error at or near")) {
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
                                                 asked.stream));
  }
  return Cat(named, ": ", said);
}

// The same for versions of rows.
std::string RemediedVersions(const std::string& table, const LockRequest& where,
                             const Status& status) {
  const std::string said = Printable(FormatStatus(status), 1'000);
  if (status.code == Code::kOutOfRange) {
    return Cat(
        "versions of that time are gone: ", where.database,
        " keeps them for its version_retention_period, which is an hour unless ALTER DATABASE says "
        "otherwise; a later --from reads those that are there (",
        said, ")");
  }
  if (IsMissing(status)) {
    return Cat("there is no table ", table, " in ", where.database, "; name it: --table (", said,
               ")");
  }
  return Cat("table ", table, " of ", where.database, ": ", said);
}

// What was asked for cannot be, or it cannot be had now.
absl::Status ToAbsl(const Status& status, const std::string& message) {
  const bool is_bad_input = status.code == Code::kInvalidArgument || IsMissing(status) ||
                            status.code == Code::kOutOfRange;
  return is_bad_input ? absl::InvalidArgumentError(message) : absl::UnavailableError(message);
}

class ReadStream final : public RecordStream, public ChangeStreamObserver {
 public:
  ReadStream(const DatabaseRequest& asked, const LockRequest& where)
      : asked_(asked), where_(where) {}

  Status Open() {
    ChangeStreamOptions options = {.database = where_.database,
                                   .database_role = where_.database_role,
                                   .connection = ClientOptionsOf(where_).connection,
                                   .stream = asked_.stream,
                                   .from = asked_.from,
                                   .to = asked_.to};
    if (!asked_.follow && !asked_.to) options.to = real_client::SystemNow();
    return ChangeStreamClient::Open(std::move(options), *this, client_);
  }

  std::string name() const override { return Cat("change stream ", asked_.stream); }
  bool MayWait() const override { return asked_.follow && queue_.WouldWait(); }
  bool Next(Piece& piece) override { return queue_.Take(piece); }
  absl::Status status() const override {
    const Status status = queue_.status();
    return status.ok() ? absl::OkStatus() : ToAbsl(status, Remedied(asked_, where_, status));
  }

  void OnChange(Timestamp /*commit*/, std::string json) override {
    Piece piece;
    piece.record = std::move(json);
    queue_.Put(std::move(piece));
  }
  void OnReached(Timestamp at) override {
    Piece piece;
    piece.reached = at;
    queue_.Put(std::move(piece));
  }
  void OnEnd(Status status) override { queue_.End(std::move(status)); }

 private:
  const DatabaseRequest asked_;
  const LockRequest where_;
  PieceQueue queue_;
  std::unique_ptr<ChangeStreamClient> client_;  // last: it calls this object until it is gone
};

check::KnownRow KnownOf(const ProtocolInfo& protocol, const std::optional<Row>& row) {
  check::KnownRow known(protocol.columns.size());
  for (size_t i = 0; row && i < known.size(); ++i) known[i] = (*row)[i];
  return known;
}

class ReadVersions final : public RecordStream, public VersionObserver {
 public:
  ReadVersions(const CheckRequest& request, const LockRequest& where)
      : protocol_(*FindProtocol(request.protocol)),
        table_(request.table.empty() ? std::string(protocol_.table) : request.table),
        lock_(request.lock),
        asked_(request.database),
        where_(where) {}

  Status Open() {
    VersionOptions options = {.database = where_.database,
                              .database_role = where_.database_role,
                              .connection = ClientOptionsOf(where_).connection,
                              .protocol = &protocol_,
                              .table = table_,
                              .key = {},
                              .from = asked_.from,
                              .to = asked_.to.value_or(real_client::SystemNow())};
    if (!lock_.empty()) options.key = lock_;
    if (asked_.every) options.step = *asked_.every;
    return VersionClient::Open(std::move(options), *this, client_);
  }

  std::string name() const override { return Cat("versions of table ", table_); }
  bool MayWait() const override { return false; }
  bool Next(Piece& piece) override { return queue_.Take(piece); }
  absl::Status status() const override {
    const Status status = queue_.status();
    return status.ok() ? absl::OkStatus()
                       : ToAbsl(status, RemediedVersions(table_, where_, status));
  }

  void OnVersions(RowVersions::Found found, Timestamp reached) override {
    for (const RowVersions::Unseen& unseen : found.unseen) {
      Piece piece;
      piece.unseen = check::Unseen{
          .lock = RowVersions::TextOf(unseen.key), .from = unseen.from, .to = unseen.to};
      queue_.Put(std::move(piece));
    }
    for (const RowVersions::Change& change : found.changes) {
      Piece piece;
      piece.change = ChangeOf(change);
      queue_.Put(std::move(piece));
    }
    Piece piece;
    piece.reached = reached;
    queue_.Put(std::move(piece));
  }
  void OnEnd(Status status) override { queue_.End(std::move(status)); }

 private:
  check::RowChange ChangeOf(const RowVersions::Change& change) const {
    const Row& row = change.after ? *change.after : *change.before;
    check::RowChangeKind kind = check::RowChangeKind::kUpdated;
    if (!change.before) kind = check::RowChangeKind::kInserted;
    if (!change.after) kind = check::RowChangeKind::kDeleted;
    return {.lock = RowVersions::TextOf(row[sim::RulesOf(protocol_.name).key_column]),
            .commit = change.commit,
            .kind = kind,
            .after = KnownOf(protocol_, change.after),
            .before = KnownOf(protocol_, change.before)};
  }

  const ProtocolInfo& protocol_;
  const std::string table_;
  const std::string lock_;
  const DatabaseRequest asked_;
  const LockRequest where_;
  PieceQueue queue_;
  std::unique_ptr<VersionClient> client_;  // last: it calls this object until it is gone
};

template <typename Reader>
int Run(const CheckRequest& request, std::unique_ptr<Reader> reader,
        std::optional<Resumed> resumed = std::nullopt) {
  if (const Status status = reader->Open(); !status.ok()) {
    Complain(status.message);
    return kBadInput;
  }
  return RunCheck(request, std::move(reader), std::move(resumed));
}

// Where the file says, or from the beginning if there is none yet.
int GoOn(const CheckRequest& request, const LockRequest& where) {
  std::optional<Resumed> resumed;
  if (const absl::Status read = ReadResume(request, resumed); !read.ok()) return End(read);
  DatabaseRequest asked = request.database;
  if (resumed && asked.from) {
    Complain(Cat(Printable(request.resume_path, 1'000),
                 " says where to go on: leave --from out, or remove the file to begin anew"));
    return kBadInput;
  }
  if (resumed) asked.from = resumed->position;
  return Run(request, std::make_unique<ReadStream>(asked, where), std::move(resumed));
}

}  // namespace

int RunCheckDatabase(const CheckRequest& request) {
  const DatabaseRequest& asked = request.database;
  LockRequest where;
  where.database = asked.name;
  where.database_role = asked.role;
  where.endpoint = asked.endpoint;
  where.credentials_file = asked.credentials_file;
  where.ca_file = asked.ca_file;
  if (const std::string wrong = Complete(where); !wrong.empty()) {
    Complain(wrong);
    return kBadInput;
  }
  if (!request.resume_path.empty()) return GoOn(request, where);
  if (asked.ReadsVersions()) {
    return Run(request, std::make_unique<ReadVersions>(request, where));
  }
  return Run(request, std::make_unique<ReadStream>(asked, where));
}

}  // namespace whorl::cli
