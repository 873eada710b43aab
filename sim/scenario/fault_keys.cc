// The keys of a fault that only its kind takes.
#include <algorithm>

#include "sim/scenario/error_text.h"
#include "sim/scenario/parts.h"
#include "sim/scenario/rules.h"

namespace whorl::sim {
namespace {

using Words = std::vector<std::string_view>;

// "a pause", "an abort"; kinds that are no nouns in quotes.
std::string Named(FaultKind kind) {
  const std::string_view text = FaultKindText(kind);
  const bool is_noun = kind != FaultKind::kUnavailable && kind != FaultKind::kTrueTime &&
                       text.find('_') == std::string_view::npos;
  if (!is_noun) return Quoted(text);
  return Cat(text.front() == 'a' ? "an " : "a ", text);
}

class KeyReader {
 public:
  KeyReader(const ObjectFields& fields, const Known& known, const Scenario& scenario,
            FaultSpec& fault, Problems& problems)
      : fields_(fields), known_(known), scenario_(scenario), fault_(fault), problems_(problems) {}

  void Read();

 private:
  void CheckKeys();
  void ReadLatency();
  void ReadAbort();
  void ReadClock();
  void ReadDeleteRow();
  void CheckDrop();
  void AtKey(std::string_view key, std::string text) {
    problems_.AddAtKey(*fields_.Find(key), std::move(text));
  }

  const ObjectFields& fields_;
  const Known& known_;
  const Scenario& scenario_;
  FaultSpec& fault_;
  Problems& problems_;
};

void KeyReader::Read() {
  const size_t before = problems_.size();
  CheckKeys();
  fault_.lasts = fields_.Time("for");
  fault_.restart_after = fields_.Time("restart_after");
  fault_.mode = fields_.Word<PartitionMode>("mode").value_or(fault_.mode);
  fault_.direction = fields_.Word<Direction>("direction").value_or(fault_.direction);
  if (problems_.size() > before) return;
  switch (fault_.kind) {
    case FaultKind::kLatency:
      return ReadLatency();
    case FaultKind::kDropRequest:
    case FaultKind::kDropReply:
      return CheckDrop();
    case FaultKind::kAbort:
      return ReadAbort();
    case FaultKind::kClock:
      return ReadClock();
    case FaultKind::kTrueTime:
      fault_.truetime = {.epsilon = scenario_.spanner.truetime.epsilon};
      if (!fields_.Has("epsilon") && !fields_.Has("truthful") && !fields_.Has("error")) {
        problems_.Add(fields_.value(),
                      "\"truetime\" needs one of the keys epsilon, truthful, error");
        return;
      }
      return ReadTrueTime(fields_, fault_.truetime, problems_);
    case FaultKind::kCurrentTimestamp:
      fault_.error = fields_.Time("error").value_or(fault_.error);
      return;
    case FaultKind::kDeleteRow:
      return ReadDeleteRow();
    default:
      return;
  }
}

void KeyReader::CheckKeys() {
  const FaultInfo& info = Faults()[static_cast<size_t>(fault_.kind)];
  for (const std::string_view key : FaultKeys()) {
    if (!fields_.Has(key) || info.Takes(key)) continue;
    Words kinds;
    for (const FaultInfo& other : Faults()) {
      if (other.Takes(key)) kinds.push_back(FaultKindText(other.kind));
    }
    AtKey(key,
          Cat(Named(fault_.kind), " has no ", Quoted(key), "; that is for: ", ListOf(kinds), "."));
  }
  for (const std::string_view key : info.required) {
    if (fields_.Has(key)) continue;
    problems_.Add(fields_.value(), Cat(Named(fault_.kind), " needs the key ", Quoted(key)));
  }
  for (const std::string_view key : {"node", "stagger"}) {
    if (info.has_node || !fields_.Has(key)) continue;
    AtKey(key, Cat(Named(fault_.kind), " happens at Spanner and has no ", Quoted(key),
                   "; whose step it waits for stands in \"when\""));
  }
}

void KeyReader::ReadLatency() {
  const JsonValue value = *fields_.Find("add");
  DelaySpec& add = fault_.add;
  if (value.kind() != JsonKind::kObject) {
    if (value.kind() != JsonKind::kString) {
      problems_.Add(value, Cat("expected a duration such as \"200ms\", or an object with \"p50\", "
                               "\"p99\" and \"max\", got ",
                               Described(value)));
      return;
    }
    const Duration always =
        ReadDuration(value, Form::kPositiveDuration, problems_).value_or(Duration{});
    add = {.min = always, .p50 = always, .p99 = always, .max = always};
    return;
  }
  const size_t before = problems_.size();
  const ObjectFields fields(value, ObjectId::kDelay, problems_);
  add.min = fields.Time("min").value_or(add.min);
  add.p50 = fields.Time("p50").value_or(add.p50);
  add.p99 = fields.Time("p99").value_or(add.p99);
  add.max = fields.Time("max").value_or(add.max);
  if (problems_.size() > before) return;
  if (add.min <= add.p50 && add.p50 <= add.p99 && add.p99 <= add.max) return;
  problems_.Add(value, "expected min <= p50 <= p99 <= max");
}

// What the trigger points at must still be on its way.
void KeyReader::CheckDrop() {
  const When* when = std::get_if<When>(&fault_.trigger);
  if (when == nullptr || fault_.kind != FaultKind::kDropRequest) return;
  if (when->phase == Phase::kSent || when->phase == Phase::kEnded) return;
  if (fields_.Has("node") || when->step == StepName::kWrite) return;
  problems_.Add(*fields_.Object("when")->Find("phase"),
                Cat(kNeverFires, "in the phase ", WordOf(when->phase),
                    " the request has been heard. \"sent\" loses the step's request, \"ended\" "
                    "the node's next one."));
}

void KeyReader::ReadAbort() {
  fault_.percent = fields_.Integer("percent").value_or(fault_.percent);
  if (fields_.Has("percent") && !fault_.lasts) {
    AtKey("percent", "\"percent\" needs \"for\": without it, one call is aborted");
  }
}

void KeyReader::ReadClock() {
  ClockChange& clock = fault_.clock;
  clock.offset = fields_.Time("offset");
  clock.step = fields_.Time("step");
  clock.rate_ppm = fields_.Integer("rate_ppm");
  clock.stands = fields_.Boolean("stands").value_or(false);
  if (clock.stands) {
    for (const std::string_view key : {"offset", "step", "rate_ppm"}) {
      if (fields_.Has(key)) AtKey(key, "a clock that stands does nothing else");
    }
    if (!fault_.lasts) {
      problems_.Add(fields_.value(), "a clock that stands needs the key \"for\"");
    }
    return;
  }
  if (fault_.lasts) AtKey("for", "\"for\" needs \"stands\": true; other changes are for good");
  if (clock.offset && clock.step) {
    AtKey("step",
          "\"offset\" sets the clock's error and \"step\" adds to it: expected one of them");
  }
  if (clock.offset || clock.rate_ppm || clock.step) return;
  problems_.Add(fields_.value(), "a clock needs one of the keys offset, step, rate_ppm, stands");
}

void KeyReader::ReadDeleteRow() {
  if (!known_.locks) return;
  if (const std::optional<std::string> name = fields_.Name("lock")) {
    const auto found = std::find(scenario_.locks.begin(), scenario_.locks.end(), *name);
    if (found == scenario_.locks.end()) {
      problems_.Add(*fields_.Find("lock"), UnknownWord("lock", *name, Views(scenario_.locks)));
      return;
    }
    fault_.lock = static_cast<uint16_t>(found - scenario_.locks.begin());
  } else if (scenario_.locks.size() > 1 && !fields_.Has("lock")) {
    problems_.Add(fields_.value(), Cat("missing key \"lock\" (which lock's row). Known locks: ",
                                       ListOf(Views(scenario_.locks)), "."));
    return;
  }
  const std::string& lock = scenario_.locks[fault_.lock];
  fault_.row = fields_.Text("row").value_or(lock);
  if (known_.protocol == nullptr) return;
  if (ParseKey(RulesOf(known_.protocol->name), lock, fault_.row)) return;
  problems_.Add(*fields_.Find("row"), Cat("expected an integer: the key of ", known_.protocol->name,
                                          "'s rows is an INT64"));
}

}  // namespace

void ReadTrueTime(const ObjectFields& fields, TrueTimeSpec& truetime, Problems& problems) {
  const size_t before = problems.size();
  truetime.epsilon = fields.Time("epsilon").value_or(truetime.epsilon);
  truetime.truthful = fields.Boolean("truthful").value_or(truetime.truthful);
  truetime.error = fields.Time("error").value_or(truetime.error);
  if (problems.size() > before) return;
  const std::optional<JsonValue> error = fields.Find("error");
  if (truetime.truthful) {
    if (error.has_value()) problems.AddAtKey(*error, "\"error\" needs \"truthful\": false");
    return;
  }
  if (!error.has_value()) {
    problems.Add(fields.value(), "missing key \"error\" (how far the interval that lies is off)");
  } else if (truetime.error <= truetime.epsilon && truetime.error >= -truetime.epsilon) {
    problems.Add(*error, Cat("expected more than epsilon (", FormatDuration(truetime.epsilon),
                             ") either way, or true time lies inside the interval"));
  }
}

void ReadFaultKeys(const ObjectFields& fields, const Known& known, const Scenario& scenario,
                   FaultSpec& fault, Problems& problems) {
  KeyReader(fields, known, scenario, fault, problems).Read();
}

}  // namespace whorl::sim
