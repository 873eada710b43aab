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

void Strong(Probe& p) {
  const Versions versions = WriteTwice(p);
  const Outcome& read = Read(p, {.bound = {}, .return_read_timestamp = true});
  p.Is("as of after the commit", *read.read > versions.second);
  Read(p, Stale({}));
}

void ExactStaleness(Probe& p) {
  WriteTwice(p);
  const Outcome strong = Read(p, {.bound = {}, .return_read_timestamp = true});
  const Outcome& stale = Read(p, Stale(Seconds(1000)));
  const Duration apart = *strong.read - *stale.read;
  p.Is("by the staleness", apart > Seconds(990) && apart <= Seconds(1000));
}

void Bounded(Probe& p) {
  const Versions versions = WriteTwice(p);
  Read(p, Stale(Seconds(10), BoundKind::kMaxStaleness));
  const Outcome& read =
      Read(p, {.bound = {.kind = BoundKind::kMinReadTimestamp, .timestamp = versions.first},
               .return_read_timestamp = true});
  p.Is("not before the bound", *read.read >= versions.first);
}

void ReadTimestamps(Probe& p) {
  const Versions versions = WriteTwice(p);
  Read(p, At(versions.second));
  Read(p, At(versions.second - Microseconds(1)));
  Read(p, At(versions.first));
  Read(p, At(versions.first - Microseconds(1)));
  const Timestamp odd = versions.first + Nanoseconds(1);
  p.Is("to the nanosecond", *Read(p, At(odd)).read == odd);
}

// The time on the server's clock.
Timestamp ServerNow(Probe& p) {
  p.Quietly(true);
  const Timestamp now = *Read(p, {.bound = {}, .return_read_timestamp = true}).read;
  p.Quietly(false);
  return now;
}

void NearFuture(Probe& p) {
  WriteTwice(p);
  const auto before = std::chrono::steady_clock::now();
  Read(p, At(ServerNow(p) + Milliseconds(200)));
  p.Is("waited", std::chrono::steady_clock::now() - before >= std::chrono::milliseconds(150));
}

void SnapshotOfATransaction(Probe& p) {
  p.Do("INSERT INTO locktable (name, writer) VALUES ('a', 'v1')");
  p.a.Begin(BeginReadOnly{});
  p.Do("UPDATE locktable SET writer = 'v2' WHERE name = 'a'");
  p.a.Sql(kSelect);
  p.b.Sql(kSelect);
}

}  // namespace

Section TimedReads() {
  return {
      .number = 9,
      .title = "strong and stale reads",
      .rows = 11,
      .facts =
          {
              {.row = 1,
               .name = "strong",
               .source = "E",
               .says = "sees what was just committed; so does an exact staleness of 0",
               .probe = Strong,
               .heard = "[v2] | as of after the commit | [v2]"},
              {.row = 2,
               .name = "exact_staleness",
               .source = "E",
               .says = "reads as of now less the staleness; before the database there is no row "
                       "and no error",
               .probe = ExactStaleness,
               .heard = "[v2] | no row | by the staleness"},
              {.row = 3,
               .name = "bounded",
               .source = "E, D",
               .says = "some time not before the bound",
               .probe = Bounded,
               .heard = "[v2] | [v2] | not before the bound"},
              {.row = 3,
               .name = "bounded_may_be_older_than_the_last_commit",
               .source = "D, E",
               .says = "Spanner's nearest replica may lag; the emulator never shows older data",
               .shown_by = "DatabaseSnapshot.ALaggingReplicaAnswersAsOfTheBoundAtTheOldest"},
              {.row = 4,
               .name = "read_timestamps",
               .source = "E",
               .says = "include what was committed at them, to the nanosecond",
               .probe = ReadTimestamps,
               .heard = "[v2] | [v1] | [v1] | no row | [v1] | to the nanosecond"},
              {.row = 5,
               .name = "near_future",
               .source = "E",
               .says = "a read waits for its time",
               .probe = NearFuture,
               .heard = "[v2] | waited"},
              {.row = 6,
               .name = "far_future",
               .source = "E",
               .says = "more than an hour ahead is DEADLINE_EXCEEDED at once",
               .probe = [](Probe& p) { Read(p, At(ServerNow(p) + Seconds(3700))); },
               .heard = "DEADLINE_EXCEEDED"},
              {.row = 7,
               .name = "older_than_the_versions",
               .source = "E",
               .says = "more than version_retention_period ago is FAILED_PRECONDITION",
               .probe = [](Probe& p) { Read(p, At(ServerNow(p) - Seconds(3700))); },
               .heard = "FAILED_PRECONDITION"},
              {.row = 8,
               .name = "negative_staleness",
               .source = "E",
               .says = "INVALID_ARGUMENT",
               .probe = [](Probe& p) { Read(p, Stale(Seconds(-1))); },
               .heard = "INVALID_ARGUMENT"},
              {.row = 9,
               .name = "bounded_for_several_reads",
               .source = "E",
               .says = "INVALID_ARGUMENT",
               .probe =
                   [](Probe& p) {
                     p.a.Begin(BeginReadOnly{
                         .bound = {.kind = BoundKind::kMaxStaleness, .staleness = Seconds(10)}});
                   },
               .heard = "INVALID_ARGUMENT"},
              {.row = 10,
               .name = "read_only_transaction",
               .source = "E",
               .says = "keeps the time at which it began",
               .probe = SnapshotOfATransaction,
               .heard = "OK | [v1] | [v2]"},
              {.row = 11,
               .name = "exact_reads_wait_for_what_commits",
               .source = "D",
               .says = "at or before their time",
               .shown_by = "DatabaseSnapshot.AnExactReadWaitsForWhatCommitsAtOrBeforeIt"},
              {.row = 11,
               .name = "no_selector_is_strong",
               .source = "D",
               .says = "a statement without a transaction is a strong read by itself",
               .probe =
                   [](Probe& p) {
                     WriteTwice(p);
                     p.a.Sql(kSelect);
                   },
               .heard = "[v2]"},
              {.row = 11,
               .name = "when_stale_reads_pay",
               .source = "D",
               .says = "from about 10 s on, since leaders push safe times about so often",
               .not_covered =
                   "a rule of thumb; Options::replica_lag is a number of the scenario's"},
          },
  };
}

}  // namespace whorl::facts
