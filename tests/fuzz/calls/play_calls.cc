#include "tests/fuzz/calls/play_calls.h"

#include <google/protobuf/stubs/strutil.h>
#include <google/protobuf/text_format.h>
#include <grpcpp/channel.h>
#include <grpcpp/client_context.h>
#include <grpcpp/create_channel.h>
#include <grpcpp/impl/codegen/proto_utils.h>
#include <grpcpp/security/credentials.h>
#include <grpcpp/support/byte_buffer.h>
#include <grpcpp/support/sync_stream.h>
#include <signal.h>  // NOLINT(modernize-deprecated-headers): POSIX's, not C's
#include <sys/wait.h>

#include <algorithm>
#include <atomic>
#include <chrono>
#include <cstdio>
#include <ctime>
#include <filesystem>
#include <fstream>
#include <map>
#include <memory>
#include <mutex>
#include <regex>
#include <sstream>
#include <stdexcept>
#include <thread>
#include <utility>

#include "google/spanner/v1/spanner.pb.h"
#include "protocol/spanner/answers.h"
#include "spanner_model/server/methods.h"
#include "tests/fuzz/calls/draw_calls.h"
#include "tests/support/child_lines.h"

namespace whorl::fuzz {
namespace {

namespace v1 = google::spanner::v1;
using Clock = std::chrono::steady_clock;
using google::protobuf::Message;
using Reader = grpc::ClientReader<grpc::ByteBuffer>;

int64_t MillisecondsSince(Clock::time_point start) {
  return std::chrono::duration_cast<std::chrono::milliseconds>(Clock::now() - start).count();
}

std::shared_ptr<grpc::Channel> Connect(const std::string& address) {
  grpc::ChannelArguments arguments;
  arguments.SetInt(GRPC_ARG_USE_LOCAL_SUBCHANNEL_POOL, 1);  // a connection of its own
  arguments.SetMaxReceiveMessageSize(-1);
  return grpc::CreateCustomChannel(address, grpc::InsecureChannelCredentials(), arguments);
}

// --- a call --------------------------------------------------------------------------------------

struct Heard {
  grpc::Status status;
  std::vector<grpc::ByteBuffer> messages;
  bool gave_up = false;  // by its own will
};

// Every method can be called as a stream: a plain answer is one of one message.
Heard Send(grpc::Channel& channel, const std::string& path, const Message& request,
           const PlayedCall& call) {
  grpc::ClientContext context;
  const int64_t deadline = call.deadline_ms != 0 ? call.deadline_ms : kDefaultDeadlineMs;
  context.set_deadline(std::chrono::system_clock::now() + std::chrono::milliseconds(deadline));
  bool own_buffer = false;
  grpc::ByteBuffer bytes;
  (void)grpc::GenericSerialize<grpc::ProtoBufferWriter, Message>(request, &bytes, &own_buffer);
  const grpc::internal::RpcMethod method(path.c_str(), grpc::internal::RpcMethod::SERVER_STREAMING);
  const std::unique_ptr<Reader> reader(
      grpc::internal::ClientReaderFactory<grpc::ByteBuffer>::Create<grpc::ByteBuffer>(
          &channel, method, &context, bytes));
  Heard heard;
  if (call.cancel) {
    heard.gave_up = true;
    context.TryCancel();
  }
  grpc::ByteBuffer message;
  while (true) {
    if (call.read_parts >= 0 && heard.messages.size() >= static_cast<size_t>(call.read_parts)) {
      heard.gave_up = true;
      context.TryCancel();
    }
    if (!reader->Read(&message)) break;
    heard.messages.push_back(message);
  }
  heard.status = reader->Finish();
  return heard;
}

template <typename Proto>
bool ParseMessage(const grpc::ByteBuffer& bytes, Proto& proto) {
  grpc::ByteBuffer copy = bytes;
  return grpc::GenericDeserialize<grpc::ProtoBufferReader, Message>(&copy, &proto).ok();
}

// --- what calls learn ----------------------------------------------------------------------------

// Names and ids that the server gave out, by the number of the call. Thread-safe.
class Names {
 public:
  // The text format with the references replaced; a reference to nothing stays.
  std::string Resolve(const std::string& text) const {
    static const std::regex reference("@([str])([0-9]+)");
    std::string out;
    auto from = text.cbegin();
    const std::lock_guard<std::mutex> lock(mutex_);
    for (std::sregex_iterator at(text.begin(), text.end(), reference), end; at != end; ++at) {
      out.append(from, text.cbegin() + at->position());
      const auto found = names_.find({(*at)[1].str()[0], std::stoi((*at)[2].str())});
      out += found != names_.end() ? google::protobuf::CEscape(found->second) : at->str();
      from = text.cbegin() + at->position() + at->length();
    }
    out.append(from, text.cend());
    return out;
  }

  void Learn(const PlayedCall& call, const std::vector<grpc::ByteBuffer>& messages) {
    for (const grpc::ByteBuffer& message : messages) {
      if (call.method == "CreateSession") {
        v1::Session session;
        if (ParseMessage(message, session)) Put('s', call.number, session.name());
      } else if (call.method == "BeginTransaction") {
        v1::Transaction transaction;
        if (!ParseMessage(message, transaction)) continue;
        Put('t', call.number, transaction.id());
        if (transaction.has_precommit_token()) {
          PutToken(transaction.id(), transaction.precommit_token());
        }
      } else if (call.method == "ExecuteStreamingSql" || call.method == "StreamingRead") {
        v1::PartialResultSet part;
        if (!ParseMessage(message, part)) continue;
        LearnResult(call.number, part);
        if (!part.resume_token().empty()) Put('r', call.number, part.resume_token());
      } else if (call.method == "ExecuteSql" || call.method == "Read") {
        v1::ResultSet result;
        if (ParseMessage(message, result)) LearnResult(call.number, result);
      } else if (call.method == "ExecuteBatchDml") {
        v1::ExecuteBatchDmlResponse batch;
        if (!ParseMessage(message, batch)) continue;
        if (batch.result_sets_size() > 0) LearnResult(call.number, batch.result_sets(0));
      }
    }
  }

  // The newest token of the transaction whose id stands in the place of one.
  void PutNewestToken(v1::CommitRequest& commit) const {
    const std::lock_guard<std::mutex> lock(mutex_);
    const auto found = tokens_.find(commit.precommit_token().precommit_token());
    if (found != tokens_.end()) *commit.mutable_precommit_token() = found->second;
  }

 private:
  template <typename Result>
  void LearnResult(int call, const Result& result) {
    const std::string& id = result.metadata().transaction().id();
    if (!id.empty()) Put('t', call, id);
    if (result.has_precommit_token() && !id.empty()) PutToken(id, result.precommit_token());
  }
  void Put(char kind, int call, const std::string& name) {
    const std::lock_guard<std::mutex> lock(mutex_);
    names_[{kind, call}] = name;
  }
  void PutToken(const std::string& id, const v1::MultiplexedSessionPrecommitToken& token) {
    const std::lock_guard<std::mutex> lock(mutex_);
    tokens_[id] = token;
  }

  mutable std::mutex mutex_;
  std::map<std::pair<char, int>, std::string> names_;
  std::map<std::string, v1::MultiplexedSessionPrecommitToken> tokens_;
};

// Seconds near now, which only the run knows: 99990005 is now, 99990008 three seconds later.
std::string ResolveTimes(const std::string& text) {
  static const std::regex second("seconds: 9999000([0-9])");
  std::string out;
  auto from = text.cbegin();
  for (std::sregex_iterator at(text.begin(), text.end(), second), end; at != end; ++at) {
    out.append(from, text.cbegin() + at->position());
    out += "seconds: " + std::to_string(std::time(nullptr) + std::stoi((*at)[1].str()) - 5);
    from = text.cbegin() + at->position() + at->length();
  }
  out.append(from, text.cend());
  return out;
}

// --- the server ----------------------------------------------------------------------------------

class RunningServer {
 public:
  explicit RunningServer(const ServerUnderTest& server)
      : ddl_(std::filesystem::temp_directory_path() /
             ("whorl_fuzz_calls_" + std::to_string(getpid()) + ".sql")) {
    std::ofstream out(ddl_);
    for (const std::string& statement : Schema()) out << statement << ";\n";
    out.close();
    std::vector<std::string> arguments = {server.whorl,  "serve",      "--ddl",
                                          ddl_.string(), "--database", kDatabase};
    arguments.insert(arguments.end(), server.arguments.begin(), server.arguments.end());
    process_.emplace(arguments);
    const auto line = process_->Next(Seconds(60));
    const size_t equals = line ? line->find('=') : std::string::npos;
    if (equals == std::string::npos) {
      throw std::runtime_error("the server did not start: " + process_->Errors());
    }
    address_ = line->substr(equals + 1);
  }
  ~RunningServer() {
    std::error_code ignored;
    std::filesystem::remove(ddl_, ignored);
  }

  const std::string& address() const { return address_; }
  bool IsRunning() { return process_->IsRunning(); }

  int64_t MemoryMb() const {
    std::ifstream status("/proc/" + std::to_string(process_->pid()) + "/status");
    for (std::string line; std::getline(status, line);) {
      if (line.starts_with("VmRSS:")) return std::stoll(line.substr(6)) / 1024;
    }
    return 0;
  }

  // How it died, if it did; ends it otherwise.
  std::optional<Failure> End() {
    if (!IsRunning()) return Died();
    constexpr int64_t kPatienceMs = 10'000;
    kill(process_->pid(), SIGTERM);
    const auto start = Clock::now();
    while (process_->IsRunning()) {
      if (MillisecondsSince(start) > kPatienceMs) {
        process_->Kill();
        return Failure{.kind = "does not end", .detail = "10 s after SIGTERM it was still there"};
      }
      (void)process_->Next(Milliseconds(20));
    }
    const std::string said = process_->Errors();
    const bool as_asked =
        (WIFEXITED(process_->status()) && WEXITSTATUS(process_->status()) == 0) ||
        (WIFSIGNALED(process_->status()) && WTERMSIG(process_->status()) == SIGTERM);
    if (as_asked && said.find("runtime error:") == std::string::npos) return std::nullopt;
    return Died();
  }

 private:
  Failure Died() const {
    const std::string said = process_->Errors();
    std::istringstream lines(said);
    std::string kind = "died";
    for (std::string line; std::getline(lines, line);) {
      if (line.find("runtime error:") != std::string::npos || line.starts_with("SUMMARY:")) {
        kind += ": " + line;
        break;
      }
    }
    return {
        .kind = kind,
        .detail = "status " + std::to_string(process_->status()) + "\n" + said.substr(0, 6'000)};
  }

  const std::filesystem::path ddl_;
  std::optional<ChildLines> process_;
  std::string address_;
};

// --- a round -------------------------------------------------------------------------------------

class Round {
 public:
  Round(const ServerUnderTest& options, RunningServer& server)
      : options_(options), server_(server) {}

  Played Run(const std::vector<PlayedCall>& calls) {
    std::map<int, std::vector<const PlayedCall*>> of_thread;
    for (const PlayedCall& call : calls) of_thread[call.thread].push_back(&call);
    const auto first = of_thread.extract(0);
    if (!first.empty()) PlayThread(first.mapped());
    std::thread probe([this] { Probe(); });
    std::vector<std::thread> threads;
    threads.reserve(of_thread.size());
    for (const auto& [number, list] : of_thread) {
      threads.emplace_back([this, &list = list] { PlayThread(list); });
    }
    for (std::thread& thread : threads) thread.join();
    is_over_ = true;
    probe.join();
    played_.memory_mb = server_.MemoryMb();
    return played_;
  }

 private:
  void PlayThread(const std::vector<const PlayedCall*>& calls) {
    const auto channel = Connect(server_.address());
    for (const PlayedCall* call : calls) {
      if (is_over_) return;
      PlayCall(*channel, *call);
    }
  }

  void PlayCall(grpc::Channel& channel, const PlayedCall& call) {
    const server::Method* method = nullptr;
    for (const server::Method& one : server::AllMethods()) {
      if (one.name == call.method) method = &one;
    }
    if (method == nullptr) throw std::runtime_error("no method " + call.method);
    const auto request = method->new_request();
    google::protobuf::TextFormat::Parser parser;
    if (!parser.ParseFromString(ResolveTimes(names_.Resolve(call.request)), request.get())) {
      throw std::runtime_error("call " + std::to_string(call.number) +
                               ": no request: " + call.request.substr(0, 200));
    }
    if (auto* commit = dynamic_cast<v1::CommitRequest*>(request.get())) {
      if (commit->has_precommit_token()) names_.PutNewestToken(*commit);
    }
    const std::string path = "/" + std::string(method->service) + "/" + std::string(method->name);
    const Heard heard = Send(channel, path, *request, call);
    names_.Learn(call, heard.messages);
    Judge(call, *method, heard);
  }

  void Judge(const PlayedCall& call, const server::Method& method, const Heard& heard) {
    const std::lock_guard<std::mutex> lock(mutex_);
    ++played_.calls;
    if (heard.status.ok()) {
      ++played_.answered_ok;
      return;
    }
    const auto code = static_cast<Code>(heard.status.error_code());
    if (code == Code::kCancelled && heard.gave_up) return;
    if (code == Code::kDeadlineExceeded) return;
    if (!server_.IsRunning()) {
      is_over_ = true;
      return;  // End() says how
    }
    const bool is_of_spanner = method.service == server::kSpannerService;
    const bool may_be = is_of_spanner ? MayAnswer(method.name, code, /*in_read_write=*/true)
                                      : code != Code::kInternal && code != Code::kUnknown &&
                                            code != Code::kUnavailable;
    const bool was_cut = heard.status.error_message().find("metadata size") != std::string::npos;
    if (may_be && !was_cut) return;
    Fail({.kind = "code " + std::string(WordOf(code)),
          .detail = "call " + std::to_string(call.number) + ", " + call.method + ": " +
                    heard.status.error_message()});
  }

  // Another session, which has to be answered whatever the others do.
  void Probe() {
    const auto channel = Connect(server_.address());
    v1::CreateSessionRequest create;
    create.set_database(kDatabase);
    const PlayedCall patient = {.deadline_ms = 120'000};
    const std::string service = "/google.spanner.v1.Spanner/";
    v1::ExecuteSqlRequest query;
    query.set_sql("SELECT 1");
    const Heard made = Send(*channel, service + "CreateSession", create, patient);
    v1::Session session;
    if (!made.status.ok() || !ParseMessage(made.messages.at(0), session)) return;
    query.set_session(session.name());
    while (!is_over_) {
      const auto start = Clock::now();
      const Heard heard = Send(*channel, service + "ExecuteSql", query, patient);
      const int64_t took = MillisecondsSince(start);
      if (!server_.IsRunning()) return;
      const std::lock_guard<std::mutex> lock(mutex_);
      played_.slowest_probe_ms = std::max(played_.slowest_probe_ms, took);
      if (!heard.status.ok()) {
        Fail({.kind = "other session", .detail = heard.status.error_message()});
      } else if (took > options_.answer_within_ms) {
        Fail({.kind = std::string(kSlow),
              .detail = "another session's SELECT 1 took " + std::to_string(took) + " ms"});
      }
      std::this_thread::sleep_for(std::chrono::milliseconds(20));
    }
  }

  void Fail(Failure failure) {
    if (!played_.failure) played_.failure = std::move(failure);
    is_over_ = true;
  }

  const ServerUnderTest& options_;
  RunningServer& server_;
  Names names_;
  std::atomic<bool> is_over_ = false;
  std::mutex mutex_;  // guards played_
  Played played_;
};

}  // namespace

Played Play(const ServerUnderTest& options, const std::vector<PlayedCall>& calls) {
  RunningServer server(options);
  Played played = Round(options, server).Run(calls);
  // A server that died is the reason for whatever else was seen.
  if (auto died = server.End()) played.failure = std::move(died);
  return played;
}

}  // namespace whorl::fuzz
