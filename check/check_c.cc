#include "check/check_c.h"

#include <cstdlib>
#include <cstring>
#include <map>
#include <memory>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "base/text.h"
#include "check/check.h"
#include "check/input.h"
#include "check/json_text.h"
#include "check/log_lines.h"
#include "check/no_protocol.h"
#include "check/record_reader.h"
#include "check/relative_time.h"
#include "check/verdict_json.h"

using whorl::Cat;
using whorl::ProtocolInfo;
using whorl::Quoted;
namespace check = whorl::check;

struct whorl_check {
  struct File {
    File(const whorl_check& of, const char* name)
        : input(of.protocol, of.reading), place{.file = name, .line = 0} {}

    check::Input input;
    check::Place place;
  };

  whorl_check(const ProtocolInfo& of, std::optional<check::LogPattern> read_by,
              check::InputOptions read_as, check::CheckOptions options)
      : protocol(of), reading(std::move(read_as)), checker(of, options) {
    if (!read_by) return;
    pattern = *std::move(read_by);
    reading.pattern = &pattern;
  }

  const ProtocolInfo& protocol;
  check::LogPattern pattern;  // if `reading` names one
  check::InputOptions reading;
  check::Checker checker;
  check::TimeOrigins origins;
  std::map<std::string, File> files;
  bool has_ended = false;
};

namespace {

char* Given(const std::string& text) {
  auto* copy = static_cast<char*>(std::malloc(text.size() + 1));
  if (copy != nullptr) std::memcpy(copy, text.c_str(), text.size() + 1);
  return copy;
}

// A ready mapping, a file with one, or the mapping itself. Throws Wrong.
check::LogPattern PatternOf(const check::Node& member) {
  check::LogPattern pattern;
  if (member.IsObject()) {
    const std::string wrong = pattern.Parse(member);
    if (!wrong.empty()) throw check::Wrong{Cat("\"pattern\": ", wrong)};
    return pattern;
  }
  if (!member.IsString()) {
    throw check::Wrong{"\"pattern\" is the name of a ready mapping, a file with one, or an object"};
  }
  const std::string wrong = check::ReadPattern(std::string(member.text), pattern);
  if (!wrong.empty()) throw check::Wrong{Cat("\"pattern\": ", wrong)};
  return pattern;
}

// Throws Wrong.
std::unique_ptr<whorl_check> Make(const char* options) {
  check::JsonText json;
  const check::Node* object = json.Parse(options == nullptr ? "" : options);
  if (object == nullptr || !object->IsObject()) throw check::Wrong{"options are a JSON object"};
  check::InputOptions reading;
  reading.wanted.only_table = std::make_shared<std::string>();
  check::CheckOptions judging;
  const ProtocolInfo* protocol = nullptr;
  std::optional<check::LogPattern> pattern;
  for (const check::Node& member : *object) {
    const std::string_view name = member.name;
    if (name == "pattern") {
      pattern = PatternOf(member);
      continue;
    }
    const std::string_view text = check::TextIn(*object, name);
    if (name == "protocol") {
      protocol = check::FindProtocolOrNone(text);
      if (protocol == nullptr) throw check::Wrong{Cat("there is no protocol ", Quoted(text))};
    } else if (name == "lock") {
      reading.wanted.lock = text;
    } else if (name == "table") {
      reading.wanted.table = text;
    } else if (name == "format") {
      reading.format = whorl::ParseWord<check::InputFormat>(text);
      if (!reading.format) {
        throw check::Wrong{Cat("\"format\" is json, edn, csv or log, not ", Quoted(text))};
      }
    } else if (name == "lease") {
      judging.lease = reading.wanted.jepsen.lease = check::ParseLength(text, name);
    } else if (name == "clock_error") {
      judging.clock_error = check::ParseLength(text, name);
    } else if (name == "window") {
      judging.window = check::ParseLength(text, name);
    } else {
      throw check::Wrong{Cat("there is no option ", Quoted(name))};
    }
  }
  if (protocol == nullptr || !check::CanJudge(*protocol)) {
    throw check::Wrong{"options want a \"protocol\" whose rows name their holder, or \"none\""};
  }
  if (reading.format == check::InputFormat::kLog && !pattern) {
    throw check::Wrong{"the format \"log\" wants \"pattern\""};
  }
  return std::make_unique<whorl_check>(*protocol, std::move(pattern), std::move(reading), judging);
}

}  // namespace

whorl_check* whorl_check_new(const char* options, char** error) {
  try {
    return Make(options).release();
  } catch (const check::Wrong& wrong) {
    if (error != nullptr) *error = Given(wrong.text);
    return nullptr;
  }
}

char* whorl_check_add_line(whorl_check* check, const char* file, const char* line) {
  if (check->has_ended) return Given("the verdict has been given");
  whorl_check::File& at = check->files.try_emplace(file, *check, file).first->second;
  ++at.place.line;
  std::vector<check::Operation> operations;
  std::string wrong = at.input.Read(line, at.place, operations);
  check::RecordCounts& counts = check->reading.wanted.Counts();
  for (check::Operation& operation : operations) {
    std::string mixed;
    if (check->origins.Refuses(operation, mixed)) {
      if (!mixed.empty()) counts.Refuse(std::move(mixed));
      continue;
    }
    counts.CountUsed(operation);
    check->checker.Add(std::move(operation));
  }
  if (!wrong.empty()) counts.Refuse(std::move(wrong));
  const std::vector<std::string> refused = counts.TakeRefused();
  if (refused.empty()) return nullptr;
  check->checker.AddUnread(at.place);
  return Given(refused.front());
}

char* whorl_check_verdict(whorl_check* check) {
  if (std::exchange(check->has_ended, true)) return nullptr;
  for (auto& [name, file] : check->files) {
    if (!file.input.Finish().empty()) check->checker.AddUnread(file.place);
  }
  const check::RecordCounts& counts = check->reading.wanted.Counts();
  AddUnclear(counts, check->checker);
  check::HistoryVerdict verdict = check->checker.Verdict();
  verdict.records = counts;
  const check::Wanted& wanted = check->reading.wanted;
  for (std::string& text : wanted.jepsen_counts->Assumptions(wanted.jepsen.lease.has_value())) {
    verdict.assumptions.push_back(std::move(text));
  }
  return Given(whorl::sim::DumpJson(check::VerdictJson(verdict)));
}

void whorl_check_free(whorl_check* check) { delete check; }
void whorl_check_free_text(char* text) { std::free(text); }
