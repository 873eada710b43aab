#include <fcntl.h>
#include <unistd.h>

#include <array>
#include <cerrno>
#include <csignal>
#include <cstdlib>
#include <iostream>
#include <map>
#include <memory>
#include <mutex>
#include <string>
#include <system_error>
#include <thread>
#include <utility>
#include <variant>
#include <vector>

#include "base/text.h"
#include "live/child_process.h"
#include "live/foreign/call_recognizer.h"
#include "live/foreign/program_lines.h"
#include "live/hosted_application.h"
#include "live/message_codec.h"
#include "live/node_process.h"
#include "live/node_time.h"
#include "live/proxy/fault_proxy.h"
#include "live/reporter.h"

namespace whorl::live {
namespace {

constexpr size_t kLineMax = 65536;
constexpr size_t kOutputShown = 2000;
// A report has to be shorter than PIPE_BUF, escaped.
constexpr size_t kStatementShown = 1000;
constexpr int16_t kOnlyNode = 0;

struct Pipe {
  Pipe() {
    if (pipe2(ends.data(), O_CLOEXEC) != 0) {
      throw std::system_error(errno, std::generic_category(), "no pipe to a program");
    }
  }
  int read() const { return ends[0]; }
  int write() const { return ends[1]; }
  std::array<int, 2> ends{};
};

class ForeignNode final : public CallInterceptor {
 public:
  explicit ForeignNode(NodeSetup setup)
      : setup_(std::move(setup)),
        info_(*FindProtocol(setup_.scenario.protocol)),
        spec_(setup_.scenario.nodes[static_cast<size_t>(setup_.process.node)]),
        points_(setup_.scenario, setup_.process.node),
        recognizer_(info_, std::string(info_.table), setup_.process,
                    LocksOf(setup_.scenario, spec_)),
        proxy_(setup_.endpoint, *this) {
    for (const uint16_t lock : spec_.locks) {
      parts_.try_emplace(lock, HostedApplication::Dependencies{
                                   .scenario = setup_.scenario,
                                   .process = setup_.process,
                                   .lock = lock,
                                   .loop = loop_,
                                   .time = time_,
                                   .reporter = reporter_,
                                   .points = points_,
                                   .queue =
                                       [this, lock](const Event& event) {
                                         queued_.push_back({.lock = lock, .event = event});
                                       },
                                   .take_queued = [this] { TakeQueued(); }});
    }
  }

  void Connect() {
    const std::vector<std::string> command = {
        "/usr/bin/env",
        Cat("SPANNER_EMULATOR_HOST=127.0.0.1:", std::to_string(proxy_.Open(kOnlyNode))),
        Cat("WHORL_DATABASE=", setup_.database),
        Cat("WHORL_TABLE=", info_.table),
        Cat("WHORL_LOCK=", NameOf(spec_.locks.at(0))),
        Cat("WHORL_LOCKS=", LockNames()),
        Cat("WHORL_LEASE_MS=", std::to_string(spec_.lease.ns / 1'000'000)),
        Cat("WHORL_ID=", spec_.id.empty() ? OwnId() : spec_.id),
        Cat("WHORL_USE=", WordOf(spec_.use)),
        Cat("WHORL_DEADLINE_MS=",
            spec_.deadline ? std::to_string(spec_.deadline->ns / 1'000'000) : std::string()),
        setup_.program};
    program_ = std::make_unique<ChildProcess>(command, from_.write(), to_.read());
    close(from_.write());
    close(to_.read());
    std::thread([this] { Hear(); }).detach();
  }

  void Obey(Order& order) {
    std::visit([this](auto& what) { Do(what); }, order);
  }

  Interception OnRequest(const ProxiedCall& call, const std::string& message) override {
    const WireCall wire = ReadCall(call.method, message);
    std::optional<CallRecognizer::Sent> sent;
    {
      const std::lock_guard lock(mutex_);
      if (!started_) return {};
      sent = recognizer_.OnRequest(call.number, wire, parts_.at(recognizer_.LockOf(wire)).occasion);
    }
    if (recognizer_.IsUnknown(wire)) {
      reporter_.Send(UnknownStatement{.sql = Printable(wire.sql, kStatementShown)});
    }
    if (!sent) return {};
    if (sent->begins) {
      reporter_.ReportEvent(sim::TransactionStarted{.process = setup_.process,
                                                    .lock = sent->call.name.lock,
                                                    .request = sent->call.name.request,
                                                    .step = sent->call.step});
    }
    reporter_.ReportEvent(sim::CallSent{
        .call = sent->call.name, .step = sent->call.step, .request = sent->call.request});
    Interception passes;
    passes.metadata.emplace(kCallHeader, FormatCallHeader(sent->call));
    return passes;
  }

  // The program is kept at a point by the reply that it waits for.
  Interception OnReply(const ProxiedCall& call, const Status& status,
                       const std::vector<std::string>& messages) override {
    std::optional<CallRecognizer::Heard> heard;
    {
      const std::lock_guard lock(mutex_);
      heard = recognizer_.OnReply(call.number, status, ReadReply(call.method, messages));
      if (heard && heard->own_token) {
        parts_.at(heard->call.name.lock).standing.own_token = heard->own_token;
      }
    }
    if (!heard) return {};
    const CallName& name = heard->call.name;
    if (heard->ends_statement) StopAtReply(name, heard->call.step);
    const bool made_up = status.code == Code::kUnavailable ||
                         status.code == Code::kDeadlineExceeded || status.code == Code::kCancelled;
    const sim::CallEnded ended{
        .call = name, .step = heard->call.step, .code = status.code, .from_spanner = !made_up};
    reporter_.ReportEvent(ended);
    if (heard->ends_statement && points_.Has(heard->call.step, Phase::kEnded)) {
      reporter_.StopAt(name, heard->call.step, Phase::kEnded, {ended});
    }
    if (!heard->outcome) return {};
    StopAtReply(name, heard->transaction);
    const sim::TransactionFinished finished{.process = setup_.process,
                                            .lock = name.lock,
                                            .request = name.request,
                                            .step = heard->transaction,
                                            .outcome = *heard->outcome,
                                            .code = status.code};
    reporter_.ReportEvent(finished);
    if (heard->own_token) ReportStanding(name.lock);
    if (!points_.Has(heard->transaction, Phase::kEnded)) return {};
    if (heard->transaction == steps::kHasLock) {
      // A question has ended when the application has the answer: see Take(ProgramAnswers).
      const std::lock_guard lock(mutex_);
      parts_.at(name.lock).question_read = {.call = name, .finished = finished};
    } else {
      reporter_.StopAt(name, heard->transaction, Phase::kEnded, {finished});
    }
    return {};
  }

 private:
  // --- orders of the coordinator -----------------------------------------------------------------
  void Do(NodeSetup&) {}
  void Do(Begin& begin) {
    reporter_.SetStart(begin.run_started);
    const LocalInstant at = begin.run_started + (begin.at - sim::Instant{});
    loop_.Post([this, begin, at] {
      starting_.expires_at(real_client::BootClock::At(at));
      starting_.async_wait([this, begin](auto cancelled) {
        if (cancelled) return;
        begin_ = begin;
        StartWhenReady();
      });
    });
  }
  void Do(Go& go) { reporter_.Release(go.point); }
  void Do(StopGracefully&) {
    loop_.Post([this] {
      is_to_stop_ = true;
      reporter_.ReportEvent(sim::ProcessStopped{.process = setup_.process});
      for (auto& [index, part] : parts_) {
        bool believes = false;
        {
          const std::lock_guard lock(mutex_);
          const auto& lapses_at = part.lapses_at;
          believes = part.standing.believes && (!lapses_at || time_.Now() < *lapses_at);
        }
        part.application.Give(sim::ApplicationStopRequested{.believes = believes});
      }
    });
  }
  // refusals.h refuses scenarios that need these.
  void Do(HearOfRelease&) {}
  void Do(SetClock&) {}

  // What the program sends before it is ready is no step of the protocol. A process that is started again may
  // be due before that.
  void StartWhenReady() {
    if (is_ready_ && begin_ && !is_to_stop_) Start(*std::exchange(begin_, std::nullopt));
  }
  void Start(const Begin& begin) {
    time_ = NodeTime(begin.run_started, begin.run_started_wall, begin.clock);
    {
      const std::lock_guard lock(mutex_);
      started_ = true;
      for (auto& [index, part] : parts_) part.standing.answers = true;
    }
    reporter_.ReportEvent(sim::ProcessStarted{.process = setup_.process});
    for (auto& [lock, part] : parts_) {
      ReportStanding(lock);
      part.application.Give(sim::ApplicationStarted{});
    }
  }

  // --- to the program ----------------------------------------------------------------------------
  void TakeQueued() {
    for (const Queued& queued : std::exchange(queued_, {})) {
      const std::string& name = NameOf(queued.lock);
      if (std::holds_alternative<Started>(queued.event)) Say(StartLine(name));
      if (const auto* stop = std::get_if<StopRequested>(&queued.event)) {
        SetOccasion(queued.lock, StepOccasion::kGivesUp);
        SetStanding(queued.lock, [](Part& part) {
          part.standing.answers = false;
          part.standing.believes = false;
        });
        Say(StopLine(name, stop->reason));
      }
      if (const auto* asked = std::get_if<Asked>(&queued.event)) {
        questions_[++last_question_] = {
            .lock = queued.lock, .ask = asked->ask, .question = asked->question};
        if (asked->question == Question::kHasLock) SetOccasion(queued.lock, StepOccasion::kAsked);
        if (asked->question == Question::kUnlock) SetOccasion(queued.lock, StepOccasion::kGivesUp);
        Say(AskLine(name, last_question_, asked->question));
      }
    }
  }
  void Say(const std::string& line) {
    std::string_view left = line;
    while (!left.empty()) {
      const ssize_t written = write(to_.write(), left.data(), left.size());
      if (written < 0 && errno == EINTR) continue;
      if (written < 0) return;  // the program has ended; Hear notices that
      left.remove_prefix(static_cast<size_t>(written));
    }
  }

  // --- from the program --------------------------------------------------------------------------
  // On a thread of its own.
  void Hear() {
    std::string line;
    std::array<char, 4096> piece{};
    int64_t number = 0;
    while (true) {
      const ssize_t size = read(from_.read(), piece.data(), piece.size());
      if (size < 0 && errno == EINTR) continue;
      if (size <= 0) break;
      for (const char c : std::string_view(piece.data(), static_cast<size_t>(size))) {
        if (c != '\n') {
          line += c;
          if (line.size() > kLineMax) return Fail(number + 1, "is longer than 64 KiB");
          continue;
        }
        ++number;
        ProgramLine parsed;
        if (const std::string wrong = ParseProgramLine(line, parsed); !wrong.empty()) {
          return Fail(number, wrong);
        }
        line.clear();
        loop_.Post([this, number, parsed = std::move(parsed)] {
          std::visit([&](const auto& what) { Take(what, number); }, parsed);
        });
      }
    }
    std::string output = program_->Output();
    if (output.size() > kOutputShown) output = output.substr(output.size() - kOutputShown);
    CannotGo(Cat("has ended by itself", output.empty() ? "" : ", and said last:\n", output));
  }
  void Take(const ProgramReady&, int64_t) {
    reporter_.Send(Ready{});
    is_ready_ = true;
    StartWhenReady();
  }
  void Take(const ProgramLogs&, int64_t) {}
  void Take(const ProgramLeads& changed, int64_t number) {
    const auto lock = LockNamed(changed.lock);
    if (!lock) {
      return Fail(number, Cat("names no lock of this process; \"lock\" is one of ", LockNames()));
    }
    std::optional<sim::Instant> lapses_at;
    if (changed.lapses_in) lapses_at = time_.Now() + *changed.lapses_in;
    const bool renews = SetBelieves(*lock, changed.leads, lapses_at) && changed.leads && lapses_at;
    if (renews) return;
    parts_.at(*lock).application.Carry(LeadershipChanged{.leader = changed.leads});
    TakeQueued();
  }
  void Take(const ProgramAnswers& answers, int64_t number) {
    const auto found = questions_.extract(answers.id);
    if (found.empty()) {
      return Fail(number,
                  Cat("answers question ", std::to_string(answers.id), ", which was not asked"));
    }
    const auto [lock, ask, question] = found.mapped();
    if (question != Question::kLock) SetOccasion(lock, StepOccasion::kAnyTime);
    if (question == Question::kLock) SetBelieves(lock, answers.yes);
    if (question == Question::kUnlock) SetBelieves(lock, false);
    const auto answered = parts_.at(lock).application.Carry(Answer{.ask = ask,
                                                                   .question = question,
                                                                   .yes = answers.yes,
                                                                   .token = answers.token,
                                                                   .text = answers.error});
    if (answered && points_.Has(steps::kHasLock, Phase::kEnded)) StopAtAnswer(lock, *answered);
    TakeQueued();
  }

  void Fail(int64_t line, const std::string& what) {
    CannotGo(Cat("line ", std::to_string(line), " of its output ", what));
  }
  void CannotGo(const std::string& what) {
    reporter_.Send(CannotGoOn{
        .why = Cat("the program of node ", Quoted(spec_.name), " (", setup_.program, ") ", what)});
  }

  // --- what is known of it -----------------------------------------------------------------------
  void SetOccasion(uint16_t lock, StepOccasion occasion) {
    const std::lock_guard guard(mutex_);
    parts_.at(lock).occasion = occasion;
  }
  // Whether it believed before.
  bool SetBelieves(uint16_t lock, bool believes,
                   std::optional<sim::Instant> lapses_at = std::nullopt) {
    bool before = false;
    SetStanding(lock, [&](Part& part) {
      before = std::exchange(part.standing.believes, believes);
      part.lapses_at = lapses_at;
    });
    return before;
  }
  template <typename Change>
  void SetStanding(uint16_t lock, Change change) {
    {
      const std::lock_guard guard(mutex_);
      change(parts_.at(lock));
    }
    ReportStanding(lock);
  }
  void ReportStanding(uint16_t lock) {
    const std::lock_guard guard(mutex_);
    const Part& part = parts_.at(lock);
    reporter_.ReportEvent(
        sim::LeadershipViewChanged{
            .process = setup_.process, .lock = lock, .standing = part.standing},
        part.lapses_at);
  }
  // A protocol that reads to answer ends its step with that transaction.
  void StopAtAnswer(uint16_t lock, const sim::QuestionAnswered& answered) {
    CallName name;
    name.process = setup_.process;
    name.lock = lock;
    sim::ObservedEvent what = answered;
    if (!info_.answers_locally) {
      const std::lock_guard guard(mutex_);
      const auto read = std::exchange(parts_.at(lock).question_read, std::nullopt);
      if (!read) return;
      name = read->call;
      what = read->finished;
    }
    reporter_.StopAt(name, steps::kHasLock, Phase::kEnded, {what});
  }
  void StopAtReply(const CallName& name, StepName step) {
    if (points_.Has(step, Phase::kReplied)) reporter_.StopAt(name, step, Phase::kReplied);
  }
  const std::string& NameOf(uint16_t lock) const { return setup_.scenario.locks[lock]; }
  // The process's lock of that name; its only one if the name is empty. Nothing if there is none.
  std::optional<uint16_t> LockNamed(const std::string& name) const {
    if (name.empty() && spec_.locks.size() == 1) return spec_.locks[0];
    for (const uint16_t lock : spec_.locks) {
      if (NameOf(lock) == name) return lock;
    }
    return std::nullopt;
  }
  // The names of the process's locks, as a JSON array.
  std::string LockNames() const {
    MessageJson names = MessageJson::array();
    for (const uint16_t lock : spec_.locks) names.push_back(NameOf(lock));
    return names.dump();
  }
  static std::vector<CallRecognizer::Lock> LocksOf(const sim::Scenario& scenario,
                                                   const sim::NodeSpec& spec) {
    std::vector<CallRecognizer::Lock> locks;
    for (const uint16_t lock : spec.locks) {
      locks.push_back({.name = scenario.locks[lock], .index = lock});
    }
    return locks;
  }
  std::string OwnId() const {
    return Cat(spec_.name, "-", std::to_string(setup_.process.incarnation));
  }

  const NodeSetup setup_;
  const ProtocolInfo& info_;
  const sim::NodeSpec& spec_;
  const Points points_;
  Reporter reporter_;
  NodeTime time_;
  real_client::LockLoop loop_;
  real_client::LoopTimer starting_{loop_.context()};
  // On the loop's thread.
  bool is_ready_ = false;
  bool is_to_stop_ = false;
  std::optional<Begin> begin_;  // from when it is due until the program is ready

  // The transaction by which the program reads what it then answers.
  struct QuestionRead {
    CallName call;
    sim::TransactionFinished finished;
  };
  // Its part in a lock.
  struct Part {
    explicit Part(HostedApplication::Dependencies around) : application(std::move(around)) {}

    HostedApplication application;  // on the loop's thread
    // Guarded by mutex_.
    LeadershipView standing;
    std::optional<sim::Instant> lapses_at;  // when the belief does
    StepOccasion occasion = StepOccasion::kAnyTime;
    std::optional<QuestionRead> question_read;
  };
  std::map<uint16_t, Part> parts_;  // by lock; all there from the start

  std::mutex mutex_;  // guards the next two, and what a Part says
  CallRecognizer recognizer_;
  bool started_ = false;

  FaultProxy proxy_;
  Pipe to_;
  Pipe from_;
  std::unique_ptr<ChildProcess> program_;
  // On the loop's thread.
  struct Queued {
    uint16_t lock = 0;
    Event event;
  };
  std::vector<Queued> queued_;
  struct AskedOfProgram {
    uint16_t lock = 0;
    AskId ask = 0;
    Question question = Question::kHasLock;
  };
  uint64_t last_question_ = 0;
  std::map<uint64_t, AskedOfProgram> questions_;
};

}  // namespace

void RunForeignNode(NodeSetup setup) {
  setpgid(0, 0);
  std::string line;
  // Never destroyed, since its threads run until the process ends.
  auto* node = new ForeignNode(std::move(setup));
  node->Connect();
  while (std::getline(std::cin, line)) {
    Order order;
    FromJson(MessageJson::parse(line), order);
    node->Obey(order);
  }
  _exit(EXIT_SUCCESS);
}

}  // namespace whorl::live
