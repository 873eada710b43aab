// The protocols by name: the table, steps and promises of each, and how to run it.
#pragma once

#include <array>
#include <deque>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "base/time.h"
#include "protocol/client/transaction_runner.h"
#include "protocol/names.h"
#include "protocol/protocol.h"
#include "protocol/spanner/mutation.h"
#include "protocol/spanner/sql.h"
#include "protocol/spanner/value.h"

namespace whorl {

enum class Promise : uint8_t {
  kPromised,
  kNotPromised,
  // The protocol has none of what the invariant is about: tokens, or giving the lock back.
  kNotApplicable,
};
constexpr auto WordTableOf(Promise) {
  return MakeWordTable<Promise>({
      {Promise::kPromised, "promised"},
      {Promise::kNotPromised, "not_promised"},
      {Promise::kNotApplicable, "not_applicable"},
  });
}

// A circumstance in which a promise is void, although the protocol works as it should.
enum class Circumstance : uint8_t {
  kOperatorWrites,             // an operator deletes a row, empties or releases it
  kOperatorWritesAmongLeases,  // that, and processes have different leases
  kRowEmptied,                 // an operator sets all columns but the key to NULL
  kRowReleased,                // an operator ends a lease by force
  kLeasesDiffer,               // processes have different leases
  kIdsShared,                  // two processes have the same id
  kIdsOutliveRestarts,         // a process starts again with the id that it had
  kCurrentTimestampOff,        // CURRENT_TIMESTAMP is not the true time
  kClockStands,                // the clocks of a machine stand still: it is suspended
  kSeveralSplits,              // commit timestamps are not unique within the table
};
constexpr auto WordTableOf(Circumstance) {
  return MakeWordTable<Circumstance>({
      {Circumstance::kOperatorWrites, "an operator writes to a row"},
      {Circumstance::kOperatorWritesAmongLeases,
       "an operator writes to a row, and nodes have different leases"},
      {Circumstance::kRowEmptied, "an operator empties a row"},
      {Circumstance::kRowReleased, "an operator releases a row by force"},
      {Circumstance::kLeasesDiffer, "nodes have different leases"},
      {Circumstance::kIdsShared, "two nodes share an id"},
      {Circumstance::kIdsOutliveRestarts, "a node starts again with the id that it had"},
      {Circumstance::kCurrentTimestampOff, "CURRENT_TIMESTAMP is wrong"},
      {Circumstance::kClockStands, "a node's clocks stand still"},
      {Circumstance::kSeveralSplits, "the table has several splits"},
  });
}
// For how long a circumstance voids a promise, or by how much.
enum class VoidFor : uint8_t {
  kWholeRun,
  // From when it begins until the longest lease of the lock has passed since it was last there.
  kLongestLease,
  // From when it begins until it is over, from which moment the promise's own bound counts anew.
  kWhileItLasts,
  kErrorOfClock,        // the invariant is violated by no more than the greatest error so far
  kDifferenceOfLeases,  // it is violated by no more than the leases differ
};
constexpr auto WordTableOf(VoidFor) {
  return MakeWordTable<VoidFor>({
      {VoidFor::kWholeRun, "for the whole run"},
      {VoidFor::kLongestLease, "until the longest lease has passed since"},
      {VoidFor::kWhileItLasts, "until that is mended"},
      {VoidFor::kErrorOfClock, "by no more than its error"},
      {VoidFor::kDifferenceOfLeases, "by no more than the leases differ"},
  });
}
// The protocol promises the invariant, but not in that circumstance, for as long as `void_for` says.
struct PromiseLimit {
  Invariant invariant = Invariant::kOneLiveToken;
  Circumstance circumstance = Circumstance::kOperatorWrites;
  VoidFor void_for = VoidFor::kWholeRun;
  friend bool operator==(const PromiseLimit&, const PromiseLimit&) = default;
};

// A flaw that is known, from the findings of the protocol's page.
struct KnownFinding {
  std::string_view id;  // "S1"
  std::span<const Invariant> breaks;
  std::optional<Circumstance> needs;  // it happens in that circumstance only
};

// A column of the protocol's table, as in `create_table`.
struct ColumnInfo {
  std::string_view name;
  Type type = Type::kString;
  bool key = false;  // part of the primary key
};

// The columns of a lock's row that say who holds it, for operators. Empty: there is no such column.
struct HolderColumns {
  std::string_view lock;     // STRING; empty: the table has room for one lock only
  std::string_view holder;   // STRING; NULL: the lock is free
  std::string_view since;    // TIMESTAMP: the time of the grant
  std::string_view token;    // TIMESTAMP or INT64
  std::string_view renewed;  // TIMESTAMP: the last sign of life
  std::string_view until;    // TIMESTAMP: the end of the lease; instead of `renewed`
  std::string_view lease;    // INT64, ms; empty or NULL: each observer uses its own lease
};

// What a process knows of its token when the transaction of a statement has committed.
enum class TokenSource : uint8_t {
  kNone,       // nothing new
  kCommit,     // the token is the commit timestamp
  kParameter,  // the token is the statement's parameter @token
};
// What a process is about when it sends a statement, where two steps of its protocol have one text.
enum class StepOccasion : uint8_t {
  kAnyTime,
  kAsked,    // it was asked whether it has the lock, and has not answered
  kGivesUp,  // it was told to end its part, or to unlock
};
// A statement of a protocol, by which the step is recognised in the calls of other programs.
struct StepStatement {
  StepName step;
  Sql sql;
  bool in_read_write = true;  // false: a strong read by itself
  TokenSource token = TokenSource::kNone;
  StepOccasion occasion = StepOccasion::kAnyTime;
};

// A goal of scenarios, a word of `sometimes`, that no run of the protocol meets.
struct ImpossibleGoal {
  std::string_view goal;  // "release"
  std::string_view why;   // "it never gives a lock back"
};

// The holder in a row that an operator made for a lock whose row may have been lost under its holder:
// nobody may take it before a lease has passed.
inline constexpr std::string_view kInitHolder = "whorl lock init";

// What of its state, and of what it is told, decides what a protocol does next. The defaults are safe.
struct StateTraits {
  // With the constants that ship, it makes names or numbers of instants, such as a hash: what it does depends
  // on what time it is.
  bool depends_on_absolute_time = false;
  // All INT64 columns that its statements return are ages in milliseconds (TIMESTAMP_DIFF).
  bool reads_ages = false;
  // Of a token it asks only whether another one is later. So are all timestamps in its state, in what it
  // sends to Spanner and in what it is told, and those in the column holder_columns.token.
  bool orders_tokens_only = false;
  // It tells two ids, or names of processes or nodes, apart by which is the lesser: processes are not equal
  // although they are alike.
  bool compares_ids = false;
  bool ignores_wall_clock = false;  // it reads LocalTime::monotonic alone
  // How many leases ago something has to be for the protocol's steps not to depend on how many more, while no
  // fault delays them. A search does not distinguish what lies further back, so a smaller number means fewer
  // states, and one that is too small means that a search takes different states for one
  // (tests/sim/explore/memory_test.cc shows that ours are not too small).
  int memory_leases = 4;
};

// The description of a protocol. Its texts and spans refer to data that is never freed.
struct ProtocolInfo {
  std::string_view name;
  std::string_view summary;  // one line, for `whorl protocols`
  // The table's name unless the user chooses another. The texts below use this name.
  std::string_view table = "locktable";
  std::string_view create_table;  // DDL of its table
  std::span<const ColumnInfo> columns;
  HolderColumns holder_columns;
  // DML with @name that creates the row of a lock that never existed, in the released state. Empty: a
  // start needs no row, or `init_row` is that row.
  std::string_view init_lock;
  // DML with @name by which an operator ends the current lease. Empty: there is no such statement.
  std::string_view force_release;
  // DML with @name and @seen, the row's `renewed`, that deletes the row of a lock that nobody holds if
  // it has not changed since it was read. Empty: the protocol needs rows to stay.
  std::string_view delete_lock;
  std::span<const StepName> steps;  // without has_lock and write, which every protocol has
  // The steps that have no commit of their own: reads, and statements within another step.
  std::span<const StepName> steps_without_commit;
  // The steps that are statements within another step: each ends with its own reply, and not with
  // its transaction.
  std::span<const StepName> steps_within_others;
  // The step that renews the lease. Empty: there is none.
  std::optional<StepName> heartbeat_step;
  // The steps that keep the lock or give it back. A client that limits how many transactions are
  // under way sends these first.
  std::span<const StepName> urgent_steps;
  std::array<Promise, kCountOf<Invariant>> promises{};
  // The limits of its promises.
  std::span<const PromiseLimit> promise_limits;
  // Its flaws, apart from those that cost time only.
  std::span<const KnownFinding> findings;
  // What follows from its code alone; not what follows from `has_tokens`.
  std::span<const ImpossibleGoal> impossible_goals;
  std::string_view page;  // from the repository's root; empty: there is none
  // The process answers HasLock from what it knows, without a call to Spanner.
  bool answers_locally = false;
  bool has_blocking_wrapper = false;  // Lock() and Unlock()
  bool has_tokens = true;             // it hands out tokens by which a resource can fence
  bool takes_one_lock = false;        // its table has room for one lock only
  StateTraits state_traits;
  // It announces its releases (AnnounceRelease), and reads the row when it hears of one.
  bool announces_releases = false;
  // How many leases after its last sign of life a holder's row is taken at a process's first look.
  uint8_t first_look_leases = 1;
  // The row that has to be there before any process can hold the lock. Empty: a process creates the
  // row.
  Row init_row;
  Duration lease_min;                    // a shorter lease is raised to this, or, if
  bool refuses_short_lease = false;      // this is true, refused
  Duration lease_max = Duration::Max();  // a longer lease is refused
  Duration lease_default;
  // How much longer than a lease other processes wait after the last sign of life.
  Duration lease_grace;
  RetryPolicy retry_policy;
  // Makes the configuration of a process's part in one lock, with Hosted(). If `id` is empty, the
  // process draws one. REQUIRES: `table` is an identifier; lease is not above lease_max.
  ProtocolConfig (*make_config)(const std::string& table, std::string lock_name, std::string id,
                                Duration lease) = nullptr;
  // The same with numbers that are whole quarters of the lease, so that each of them shows on a coarse grid of
  // time. Null: there are none but those that ship.
  ProtocolConfig (*make_grid_config)(const std::string& table, std::string lock_name,
                                     std::string id, Duration lease) = nullptr;
  // The statements of its steps on a table. Null: it does not say, so programs that were not written
  // here cannot run its scenarios.
  std::vector<StepStatement> (*statements)(const std::string& table) = nullptr;
};

// In the order of the documentation, followed by those that were added, in the order of adding.
const std::deque<ProtocolInfo>& Protocols();
// Null if no protocol has that name.
const ProtocolInfo* FindProtocol(std::string_view name);

// Every step of every protocol and of its application, each once, in the order of their keys.
std::vector<StepName> AllSteps();
// The one of these that has this word.
std::optional<StepName> FindStep(std::string_view word);

// Adds a protocol at the end, for as long as the program runs. Only sim::AddProtocol calls this,
// after it has checked the protocol. REQUIRES: no other thread runs yet; the name is not taken.
void AddToProtocols(const ProtocolInfo& info);

}  // namespace whorl
