#include "cli/check/options.h"

#include <CLI/Error.hpp>
#include <chrono>
#include <fstream>
#include <iterator>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "check/time_spelling.h"
#include "cli/exit_rules.h"
#include "cli/inputs.h"
#include "cli/junit.h"
#include "cli/option_values.h"
#include "sim/scenario/fields.h"

namespace whorl::cli {
namespace {

constexpr std::string_view kCheckFooter = R"(Examples:
  whorl check examples/check/changes.jsonl --protocol spindle_v2 --lease 10s
  whorl check examples/check/*.jsonl --protocol spindle_v2 --clock-error 50ms
  cat examples/check/*.jsonl | whorl check - --protocol spindle_v2 --json
  whorl check examples/check/*.jsonl --protocol spindle_v2 --html night.html --explain
  whorl check examples/check/*.jsonl --protocol spindle_v2 --scenario night.json
  whorl check examples/check/pod-a.jsonl --protocol none --clock-error 50ms
  whorl check --stream fenced_locks_changes --from 12h --protocol fenced_lease
  whorl check --database projects/p/instances/i/databases/d --from 30m --protocol fenced_lease

Files have data change records of a change stream on the lock table, and what processes log
(docs/CHECKING.md has the schema, and what to log at least): JSON, CSV, OpenTelemetry spans in OTLP's JSON,
Jepsen's histories (EDN, JSON), or with --pattern any log; gzip and zstd are unpacked. They are merged by
time; times that count from the beginning of a test are not merged with others, unless --began says when that
was. From standard input a violation is told as soon as it is certain; Ctrl-C ends the input.
--stream reads the change stream itself, beside files or without (whorl lock init --stream makes one), from
the oldest record that it has until now, or --follow: on, and a violation is told as soon as it is certain.
--database without it reads the versions that the table's rows had, by stale reads: of the last hour, unless the
database keeps them for longer (version_retention_period). It says what they cannot show.
SPANNER_EMULATOR_HOST names an emulator; credentials are Google's Application Default.
With --protocol none, of a lock that is none of whorl's, what processes logged is judged: whether two led or
worked at once, and whether tokens rose. No row is read, and nothing is promised.
Each invariant holds, is violated, is possibly violated (what would decide it is said), or is unknown.
Exit codes: 0 nothing was violated for certain; 1 something was, promised or not (--promised: what the protocol
promises); 2 bad input (a line that cannot be read, a clock that cannot be; the rest is judged) or usage; 3 no
answer: interrupted before the end of the files (--accept-incomplete), the output could not be written, or the
stream not be read to its end. docs/EXIT_CODES.md has all of them.)";

// A time, or how long ago it was.
Timestamp PastOf(std::string_view option, const std::string& text) {
  if (const std::optional<Timestamp> time = ParseRfc3339(text)) return *time;
  const auto now = std::chrono::system_clock::now().time_since_epoch();
  const auto ns = std::chrono::duration_cast<std::chrono::nanoseconds>(now).count();
  return Timestamp::FromUnixNanos(ns) -
         DurationOf(option, text, "a time such as 2026-11-24T02:00:00Z, or 12h for so long ago");
}

void AddDatabase(CLI::App& app, const std::shared_ptr<CheckRequest>& request) {
  DatabaseRequest& database = request->database;
  app.add_option(
         "--database", database.name,
         "read projects/P/instances/I/databases/D: without --stream, the versions that the lock "
         "table's rows had (default, with another option of these: $WHORL_DATABASE)")
      ->type_name("NAME");
  app.add_option("--stream", database.stream, "the change stream that is read")->type_name("NAME");
  AddText(
      app, "--from", "TIME", request,
      [](const std::string& text, CheckRequest& to) { to.database.from = PastOf("--from", text); },
      "since when: a time, or 12h for so long ago (default: the oldest record that the stream has, "
      "or an hour ago)");
  AddText(
      app, "--to", "TIME", request,
      [](const std::string& text, CheckRequest& to) { to.database.to = PastOf("--to", text); },
      "until when, likewise (default: now)");
  AddText(
      app, "--every", "TIME", request,
      [](const std::string& text, CheckRequest& to) {
        to.database.every = DurationOf("--every", text, "5s");
      },
      "of versions: read the table at least so often (default: 5s)");
  app.add_option("--resume", request->resume_path,
                 "of a stream: go on where the check that wrote FILE was, and keep it up to date")
      ->type_name("FILE");
  app.add_flag("--follow", database.follow, "go on reading until Ctrl-C");
  app.add_option("--database-role", database.role,
                 "role of fine-grained access control (default: none)")
      ->type_name("ROLE");
  app.add_option("--endpoint", database.endpoint,
                 "Spanner's address (default: $SPANNER_EMULATOR_HOST, else "
                 "spanner.googleapis.com:443)")
      ->type_name("HOST:PORT");
  app.add_option("--credentials", database.credentials_file,
                 "JSON file of credentials (default: Application Default Credentials)")
      ->type_name("FILE");
  app.add_option("--ca", database.ca_file,
                 "PEM file of the certificates to trust (default: the system's)")
      ->type_name("FILE");
}

// "acquire=try-lock,lock release=unlock", or a file with a line for each of them.
std::string VerbsIn(const std::string& text) {
  if (text.find('=') != std::string::npos) return text;
  std::ifstream file;
  const absl::Status opened = OpenInput(text, file);
  if (!opened.ok()) throw CLI::ValidationError("--verbs", std::string(opened.message()));
  return {std::istreambuf_iterator<char>(file), {}};
}

void AddJepsen(CLI::App& app, const std::shared_ptr<CheckRequest>& request) {
  AddText(
      app, "--verbs", "WORDS|FILE", request,
      [](const std::string& text, CheckRequest& to) {
        const std::string wrong = to.jepsen.verbs.Parse(VerbsIn(text));
        if (!wrong.empty()) throw CLI::ValidationError("--verbs", wrong);
      },
      "of Jepsen's histories: what each :f means, as \"acquire=try-lock,lock release=unlock\" "
      "(also "
      "renew, ignore; default: acquire and lock, release and unlock, renew)");
  AddText(
      app, "--value", "MEANING", request,
      [](const std::string& text, CheckRequest& to) {
        const auto words = AllWords<check::Meaning>();
        to.jepsen.value =
            static_cast<check::Meaning>(PlaceOfWord("--value", "meaning", text, words));
      },
      "of Jepsen's histories: what the :value is that an acquire got: lock (its name), token or "
      "nothing (default: unknown)");
  app.add_option_function<std::vector<std::string>>(
         "--began",
         [request](const std::vector<std::string>& all) {
           for (const std::string& text : all) {
             const size_t equals = text.rfind('=');
             const std::string time = equals == std::string::npos ? text : text.substr(equals + 1);
             const std::string file =
                 equals == std::string::npos ? std::string() : text.substr(0, equals);
             const std::optional<Timestamp> began = check::ParseAnyTime(time);
             if (!began) throw CLI::ValidationError("--began", check::TimeRefusal(time));
             request->jepsen.began.insert_or_assign(file, *began);
           }
         },
         "of Jepsen's histories: when the test began whose times are in FILE, or in all files")
      ->type_name("[FILE=]TIME")
      ->allow_extra_args(false);
}

}  // namespace

void AddCheckOptions(CLI::App& app, const std::shared_ptr<CheckRequest>& request) {
  app.add_option("files", request->files, "files of a history, or - (standard input)")
      ->type_name("FILE..");
  app.add_option("--protocol", request->protocol,
                 "the lock's protocol (whorl protocols), or none: a lock that is none of whorl's")
      ->type_name("NAME");
  app.add_option("--lock", request->lock, "judge this lock only")->type_name("NAME");
  app.add_option("--table", request->table, "leave out changes of other tables")->type_name("NAME");
  AddText(
      app, "--format", "FORMAT", request,
      [](const std::string& text, CheckRequest& to) {
        const auto words = AllWords<check::InputFormat>();
        to.format = static_cast<check::InputFormat>(PlaceOfWord("--format", "format", text, words));
      },
      "json, edn, csv or log (default: as each file begins)");
  app.add_option("--pattern", request->pattern,
                 "how to read logs: spindle_v2, or a file of regular expressions")
      ->type_name("NAME|FILE");
  AddJepsen(app, request);
  AddText(
      app, "--lease", "TIME", request,
      [](const std::string& text, CheckRequest& to) {
        to.lease = to.jepsen.lease = DurationOf("--lease", text, "10s");
      },
      "the lease of processes that do not say theirs");
  AddText(
      app, "--clock-error", "TIME", request,
      [](const std::string& text, CheckRequest& to) {
        to.clock_error = DurationOf("--clock-error", text, "10ms");
      },
      "how far each clock may be from true time, either way: two may differ by twice that");
  app.add_option("--clocks", request->clocks,
                 "what is known of each process's clock: lines \"process\"")
      ->type_name("FILE")
      ->allow_extra_args(false);
  AddText(
      app, "--window", "TIME", request,
      [](const std::string& text, CheckRequest& to) {
        to.window = DurationOf("--window", text, "60s");
      },
      "how much later a record may come than one of a later time (default: 60s)");
  AddDatabase(app, request);
  app.add_option("--scenario", request->scenario_path,
                 "write what happened as a scenario, replay it and compare")
      ->type_name("FILE");
  app.add_option("--html", request->html_path,
                 "write what happened as a page that needs nothing else")
      ->type_name("FILE");
  app.add_flag("--timeline", request->timeline, "print a line for each change");
  app.add_flag("--explain", request->explain, "explain the violation that is first in time");
  app.add_flag("--promised", request->exits->promised_only,
               "end with 1 for what the protocol promises alone, not for all that is violated");
  AddAcceptIncomplete(app, request->exits);
  AddJunit(app, request->junit_path);
  app.add_flag("--json", request->json, "print one JSON document");
  app.footer(std::string(kCheckFooter));
}

}  // namespace whorl::cli
