#include "real_client/query_loop.h"

#include <utility>

#include "protocol/client/backoff.h"
#include "real_client/connection.h"
#include "real_client/headers.h"

namespace whorl::real_client {
namespace {

namespace v1 = google::spanner::v1;

constexpr Backoff kAgain = {.initial = Milliseconds(100), .growth_percent = 150, .max = Seconds(5)};
// Spanner's published configuration for streaming calls.
constexpr Duration kLongestQuery = Seconds(3600);
constexpr Duration kSilence = Seconds(30);

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
    case Code::kOk:
    case Code::kInvalidArgument:
    case Code::kNotFound:
    case Code::kAlreadyExists:
    case Code::kPermissionDenied:
    case Code::kFailedPrecondition:
    case Code::kOutOfRange:
    case Code::kUnimplemented:
    case Code::kDataLoss:
    case Code::kUnauthenticated:
      break;
  }
  return IsSessionNotFound(status);
}

}  // namespace

QueryLoop::QueryLoop(QueryLoopOptions options, Owner& owner)
    : options_(std::move(options)), owner_(owner) {
  options_.connection = ResolveWithEnvironment(std::move(options_.connection));
  options_.connection.channels = 1;
  heard_ = MonotonicNow();
}

QueryLoop::~QueryLoop() {
  loop_.Post([this] { Close(); });
  loop_.Join();
}

void QueryLoop::Open() {
  loop_.Post([this] { OpenNow(); });
}

void QueryLoop::OpenNow() {
  std::vector<std::shared_ptr<grpc::Channel>> channels;
  const Status status = OpenChannels(options_.connection, channels);
  if (!status.ok()) return End(status);
  stub_ = v1::Spanner::NewStub(channels[0]);
  Send();
  Watch();
}

Context QueryLoop::NewContext(Duration timeout) const {
  auto context = std::make_shared<grpc::ClientContext>();
  context->set_deadline(ToGrpcDeadline(MonotonicNow() + timeout));
  return context;
}

void QueryLoop::CreateSession() {
  if (session_call_ != nullptr) return;
  v1::CreateSessionRequest request;
  request.set_database(options_.database);
  request.mutable_session()->set_multiplexed(true);
  request.mutable_session()->set_creator_role(options_.database_role);
  session_call_ = NewContext(options_.first_patience);
  AddHeaders(HeadersOf("database", options_.database, options_.database), *session_call_);
  UnaryCall<v1::Session>::Start(
      session_call_, stub_->PrepareAsyncCreateSession(session_call_.get(), request, &loop_.queue()),
      [this](const Status& status, const v1::Session& session) {
        session_call_ = nullptr;
        if (has_ended_) return NoticeEnd();
        if (!status.ok()) return Fail(status);
        Heard();
        session_ = session.name();
        is_regular_ = !session.multiplexed();
        Send();
      });
}

void QueryLoop::Send() {
  if (has_ended_) return;
  if (session_.empty()) return CreateSession();
  owner_.SendQueries();
}

void QueryLoop::Start(v1::ExecuteSqlRequest request, OnPart on_part, OnEnd on_end) {
  request.set_session(session_);
  const auto query = std::make_shared<Query>();
  query->context = NewContext(kLongestQuery);
  query->heard = MonotonicNow();
  queries_.insert(query);
  AddHeaders(HeadersOf("session", session_, options_.database), *query->context);
  StreamCall<v1::PartialResultSet>::Start(
      query->context,
      stub_->PrepareAsyncExecuteStreamingSql(query->context.get(), request, &loop_.queue()),
      [this, query, on_part = std::move(on_part)](const v1::PartialResultSet& part) {
        query->heard = MonotonicNow();
        return has_ended_ ? Status() : on_part(part);
      },
      [this, query, on_end = std::move(on_end)](const Status& status) {
        queries_.erase(query);
        if (has_ended_) return NoticeEnd();
        on_end(query->was_silent
                   ? Error(Code::kDeadlineExceeded, "nothing was heard of " + options_.subject)
                   : status);
      });
}

void QueryLoop::Fail(const Status& status) {
  const Duration patience = has_heard_ ? options_.patience : options_.first_patience;
  if (!MayResend(status) || MonotonicNow() - heard_ > patience) return End(status);
  if (IsSessionNotFound(status)) session_.clear();
  SendLater();
}

void QueryLoop::SendLater() {
  if (is_pausing_) return;
  is_pausing_ = true;
  const Duration pause = DrawPause(kAgain, backoff_, entropy_, purposes::kCallBackoff);
  loop_.At(MonotonicNow() + pause, [this] {
    is_pausing_ = false;
    Send();
  });
}

void QueryLoop::Watch() {
  if (has_ended_) return;
  for (const std::shared_ptr<Query>& query : queries_) {
    if (MonotonicNow() - query->heard < kSilence) continue;
    query->was_silent = true;
    query->context->TryCancel();
  }
  loop_.At(MonotonicNow() + Seconds(1), [this] { Watch(); });
}

void QueryLoop::Heard() {
  heard_ = MonotonicNow();
  has_heard_ = true;
  backoff_ = {};
}

void QueryLoop::End(Status status) {
  if (has_ended_) return;
  Stop();
  owner_.OnLoopEnd(Advise(std::move(status), options_.connection, options_.database));
}

void QueryLoop::Stop() {
  has_ended_ = true;
  for (const std::shared_ptr<Query>& query : queries_) query->context->TryCancel();
  if (session_call_ != nullptr) session_call_->TryCancel();
}

// A session that is not multiplexed is deleted, if that can be done soon.
void QueryLoop::Close() {
  Stop();
  is_closing_ = true;
  NoticeEnd();
}

void QueryLoop::NoticeEnd() {
  if (!is_closing_ || !queries_.empty() || session_call_ != nullptr) return;
  if (session_.empty() || !is_regular_) return loop_.Stop();
  v1::DeleteSessionRequest request;
  request.set_name(std::exchange(session_, {}));
  session_call_ = NewContext(Seconds(1));
  AddHeaders(HeadersOf("name", request.name(), options_.database), *session_call_);
  UnaryCall<google::protobuf::Empty>::Start(
      session_call_, stub_->PrepareAsyncDeleteSession(session_call_.get(), request, &loop_.queue()),
      [this](const Status&, const google::protobuf::Empty&) {
        session_call_ = nullptr;
        NoticeEnd();
      });
}

}  // namespace whorl::real_client
