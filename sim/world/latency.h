// Draws latencies from tables of quantiles in whole nanoseconds.
//
// Source of `regional`: Spanner's published figures (OSDI 2012, tables 3 and 4: about 9 ms of Paxos
// for a replicated write, about 1.4 ms for a read) and Cloud Spanner's documentation ("typically a
// handful of milliseconds" for a write).
// Source of `multi_region`: F1 (OSDI 2012, table 6): replicas on both coasts of the US, reads of
// 8.7 ms and single-site commits of 72.3 ms on average. These tables are within a tenth of both.
// Tails are not published for either; ours reach 200 ms once in ten thousand, so a run of a day
// meets them.
#pragma once

#include <array>
#include <cstdint>

#include "base/time.h"
#include "sim/scenario/scenario.h"

namespace whorl::sim {

// Values at the quantiles 0, 0.5, 0.9, 0.99, 0.999, 0.9999 and 1; linear between them.
using LatencyTable = std::array<Duration, 7>;

struct Latencies {
  LatencyTable one_way;      // between a process and Spanner
  LatencyTable service;      // a statement at Spanner
  LatencyTable replication;  // a commit, without its commit wait
  LatencyTable resource;     // one way between a process and the resource it writes to
};
const Latencies& LatenciesOf(Preset preset);

// The value that the table has at the quantile bits / 2^64.
Duration Pick(const LatencyTable& table, uint64_t bits);

Duration Pick(const DelaySpec& delay, uint64_t bits);

// An upper bound of the p99.9 of a Commit's round trip: the sum of the p99.9 of its parts.
Duration RoundTripP999(Preset preset);

}  // namespace whorl::sim
