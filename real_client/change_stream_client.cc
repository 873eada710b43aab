#include "real_client/change_stream_client.h"

#include <functional>
#include <map>
#include <utility>

#include "google/spanner/v1/spanner.grpc.pb.h"
#include "real_client/change_records.h"
#include "real_client/lock_table.h"
#include "real_client/query_loop.h"

namespace whorl::real_client {
namespace {

namespace v1 = google::spanner::v1;

// Spanner names the oldest time that it would take, for people.
std::optional<Timestamp> EarliestIn(const Status& status) {
  constexpr std::string_view kBefore = "earliest read timestamp: ";
  const std::string_view text = status.message.view();
  const size_t place = text.find(kBefore);
  if (place == std::string_view::npos) return std::nullopt;
  std::string_view time = text.substr(place + kBefore.size());
  time = time.substr(0, time.find_first_not_of("0123456789-T:.+Z"));
  while (time.ends_with('.')) time.remove_suffix(1);
  constexpr std::string_view kUtc = "+00:00";
  const bool is_utc = time.ends_with(kUtc);
  if (is_utc) time.remove_suffix(kUtc.size());
  const auto earliest = ParseRfc3339(std::string(time) + (is_utc ? "Z" : ""));
  if (!earliest) return std::nullopt;
  // Up to the next microsecond, which is what commit timestamps have.
  return *earliest + Nanoseconds((1'000 - earliest->nanos() % 1'000) % 1'000);
}

class QueryOf {
 public:
  explicit QueryOf(v1::ExecuteSqlRequest& request) : request_(request) {}
  void Set(const std::string& name, v1::TypeCode type, std::optional<std::string> value) {
    google::protobuf::Value& parameter = (*request_.mutable_params()->mutable_fields())[name];
    if (value) {
      parameter.set_string_value(*std::move(value));
    } else {
      parameter.set_null_value(google::protobuf::NULL_VALUE);
    }
    (*request_.mutable_param_types())[name].set_code(type);
  }

 private:
  v1::ExecuteSqlRequest& request_;
};

}  // namespace

Status ValidateStreamName(const std::string& name) {
  if (IsIdentifier(name)) return {};
  return Error(
      Code::kInvalidArgument,
      "\"" + name + "\" is no name of a change stream: a letter, then letters, digits and _");
}

// Used on the loop's thread only.
class ChangeStreamClient::Core final : public QueryLoop::Owner {
 public:
  Core(ChangeStreamOptions options, ChangeStreamObserver& observer)
      : options_(std::move(options)),
        observer_(observer),
        loop_({.database = options_.database,
               .database_role = options_.database_role,
               .connection = options_.connection,
               .subject = "the change stream",
               .first_patience = options_.first_patience,
               .patience = options_.patience},
              *this) {
    // The oldest time of all is refused, with the oldest that the stream has.
    partitions_.emplace(options_.from.value_or(Timestamp::FromUnixNanos(0)), options_.to);
    loop_.Open();
  }

  void SendQueries() override {
    for (const ChangePartitions::Read& read : partitions_->TakeReads()) Start(read);
    if (partitions_->IsDone()) return loop_.End({});
    if (partitions_->IsStuck()) {
      loop_.End(
          Error(Code::kInternal,
                "the change stream named partitions that begin where none that is known ends"));
    }
  }

  void OnLoopEnd(Status status) override {
    if (status.Says("Table-valued function not found") || status.Says("Change stream not found")) {
      status.code = Code::kNotFound;
    }
    observer_.OnEnd(std::move(status));
  }

 private:
  void Start(const ChangePartitions::Read& read) {
    v1::ExecuteSqlRequest request;
    request.mutable_transaction()->mutable_single_use()->mutable_read_only()->set_strong(true);
    request.set_sql(
        "SELECT ChangeRecord FROM READ_" + options_.stream +
        " (start_timestamp => @start, end_timestamp => @end, partition_token => @token, "
        "heartbeat_milliseconds => @heartbeat)");
    QueryOf query(request);
    query.Set("start", v1::TIMESTAMP, FormatRfc3339(read.start));
    query.Set("end", v1::TIMESTAMP,
              options_.to ? std::optional(FormatRfc3339(*options_.to)) : std::nullopt);
    query.Set("token", v1::STRING, read.token.empty() ? std::nullopt : std::optional(read.token));
    query.Set("heartbeat", v1::INT64, std::to_string(options_.heartbeat.ns / 1'000'000));
    const auto decoder = std::make_shared<ChangeRecordDecoder>();
    loop_.Start(
        std::move(request),
        [this, token = read.token, decoder](const v1::PartialResultSet& part) {
          return Take(token, *decoder, part);
        },
        [this, token = read.token](const Status& status) { OnQueryEnd(token, status); });
  }

  Status Take(const std::string& token, ChangeRecordDecoder& decoder,
              const v1::PartialResultSet& part) {
    std::vector<ChangeRecord> records;
    // Bytes that are no record stay so in another attempt.
    if (Status status = decoder.Add(part, records); !status.ok()) {
      loop_.End(status);
      return status;
    }
    // A query that begins to be answered, and breaks each time, gets nowhere.
    if (!records.empty()) loop_.Heard();
    for (ChangeRecord& record : records) partitions_->Add(token, std::move(record));
    Give();
    return {};
  }

  void OnQueryEnd(const std::string& token, const Status& status) {
    if (status.ok()) {
      loop_.Heard();
      if (partitions_->End(token)) {
        Give();
        return loop_.Send();
      }
      if (token.empty()) {
        return loop_.End(Error(Code::kInternal, "the change stream has no partitions"));
      }
      return loop_.SendLater();
    }
    // Only the first query asks for a time that is chosen.
    if (token.empty() && !options_.from && status.code == Code::kOutOfRange) {
      if (const auto earliest = EarliestIn(status); earliest && oldest_tries_ < kOldestTries) {
        loop_.Heard();
        // Where records run out of their retention time, the oldest moves on meanwhile.
        partitions_.emplace(*earliest + kOldestSlack * oldest_tries_++, options_.to);
        return loop_.Send();
      }
    }
    partitions_->Break(token);
    loop_.Fail(status);
  }

  void Give() {
    for (DataChange& change : partitions_->TakeChanges()) {
      observer_.OnChange(change.commit, std::move(change.json));
    }
    if (partitions_->reached() <= told_) return;
    told_ = partitions_->reached();
    observer_.OnReached(told_);
  }

  static constexpr int kOldestTries = 5;
  static constexpr Duration kOldestSlack = Seconds(1);

  ChangeStreamOptions options_;
  ChangeStreamObserver& observer_;
  std::optional<ChangePartitions> partitions_;
  int oldest_tries_ = 0;
  Timestamp told_ = Timestamp::Min();
  QueryLoop loop_;  // last: it calls this object until it is gone
};

ChangeStreamClient::ChangeStreamClient(std::unique_ptr<Core> core) : core_(std::move(core)) {}

ChangeStreamClient::~ChangeStreamClient() = default;

Status ChangeStreamClient::Open(ChangeStreamOptions options, ChangeStreamObserver& observer,
                                std::unique_ptr<ChangeStreamClient>& out) {
  DatabaseName name;
  Status status = ParseDatabaseName(options.database, name);
  if (status.ok()) status = ValidateStreamName(options.stream);
  if (!status.ok()) return status;
  out.reset(new ChangeStreamClient(std::make_unique<Core>(std::move(options), observer)));
  return {};
}

}  // namespace whorl::real_client
