#include "real_client/change_stream_client.h"

#include <functional>
#include <map>
#include <utility>

#include "google/spanner/v1/spanner.grpc.pb.h"
#include "protocol/client/backoff.h"
#include "real_client/calls.h"
#include "real_client/change_partitions.h"
#include "real_client/change_records.h"
#include "real_client/connection.h"
#include "real_client/event_loop.h"
#include "real_client/headers.h"
#include "real_client/lock_table.h"
#include "real_client/os.h"
#include "wire/requests.h"

namespace whorl::real_client {
namespace {

namespace v1 = google::spanner::v1;

constexpr Backoff kAgain = {.initial = Milliseconds(100), .growth_percent = 150, .max = Seconds(5)};
// Spanner's published configuration for streaming calls.
constexpr Duration kLongestQuery = Seconds(3600);
// A query of which nothing is heard for so long is sent again.
constexpr Duration kSilence = Seconds(30);

bool Says(const Status& status, std::string_view text) {
  return status.message.view().find(text) != std::string_view::npos;
}

bool IsSessionLost(const Status& status) {
  return status.code == Code::kNotFound && Says(status, "Session not found");
}

bool MayResend(const Status& status) {
  switch (status.code) {
    case Code::kCancelled:
    case Code::kUnknown:
    case Code::kDeadlineExceeded:
    case Code::kResourceExhausted:
    case Code::kAborted:
    case Code::kInternal:
    case Code::kUnavailable:
      return true;
    default:
      return IsSessionLost(status);
  }
}

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
class ChangeStreamClient::Core {
 public:
  Core(ChangeStreamOptions options, ChangeStreamObserver& observer)
      : options_(std::move(options)), observer_(observer) {
    options_.connection = ResolveWithEnvironment(std::move(options_.connection));
    heard_ = MonotonicNow();
    loop_.Post([this] { Open(); });
  }
  Core(const Core&) = delete;
  Core& operator=(const Core&) = delete;
  ~Core() {
    loop_.Post([this] { Close(); });
    loop_.Join();
  }

 private:
  // The query of one partition.
  struct Query {
    Context context;
    ChangeRecordDecoder decoder;
    LocalInstant heard;
    bool was_silent = false;
  };

  void Open() {
    options_.connection.channels = 1;
    std::vector<std::shared_ptr<grpc::Channel>> channels;
    const Status status = OpenChannels(options_.connection, channels);
    if (!status.ok()) return End(status);
    stub_ = v1::Spanner::NewStub(channels[0]);
    // The oldest time of all is refused, with the oldest that the stream has.
    Begin(options_.from.value_or(Timestamp::FromUnixNanos(0)));
    Watch();
  }

  void Begin(Timestamp from) {
    partitions_.emplace(from, options_.to);
    Send();
  }

  Context NewContext(Duration timeout) const {
    auto context = std::make_shared<grpc::ClientContext>();
    context->set_deadline(ToGrpcDeadline(MonotonicNow() + timeout));
    return context;
  }

  // One session serves all queries: they are single-use reads.
  void CreateSession() {
    if (is_creating_) return;
    is_creating_ = true;
    v1::CreateSessionRequest request;
    request.set_database(options_.database);
    request.mutable_session()->set_multiplexed(true);
    request.mutable_session()->set_creator_role(options_.database_role);
    session_call_ = NewContext(options_.first_patience);
    AddHeaders(HeadersOf("database", options_.database, options_.database), *session_call_);
    UnaryCall<v1::Session>::Start(
        session_call_,
        stub_->PrepareAsyncCreateSession(session_call_.get(), request, &loop_.queue()),
        [this](const Status& status, const v1::Session& session) {
          is_creating_ = false;
          session_call_ = nullptr;
          if (has_ended_) return NoticeEnd();
          if (!status.ok()) return Fail(status);
          Heard();
          session_ = session.name();
          is_regular_ = !session.multiplexed();
          Send();
        });
  }

  // Sends what is to be read.
  void Send() {
    if (has_ended_) return;
    if (session_.empty()) return CreateSession();
    for (const ChangePartitions::Read& read : partitions_->TakeReads()) Start(read);
    if (partitions_->IsDone()) return End({});
    if (partitions_->IsStuck()) {
      End(Error(Code::kInternal,
                "the change stream named partitions that begin where none that is known ends"));
    }
  }

  void Start(const ChangePartitions::Read& read) {
    v1::ExecuteSqlRequest request;
    request.set_session(session_);
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

    const std::string token = read.token;
    const auto reading = std::make_shared<Query>();
    reading->context = NewContext(kLongestQuery);
    reading->heard = MonotonicNow();
    queries_[token] = reading;
    AddHeaders(HeadersOf("session", session_, options_.database), *reading->context);
    StreamCall<v1::PartialResultSet>::Start(
        reading->context,
        stub_->PrepareAsyncExecuteStreamingSql(reading->context.get(), request, &loop_.queue()),
        [this, token, reading](const v1::PartialResultSet& part) {
          return Take(token, *reading, part);
        },
        [this, token, reading](const Status& status) {
          queries_.erase(token);
          if (has_ended_) return NoticeEnd();
          OnQueryEnd(token, *reading, status);
        });
  }

  Status Take(const std::string& token, Query& query, const v1::PartialResultSet& part) {
    if (has_ended_) return {};
    query.heard = MonotonicNow();
    std::vector<ChangeRecord> records;
    // What is no record at all is nothing that another attempt would mend.
    if (Status status = query.decoder.Add(part, records); !status.ok()) {
      End(status);
      return status;
    }
    // A query that begins to be answered, and breaks each time, gets nowhere.
    if (!records.empty()) Heard();
    for (ChangeRecord& record : records) partitions_->Add(token, std::move(record));
    Give();
    return {};
  }

  void OnQueryEnd(const std::string& token, const Query& query, const Status& status) {
    if (status.ok()) {
      Heard();
      if (partitions_->End(token)) {
        Give();
        return Send();
      }
      if (token.empty()) return End(Error(Code::kInternal, "the change stream has no partitions"));
      return SendLater();
    }
    // Only the first query asks for a time that is chosen.
    if (token.empty() && !options_.from && status.code == Code::kOutOfRange) {
      if (const auto earliest = EarliestIn(status); earliest && oldest_tries_ < kOldestTries) {
        Heard();
        // Where records run out of their retention time, the oldest moves on meanwhile.
        return Begin(*earliest + kOldestSlack * oldest_tries_++);
      }
    }
    partitions_->Break(token);
    if (query.was_silent) {
      return Fail(Error(Code::kDeadlineExceeded, "nothing was heard of the change stream"));
    }
    Fail(status);
  }

  // Tries again after what may pass, unless it was tried for too long.
  void Fail(const Status& status) {
    const Duration patience = has_heard_ ? options_.patience : options_.first_patience;
    if (!MayResend(status) || MonotonicNow() - heard_ > patience) return End(status);
    if (IsSessionLost(status)) session_.clear();
    SendLater();
  }

  void SendLater() {
    if (is_pausing_) return;
    is_pausing_ = true;
    const Duration pause = DrawPause(kAgain, backoff_, entropy_, purposes::kCallBackoff);
    loop_.At(MonotonicNow() + pause, [this] {
      is_pausing_ = false;
      Send();
    });
  }

  // Ends the queries that are silent; they are sent again.
  void Watch() {
    if (has_ended_) return;
    for (auto& [token, query] : queries_) {
      if (MonotonicNow() - query->heard < kSilence) continue;
      query->was_silent = true;
      query->context->TryCancel();
    }
    loop_.At(MonotonicNow() + Seconds(1), [this] { Watch(); });
  }

  void Heard() {
    heard_ = MonotonicNow();
    has_heard_ = true;
    backoff_ = {};
  }

  void Give() {
    for (DataChange& change : partitions_->TakeChanges()) {
      observer_.OnChange(change.commit, std::move(change.json));
    }
    if (partitions_->reached() <= told_) return;
    told_ = partitions_->reached();
    observer_.OnReached(told_);
  }

  void End(Status status) {
    if (has_ended_) return;
    if (Says(status, "Table-valued function not found") ||
        Says(status, "Change stream not found")) {
      status.code = Code::kNotFound;
    }
    Stop();
    observer_.OnEnd(Advise(std::move(status), options_.connection, options_.database));
  }

  void Stop() {
    has_ended_ = true;
    for (auto& [token, query] : queries_) query->context->TryCancel();
    if (session_call_ != nullptr) session_call_->TryCancel();
  }

  // The client is destroyed. A session that is not multiplexed is deleted, if that can be done soon.
  void Close() {
    Stop();
    is_closing_ = true;
    NoticeEnd();
  }
  void NoticeEnd() {
    if (!is_closing_ || !queries_.empty() || session_call_ != nullptr) return;
    if (session_.empty() || !is_regular_) return loop_.Stop();
    v1::DeleteSessionRequest request;
    request.set_name(std::exchange(session_, {}));
    session_call_ = NewContext(Seconds(1));
    AddHeaders(HeadersOf("name", request.name(), options_.database), *session_call_);
    UnaryCall<google::protobuf::Empty>::Start(
        session_call_,
        stub_->PrepareAsyncDeleteSession(session_call_.get(), request, &loop_.queue()),
        [this](const Status&, const google::protobuf::Empty&) {
          session_call_ = nullptr;
          NoticeEnd();
        });
  }

  static constexpr int kOldestTries = 5;
  static constexpr Duration kOldestSlack = Seconds(1);

  ChangeStreamOptions options_;
  ChangeStreamObserver& observer_;
  std::unique_ptr<v1::Spanner::Stub> stub_;
  std::string session_;
  bool is_regular_ = false;
  bool is_creating_ = false;
  Context session_call_;
  std::optional<ChangePartitions> partitions_;
  std::map<std::string, std::shared_ptr<Query>> queries_;  // those under way, by token
  int oldest_tries_ = 0;
  LocalInstant heard_;  // of Spanner; before the first time, since when it is tried
  bool has_heard_ = false;
  Timestamp told_ = Timestamp::Min();
  bool is_pausing_ = false;
  Duration backoff_;
  OsEntropy entropy_;
  bool has_ended_ = false;
  bool is_closing_ = false;
  EventLoop loop_;
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
