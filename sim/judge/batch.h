// Many jobs on several threads: usually one run of a (scenario, seed) each.
//
// Invariants:
//   1. What a caller sees does not depend on the number of threads: `done` comes on the caller's
//      thread, once for each job, in the order of the jobs.
//   2. No exception of a job escapes: its text is given to `done` instead.
//   3. When RunBatch returns, by an exception of `done` too, no job is running any more.
//   4. At most kBatchWindow jobs have begun whose `done` has not returned, so memory does not grow
//      with the number of jobs: place i % kBatchWindow is job i's until its `done` has returned.
// A job writes its outcome into its place and shares nothing else.
// Deliberately left out: breaking off a job that runs, and priorities.
#pragma once

#include <cstddef>
#include <functional>
#include <optional>
#include <string>

namespace whorl::sim {

inline constexpr size_t kBatchWindow = 1024;

// Does job `i`. Called once for each i in [0, count), on some thread.
using BatchJob = std::function<void(size_t i)>;

// Job `i` has ended; `error` says how, when it threw. Returns whether to go on: when not, no
// further job is begun, and no further `done` comes.
enum class BatchStep { kGoOn, kStop };
using BatchDone = std::function<BatchStep(size_t i, const std::optional<std::string>& error)>;

// REQUIRES: threads >= 1. With 1, or where the system gives no thread, jobs run on the caller's.
void RunBatch(size_t count, int threads, const BatchJob& job, const BatchDone& done);

}  // namespace whorl::sim
