#include <iostream>
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "base/text.h"
#include "base/time.h"
#include "cli/exit_code.h"
#include "cli/grpc/commands.h"
#include "cli/output.h"
#include "cli/text_table.h"
#include "live/backend.h"
#include "live/real_takeover.h"
#include "sim/report/json_print.h"

namespace whorl::cli {
namespace {

using live::ComparedTakeovers;
using live::CompareTakeovers;
using live::CountInMiddle;
using live::TakeoverPlan;
using live::WhyNotForReal;
using sim::Distribution;
using sim::Json;
using sim::TakeoverCase;
using sim::TakeoverResult;

constexpr uint64_t kRuns = 20;
constexpr Duration kLease = Seconds(5);

std::string SecondsOf(const std::optional<int64_t>& ns) {
  return ns ? FormatSeconds({*ns}, 3) : "-";
}

bool GrantIsOfInterest(const TakeoverCase& takeover_case) {
  return sim::RulesOf(takeover_case.protocol).leads_a_lease_late;
}

void AddRow(const TakeoverResult& result, std::string_view on, std::string what,
            const Distribution& time, std::string in_middle, TextTable& table) {
  const auto at = [&](size_t percent) -> std::optional<int64_t> {
    if (time.percentiles.size() <= percent) return std::nullopt;
    return time.percentiles[percent];
  };
  table.Add({std::move(what), result.measured.protocol, FormatDuration(result.measured.lease),
             std::to_string(result.measured.followers), std::string(on),
             GroupedText(static_cast<int64_t>(result.runs)), GroupedText(time.count),
             GroupedText(result.kept), SecondsOf(at(0)), SecondsOf(time.p50.value),
             SecondsOf(time.p90.value), SecondsOf(time.p99.value), SecondsOf(time.max),
             std::move(in_middle)});
}

void AddRows(const ComparedTakeovers& compared, std::string_view on, TextTable& table) {
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
  TakeoverOn(const TakeoverRequest& request, std::vector<TakeoverCase> cases)
      : request_(request), cases_(std::move(cases)) {}

  int Run() {
    if (!request_.out.empty()) {
      if (absl::Status opened = out_.Open(request_.out); !opened.ok()) {
        return End(opened);
      }
    }
    for (const TakeoverCase& one : cases_) {
      if (absl::Status measured = Measure(one); !measured.ok()) return End(measured);
    }
    Progress::Clear();
    if (request_.json) {
      std::cout << lines_;
    } else {
      table_.Print(std::cout);
      std::cout << remarks_
                << "Times from the fault to the new leader's first write. 5-95 %: how many "
                   "real ones lie between those\nof the simulated runs; nine in ten are to be "
                   "expected.\n";
    }
    if (!request_.out.empty()) {
      out_.stream() << lines_;
      if (absl::Status written = out_.Commit(); !written.ok()) return End(written);
    }
    return End(FlushStdout());
  }

 private:
  absl::Status Measure(const TakeoverCase& one) {
    const TakeoverPlan plan{.on = *request_.on,
                            .seed = request_.seed,
                            .runs = request_.runs.value_or(kRuns),
                            .jobs = static_cast<int>(request_.Jobs()),
                            .program = request_.program};
    absl::StatusOr<ComparedTakeovers> compared = CompareTakeovers(plan, one, [&](uint64_t runs) {
      if (progress_.IsDue()) {
        progress_.Show(Cat(one.Text(), ": ", std::to_string(runs), " of ",
                           std::to_string(plan.runs), " runs"));
      }
    });
    if (!compared.ok()) return compared.status();
    AddRows(*compared, WordOf(*request_.on), table_);
    lines_ += LineOf(*compared, WordOf(*request_.on));
    if (compared->with_holes > 0) {
      remarks_ += Cat(one.Text(), ": of ", CountText(compared->with_holes, "run", "runs"),
                      " not all was seen; not counted\n");
    }
    const int64_t missing = compared->real.first_write.missing + compared->real.spoilt;
    if (missing > 0) {
      remarks_ += Cat(one.Text(), ": in ", CountText(missing, "run", "runs"),
                      " nobody else had written at the end, or the leader had changed before the "
                      "fault; not counted\n");
    }
    return absl::OkStatus();
  }

  const TakeoverRequest& request_;
  const std::vector<TakeoverCase> cases_;
  Progress progress_;
  OutputFile out_;
  TextTable table_{{"fault", "protocol", "lease", "followers", "on", "runs", "takeovers", "kept",
                    "least s", "p50 s", "p90 s", "p99 s", "max s", "5-95 %"},
                   5};
  std::string lines_;
  std::string remarks_;
};

}  // namespace

int RunTakeoverOn(TakeoverRequest request) {
  if (request.protocols.empty()) request.protocols = {"fenced_lease", "spindle_v2"};
  if (request.faults.empty()) request.faults = {sim::TakeoverFault::kCrash};
  if (request.leases.empty()) request.leases = {kLease};
  const auto refuse = [](const std::vector<std::string>& errors) {
    for (const std::string& error : errors) Complain(error);
    return !errors.empty();
  };
  if (refuse(Contradictions(request))) return kBadInput;
  std::vector<std::string> errors;
  sim::TakeoverCases cases = sim::CasesOf(GridOf(request));
  for (const TakeoverCase& one : cases.cases) {
    const std::string why = WhyNotForReal(one);
    if (!why.empty()) errors.push_back(Cat(one.Text(), " cannot be made real: ", why));
  }
  if (refuse(errors)) return kBadInput;
  for (const sim::LeftOut& left : cases.left_out) {
    std::cerr << "left out: " << left.left_out.Text() << ": " << left.why << '\n';
  }
  return TakeoverOn(request, std::move(cases.cases)).Run();
}

}  // namespace whorl::cli
