// The faults of a scenario. Patterns become one fault for each node, and what can be seen to be
// impossible from the text is an error: a fault that never fires would prove nothing.
#include <algorithm>
#include <functional>
#include <map>
#include <utility>

#include "base/nearest_word.h"
#include "base/text.h"
#include "sim/scenario/fault_checks.h"
#include "sim/scenario/parts.h"

namespace whorl::sim {
namespace {

using Words = std::vector<std::string_view>;

// Whether `name` matches `pattern`, where * matches any text.
bool Matches(std::string_view pattern, std::string_view name) {
  size_t p = 0;
  size_t n = 0;
  size_t star = std::string_view::npos;  // the last one passed; it took up to `taken`
  size_t taken = 0;
  while (n < name.size()) {
    if (p < pattern.size() && pattern[p] == '*') {
      star = p++;
      taken = n;
    } else if (p < pattern.size() && pattern[p] == name[n]) {
      ++p;
      ++n;
    } else if (star != std::string_view::npos) {
      p = star + 1;
      n = ++taken;
    } else {
      return false;
    }
  }
  return pattern.find_first_not_of('*', p) == std::string_view::npos;
}

class FaultReader {
 public:
  FaultReader(const Known& known, Scenario& scenario, Problems& problems)
      : known_(known), scenario_(scenario), problems_(problems) {
    for (size_t i = 0; i < scenario.nodes.size(); ++i) {
      node_names_.push_back(scenario.nodes[i].name);
      nodes_.emplace(scenario.nodes[i].name, static_cast<int16_t>(i));
    }
  }

  void Read(const JsonValue& entry);
  // After all of them, when all were good.
  void CheckTogether() const;

 private:
  struct Waiting {
    JsonValue value;  // the value of /when/node
    int16_t node = 0;
  };

  bool CheckTrigger(const ObjectFields& fields);
  void CheckStagger(const ObjectFields& fields);
  void CheckRepeats(const ObjectFields& fields);

  std::optional<When> ReadWhen(const ObjectFields& fields);
  std::optional<StepName> ReadStep(const ObjectFields& fields);
  void CheckPhase(const ObjectFields& fields, StepName step, Phase phase);
  void ReadLock(const ObjectFields& fields, When& when);

  std::optional<int16_t> FindNode(const JsonValue& value);
  // A step of a node that nothing starts can never come.
  void CheckStarts() const;
  std::vector<int16_t> ReadTargets(const ObjectFields& fields, const std::optional<When>& when);
  void AddAll(const ObjectFields& fields, const FaultSpec& fault,
              const std::vector<int16_t>& targets);
  bool IsInRun(const ObjectFields& fields, Instant at, int16_t node);

  const Known& known_;
  Scenario& scenario_;
  Problems& problems_;
  Words node_names_;
  std::map<std::string_view, int16_t> nodes_;
  std::vector<Waiting> waiting_;
  std::vector<JsonValue> entries_;  // the entry of each fault
  bool full_ = false;
};

void FaultReader::Read(const JsonValue& entry) {
  if (full_) return;
  const size_t before = problems_.size();
  const ObjectFields fields(entry, ObjectId::kFault, problems_);
  if (entry.kind() != JsonKind::kObject) return;
  FaultSpec fault;
  fault.line = entry.position().line;
  const std::optional<FaultKind> kind = fields.Word<FaultKind>("do", "fault");
  if (kind.has_value()) fault.what = MakeFault(*kind);
  const bool has_trigger = CheckTrigger(fields);
  if (!has_trigger) {
    if (kind.has_value()) ReadFaultKeys(fields, known_, scenario_, fault, problems_);
    return;
  }
  const std::optional<When> when = ReadWhen(fields);
  if (when.has_value()) {
    fault.trigger = *when;
  } else {
    fault.trigger = Instant{fields.Time("at").value_or(Duration{}).ns};
  }
  if (kind.has_value()) ReadFaultKeys(fields, known_, scenario_, fault, problems_);
  CheckRepeats(fields);
  if (kind.has_value() && !InfoOf(*kind).has_node) {
    if (problems_.size() == before) AddAll(fields, fault, {FaultSpec::kNoNode});
    return;
  }
  CheckStagger(fields);
  const std::vector<int16_t> targets = ReadTargets(fields, when);
  if (problems_.size() == before) AddAll(fields, fault, targets);
}

bool FaultReader::CheckTrigger(const ObjectFields& fields) {
  const bool at = fields.Has("at");
  const std::optional<JsonValue> when = fields.Find("when");
  if (at && when.has_value()) {
    problems_.AddAtKey(*when, "expected one of \"at\" and \"when\", got both");
  } else if (!at && !when.has_value()) {
    problems_.Add(fields.value(),
                  "missing key \"at\" (a time) or \"when\" (what has to happen first)");
  }
  return at != when.has_value();
}

void FaultReader::CheckStagger(const ObjectFields& fields) {
  const std::optional<JsonValue> stagger = fields.Find("stagger");
  if (!stagger.has_value()) return;
  const std::optional<JsonValue> node = fields.Find("node");
  const bool is_pattern = node.has_value() && node->text().find('*') != std::string_view::npos;
  if (fields.Has("at") && is_pattern) return;
  problems_.AddAtKey(*stagger,
                     "\"stagger\" needs \"at\", and a pattern such as \"pod-*\" for \"node\"");
}

void FaultReader::CheckRepeats(const ObjectFields& fields) {
  const std::optional<JsonValue> every = fields.Find("every");
  const std::optional<JsonValue> times = fields.Find("times");
  if (every.has_value() && !fields.Has("at")) {
    problems_.AddAtKey(*every, "\"every\" needs \"at\": when the fault comes first");
  } else if (every.has_value() != times.has_value()) {
    problems_.AddAtKey(every.has_value() ? *every : *times,
                       "\"every\" and \"times\" need each other: how much later the fault comes "
                       "again, and how often it comes in all");
  }
}

std::optional<When> FaultReader::ReadWhen(const ObjectFields& fields) {
  const std::optional<ObjectFields> object = fields.Object("when");
  if (!object.has_value()) return std::nullopt;
  When when;
  when.node = -1;
  if (const std::optional<JsonValue> node = object->Find("node")) {
    when.node = FindNode(*node).value_or(int16_t{-1});
    if (when.node >= 0) waiting_.push_back({*node, when.node});
  }
  const std::optional<StepName> step = ReadStep(*object);
  const std::optional<Phase> phase = object->Word<Phase>("phase", "phase");
  if (step.has_value() && phase.has_value()) CheckPhase(*object, *step, *phase);
  when.step = step.value_or(when.step);
  when.phase = phase.value_or(when.phase);
  when.count = object->Integer("count").value_or(when.count);
  ReadLock(*object, when);
  return when;
}

std::optional<StepName> FaultReader::ReadStep(const ObjectFields& fields) {
  const std::optional<JsonValue> value = fields.Find("step");
  if (!value.has_value() || value->kind() != JsonKind::kString || known_.protocol == nullptr) {
    return fields.Step("step", "step");
  }
  const Words words = StepWordsOf(*known_.protocol);
  if (std::find(words.begin(), words.end(), value->text()) != words.end()) {
    return FindStep(value->text());
  }
  problems_.Add(*value, Cat(kNeverFires, NoStepText(*known_.protocol, value->text())));
  return std::nullopt;
}

void FaultReader::CheckPhase(const ObjectFields& fields, StepName step, Phase phase) {
  if (known_.protocol == nullptr || ReachesPhase(*known_.protocol, step, phase)) return;
  Words phases;
  for (const Phase other : AllOf<Phase>()) {
    if (ReachesPhase(*known_.protocol, step, other)) phases.push_back(WordOf(other));
  }
  std::string_view why = " has no commit of its own.";
  if (step == steps::kWrite) why = " goes to the resource, which answers nothing.";
  if (phases.size() == 1) why = " is answered without a call to Spanner.";
  problems_.Add(*fields.Find("phase"),
                Cat(kNeverFires, WordOf(step), why, " Its phases: ", ListOf(phases), "."));
}

void FaultReader::ReadLock(const ObjectFields& fields, When& when) {
  const std::optional<std::string> name = fields.Name("lock");
  if (!name.has_value() || !known_.locks) return;
  const auto found = std::find(scenario_.locks.begin(), scenario_.locks.end(), *name);
  const JsonValue value = *fields.Find("lock");
  if (found == scenario_.locks.end()) {
    problems_.Add(value, UnknownWord("lock", *name, Views(scenario_.locks)));
    return;
  }
  when.lock = static_cast<uint16_t>(found - scenario_.locks.begin());
  if (when.node < 0 || !known_.nodes) return;
  const NodeSpec& node = scenario_.nodes[static_cast<size_t>(when.node)];
  if (std::find(node.locks.begin(), node.locks.end(), *when.lock) != node.locks.end()) return;
  Words locks;
  for (const uint16_t lock : node.locks) locks.push_back(scenario_.locks[lock]);
  problems_.Add(value, Cat(kNeverFires, "node ", Quoted(node.name), " takes no part in lock ",
                           Quoted(*name), ". Its locks: ", ListOf(locks), "."));
}

std::optional<int16_t> FaultReader::FindNode(const JsonValue& value) {
  const std::optional<std::string> name = ReadName(value, true, problems_);
  if (!name.has_value() || !known_.node_names) return std::nullopt;
  if (const auto found = nodes_.find(*name); found != nodes_.end()) return found->second;
  problems_.Add(value, UnknownWord("node", *name, node_names_));
  return std::nullopt;
}

std::vector<int16_t> FaultReader::ReadTargets(const ObjectFields& fields,
                                              const std::optional<When>& when) {
  const std::optional<JsonValue> value = fields.Find("node");
  if (!value.has_value()) {
    if (when.has_value() && when->node >= 0) return {when->node};
    if (!when.has_value()) {
      problems_.Add(fields.value(), "missing key \"node\" (which node it happens to)");
    }
    return {};
  }
  std::vector<int16_t> targets;
  if (value->text().find('*') == std::string_view::npos) {
    if (value->text() == kLeaderWord && !nodes_.contains(kLeaderWord)) return {FaultSpec::kLeader};
    if (const std::optional<int16_t> node = FindNode(*value)) targets.push_back(*node);
    return targets;
  }
  const std::optional<std::string> pattern = ReadName(*value, true, problems_);
  if (!pattern.has_value() || !known_.node_names) return targets;
  for (size_t i = 0; i < node_names_.size(); ++i) {
    if (Matches(*pattern, node_names_[i])) targets.push_back(static_cast<int16_t>(i));
  }
  if (targets.empty()) {
    problems_.Add(*value, Cat("no node matches ", Quoted(*pattern),
                              ". Known nodes: ", ListOf(node_names_), "."));
  }
  return targets;
}

void FaultReader::AddAll(const ObjectFields& fields, const FaultSpec& fault,
                         const std::vector<int16_t>& targets) {
  const int64_t times = fields.Integer("times").value_or(1);
  if (static_cast<uint64_t>(times) > (kMaxFaults - std::min(scenario_.faults.size(), kMaxFaults)) /
                                         std::max<size_t>(targets.size(), 1)) {
    if (!full_) {
      problems_.Add(fields.value(),
                    Cat("more than ", std::to_string(kMaxFaults),
                        " faults, counting each node that a pattern matches, and each of "
                        "\"times\""));
    }
    full_ = true;
    return;
  }
  const Duration stagger = fields.Time("stagger").value_or(Duration{});
  const Duration every = fields.Time("every").value_or(Duration{});
  FaultSpec next = fault;
  for (int64_t time = 0; time < times; ++time) {
    for (size_t i = 0; i < targets.size(); ++i) {
      next.node = targets[i];
      if (const auto* first = std::get_if<Instant>(&fault.trigger)) {
        const Instant at = *first + every * time + stagger * static_cast<int64_t>(i);
        if (!IsInRun(fields, at, targets[i])) return;
        next.trigger = at;
      }
      scenario_.faults.push_back(next);
      entries_.push_back(fields.value());
    }
  }
}

bool FaultReader::IsInRun(const ObjectFields& fields, Instant at, int16_t node) {
  if (!known_.duration || Duration{at.ns} < scenario_.duration) return true;
  const std::string end = FormatDuration(scenario_.duration);
  const std::optional<JsonValue> stagger = fields.Find("stagger");
  const std::optional<JsonValue> every = fields.Find("every");
  if (every.has_value()) {
    problems_.Add(*every, Cat(kNeverFires, "it would come again at ",
                              FormatDuration(Duration{at.ns}), ", and the run ends at ", end));
  } else if (!stagger.has_value()) {
    problems_.Add(*fields.Find("at"), Cat(kNeverFires, "the run ends at ", end));
  } else {
    problems_.Add(
        *stagger,
        Cat(kNeverFires, Quoted(scenario_.nodes[static_cast<size_t>(node)].name),
            " would be hit at ", FormatDuration(Duration{at.ns}), ", and the run ends at ", end));
  }
  return false;
}

void FaultReader::CheckTogether() const {
  const size_t before = problems_.size();
  CheckStarts();
  if (problems_.size() != before) return;
  for (FaultProblem& problem : ProblemsOfFaults(scenario_, Problems::kMax)) {
    const JsonValue& entry = entries_[problem.fault];
    const bool at_restart = problem.place == FaultProblem::Place::kRestartAfter;
    problems_.Add(at_restart ? *entry.Find("restart_after") : entry, std::move(problem.text));
  }
}

void FaultReader::CheckStarts() const {
  const std::vector<bool> started = StartedNodes(scenario_);
  for (const Waiting& waiting : waiting_) {
    if (started[static_cast<size_t>(waiting.node)]) continue;
    const NodeSpec& node = scenario_.nodes[static_cast<size_t>(waiting.node)];
    problems_.Add(waiting.value, Cat(kNeverFires, "nothing starts node ", Quoted(node.name),
                                     "; it needs a `start` fault, or a time in \"start_at\""));
  }
}

}  // namespace

std::vector<std::string_view> StepWordsOf(const ProtocolInfo& protocol) {
  std::vector<std::string_view> words;
  for (const StepName step : protocol.steps) words.push_back(WordOf(step));
  words.insert(words.end(), {WordOf(steps::kHasLock), WordOf(steps::kWrite)});
  return words;
}

std::string NoStepText(const ProtocolInfo& protocol, std::string_view word) {
  const std::vector<std::string_view> words = StepWordsOf(protocol);
  std::string hint = DidYouMean(word, words);
  // A scenario of another protocol: the same words are no guide, but what its step is for is.
  const bool renews = std::ranges::any_of(Protocols(), [word](const ProtocolInfo& other) {
    return other.heartbeat_step && WordOf(*other.heartbeat_step) == word;
  });
  if (renews && protocol.heartbeat_step) {
    hint = Cat("; did you mean ", Quoted(WordOf(*protocol.heartbeat_step)),
               ", by which it renews its lease?");
  }
  return Cat(protocol.name, " has no step ", Quoted(word), hint.empty() ? "." : hint,
             " Its steps: ", ListOf(words), ".");
}

void ReadFaults(const ObjectFields& file, const Known& known, Scenario& scenario,
                Problems& problems) {
  const size_t before = problems.size();
  FaultReader reader(known, scenario, problems);
  for (const JsonValue& entry : file.Entries("faults")) {
    if (problems.Full()) return;
    reader.Read(entry);
  }
  if (known.nodes && known.duration && problems.size() == before) reader.CheckTogether();
}

}  // namespace whorl::sim
