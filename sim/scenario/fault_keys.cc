// The keys of a fault that only its kind takes, read by the kind's fields.
#include <algorithm>

#include "base/text.h"
#include "sim/scenario/faults/keys.h"
#include "sim/scenario/parts.h"
#include "sim/scenario/rules.h"

namespace whorl::sim {
namespace {

using Words = std::vector<std::string_view>;

// "a pause", "an abort"; kinds that are no nouns in quotes.
std::string Named(const FaultInfo& info) {
  const bool is_noun = info.is_noun && info.word.find('_') == std::string_view::npos;
  if (!is_noun) return Quoted(info.word);
  const bool vowel = info.word.front() == 'a' || info.word.front() == 'e';
  return Cat(vowel ? "an " : "a ", info.word);
}

class KeyReader {
 public:
  KeyReader(const ObjectFields& fields, const Known& known, const Scenario& scenario,
            FaultSpec& fault, Problems& problems)
      : fields_(fields), known_(known), scenario_(scenario), fault_(fault), problems_(problems) {}

  void Read();

 private:
  void CheckKeys();

  template <typename T>
  std::optional<T> ReadValue(std::string_view key) const {
    if constexpr (std::is_same_v<T, Duration>) {
      return fields_.Time(key);
    } else if constexpr (std::is_same_v<T, int64_t>) {
      return fields_.Integer(key);
    } else if constexpr (std::is_same_v<T, bool>) {
      return fields_.Boolean(key);
    } else if constexpr (std::is_same_v<T, StepName>) {
      return fields_.Step(key);
    } else {
      return fields_.Word<T>(key);
    }
  }
  // They do not change the field if the key is missing or its value is wrong.
  template <typename T>
  void ReadField(std::string_view key, T& value) const {
    value = ReadValue<T>(key).value_or(value);
  }
  template <typename T>
  void ReadField(std::string_view key, std::optional<T>& value) const {
    value = ReadValue<T>(key);
  }
  void ReadField(std::string_view key, DelaySpec& value);
  void ReadField(std::string_view key, TrueTimeSpec& value);
  void ReadField(std::string_view key, RowOfLock& value);
  bool ReadLock(uint16_t& lock);

  const ObjectFields& fields_;
  const Known& known_;
  const Scenario& scenario_;
  FaultSpec& fault_;
  Problems& problems_;
};

void KeyReader::Read() {
  const size_t before = problems_.size();
  CheckKeys();
  std::visit(
      [&](auto& kind) {
        VisitKeys(kind, [&](std::string_view key, auto& field) { ReadField(key, field); });
        if (problems_.size() > before) return;
        if constexpr (requires(const FaultReading& reading) { kind.Check(reading); }) {
          kind.Check(
              {.fields = fields_, .scenario = scenario_, .fault = fault_, .problems = problems_});
        }
      },
      fault_.what);
}

void KeyReader::CheckKeys() {
  const FaultInfo& info = InfoOf(fault_.kind());
  for (const std::string_view key : FaultKeys()) {
    if (!fields_.Has(key) || info.Takes(key)) continue;
    Words kinds;
    for (const FaultInfo& other : Faults()) {
      if (other.Takes(key)) kinds.push_back(other.word);
    }
    problems_.AddAtKey(*fields_.Find(key), Cat(Named(info), " has no ", Quoted(key),
                                               "; that is for: ", ListOf(kinds), "."));
  }
  for (const FaultKey& own : info.keys) {
    if (!own.key.required || fields_.Has(own.key.name)) continue;
    problems_.Add(fields_.value(), Cat(Named(info), " needs the key ", Quoted(own.key.name)));
  }
  for (const std::string_view key : {"node", "stagger"}) {
    if (info.has_node || !fields_.Has(key)) continue;
    problems_.AddAtKey(*fields_.Find(key),
                       Cat(Named(info), " happens at Spanner and has no ", Quoted(key),
                           "; whose step it waits for stands in \"when\""));
  }
}

void KeyReader::ReadField(std::string_view key, DelaySpec& add) {
  if (const auto value = fields_.Find(key)) add = ReadDelay(*value, problems_).value_or(add);
}

void KeyReader::ReadField(std::string_view /*key*/, TrueTimeSpec& value) {
  value = {.epsilon = scenario_.spanner.truetime.epsilon};
  ReadTrueTime(fields_, value, problems_);
}

void KeyReader::ReadField(std::string_view /*key*/, RowOfLock& value) {
  if (!known_.locks || !ReadLock(value.lock)) return;
  const std::string& lock = scenario_.locks[value.lock];
  value.row = fields_.Text("row").value_or(lock);
  if (known_.protocol == nullptr) return;
  if (ParseKey(RulesOf(known_.protocol->name), lock, value.row)) return;
  problems_.Add(*fields_.Find("row"), Cat("expected an integer: the key of ", known_.protocol->name,
                                          "'s rows is an INT64"));
}

bool KeyReader::ReadLock(uint16_t& lock) {
  if (const std::optional<std::string> name = fields_.Name("lock")) {
    const auto found = std::find(scenario_.locks.begin(), scenario_.locks.end(), *name);
    if (found == scenario_.locks.end()) {
      problems_.Add(*fields_.Find("lock"), UnknownWord("lock", *name, Views(scenario_.locks)));
      return false;
    }
    lock = static_cast<uint16_t>(found - scenario_.locks.begin());
  } else if (scenario_.locks.size() > 1 && !fields_.Has("lock")) {
    problems_.Add(fields_.value(), Cat("missing key \"lock\" (which lock's row). Known locks: ",
                                       ListOf(Views(scenario_.locks)), "."));
    return false;
  }
  return true;
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
