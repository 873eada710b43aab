#include "cli/shards/pick.h"

#include <algorithm>
#include <cstdint>
#include <tuple>
#include <utility>

#include "base/text.h"

namespace whorl::cli {
namespace {

std::string NameOf(const ReportOfPart& report) { return Printable(report.path, 1000); }

class Picker {
 public:
  Picker(std::vector<ReportOfPart> reports, const JoinReports& join)
      : reports_(std::move(reports)), join_(join) {}

  absl::StatusOr<PickedReports> Run() {
    if (absl::Status split = SplitAlike(); !split.ok()) return split;
    if (absl::Status joined = JoinSame(); !joined.ok()) return joined;
    if (absl::Status picked = Pick(); !picked.ok()) return picked;
    picked_.coverage = all_.Joined();
    return std::move(picked_);
  }

 private:
  // A report of the whole has one shard, and may stand beside those of its parts.
  absl::Status SplitAlike() {
    uint64_t shards = 1;
    for (const ReportOfPart& report : reports_) shards = std::max(shards, report.coverage.shards);
    for (size_t i = 0; i < reports_.size(); ++i) {
      const uint64_t count = reports_[i].coverage.shards;
      if (count != shards && count != 1) {
        return absl::InvalidArgumentError(
            Cat(NameOf(reports_[i]), ": one of ", std::to_string(count),
                " shards, and there are some of ", std::to_string(shards)));
      }
      reports_[i].coverage = reports_[i].coverage.SplitInto(shards);
      places_.push_back(i);
    }
    all_.shards = shards;
    return absl::OkStatus();
  }

  // Of reports of the same runs one is left, with all that either has.
  absl::Status JoinSame() {
    std::vector<size_t> distinct;
    for (const size_t place : places_) {
      const auto same = std::ranges::find_if(distinct, [&](size_t other) {
        return reports_[other].coverage == reports_[place].coverage;
      });
      if (same == distinct.end()) {
        distinct.push_back(place);
        continue;
      }
      if (reports_[place].is_cut_off && reports_[*same].is_cut_off) {
        return absl::InvalidArgumentError(Cat(SharedText(reports_[place], reports_[*same]),
                                              ", and both are cut off; leave one of them out"));
      }
      if (reports_[place].is_cut_off) continue;
      if (reports_[*same].is_cut_off) {
        *same = place;
        continue;
      }
      if (absl::Status joined = join_(place, *same); !joined.ok()) return joined;
    }
    places_ = std::move(distinct);
    return absl::OkStatus();
  }

  // Takes the reports that have the most of each of their shards, and no run twice; what is
  // left has to be contained in them. Of sums that overlap, the greater one comes first, and one that
  // is cut off comes last.
  absl::Status Pick() {
    for (const size_t place : places_) {
      for (const auto& [shard, count] : reports_[place].coverage.runs) {
        uint64_t& most = all_.runs[shard];
        most = std::max(most, count);
      }
    }
    std::ranges::sort(places_, [&](size_t a, size_t b) {
      const auto& runs = reports_[a].coverage.runs;
      const auto& others = reports_[b].coverage.runs;
      return std::forward_as_tuple(reports_[a].is_cut_off, others.size(), runs) <
             std::forward_as_tuple(reports_[b].is_cut_off, runs.size(), others);
    });
    Coverage taken{.shards = all_.shards, .runs = {}};
    Coverage whole = taken;  // by reports that lack nothing
    std::vector<size_t> left;
    for (const size_t place : places_) {
      const Coverage& coverage = reports_[place].coverage;
      const bool has_most = std::ranges::all_of(
          coverage.runs, [&](const auto& entry) { return all_.runs[entry.first] == entry.second; });
      if (!has_most || taken.SharedShard(coverage)) {
        left.push_back(place);
        continue;
      }
      taken.runs.insert(coverage.runs.begin(), coverage.runs.end());
      if (!reports_[place].is_cut_off) {
        whole.runs.insert(coverage.runs.begin(), coverage.runs.end());
      }
      picked_.places.push_back(place);
      picked_.is_cut_off |= reports_[place].is_cut_off;
    }
    for (const size_t place : left) {
      if (!whole.Contains(reports_[place].coverage)) return Overlaps(reports_[place], taken);
    }
    return absl::OkStatus();
  }

  static absl::Status Overlaps(const ReportOfPart& report, const Coverage& taken) {
    const Coverage& coverage = report.coverage;
    const uint64_t shard = taken.SharedShard(coverage).value_or(coverage.runs.begin()->first);
    return absl::InvalidArgumentError(
        Cat(NameOf(report), ": ", ShardsText({.shards = coverage.shards, .runs = {{shard, 0}}}),
            " is there already, added up with others or cut off; leave one of the files out"));
  }

  std::vector<ReportOfPart> reports_;  // their coverage by as many shards as that of all others
  const JoinReports& join_;
  std::vector<size_t> places_;  // of those that are still of interest
  Coverage all_;
  PickedReports picked_;
};

}  // namespace

absl::StatusOr<PickedReports> PickReports(std::vector<ReportOfPart> reports,
                                          const JoinReports& join) {
  return Picker(std::move(reports), join).Run();
}

std::string SharedText(const ReportOfPart& one, const ReportOfPart& other) {
  return Cat(NameOf(one), ": ", ShardsText(one.coverage), " is in ", NameOf(other), ", too");
}

}  // namespace whorl::cli
