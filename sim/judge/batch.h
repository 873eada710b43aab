// Runs many jobs on several threads; a job is usually one run of a scenario with a seed.
//
// Invariants:
//   1. The caller sees the same whatever the number of threads: `done` is called on the caller's
//      thread, once for each job, in the order of the jobs.
//   2. A job's exceptions do not escape: `done` gets their text instead.
//   3. When RunBatch returns, or `done` throws, no job is running any more.
//   4. At most kBatchWindow jobs have begun whose `done` has not returned, so memory does not grow
//      with the number of jobs: place i % kBatchWindow belongs to job i until its `done` returns.
// A job writes its outcome into its place and shares nothing else.
// Deliberately left out: cancelling a running job, and priorities.
#pragma once

#include <cstddef>
#include <functional>
#include <optional>
#include <string>

namespace whorl::sim {

inline constexpr size_t kBatchWindow = 1024;

// Does job `i`. Called once for each i in [0, count), on any thread.
using BatchJob = std::function<void(size_t i)>;

// Called when job `i` has ended; `error` is the text of its exception, if it threw one. Returns
// whether to go on: after kStop no further job begins, and `done` is not called again.
enum class BatchStep { kGoOn, kStop };
using BatchDone = std::function<BatchStep(size_t i, const std::optional<std::string>& error)>;

// REQUIRES: threads >= 1. With 1, or if the system gives no thread, jobs run on the caller's
// thread.
void RunBatch(size_t count, int threads, const BatchJob& job, const BatchDone& done);

}  // namespace whorl::sim
