#include "cli/hunt/merge.h"

#include <cstddef>
#include <utility>

#include "absl/status/status.h"
#include "base/text.h"
#include "cli/shards/pick.h"

namespace whorl::cli {
namespace {

std::string NameOf(const ReportFile& file) { return Printable(file.path, 1000); }

ReportOfPart PartOf(const ReportFile& file) {
  return {
      .path = file.path, .coverage = file.report.coverage, .is_cut_off = file.report.is_partial};
}

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

// All are parts of one hunt.
absl::Status CheckSameHunt(const std::vector<ReportFile>& files) {
  const ReportFile& first = files.front();
  for (const ReportFile& file : files) {
    if (file.report.hunt == first.report.hunt && file.report.asked == first.report.asked) continue;
    return absl::InvalidArgumentError(
        Cat(NameOf(file),
            ": of another hunt (another seed, other options, or another number of runs) than ",
            NameOf(first)));
  }
  return absl::OkStatus();
}

absl::Status Join(const ReportFile& from, ReportFile& into) {
  if (!SameTallies(from.report.tallies, into.report.tallies)) {
    const std::string both = SharedText(PartOf(from), PartOf(into));
    if (from.report.corpus != into.report.corpus) {
      return absl::InvalidArgumentError(
          Cat(both, ", and the two began with different corpora; leave one of them out"));
    }
    return absl::DataLossError(
        Cat(both,
            ", and the same runs came out otherwise: a mistake of whorl's, or one of "
            "the two was written by another build"));
  }
  TakeShrunk(from.report.tallies, into.report.tallies);
  return absl::OkStatus();
}

HuntReport Sum(const std::vector<ReportFile>& files, const PickedReports& picked) {
  HuntReport sum = files[picked.places.front()].report;
  for (size_t i = 1; i < picked.places.size(); ++i) {
    const HuntReport& report = files[picked.places[i]].report;
    for (const auto& [protocol, tally] : report.tallies) sum.tallies[protocol].Add(tally);
    sum.hunt.entries.worlds.insert(report.hunt.entries.worlds.begin(),
                                   report.hunt.entries.worlds.end());
    if (sum.corpus != report.corpus) sum.corpus = "several";
  }
  // A sum of checkpoints is a report, from which nobody goes on.
  sum.last.reset();
  sum.guides.clear();
  sum.is_partial = picked.is_cut_off;
  sum.coverage = picked.coverage;
  return sum;
}

}  // namespace

absl::StatusOr<HuntReport> SumOf(std::vector<ReportFile> files) {
  if (absl::Status same = CheckSameHunt(files); !same.ok()) return same;
  std::vector<ReportOfPart> parts;
  for (const ReportFile& file : files) parts.push_back(PartOf(file));
  const absl::StatusOr<PickedReports> picked = PickReports(
      std::move(parts), [&](size_t from, size_t into) { return Join(files[from], files[into]); });
  if (!picked.ok()) return picked.status();
  return Sum(files, *picked);
}

}  // namespace whorl::cli
