#include "cli/lock/row_look.h"

#include <algorithm>
#include <optional>
#include <string_view>
#include <utility>

#include "base/nearest_word.h"
#include "base/text.h"
#include "real_client/os.h"
#include "sim/scenario/rules.h"

namespace whorl::cli {
namespace {

using real_client::Holding;
using real_client::LockClient;

// Whether a missing row says something: a process that gives the lock back leaves the row.
bool KeepsRows(const ProtocolInfo& info) { return !sim::RulesOf(info.name).releasing_step; }

std::string FirstCharacter(const std::string& name) {
  size_t size = 1;
  while (size < name.size() && (static_cast<unsigned char>(name[size]) & 0xC0) == 0x80) ++size;
  return name.substr(0, size);
}

// Names of the table: of more than a thousand those that begin as `name` does come first.
std::vector<std::string> SomeNames(const LockRequest& request, LockClient& client,
                                   const std::string& name) {
  constexpr int64_t kMost = 1000;
  std::vector<std::string> names;
  for (const std::string& prefix : {FirstCharacter(name), std::string()}) {
    const int64_t left = kMost - static_cast<int64_t>(names.size());
    if (left <= 0) break;
    std::vector<Holding> page;
    const real_client::ListRange range = {.prefix = prefix, .after = {}, .limit = left};
    const Status status =
        client.List(request.protocol, request.table, range, request.LeaseUsed(), page);
    if (!status.ok()) break;
    for (Holding& holding : page) {
      if (!std::ranges::count(names, holding.lock)) names.push_back(std::move(holding.lock));
    }
  }
  std::erase(names, name);
  return names;
}

// The nearest first.
std::vector<std::string_view> Nearest(const std::string& name,
                                      const std::vector<std::string>& names) {
  constexpr size_t kMost = 3;
  std::vector<std::string_view> known(names.begin(), names.end());
  std::vector<std::string_view> nearest;
  while (nearest.size() < kMost) {
    const std::optional<std::string_view> next = NearestWord(name, known);
    if (!next) break;
    nearest.push_back(*next);
    std::erase(known, *next);
  }
  return nearest;
}

}  // namespace

RowLook LookAtRows(const LockRequest& request, LockClient& client, Duration timeout) {
  RowLook look;
  std::vector<Holding> holdings;
  const LocalInstant began = real_client::MonotonicNow();
  look.status = client.List(request.protocol, request.table, request.names, request.LeaseUsed(),
                            timeout, holdings);
  look.took = real_client::MonotonicNow() - began;
  if (!look.status.ok()) return look;
  // The table of some protocols is one lock, which has no name.
  const bool has_names = !request.info().holder_columns.lock.empty();
  for (const std::string& name : request.names) {
    const auto found = std::ranges::find_if(
        holdings, [&](const Holding& holding) { return !has_names || holding.lock == name; });
    if (found == holdings.end()) {
      if (KeepsRows(request.info())) look.missing.push_back(name);
    } else if (found->free_at) {
      look.waiting.push_back(*found);
      look.waiting.back().lock = name;
    }
  }
  return look;
}

std::string RefusalOfMustExist(const LockRequest& request) {
  if (!request.must_exist || KeepsRows(request.info())) return {};
  return Cat("--must-exist: a process of ", request.protocol,
             " that gives a lock back deletes its row, so a lock without one may be in use");
}

std::string NoSuchLock(const LockRequest& request, LockClient& client, const std::string& name) {
  const ProtocolInfo& info = request.info();
  if (info.holder_columns.lock.empty()) return Cat("there is no row in ", request.TableName());
  std::string text = Cat("there is no lock ", Quoted(name), " in ", request.TableName());
  const std::vector<std::string> names = SomeNames(request, client, name);
  std::string near;
  for (const std::string_view other : Nearest(name, names)) {
    near += Cat(near.empty() ? " (nearly the same: " : ", ", Quoted(other));
  }
  return near.empty() ? text : text + near + ")";
}

std::string WhatMakesIt(const LockRequest& request) {
  const ProtocolInfo& info = request.info();
  if (!info.init_row.empty()) {
    return Cat("; nobody can take the lock until `whorl lock init --protocol ", info.name,
               request.table.empty() ? "" : " --table ", request.table, "` has made it");
  }
  if (info.init_lock.empty()) return "; it is made now";
  return Cat("; it is made now, and who makes it waits for a lease (",
             FormatDuration(request.LeaseUsed()), ") before it leads");
}

std::string WaitsText(const Holding& holding) {
  return Cat("lock ", Quoted(holding.lock), " is ", FreeAt(*holding.free_at),
             ": whorl lock init made its row, and a process from before may lead until then");
}

}  // namespace whorl::cli
