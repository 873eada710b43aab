#include "real_client/spanner_client.h"

#include <algorithm>
#include <atomic>
#include <map>
#include <optional>
#include <utility>
#include <variant>
#include <vector>

#include "real_client/call_observer.h"
#include "real_client/connection.h"
#include "real_client/event_loop.h"
#include "real_client/os.h"
#include "real_client/session_host.h"
#include "real_client/transport.h"

namespace whorl::real_client {
namespace {

constexpr Duration kShutdownTimeout = Seconds(2);

uint64_t NextClientNumber() {
  static std::atomic<uint64_t> last = 0;
  return ++last;
}

Status Validate(const ClientOptions& options) {
  DatabaseName name;
  Status status = ParseDatabaseName(options.database, name);
  if (!status.ok()) return status;
  if (options.connection.channels < 1) {
    return Error(Code::kInvalidArgument, "channels: expected at least 1, got " +
                                             std::to_string(options.connection.channels));
  }
  const SessionPoolPolicy& sessions = options.sessions;
  const bool regular = sessions.kind == SessionKind::kRegular;
  if (regular && (sessions.max_sessions < 1 || sessions.min_sessions > sessions.max_sessions)) {
    return Error(Code::kInvalidArgument,
                 "sessions: expected 1 or more at most, and no more at least; got " +
                     std::to_string(sessions.min_sessions) + " to " +
                     std::to_string(sessions.max_sessions));
  }
  return {};
}

}  // namespace

// All transactions of a client. Used on the loop's thread only, except where noted.
class SpannerClient::Core {
 public:
  explicit Core(ClientOptions options)
      : options_(std::move(options)),
        transport_(loop_, options_.database, options_.database_role, NextClientNumber()),
        sessions_(loop_, transport_, options_.sessions) {
    transport_.WhenIdle([this] { NoticeEnd(); });
    loop_.Post([this] {
      transport_.Open(options_.connection);
      sessions_.Open();
    });
  }

  Core(const Core&) = delete;
  Core& operator=(const Core&) = delete;
  // Ends the loop's thread first, since it uses the other members. REQUIRES: StopLoop() was called,
  // or will be on the loop's thread.
  ~Core() { loop_.Join(); }

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
    loop_.Post([this, id] {
      const auto found = runs_.find(id);
      if (found != runs_.end()) {
        CancelRun(id, found->second, Error(Code::kCancelled, "the caller gave up"));
      }
    });
  }
  // From any thread.
  void Shutdown(std::function<void()> done) {
    loop_.Post([this, done = std::move(done)]() mutable { Close(std::move(done)); });
  }
  // From any thread. REQUIRES: no call is under way.
  void StopLoop() { loop_.Stop(); }

 private:
  struct Running {
    RunnerState runner;
    Done done;
    Transport::CallId call = 0;    // the call under way
    EventLoop::TimerId timer = 0;  // the timer of a pause
    uint64_t request = 0;          // the number of the current call, shared by its copies
    uint64_t copies = 0;
    uint64_t generation = 0;  // incremented by a cancellation, after which replies are ignored
    QueryProgress progress;   // the current query's
    Status last_error;        // of all calls so far
  };

  // A cancelled transaction whose last call is not cancelled (IsLeftToEnd).
  struct Abandoned {
    SessionName session;
    TransactionId committing;  // empty: the call begins the transaction
  };

  void Begin(RunId id, Transaction transaction, Done done) {
    Running& run = runs_[id];
    run.done = std::move(done);
    RunnerAction action = StartRunner(options_.retry, run.runner, std::move(transaction),
                                      MonotonicNow(), std::nullopt);
    Do(id, run, std::move(action));
  }

  // `run` may be destroyed by this.
  void Do(RunId id, Running& run, RunnerAction action) {
    if (auto* send = std::get_if<SendCall>(&action)) return Send(id, run, *send);
    if (const auto* wait = std::get_if<WaitFor>(&action)) return Wait(id, run, wait->pause);
    GiveSessionBack(run);
    if (std::holds_alternative<NeedSession>(action)) return AskForSession(id, run);
    Finish(id, run, std::move(std::get<Finished>(action).result));
  }

  // By it Spanner's statistics tell the steps of locks from other work.
  static std::string TagOf(StepName step) { return "whorl_" + std::string(WordOf(step)); }

  static SentCall NameOf(const SendCall& send, const Request& request) {
    return {.step = send.step,
            .attempt = send.attempt,
            .call = send.call,
            .request = static_cast<uint8_t>(request.index())};
  }

  void Send(RunId id, Running& run, const SendCall& send) {
    const Request request = RequestOf(run.runner);
    const bool resent = run.runner.resent && run.request != 0;
    if (!resent) {
      run.request = transport_.NewRequest();
      run.copies = 0;
      run.progress.reset();
    }
    // A query that begins a transaction, sent again, begins another one: it must not resume.
    if (send.call == 0 && run.runner.transaction.mode == Mode::kReadWrite) run.progress.reset();
    if (run.progress == nullptr) run.progress = std::make_shared<wire::PartialResultDecoder>();
    Transport::Options options{.deadline = send.deadline,
                               .lane = id,
                               .request = run.request,
                               .copy = ++run.copies,
                               .progress = run.progress,
                               .headers = {},
                               .tag = TagOf(run.runner.transaction.step)};
    CallObserver* const observer = options_.call_observer.get();
    if (observer != nullptr) options.headers = observer->OnSend(id, NameOf(send, request));
    if (closing_) options.deadline = std::min(options.deadline, closing_at_);
    run.call = transport_.Send(request, std::move(options),
                               [this, id, observer, sent = NameOf(send, request),
                                generation = run.generation](Response response) {
                                 Running* running = Find(id, generation);
                                 if (running == nullptr)
                                   return UndoAbandoned(id, generation, response);
                                 running->call = 0;
                                 NoteError(*running, response.status);
                                 if (observer != nullptr) observer->OnReply(id, sent, response);
                                 Do(id, *running,
                                    OnReply(options_.retry, running->runner, MonotonicNow(),
                                            entropy_, std::move(response)));
                               });
  }

  void Wait(RunId id, Running& run, Duration pause) {
    run.timer = loop_.At(MonotonicNow() + pause, [this, id, generation = run.generation] {
      Running* running = Find(id, generation);
      if (running == nullptr) return;
      Do(id, *running, OnWaited(options_.retry, running->runner, MonotonicNow(), entropy_));
    });
  }

  void AskForSession(RunId id, Running& run) {
    // A caller that has no more time does not wait for a session either.
    const std::optional<LocalInstant> by = run.runner.transaction.give_up_at;
    sessions_.Ask(id, by, [this, id, generation = run.generation](auto granted) {
      Running* running = Find(id, generation);
      if (running == nullptr) return;  // StopAsking was called, so no session was granted
      if (auto* session = std::get_if<Session>(&granted)) {
        return Do(id, *running,
                  OnSession(options_.retry, running->runner, MonotonicNow(), std::move(*session)));
      }
      Do(id, *running, OnNoSession(running->runner, std::get<Status>(std::move(granted))));
    });
  }

  void GiveSessionBack(Running& run) {
    if (run.runner.session.name.empty()) return;
    sessions_.Return(run.runner.session.name, run.runner.session_lost);
    run.runner.session = {};
  }

  void Finish(RunId id, Running& run, TransactionResult result) {
    result.status = WithReason(std::move(result.status), run.last_error);
    result.status = Advise(std::move(result.status), options_.connection, options_.database);
    const Done done = std::move(run.done);
    runs_.erase(id);
    done(std::move(result));
    NoticeEnd();
  }

  // A call that got no answer in time does not say why it was sent again.
  static void NoteError(Running& run, const Status& status) {
    if (status.ok()) return;
    if (status.code != Code::kDeadlineExceeded || run.last_error.ok()) run.last_error = status;
  }

  // A transaction that was retried until its time was over ends with an error of the runner's own, or of
  // a call that got no answer, which does not say why it was retried.
  static Status WithReason(Status status, const Status& last_error) {
    const bool is_own = status.code == Code::kDeadlineExceeded || status.code == Code::kCancelled;
    if (!is_own || last_error.ok() || status.Says(last_error.message.view())) return status;
    status.message =
        std::string(status.message.view()) + "; the last error was " + FormatStatus(last_error);
    return status;
  }

  void CancelRun(RunId id, Running& run, Status reason) {
    const bool is_left_to_end = IsLeftToEnd(run);
    std::optional<RunnerAction> action =
        OnCancelled(options_.retry, run.runner, MonotonicNow(), std::move(reason));
    if (!action) return;
    if (is_left_to_end) {
      abandoned_[{id, run.generation}] = {.session = run.runner.session.name,
                                          .committing = run.runner.transaction_id};
    } else {
      transport_.Cancel(run.call);
    }
    ++run.generation;
    loop_.Cancel(run.timer);
    sessions_.StopAsking(id);
    Do(id, run, *std::move(action));
  }

  // Whether Spanner may just be beginning the run's transaction, whose id only the reply contains,
  // or committing it. If that call were cancelled, the transaction could stay open, with its locks,
  // until Spanner aborts it for being idle. (A regular session is reused, and the next transaction
  // on it ends this one.)
  static bool IsLeftToEnd(const Running& run) {
    const RunnerState& runner = run.runner;
    return run.call != 0 && runner.transaction.mode == Mode::kReadWrite &&
           runner.session.multiplexed &&
           (!runner.has_begun || runner.doing == RunnerState::Doing::kCommit);
  }

  void UndoAbandoned(RunId id, uint64_t generation, const Response& response) {
    const auto abandoned = abandoned_.extract({id, generation});
    if (!abandoned) return;
    const Abandoned& what = abandoned.mapped();
    const bool asks_again = response.status.ok() && !response.precommit_token.empty();
    const TransactionId& open =
        !what.committing.empty() && asks_again ? what.committing : response.transaction;
    if (open.empty()) return;
    const LocalInstant by = MonotonicNow() + kShutdownTimeout;
    transport_.Send(Rollback{.session = what.session, .transaction = open},
                    {.deadline = closing_ ? std::min(by, closing_at_) : by, .lane = id},
                    [](const Response&) {});
  }

  Running* Find(RunId id, uint64_t generation) {
    const auto found = runs_.find(id);
    if (found == runs_.end() || found->second.generation != generation) return nullptr;
    return &found->second;
  }

  void Close(std::function<void()> done) {
    closed_.push_back(std::move(done));
    if (!closing_) {
      closing_ = true;
      closing_at_ = MonotonicNow() + kShutdownTimeout;
      // Cancels the calls under way before sending the calls that should arrive: rollbacks,
      // deletions.
      transport_.CancelAll();
      std::vector<RunId> ids;
      for (const auto& [id, run] : runs_) ids.push_back(id);
      for (const RunId id : ids) {
        const auto found = runs_.find(id);
        if (found == runs_.end()) continue;
        CancelRun(id, found->second, Error(Code::kCancelled, "the client was shut down"));
      }
      sessions_.Close(closing_at_);
    }
    NoticeEnd();
  }

  // Completes a shutdown once everything is answered.
  void NoticeEnd() {
    if (!closing_ || !runs_.empty() || transport_.calls_under_way() > 0) return;
    const std::vector<std::function<void()>> closed = std::exchange(closed_, {});
    for (const std::function<void()>& done : closed) done();
  }

  const ClientOptions options_;
  std::atomic<RunId> last_run_ = 0;
  OsEntropy entropy_;
  std::map<RunId, Running> runs_;
  std::map<std::pair<RunId, uint64_t>, Abandoned> abandoned_;  // by run and generation of the call
  bool closing_ = false;
  LocalInstant closing_at_;
  std::vector<std::function<void()>> closed_;
  EventLoop loop_;
  Transport transport_;
  SessionHost sessions_;
};

SpannerClient::SpannerClient(ClientOptions options)
    : core_(std::make_unique<Core>(std::move(options))) {}

SpannerClient::~SpannerClient() {
  core_->Shutdown([core = core_.get()] { core->StopLoop(); });
}

Status SpannerClient::Create(ClientOptions options, std::unique_ptr<SpannerClient>& out) {
  Status status = Validate(options);
  if (!status.ok()) return status;
  options.connection = ResolveWithEnvironment(std::move(options.connection));
  out.reset(new SpannerClient(std::move(options)));
  return {};
}

SpannerClient::RunId SpannerClient::Run(Transaction transaction, Done done) {
  return core_->Run(std::move(transaction), std::move(done));
}

void SpannerClient::Cancel(RunId run) { core_->Cancel(run); }

void SpannerClient::Shutdown(std::function<void()> done) { core_->Shutdown(std::move(done)); }

}  // namespace whorl::real_client
