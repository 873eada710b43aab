#include "live/takeover_on.h"

#include <algorithm>
#include <iostream>
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "cli/exit_code.h"
#include "cli/interrupt.h"
#include "cli/option_values.h"
#include "cli/output.h"
#include "cli/text_table.h"
#include "live/live_options.h"
#include "live/real_takeover.h"
#include "sim/report/json_print.h"
#include "sim/scenario/error_text.h"
#include "sim/scenario/number_text.h"

namespace whorl::live {
namespace {

using cli::Complain;
using sim::Cat;
using sim::Distribution;
using sim::Json;
using sim::TakeoverCase;
using sim::TakeoverResult;

constexpr uint64_t kRuns = 20;
constexpr Duration kLease = Seconds(5);
// Runs at the same time for each core: they mostly wait, but what they wait for is to be in time.
constexpr uint64_t kJobsOfCore = 2;

constexpr std::string_view kFooter =
    R"(The worlds of `whorl bench takeover`, on real processes: a leader in its steady state, its
followers, and a fault at an instant drawn by the seed, until the new leader has written; beside them
1,000 simulated runs. A real run takes up to twelve leases.

Examples:
  whorl bench takeover --on emulator
  whorl bench takeover --on server --protocol fenced_lease --fault crash,cut_off --lease 2s --runs 5

Exit codes: 0 measured; 2 bad input or usage, or what cannot be made real; 3 could not run;
130 interrupted.)";

std::string SecondsOf(const std::optional<int64_t>& ns) {
  return ns ? sim::SecondsText({*ns}, 3) : "-";
}

// spindle_v2 is told that it leads a lease after it has won.
bool GrantIsOfInterest(const TakeoverCase& takeover_case) {
  return takeover_case.protocol == "spindle_v2";
}

void AddRow(const TakeoverResult& result, std::string_view on, std::string what,
            const Distribution& time, std::string in_middle, cli::TextTable& table) {
  const auto at = [&](size_t percent) -> std::optional<int64_t> {
    if (time.percentiles.size() <= percent) return std::nullopt;
    return time.percentiles[percent];
  };
  table.Add({std::move(what), result.measured.protocol, FormatDuration(result.measured.lease),
             std::to_string(result.measured.followers), std::string(on),
             sim::GroupedText(static_cast<int64_t>(result.runs)), sim::GroupedText(time.count),
             sim::GroupedText(result.kept), SecondsOf(at(0)), SecondsOf(time.p50.value),
             SecondsOf(time.p90.value), SecondsOf(time.p99.value), SecondsOf(time.max),
             std::move(in_middle)});
}

void AddRows(const ComparedTakeovers& compared, std::string_view on, cli::TextTable& table) {
  const auto middle = [](const std::vector<int64_t>& values, const Distribution& simulated) {
    return Cat(std::to_string(CountInMiddle(values, simulated)), " of ",
               std::to_string(values.size()));
  };
  const TakeoverResult& real = compared.real;
  const TakeoverResult& simulated = compared.simulated;
  const std::string fault(WordOf(real.measured.fault));
  AddRow(real, on, fault, real.first_write,
         middle(compared.real_first_writes, simulated.first_write), table);
  AddRow(simulated, "simulated", fault, simulated.first_write, "", table);
  if (!GrantIsOfInterest(real.measured)) return;
  constexpr const char* kGrant = "  (token UPDATE)";
  AddRow(real, on, kGrant, real.grant, middle(compared.real_grants, simulated.grant), table);
  AddRow(simulated, "simulated", kGrant, simulated.grant, "", table);
}

Json JsonOf(const Distribution& time) {
  const auto number = [](const std::optional<int64_t>& ns) { return ns ? Json(*ns) : Json(); };
  return {{"count", time.count},
          {"missing", time.missing},
          {"p50_ns", number(time.p50.value)},
          {"p90_ns", number(time.p90.value)},
          {"p99_ns", number(time.p99.value)},
          {"max_ns", number(time.max)}};
}
Json JsonOf(const TakeoverResult& result) {
  return {{"runs", result.runs},
          {"kept", result.kept},
          {"spoilt", result.spoilt},
          {"first_write", JsonOf(result.first_write)},
          {"grant", JsonOf(result.grant)}};
}
std::string LineOf(const ComparedTakeovers& compared, std::string_view on) {
  Json line = {{"case", compared.real.measured.Text()},
               {"on", std::string(on)},
               {"real", JsonOf(compared.real)},
               {"simulated", JsonOf(compared.simulated)}};
  line["real"]["with_holes"] = compared.with_holes;
  line["real"]["first_writes_ns"] = compared.real_first_writes;
  line["real"]["grants_ns"] = compared.real_grants;
  return sim::DumpJson(line, -1) + "\n";
}

class TakeoverOn {
 public:
  TakeoverOn(const TakeoverOnRequest& request, std::vector<TakeoverCase> cases)
      : request_(request), cases_(std::move(cases)) {}

  int Run() {
    if (!request_.asked.out.empty()) {
      if (absl::Status opened = out_.Open(request_.asked.out); !opened.ok()) {
        return cli::End(opened);
      }
    }
    for (const TakeoverCase& one : cases_) {
      if (absl::Status measured = Measure(one); !measured.ok()) return cli::End(measured);
    }
    cli::Progress::Clear();
    if (request_.asked.json) {
      std::cout << lines_;
    } else {
      table_.Print(std::cout);
      std::cout << remarks_
                << "Times from the fault to the new leader's first write. 5-95 %: how many "
                   "real ones lie between those\nof the simulated runs; nine in ten are to be "
                   "expected.\n";
    }
    if (!request_.asked.out.empty()) {
      out_.stream() << lines_;
      if (absl::Status written = out_.Commit(); !written.ok()) return cli::End(written);
    }
    return cli::End(cli::FlushStdout());
  }

 private:
  absl::Status Measure(const TakeoverCase& one) {
    const TakeoverPlan plan{.on = request_.on,
                            .seed = request_.asked.seed,
                            .runs = request_.asked.runs.value_or(kRuns),
                            .jobs = static_cast<int>(request_.asked.jobs)};
    absl::StatusOr<ComparedTakeovers> compared = CompareTakeovers(plan, one, [&](uint64_t runs) {
      if (progress_.IsDue()) {
        progress_.Show(Cat(one.Text(), ": ", std::to_string(runs), " of ",
                           std::to_string(plan.runs), " runs"));
      }
    });
    if (!compared.ok()) return compared.status();
    AddRows(*compared, WordOf(request_.on), table_);
    lines_ += LineOf(*compared, WordOf(request_.on));
    if (compared->with_holes > 0) {
      remarks_ += Cat(one.Text(), ": of ", sim::CountText(compared->with_holes, "run", "runs"),
                      " not all was seen; not counted\n");
    }
    const int64_t missing = compared->real.first_write.missing + compared->real.spoilt;
    if (missing > 0) {
      remarks_ += Cat(one.Text(), ": in ", sim::CountText(missing, "run", "runs"),
                      " nobody else had written at the end, or the leader had changed before the "
                      "fault; not counted\n");
    }
    return absl::OkStatus();
  }

  const TakeoverOnRequest& request_;
  const std::vector<TakeoverCase> cases_;
  cli::Progress progress_;
  cli::OutputFile out_;
  cli::TextTable table_{{"fault", "protocol", "lease", "followers", "on", "runs", "takeovers",
                         "kept", "least s", "p50 s", "p90 s", "p99 s", "max s", "5-95 %"},
                        5};
  std::string lines_;
  std::string remarks_;
};

}  // namespace

void AddTakeoverOnOptions(CLI::App& app, const std::shared_ptr<TakeoverOnRequest>& request) {
  const std::shared_ptr<cli::TakeoverRequest> asked(request, &request->asked);
  cli::AddTakeoverOptions(app, asked);
  for (const char* option : {"--all", "--csv", "--plot"}) app.remove_option(app.get_option(option));
  const auto describe = [&](const char* option, const std::string& text) {
    app.get_option(option)->description(text);
  };
  describe("--protocol", "whose locks (default: fenced_lease,spindle_v2)");
  describe("--fault", "what strikes, as without --on (default: crash)");
  describe("--lease", "leases (default: 5s)");
  describe("--runs", "real runs of each case (default: 20)");
  describe("--jobs", "runs at the same time, each with a Spanner of its own (default: two a core)");
  asked->jobs = std::max<uint64_t>(1, cli::DefaultJobs() * kJobsOfCore);
  AddOnOption(app, [request](BackendKind kind) { request->on = kind; });
  app.footer(std::string(kFooter));
}

int RunTakeoverOn(TakeoverOnRequest request) {
  cli::TakeoverRequest& asked = request.asked;
  if (asked.protocols.empty()) asked.protocols = {"fenced_lease", "spindle_v2"};
  if (asked.faults.empty()) asked.faults = {sim::TakeoverFault::kCrash};
  if (asked.leases.empty()) asked.leases = {kLease};
  std::vector<std::string> errors = Contradictions(asked);
  sim::TakeoverCases cases = sim::CasesOf(GridOf(asked));
  for (const TakeoverCase& one : cases.cases) {
    const std::string why = WhyNotForReal(one);
    if (!why.empty()) errors.push_back(Cat(one.Text(), " cannot be made real: ", why));
  }
  for (const std::string& error : errors) Complain(error);
  if (!errors.empty()) return cli::kBadInput;
  for (const sim::LeftOut& left : cases.left_out) {
    std::cerr << "left out: " << left.left_out.Text() << ": " << left.why << '\n';
  }
  return TakeoverOn(request, std::move(cases.cases)).Run();
}

}  // namespace whorl::live
