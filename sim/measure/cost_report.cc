#include "sim/measure/cost_report.h"

#include <algorithm>
#include <map>
#include <span>
#include <tuple>
#include <utility>

#include "base/text.h"

namespace whorl::sim {
namespace {

template <typename T>
T UsualOf(const std::vector<T>& asked, T usual) {
  return std::ranges::find(asked, usual) == asked.end() ? asked.front() : usual;
}

// Small cases first, so that an interrupted report has most of them.
auto OrderOf(const CostCase& what) {
  return std::tuple((what.followers + 1) * what.locks, what.protocol, what.lease.ns, what.followers,
                    what.locks);
}
struct InOrder {
  bool operator()(const CostCase& a, const CostCase& b) const { return OrderOf(a) < OrderOf(b); }
};

class Reporter {
 public:
  explicit Reporter(CostReport& report) : options_(report.options), report_(report) {}

  absl::Status Measure(int threads, const std::function<BatchStep(size_t, size_t)>& go_on) {
    std::vector<CostCase> cases;
    for (const auto& [what, figures] : Wanted()) cases.push_back(what);
    if (cases.empty()) return NothingToMeasure();
    std::vector<CostResult> results;
    const absl::Status status = MeasureCosts(
        cases, options_.runs, options_.seed, threads,
        [&](size_t done, size_t all) {
          const BatchStep step = go_on(done, all);
          report_.interrupted = step == BatchStep::kStop && done < all;
          return step;
        },
        results);
    for (const CostResult& result : results) measured_[result.what] = FiguresOf(result);
    return status;
  }

  void Fill() {
    for (const std::string& protocol : options_.protocols) {
      for (const Duration lease : options_.leases) {
        for (const int64_t followers : options_.followers) {
          if (const CostFigures* found = Find(CaseOf(protocol, lease, followers, 1))) {
            report_.steady.push_back(*found);
          }
        }
      }
      FillHerd(protocol);
      for (const Duration lease : options_.leases) FillLocks(protocol, lease);
    }
  }

 private:
  CostCase CaseOf(const std::string& protocol, Duration lease, int64_t followers,
                  int64_t locks) const {
    return {.protocol = protocol,
            .lease = lease,
            .followers = followers,
            .locks = locks,
            .preset = options_.preset};
  }
  CostCase HerdOf(const std::string& protocol, int64_t followers) const {
    return CaseOf(protocol, options_.UsualLease(), followers, 1);
  }
  CostCase LocksOf(const std::string& protocol, Duration lease, int64_t locks) const {
    return CaseOf(protocol, lease, options_.UsualFollowers(), locks);
  }

  // Adds every case once, unless it cannot be measured.
  std::map<CostCase, CostFigures, InOrder> Wanted() {
    std::map<CostCase, CostFigures, InOrder> wanted;
    const auto want = [&](const CostCase& what) {
      if (std::string why = WhyNoCost(what); why.empty()) {
        wanted.try_emplace(what);
      } else if (what.locks == 1) {
        report_.left_out.push_back({what, std::move(why)});
      }
    };
    for (const std::string& protocol : options_.protocols) {
      for (const Duration lease : options_.leases) {
        for (const int64_t followers : options_.followers) {
          want(CaseOf(protocol, lease, followers, 1));
        }
      }
      for (const int64_t followers : options_.herd) {
        if (followers <= options_.largest) want(HerdOf(protocol, followers));
      }
      // The second law multiplies what one lock costs, which is among the above. It is checked with one lease: a
      // thousand locks take minutes.
      for (const int64_t locks : options_.locks) {
        const bool is_simulated = locks > 1 && locks <= options_.largest;
        if (is_simulated) want(LocksOf(protocol, options_.UsualLease(), locks));
      }
    }
    return wanted;
  }

  absl::Status NothingToMeasure() const {
    if (report_.left_out.empty()) return absl::InvalidArgumentError("there is nothing to measure");
    const LeftOutCost& first = report_.left_out.front();
    return absl::InvalidArgumentError(Cat(first.what.protocol, " ", first.why));
  }

  const CostFigures* Find(const CostCase& what) const {
    const auto found = measured_.find(what);
    return found == measured_.end() ? nullptr : &found->second;
  }

  void FillHerd(const std::string& protocol) {
    std::vector<CostFigures> known;  // by rising followers
    for (const int64_t followers : options_.herd) {
      if (const CostFigures* found = Find(HerdOf(protocol, followers))) known.push_back(*found);
    }
    std::ranges::sort(known, {}, [](const CostFigures& one) { return one.what.followers; });
    const size_t n = known.size();
    if (n >= 3) {
      const CostFigures& last = known[n - 1];
      const CostFigures by_law = WithFollowers(known[n - 3], known[n - 2], last.what.followers);
      report_.herd_checks.push_back({protocol, last.what.followers, DeviationOf(last, by_law)});
    }
    for (const int64_t followers : options_.herd) {
      const CostFigures* found = Find(HerdOf(protocol, followers));
      if (found != nullptr) {
        report_.herd.push_back(*found);
      } else if (n >= 2 && followers > options_.largest) {
        report_.herd.push_back(WithFollowers(known[n - 2], known[n - 1], followers));
      }
    }
  }

  void FillLocks(const std::string& protocol, Duration lease) {
    const CostFigures* one = Find(LocksOf(protocol, lease, 1));
    if (one == nullptr) return;
    for (const int64_t locks : options_.locks) {
      const CostFigures by_law = WithLocks(*one, locks);
      const CostFigures* found = Find(LocksOf(protocol, lease, locks));
      report_.locks.push_back(found == nullptr ? by_law : *found);
      if (found == nullptr || locks == 1) continue;
      report_.lock_checks.push_back({protocol, locks, DeviationOf(*found, by_law)});
    }
  }

  const CostOptions& options_;
  CostReport& report_;
  std::map<CostCase, CostFigures, InOrder> measured_;
};

}  // namespace

Duration CostOptions::UsualLease() const { return UsualOf(leases, Seconds(10)); }
int64_t CostOptions::UsualFollowers() const { return UsualOf<int64_t>(followers, 2); }

absl::Status MeasureCostReport(const CostOptions& options, int threads,
                               const std::function<BatchStep(size_t done, size_t all)>& go_on,
                               CostReport& report) {
  report = {.options = options};
  Reporter reporter(report);
  const absl::Status status = reporter.Measure(threads, go_on);
  if (status.ok()) reporter.Fill();
  return status;
}

}  // namespace whorl::sim
