// Looks at its locks' rows before a command takes part: a name that was mistyped would make a lock
// that protects nothing, and a row that init has made may not be taken yet.
#pragma once

#include <string>
#include <vector>

#include "cli/lock/options.h"
#include "real_client/lock.h"

namespace whorl::cli {

struct RowLook {
  Status status;  // not OK: nothing was seen
  Duration took;
  // The request's locks that have no row. None where a process that gives a lock back deletes its row.
  std::vector<std::string> missing;
  std::vector<real_client::Holding> waiting;  // those that nobody may take yet
};
RowLook LookAtRows(const LockRequest& request, real_client::LockClient& client, Duration timeout);

// Says what --must-exist cannot do; empty if it can.
std::string RefusalOfMustExist(const LockRequest& request);

// "there is no lock "nihgtly" in fenced_locks (nearly the same: "nightly")": with up to three names,
// which are looked for among a thousand, and left out where they may not be read.
std::string NoSuchLock(const LockRequest& request, real_client::LockClient& client,
                       const std::string& name);
// "; " and what happens if a process wants the lock nevertheless.
std::string WhatMakesIt(const LockRequest& request);
// "lock "nightly" is free at ...", and why.
std::string WaitsText(const real_client::Holding& holding);

}  // namespace whorl::cli
