// Judges the commits of the lock table: token_monotonic and lease_respected. Tells who owned each lock, and
// which of its owners gave it back.
//
// A row does not say who wrote it. Its owner is the process that it names when its token changes. In
// spindle v2 any process can renew a row, so the lease may or may not be as long as the last heartbeat
// says, unless a call with the same commit timestamp says which process sent it. In other protocols the
// statement of a renewal names its token; it is taken for granted that processes send those statements.
//
// Without tokens, the process that the row names is its owner, and one that names itself again renews it.
//
// Invariants:
//   1. Changes of a row come in the order of their commit timestamps.
//   2. A row's state is what is certain and what is possible: lease_least <= the true end <= lease_most.
//   3. Memory is that of the newest version of each row.
#pragma once

#include <functional>
#include <map>
#include <optional>
#include <set>
#include <string>
#include <string_view>
#include <vector>

#include "check/costs.h"
#include "check/no_protocol.h"
#include "check/operation.h"
#include "check/outside.h"
#include "check/ownership.h"
#include "check/processes.h"
#include "check/releases.h"
#include "check/tally.h"
#include "protocol/protocols.h"
#include "protocol/token.h"
#include "sim/scenario/rules.h"

namespace whorl::check {

class Rows {
 public:
  // For people: what to record.
  static constexpr std::string_view kRecordAll =
      "read the change stream from before the night to after it, all of its partitions, with "
      "value_capture_type = 'NEW_ROW_AND_OLD_VALUES'";

  // `lease` is the lease of processes that declare none.
  Rows(const ProtocolInfo& protocol, std::optional<Duration> lease, const Processes& processes,
       Ownership& ownership, Releases& releases)
      : protocol_(protocol),
        rules_(RulesFor(protocol)),
        outside_rules_(protocol),
        lease_(lease),
        processes_(processes),
        ownership_(ownership),
        releases_(releases) {}

  // Who committed at that timestamp. REQUIRES: comes before the change itself.
  void Add(const CommitRecord& call);
  // A call about a lock that committed nothing.
  void AddAttempt(const LogLine& log_line);
  void Add(const RowChange& change, HistoryMetrics& metrics);
  // Whether the change is the last one of its row, again.
  bool IsAgain(const RowChange& change) const;
  // A row that may have been there, for all that is known.
  void Add(const Unseen& unseen);
  // A change that came too late to be judged in its place.
  void AddLate(const RowChange& change);

  void Missing(const std::string& because, const std::string& remedy) {
    token_monotonic_.Missing(because, remedy);
    lease_respected_.Missing(because, remedy);
    releases_.Missing(because, remedy);
    ownership_.Missing(because, remedy);
  }

  // Whether all that was recorded says that the process was never named by a row: the rows' lives are known from
  // their beginning, and no change is missing.
  bool NeverTook(const std::string& process) const {
    return !rows_.empty() && !may_be_others_ && !ownership_.missing() && !names_.contains(process);
  }

  // The first kOutsideKept that matter, and how many there are.
  const std::vector<OutsideWrite>& outside_writes() const { return outside_; }
  int64_t outside_count() const { return outside_count_; }
  void ForgetOutside() {
    outside_.clear();
    outside_count_ = 0;
  }

  // The processes that were seen to take a lock, and one that each took.
  const std::map<std::string, std::string>& takers() const { return takers_; }

  InvariantResult TokenMonotonic() const;
  InvariantResult LeaseRespected() const;

 private:
  struct Row {
    KnownRow columns;
    bool held = false;
    bool is_known = true;  // false: no record says whether it is held
    bool released = false;
    std::optional<Token> token;
    std::string owner;  // empty: nobody, or not known
    bool owner_is_certain = false;
    std::optional<Timestamp> lease_least;
    std::optional<Timestamp> lease_most;
    // Of the row's past.
    std::optional<Timestamp> last_commit;
    std::optional<Token> greatest;       // since the last outside write
    std::optional<Token> greatest_lost;  // of those before it
    std::string last_owner;
    std::optional<Timestamp> taken_away;  // by an outside write, and not taken since
    // An outside write has cut a lease short, which would have lasted until then, at most.
    std::optional<Timestamp> cut_until;
    Timestamp cut_at;
    std::string cut_owner;
  };
  struct Call {
    Timestamp commit;
    std::string lock;
    Ownership::Writer writer;
  };
  // What the row says after a change.
  struct After {
    KnownRow columns;
    bool held = false;
    // Of a row that is held.
    bool released = false;
    std::optional<Token> token;
    std::string owner;  // empty: not known
  };
  // What a change does to the lock, by what was known of its row.
  enum class Transition : uint8_t {
    kDeleted,
    kEmptied,    // the row names nobody any more
    kKept,       // its version lasts: a heartbeat, or a mark that it was released
    kRenewed,    // its owner has renewed its lease by another version
    kInstalled,  // another version: a grant
  };

  // The process that committed then, if one call says so.
  std::optional<Ownership::Writer> WriterAt(Timestamp commit, const std::string& lock) const;
  // The writer, if its call was recorded by its own clock.
  static std::optional<Ownership::Writer> ByItsClock(
      const std::optional<Ownership::Writer>& writer);
  // What a row says when nothing is known of its past. It was written at `commit`, or before.
  void TakeFrom(const KnownRow& columns, Timestamp commit, Row& row) const;
  // When the owner's lease ends by the row, at the earliest and at the latest; nothing if it is not known.
  std::optional<Between> LeaseUntil(const KnownRow& columns, const std::string& owner,
                                    Timestamp commit) const;
  static void LastsFor(const std::optional<Between>& until, Row& row);
  // What the row was before the change, by what was recorded: its past, and what the change says of it.
  void Fit(const RowChange& change, bool is_first, Row& row, HistoryMetrics& metrics);
  // What the change says of a row whose holder was not known.
  void Learn(const RowChange& change, Row& row);
  // Who held it before, without having been seen to take it.
  void BeganBefore(const std::string& lock, const Row& row);
  void JudgeLease(const RowChange& change, const Row& row, const std::string& writer, bool removed);
  // Whether no process can have made the change. Then nobody is charged with it, and the row is what it says.
  bool TakeOutside(const RowChange& change, bool by_process, Row& row, HistoryMetrics& metrics);
  std::string OutsideText(const RowChange& change, const Row& row, const std::string& why) const;
  // Each of these two classifies a change.
  After AfterChange(const RowChange& change, const Row& row) const;
  Transition TransitionOf(const RowChange& change, const Row& row, const After& after) const;
  void NoteHolders(const RowChange& change, bool is_first);
  // `columns`: what is known of the row; empty: it is gone.
  void NobodyHolds(const RowChange& change, const std::optional<Ownership::Writer>& writer,
                   KnownRow columns, Row& row);
  void Kept(const RowChange& change, const std::optional<Ownership::Writer>& writer, After after,
            Row& row, HistoryMetrics& metrics);
  void Installed(const RowChange& change, const std::optional<Ownership::Writer>& writer,
                 After after, Row& row, HistoryMetrics& metrics);
  // The row names nobody any more.
  void Removed(const RowChange& change, const Row& row,
               const std::optional<Ownership::Writer>& writer);
  // REQUIRES: the owner renews its lease by the change.
  void Renewed(const RowChange& change, const Row& row, HistoryMetrics& metrics);
  // Counts the time that the lock had no holder, which the change ends.
  static void EndWithoutHolder(const RowChange& change, Row& row, HistoryMetrics& metrics);
  // REQUIRES: the row is what the change has made of it.
  void JudgeToken(const RowChange& change, Row& row, Token token, HistoryMetrics& metrics);
  // A process has the lock that the last one that had it did not give it.
  void Granted(const RowChange& change, const Row& row, HistoryMetrics& metrics);
  // The lock as costs know it: a table whose locks have no names is one lock.
  const std::string& NameOfCosts(const std::string& lock) const;
  // As long as `columns` is there.
  std::string_view OwnerIn(const KnownRow& columns) const;
  // Whether the row names a process, and not the operator who made it for the first process that comes.
  bool IsHeld(const KnownRow& columns) const;
  // Whether the token is another one though it may look the same, cut to whole seconds: the holder changed.
  bool IsOfAnother(const Row& row, const Token& token, std::string_view holder) const;
  // Whether the owner has written its row again, though no call says who has.
  bool Renews(const Row& row, const After& after) const;

  const ProtocolInfo& protocol_;
  const sim::Rules& rules_;
  const OutsideRules outside_rules_;
  std::optional<Duration> lease_;
  const Processes& processes_;
  Ownership& ownership_;
  Releases& releases_;
  std::map<std::string, Row, std::less<>> rows_;
  std::map<std::string, std::string> takers_;
  std::set<std::string, std::less<>> names_;  // of all that rows have named as their holder
  // A row was there before its first change, or was taken by a process that is not named.
  bool may_be_others_ = false;
  std::vector<Call> calls_;  // of the newest commit timestamp
  Costs costs_;
  std::vector<OutsideWrite> outside_;
  int64_t outside_count_ = 0;
  Tally token_monotonic_{Invariant::kTokenMonotonic};
  Tally lease_respected_{Invariant::kLeaseRespected};
};

}  // namespace whorl::check
