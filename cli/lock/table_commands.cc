#include <algorithm>
#include <charconv>
#include <iostream>
#include <iterator>
#include <limits>
#include <map>
#include <memory>
#include <optional>
#include <string>
#include <system_error>
#include <utility>
#include <vector>

#include "base/text.h"
#include "base/time.h"
#include "cli/interrupt.h"
#include "cli/lock/commands.h"
#include "cli/lock/last_holder.h"
#include "cli/lock/options.h"
#include "cli/lock/row_look.h"
#include "cli/lock/wait_notice.h"
#include "cli/option_values.h"
#include "cli/output.h"
#include "cli/shell_text.h"
#include "cli/text_table.h"
#include "sim/report/json_print.h"
#include "sim/scenario/names.h"

namespace whorl::cli {
namespace {

using real_client::Holding;
using real_client::LockClient;
using sim::Json;

// "8.213 s"
std::string LeftText(const Holding& holding) {
  if (holding.free_at) return FreeAt(*holding.free_at);
  if (holding.holder.empty()) return "free";
  if (!holding.left) return "?";
  if (*holding.left <= Duration()) return "over";
  const std::string text = std::to_string(holding.left->ns / 1'000'000 + 1'000'000);
  std::string whole = std::to_string(holding.left->ns / 1'000'000'000);
  return Cat(whole, ".", text.substr(text.size() - 3), " s");
}

std::string TimestampText(const std::optional<Timestamp>& time) {
  return time ? FormatRfc3339(*time) : "-";
}

// Holders of locks that are free now, by lock.
using Holders = std::map<std::string, std::string>;

std::optional<std::string> LastHolderOf(const Holding& holding, const Holders& last) {
  const auto known = last.find(holding.lock);
  return known == last.end() ? std::nullopt : std::optional(known->second);
}

Json HoldingJson(const Holding& holding, const Holders& last) {
  Json json = Json::object();
  json["lock"] = holding.lock;
  json["held"] = holding.is_held();
  json["holder"] = holding.holder.empty() ? Json(nullptr) : Json(holding.holder);
  json["value"] = holding.value.empty() ? Json(nullptr) : Json(holding.value);
  json["since"] = holding.since ? Json(FormatRfc3339(*holding.since)) : Json(nullptr);
  json["token"] = holding.token ? Json(FormatToken(*holding.token)) : Json(nullptr);
  // The number that users get: nanoseconds, unless the token is an epoch.
  json["token_ns"] = holding.token ? Json(std::to_string(holding.token->Number())) : Json(nullptr);
  json["left"] = holding.left ? Json(FormatSeconds(*holding.left)) : Json(nullptr);
  if (holding.free_at) json["free_at"] = FormatRfc3339(*holding.free_at);
  if (holding.last_until) {
    const std::optional<std::string> holder = LastHolderOf(holding, last);
    json["last_held_until"] = FormatRfc3339(*holding.last_until);
    json["last_holder"] = holder ? Json(*holder) : Json(nullptr);
  }
  return json;
}

void PrintHoldings(const std::vector<Holding>& holdings, const Holders& last) {
  const auto has_value = [](const Holding& holding) { return !holding.value.empty(); };
  const bool values = std::ranges::any_of(holdings, has_value);
  std::vector<std::string> columns = {"lock", "holder", "since", "token", "lease left"};
  if (values) columns.insert(columns.begin() + 2, "value");
  const bool has_last = std::ranges::any_of(
      holdings, [](const Holding& holding) { return holding.last_until.has_value(); });
  if (has_last) columns.insert(columns.end() - 1, {"last held until", "by"});
  TextTable table(columns, columns.size() - 1);
  for (const Holding& holding : holdings) {
    std::vector<std::string> row = {
        Printable(holding.lock), holding.holder.empty() ? "-" : Printable(holding.holder),
        TimestampText(holding.since), holding.token ? FormatToken(*holding.token) : "-",
        LeftText(holding)};
    if (values) {
      row.insert(row.begin() + 2, has_value(holding) ? Printable(holding.value) : "-");
    }
    if (has_last) {
      const std::optional<std::string> holder = LastHolderOf(holding, last);
      const std::string unknown = holding.last_until ? "not known" : "-";
      row.insert(row.end() - 1,
                 {TimestampText(holding.last_until), holder ? Printable(*holder) : unknown});
    }
    table.Add(std::move(row));
  }
  table.Print(std::cout);
}

int Fail(const LockRequest& request, const Status& status) {
  Complain(Explain(request, status));
  return kCannotRun;
}

// Opens the client. Returns kAsExpected, or an exit code after a message; an error before anything is
// sent is bad input.
int OpenClient(LockRequest& request, std::unique_ptr<LockClient>& client) {
  HandleSignals();
  if (const std::string wrong = Complete(request); !wrong.empty()) {
    Complain(wrong);
    return kBadInput;
  }
  Status status = LockClient::Open(ClientOptionsOf(request), client);
  if (!status.ok() && status.code != Code::kInvalidArgument) return Fail(request, status);
  if (status.ok()) {
    // A lock that is made, but not used, checks names, table and lease.
    std::unique_ptr<real_client::DistributedLock> lock;
    const std::string name = request.names.empty() ? "any" : request.names[0];
    status = client->Make(LockOptionsOf(request, name), lock);
  }
  if (status.ok()) return kAsExpected;
  Complain(status.message);
  return kBadInput;
}

int Ask(LockRequest& request, std::unique_ptr<LockClient>& client, std::vector<Holding>& holdings) {
  if (const int code = OpenClient(request, client); code != kAsExpected) return code;
  std::optional<std::string> name;
  if (!request.names.empty()) name = request.names[0];
  const WaitNotice notice(request);
  const Status status =
      client->List(request.protocol, request.table, std::move(name), request.LeaseUsed(), holdings);
  return status.ok() ? static_cast<int>(kAsExpected) : Fail(request, status);
}

// Whether the lock is held, or was within the time that was asked for.
bool IsAsWanted(const LockRequest& request, const Holding& holding) {
  if (holding.is_held()) return true;
  if (!request.held_within || !holding.last_until || !holding.age || !holding.renewed) return false;
  // By Spanner's clock when the row was read.
  const Timestamp now = *holding.renewed + *holding.age;
  return now - *holding.last_until <= *request.held_within;
}

Holding CurrentOf(const std::vector<Holding>& holdings) {
  return holdings.empty() ? Holding{} : holdings[0];
}

int RunGet(LockRequest& request) {
  std::unique_ptr<LockClient> client;
  std::vector<Holding> holdings;
  if (const int code = Ask(request, client, holdings); code != kAsExpected) return code;
  const bool has_names = !request.info().holder_columns.lock.empty();
  if (request.quiet)
    return IsAsWanted(request, CurrentOf(holdings)) ? kAsExpected : kExpectationFailed;
  if (holdings.empty() && has_names && !request.json) {
    std::cout << NoSuchLock(request, *client, request.names[0]) << '\n';
    return End(FlushStdout(), kExpectationFailed);
  }
  // The table of some protocols is a single lock, which has no name: it gets the name asked for.
  Holding holding = CurrentOf(holdings);
  holding.lock = request.names[0];
  const Holders last = LastHolders(request, {holding});
  if (request.json) {
    Json json = HoldingJson(holding, last);
    json["exists"] = !holdings.empty() || !has_names;
    std::cout << sim::DumpJson(json) << '\n';
  } else {
    PrintHoldings({holding}, last);
  }
  return End(FlushStdout(), IsAsWanted(request, holding) ? kAsExpected : kExpectationFailed);
}

// Calls `take` with page after page of the locks that the request names. A table may have more locks
// than a reply has room for.
template <typename Take>
Status ForEachPage(const LockRequest& request, LockClient& client, const Take& take) {
  constexpr int64_t kPage = 1000;
  const WaitNotice notice(request);
  real_client::ListRange range = request.range;
  int64_t left = range.limit > 0 ? range.limit : std::numeric_limits<int64_t>::max();
  while (left > 0) {
    range.limit = std::min(left, kPage);
    std::vector<Holding> page;
    Status status = client.List(request.protocol, request.table, range, request.LeaseUsed(), page);
    const bool is_last = static_cast<int64_t>(page.size()) < range.limit;
    if (!status.ok()) return status;
    if (!page.empty()) range.after = page.back().lock;
    left -= static_cast<int64_t>(page.size());
    status = take(std::move(page));
    if (!status.ok() || is_last) return status;
  }
  return {};
}

int RunList(LockRequest& request) {
  std::unique_ptr<LockClient> client;
  if (const int code = OpenClient(request, client); code != kAsExpected) return code;
  std::vector<Holding> holdings;
  const Status status = ForEachPage(request, *client, [&](std::vector<Holding> page) {
    std::ranges::move(page, std::back_inserter(holdings));
    return Status();
  });
  if (!status.ok()) return Fail(request, status);
  if (request.range.limit > 0 && static_cast<int64_t>(holdings.size()) == request.range.limit) {
    Complain(Cat("there may be more: --after ", ShellQuoted(holdings.back().lock)));
  }
  const Holders last = LastHolders(request, holdings);
  if (request.json) {
    Json locks = Json::array();
    for (const Holding& holding : holdings) locks.push_back(HoldingJson(holding, last));
    std::cout << sim::DumpJson(locks, 2) << '\n';
  } else if (holdings.empty()) {
    std::cout << "no locks in " << request.TableName() << '\n';
  } else {
    PrintHoldings(holdings, last);
  }
  return End(FlushStdout());
}

bool IsMeant(const real_client::ReleaseTarget& only, const Holding& holding) {
  if (only.holder && *only.holder != holding.holder) return false;
  return !only.token || (holding.token && holding.token->Number() == *only.token);
}

void WarnOf(const std::string& name, const Holding& holding) {
  if (holding.free_at) {
    Complain(Cat("warning: lock ", Quoted(name), " was ", FreeAt(*holding.free_at),
                 ", since its row may have been lost under a process that believes so until then"));
  } else if (holding.is_held()) {
    Complain(Cat("warning: ", Printable(holding.holder), " holds lock ", Quoted(name),
                 " for another ", LeftText(holding),
                 ", and may go on believing so until then; only fencing tokens keep it from "
                 "writing"));
  }
}

// As holders and `lock list` have it: a number, or a time.
uint64_t TokenOf(const std::string& text) {
  uint64_t number = 0;
  const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), number);
  const bool is_number = error == std::errc() && end == text.data() + text.size();
  const std::optional<Timestamp> time = is_number ? std::nullopt : ParseRfc3339(text);
  constexpr auto kMost = static_cast<uint64_t>(std::numeric_limits<int64_t>::max());
  if (time) return Token(*time).Number();
  if (is_number && number <= kMost) return number;
  throw CLI::ValidationError(
      Cat("--token wants the holder's token, a number or a time, and got ", Quoted(text)));
}

int RunRelease(LockRequest& request) {
  if (!request.force) {
    Complain(
        "a lock is given back by who holds it. release --force ends its lease from outside: the "
        "next process may take it at once, while the holder goes on believing that it leads until "
        "it notices, or its lease ends");
    return kBadInput;
  }
  if (request.only.token && !request.info().has_tokens) {
    Complain(Cat("--token: ", request.protocol, " has no tokens"));
    return kBadInput;
  }
  std::unique_ptr<LockClient> client;
  if (const int code = OpenClient(request, client); code != kAsExpected) return code;
  const std::string& name = request.names[0];
  std::vector<Holding> holdings;
  std::optional<WaitNotice> notice(std::in_place, request);
  Status status =
      client->List(request.protocol, request.table, name, request.LeaseUsed(), holdings);
  notice.reset();
  if (!status.ok()) return Fail(request, status);
  const bool is_meant = holdings.empty() || IsMeant(request.only, holdings[0]);
  if (is_meant && !holdings.empty()) WarnOf(name, holdings[0]);
  status = client->ForceRelease(request.protocol, request.table, name, request.only);
  if (status.code == Code::kNotFound && holdings.empty()) {
    Complain(NoSuchLock(request, *client, name));
    return kExpectationFailed;
  }
  const bool is_target = request.only.holder || request.only.token;
  if (is_target && status.code == Code::kFailedPrecondition) {
    Complain(Cat(Printable(status.message, 1000), "; nothing was released"));
    return kExpectationFailed;
  }
  if (!status.ok()) return Fail(request, status);
  std::cout << "the lease of lock " << Quoted(name) << " was ended\n";
  return End(FlushStdout());
}

// Deletes the locks of a page that nobody has had for the time that was asked for.
Status DeleteOld(const LockRequest& request, LockClient& client, const std::vector<Holding>& page,
                 int64_t& deleted) {
  for (const Holding& holding : page) {
    const bool is_old = holding.age && *holding.age >= *request.older_than;
    if (holding.is_held() || !is_old) continue;
    if (!request.dry_run) {
      const Status status = client.DeleteLock(request.protocol, request.table, holding);
      // Another process was faster: the lock is in use again.
      if (status.code == Code::kFailedPrecondition) continue;
      if (!status.ok()) return status;
    }
    ++deleted;
    std::cout << (request.dry_run ? "would delete " : "deleted ") << Quoted(holding.lock)
              << ", last used " << FormatRfc3339(*holding.renewed) << '\n';
  }
  return {};
}

int RunDelete(LockRequest& request) {
  if (request.names.empty() == !request.older_than) {
    Complain("delete wants the names of locks, or --older-than TIME");
    return kBadInput;
  }
  if (request.info().delete_lock.empty()) {
    Complain(Cat(request.protocol,
                 " needs the rows of its locks: without them no process that runs "
                 "could take the lock"));
    return kBadInput;
  }
  std::unique_ptr<LockClient> client;
  if (const int code = OpenClient(request, client); code != kAsExpected) return code;
  int64_t deleted = 0;
  if (request.older_than) {
    const Status status = ForEachPage(request, *client, [&](const std::vector<Holding>& page) {
      return DeleteOld(request, *client, page, deleted);
    });
    if (!status.ok()) return Fail(request, status);
    std::cout << CountText(deleted, "lock", "locks")
              << (request.dry_run ? " would be deleted\n" : " deleted\n");
    return End(FlushStdout());
  }
  int code = kAsExpected;
  for (const std::string& name : request.names) {
    std::vector<Holding> listed;
    Status status =
        client->List(request.protocol, request.table, name, request.LeaseUsed(), listed);
    if (status.ok() && listed.empty()) {
      Complain(NoSuchLock(request, *client, name));
      code = kExpectationFailed;
      continue;
    }
    if (status.ok()) status = client->DeleteLock(request.protocol, request.table, listed[0]);
    if (status.code == Code::kFailedPrecondition) {
      Complain(status.message);
      code = kExpectationFailed;
    } else if (!status.ok()) {
      return Fail(request, status);
    } else {
      std::cout << "deleted " << Quoted(name) << '\n';
    }
  }
  return End(FlushStdout(), code);
}

void AddRange(CLI::App& app, const SharedLockRequest& request) {
  app.add_option("--prefix", request->range.prefix, "only locks whose names begin with TEXT")
      ->type_name("TEXT");
}

}  // namespace

SubCommand AddDeleteCommand(CLI::App& lock) {
  CLI::App* app = lock.add_subcommand("delete", "Delete the rows of locks that nobody holds");
  const auto request = std::make_shared<LockRequest>();
  AddNames(*app, request, /*required=*/false);
  AddWhere(*app, request);
  AddTime(*app, "--older-than", request->older_than, Nanoseconds(1),
          "delete all locks that nobody has held for so long");
  AddRange(*app, request);
  app->add_flag("--dry-run", request->dry_run, "with --older-than: print what would be deleted");
  app->footer(
      "Examples:\n"
      "  whorl lock delete nightly\n"
      "  whorl lock delete --older-than 720h --prefix job- --dry-run\n\n"
      "A lock that is taken, renewed or released at the same moment stays. A deleted lock can be\n"
      "taken again: the process that creates its row waits for a lease first.\n"
      "Exit codes: 0 deleted; 1 a lock is held, or there is none of that name; 2 bad input or "
      "usage;\n"
      "3 no answer.");
  return {.app = app, .run = [request] { return RunDelete(*request); }};
}

SubCommand AddGetCommand(CLI::App& lock) {
  CLI::App* app = lock.add_subcommand("get", "Print who holds a lock");
  const auto request = std::make_shared<LockRequest>();
  AddName(*app, request);
  AddWhere(*app, request);
  AddLease(*app, request, "lease to assume if the table does not contain the holder's");
  AddTime(
      *app, "--held-within", request->held_within, Nanoseconds(1),
      "end with 0 for a lock that was held within the last TIME, too: did the nightly job run?");
  app->add_flag("--json", request->json, "print one JSON object");
  app->add_flag("--quiet", request->quiet, "print nothing: the exit code tells; errors are said");
  app->footer(
      "Examples:\n"
      "  whorl lock get nightly --held-within 25h\n"
      "  whorl lock get nightly --held-within 25h --quiet; "
      "[ $? -eq 1 ] && echo \"nightly has not run\"\n\n"
      "Times are Spanner's. A holder that has just lost its lease may still believe in it, if its\n"
      "protocol lets it (whorl protocols). Who held a free lock last is known for as long as "
      "Spanner\n"
      "keeps old versions of its row (version_retention_period, an hour by default).\n"
      "Exit codes: 0 held; 1 free, or there is no such lock; 2 bad input or usage; 3 no answer.");
  return {.app = app, .run = [request] {
            if (request->quiet && request->json) {
              Complain("--quiet prints nothing, and --json one object: leave one of them out");
              return static_cast<int>(kBadInput);
            }
            return RunGet(*request);
          }};
}

SubCommand AddListCommand(CLI::App& lock) {
  CLI::App* app = lock.add_subcommand("list", "Print all locks of a table, and who holds them");
  const auto request = std::make_shared<LockRequest>();
  AddWhere(*app, request);
  AddLease(*app, request, "lease to assume if the table does not contain the holder's");
  AddRange(*app, request);
  AddNumber(
      *app, "--limit", 1, 1'000'000'000,
      [request](uint64_t most) { request->range.limit = static_cast<int64_t>(most); },
      "only so many, and say where to go on");
  app->add_option("--after", request->range.after, "only locks whose names come after NAME")
      ->type_name("NAME");
  app->add_flag("--json", request->json, "print one JSON array");
  app->footer("Exit codes: 0 printed; 2 bad input or usage; 3 no answer.");
  return {.app = app, .run = [request] { return RunList(*request); }};
}

SubCommand AddReleaseCommand(CLI::App& lock) {
  CLI::App* app = lock.add_subcommand("release", "End the lease of a lock's holder");
  const auto request = std::make_shared<LockRequest>();
  AddName(*app, request);
  AddWhere(*app, request);
  AddLease(*app, request, "lease to assume if the table does not contain the holder's");
  app->add_flag("--force", request->force,
                "do it although the holder may believe that it leads until its lease ends");
  app->add_option("--holder", request->only.holder, "only if the process of this id holds it")
      ->type_name("ID");
  app->add_option_function<std::string>(
         "--token", [request](const std::string& text) { request->only.token = TokenOf(text); },
         "only if its holder has this token, as list and $WHORL_LOCK_TOKEN say it")
      ->type_name("TOKEN");
  app->footer(
      "Examples:\n"
      "  whorl lock release --force nightly --holder pod-a\n\n"
      "Between a look at the lock and its release another process may have taken it: with "
      "--holder\n"
      "or --token, that one keeps it.\n"
      "Exit codes: 0 ended; 1 there is no such lock, or somebody else holds it; 2 bad input or "
      "usage;\n"
      "3 the lease could not be ended.");
  return {.app = app, .run = [request] { return RunRelease(*request); }};
}

}  // namespace whorl::cli
