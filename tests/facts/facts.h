// What is known of Spanner and of its emulator, fact by fact, and what whorl makes of each.
//
// A fact is numbered by the section and the row of the list in which the facts were gathered (a row
// that holds several becomes several entries), says where it comes from, and ends in a verdict:
//
//   agrees       the model does it: shown by a probe, or by a test that is named
//   differs      the model does otherwise on purpose; `differs` says why
//   not covered  nothing here can show it; `not_covered` says why
//
// Invariants (held by facts_test.cc):
//   1. Every row of every section has an entry, and no two entries have one id.
//   2. A fact agrees unless it says why not, and what agrees is shown.
//   3. Where the emulator is asked too, it answers as the model does, by Spanner's rules or by its
//      own, if and only if the fact agrees.
#pragma once

#include <span>
#include <string>
#include <string_view>
#include <vector>

namespace whorl::facts {

class Probe;

struct Fact {
  int row = 0;  // in its section, from 1
  std::string_view name;
  // E the emulator, measured; S its source; D Spanner's documentation; P comments in its protos;
  // C sources of clients; I threads of issues; N captured from a client; ? not confirmed.
  std::string_view source;
  std::string_view says;

  std::string_view differs = "";      // why
  std::string_view not_covered = "";  // why

  std::string_view shown_by = "";  // Suite.Name of a test
  void (*probe)(Probe&) = nullptr;
  // What the probe hears (Probe::Transcript): from the model by Spanner's rules, from the model by
  // the emulator's (empty: the same), and from the emulator (empty: as the model by the
  // emulator's).
  std::string_view heard = "";
  std::string_view by_emulators_rules = "";
  std::string_view from_emulator = "";
};

struct Section {
  int number = 0;
  std::string_view title;
  int rows = 0;  // that the list has in it
  std::vector<Fact> facts;
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
