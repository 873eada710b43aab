#include "sim/report/perfetto.h"

#include <algorithm>
#include <utility>

#include "base/text.h"
#include "sim/report/row_text.h"
#include "sim/scenario/rules.h"
#include "sim/world/latency.h"

namespace whorl::sim {
namespace {

// The order in which the tracks of a process are shown.
constexpr int kLifeOrder = 0;
constexpr int kLinkOrder = 1;
constexpr int kFaultOrder = 2;
constexpr int kLockOrder = 3;
constexpr int kWorkOrder = 4;

Json About(const Scenario& scenario, uint64_t seed, std::string_view whorl_version) {
  Json about = Json::object();
  about["whorl"] = whorl_version;
  about["scenario"] = scenario.name;
  about["protocol"] = scenario.protocol;
  about["seed"] = std::to_string(seed);
  about["start"] = FormatRfc3339(kStartTime);
  about["time"] = "true time since the start of the run";
  return about;
}

Json TokenJson(const std::optional<uint64_t>& token) {
  return token.has_value() ? Json(std::to_string(*token)) : Json(nullptr);
}

}  // namespace

PerfettoWriter::PerfettoWriter(std::ostream& out, const Scenario& scenario, uint64_t seed,
                               std::string_view whorl_version)
    : scenario_(scenario),
      printer_(NamesOf(scenario)),
      judge_(scenario, RoundTripP999(scenario.spanner.preset)),
      trace_(out, About(scenario, seed, whorl_version)),
      term_tracks_(scenario.locks.size()),
      terms_(scenario.locks.size()),
      fenced_(scenario.locks.size()),
      unfenced_(scenario.locks.size()) {
  invariants_ = trace_.AddProcess("invariants", 0);
  spanner_ = trace_.AddProcess("Spanner", 1);
  resource_ = trace_.AddProcess("resource", 2);
  served_.emplace(spanner_, "calls served", kWorkOrder);
  faults_of_no_node_.emplace(spanner_, "faults", kFaultOrder);
  for (size_t i = 0; i < scenario.nodes.size(); ++i) {
    const int process =
        trace_.AddProcess(Cat("node ", scenario.nodes[i].name), static_cast<int>(3 + i));
    nodes_.push_back({.process = process,
                      .life = std::nullopt,
                      .link_to = std::nullopt,
                      .link_from = std::nullopt,
                      .locks = std::vector<std::optional<TraceTrack>>(scenario.locks.size()),
                      .faults = TraceLanes(process, "faults", kFaultOrder),
                      .work = TraceLanes(process, "transactions", kWorkOrder),
                      .believes = std::vector<bool>(scenario.locks.size())});
  }
}

void PerfettoWriter::Hear(const Observation& observation, uint64_t /*ordinal*/, uint64_t /*hash*/) {
  now_ = observation.at;
  const int64_t before = judge_.violations();
  judge_.Observe(observation);
  if (judge_.violations() != before) ShowViolations();
  std::visit([this](const auto& what) { On(what); }, observation.what);
}

// --- tracks, each made when it is first needed ---------------------------------------------------

TraceTrack PerfettoWriter::LifeOf(int16_t node) {
  NodeTracks& tracks = NodeOf(node);
  if (!tracks.life) tracks.life = trace_.AddTrack(tracks.process, "life", kLifeOrder);
  return *tracks.life;
}
TraceTrack PerfettoWriter::LockOf(int16_t node, uint16_t lock) {
  NodeTracks& tracks = NodeOf(node);
  std::optional<TraceTrack>& track = tracks.locks[lock];
  if (!track) {
    track =
        trace_.AddTrack(tracks.process, Cat("lock ", Quoted(scenario_.locks[lock])), kLockOrder);
  }
  return *track;
}
TraceTrack PerfettoWriter::TermsOf(uint16_t lock) {
  std::optional<TraceTrack>& track = term_tracks_[lock];
  if (!track) {
    track = trace_.AddTrack(spanner_, Cat("holder of ", scenario_.locks[lock]), kLifeOrder);
  }
  return *track;
}
TraceTrack PerfettoWriter::ResourceOf(uint16_t lock, bool fenced) {
  std::optional<TraceTrack>& track = fenced ? fenced_[lock] : unfenced_[lock];
  if (!track) {
    const std::string_view kind = fenced ? "fenced, by " : "unfenced, by ";
    track = trace_.AddTrack(resource_, Cat(kind, scenario_.locks[lock]), kLockOrder);
  }
  return *track;
}
TraceTrack PerfettoWriter::Commits() {
  if (!commits_) commits_ = trace_.AddTrack(spanner_, "commits", kLockOrder);
  return *commits_;
}
TraceTrack PerfettoWriter::Clocks() {
  if (!clocks_) clocks_ = trace_.AddTrack(spanner_, "clocks", kLinkOrder);
  return *clocks_;
}

// --- processes and faults ------------------------------------------------------------------------

void PerfettoWriter::On(const ProcessStarted& x) {
  NodeOf(x.process.node).runs = true;
  trace_.Begin(LifeOf(x.process.node), now_, printer_.names().Process(x.process), "life");
}
void PerfettoWriter::On(const ProcessStopped& x) {
  trace_.Point(LifeOf(x.process.node), now_, "told to stop", "life");
}
void PerfettoWriter::On(const ProcessGone& x) {
  NodeTracks& node = NodeOf(x.process.node);
  // Whatever its process still had open ends with it.
  for (auto& [id, work] : works_) {
    if (std::get<ProcessId>(id) != x.process) continue;
    EndWork(work, x.process.node, {{"cut_off", "the process is gone"}});
  }
  std::erase_if(works_,
                [&](const auto& entry) { return std::get<ProcessId>(entry.first) == x.process; });
  if (std::exchange(node.paused, false)) trace_.End(LifeOf(x.process.node), now_);
  if (std::exchange(node.runs, false)) {
    trace_.End(LifeOf(x.process.node), now_, {{"crashed", x.crashed}});
  }
}
void PerfettoWriter::On(const ProcessPaused& x) {
  NodeOf(x.process.node).paused = true;
  trace_.Begin(LifeOf(x.process.node), now_, "paused", "life");
}
void PerfettoWriter::On(const ProcessResumed& x) {
  if (std::exchange(NodeOf(x.process.node).paused, false)) {
    trace_.End(LifeOf(x.process.node), now_);
  }
}
void PerfettoWriter::On(const ParticipationEnded& x) {
  trace_.Point(LockOf(x.process.node, x.lock), now_, "context ended", "life", Args(x));
}
void PerfettoWriter::On(const LinkChanged& x) {
  NodeTracks& node = NodeOf(x.node);
  if (x.direction != Direction::kFrom) ShowLink(node.link_to, node.link_to_open, "to Spanner", x);
  if (x.direction != Direction::kTo) {
    ShowLink(node.link_from, node.link_from_open, "from Spanner", x);
  }
}
void PerfettoWriter::ShowLink(std::optional<TraceTrack>& track, bool& is_open,
                              std::string_view name, const LinkChanged& x) {
  if (!track) track = trace_.AddTrack(NodeOf(x.node).process, name, kLinkOrder);
  if (is_open) trace_.End(*track, now_);
  is_open = x.link != LinkState::kUp;
  if (is_open) trace_.Begin(*track, now_, WordOf(x.link), "link");
}
void PerfettoWriter::On(const SpannerAvailability& x) {
  if (unavailable_ == !x.available) return;
  if (!availability_) availability_ = trace_.AddTrack(spanner_, "availability", kLinkOrder);
  unavailable_ = !x.available;
  if (unavailable_) {
    trace_.Begin(*availability_, now_, "unavailable", "fault");
  } else {
    trace_.End(*availability_, now_);
  }
}
void PerfettoWriter::On(const ClockChanged& x) {
  trace_.Point(LifeOf(x.node), now_, x.stands ? "clocks stand still" : "clock changed", "clock",
               Args(x));
}
void PerfettoWriter::On(const SpannerClocksChanged& x) {
  trace_.Point(Clocks(), now_, "clocks changed", "clock", Args(x));
}
void PerfettoWriter::On(const SessionLost& x) {
  trace_.Point(LifeOf(x.process.node), now_, "session lost", "session");
}
void PerfettoWriter::On(const SessionCreated& x) {
  trace_.Point(LifeOf(x.process.node), now_, "session created", "session");
}
void PerfettoWriter::On(const FaultBegan& x) { faults_[x.fault] = now_; }
void PerfettoWriter::On(const FaultEnded& x) {
  const auto began = faults_.find(x.fault);
  if (began == faults_.end()) return;
  ShowFault(x.fault, began->second, /*is_over=*/true);
  faults_.erase(began);
}
// A fault is drawn when it ends, because one that ends at once is drawn as a point.
void PerfettoWriter::ShowFault(uint32_t fault, Instant from, bool is_over) {
  const FaultSpec& spec = scenario_.faults[fault];
  const std::string name =
      Cat(FaultKindText(spec.kind()), " (line ", std::to_string(spec.line), ")");
  const Json args = {{"fault", fault}, {"over", is_over}};
  TraceLanes& lanes = spec.node < 0 ? *faults_of_no_node_ : NodeOf(spec.node).faults;
  const TraceTrack track = lanes.Take(trace_, from, now_);
  if (from == now_) {
    trace_.Point(track, now_, name, "fault", args);
  } else {
    trace_.Slice(track, from, now_, name, "fault", args);
  }
}

// --- calls and transactions ----------------------------------------------------------------------

PerfettoWriter::Work* PerfettoWriter::FindWork(const CallName& call) {
  const auto found = works_.find({call.process, call.lock, call.request});
  return found == works_.end() ? nullptr : &found->second;
}
PerfettoWriter::OpenCall* PerfettoWriter::FindCall(const CallName& call) {
  Work* work = FindWork(call);
  if (work == nullptr || !work->call || work->call->name != call) return nullptr;
  return &*work->call;
}

void PerfettoWriter::On(const TransactionStarted& x) {
  const TraceTrack track = NodeOf(x.process.node).work.Take(trace_, now_);
  works_.insert_or_assign({x.process, x.lock, x.request},
                          Work{.track = track, .call = std::nullopt});
  trace_.Begin(track, now_, WordOf(x.step), "transaction", Args(x));
}
void PerfettoWriter::On(const TransactionFinished& x) {
  const auto found = works_.find({x.process, x.lock, x.request});
  if (found == works_.end()) return;
  EndWork(found->second, x.process.node,
          {{"outcome", WordOf(x.outcome)}, {"code", WordOf(x.code)}});
  works_.erase(found);
}
void PerfettoWriter::EndWork(Work& work, int16_t node, const Json& args) {
  EndCall(work, args);
  trace_.End(work.track, now_, args);
  NodeOf(node).work.Release(work.track, now_);
}

void PerfettoWriter::On(const CallSent& x) {
  // Calls for sessions belong to no transaction; they are drawn at Spanner only.
  const bool is_for_session = x.request == Request(CreateSession{}).index();
  Work* work = FindWork(x.call);
  if (work == nullptr || work->call || is_for_session) return;
  work->call = OpenCall{.name = x.call, .sent = now_, .served = std::nullopt, .at_spanner = {}};
  Json args = Args(x);
  const std::string name = Cat(WordOf(x.step), " ", args["request"].get<std::string>());
  trace_.Begin(work->track, now_, name, "call", args);
}
void PerfettoWriter::On(const CallWaits& x) {
  waiting_[x.call] = now_;
  OpenCall* call = FindCall(x.call);
  if (call == nullptr || std::exchange(call->waits, true)) return;
  trace_.Begin(FindWork(x.call)->track, now_, "waits for a lock", "lock wait");
}
void PerfettoWriter::On(const CallServed& x) {
  Instant from = now_;
  Json args = Args(x);
  if (const auto waiting = waiting_.find(x.call); waiting != waiting_.end()) {
    from = waiting->second;
    args["waited"] = FormatSeconds(now_ - from);
    waiting_.erase(waiting);
  }
  const Instant until = now_ + kServedWidth;
  const TraceTrack track = served_->Take(trace_, from, until);
  const std::string name = Cat(printer_.names().ShortProcess(x.call.process), " ", WordOf(x.step),
                               " ", args["request"].get<std::string>());
  trace_.Slice(track, from, until, name, from == now_ ? "call" : "lock wait", args);
  if (OpenCall* call = FindCall(x.call)) {
    call->served = now_;
    call->at_spanner = track;
    if (std::exchange(call->waits, false)) trace_.End(FindWork(x.call)->track, now_);
    trace_.Arrow(FindWork(x.call)->track, call->sent, track, from, "request");
    return;
  }
  const auto late = std::ranges::find(late_, x.call, &LateCall::name);
  if (late == late_.end()) return;
  trace_.Arrow(late->track, late->sent, track, from, "request");
  late_.erase(late);
}
void PerfettoWriter::On(const CallHangs& x) {
  if (const Work* work = FindWork(x.call)) {
    trace_.Point(work->track, now_, "hangs", "call", Args(x));
  }
}
void PerfettoWriter::On(const CallEnded& x) {
  Work* work = FindWork(x.call);
  const OpenCall* call = FindCall(x.call);
  if (call == nullptr) return;
  if (x.from_spanner && call->served) {
    trace_.Arrow(call->at_spanner, *call->served, work->track, now_, "reply");
  }
  EndCall(*work, {{"code", WordOf(x.code)}, {"from_spanner", x.from_spanner}});
}
void PerfettoWriter::EndCall(Work& work, const Json& args) {
  if (!work.call) return;
  if (work.call->waits) trace_.End(work.track, now_);
  trace_.End(work.track, now_, args);
  if (!work.call->served) {
    late_.push_back({.name = work.call->name, .track = work.track, .sent = work.call->sent});
    if (late_.size() > kMaxLate) late_.pop_front();
  }
  work.call.reset();
}
void PerfettoWriter::On(const LateReplyIgnored& x) {
  trace_.Point(LifeOf(x.call.process.node), now_, "late reply ignored", "call", Args(x));
}
void PerfettoWriter::On(const TransactionAbortedBySpanner& x) {
  trace_.Point(Commits(), now_, Cat("aborted: ", printer_.names().ShortProcess(x.call.process)),
               "abort", Args(x));
}
void PerfettoWriter::On(const TransactionCommitted& x) {
  trace_.Point(Commits(), now_,
               Cat(printer_.names().ShortProcess(x.call.process), " ", WordOf(x.step)), "commit",
               Args(x));
}
void PerfettoWriter::On(const RowCommitted& x) {
  trace_.Point(
      Commits(), now_,
      Cat(x.after ? (x.before ? "row " : "+ row ") : "- row ",
          RowKeyText(x.after ? *x.after : *x.before, RulesOf(scenario_.protocol).key_column)),
      "commit", Args(x));
  for (size_t lock = 0; lock < terms_.size(); ++lock) ShowTerm(static_cast<uint16_t>(lock));
}

void PerfettoWriter::ShowTerm(uint16_t lock) {
  const auto& newest = judge_.ledger().Newest(lock);
  const Term term =
      newest ? Term{.held = newest->held, .owner = newest->owner, .token = newest->token} : Term{};
  if (term == terms_[lock]) return;
  if (terms_[lock].held) trace_.End(TermsOf(lock), now_);
  terms_[lock] = term;
  if (!term.held) return;
  if (!term.token) {
    trace_.Begin(TermsOf(lock), now_, printer_.names().ShortProcess(term.owner), "term");
    return;
  }
  trace_.Begin(TermsOf(lock), now_,
               Cat(printer_.names().ShortProcess(term.owner), ", token ", TokenText(*term.token)),
               "term", {{"token", FormatToken(*term.token)}});
}

// --- beliefs, answers and writes -----------------------------------------------------------------

void PerfettoWriter::On(const BeliefChanged& x) {
  NodeTracks& node = NodeOf(x.process.node);
  if (node.believes[x.lock] == x.believes) return;
  node.believes[x.lock] = x.believes;
  const TraceTrack track = LockOf(x.process.node, x.lock);
  if (x.believes) {
    trace_.Begin(track, now_, "believes that it leads", "belief", Args(x));
  } else {
    trace_.End(track, now_);
  }
}
void PerfettoWriter::On(const CalledBack& x) {
  trace_.Point(LockOf(x.process.node, x.lock), now_, x.leader ? "callback 1" : "callback 0",
               "callback");
}
void PerfettoWriter::On(const QuestionAnswered& x) {
  trace_.Point(LockOf(x.process.node, x.lock), now_,
               Cat(WordOf(x.answer.question), ": ", x.answer.yes ? "yes" : "no"), "answer",
               Args(x));
}
void PerfettoWriter::On(const Noted& x) {
  trace_.Point(LockOf(x.process.node, x.lock), now_, WordOf(x.note.note), "note", Args(x));
}
void PerfettoWriter::On(const WriteSent& x) {
  trace_.Point(LockOf(x.process.node, x.lock), now_, "write sent", "write", Args(x));
}
void PerfettoWriter::On(const WriteArrived& x) {
  trace_.Point(ResourceOf(x.lock, x.fenced), now_,
               Cat(x.accepted ? "accepted from " : "REFUSED from ",
                   printer_.names().ShortProcess(x.process)),
               "write", {{"token", TokenJson(x.token)}});
}

// --- violations, and the end ---------------------------------------------------------------------

void PerfettoWriter::ShowViolations() {
  if (!violation_track_) violation_track_ = trace_.AddTrack(invariants_, "violations", kLifeOrder);
  for (const Invariant invariant : AllOf<Invariant>()) {
    int64_t& shown = violations_[static_cast<size_t>(invariant)];
    const int64_t violations = judge_.violations(invariant);
    if (violations == shown) continue;
    Instant at = now_;
    Json args = Json::object();
    if (shown == 0) {  // only the first violation has a text
      const CheckReport report = judge_.Finish(now_);
      at = report[invariant].first->at;  // for a missed deadline, the deadline
      args["what"] = report[invariant].first->text;
    }
    args["violations"] = shown = violations;
    trace_.Point(*violation_track_, at, Cat(WordOf(invariant), " violated"), "violation", args);
  }
}

void PerfettoWriter::On(const RunEnded&) {
  const Json cut = {{"cut_off", "the run ended"}};
  for (auto& [id, work] : works_) EndWork(work, std::get<ProcessId>(id).node, cut);
  works_.clear();
  for (const auto& [fault, began] : faults_) ShowFault(fault, began, /*is_over=*/false);
  for (size_t lock = 0; lock < terms_.size(); ++lock) {
    if (terms_[lock].held) trace_.End(TermsOf(static_cast<uint16_t>(lock)), now_, cut);
  }
  for (size_t i = 0; i < nodes_.size(); ++i) {
    const auto node = static_cast<int16_t>(i);
    for (size_t lock = 0; lock < nodes_[i].believes.size(); ++lock) {
      if (nodes_[i].believes[lock])
        trace_.End(LockOf(node, static_cast<uint16_t>(lock)), now_, cut);
    }
    if (nodes_[i].link_to_open) trace_.End(*nodes_[i].link_to, now_, cut);
    if (nodes_[i].link_from_open) trace_.End(*nodes_[i].link_from, now_, cut);
    if (nodes_[i].paused) trace_.End(LifeOf(node), now_, cut);
    if (nodes_[i].runs) trace_.End(LifeOf(node), now_, cut);
  }
  if (unavailable_) trace_.End(*availability_, now_, cut);
  trace_.Close();
}

}  // namespace whorl::sim
