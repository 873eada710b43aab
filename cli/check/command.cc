#include "cli/check/command.h"

#include <algorithm>
#include <filesystem>
#include <functional>
#include <iostream>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <system_error>
#include <utility>
#include <vector>

#include "absl/status/status.h"
#include "base/text.h"
#include "check/history_report.h"
#include "check/infer.h"
#include "check/no_protocol.h"
#include "check/reproduce.h"
#include "cli/check/judgement.h"
#include "cli/check/options.h"
#include "cli/check/print.h"
#include "cli/check/request.h"
#include "cli/check/source.h"
#include "cli/exit_rules.h"
#include "cli/inputs.h"
#include "cli/interrupt.h"
#include "cli/junit.h"
#include "cli/output.h"
#include "cli/page.h"
#include "sim/scenario/fields.h"

namespace whorl::cli {
namespace {

using check::HistoryVerdict;
using check::InvariantResult;
using sim::Json;
using sim::Verdict;

const ProtocolInfo* ChooseProtocol(const CheckRequest& request) {
  std::vector<std::string_view> names;
  for (const ProtocolInfo& protocol : Protocols()) {
    if (check::CanJudge(protocol)) names.push_back(protocol.name);
  }
  if (request.protocol.empty()) {
    Complain(Cat("check wants --protocol: ", ListOf(names), "; or ", check::kNoProtocolName,
                 ", of locks that are none of whorl's: by what their processes logged, with "
                 "nothing promised"));
    return nullptr;
  }
  names.push_back(check::kNoProtocolName);
  const ProtocolInfo* protocol = check::FindProtocolOrNone(request.protocol);
  if (protocol == nullptr) {
    Complain(sim::UnknownWord("protocol", request.protocol, names));
    return nullptr;
  }
  if (!check::CanJudge(*protocol)) {
    Complain(
        Cat("rows of ", protocol->name, " do not name their holder; known are ", ListOf(names)));
    return nullptr;
  }
  return protocol;
}

bool Opens(const std::string& path, Source& source) {
  const absl::Status opened = source.Open(path);
  if (!opened.ok()) Complain(std::string(opened.message()));
  return opened.ok();
}

// A ready mapping of a log, or a file with one.
bool ReadPattern(const CheckRequest& request, check::LogPattern& pattern) {
  if (request.pattern.empty()) {
    if (request.format != check::InputFormat::kLog) return true;
    Complain("--format log wants --pattern");
    return false;
  }
  const std::string wrong = check::ReadPattern(request.pattern, pattern);
  if (!wrong.empty()) Complain(wrong);
  return wrong.empty();
}

// What is made from a history beside its verdict: a scenario that may reproduce it, and its report.
struct Products {
  std::optional<check::Reproduction> reproduction;
  std::optional<check::HistoryReport> report;
  absl::Status written = absl::OkStatus();
};

// If there is nothing to make them from, says so and returns nothing.
std::optional<Products> Make(const CheckRequest& request, const ProtocolInfo& protocol,
                             const Judgement& judgement, const HistoryVerdict& verdict) {
  Products products;
  if (!request.WantsHistory()) return products;
  std::optional<check::InferredScenario> inferred = check::InferScenario(
      protocol, judgement.history(), judgement.processes(), request.lease, verdict);
  if (!inferred) {
    Complain(
        "no process of the history takes part in a lock: there is no scenario, page, timeline "
        "or explanation of it");
    return std::nullopt;
  }
  if (request.WantsReport()) {
    products.report = Reported(request, protocol, judgement, *inferred, verdict);
  }
  if (!request.html_path.empty()) {
    products.written = WriteHistoryPage(request.html_path, products.report->page);
  }
  if (request.scenario_path.empty() || !products.written.ok()) return products;
  products.reproduction = check::Reproduce(std::move(*inferred), verdict);
  products.written = WriteScenario(request.scenario_path, products.reproduction->scenario);
  return products;
}

void Print(const CheckRequest& request, const ProtocolInfo& protocol, const Judgement& judgement,
           const HistoryVerdict& verdict, const Products& products) {
  const auto& [reproduction, report, written] = products;
  if (request.json) {
    Json json = VerdictDocument(verdict, protocol, request, judgement.errors());
    if (reproduction) json["scenario"] = ReproductionJson(request.scenario_path, *reproduction);
    std::cout << sim::DumpJson(json, 2) << '\n';
    return;
  }
  PrintVerdict(verdict, protocol, *request.exits);
  if (report && request.timeline) PrintTimeline(*report);
  if (report && request.explain) PrintStory(*report, verdict);
  if (reproduction && written.ok()) PrintReproduction(request.scenario_path, *reproduction);
}

std::string DatabaseRefusal(const DatabaseRequest& database) {
  if (database.follow && database.stream.empty()) {
    return "--follow goes on with a change stream: which one? --stream NAME";
  }
  if (database.every && !database.stream.empty()) {
    return "--every says how often the table is read, and a change stream has all that happened";
  }
  if (database.every && *database.every < Milliseconds(1))
    return "--every is a millisecond or more";
  if (database.follow && database.to) return "--follow has no end, and --to says one";
  if (database.from && database.to && *database.from > *database.to) {
    return "--from is later than --to";
  }
  return {};
}

// What needs a protocol and is asked for without one; empty if there is nothing.
std::string NoProtocolRefusal(const CheckRequest& request) {
  if (request.protocol != check::kNoProtocolName) return {};
  if (request.database.IsRead() || !request.table.empty()) {
    return "--protocol none knows no table, and reads none: files with what processes logged";
  }
  if (!request.scenario_path.empty()) {
    return "--scenario writes a scenario of a protocol, and --protocol none names none";
  }
  if (request.exits->promised_only) {
    return "--promised ends with 1 for what the protocol promises, and --protocol none promises "
           "nothing";
  }
  return {};
}

// What is wrong with the request, before anything is read; empty if nothing is.
std::string Refusal(const CheckRequest& request) {
  if (request.files.empty() && !request.database.IsRead()) {
    return "check wants the files of a history, -, --stream or --database (whorl check --help has "
           "examples)";
  }
  if (std::string wrong = DatabaseRefusal(request.database); !wrong.empty()) return wrong;
  if (std::string wrong = NoProtocolRefusal(request); !wrong.empty()) return wrong;
  if (!request.resume_path.empty()) {
    if (request.database.stream.empty() || !request.files.empty() || request.WantsHistory()) {
      return "--resume keeps where a check of a change stream was, without files and what is made "
             "of a whole history: --stream NAME";
    }
  }
  if (std::ranges::count(request.files, "-") > 1) return "standard input can be read once only";
  if (!request.html_path.empty()) {
    const absl::Status missing = PagesMissing();
    if (!missing.ok()) return std::string(missing.message());
  }
  for (const std::string* output :
       {&request.html_path, &request.scenario_path, &request.junit_path}) {
    std::error_code ignored;  // what is not there is no input
    for (const std::string& file : request.files) {
      if (output->empty() || !std::filesystem::equivalent(*output, file, ignored)) continue;
      return Cat(Printable(*output, 1'000), " is an input, and would be written over");
    }
  }
  return {};
}

int Check(const CheckRequest& request,
          const std::function<int(const CheckRequest&)>& check_database) {
  if (ChooseProtocol(request) == nullptr) return kBadInput;
  if (const std::string wrong = Refusal(request); !wrong.empty()) {
    Complain(wrong);
    return kBadInput;
  }
  return request.database.IsRead() ? check_database(request) : RunCheck(request, nullptr);
}

// A change stream may watch other tables, too.
std::string TableOf(const CheckRequest& request, const ProtocolInfo& protocol) {
  const bool is_said = !request.table.empty() || request.database.stream.empty();
  return is_said ? request.table : std::string(protocol.table);
}

// Ctrl-C is how the input ends.
bool EndsBySignal(const CheckRequest& request) {
  return request.database.follow || std::ranges::find(request.files, "-") != request.files.end();
}

// Whether something of the records could be used.
bool HasUsed(const Judgement& judgement) {
  const check::RecordCounts& counts = judgement.counts();
  return counts.used() > counts.used(check::Used::kProcess) || judgement.was_resumed();
}

// What to do about records that were passed over.
std::string RemedyFor(const std::string& reason, const CheckRequest& request) {
  if (reason == check::kOfAnotherLock) {
    return Cat("; --lock ", request.lock, " is none of them");
  }
  if (reason == check::kOfNoProtocol) return "; --protocol NAME says whose table it is";
  if (reason == check::kOfAnotherTable) return "; --table says which one is judged";
  if (reason == check::kEventNotRecognised) {
    return "; docs/CHECKING.md has the events: leads, lost, works, rests, call, ..";
  }
  if (reason == check::kNoExpression) return "; mend the expressions of --pattern";
  return {};
}

// Why the verdict is not of all that there is; empty if it is.
std::string WhyUnfinished(const CommandResult& result, const Judgement& judgement) {
  if (result.has_failed) return std::string(judgement.failure().message());
  if (result.is_incomplete) return "interrupted before the end of the files";
  return result.has_bad_input ? "some of the input is bad: see standard error" : "";
}

// Says that nothing was read that would give a verdict.
int SayNothing(const CheckRequest& request, const Judgement& judgement) {
  if (!judgement.failure().ok()) {
    return judgement.failure().code() == absl::StatusCode::kInvalidArgument ? kBadInput
                                                                            : kCannotRun;
  }
  const DatabaseRequest& database = request.database;
  const check::RecordCounts& counts = judgement.counts();
  for (const check::RecordCounts::Passed& passed : counts.passed()) {
    Complain(Cat("nothing of what was read could be used: ", check::PassedText(passed),
                 RemedyFor(passed.reason, request)));
  }
  if (counts.passed_count() > 0) return kBadInput;
  Complain(
      !database.IsRead() ? "there is no record of a history in what was read"
      : database.ReadsVersions()
          ? "no row of the lock table changed in that time: is it the table (--table), and was the "
            "time long enough (--from)?"
          : Cat("change stream ", database.stream,
                " has no change of the lock table in "
                "that time: does it watch the table, and was the time long enough?"));
  return kBadInput;
}

}  // namespace

int RunCheck(const CheckRequest& request, std::unique_ptr<RecordStream> stream,
             std::optional<Resumed> resumed) {
  const ProtocolInfo* protocol = check::FindProtocolOrNone(request.protocol);
  check::LogPattern pattern;
  if (!ReadPattern(request, pattern)) return kBadInput;
  const check::InputOptions reading = {.wanted = {.lock = request.lock,
                                                  .table = TableOf(request, *protocol),
                                                  .only_table = std::make_shared<std::string>(),
                                                  .jepsen = request.jepsen},
                                       .format = request.format,
                                       .pattern = request.pattern.empty() ? nullptr : &pattern};
  Judgement judgement(*protocol, request, reading.wanted.counts);
  if (resumed) judgement.GoOn(*std::move(resumed));
  for (const std::string& path : request.clocks) {
    Source clocks;
    if (!Opens(path, clocks)) return kBadInput;
    clocks.ReadAs(*protocol,
                  {.wanted = {.counts = reading.wanted.counts}, .format = {}, .pattern = nullptr});
    while (clocks.Next()) judgement.Take(clocks);
    judgement.End(clocks);
  }
  std::vector<Source> sources(request.files.size());
  for (size_t i = 0; i < sources.size(); ++i) {
    if (!Opens(request.files[i], sources[i])) return kBadInput;
    sources[i].ReadAs(*protocol, reading);
  }
  if (stream != nullptr) {
    sources.emplace_back().Open(std::move(stream));
    sources.back().ReadAs(
        *protocol,
        {.wanted = reading.wanted, .format = check::InputFormat::kJson, .pattern = nullptr});
  }
  JunitFile junit("whorl check");
  if (const absl::Status opened = junit.Open(request.junit_path); !opened.ok()) return End(opened);
  const SignalNotice notice;
  ReadAll(sources, judgement, /*tells=*/!request.json);
  ComplainOfMore(judgement);
  if (!HasUsed(judgement)) return SayNothing(request, judgement);
  HistoryVerdict verdict = judgement.Verdict();
  for (std::string& text :
       reading.wanted.jepsen_counts->Assumptions(request.jepsen.lease.has_value())) {
    verdict.assumptions.push_back(std::move(text));
  }
  if (request.database.ReadsVersions()) {
    verdict.assumptions.emplace_back(
        "a row that reads the same at two times was not changed in between");
  }
  for (const std::string& problem : verdict.problems) Complain(problem);
  const std::optional<Products> products = Make(request, *protocol, judgement, verdict);
  if (!products) return kBadInput;
  Print(request, *protocol, judgement, verdict, *products);
  if (!products->written.ok()) return End(products->written);
  const bool has_found = OutsideDecides(verdict, *request.exits) ||
                         std::ranges::any_of(verdict.invariants, [&](const InvariantResult& found) {
                           return Decides(found, *protocol, *request.exits);
                         });
  if (verdict.only_ends) {
    Complain(
        "leaderships end, or work, and none begins: the lines by which they begin were not "
        "recognised");
  }
  const CommandResult result = {
      .has_found = has_found,
      .has_failed = !judgement.failure().ok(),
      .has_bad_input = judgement.errors() > 0 || !verdict.problems.empty() || verdict.only_ends,
      .is_incomplete = SignalNotice::HasCome() && !EndsBySignal(request)};
  if (junit.is_wanted()) {
    for (JunitTest& test : JunitTestsOf(verdict, *protocol, *request.exits)) {
      junit.Add(std::move(test));
    }
  }
  absl::Status done = junit.Commit(WhyUnfinished(result, judgement));
  if (done.ok() && !request.json) {
    std::cout << '\n' << ClosingText(verdict, *protocol, *request.exits, result) << '\n';
  }
  done.Update(FlushStdout());
  return EndJudged(done, *request.exits, result);
}

SubCommand AddCheckCommand(CLI::App& root, const GrpcCommands& grpc) {
  CLI::App* app =
      root.add_subcommand("check", "Judge what happened: a history that others recorded");
  const auto request = std::make_shared<CheckRequest>();
  return {.app = app,
          .run = [request, read = grpc.check_database] { return Check(*request, read); },
          .make_options = [app, request] { AddCheckOptions(*app, request); }};
}

}  // namespace whorl::cli
