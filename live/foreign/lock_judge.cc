#include "live/foreign/lock_judge.h"

#include <algorithm>
#include <array>
#include <string_view>
#include <utility>
#include <variant>

#include "base/text.h"
#include "check/json_text.h"
#include "check/record_reader.h"

namespace whorl::live {
namespace {

using sim::Json;
using sim::Verdict;

std::optional<size_t> HolderColumnOf(const ProtocolInfo& protocol) {
  for (size_t i = 0; i < protocol.columns.size(); ++i) {
    if (protocol.columns[i].name == protocol.holder_columns.holder) return i;
  }
  return std::nullopt;
}

check::KnownRow AllKnown(const std::optional<Row>& row) {
  if (!row) return {};
  return {row->begin(), row->end()};
}

check::LogLine LineOf(const std::string& process, const std::string& lock, Timestamp at,
                      check::Statement statement) {
  check::LogLine line;
  line.process = process;
  line.lock = lock;
  line.at = at;
  line.statement = statement;
  return line;
}

// The process that a row names: neither NULL nor an operator's.
bool NamesProcess(const Value& holder) {
  const auto* name = std::get_if<std::string>(&holder);
  return name != nullptr && *name != kInitHolder;
}

std::optional<check::Kind> KindOf(std::string_view event) {
  if (event == "works" || event == "rests") return check::Kind::kWorking;
  if (event == "answer") return check::Kind::kAnswers;
  return std::nullopt;
}

}  // namespace

std::string NameOfClient(size_t client) { return Cat("client ", std::to_string(client + 1)); }

std::string LockInKeyOf(const sim::Rules& rules, const Row& row) {
  const auto* key = std::get_if<std::string>(&row[rules.key_column]);
  return key == nullptr ? "lock" : *key;
}

LockJudge::LockJudge(const JudgedAs& as, std::string lock)
    : as_(as),
      lock_(std::move(lock)),
      holder_column_(HolderColumnOf(as.protocol)),
      checker_(
          as.protocol,
          {.lease = as.lease, .clock_error = {}, .window = Duration{}, .waits_for_advance = true}) {
}

const std::string& LockJudge::Introduce(int16_t client, std::optional<check::Kind> kind) {
  const auto [name, is_new] = names_.try_emplace(client, NameOfClient(static_cast<size_t>(client)));
  if (!is_new && !kind) return name->second;
  check::ProcessDeclaration declared;
  declared.process = name->second;
  if (as_.is_servers_clock) declared.clock_least = declared.clock_most = Duration{};
  if (kind) declared.logs = {*kind};
  checker_.Add({.place = {}, .what = std::move(declared)});
  return name->second;
}

void LockJudge::Say(check::LogLine line) { checker_.Add({.place = {}, .what = std::move(line)}); }

// --- commits -------------------------------------------------------------------------------------

void LockJudge::Take(const CommittedRow& row, const CommitHeard* by) {
  check::RowChange change = {.lock = LockInKeyOf(as_.rules(), row.after ? *row.after : *row.before),
                             .commit = row.commit,
                             .kind = !row.before  ? check::RowChangeKind::kInserted
                                     : !row.after ? check::RowChangeKind::kDeleted
                                                  : check::RowChangeKind::kUpdated,
                             .after = AllKnown(row.after),
                             .before = AllKnown(row.before),
                             .by_process = true};
  has_changed_ = true;
  if (row.after && holder_column_ && NamesProcess((*row.after)[*holder_column_])) {
    holders_.insert(FormatValue((*row.after)[*holder_column_]));
  }
  if (by != nullptr) writers_.insert(by->client);
  if (by == nullptr || !as_.has_own_ports()) {
    checker_.Add({.place = {}, .what = std::move(change)});
    return;
  }
  const std::string& process = Introduce(by->client);
  NameHolder(row, *by, change);
  checker_.Add({.place = {},
                .what = check::CommitRecord{.process = process,
                                            .lock = {},
                                            .number = {},
                                            .sent = by->sent,
                                            .received = by->received,
                                            .commit = row.commit,
                                            .step = by->step,
                                            .sender = {}}});
  checker_.Add({.place = {}, .what = std::move(change)});
  NoteToken(row, *by);
}

void LockJudge::NameHolder(const CommittedRow& row, const CommitHeard& by,
                           check::RowChange& change) {
  if (!holder_column_) return;
  std::string& owner = owners_[change.lock];
  std::optional<Value>* before = row.before ? &change.before[*holder_column_] : nullptr;
  if (before != nullptr && NamesProcess(**before) && !owner.empty()) *before = owner;
  if (!row.after || !NamesProcess((*row.after)[*holder_column_])) {
    owner.clear();
    return;
  }
  // Without tokens, who writes a row that names a holder is its holder.
  const auto token = as_.rules().token_column;
  const bool installs = !token || !row.before || (*row.before)[*token] != (*row.after)[*token] ||
                        (*row.before)[*holder_column_] != (*row.after)[*holder_column_];
  if (installs) owner = NameOfClient(static_cast<size_t>(by.client));
  if (!owner.empty()) change.after[*holder_column_] = owner;
}

void LockJudge::NoteToken(const CommittedRow& row, const CommitHeard& by) {
  const auto column = as_.rules().token_column;
  if (!column || !row.after) return;
  const std::optional<Token> token = Token::In((*row.after)[*column]);
  if (!token) return;
  const bool installs = !row.before || (*row.before)[*column] != (*row.after)[*column];
  if (!installs && by.own_token != token) return;
  check::LogLine owns = LineOf(Introduce(by.client), lock_, by.received, check::Statement::kOwns);
  owns.token = token->Number();
  Say(std::move(owns));
}

// --- words ---------------------------------------------------------------------------------------

void LockJudge::Take(int16_t client, Timestamp at, const ProgramLeads& says) {
  Lapse(at);
  const std::string& process = Introduce(client, check::Kind::kLeading);
  Speaker& speaker = speakers_[client];
  speaker.leads = says.leads;
  speaker.lapses_at.reset();
  if (says.leads && says.lapses_in) speaker.lapses_at = at + *says.lapses_in;
  Say(LineOf(process, lock_, at,
             says.leads ? check::Statement::kLeads : check::Statement::kLeadsNot));
}

std::string LockJudge::Take(int16_t client, Timestamp at, const Json& line) {
  const auto event = line.at("event").get<std::string>();
  for (const std::string_view declared : {"id", "time", "offset", "lease", "logs", "n"}) {
    if (line.contains(declared)) {
      return Cat("takes no \"", declared, "\": the server knows who says it, and when");
    }
  }
  Json whole = line;
  whole["id"] = NameOfClient(static_cast<size_t>(client));
  whole["time"] = FormatRfc3339(at);
  check::JsonText text;
  const check::Node* node = text.Parse(sim::DumpJson(whole));
  const check::Place place;
  const check::Wanted wanted;
  std::vector<check::Operation> operations;
  try {
    if (node == nullptr) throw check::Wrong{text.error()};
    check::RecordReader(as_.protocol, wanted, place, operations).Read(*node);
  } catch (const check::Wrong& wrong) {
    return wrong.text;
  }
  Lapse(at);
  Introduce(client, KindOf(event));
  if (event == "works" || event == "rests") speakers_[client].works = event == "works";
  for (check::Operation& operation : operations) checker_.Add(std::move(operation));
  return {};
}

void LockJudge::Lapse(Timestamp until) {
  for (auto& [client, speaker] : speakers_) {
    if (!speaker.lapses_at || *speaker.lapses_at > until) continue;
    Say(LineOf(names_.at(client), lock_, *std::exchange(speaker.lapses_at, std::nullopt),
               check::Statement::kLeadsNot));
    speaker.leads = false;
  }
}

void LockJudge::JudgeUntil(Timestamp at, Timestamp silent_until) {
  Lapse(silent_until);
  if (!spoken_for_ || *spoken_for_ < silent_until) {
    for (const auto& [client, speaker] : speakers_) {
      if (!speaker.leads && !speaker.works) continue;
      Say(LineOf(names_.at(client), lock_, silent_until, check::Statement::kOther));
    }
    spoken_for_ = silent_until;
  }
  checker_.Advance(at < Timestamp::Max() ? at + Nanoseconds(1) : at);
}

// --- the verdict ---------------------------------------------------------------------------------

std::string LockJudge::WhyOneWriter() const {
  if (!as_.has_own_ports()) {
    return "all programs use one port; --clients gives each one of its own";
  }
  return writers_.size() > 1 ? "" : "only one client has written";
}

std::string LockJudge::WhyUnknown(Invariant invariant) const {
  if (invariant == Invariant::kOneLiveToken) return WhyOneWriter();
  if (invariant != Invariant::kLeaseRespected) return {};
  if (!as_.lease && !as_.rules().lease_until.lease_ms) {
    return "the rows do not say how long a lease is; --lease does";
  }
  // Rows of programs on one port say themselves who holds them.
  return !as_.has_own_ports() && holders_.size() > 1 ? "" : WhyOneWriter();
}

Json LockJudge::ResultJson(const check::InvariantResult& found, const std::string& hole) const {
  const Promise promise = as_.protocol.promises[static_cast<size_t>(found.invariant)];
  std::string because = found.text;
  std::string remedy = found.remedy;
  Verdict verdict = found.verdict;
  // All commits pass here: where none has stored a token, none went back.
  const bool has_no_token = found.invariant == Invariant::kTokenMonotonic && has_changed_ &&
                            verdict == Verdict::kUnknown && !found.lacks_records;
  if (has_no_token) verdict = Verdict::kHolds;
  if (promise == Promise::kNotApplicable) {
    verdict = Verdict::kNotApplicable;
  } else if (verdict == Verdict::kNotApplicable) {
    verdict = Verdict::kUnknown;
  } else if (verdict == Verdict::kHolds || verdict == Verdict::kUnknown) {
    const std::string why = WhyUnknown(found.invariant);
    if (!why.empty() || !hole.empty()) {
      verdict = Verdict::kUnknown;
      because = why.empty() ? hole : why;
      remedy.clear();
    }
  }
  Json one = {{"invariant", WordOf(found.invariant)},
              {"verdict", WordOf(verdict)},
              {"promise", WordOf(promise)}};
  if (verdict == Verdict::kUnknown || verdict == Verdict::kPossiblyViolated) {
    one["because"] = because;
    if (!remedy.empty()) one["remedy"] = remedy;
  }
  if (verdict == Verdict::kPossiblyViolated) one["possible"] = found.possible;
  if (verdict == Verdict::kViolated) {
    one["violations"] = found.violations;
    one["first"] = {{"at", found.at ? FormatRfc3339(*found.at) : ""}, {"text", found.text}};
  }
  return one;
}

Json LockJudge::Report(const std::string& hole) const {
  Json verdicts = Json::array();
  for (const check::InvariantResult& found : checker_.VerdictSoFar().invariants) {
    verdicts.push_back(ResultJson(found, hole));
  }
  return verdicts;
}

}  // namespace whorl::live
