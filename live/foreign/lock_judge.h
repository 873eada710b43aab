// Tells check's judge what happens to one lock of programs that are served.
//
// Rules:
//   1. Each client (port) is one process, and the holder that a row names is the client whose commit installed
//      it. If all programs share one port, processes are those that rows name, and who wrote a row is unknown.
//   2. A process leads and works from when it says so until it says otherwise, or until what it said lapses:
//      it says so to the server that judges it, so that silence is no doubt.
//   3. A process takes for its own the token that its commit installs, or that its statement names.
//   4. Times are those of one clock. Whether that is also Spanner's, calls show (check/clock.h), unless the
//      server is whorl's own.
// Not thread-safe.
#pragma once

#include <cstddef>
#include <cstdint>
#include <map>
#include <memory>
#include <optional>
#include <set>
#include <string>
#include <vector>

#include "base/time.h"
#include "check/check.h"
#include "live/foreign/program_lines.h"
#include "live/foreign/served_rows.h"
#include "protocol/names.h"
#include "protocol/protocols.h"
#include "protocol/token.h"
#include "sim/scenario/json_text.h"
#include "sim/scenario/rules.h"

namespace whorl::live {

// "client 2", as people and rules count them.
std::string NameOfClient(size_t client);

// The lock that the row's key names, which for a row beside a lock's row is not the one that it belongs to. A
// table whose key is no text has one row, and its lock is "lock".
std::string LockInKeyOf(const sim::Rules& rules, const Row& row);

struct CommitHeard {
  int16_t client = 0;
  std::string step;                // of the protocol; empty: none is recognised
  std::optional<Token> own_token;  // that its statement has given the process
  Timestamp sent;
  Timestamp received;
};

// How all locks are judged.
struct JudgedAs {
  const ProtocolInfo& protocol;
  std::optional<Duration> lease;
  size_t clients = 1;
  bool is_servers_clock = false;  // shows the times of what clients do

  const sim::Rules& rules() const { return sim::RulesOf(protocol.name); }
  bool has_own_ports() const { return clients > 1; }
};

class LockJudge {
 public:
  // REQUIRES: `as` lives longer; check::CanJudge(as.protocol).
  LockJudge(const JudgedAs& as, std::string lock);

  // A change of the lock's row, or of one beside it. Changes come in the order of their commits. `by`: null if it
  // is not known who made it.
  void Take(const CommittedRow& row, const CommitHeard* by);
  // The client begins or ceases to lead.
  void Take(int16_t client, Timestamp at, const ProgramLeads& says);
  // The client says what check's lines say: its members, without "id" and "time". Returns what is wrong.
  std::string Take(int16_t client, Timestamp at, const sim::Json& line);
  // Judges all up to then. `silent_until`: clients have said nothing more until then.
  void JudgeUntil(Timestamp at, Timestamp silent_until);

  // `hole`: why nothing holds for sure any more; empty: it does.
  sim::Json Report(const std::string& hole) const;

 private:
  struct Speaker {
    bool leads = false;
    bool works = false;
    std::optional<Timestamp> lapses_at;  // its leadership ends then
  };

  // Declares the client's process, and returns its name. `kind`: from now on, each of its lines of this kind
  // is there.
  const std::string& Introduce(int16_t client, std::optional<check::Kind> kind = std::nullopt);
  void Say(check::LogLine line);
  void Lapse(Timestamp until);
  // The row as check knows it, with the process in the place of the holder that it names.
  void NameHolder(const CommittedRow& row, const CommitHeard& by, check::RowChange& change);
  void NoteToken(const CommittedRow& row, const CommitHeard& by);
  // Why the invariant is unknown although the judge found no violation; empty: it is known.
  std::string WhyUnknown(Invariant invariant) const;
  std::string WhyOneWriter() const;
  sim::Json ResultJson(const check::InvariantResult& found, const std::string& hole) const;

  const JudgedAs& as_;
  const std::string lock_;
  const std::optional<size_t> holder_column_;
  check::Checker checker_;
  std::map<std::string, std::string> owners_;  // the processes that rows name, by the rows' keys
  std::set<int16_t> writers_;
  bool has_changed_ = false;       // the lock's row
  std::set<std::string> holders_;  // that rows have named
  std::map<int16_t, std::string> names_;
  std::map<int16_t, Speaker> speakers_;
  std::optional<Timestamp> spoken_for_;
};

}  // namespace whorl::live
