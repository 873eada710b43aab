// Loads `schedule`. Whether its events can happen shows only in the run (sim/world/driver.h).
#include "sim/scenario/schedule.h"

#include <algorithm>
#include <array>
#include <cstdlib>
#include <map>
#include <string>
#include <utility>
#include <vector>

#include "base/nearest_word.h"
#include "base/text.h"
#include "sim/scenario/parts.h"

namespace whorl::sim {
namespace {

using Words = std::vector<std::string_view>;

constexpr auto kOfCall = std::to_array<std::string_view>(
    {"node", "incarnation", "lock", "step", "transaction", "attempt", "call"});
constexpr auto kOfCommit = std::to_array<std::string_view>(
    {"node", "incarnation", "lock", "step", "transaction", "attempt", "fault"});
constexpr auto kOfTimer =
    std::to_array<std::string_view>({"node", "incarnation", "lock", "timer", "id", "step"});
constexpr auto kOfWrite = std::to_array<std::string_view>({"node", "incarnation", "lock"});
constexpr auto kOfStart = std::to_array<std::string_view>({"node"});
constexpr auto kOfStrike = std::to_array<std::string_view>(
    {"fault", "incarnation", "lock", "step", "transaction", "attempt", "call"});
constexpr auto kOfFault = std::to_array<std::string_view>({"fault"});
constexpr auto kOfRelease = std::to_array<std::string_view>({"node", "lock"});

// Of events at Spanner. They name no event.
constexpr auto kOfClocks =
    std::to_array<std::string_view>({"truetime_error", "current_timestamp_error"});

class ScheduleReader {
 public:
  ScheduleReader(const Known& known, bool faults_are_good, Scenario& scenario, Problems& problems)
      : known_(known), faults_are_good_(faults_are_good), scenario_(scenario), problems_(problems) {
    for (size_t i = 0; i < scenario.nodes.size(); ++i) {
      node_names_.push_back(scenario.nodes[i].name);
      nodes_.emplace(scenario.nodes[i].name, static_cast<int16_t>(i));
    }
  }

  void Read(const JsonValue& value);
  // After all of them, when all were good.
  void CheckFaultsBeside(const JsonValue& schedule);

 private:
  void CheckKeys(const ObjectFields& fields, ScheduledEvent event);
  void ReadClocks(const ObjectFields& fields, ScheduleEntry& entry);
  void CheckTime(const ObjectFields& fields, ScheduleEntry& entry);
  void ReadNode(const ObjectFields& fields, ScheduleEntry& entry);
  void ReadLock(const ObjectFields& fields, ScheduleEntry& entry);
  void ReadStep(const ObjectFields& fields, ScheduleEntry& entry);
  void ReadFault(const ObjectFields& fields, ScheduleEntry& entry);
  void CheckBegins(const ObjectFields& fields, const ScheduleEntry& entry);

  const Known& known_;
  bool faults_are_good_;
  Scenario& scenario_;
  Problems& problems_;
  Words node_names_;
  std::map<std::string_view, int16_t> nodes_;
  Instant last_;                   // of the entries so far
  std::map<uint32_t, int> begun_;  // faults, with the line of the entry that begins each
};

template <typename To>
std::optional<To> Narrow(std::optional<int64_t> number) {
  if (!number) return std::nullopt;
  return static_cast<To>(*number);
}

void ScheduleReader::Read(const JsonValue& value) {
  const ObjectFields fields(value, ObjectId::kChoice, problems_);
  if (value.kind() != JsonKind::kObject) return;
  ScheduleEntry entry;
  entry.line = value.position().line;
  CheckTime(fields, entry);
  ReadNode(fields, entry);
  ReadLock(fields, entry);
  ReadStep(fields, entry);
  entry.incarnation = Narrow<uint32_t>(fields.Integer("incarnation"));
  entry.transaction = Narrow<uint32_t>(fields.Integer("transaction"));
  entry.attempt = Narrow<uint16_t>(fields.Integer("attempt"));
  entry.call = Narrow<uint16_t>(fields.Integer("call"));
  entry.timer = fields.Word<TimerOwner>("timer");
  entry.id = Narrow<uint16_t>(fields.Integer("id"));
  ReadFault(fields, entry);
  ReadClocks(fields, entry);
  if (const auto event = fields.Word<ScheduledEvent>("event", "event")) {
    entry.event = *event;
    CheckKeys(fields, *event);
    if (*event == ScheduledEvent::kFaultBegins && entry.fault) CheckBegins(fields, entry);
  }
  scenario_.schedule.push_back(entry);
}

void ScheduleReader::CheckKeys(const ObjectFields& fields, ScheduledEvent event) {
  const EventKeys known = KeysOf(event);
  for (const KeyInfo& key : DescribeObject(ObjectId::kChoice).keys) {
    const bool is_common = key.name == "at" || key.name == "event";
    if (is_common || !fields.Has(key.name) || std::ranges::count(known.keys, key.name) > 0)
      continue;
    if (std::ranges::count(kOfClocks, key.name) > 0) {
      if (known.at_spanner) continue;
      problems_.AddAtKey(*fields.Find(key.name), Cat(WordOf(event), " has no ", Quoted(key.name),
                                                     ": it reads no clock of Spanner"));
      continue;
    }
    const std::string takes = known.keys.empty() ? "nothing more" : ListOf(known.keys);
    problems_.AddAtKey(*fields.Find(key.name), Cat(WordOf(event), " has no ", Quoted(key.name),
                                                   "; it is named by: ", takes, "."));
  }
  for (const std::string_view key : known.keys.first(known.required)) {
    if (fields.Has(key)) continue;
    problems_.Add(fields.value(), Cat(WordOf(event), " needs the key ", Quoted(key)));
  }
  if (event == ScheduledEvent::kCommitBecomesVisible && !fields.Has("node") &&
      !fields.Has("fault")) {
    problems_.Add(fields.value(), Cat(WordOf(event),
                                      " needs the key \"node\", or \"fault\" for the commit of an "
                                      "operator"));
  }
}

void ScheduleReader::CheckTime(const ObjectFields& fields, ScheduleEntry& entry) {
  const std::optional<Duration> at = fields.Time("at");
  if (!at) return;
  entry.at = Instant{at->ns};
  const JsonValue value = *fields.Find("at");
  if (*entry.at < last_) {
    problems_.Add(value, Cat("the entry before it is at ", FormatDuration(last_ - Instant{}),
                             ": entries stand in the order in which they happen"));
  }
  if (known_.duration && *at >= scenario_.duration) {
    problems_.Add(value,
                  Cat("can never happen: the run ends at ", FormatDuration(scenario_.duration)));
  }
  last_ = std::max(last_, *entry.at);
}

void ScheduleReader::ReadNode(const ObjectFields& fields, ScheduleEntry& entry) {
  const std::optional<std::string> name = fields.Name("node");
  if (!name || !known_.node_names) return;
  if (const auto found = nodes_.find(*name); found != nodes_.end()) {
    entry.node = found->second;
  } else {
    problems_.Add(*fields.Find("node"), UnknownWord("node", *name, node_names_));
  }
}

void ScheduleReader::ReadLock(const ObjectFields& fields, ScheduleEntry& entry) {
  const std::optional<std::string> name = fields.Name("lock");
  if (!name || !known_.locks) return;
  const auto found = std::ranges::find(scenario_.locks, *name);
  if (found == scenario_.locks.end()) {
    problems_.Add(*fields.Find("lock"), UnknownWord("lock", *name, Views(scenario_.locks)));
    return;
  }
  entry.lock = static_cast<uint16_t>(found - scenario_.locks.begin());
}

void ScheduleReader::ReadStep(const ObjectFields& fields, ScheduleEntry& entry) {
  entry.step = fields.Step("step", "step");
  if (!entry.step || known_.protocol == nullptr) return;
  const Words words = StepWordsOf(*known_.protocol);
  const std::string_view word = WordOf(*entry.step);
  if (std::ranges::find(words, word) != words.end()) return;
  problems_.Add(*fields.Find("step"),
                Cat("can never happen: ", NoStepText(*known_.protocol, word)));
}

void ScheduleReader::ReadFault(const ObjectFields& fields, ScheduleEntry& entry) {
  entry.fault = Narrow<uint32_t>(fields.Integer("fault"));
  if (!entry.fault || !faults_are_good_ || *entry.fault < scenario_.faults.size()) return;
  const size_t count = scenario_.faults.size();
  problems_.Add(*fields.Find("fault"),
                count == 0
                    ? std::string("there is no such fault: \"faults\" has none")
                    : Cat("there is no such fault: they are counted from 0, and the last one "
                          "is ",
                          std::to_string(count - 1)));
  entry.fault.reset();
}

void ScheduleReader::ReadClocks(const ObjectFields& fields, ScheduleEntry& entry) {
  entry.clocks = {.truetime = fields.Time("truetime_error"),
                  .current_timestamp = fields.Time("current_timestamp_error")};
  if (!entry.clocks.truetime || !known_.spanner) return;
  const TrueTimeSpec& truetime = scenario_.spanner.truetime;
  const bool is_outside = Duration{std::abs(entry.clocks.truetime->ns)} > truetime.epsilon;
  if (!truetime.truthful || !is_outside) return;
  problems_.Add(*fields.Find("truetime_error"),
                Cat("true time would lie outside of the interval: \"epsilon\" is ",
                    FormatDuration(truetime.epsilon)));
}

void ScheduleReader::CheckBegins(const ObjectFields& fields, const ScheduleEntry& entry) {
  const auto [before, is_first] = begun_.emplace(*entry.fault, entry.line);
  if (!is_first) {
    problems_.Add(*fields.Find("fault"), Cat("the entry on line ", std::to_string(before->second),
                                             " begins this fault already"));
  }
  if (!faults_are_good_) return;
  const FaultSpec& fault = scenario_.faults[*entry.fault];
  if (StrikesOneCall(fault.what)) return;
  for (const std::string_view key : kOfStrike) {
    if (key == "fault" || !fields.Has(key)) continue;
    problems_.AddAtKey(*fields.Find(key), Cat(Quoted(key), " says which call a fault strikes, and ",
                                              FaultKindText(fault.kind()), " strikes no call"));
  }
}

// It would strike while the schedule still says what happens, and so never in time.
void ScheduleReader::CheckFaultsBeside(const JsonValue& schedule) {
  for (uint32_t i = 0; i < scenario_.faults.size(); ++i) {
    const FaultSpec& fault = scenario_.faults[i];
    const auto* at = std::get_if<Instant>(&fault.trigger);
    if (at == nullptr || *at >= last_ || begun_.contains(i)) continue;
    if (problems_.Full()) return;
    problems_.Add(schedule,
                  Cat("the fault on line ", std::to_string(fault.line), " is due at ",
                      FormatDuration(*at - Instant{}),
                      ", and no entry begins it, though the schedule goes on until ",
                      FormatDuration(last_ - Instant{}), ". It needs an entry { \"event\": ",
                      "\"fault_begins\", \"fault\": ", std::to_string(i), " }, or a later time"));
  }
}

}  // namespace

EventKeys KeysOf(ScheduledEvent event) {
  switch (event) {
    case ScheduledEvent::kCallArrives:
      return {.required = 1, .keys = kOfCall, .at_spanner = true};
    case ScheduledEvent::kReplyArrives:
    case ScheduledEvent::kCallTimesOut:
      return {.required = 1, .keys = kOfCall};
    case ScheduledEvent::kTimerDue:
      return {.required = 1, .keys = kOfTimer};
    case ScheduledEvent::kCommitBecomesVisible:
      return {.required = 0, .keys = kOfCommit, .at_spanner = true};
    case ScheduledEvent::kSpannerLooksAgain:
      return {.required = 0, .keys = {}, .at_spanner = true};
    case ScheduledEvent::kResourceWrite:
      return {.required = 1, .keys = kOfWrite};
    case ScheduledEvent::kNodeStarts:
      return {.required = 1, .keys = kOfStart};
    case ScheduledEvent::kFaultBegins:
      return {.required = 1, .keys = kOfStrike, .at_spanner = true};
    case ScheduledEvent::kFaultEnds:
      return {.required = 1, .keys = kOfFault};
    case ScheduledEvent::kOperatorActs:
      return {.required = 1, .keys = kOfFault, .at_spanner = true};
    case ScheduledEvent::kReleaseHeard:
      return {.required = 1, .keys = kOfRelease};
  }
  return {};
}

std::vector<bool> FaultsOfSchedule(const Scenario& scenario) {
  if (scenario.schedule.empty()) return {};
  std::vector<bool> begun(scenario.faults.size());
  for (const ScheduleEntry& entry : scenario.schedule) {
    if (entry.event == ScheduledEvent::kFaultBegins) begun[*entry.fault] = true;
  }
  return begun;
}

void ReadSchedule(const ObjectFields& file, const Known& known, bool faults_are_good,
                  Scenario& scenario, Problems& problems) {
  const size_t before = problems.size();
  ScheduleReader reader(known, faults_are_good, scenario, problems);
  for (const JsonValue& entry : file.Entries("schedule")) {
    if (problems.Full()) return;
    reader.Read(entry);
  }
  if (problems.size() > before || !faults_are_good || !file.Has("schedule")) return;
  reader.CheckFaultsBeside(*file.Find("schedule"));
}

}  // namespace whorl::sim
