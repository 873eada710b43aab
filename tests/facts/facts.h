// Lists the known facts about Spanner and its emulator, and whether whorl agrees with each.
//
// A fact is numbered by section and row of the list in which the facts were collected (a row with
// several facts has several entries). It names its source and has a verdict:
//
//   agrees       the model does the same, as a probe or a named test shows
//   differs      the model differs on purpose; `differs` gives the reason
//   not covered  no test here can show it; `not_covered` gives the reason
//
// Invariants (held by facts_test.cc):
//   1. Every row of every section has an entry, and no two entries have one id.
//   2. A fact agrees unless it gives a reason, and a probe or test shows that it agrees.
//   3. If the emulator is probed, too, it answers as the model does, by Spanner's rules or by the
//      emulator's, if and only if the fact agrees.
#pragma once

#include <string>
#include <string_view>
#include <vector>

namespace whorl::facts {

class Probe;

// An expectation for a server that is not probed.
inline constexpr std::string_view kNotAsked = "(not asked)";

// What a probe's transcript (Probe::Transcript) is.
struct Heard {
  std::string_view model;                    // with the model by Spanner's rules
  std::string_view by_emulators_rules = "";  // with the model by the emulator's; empty: the same
  std::string_view from_emulator = "";       // empty: as the model by the emulator's rules
};

struct Fact {
  int row = 0;  // within its section, from 1
  std::string_view name;
  // E the emulator, measured; S its source; D Spanner's documentation; P comments in its protos;
  // C sources of clients; I threads of issues; N captured from a client; paper Corbett et al.,
  // Spanner (OSDI 2012); ? not confirmed.
  std::string_view source;
  std::string_view says;

  std::string_view differs = "";      // the reason
  std::string_view not_covered = "";  // the reason

  std::string_view shown_by = "";  // Suite.Name of a test
  void (*probe)(Probe&) = nullptr;
  Heard heard = {};

  Fact& Differs(std::string_view why) { return differs = why, *this; }
  Fact& NotCovered(std::string_view why) { return not_covered = why, *this; }
  Fact& ShownBy(std::string_view test) { return shown_by = test, *this; }
  Fact& Probed(Heard expected, void (*by)(Probe&)) { return heard = expected, probe = by, *this; }
  Fact& Probed(std::string_view expected, void (*by)(Probe&)) {
    return Probed(Heard{.model = expected}, by);
  }
};

struct Section {
  int number = 0;
  std::string_view title;
  int rows = 0;  // the number of rows of the list
  std::vector<Fact> facts = {};

  // Adds a fact; the result takes more about it: fact(7, "name", "E", "says").ShownBy("Suite.Name");
  Fact& operator()(int row, std::string_view name, std::string_view source, std::string_view says) {
    return facts.emplace_back(Fact{.row = row, .name = name, .source = source, .says = says});
  }
};

// "6.9 newcomer_is_aborted"
std::string FactId(const Section& section, const Fact& fact);

Section Surprises();         // 0
Section Inserts();           // 1
Section CommitTimestamps();  // 2
Section CurrentTimestamp();  // 3
Section Functions();         // 4
Section EmptyDml();          // 5
Section Concurrency();       // 6
Section CommitReplay();      // 7
Section Sessions();          // 8
Section TimedReads();        // 9
Section UnknownOutcomes();   // 10
Section CallSequences();     // 11
Section Published();         // 12
Section EmulatorSpeed();     // 13
Section Consequences();      // 14

}  // namespace whorl::facts
