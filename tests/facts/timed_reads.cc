// Section 9: strong and stale reads.
#include <chrono>
#include <string>

#include "tests/facts/facts.h"
#include "tests/facts/probe.h"

namespace whorl::facts {
namespace {

constexpr const char* kSelect = "SELECT writer FROM locktable";

SingleUseRead At(Timestamp timestamp) {
  return {.bound = {.kind = BoundKind::kReadTimestamp, .timestamp = timestamp},
          .return_read_timestamp = true};
}
SingleUseRead Stale(Duration staleness, BoundKind kind = BoundKind::kExactStaleness) {
  return {.bound = {.kind = kind, .staleness = staleness}, .return_read_timestamp = true};
}

struct Versions {
  Timestamp first;
  Timestamp second;
};
Versions WriteTwice(Probe& p) {
  const Timestamp first = p.Do("INSERT INTO locktable (name, writer) VALUES ('a', 'v1')");
  return {first, p.Do("UPDATE locktable SET writer = 'v2' WHERE name = 'a'")};
}

const Outcome& Read(Probe& p, const SingleUseRead& read) {
  return p.a.Run({.sql = kSelect, .selector = read});
}

// The time on the server's clock.
Timestamp ServerNow(Probe& p) {
  p.Quietly(true);
  const Timestamp now = *Read(p, {.bound = {}, .return_read_timestamp = true}).read;
  p.Quietly(false);
  return now;
}

}  // namespace

Section TimedReads() {
  Section fact{.number = 9, .title = "strong and stale reads", .rows = 11};
  fact(1, "strong", "E", "sees what was just committed; so does an exact staleness of 0")
      .Probed("[v2] | as of after the commit | [v2]", [](Probe& p) {
        const Versions versions = WriteTwice(p);
        const Outcome& read = Read(p, {.bound = {}, .return_read_timestamp = true});
        p.Is("as of after the commit", *read.read > versions.second);
        Read(p, Stale({}));
      });
  fact(2, "exact_staleness", "E",
       "reads as of now less the staleness; before the database there is no row and no error")
      .Probed("[v2] | no row | by the staleness", [](Probe& p) {
        WriteTwice(p);
        const Outcome strong = Read(p, {.bound = {}, .return_read_timestamp = true});
        const Outcome& stale = Read(p, Stale(Seconds(1000)));
        const Duration apart = *strong.read - *stale.read;
        p.Is("by the staleness", apart > Seconds(990) && apart <= Seconds(1000));
      });
  fact(3, "bounded", "E, D", "some time not before the bound")
      .Probed("[v2] | [v2] | not before the bound", [](Probe& p) {
        const Versions versions = WriteTwice(p);
        Read(p, Stale(Seconds(10), BoundKind::kMaxStaleness));
        const Outcome& read =
            Read(p, {.bound = {.kind = BoundKind::kMinReadTimestamp, .timestamp = versions.first},
                     .return_read_timestamp = true});
        p.Is("not before the bound", *read.read >= versions.first);
      });
  fact(3, "bounded_may_be_older_than_the_last_commit", "D, E",
       "Spanner's nearest replica may lag; the emulator never shows older data")
      .ShownBy("DatabaseSnapshot.ALaggingReplicaAnswersAsOfTheBoundAtTheOldest");
  fact(4, "read_timestamps", "E", "include what was committed at them, to the nanosecond")
      .Probed("[v2] | [v1] | [v1] | no row | [v1] | to the nanosecond", [](Probe& p) {
        const Versions versions = WriteTwice(p);
        Read(p, At(versions.second));
        Read(p, At(versions.second - Microseconds(1)));
        Read(p, At(versions.first));
        Read(p, At(versions.first - Microseconds(1)));
        const Timestamp odd = versions.first + Nanoseconds(1);
        p.Is("to the nanosecond", *Read(p, At(odd)).read == odd);
      });
  fact(5, "near_future", "E", "a read waits for its time").Probed("[v2] | waited", [](Probe& p) {
    WriteTwice(p);
    const auto before = std::chrono::steady_clock::now();
    Read(p, At(ServerNow(p) + Milliseconds(200)));
    p.Is("waited", std::chrono::steady_clock::now() - before >= std::chrono::milliseconds(150));
  });
  fact(6, "far_future", "E", "more than an hour ahead is DEADLINE_EXCEEDED at once")
      .Probed("DEADLINE_EXCEEDED", [](Probe& p) { Read(p, At(ServerNow(p) + Seconds(3700))); });
  fact(7, "older_than_the_versions", "E",
       "more than version_retention_period ago is FAILED_PRECONDITION")
      .Probed("FAILED_PRECONDITION", [](Probe& p) { Read(p, At(ServerNow(p) - Seconds(3700))); });
  fact(8, "negative_staleness", "E", "INVALID_ARGUMENT").Probed("INVALID_ARGUMENT", [](Probe& p) {
    Read(p, Stale(Seconds(-1)));
  });
  fact(9, "bounded_for_several_reads", "E", "INVALID_ARGUMENT")
      .Probed("INVALID_ARGUMENT", [](Probe& p) {
        p.a.Begin(
            BeginReadOnly{.bound = {.kind = BoundKind::kMaxStaleness, .staleness = Seconds(10)}});
      });
  fact(10, "read_only_transaction", "E", "keeps the time at which it began")
      .Probed("OK | [v1] | [v2]", [](Probe& p) {
        p.Do("INSERT INTO locktable (name, writer) VALUES ('a', 'v1')");
        p.a.Begin(BeginReadOnly{});
        p.Do("UPDATE locktable SET writer = 'v2' WHERE name = 'a'");
        p.a.Sql(kSelect);
        p.b.Sql(kSelect);
      });
  fact(11, "exact_reads_wait_for_what_commits", "D", "at or before their time")
      .ShownBy("DatabaseSnapshot.AnExactReadWaitsForWhatCommitsAtOrBeforeIt");
  fact(11, "no_selector_is_strong", "D",
       "a statement without a transaction is a strong read by itself")
      .Probed("[v2]", [](Probe& p) {
        WriteTwice(p);
        p.a.Sql(kSelect);
      });
  fact(11, "when_stale_reads_pay", "D",
       "from about 10 s on, since leaders push safe times about so often")
      .NotCovered("a rule of thumb; Options::replica_lag is a number of the scenario's");
  return fact;
}

}  // namespace whorl::facts
