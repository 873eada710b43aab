#include "live/coordinator.h"

#include <algorithm>
#include <chrono>
#include <future>
#include <system_error>
#include <utility>
#include <variant>

#include "base/text.h"
#include "protocol/protocols.h"
#include "real_client/lock_loop.h"
#include "real_client/os.h"
#include "sim/world/resource.h"
#include "sim/world/start_rows.h"

namespace whorl::live {
namespace {

using real_client::BootClock;
using real_client::LoopTimer;
using real_client::MonotonicNow;
using sim::Instant;

// The time from the insertion of the initial rows to the start of the run.
constexpr Duration kPreparing = Milliseconds(150);
// How long the run, at its end, waits for the replies to Commits that are under way.
constexpr auto kLastReplies = std::chrono::seconds(3);
constexpr auto kSlice = std::chrono::milliseconds(5);
// How often a run checks whether it is over.
constexpr auto kLook = std::chrono::milliseconds(50);
constexpr auto kReadyMax = std::chrono::seconds(30);

}  // namespace

Coordinator::Coordinator(BackendKind kind, const sim::Scenario& scenario, uint64_t seed,
                         std::string program)
    : kind_(kind),
      scenario_(scenario),
      program_(std::move(program)),
      latencies_(sim::LatenciesOf(scenario.spanner.preset)),
      random_(seed),
      nodes_(scenario.nodes.size()),
      triggers_(scenario),
      greatest_(scenario.locks.size()) {
  faults_.nodes.resize(scenario.nodes.size());
}

Coordinator::~Coordinator() { Close(); }

// --- the run as a whole --------------------------------------------------------------------------

absl::StatusOr<Record> Coordinator::Run() {
  try {
    absl::Status prepared = Prepare();
    if (prepared.ok()) RunScenario();
    Close();
    if (!prepared.ok()) return prepared;
  } catch (const std::system_error& error) {
    return absl::UnavailableError(Cat("cannot be run: ", error.what()));
  }
  if (!failure_.ok()) return failure_;
  ReadVersions();
  return std::move(record_);
}

absl::Status Coordinator::Prepare() {
  absl::StatusOr<std::unique_ptr<Backend>> backend = StartBackend(kind_, scenario_);
  if (!backend.ok()) return backend.status();
  backend_ = *std::move(backend);
  const ProtocolInfo& protocol = *FindProtocol(scenario_.protocol);
  operator_ = std::make_unique<Operator>(backend_->channel(), protocol, backend_->database(),
                                         std::string(protocol.table));
  proxy_ = std::make_unique<FaultProxy>(
      backend_->address(), *this,
      ProxyOptions{.connection_timeout = scenario_.network.connection_timeout});
  for (size_t i = 0; i < nodes_.size(); ++i) {
    nodes_[i].clock = sim::MakeNodeClock(scenario_.nodes[i].clock);
    nodes_[i].port = proxy_->Open(static_cast<int16_t>(i));
    PrepareSpare(static_cast<int16_t>(i));
  }
  const auto give_up = std::chrono::steady_clock::now() + kReadyMax;
  while (!std::ranges::all_of(nodes_, &LiveNode::spare_ready) && failure_.ok()) {
    context_.run_for(kSlice);
    if (std::chrono::steady_clock::now() > give_up) {
      return absl::UnavailableError("the nodes' processes do not get ready");
    }
  }
  return failure_.ok() ? InsertRows() : failure_;
}

// Writes the initial rows shortly before the run starts, with timestamps as if they had been there
// for long. No timestamp in them may be in Spanner's future.
absl::Status Coordinator::InsertRows() {
  const Timestamp now = real_client::SystemNow();
  started_ = MonotonicNow() + kPreparing;
  record_.start = now + kPreparing;
  std::vector<Row> rows = sim::RowsOfTheStart(scenario_);
  if (rows.empty()) return absl::OkStatus();
  for (Row& row : rows) {
    for (Value& value : row) {
      auto* time = std::get_if<Timestamp>(&value);
      if (time != nullptr) *time = std::min(record_.start + (*time - sim::kStartTime), now);
    }
  }
  Status status = operator_->Insert(rows);
  if (status.ok()) status = operator_->RowsAt(std::nullopt, record_.rows);
  if (status.ok()) return absl::OkStatus();
  return absl::UnavailableError(Cat("the rows of the start: ", FormatStatus(status)));
}

void Coordinator::RunScenario() {
  running_ = true;
  for (size_t i = 0; i < nodes_.size(); ++i) {
    const std::optional<Instant>& start_at = scenario_.nodes[i].start_at;
    if (!start_at) continue;
    At(*start_at, [this, i] { StartNode(static_cast<int16_t>(i), std::nullopt); });
  }
  for (uint32_t i = 0; i < scenario_.faults.size(); ++i) {
    const auto* at = std::get_if<Instant>(&scenario_.faults[i].trigger);
    if (at != nullptr) At(*at, [this, i] { Begin(i, nullptr); });
  }
  if (kind_ == BackendKind::kEmulator) AbortIdle();
  const Instant end = {scenario_.duration.ns};
  context_.restart();
  while (failure_.ok() && Now() < end && !has_enough_) {
    const auto left = std::chrono::nanoseconds((end - Now()).ns);
    // In slices, since the steady clock stands still while the machine is suspended.
    context_.run_for(std::min<std::chrono::nanoseconds>(left, kLook));
    if (context_.stopped()) context_.restart();
  }
  running_ = false;
}

// Ends processes, calls and threads, in an order in which none waits for one that has ended.
void Coordinator::Close() {
  if (closed_ || proxy_ == nullptr) return;
  running_ = false;
  for (LiveNode& node : nodes_) {
    for (auto* process : {&node.process, &node.spare}) {
      if (*process == nullptr) continue;
      (*process)->Kill();
      gone_.push_back(std::move(*process));
    }
  }
  for (size_t i = 0; i < nodes_.size(); ++i) ReleaseHeld(static_cast<int16_t>(i), false);
  const auto commits_under_way = [this] {
    return std::ranges::any_of(passing_, [](const auto& one) { return one.second.wire.is_commit; });
  };
  const auto give_up = std::chrono::steady_clock::now() + kLastReplies;
  const auto poll = [this] {
    if (context_.stopped()) context_.restart();
    context_.run_for(kSlice);
  };
  while (commits_under_way() && std::chrono::steady_clock::now() < give_up) poll();
  if (commits_under_way()) record_.holes.emplace_back("the reply to a Commit was not seen");
  // The proxy's threads may wait for answers from this thread.
  closed_ = true;
  const std::future<void> shut = std::async(std::launch::async, [this] { proxy_->Shutdown(); });
  while (shut.wait_for(std::chrono::seconds(0)) != std::future_status::ready) poll();
  context_.poll();
  gone_.clear();
}

void Coordinator::ReadVersions() {
  for (SeenCommit& seen : record_.commits) {
    std::vector<Row> before;
    std::vector<Row> after;
    Status status = operator_->RowsAt(seen.commit - Nanoseconds(1), before);
    if (status.ok()) status = operator_->RowsAt(seen.commit, after);
    if (!status.ok()) {
      record_.holes.push_back(Cat("the rows of a commit cannot be read: ", FormatStatus(status)));
      return;
    }
    seen.before = std::move(before);
    seen.after = std::move(after);
  }
}

void Coordinator::Fail(const std::string& why) {
  if (failure_.ok()) failure_ = absl::UnavailableError(why);
}

Instant Coordinator::Now() const { return Instant{} + (MonotonicNow() - started_); }

void Coordinator::At(Instant at, std::function<void()> task) {
  auto timer = std::make_shared<LoopTimer>(context_);
  timer->expires_at(BootClock::At(started_ + (at - Instant{})));
  timer->async_wait([this, timer, task = std::move(task)](auto cancelled) {
    if (!cancelled && running_) task();
  });
}

void Coordinator::RecordEvent(sim::ObservedEvent what) {
  record_.heard.push_back({.at = Now(), .what = std::move(what), .lapses_at = std::nullopt});
}

// --- nodes start and stop ------------------------------------------------------------------------

void Coordinator::PrepareSpare(int16_t index) {
  LiveNode& node = NodeAt(index);
  if (node.spare != nullptr) return;
  const uint32_t incarnation = node.incarnation + 1;
  node.spare_ready = false;
  node.spare = std::make_unique<ChildNode>(
      context_,
      NodeSetup{.scenario = scenario_,
                .process = {index, incarnation},
                .endpoint = "127.0.0.1:" + std::to_string(node.port),
                .database = backend_->database(),
                .program = program_},
      [this, index, incarnation](Report& report) { OnReport(index, incarnation, report); },
      [this](const std::string& why) { Fail(why); });
}

void Coordinator::StartNode(int16_t index, std::optional<uint32_t> fault) {
  LiveNode& node = NodeAt(index);
  if (fault && node.state == ProcessState::kRunning)
    return RecordEvent(sim::FaultEnded{.fault = *fault});
  EndProcess(index, /*crashed=*/false);
  PrepareSpare(index);
  node.state = ProcessState::kRunning;
  ++node.incarnation;
  node.process = std::move(node.spare);
  node.process->Send(live::Begin{.run_started = started_,
                                 .run_started_wall = record_.start,
                                 .clock = node.clock,
                                 .at = Now()});
  if (fault) RecordEvent(sim::FaultEnded{.fault = *fault});
}

void Coordinator::EndProcess(int16_t index, bool crashed) {
  LiveNode& node = NodeAt(index);
  if (node.state == ProcessState::kDown) return;
  node.state = ProcessState::kDown;
  node.process->Kill();
  gone_.push_back(std::move(node.process));
  node.pauses = 0;
  ReleaseHeld(index, /*passes=*/false);
  RecordEvent(sim::ProcessGone{.process = ProcessOf(index), .crashed = crashed});
}

// The node's own report says when it has received the order.
void Coordinator::StopNode(int16_t index) {
  NodeAt(index).state = ProcessState::kStopped;
  NodeAt(index).process->Send(StopGracefully{});
}

void Coordinator::PauseNode(int16_t index) {
  LiveNode& node = NodeAt(index);
  if (node.pauses++ > 0) return;
  node.process->Pause();
  RecordEvent(sim::ProcessPaused{.process = ProcessOf(index)});
}

void Coordinator::ResumeNode(int16_t index) {
  LiveNode& node = NodeAt(index);
  if (node.pauses == 0 || --node.pauses > 0) return;
  RecordEvent(sim::ProcessResumed{.process = ProcessOf(index)});
  node.process->Resume();
}

// --- reports of nodes ------------------------------------------------------------------------------

void Coordinator::OnReport(int16_t index, uint32_t incarnation, Report& report) {
  if (std::holds_alternative<Ready>(report)) {
    NodeAt(index).spare_ready = true;
  } else if (auto* event = std::get_if<ReportedEvent>(&report)) {
    OnReportedEvent(*event);
  } else if (const auto* point = std::get_if<AtPoint>(&report)) {
    OnAtPoint(index, incarnation, *point);
  } else if (const auto* announces = std::get_if<Announces>(&report)) {
    OnAnnounces(index, announces->lock);
  } else if (auto* unknown = std::get_if<UnknownStatement>(&report)) {
    auto& all = record_.unknown_statements;
    if (std::ranges::find(all, unknown->sql) == all.end()) all.push_back(std::move(unknown->sql));
  } else if (const auto* cannot = std::get_if<CannotGoOn>(&report)) {
    Fail(cannot->why);
  }
}

void Coordinator::OnReportedEvent(ReportedEvent& event) {
  if (const auto* write = std::get_if<sim::WriteSent>(&event.what)) {
    OnWrite(*write, event.at);
  } else if (const auto* ended = std::get_if<sim::CallEnded>(&event.what)) {
    OnCallEnded(ended->call);
  }
  record_.heard.push_back(std::move(event));
}

void Coordinator::OnAtPoint(int16_t index, uint32_t incarnation, const AtPoint& point) {
  if (!running_) return;
  std::vector<sim::Triggers::Hit> hits;
  if (point.phase == Phase::kReplied) {
    triggers_.Replied(point.call, point.step, hits);
  } else {
    for (const sim::ObservedEvent& what : point.what) {
      triggers_.Observe({.at = Now(), .what = what}, hits);
    }
  }
  StrikeAll(hits);
  if (point.step == steps::kWrite) AwaitWritesOf(index);
  const LiveNode& node = NodeAt(index);
  if (node.process != nullptr && node.incarnation == incarnation) {
    node.process->Send(Go{.point = point.point});
  }
}

// The announcement does not pass Spanner, so faults between a node and Spanner do not affect it.
void Coordinator::OnAnnounces(int16_t sender, uint16_t lock) {
  if (!running_ || !scenario_.network.announce_releases) return;
  for (size_t i = 0; i < nodes_.size(); ++i) {
    const std::vector<uint16_t>& locks = scenario_.nodes[i].locks;
    if (static_cast<int16_t>(i) == sender || std::ranges::find(locks, lock) == locks.end()) {
      continue;
    }
    At(Now() + Draw(latencies_.resource), [this, i, lock] {
      if (nodes_[i].process != nullptr) nodes_[i].process->Send(HearOfRelease{.lock = lock});
    });
  }
}

// --- the resource --------------------------------------------------------------------------------

void Coordinator::OnWrite(const sim::WriteSent& write, Instant sent_at) {
  if (!running_) return;
  Chance chance(random_);
  const Duration late =
      AddedWriteLatency(scenario_, faults_, write.process.node, chance) + Draw(latencies_.resource);
  const bool waits = std::ranges::any_of(scenario_.faults, [&](const sim::FaultSpec& fault) {
    return SlowsItsTrigger(fault) && std::get<sim::When>(fault.trigger).node == write.process.node;
  });
  writes_[++last_write_] = {.write = write, .due = sent_at + late, .waits = waits};
  if (!waits) AwaitWrite(last_write_);
}

// Waits for the writes that have waited for a fault at their point.
void Coordinator::AwaitWritesOf(int16_t node) {
  for (auto& [number, write] : writes_) {
    if (write.write.process.node != node || !std::exchange(write.waits, false)) continue;
    AwaitWrite(number);
  }
}

void Coordinator::AwaitWrite(uint64_t number) {
  At(writes_.at(number).due, [this, number] {
    // A fault may have slowed it since then.
    if (writes_.at(number).due > Now()) return AwaitWrite(number);
    const auto arrived = writes_.extract(number);
    OnWriteArrived(arrived.mapped().write);
  });
}

void Coordinator::OnWriteArrived(const sim::WriteSent& write) {
  const bool accepted = sim::ResourceTakes(write.fenced, write.token, greatest_[write.lock]);
  const sim::WriteArrived arrived{.process = write.process,
                                  .lock = write.lock,
                                  .fenced = write.fenced,
                                  .token = write.token,
                                  .accepted = accepted};
  RecordEvent(arrived);
  Observe(arrived);
  if (struck_ && enough_ && enough_(arrived)) has_enough_ = true;
}

}  // namespace whorl::live
