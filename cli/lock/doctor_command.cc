#include <algorithm>
#include <iostream>
#include <memory>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "base/time.h"
#include "cli/exit_code.h"
#include "cli/interrupt.h"
#include "cli/lock/commands.h"
#include "cli/lock/doctor.h"
#include "cli/lock/options.h"
#include "cli/output.h"
#include "sim/report/json_print.h"

namespace whorl::cli {
namespace {

using sim::Json;

constexpr std::string_view kDoctorFooter = R"(Examples:
  whorl lock doctor
  whorl lock doctor --lease 5s --for 60s
  whorl lock doctor --database-role locker
  whorl lock doctor --protocol spindle_v2 --json

Checks whether Spanner answers, the table is as the protocol needs it, this account or the role of --database-role
has each right that locks need, how far this machine's clock is off and how long a write takes, and says which
lease is the shortest that makes sense. Rights are tried by statements that change no row. Writes are measured on a
row of their own, which is deleted afterwards, for protocols whose rows anybody can make and delete (fenced_lease).
Exit codes: 0 all is well; 1 something is to be fixed, and how is said; 2 bad input or usage; 3 no answer.)";

std::string_view WordFor(Health health) {
  switch (health) {
    case Health::kOk:
      return "ok";
    case Health::kNote:
      return "note";
    case Health::kBad:
      return "FIX";
  }
  return "";
}

void PrintChecks(const std::vector<Check>& checks) {
  constexpr size_t kWidth = 6;
  for (const Check& check : checks) {
    std::string word(WordFor(check.health));
    word.resize(kWidth, ' ');
    std::cout << word << check.what << ": " << check.found << '\n';
    if (!check.remedy.empty()) std::cout << std::string(kWidth, ' ') << check.remedy << '\n';
  }
}

Json ChecksJson(const LockRequest& request, const std::vector<Check>& checks) {
  Json all = Json::array();
  for (const Check& check : checks) {
    Json json = {{"what", check.what}, {"health", WordFor(check.health)}, {"found", check.found}};
    if (!check.remedy.empty()) json["remedy"] = check.remedy;
    all.push_back(std::move(json));
  }
  return {{"format", "whorl-doctor"},
          {"version", 2},
          {"protocol", request.protocol},
          {"table", request.TableName()},
          {"checks", std::move(all)}};
}

int RunDoctor(LockRequest& request) {
  if (const std::string wrong = CompleteWithTable(request); !wrong.empty()) {
    Complain(wrong);
    return kBadInput;
  }
  HandleSignals();
  std::vector<Check> checks;
  const Status status = CheckLocks(request, checks);
  if (!status.ok()) {
    Complain(Explain(request, status));
    return status.code == Code::kInvalidArgument ? kBadInput : kCannotRun;
  }
  if (request.json) {
    std::cout << sim::DumpJson(ChecksJson(request, checks), 2) << '\n';
  } else {
    PrintChecks(checks);
  }
  const bool is_well =
      std::ranges::none_of(checks, [](const Check& check) { return check.health == Health::kBad; });
  return End(FlushStdout(), is_well ? kAsExpected : kExpectationFailed);
}

}  // namespace

SubCommand AddDoctorCommand(CLI::App& lock) {
  CLI::App* app =
      lock.add_subcommand("doctor", "Say whether locks would work here, and with which lease");
  const auto request = std::make_shared<LockRequest>();
  AddWhere(*app, request);
  AddLease(*app, request, "lease to judge (default: none; the shortest that makes sense is said)");
  AddTime(*app, "--for", request->measured, Milliseconds(100),
          "time to measure writes (default: 5s)");
  app->add_flag("--json", request->json, "print one JSON document");
  app->footer(std::string(kDoctorFooter));
  return {.app = app, .run = [request] { return RunDoctor(*request); }};
}

}  // namespace whorl::cli
