#include "real_client/transport.h"

#include <algorithm>
#include <cctype>
#include <random>
#include <utility>

#include "real_client/connection.h"
#include "real_client/os.h"
#include "wire/requests.h"
#include "wire/responses.h"

namespace whorl::real_client {
namespace {

namespace v1 = google::spanner::v1;

uint64_t ProcessNumber() {
  static const uint64_t kNumber = [] {
    std::random_device device;
    return std::uniform_int_distribution<uint64_t>()(device);
  }();
  return kNumber;
}

Status DecodeResult(const v1::ResultSet& reply, Response& response) {
  wire::ResultShape shape;
  return wire::DecodeResultSet(reply, response, shape);
}

Status DecodeNothing(const google::protobuf::Empty&, Response&) { return {}; }

Status DecodeOneSession(const v1::Session& reply, Response& response) {
  return wire::DecodeSession(reply, response.sessions.emplace_back());
}

Status DecodeSessions(const v1::BatchCreateSessionsResponse& reply, Response& response) {
  for (const v1::Session& session : reply.session()) {
    Status status = DecodeOneSession(session, response);
    if (!status.ok()) return status;
  }
  if (!response.sessions.empty()) return {};
  return Error(Code::kInternal, "BatchCreateSessions created no session");
}

// A transaction's requests all have its tag; a read by itself has one of its own. A heartbeat must not
// wait behind work that can: high is Spanner's default, which is said so that statistics show it.
v1::ExecuteSqlRequest TaggedQuery(const ExecuteSql& request, const std::string& tag) {
  v1::ExecuteSqlRequest proto = wire::Encode(request);
  proto.mutable_request_options()->set_priority(v1::RequestOptions::PRIORITY_HIGH);
  if (tag.empty()) return proto;
  const bool in_transaction = proto.transaction().has_id() || proto.transaction().has_begin();
  v1::RequestOptions& options = *proto.mutable_request_options();
  in_transaction ? options.set_transaction_tag(tag) : options.set_request_tag(tag);
  return proto;
}

template <typename Request>
auto Tagged(const Request& request, const std::string& tag) {
  auto proto = wire::Encode(request);
  proto.mutable_request_options()->set_priority(v1::RequestOptions::PRIORITY_HIGH);
  if (!tag.empty()) proto.mutable_request_options()->set_transaction_tag(tag);
  return proto;
}

}  // namespace

bool IsQuery(std::string_view sql) {
  sql.remove_prefix(std::min(sql.find_first_not_of(" \t\r\n"), sql.size()));
  const auto starts_with = [&](std::string_view verb) {
    return sql.size() >= verb.size() &&
           std::equal(verb.begin(), verb.end(), sql.begin(), [](char upper, char c) {
             return upper == std::toupper(static_cast<unsigned char>(c));
           });
  };
  // A text that begins with a hint or a comment counts as a query: a stream can answer DML, too.
  return !starts_with("INSERT") && !starts_with("UPDATE") && !starts_with("DELETE");
}

Transport::Transport(EventLoop& loop, std::string database, std::string role, uint64_t client)
    : loop_(loop), database_(std::move(database)), role_(std::move(role)), client_(client) {}

void Transport::Open(const ConnectionOptions& options) {
  std::vector<std::shared_ptr<grpc::Channel>> channels;
  failure_ = OpenChannels(options, channels);
  for (const auto& channel : channels) stubs_.push_back(v1::Spanner::NewStub(channel));
}

SpannerRequestId Transport::RequestIdOf(const Options& options) {
  return {.process = ProcessNumber(),
          .client = client_,
          .channel = options.lane % stubs_.size() + 1,
          .request = options.request != 0 ? options.request : NewRequest(),
          .attempt = options.copy};
}

Transport::Sending Transport::NewCall(const Options& options, Done done) {
  Sending call{.id = ++last_call_, .progress = options.progress, .tag = options.tag};
  if (!stubs_.empty()) {
    call.context = std::make_shared<grpc::ClientContext>();
    call.context->set_deadline(ToGrpcDeadline(options.deadline));
    call.stub = stubs_[options.lane % stubs_.size()].get();
  }
  calls_[call.id] = {.context = call.context, .done = std::move(done)};
  return call;
}

template <typename Reply, typename Decode>
auto Transport::AnswerWith(CallId call, Decode decode) {
  return [this, call, decode](Status status, const Reply& reply) {
    Response response;
    response.status = status.ok() ? decode(reply, response) : std::move(status);
    Answer(call, std::move(response));
  };
}

Transport::CallId Transport::Send(const Request& request, Options options, Done done) {
  const Sending call = NewCall(options, std::move(done));
  if (call.stub == nullptr) {
    AnswerLater(call.id, failure_);
    return call.id;
  }
  AddHeaders(HeadersOf(request, database_, RequestIdOf(options)), *call.context);
  AddHeaders(options.headers, *call.context);
  std::visit([&](const auto& one) { Start(call, one); }, request);
  return call.id;
}

Transport::CallId Transport::BatchCreateSessions(int32_t count, LocalInstant deadline, Done done) {
  const Options options{.deadline = deadline};
  const Sending call = NewCall(options, std::move(done));
  if (call.stub == nullptr) {
    AnswerLater(call.id, failure_);
    return call.id;
  }
  AddHeaders(HeadersOf(CreateSession{}, database_, RequestIdOf(options)), *call.context);
  v1::BatchCreateSessionsRequest request;
  request.set_database(database_);
  request.set_session_count(count);
  if (!role_.empty()) request.mutable_session_template()->set_creator_role(role_);
  UnaryCall<v1::BatchCreateSessionsResponse>::Start(
      call.context,
      call.stub->PrepareAsyncBatchCreateSessions(call.context.get(), request, &loop_.queue()),
      AnswerWith<v1::BatchCreateSessionsResponse>(call.id, DecodeSessions));
  return call.id;
}

void Transport::Cancel(CallId call) {
  const auto found = calls_.find(call);
  if (found != calls_.end() && found->second.context != nullptr) found->second.context->TryCancel();
}

void Transport::CancelAll() {
  for (auto& [id, call] : calls_) {
    if (call.context != nullptr) call.context->TryCancel();
  }
}

void Transport::Answer(CallId call, Response response) {
  const auto node = calls_.extract(call);
  node.mapped().done(std::move(response));
  if (calls_.empty() && when_idle_) when_idle_();
}

// Answers on the next turn of the loop, since callers expect no answer inside Send.
void Transport::AnswerLater(CallId call, Status status) {
  loop_.At(LocalInstant{}, [this, call, status = std::move(status)] {
    Response response;
    response.status = status;
    Answer(call, std::move(response));
  });
}

// --- the calls -----------------------------------------------------------------------------------

void Transport::Start(const Sending& call, const ExecuteSql& request) {
  if (IsQuery(request.statement.sql.text())) return StartQuery(call, request);
  UnaryCall<v1::ResultSet>::Start(
      call.context,
      call.stub->PrepareAsyncExecuteSql(call.context.get(), TaggedQuery(request, call.tag),
                                        &loop_.queue()),
      AnswerWith<v1::ResultSet>(call.id, DecodeResult));
}

void Transport::StartQuery(const Sending& call, const ExecuteSql& request) {
  QueryProgress progress = call.progress;
  if (progress == nullptr) progress = std::make_shared<wire::PartialResultDecoder>();
  progress->Rewind();
  v1::ExecuteSqlRequest proto = TaggedQuery(request, call.tag);
  proto.set_resume_token(progress->resume_token());
  StreamCall<v1::PartialResultSet>::Start(
      call.context,
      call.stub->PrepareAsyncExecuteStreamingSql(call.context.get(), proto, &loop_.queue()),
      [progress](const v1::PartialResultSet& part) { return progress->Add(part); },
      [this, id = call.id, progress](Status status) {
        Response response;
        wire::ResultShape shape;
        response.status = status.ok() ? progress->Finish(response, shape) : std::move(status);
        Answer(id, std::move(response));
      });
}

void Transport::Start(const Sending& call, const BeginTransaction& request) {
  UnaryCall<v1::Transaction>::Start(
      call.context,
      call.stub->PrepareAsyncBeginTransaction(call.context.get(), Tagged(request, call.tag),
                                              &loop_.queue()),
      AnswerWith<v1::Transaction>(call.id, wire::DecodeTransaction));
}

void Transport::Start(const Sending& call, const Commit& request) {
  UnaryCall<v1::CommitResponse>::Start(
      call.context,
      call.stub->PrepareAsyncCommit(call.context.get(), Tagged(request, call.tag), &loop_.queue()),
      AnswerWith<v1::CommitResponse>(call.id, wire::DecodeCommitResponse));
}

void Transport::Start(const Sending& call, const Rollback& request) {
  UnaryCall<google::protobuf::Empty>::Start(
      call.context,
      call.stub->PrepareAsyncRollback(call.context.get(), wire::Encode(request), &loop_.queue()),
      AnswerWith<google::protobuf::Empty>(call.id, DecodeNothing));
}

void Transport::Start(const Sending& call, const CreateSession& request) {
  v1::CreateSessionRequest proto = wire::Encode(request, database_);
  if (!role_.empty()) proto.mutable_session()->set_creator_role(role_);
  UnaryCall<v1::Session>::Start(
      call.context, call.stub->PrepareAsyncCreateSession(call.context.get(), proto, &loop_.queue()),
      AnswerWith<v1::Session>(call.id, DecodeOneSession));
}

void Transport::Start(const Sending& call, const DeleteSession& request) {
  UnaryCall<google::protobuf::Empty>::Start(
      call.context,
      call.stub->PrepareAsyncDeleteSession(call.context.get(), wire::Encode(request),
                                           &loop_.queue()),
      AnswerWith<google::protobuf::Empty>(call.id, DecodeNothing));
}

// For requests that neither the runner nor the pool sends.
template <typename Other>
void Transport::Start(const Sending& call, const Other& request) {
  AnswerLater(call.id, Error(Code::kUnimplemented,
                             std::string(RequestName(request)) + " is not sent by this client"));
}

}  // namespace whorl::real_client
