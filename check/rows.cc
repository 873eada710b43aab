#include "check/rows.h"

#include <algorithm>
#include <utility>

#include "base/text.h"
#include "check/known_row.h"
#include "check/outside.h"

namespace whorl::check {
namespace {

constexpr std::string_view kRecordCalls =
    "log each committed transaction of each process: when it was sent, its commit timestamp, when "
    "the "
    "reply came";

}  // namespace

void Rows::Add(const CommitRecord& call) {
  if (!calls_.empty() && calls_.front().commit != call.commit) calls_.clear();
  const Ownership::Writer writer = {.process = call.Sender(),
                                    .sent = call.sent,
                                    .received = call.received,
                                    .step = call.step,
                                    .is_by_its_clock = !call.IsOfAnother()};
  const Costs::Call of_costs = {.process = call.Sender(),
                                .lock = NameOfCosts(call.lock),
                                .attempts = call.attempts,
                                .is_its_own_record = writer.is_by_its_clock};
  for (Call& other : calls_) {
    if (other.writer.process != writer.process || other.lock != call.lock) continue;
    if (other.writer.is_by_its_clock == writer.is_by_its_clock) return;
    // What the process itself has logged says more.
    if (writer.is_by_its_clock) other.writer = writer;
    return costs_.Committed(of_costs);
  }
  calls_.push_back({.commit = call.commit, .lock = call.lock, .writer = writer});
  costs_.Committed(of_costs);
}

void Rows::AddAttempt(const LogLine& log_line) {
  const Costs::Call call = {.process = log_line.Sender(),
                            .lock = NameOfCosts(log_line.lock),
                            .attempts = log_line.attempts,
                            .is_its_own_record = log_line.Sender() == log_line.process};
  if (log_line.statement == Statement::kAborted) return costs_.Aborted(call);
  costs_.Called(call);
}

const std::string& Rows::NameOfCosts(const std::string& lock) const {
  static const std::string kTheLock;
  if (protocol_.holder_columns.lock.empty()) return kTheLock;
  const size_t at = lock.rfind('_');
  if (at == std::string::npos) return lock;
  // A row that the protocol keeps beside that of a lock.
  const auto row = rows_.find(std::string_view(lock).substr(0, at));
  const bool is_side = row != rows_.end() && rules_.is_side_row(row->first, lock);
  return is_side ? row->first : lock;
}

std::optional<Ownership::Writer> Rows::WriterAt(Timestamp commit, const std::string& lock) const {
  std::optional<Ownership::Writer> writer;
  int found = 0;
  for (const Call& call : calls_) {
    if (call.commit != commit) continue;
    // Commits of different locks may have one timestamp.
    const bool may_be = protocol_.holder_columns.lock.empty() || call.lock.empty() ||
                        call.lock == lock || rules_.is_side_row(call.lock, lock);
    if (!may_be) continue;
    ++found;
    writer = call.writer;
  }
  if (found == 1) return writer;
  return std::nullopt;
}

std::optional<Ownership::Writer> Rows::ByItsClock(const std::optional<Ownership::Writer>& writer) {
  return writer && writer->is_by_its_clock ? writer : std::nullopt;
}

std::string_view Rows::OwnerIn(const KnownRow& columns) const {
  const std::optional<size_t> holder = outside_rules_.holder;
  if (!holder || *holder >= columns.size() || !columns[*holder]) return {};
  const auto* name = std::get_if<std::string>(&*columns[*holder]);
  return name == nullptr ? std::string_view() : *name;
}

bool Rows::IsHeld(const KnownRow& columns) const {
  return sim::IsHeld(rules_, Whole(columns)) && OwnerIn(columns) != kInitHolder;
}

bool Rows::IsOfAnother(const Row& row, const Token& token, std::string_view holder) const {
  return row.token && !holder.empty() && !row.owner.empty() && holder != row.owner &&
         MayBeAnotherToken(token.ToValue(), row.token->ToValue(), protocol_);
}

bool Rows::Renews(const Row& row, const After& after) const {
  return !rules_.statements.renew_rows_of_others && after.owner == row.owner;
}

bool Rows::IsAgain(const RowChange& change) const {
  const auto found = rows_.find(change.lock);
  return found != rows_.end() && found->second.last_commit == change.commit;
}

void Rows::AddLate(const RowChange& change) {
  const std::string why = Cat("the change of lock ", Quoted(change.lock), " at ",
                              FormatRfc3339(change.commit), " came after later ones were judged");
  Missing(why, "sort the records, or allow a greater --window");
  ownership_.Gap(change.lock, Timestamp::Max());
}

void Rows::Add(const Unseen& unseen) {
  // Where no process deletes its row, there is none before the first one.
  if (!rules_.releasing_step) return;
  Missing(
      Cat("lock ", Quoted(unseen.lock), " had no row at ", FormatRfc3339(unseen.from),
          " and none at ", FormatRfc3339(unseen.to), ", and who had it in between was not read"),
      "read a change stream (whorl lock init --stream makes one): versions do not show rows that "
      "were inserted and deleted again");
  ownership_.Gap(unseen.lock, unseen.to);
}

void Rows::JudgeLease(const RowChange& change, const Row& row, const std::string& writer,
                      bool removed) {
  const bool is_cut = row.cut_until && change.commit < *row.cut_until &&
                      !processes_.AreOfOneNode(writer, row.cut_owner);
  if (is_cut) {
    lease_respected_.Missing(
        Cat(writer.empty() ? "an unknown process" : writer, removed ? " removed" : " took",
            " lock ", Quoted(change.lock), " at ", FormatRfc3339(change.commit),
            ", after the outside write at ", FormatRfc3339(row.cut_at), " had cut the lease of ",
            row.cut_owner, " short"),
        "nothing: that is not charged to the protocol, and later leases are judged");
  }
  if (!row.is_known) {
    return lease_respected_.Missing(Cat("who held lock ", Quoted(change.lock), " before ",
                                        FormatRfc3339(change.commit), " is not recorded"),
                                    std::string(kRecordAll));
  }
  if (!row.held || row.released || row.owner.empty()) return;
  lease_respected_.Judged();
  if (!writer.empty() && processes_.AreOfOneNode(writer, row.owner)) return;
  const auto text = [&](Timestamp until) {
    return Cat(writer.empty() ? "an unknown process" : writer, removed ? " removed" : " took",
               " lock ", Quoted(change.lock), removed ? ", held by " : " from ", row.owner,
               ", with commit timestamp ", FormatRfc3339(change.commit), ", ",
               FormatDuration(until - change.commit), " before the lease's end at ",
               FormatRfc3339(until));
  };
  if (!row.lease_most) {
    lease_respected_.Missing(Cat("the lease of ", row.owner, " is not known"),
                             "say it: --lease 10s, or \"lease\" in the process's first line");
    return;
  }
  if (change.commit >= *row.lease_most) return;
  // An unattributed removal may be an operator's.
  const bool is_certain = row.owner_is_certain && row.lease_least &&
                          change.commit < *row.lease_least && !writer.empty();
  if (is_certain) {
    lease_respected_.Violated(change.commit, change.lock, {},
                              [&] { return text(*row.lease_least); });
    return;
  }
  lease_respected_.Possible(change.commit, change.lock, std::nullopt, [&] {
    const std::string why = writer.empty() ? "who did is not known"
                            : !row.owner_is_certain
                                ? Cat("whether ", row.owner, " had taken it is not known")
                                : Cat("who wrote the last heartbeat is not known; ", kRecordCalls);
    return Cat(text(*row.lease_most), "; ", why);
  });
}

void Rows::Removed(const RowChange& change, const Row& row,
                   const std::optional<Ownership::Writer>& writer) {
  if (!row.held) return;
  ownership_.Ended(change.lock, change.commit, ByItsClock(writer));
  if (!rules_.releasing_step || row.owner.empty()) return;
  const bool names_step = writer && !writer->step.empty();
  // Without the step it may have been removed for another reason, even by its owner.
  if (writer && writer->process != row.owner) return;
  if (names_step && writer->step != rules_.releasing_step->word()) return;
  releases_.Add({.lock = change.lock,
                 .commit = change.commit,
                 .owner = row.owner,
                 .is_certain = names_step && row.owner_is_certain,
                 .call = ByItsClock(writer)});
}

void Rows::Renewed(const RowChange& change, const Row& row, HistoryMetrics& metrics) {
  ++metrics.renewals;
  costs_.Renewed(NameOfCosts(change.lock));
  if (row.lease_most && change.commit > *row.lease_most) {
    metrics.late_renewals.push_back(change.commit - *row.lease_most);
  }
}

void Rows::JudgeToken(const RowChange& change, Row& row, Token token, HistoryMetrics& metrics) {
  const std::string owner = row.owner;
  const bool changes = owner != row.last_owner;
  token_monotonic_.Judged();
  if (row.greatest && changes &&
      MayBeAnotherToken(token.ToValue(), row.greatest->ToValue(), protocol_)) {
    token_monotonic_.Possible(change.commit, change.lock, std::nullopt, [&] {
      return Cat(owner.empty() ? "an unknown process" : owner, " committed a token of lock ",
                 Quoted(change.lock), " in the second of ", FormatToken(token),
                 ", in which it had had ", FormatToken(*row.greatest),
                 "; the record shows whole seconds");
    });
  } else if (row.greatest && (token < *row.greatest || (token == *row.greatest && changes))) {
    token_monotonic_.Violated(change.commit, change.lock, {}, [&] {
      return Cat(owner.empty() ? "an unknown process" : owner, " committed the token ",
                 FormatToken(token), " of lock ", Quoted(change.lock), ", which had already had ",
                 FormatToken(*row.greatest));
    });
  } else if (row.greatest_lost && changes && token <= *row.greatest_lost) {
    token_monotonic_.Missing(
        Cat(owner.empty() ? "an unknown process" : owner, " committed the token ",
            FormatToken(token), " of lock ", Quoted(change.lock), ", which had had ",
            FormatToken(*row.greatest_lost), " before an outside write"),
        "nothing: that is not charged to the protocol, and later tokens are judged");
  }
  if (!row.greatest || token > *row.greatest) row.greatest = token;
  if (changes || rules_.renewing_step == std::nullopt) Granted(change, row, metrics);
}

void Rows::Granted(const RowChange& change, const Row& row, HistoryMetrics& metrics) {
  ++metrics.grants;
  if (!row.owner.empty()) takers_.try_emplace(row.owner, change.lock);
  const std::optional<TakeoverCost> cost =
      costs_.Taken(NameOfCosts(change.lock), row.owner, row.last_owner);
  if (row.owner == row.last_owner || row.last_owner.empty()) return;
  ++metrics.takeovers;
  if (cost) metrics.takeover_costs.push_back(*cost);
}

void Rows::NoteHolders(const RowChange& change, bool is_first) {
  if (is_first && change.kind != RowChangeKind::kInserted) may_be_others_ = true;
  for (const KnownRow* row_is : {&change.before, &change.after}) {
    const std::string_view name = OwnerIn(*row_is);
    if (!name.empty() && !names_.contains(name)) names_.emplace(name);
  }
}

Rows::After Rows::AfterChange(const RowChange& change, const Row& row) const {
  if (change.kind == RowChangeKind::kDeleted) return {};
  After after;
  after.columns = change.after;
  FillIn(after.columns, row.columns, protocol_);
  after.held = IsHeld(after.columns);
  if (!after.held) return after;
  const whorl::Row whole = Whole(after.columns);
  after.released = rules_.is_released(whole);
  after.owner = OwnerIn(after.columns);
  if (rules_.token_column) after.token = Token::In(whole[*rules_.token_column]);
  return after;
}

Rows::Transition Rows::TransitionOf(const RowChange& change, const Row& row,
                                    const After& after) const {
  if (change.kind == RowChangeKind::kDeleted) return Transition::kDeleted;
  if (!after.held) return Transition::kEmptied;
  // Without tokens a version lasts as long as the row names the same process.
  const bool is_the_same =
      after.token ? after.token == row.token && !IsOfAnother(row, *after.token, after.owner)
                  : after.owner == row.owner;
  if (row.held && is_the_same) return Transition::kKept;
  const bool renews = row.held && !row.released && after.owner == row.owner &&
                      !after.owner.empty() && rules_.renewing_step.has_value();
  return renews ? Transition::kRenewed : Transition::kInstalled;
}

void Rows::Add(const RowChange& change, HistoryMetrics& metrics) {
  ++metrics.row_changes;
  Row& row = rows_[change.lock];
  const bool is_first = !row.last_commit.has_value();
  if (row.last_commit != change.commit) ownership_.Changed(change.lock, change.commit);
  NoteHolders(change, is_first);
  if (!is_first || change.kind != RowChangeKind::kInserted) Fit(change, is_first, row, metrics);
  const std::optional<Ownership::Writer> writer = WriterAt(change.commit, change.lock);
  const bool is_outside = TakeOutside(change, writer || change.by_process, row, metrics);
  row.last_commit = change.commit;
  if (is_outside) return;
  After after = AfterChange(change, row);
  switch (TransitionOf(change, row, after)) {
    case Transition::kDeleted:
      if (writer || rules_.statements.delete_rows_of_others) {
        JudgeLease(change, row, writer ? writer->process : std::string(), /*removed=*/true);
      }
      return NobodyHolds(change, writer, KnownRow(), row);
    case Transition::kEmptied:
      if (writer) JudgeLease(change, row, writer->process, /*removed=*/true);
      return NobodyHolds(change, writer, std::move(after.columns), row);
    case Transition::kKept:
      return Kept(change, writer, std::move(after), row, metrics);
    case Transition::kRenewed:
      Renewed(change, row, metrics);
      [[fallthrough]];
    case Transition::kInstalled:
      return Installed(change, writer, std::move(after), row, metrics);
  }
}

void Rows::NobodyHolds(const RowChange& change, const std::optional<Ownership::Writer>& writer,
                       KnownRow columns, Row& row) {
  Removed(change, row, writer);
  if (row.held) row.last_owner = row.owner;
  row.columns = std::move(columns);
  row.held = row.released = false;
  row.is_known = row.columns.empty() || row.columns[rules_.HolderColumn()].has_value();
  row.token.reset();
  row.owner.clear();
}

void Rows::Kept(const RowChange& change, const std::optional<Ownership::Writer>& writer,
                After after, Row& row, HistoryMetrics& metrics) {
  const std::optional<Between> until = LeaseUntil(after.columns, row.owner, change.commit);
  const bool by_owner = writer ? writer->process == row.owner : Renews(row, after);
  if (by_owner && !row.owner.empty() && !row.released && !after.released) {
    Renewed(change, row, metrics);
  }
  if (by_owner) {
    LastsFor(until, row);
  } else if (!writer && until) {
    row.lease_most = std::max(row.lease_most.value_or(until->latest), until->latest);
    if (row.lease_least) row.lease_least = std::min(*row.lease_least, until->earliest);
  }
  if (!after.token && by_owner) {
    // Who writes such a row anew owns it anew, be it another process with the same id.
    ownership_.Ended(change.lock, change.commit, ByItsClock(writer));
    ownership_.Began(change.lock, {.owner = row.owner,
                                   .owner_is_certain = row.owner_is_certain,
                                   .from = change.commit,
                                   .granted = ByItsClock(writer)});
  }
  const bool was_released = std::exchange(row.released, after.released);
  const bool may_be_by_owner = !writer || writer->process == row.owner;
  if (row.released && !was_released && may_be_by_owner && !row.owner.empty()) {
    releases_.Add({.lock = change.lock,
                   .commit = change.commit,
                   .owner = row.owner,
                   .is_certain = writer.has_value() && row.owner_is_certain,
                   .call = ByItsClock(writer)});
  }
  row.columns = std::move(after.columns);
}

void Rows::EndWithoutHolder(const RowChange& change, Row& row, HistoryMetrics& metrics) {
  const bool ran_out =
      row.held && !row.released && row.lease_most && change.commit > *row.lease_most;
  // A row of 1970 was made so, or released by hand: no lease ended then.
  constexpr int64_t kYear = 365 * 24 * 3'600;
  if (ran_out && row.lease_most->seconds() > kYear) {
    metrics.without_holder.push_back(change.commit - *row.lease_most);
  } else if (!row.held && row.taken_away) {
    metrics.without_holder.push_back(change.commit - *row.taken_away);
  }
  row.taken_away.reset();
}

void Rows::Installed(const RowChange& change, const std::optional<Ownership::Writer>& writer,
                     After after, Row& row, HistoryMetrics& metrics) {
  const std::string& owner = after.owner;
  const std::optional<Token>& token = after.token;
  if (owner.empty()) may_be_others_ = true;
  JudgeLease(change, row, owner, /*removed=*/false);
  EndWithoutHolder(change, row, metrics);
  ownership_.Ended(change.lock, change.commit, ByItsClock(writer));
  if (!owner.empty() || token) {
    ownership_.Began(change.lock, {.owner = owner,
                                   .owner_is_certain = !owner.empty(),
                                   .token = token ? std::optional(token->Number()) : std::nullopt,
                                   .from = change.commit,
                                   .granted = ByItsClock(writer)});
  }
  row.owner = owner;
  row.columns = std::move(after.columns);
  row.held = row.is_known = true;
  row.token = token;
  row.released = after.released;
  row.owner_is_certain = !owner.empty();
  LastsFor(LeaseUntil(row.columns, owner, change.commit), row);
  if (token) {
    JudgeToken(change, row, *token, metrics);
  } else {
    Granted(change, row, metrics);
  }
  row.last_owner = owner;
  row.cut_until.reset();
  lease_respected_.Judged();
}

std::string Rows::OutsideText(const RowChange& change, const Row& row,
                              const std::string& why) const {
  std::string text = Cat("lock ", Quoted(change.lock));
  if (row.held && !row.owner.empty()) text += Cat(", held by ", row.owner);
  const bool by_policy = change.by_system && change.tag == "RowDeletionPolicy";
  text += Cat(": ",
              by_policy          ? "the row deletion policy"
              : change.by_system ? "a system transaction"
                                 : "a transaction that is no process's",
              change.tag.empty() ? std::string() : Cat(" (its tag: ", Quoted(change.tag), ")"), " ",
              why, ", with commit timestamp ", FormatRfc3339(change.commit));
  if (row.held && row.lease_most && change.commit < *row.lease_most) {
    text += Cat(", ", FormatDuration(*row.lease_most - change.commit),
                " before the lease's end at ", FormatRfc3339(*row.lease_most));
  }
  return text;
}

bool Rows::TakeOutside(const RowChange& change, bool by_process, Row& row,
                       HistoryMetrics& metrics) {
  if (by_process && !change.by_system) return false;
  const bool is_new = change.kind == RowChangeKind::kInserted;
  const std::string why = outside_rules_.Why(change, is_new ? KnownRow() : row.columns);
  if (why.empty()) return false;
  ++metrics.outside;
  const bool was_held = row.held && !row.released;
  const bool may_last = was_held && (!row.lease_most || change.commit < *row.lease_most);
  KnownRow after = change.after;
  const bool is_deleted = change.kind == RowChangeKind::kDeleted;
  if (!is_deleted) FillIn(after, row.columns, protocol_);
  const bool matters = may_last || (!is_deleted && IsHeld(after));
  if (matters) {
    ++outside_count_;
    if (outside_.size() < kOutsideKept) {
      outside_.push_back({.at = change.commit,
                          .lock = change.lock,
                          .text = OutsideText(change, row, why),
                          .matters = true});
    }
  }
  // Until then its owner may believe, and say, what was true before.
  const Timestamp until = !may_last        ? change.commit
                          : row.lease_most ? *row.lease_most
                                           : Timestamp::Max();
  ownership_.Outside(change.lock, change.commit, until);
  const Row last = row;
  if (is_deleted) {
    row.columns.clear();
    row.held = row.released = false;
    row.is_known = true;
    row.token.reset();
    row.owner.clear();
  } else {
    TakeFrom(after, change.commit, row);
  }
  // What is newer than that was lost with the write.
  if (row.greatest > row.greatest_lost) row.greatest_lost = row.greatest;
  row.greatest = row.token;
  if (may_last) {
    row.taken_away = row.cut_at = change.commit;
    row.cut_until = until;
    row.cut_owner = last.owner;
  }
  if (row.held) {
    if (row.lease_most) row.lease_most = std::max(*row.lease_most, change.commit);
    row.taken_away.reset();
  }
  if (was_held && row.held && row.owner == last.owner && row.token == last.token) {
    row.owner_is_certain = last.owner_is_certain;
    return true;
  }
  if (last.held) row.last_owner = last.owner;
  ownership_.Ended(change.lock, change.commit, std::nullopt);
  if (row.held) {
    ownership_.Began(change.lock,
                     {.owner = row.owner,
                      .token = row.token ? std::optional(row.token->Number()) : std::nullopt,
                      .from = change.commit});
  }
  return true;
}

InvariantResult Rows::TokenMonotonic() const {
  return token_monotonic_.Find("no token was recorded", std::string(kRecordAll));
}

InvariantResult Rows::LeaseRespected() const {
  return lease_respected_.Find("no grant was recorded", std::string(kRecordAll));
}

}  // namespace whorl::check
