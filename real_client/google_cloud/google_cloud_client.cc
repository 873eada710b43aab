#include "real_client/google_cloud/google_cloud_client.h"

#include <google/cloud/spanner/version.h>

#include <atomic>
#include <boost/asio/post.hpp>
#include <boost/asio/thread_pool.hpp>
#include <cstdlib>
#include <deque>
#include <map>
#include <optional>
#include <utility>
#include <variant>
#include <vector>

#include "protocol/client/transaction_runner.h"
#include "real_client/connection.h"
#include "real_client/event_loop.h"
#include "real_client/google_cloud/google_cloud_session.h"
#include "real_client/os.h"

namespace whorl::real_client {
namespace {

// The library itself masks errors of the first statement, so the runner must not.
RetryPolicy WithoutMasking(RetryPolicy policy) {
  policy.first_error = FirstError::kReported;
  policy.begin_after_aborted = BeginAfterAborted::kInlined;
  return policy;
}

Status Validate(const ClientOptions& options) {
  DatabaseName name;
  Status status = ParseDatabaseName(options.database, name);
  if (!status.ok()) return status;
  if (options.connection.channels < 1 || options.threads < 1) {
    return Error(Code::kInvalidArgument, "channels and threads: expected at least 1, got " +
                                             std::to_string(options.connection.channels) + " and " +
                                             std::to_string(options.threads));
  }
  // Without its role, a transaction would have other rights than the caller meant it to have.
  if (!options.database_role.empty()) {
    return Error(Code::kInvalidArgument,
                 "database_role: google-cloud-cpp sends no role, got " + options.database_role);
  }
  return {};
}

// The library always uses the emulator that the environment names.
Status ValidateEnvironment(const ConnectionOptions& options) {
  // Read on the caller's thread when it creates a client, before that client has its own thread.
  const char* host = std::getenv("SPANNER_EMULATOR_HOST");  // NOLINT(concurrency-mt-unsafe)
  const bool plaintext = std::holds_alternative<Plaintext>(options.credentials);
  if (host == nullptr || (plaintext && options.endpoint == host)) return {};
  return Error(Code::kFailedPrecondition, "google-cloud-cpp goes to SPANNER_EMULATOR_HOST (" +
                                              std::string(host) + "), not to " + options.endpoint +
                                              "; unset it");
}

// One call that a thread of the pool runs.
class PooledCall {
 public:
  // Called by the thread just before it sends. False if the call was given up.
  bool Start() {
    sent_ = MonotonicNow();
    return Change(State::kQueued, State::kSent);
  }
  // Called by the thread. False if no caller waits for the answer.
  bool End(Response answer) {
    answer_ = std::move(answer);
    return Change(State::kSent, State::kAnswered);
  }

  enum class GivenUp : uint8_t {
    kNeverSent,
    kUnderWay,
    kAnswered,
  };
  GivenUp GiveUp() {
    if (Change(State::kQueued, State::kGivenUp)) return GivenUp::kNeverSent;
    return Change(State::kSent, State::kGivenUp) ? GivenUp::kUnderWay : GivenUp::kAnswered;
  }
  // REQUIRES: it was sent.
  LocalInstant sent() const { return sent_; }
  // REQUIRES: it was answered.
  Response TakeAnswer() { return std::move(answer_); }

 private:
  enum class State : uint8_t { kQueued, kSent, kAnswered, kGivenUp };
  bool Change(State from, State to) { return state_.compare_exchange_strong(from, to); }

  LocalInstant sent_;  // set before state_ becomes kSent
  Response answer_;    // set before state_ becomes kAnswered
  std::atomic<State> state_ = State::kQueued;
};

}  // namespace

// All transactions of a client. Used on the loop's thread only, except where noted.
class GoogleCloudClient::Core {
 public:
  explicit Core(ClientOptions options)
      : options_(std::move(options)),
        policy_(WithoutMasking(options_.retry)),
        connector_(options_),
        workers_(static_cast<size_t>(options_.threads)) {}

  Core(const Core&) = delete;
  Core& operator=(const Core&) = delete;
  // REQUIRES: Shutdown was called, and StopLoop() will be called on the loop's thread.
  ~Core() {
    loop_.Join();
    workers_.join();
  }

  // From any thread.
  RunId Run(Transaction transaction, Done done) {
    const RunId id = ++last_run_;
    loop_.Post([this, id, transaction = std::move(transaction), done = std::move(done)]() mutable {
      Begin(id, std::move(transaction), std::move(done));
    });
    return id;
  }
  // From any thread.
  void Cancel(RunId id) {
    loop_.Post([this, id] { GiveUp(id, Error(Code::kCancelled, "the caller gave up")); });
  }
  // From any thread.
  void Shutdown(std::function<void()> done) {
    loop_.Post([this, done = std::move(done)] {
      Close();
      done();
    });
  }
  // From any thread. REQUIRES: no call is under way, except for those that were given up.
  void StopLoop() { loop_.Stop(); }

 private:
  using Call = std::shared_ptr<PooledCall>;
  struct Running {
    RunnerState runner;
    Done done;
    GoogleCloudSession* session = nullptr;
    Call call;                     // the call under way
    EventLoop::TimerId timer = 0;  // ends the call, the pause or the wait for a session
  };

  void Begin(RunId id, Transaction transaction, Done done) {
    Running& run = runs_[id];
    run.done = std::move(done);
    Do(id, run,
       StartRunner(policy_, run.runner, std::move(transaction), MonotonicNow(), std::nullopt));
  }

  // `run` may be destroyed by this.
  void Do(RunId id, Running& run, RunnerAction action) {
    if (const auto* send = std::get_if<SendCall>(&action)) return Send(id, run, *send);
    if (const auto* wait = std::get_if<WaitFor>(&action)) return Wait(id, run, wait->pause);
    if (std::holds_alternative<NeedSession>(action)) return AskForSession(id, run);
    Finish(id, run, std::get<Finished>(std::move(action)).result, /*is_under_way=*/false);
  }

  void Send(RunId id, Running& run, const SendCall& send) {
    const Call call = std::make_shared<PooledCall>();
    run.call = call;
    run.timer = loop_.At(send.deadline, [this, id] {
      GiveUp(id, Error(Code::kDeadlineExceeded, "there was no answer in time"));
    });
    boost::asio::post(workers_,
                      [this, id, call, session = run.session, request = RequestOf(run.runner)] {
                        if (!call->Start()) return;
                        if (!call->End(session->Do(request))) return RollBack(*session);
                        loop_.Post([this, id, call] {
                          const auto found = runs_.find(id);
                          // Otherwise it was given up after the answer had arrived, and received it then.
                          if (found != runs_.end() && found->second.call == call)
                            OnAnswer(id, found->second, {});
                        });
                      });
  }

  // `given_up` is the status with which the transaction ends, unless the answer ends it.
  void OnAnswer(RunId id, Running& run, std::optional<Status> given_up) {
    RunnerState& state = run.runner;
    loop_.Cancel(run.timer);
    const Call call = std::exchange(run.call, nullptr);
    if (state.doing == RunnerState::Doing::kCommit) state.commit_sent = call->sent();
    Response answer = call->TakeAnswer();
    RunnerAction action =
        IsTheLast(state, answer.status)
            ? OnCancelled(policy_, state, MonotonicNow(), std::move(answer.status)).value()
            : OnReply(policy_, state, MonotonicNow(), entropy_, std::move(answer));
    if (!given_up || std::holds_alternative<Finished>(action)) {
      return Do(id, run, std::move(action));
    }
    const bool was_sent = !std::holds_alternative<SendCall>(action);
    Finish(id, run, GiveUpRunner(state, *std::move(given_up), was_sent), /*is_under_way=*/false);
  }

  // Whether a call that the runner would send again must not be. A Commit is sent once, so that its
  // outcome is reported as received; a statement would be sent as a new one, which Spanner runs
  // even if it has run the first.
  static bool IsTheLast(const RunnerState& state, const Status& status) {
    using Doing = RunnerState::Doing;
    if (status.code != Code::kUnavailable && status.code != Code::kResourceExhausted) return false;
    return state.doing == Doing::kCommit || (state.doing == Doing::kStatement && state.has_begun);
  }

  void Wait(RunId id, Running& run, Duration pause) {
    run.timer = loop_.At(MonotonicNow() + pause, [this, id] {
      Running& waited = runs_.at(id);
      Do(id, waited, OnWaited(policy_, waited.runner, MonotonicNow(), entropy_));
    });
  }

  // --- giving up --------------------------------------------------------------------------------

  void GiveUp(RunId id, Status reason) {
    const auto found = runs_.find(id);
    if (found == runs_.end()) return;
    Running& run = found->second;
    using GivenUp = PooledCall::GivenUp;
    const GivenUp call = run.call == nullptr ? GivenUp::kNeverSent : run.call->GiveUp();
    if (call == GivenUp::kAnswered) return OnAnswer(id, run, std::move(reason));
    RunnerState& state = run.runner;
    const bool is_under_way = call == GivenUp::kUnderWay;
    if (is_under_way && state.doing == RunnerState::Doing::kCommit) {
      state.commit_sent = run.call->sent();
    }
    Finish(id, run, GiveUpRunner(state, std::move(reason), is_under_way), is_under_way);
  }

  // The transaction's result. A rollback that the runner requests is sent after the answer.
  TransactionResult GiveUpRunner(RunnerState& state, Status reason, bool was_sent) {
    if (state.doing == RunnerState::Doing::kCommit && !was_sent) {
      state.doing = RunnerState::Doing::kStatement;
      state.commit_sent.reset();
    }
    const LocalInstant now = MonotonicNow();
    std::optional<RunnerAction> action = OnCancelled(policy_, state, now, std::move(reason));
    if (!action || !std::holds_alternative<Finished>(*action)) {
      action = OnReply(policy_, state, now, entropy_, Response{});  // to the rollback
    }
    return std::get<Finished>(*std::move(action)).result;
  }

  // If `is_under_way`, its thread still uses the session and will clean up.
  void Finish(RunId id, Running& run, TransactionResult result, bool is_under_way) {
    loop_.Cancel(run.timer);
    result.status = Advise(std::move(result.status), options_.connection, options_.database);
    const Done done = std::move(run.done);
    GoogleCloudSession* session = run.session;
    std::erase(asking_, id);
    runs_.erase(id);
    if (session != nullptr && !is_under_way) CleanUp(*session);
    done(std::move(result));
  }

  // --- sessions ---------------------------------------------------------------------------------

  void AskForSession(RunId id, Running& run) {
    if (closing_) {
      return Do(id, run,
                OnNoSession(run.runner, Error(Code::kCancelled, "the client is shut down")));
    }
    // The library creates a new session if Spanner has lost this one.
    if (run.session != nullptr) return Grant(id, *run.session);
    if (idle_.empty() && sessions_.size() < static_cast<size_t>(options_.threads)) {
      sessions_.push_back(std::make_unique<GoogleCloudSession>(connector_, sessions_.size()));
      idle_.push_back(sessions_.back().get());
    }
    if (!idle_.empty()) {
      GoogleCloudSession* const session = idle_.back();
      idle_.pop_back();
      return Grant(id, *session);
    }
    asking_.push_back(id);
    if (const std::optional<LocalInstant> at = run.runner.transaction.give_up_at) {
      run.timer = loop_.At(*at, [this, id] {
        GiveUp(id, Error(Code::kDeadlineExceeded, "no thread was free before its time was over"));
      });
    }
  }

  void Grant(RunId id, GoogleCloudSession& session) {
    Running& run = runs_.at(id);
    loop_.Cancel(run.timer);
    run.session = &session;
    Do(id, run, OnSession(policy_, run.runner, MonotonicNow(), Session{}));
  }

  void CleanUp(GoogleCloudSession& session) {
    if (!session.is_open()) return GiveBack(session);
    boost::asio::post(workers_, [this, &session] { RollBack(session); });
  }

  // Runs on a thread of the pool.
  void RollBack(GoogleCloudSession& session) {
    if (session.is_open()) session.Do(Rollback{});
    loop_.Post([this, &session] { GiveBack(session); });
  }

  void GiveBack(GoogleCloudSession& session) {
    session.Forget();
    if (asking_.empty()) return idle_.push_back(&session);
    const RunId next = asking_.front();
    asking_.pop_front();
    // Posted, since that run may end at once and return the session, and so on recursively.
    runs_.at(next).session = &session;
    loop_.At(LocalInstant{}, [this, next, &session] {
      if (runs_.contains(next)) Grant(next, session);
    });
  }

  void Close() {
    closing_ = true;
    std::vector<RunId> ids;
    for (const auto& [id, run] : runs_) ids.push_back(id);
    for (const RunId id : ids) GiveUp(id, Error(Code::kCancelled, "the client was shut down"));
  }

  const ClientOptions options_;
  const RetryPolicy policy_;
  std::atomic<RunId> last_run_ = 0;
  OsEntropy entropy_;
  std::map<RunId, Running> runs_;
  bool closing_ = false;
  GoogleCloudConnector connector_;
  std::vector<std::unique_ptr<GoogleCloudSession>> sessions_;
  std::vector<GoogleCloudSession*> idle_;
  std::deque<RunId> asking_;  // wait for a session, in order
  EventLoop loop_;
  boost::asio::thread_pool workers_;
};

GoogleCloudClient::GoogleCloudClient(ClientOptions options)
    : core_(std::make_unique<Core>(std::move(options))) {}

GoogleCloudClient::~GoogleCloudClient() {
  core_->Shutdown([core = core_.get()] { core->StopLoop(); });
}

Status GoogleCloudClient::Create(ClientOptions options, std::unique_ptr<GoogleCloudClient>& out) {
  Status status = Validate(options);
  if (!status.ok()) return status;
  options.connection = ResolveWithEnvironment(std::move(options.connection));
  status = ValidateEnvironment(options.connection);
  if (!status.ok()) return status;
  out.reset(new GoogleCloudClient(std::move(options)));
  return {};
}

Status MakeGoogleCloudClient(ClientOptions options, std::unique_ptr<TransactionClient>& out) {
  std::unique_ptr<GoogleCloudClient> client;
  Status status = GoogleCloudClient::Create(std::move(options), client);
  out = std::move(client);
  return status;
}

std::string GoogleCloudClient::Version() { return google::cloud::spanner::VersionString(); }

bool GoogleCloudClient::CanBeOptimistic() { return GoogleCloudCanBeOptimistic(); }

GoogleCloudClient::RunId GoogleCloudClient::Run(Transaction transaction, Done done) {
  return core_->Run(std::move(transaction), std::move(done));
}

void GoogleCloudClient::Cancel(RunId run) { core_->Cancel(run); }

void GoogleCloudClient::Shutdown(std::function<void()> done) { core_->Shutdown(std::move(done)); }

}  // namespace whorl::real_client
