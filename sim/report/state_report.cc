#include "sim/report/state_report.h"

#include <algorithm>
#include <string>
#include <string_view>
#include <utility>
#include <variant>

#include "base/text.h"
#include "base/time.h"
#include "sim/report/row_text.h"
#include "sim/world/node_clock.h"
#include "sim/world/spanner_clocks.h"
#include "spanner_model/transaction.h"

namespace whorl::sim {

namespace {

using model::TransactionState;

Json Array() { return Json::array(); }

// --- times, values and trees of fields -----------------------------------------------------------

// Seconds since the start, exact, without trailing zeros: "12.5".
std::string TimeWords(Instant at) {
  std::string text = FormatSeconds({at.ns});
  text.erase(text.find_last_not_of('0') + 1);
  if (text.ends_with('.')) text.pop_back();
  return text;
}

// The same for a TIMESTAMP of a row; other values as in Spanner's JSON.
Json ValueWords(const Value& value) {
  if (const auto* time = std::get_if<Timestamp>(&value)) return TimeWords(ToInstant(*time));
  return ValueJson(value);
}

LocalTime NodesClocks(const World& world, int16_t node, Instant at) {
  const Node& of = world.state().nodes[static_cast<size_t>(node)];
  return ReadClocks(of.clock, of.started, at);
}

model::ClockReading SpannersClocks(const World& world, Instant at) {
  const SpannerState& spanner = world.state().spanner;
  const Timestamp now = ToTimestamp(at);
  return {.truetime = TrueTimeAt(spanner.truetime, 0, at),
          .current_timestamp = (now + spanner.current_timestamp_error).TruncatedToMicros()};
}

Json Words(const FieldTree& tree);

Json Words(const FieldTree::Fields& fields) {
  Json object = Json::object();
  for (const NamedField& field : fields) object[std::string(field.name)] = Words(field.value);
  return object;
}

Json Words(const FieldTree& tree) {
  struct Visitor {
    Json operator()(std::monostate) const { return nullptr; }
    Json operator()(bool x) const { return x; }
    Json operator()(int64_t x) const { return x; }
    Json operator()(uint64_t x) const { return std::to_string(x); }
    Json operator()(const std::string& x) const { return x; }
    Json operator()(Timestamp x) const { return TimeWords(ToInstant(x)); }
    Json operator()(Duration x) const { return FormatDuration(x); }
    Json operator()(const Value& x) const { return ValueWords(x); }
    Json operator()(const FieldTree::List& list) const {
      Json array = Json::array();
      for (const FieldTree& element : list) array.push_back(Words(element));
      return array;
    }
    Json operator()(const FieldTree::Fields& fields) const { return Words(fields); }
  };
  return std::visit(Visitor{}, tree.what);
}

// --- Spanner -------------------------------------------------------------------------------------

std::string_view KindText(model::TransactionKind kind) {
  switch (kind) {
    case model::TransactionKind::kPessimistic:
      return "pessimistic";
    case model::TransactionKind::kOptimistic:
      return "optimistic";
    case model::TransactionKind::kRepeatableRead:
      return "repeatable read";
    case model::TransactionKind::kReadOnly:
      return "read-only";
  }
  return "";
}

class SpannerReport {
 public:
  SpannerReport(const World& world, const StateWatch& watch, const Names& names)
      : world_(world), watch_(watch), names_(names), database_(world.state().database) {}

  Json Rows() const {
    Json rows = Array();
    const auto& tables = world_.setup().catalogue->schema().tables;
    for (size_t table = 0; table < tables.size(); ++table) {
      for (const auto& [key, versions] : database_.tables[table].rows) {
        const Row* newest = model::VersionAt(versions, std::nullopt);
        if (newest == nullptr) continue;
        Json columns = Json::object();
        for (size_t i = 0; i < newest->size(); ++i) {
          columns[tables[table].columns[i].name] = ValueWords((*newest)[i]);
        }
        rows.push_back({{"row", KeyText(key)},
                        {"committed", TimeWords(ToInstant(versions.back().commit))},
                        {"columns", std::move(columns)}});
      }
    }
    return rows;
  }

  Json Transactions() const {
    Json transactions = Array();
    for (const TransactionState& transaction : database_.transactions) {
      transactions.push_back(TransactionJson(transaction));
    }
    return transactions;
  }

  Json Sessions() const {
    Json sessions = Array();
    for (const SessionInfo& session : database_.sessions) {
      sessions.push_back({{"name", session.name},
                          {"multiplexed", session.multiplexed},
                          {"last_used", TimeWords(ToInstant(session.last_used))}});
    }
    return sessions;
  }

  std::string NameOf(const CallName& call) const {
    if (call.process == ProcessId{}) return "an operator";
    const auto step = watch_.StepOf(call);
    return Cat(names_.ShortProcess(call.process), " ", step ? WordOf(*step) : "?", ", attempt ",
               std::to_string(call.attempt));
  }

 private:
  Json TransactionJson(const TransactionState& transaction) const {
    const bool commits = transaction.phase == model::TransactionPhase::kCommitting;
    Json json = {{"of", NameOf(transaction.begun_by)}, {"kind", KindText(transaction.kind)}};
    json["phase"] = commits ? Cat("committing with timestamp ",
                                  TimeWords(ToInstant(transaction.commit_timestamp)))
                            : "active";
    if (transaction.age) json["age_counts_from"] = TimeWords(ToInstant(transaction.age->since));
    if (transaction.snapshot) json["reads_as_of"] = TimeWords(ToInstant(*transaction.snapshot));
    if (transaction.doomed) json["doomed"] = WordOf(transaction.doomed->code);
    AddLocks(transaction, commits, json);
    if (!transaction.parked) return json;
    json["waits"] = Cat(RequestName(transaction.parked->request), " waits for a lock");
    Json others = Array();
    for (const TransactionState& other : database_.transactions) {
      if (&other == &transaction || IsOver(other)) continue;
      if (model::CommitConflicts(transaction.writes, other)) {
        others.push_back(NameOf(other.begun_by));
      }
    }
    if (!others.empty()) json["behind"] = std::move(others);
    return json;
  }

  void AddLocks(const TransactionState& transaction, bool commits, Json& json) const {
    Json shared = Array();
    if (transaction.kind == model::TransactionKind::kPessimistic) {
      for (const model::ReadLock& read : transaction.reads) {
        shared.push_back(Cat(RangeText(read.range), ColumnsText(read.table, read.columns)));
      }
    }
    if (!shared.empty()) json["shared_locks"] = std::move(shared);
    Json writes = Array();
    for (const model::BufferedWrite& write : transaction.writes) {
      writes.push_back(Cat(KeyText(write.key), write.row ? "" : ", deleted",
                           write.row ? ColumnsText(write.table, write.columns) : ""));
    }
    if (writes.empty()) return;
    json[commits ? "exclusive_locks" : "buffered_writes"] = std::move(writes);
  }

  static std::string KeyText(const model::Key& key) {
    std::string text;
    for (const Value& value : key) {
      const auto* name = std::get_if<std::string>(&value);
      text +=
          Cat(text.empty() ? "" : ", ", name != nullptr ? Printable(*name) : FormatValue(value));
    }
    return text;
  }
  static std::string RangeText(const model::KeyRange& range) {
    switch (range.kind) {
      case model::RangeKind::kAll:
        return "all rows";
      case model::RangeKind::kKey:
        return KeyText(range.key);
      case model::RangeKind::kPrefix:
        return Cat("rows ", Printable(range.prefix), "*");
      case model::RangeKind::kNothing:
        return "no row";
      case model::RangeKind::kSpan:
        return "a span of rows";
    }
    return "";
  }
  std::string ColumnsText(uint32_t table, uint64_t bits) const {
    const auto& columns = world_.setup().catalogue->schema().tables[table].columns;
    std::string text;
    for (size_t i = 0; i < columns.size(); ++i) {
      if ((bits >> i & 1U) != 0) text += Cat(text.empty() ? "" : ", ", columns[i].name);
    }
    return text.empty() ? " (existence)" : Cat(" (", text, ")");
  }

  const World& world_;
  const StateWatch& watch_;
  const Names& names_;
  const model::Database& database_;
};

Json SpannerStateJson(const World& world, const StateWatch& watch, const Names& names, Instant at) {
  const SpannerReport report(world, watch, names);
  const model::ClockReading moment = SpannersClocks(world, at);
  Json json = Json::object();
  json["truetime"] = {{"earliest", TimeWords(ToInstant(moment.truetime.earliest))},
                      {"latest", TimeWords(ToInstant(moment.truetime.latest))}};
  json["current_timestamp"] = TimeWords(ToInstant(moment.current_timestamp));
  if (world.state().faults.unavailable > 0) json["available"] = false;
  json["rows"] = report.Rows();
  json["transactions"] = report.Transactions();
  if (Json sessions = report.Sessions(); !sessions.empty()) json["sessions"] = std::move(sessions);
  return json;
}

// --- nodes ---------------------------------------------------------------------------------------

Json AnswerJson(const Observation& observation) {
  const auto& answered = std::get<QuestionAnswered>(observation.what);
  Json json = {{"at", TimeWords(observation.at)},
               {"question", WordOf(answered.answer.question)},
               {"answer", answered.answer.yes ? "yes" : "no"}};
  if (answered.answer.token) json["token"] = std::to_string(*answered.answer.token);
  return json;
}

Json ApplicationJson(const Participant& participant) {
  Json json = Words(FieldsOf(participant.application));
  json.erase("ended");  // as told of its context
  if (participant.application.asked == 0) json.erase("asked");
  if (participant.asked_at != Instant{}) json["asked_at"] = TimeWords(participant.asked_at);
  return json;
}

Json ParticipantJson(const Participant& participant, ProcessId process, const StateWatch& watch,
                     const Names& names) {
  Json json = Json::object();
  json["lock"] = names.Lock(participant.lock);
  json["believes"] = participant.believes;
  if (participant.standing.own_token) {
    const Token& token = *participant.standing.own_token;
    json["own_token"] =
        token.commit() != nullptr ? TimeWords(ToInstant(*token.commit())) : FormatToken(token);
  }
  if (participant.application.ended) json["context"] = "ended";
  if (const Observation* answer = watch.LastAnswer(process, participant.lock)) {
    json["last_answer"] = AnswerJson(*answer);
  }
  json["protocol"] = Words(participant.machine.Fields());
  json["application"] = ApplicationJson(participant);
  Json running = Array();
  for (const ActiveRunner& runner : participant.runners) {
    running.push_back(Cat(WordOf(runner.state.transaction.step), ", attempt ",
                          std::to_string(runner.state.attempt),
                          runner.state.waiting ? ", backs off" : ""));
  }
  if (!running.empty()) json["transactions"] = std::move(running);
  return json;
}

std::string_view LifeText(Life life) {
  switch (life) {
    case Life::kDown:
      return "down";
    case Life::kRunning:
      return "running";
    case Life::kStopped:
      return "stopped";
  }
  return "";
}

std::string LinkText(const Links& links) {
  if (links.to == links.from) return std::string(WordOf(links.to));
  return Cat("to Spanner ", WordOf(links.to), ", from Spanner ", WordOf(links.from));
}

Json NodeStateJson(const World& world, int16_t index, const StateWatch& watch, const Names& names,
                   Instant at) {
  const Node& node = world.state().nodes[static_cast<size_t>(index)];
  Json json = {{"node", names.Node(index)}, {"life", LifeText(node.life)}};
  json["link"] = LinkText(world.state().faults.At(index).links);
  if (node.life == Life::kDown) return json;
  const LocalTime clocks = NodesClocks(world, index, at);
  json["incarnation"] = node.incarnation;
  json["paused"] = node.pauses > 0;
  json["wall_clock"] = TimeWords(ToInstant(clocks.wall));
  json["monotonic_clock"] = TimeWords(Instant{} + (clocks.monotonic - LocalInstant{}));
  if (node.clock.rate_ppm != 0) json["clock_rate_ppm"] = node.clock.rate_ppm;
  if (node.clock.stands > 0) json["clocks"] = "stand still";
  Json& locks = json["locks"] = Array();
  for (const Participant& participant : node.participants) {
    locks.push_back(ParticipantJson(participant, {index, node.incarnation}, watch, names));
  }
  return json;
}

// --- what is under way ---------------------------------------------------------------------------

class PendingReport {
 public:
  explicit PendingReport(const World& world) : state_(world.state()) {}

  // Null if there is none.
  template <typename T>
  const PendingSlot* Find(const auto& wanted) const {
    const PendingSlot* found = nullptr;
    state_.pending.ForEach([&](const PendingSlot& slot, uint32_t) {
      const auto* event = std::get_if<T>(&slot.choice.event);
      if (found == nullptr && event != nullptr && wanted(*event)) found = &slot;
    });
    return found;
  }

  std::string WhereIs(const Call& call) const {
    if (call.held) return "held back by the black hole";
    if (const PendingSlot* slot =
            Find<CallArrives>([&](const CallArrives& x) { return x.call == call.name; })) {
      return Cat("reaches Spanner at ", TimeWords(slot->due));
    }
    if (const PendingSlot* slot =
            Find<ReplyArrives>([&](const ReplyArrives& x) { return x.call == call.name; })) {
      if (slot->due <= state_.now) return "its reply has come, and waits for the pause to end";
      return Cat("its reply arrives at ", TimeWords(slot->due));
    }
    for (const TransactionState& transaction : state_.database.transactions) {
      if (transaction.parked && transaction.parked->call == call.name) return "waits for a lock";
      const bool commits = transaction.phase == model::TransactionPhase::kCommitting;
      if (commits && transaction.commit_call == call.name) return CommitText(transaction);
    }
    return call.at_spanner ? "at Spanner" : "lost";
  }

 private:
  std::string CommitText(const TransactionState& transaction) const {
    const PendingSlot* slot = Find<CommitBecomesVisible>(
        [&](const CommitBecomesVisible& x) { return x.begun_by == transaction.begun_by; });
    return slot == nullptr ? "commits" : Cat("commits, visible at ", TimeWords(slot->due));
  }

  const WorldState& state_;
};

Json CallsJson(const World& world, const Names& names) {
  const WorldState& state = world.state();
  const PendingReport pending(world);
  Json calls = Array();
  for (uint32_t place = 0; place < state.calls.size(); ++place) {
    if (!state.calls[place].is_taken()) continue;
    const Call& call = state.calls[place].call();
    Json json = {{"call", Cat(names.ShortProcess(call.name.process), " ", WordOf(call.step), " ",
                              RequestName(call.request))},
                 {"lock", names.Lock(call.name.lock)},
                 {"sent", TimeWords(call.sent_at)},
                 {"now", pending.WhereIs(call)}};
    if (call.timeout) json["times_out"] = TimeWords(state.pending[*call.timeout].due);
    if (!call.awaited) json["awaited"] = false;
    calls.push_back(std::move(json));
  }
  return calls;
}

std::string WhenText(const When& when, const Scenario& scenario, const Names& names) {
  return Cat("when ", names.Node(when.node), " reaches the phase ", WordOf(when.phase), " of ",
             WordOf(when.step),
             when.lock ? Cat(" of lock ", Quoted(scenario.locks[*when.lock])) : "",
             when.count > 1 ? Cat(", time ", std::to_string(when.count)) : "");
}

// Whether the fault has begun and waits for a call that it can strike.
bool IsArmed(const World& world, uint32_t fault) {
  return std::ranges::any_of(world.state().faults.nodes, [fault](const ActiveFaults::OfNode& node) {
    return std::ranges::find(node.armed, fault) != node.armed.end();
  });
}

Json FaultsJson(const World& world, const StateWatch& watch, const Names& names) {
  const Scenario& scenario = world.setup().scenario;
  const PendingReport pending(world);
  Json active = Array();
  Json to_come = Array();
  for (uint32_t i = 0; i < scenario.faults.size(); ++i) {
    const FaultSpec& spec = scenario.faults[i];
    const StateWatch::FaultTimes& times = watch.fault(i);
    if (times.ended) continue;
    Json json = {
        {"fault", Cat(FaultKindText(spec.kind()), " (line ", std::to_string(spec.line), ")")}};
    if (spec.node >= 0) json["node"] = names.Node(spec.node);
    if (spec.node == FaultSpec::kLeader) json["node"] = std::string(kLeaderWord);
    if (!times.began) {
      const auto* when = std::get_if<When>(&spec.trigger);
      json["strikes"] = IsArmed(world, i) ? "the next call of its kind"
                        : when != nullptr ? WhenText(*when, scenario, names)
                                          : TimeWords(std::get<Instant>(spec.trigger));
      to_come.push_back(std::move(json));
      continue;
    }
    json["since"] = TimeWords(*times.began);
    const PendingSlot* end =
        pending.Find<FaultEnds>([&](const FaultEnds& x) { return x.fault == i; });
    if (end == nullptr) {
      end = pending.Find<NodeStarts>([&](const NodeStarts& x) { return x.fault == i; });
    }
    if (end != nullptr) json["until"] = TimeWords(end->due);
    active.push_back(std::move(json));
  }
  return {{"active", std::move(active)}, {"to_come", std::move(to_come)}};
}

Json ResourcesJson(const World& world, const Names& names) {
  Json resources = Array();
  const auto& all = world.state().resources;
  for (size_t lock = 0; lock < all.size(); ++lock) {
    if (!all[lock].greatest) continue;
    resources.push_back({{"lock", names.Lock(static_cast<uint16_t>(lock))},
                         {"greatest_token", std::to_string(*all[lock].greatest)}});
  }
  return resources;
}

// --- lines ---------------------------------------------------------------------------------------

bool IsFlat(const Json& json) {
  return !json.is_structured() || (json.is_array() && std::ranges::none_of(json, [](const Json& x) {
                                     return x.is_structured();
                                   }));
}

std::string FlatText(const Json& json) {
  if (json.is_null()) return "NULL";
  if (json.is_string()) return Printable(json.get<std::string>(), 1'000);
  if (json.is_boolean()) return json.get<bool>() ? "yes" : "no";
  if (!json.is_array()) return DumpJson(json);
  if (json.empty()) return "none";
  std::string text;
  for (const Json& element : json) text += Cat(text.empty() ? "" : "; ", FlatText(element));
  return text;
}

// The members of an object on one line.
std::string InlineText(const Json& object) {
  std::string text;
  for (const auto& [key, value] : object.items()) {
    const std::string said = !value.is_boolean() ? Cat(key, " ", FlatText(value))
                             : value.get<bool>() ? key
                                                 : Cat("not ", key);
    text += Cat(text.empty() ? "" : ", ", said);
  }
  return text;
}

bool FitsInOneLine(const Json& object) {
  constexpr size_t kWidth = 100;
  return object.is_object() &&
         std::ranges::all_of(object, [](const Json& x) { return IsFlat(x); }) &&
         InlineText(object).size() <= kWidth;
}

void PrintInto(const Json& json, const std::string& indent, std::ostream& out);

void PrintElement(const Json& element, const std::string& indent, std::ostream& out) {
  if (!element.is_object()) {
    out << indent << "- " << FlatText(element) << '\n';
    return;
  }
  if (FitsInOneLine(element)) {
    out << indent << "- " << InlineText(element) << '\n';
    return;
  }
  Json rest = element;
  const std::string first = rest.begin().key();
  out << indent << "- " << first << ": " << FlatText(rest.begin().value()) << '\n';
  rest.erase(first);
  PrintInto(rest, indent + "  ", out);
}

void PrintInto(const Json& json, const std::string& indent, std::ostream& out) {
  for (const auto& [key, value] : json.items()) {
    out << indent << key << ':';
    if (IsFlat(value)) {
      out << ' ' << FlatText(value) << '\n';
    } else if (FitsInOneLine(value)) {
      out << ' ' << InlineText(value) << '\n';
    } else if (value.is_array()) {
      out << '\n';
      for (const Json& element : value) PrintElement(element, indent + "  ", out);
    } else {
      out << '\n';
      PrintInto(value, indent + "  ", out);
    }
  }
}

}  // namespace

// --- what the watch hears ------------------------------------------------------------------------

void StateWatch::Hear(const Observation& observation, uint64_t /*ordinal*/, uint64_t /*hash*/) {
  const ObservedEvent& what = observation.what;
  if (const auto* began = std::get_if<FaultBegan>(&what)) {
    faults_[began->fault] = {.began = observation.at, .ended = std::nullopt};
  } else if (const auto* ended = std::get_if<FaultEnded>(&what)) {
    faults_[ended->fault].ended = observation.at;
  } else if (const auto* answered = std::get_if<QuestionAnswered>(&what)) {
    answers_.insert_or_assign({answered->process, answered->lock}, observation);
  } else if (const auto* started = std::get_if<TransactionStarted>(&what)) {
    steps_[{started->process, started->lock, started->request}] = started->step;
  }
}

const Observation* StateWatch::LastAnswer(ProcessId process, uint16_t lock) const {
  const auto found = answers_.find({process, lock});
  return found == answers_.end() ? nullptr : &found->second;
}

std::optional<StepName> StateWatch::StepOf(const CallName& call) const {
  const auto found = steps_.find({call.process, call.lock, call.request});
  if (found == steps_.end()) return std::nullopt;
  return found->second;
}

// --- the whole report ----------------------------------------------------------------------------

Json StateJson(const World& world, const StateWatch& watch, Instant at) {
  const Scenario& scenario = world.setup().scenario;
  const Names names = NamesOf(scenario);
  Json json = Json::object();
  json["at"] = TimeWords(at);
  json["last_event"] = TimeWords(world.now());
  json["spanner"] = SpannerStateJson(world, watch, names, at);
  Json& nodes = json["nodes"] = Array();
  for (size_t i = 0; i < scenario.nodes.size(); ++i) {
    nodes.push_back(NodeStateJson(world, static_cast<int16_t>(i), watch, names, at));
  }
  json["calls"] = CallsJson(world, names);
  json["resources"] = ResourcesJson(world, names);
  json["faults"] = FaultsJson(world, watch, names);
  return json;
}

void PrintState(const Json& state, std::ostream& out) { PrintInto(state, "", out); }

}  // namespace whorl::sim
