// simple_lease: about the simplest lock that keeps its promises, as an example of a protocol
// outside of whorl's repository.
//
// One row per lock: name, heartbeat, token, owner. A process that reads a heartbeat a lease and a
// margin old by Spanner's CURRENT_TIMESTAMP takes the row by compare-and-set. The commit timestamp is
// the fencing token. The owner beats three times a lease.
//
// Invariants:
//   1. A process leads iff it has a term, was not told to stop, and its own clock shows less than
//      the term's deadline: a lease, shortened for a slow clock, from when it first sent the Commit
//      that was acknowledged last. That is looked at before every event.
//   2. A term that has ended never comes back; the next one has another token.
//   3. One thing at a time: a read, a claim or a heartbeat is under way, or the process sleeps.
//   4. A row is given back only after WorkStopped: no work of this process goes on, under this term or an
//      earlier one.
// It assumes (simple_lease_info.cc says so to whorl) that all nodes have one lease, that
// CURRENT_TIMESTAMP is wrong by less than the margin, and that nobody deletes rows.
#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "base/time.h"
#include "common.h"
#include "protocol/machine.h"
#include "protocol/names.h"
#include "protocol/spanner/fields.h"
#include "protocol/spanner/sql.h"
#include "protocol/spanner/words.h"

namespace simple_lease {

inline constexpr std::string_view kName = OWN_PROTOCOL_TEXT_OF(simple_lease);

inline constexpr whorl::Duration kLeaseMin = whorl::Seconds(1);

// The numbers of the protocol. The defaults are what ships.
struct Constants {
  whorl::Duration clock_margin = whorl::Milliseconds(250);
  // A lease divided by each of these: how much sooner than a lease an owner stops believing, for a
  // clock within 0.1 % and as much again; the time from look to look; from heartbeat to heartbeat;
  // and from a heartbeat that failed to the next.
  int64_t losses_in_lease = 500;
  int64_t polls_in_lease = 4;
  int64_t beats_in_lease = 3;
  int64_t retries_in_lease = 16;
  WHORL_FIELDS(Constants, clock_margin, losses_in_lease, polls_in_lease, beats_in_lease,
               retries_in_lease);
};

// Whole quarters of the lease, which make `explore --constants grid` small.
constexpr Constants GridConstants(whorl::Duration lease) {
  return {.clock_margin = lease / 4,
          .losses_in_lease = 4,
          .polls_in_lease = 4,
          .beats_in_lease = 2,
          .retries_in_lease = 4};
}

// The words that scenarios and reports name it by. whorl::steps has those that every protocol has.
namespace steps {
inline constexpr whorl::StepName kLook{"look"};
inline constexpr whorl::StepName kClaim{"claim"};    // takes a row
inline constexpr whorl::StepName kCreate{"create"};  // makes one
inline constexpr whorl::StepName kBeat{"beat"};
inline constexpr whorl::StepName kHandBack{"hand_back"};
}  // namespace steps

// Holds what never changes. Its Sql fields are the statements that the database prepares.
struct Config {
  std::string lock_name;
  std::string id;  // empty: a random UUID, drawn when the process starts
  whorl::Duration lease;
  whorl::Sql read;     // @name
  whorl::Sql take;     // @name, @id, @seen
  whorl::Sql create;   // @name, @id
  whorl::Sql beat;     // @name, @token
  whorl::Sql release;  // @name, @token
  Constants constants;
  WHORL_FIELDS(Config, lock_name, id, lease, read, take, create, beat, release, constants);
};
Config MakeConfig(const std::string& table, std::string lock_name, std::string id,
                  whorl::Duration lease);

struct Term {
  whorl::Timestamp token;
  whorl::LocalInstant deadline;
  WHORL_FIELDS(Term, token, deadline);
};

// All that a process knows: a value that can be copied, compared and printed.
struct State {
  enum class Doing : uint8_t { kNothing, kSleeping, kReading, kClaiming, kBeating };

  std::string id;
  Doing doing = Doing::kNothing;
  bool stopping = false;
  bool work_stopped = false;  // after that
  std::optional<Term> term;
  WHORL_FIELDS(State, id, doing, stopping, work_stopped, term);
};
// For reports of a state.
constexpr auto WordTableOf(State::Doing) {
  return whorl::MakeWordTable<State::Doing>({
      {State::Doing::kNothing, "nothing"},
      {State::Doing::kSleeping, "sleeping"},
      {State::Doing::kReading, "reading"},
      {State::Doing::kClaiming, "claiming"},
      {State::Doing::kBeating, "beating"},
  });
}

void Step(const Config& config, State& state, whorl::LocalTime now, whorl::Entropy& entropy,
          const whorl::Event& event, std::vector<whorl::Effect>& out);

whorl::LeadershipView LeadershipViewOf(const State& state);

enum Timer : whorl::TimerId { kWake, kDeadline };
enum Request : whorl::RequestId { kRound, kRelease };

}  // namespace simple_lease
