#include "cli/hunt/merge.h"

#include <algorithm>
#include <cstdint>
#include <tuple>
#include <utility>

#include "absl/status/status.h"
#include "sim/scenario/error_text.h"

namespace whorl::cli {
namespace {

using sim::Cat;

std::string NameOf(const ReportFile& file) { return sim::Printable(file.path, 1000); }

// What both have shrunk must be the same. Of two equal reports, one may have been interrupted before
// it had shrunk all.
void TakeShrunk(const sim::HuntTallies& from, sim::HuntTallies& into) {
  for (auto& [protocol, tally] : into) {
    const auto other = from.find(protocol);
    if (other == from.end()) continue;
    for (auto& [kind, finding] : tally.findings) {
      const auto same = other->second.findings.find(kind);
      if (finding.shrunk || same == other->second.findings.end()) continue;
      finding.shrunk = same->second.shrunk;
      finding.shrink_runs = same->second.shrink_runs;
    }
  }
}

bool SameTallies(sim::HuntTallies one, sim::HuntTallies other) {
  TakeShrunk(one, other);
  TakeShrunk(other, one);
  return one == other;
}

class Merger {
 public:
  explicit Merger(const std::vector<ReportFile>& files) : files_(files) {}

  absl::StatusOr<HuntReport> Run() {
    if (absl::Status same = TakeParts(); !same.ok()) return same;
    if (absl::Status joined = JoinSame(); !joined.ok()) return joined;
    if (absl::Status picked = Pick(); !picked.ok()) return picked;
    return Sum();
  }

 private:
  struct Part {
    const ReportFile* file = nullptr;
    HuntReport report;  // its coverage by as many shards as that of all others
  };

  // A report of the whole hunt has one shard, and may stand beside those of its parts.
  absl::Status TakeParts() {
    const HuntReport& first = files_.front().report;
    uint64_t shards = 1;
    for (const ReportFile& file : files_) shards = std::max(shards, file.report.coverage.shards);
    for (const ReportFile& file : files_) {
      const uint64_t count = file.report.coverage.shards;
      if (file.report.hunt != first.hunt || file.report.asked != first.asked ||
          (count != shards && count != 1)) {
        return absl::InvalidArgumentError(
            Cat(NameOf(file),
                ": of another hunt (another seed, other options, or another number of runs or "
                "shards) than ",
                NameOf(files_.front())));
      }
      parts_.push_back({.file = &file, .report = file.report});
      parts_.back().report.coverage = file.report.coverage.SplitInto(shards);
    }
    return absl::OkStatus();
  }

  // Of reports of the same runs one is left, with all that was shrunk.
  absl::Status JoinSame() {
    std::vector<Part> distinct;
    for (Part& part : parts_) {
      const auto same = std::ranges::find_if(distinct, [&](const Part& other) {
        return other.report.coverage == part.report.coverage;
      });
      if (same == distinct.end()) {
        distinct.push_back(std::move(part));
        continue;
      }
      if (absl::Status joined = Join(std::move(part), *same); !joined.ok()) return joined;
    }
    parts_ = std::move(distinct);
    return absl::OkStatus();
  }

  static absl::Status Join(Part part, Part& into) {
    const std::string both = Cat(NameOf(*part.file), ": ", ShardsText(part.report.coverage),
                                 " is in ", NameOf(*into.file), ", too");
    if (part.report.is_partial && into.report.is_partial) {
      return absl::InvalidArgumentError(Cat(both, ", and both are cut off; leave one of them out"));
    }
    if (part.report.is_partial) return absl::OkStatus();
    if (into.report.is_partial) {
      into = std::move(part);
      return absl::OkStatus();
    }
    if (!SameTallies(part.report.tallies, into.report.tallies)) {
      if (part.report.corpus != into.report.corpus) {
        return absl::InvalidArgumentError(
            Cat(both, ", and the two began with different corpora; leave one of them out"));
      }
      return absl::DataLossError(
          Cat(both,
              ", and the same runs came out otherwise: a mistake of whorl's, or one of "
              "the two was written by another build"));
    }
    TakeShrunk(part.report.tallies, into.report.tallies);
    return absl::OkStatus();
  }

  // Takes the reports that have the most of each of their shards, and no run twice; what is
  // left has to be contained in them. Of sums that overlap, the greater one comes first, and one that
  // is cut off comes last.
  absl::Status Pick() {
    all_.shards = parts_.front().report.coverage.shards;
    for (const Part& part : parts_) {
      for (const auto& [shard, count] : part.report.coverage.runs) {
        uint64_t& most = all_.runs[shard];
        most = std::max(most, count);
      }
    }
    std::ranges::sort(parts_, [](const Part& a, const Part& b) {
      const auto& runs = a.report.coverage.runs;
      const auto& others = b.report.coverage.runs;
      return std::forward_as_tuple(a.report.is_partial, others.size(), runs) <
             std::forward_as_tuple(b.report.is_partial, runs.size(), others);
    });
    Coverage taken{.shards = all_.shards, .runs = {}};
    Coverage whole = taken;  // by reports that lack nothing
    std::vector<Part> picked;
    std::vector<Part> left;
    for (Part& part : parts_) {
      const Coverage& coverage = part.report.coverage;
      const bool has_most = std::ranges::all_of(
          coverage.runs, [&](const auto& entry) { return all_.runs[entry.first] == entry.second; });
      if (!has_most || taken.SharedShard(coverage)) {
        left.push_back(std::move(part));
        continue;
      }
      taken.runs.insert(coverage.runs.begin(), coverage.runs.end());
      if (!part.report.is_partial) whole.runs.insert(coverage.runs.begin(), coverage.runs.end());
      picked.push_back(std::move(part));
    }
    for (const Part& part : left) {
      if (!whole.Contains(part.report.coverage)) return Overlaps(part, taken);
    }
    parts_ = std::move(picked);
    return absl::OkStatus();
  }

  static absl::Status Overlaps(const Part& part, const Coverage& taken) {
    const Coverage& coverage = part.report.coverage;
    const uint64_t shard = taken.SharedShard(coverage).value_or(coverage.runs.begin()->first);
    return absl::InvalidArgumentError(
        Cat(NameOf(*part.file), ": ", ShardsText({.shards = coverage.shards, .runs = {{shard, 0}}}),
            " is there already, added up with others or cut off; leave one of the files out"));
  }

  HuntReport Sum() {
    HuntReport sum = std::move(parts_.front().report);
    for (size_t i = 1; i < parts_.size(); ++i) {
      const HuntReport& report = parts_[i].report;
      for (const auto& [protocol, tally] : report.tallies) sum.tallies[protocol].Add(tally);
      sum.is_partial |= report.is_partial;
      sum.hunt.entries.worlds.insert(report.hunt.entries.worlds.begin(),
                                     report.hunt.entries.worlds.end());
      if (sum.corpus != report.corpus) sum.corpus = "several";
    }
    sum.coverage = all_.Joined();
    return sum;
  }

  const std::vector<ReportFile>& files_;
  std::vector<Part> parts_;
  Coverage all_;  // of all reports
};

}  // namespace

absl::StatusOr<HuntReport> SumOf(const std::vector<ReportFile>& files) {
  return Merger(files).Run();
}

}  // namespace whorl::cli
