#include "check/history_headline.h"

#include <algorithm>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "base/text.h"

namespace whorl::check {
namespace {

using sim::Tone;

std::string ForText(const std::vector<Duration>& overlaps) {
  Duration sum;
  for (const Duration overlap : overlaps) sum = sum + overlap;
  return sum.ns == 0 ? std::string() : Cat(" for at least ", FormatSeconds(sum, 3), " s");
}

// What is to be said of an invariant; empty: nothing.
std::string PartOf(const InvariantResult& found, const HistoryVerdict& verdict, Timestamp zero) {
  const std::string name(WordOf(found.invariant));
  if (found.verdict == Verdict::kPossiblyViolated) return Cat("perhaps ", name, " was violated");
  const bool is_lease = found.invariant == Invariant::kLeaseRespected;
  if (found.verdict == Verdict::kHolds && is_lease) return "lease respected";
  if (found.verdict != Verdict::kViolated) return {};
  const std::string since = found.at ? Cat(FormatSeconds(*found.at - zero, 6), " s") : name;
  if (is_lease) return Cat("lease not respected at ", since);
  if (found.invariant == Invariant::kSingleWorker) {
    return Cat("two workers side by side", ForText(verdict.metrics.work_overlaps), ", from ", since,
               " on");
  }
  if (found.invariant != Invariant::kSingleLeaderBelief) return Cat(name, " violated at ", since);
  // Two leaders that work are told of as workers.
  if (verdict[Invariant::kSingleWorker].verdict == Verdict::kViolated) return {};
  return Cat("two leaders at once", ForText(verdict.metrics.belief_overlaps), ", from ", since,
             " on");
}

Tone ToneOf(const HistoryVerdict& verdict) {
  const auto is = [&](Verdict wanted) {
    return std::ranges::find(verdict.invariants, wanted, &InvariantResult::verdict) !=
           verdict.invariants.end();
  };
  if (is(Verdict::kViolated) || verdict.outside_count > 0) return Tone::kBad;
  if (is(Verdict::kPossiblyViolated)) return Tone::kWarning;
  return is(Verdict::kHolds) ? Tone::kGood : Tone::kPlain;
}

}  // namespace

sim::Headline HeadlineOf(const HistoryVerdict& verdict, Timestamp zero) {
  std::vector<std::string> parts;
  for (const InvariantResult& found : verdict.invariants) {
    std::string part = PartOf(found, verdict, zero);
    if (!part.empty()) parts.push_back(std::move(part));
  }
  if (verdict.outside_count > 0) {
    parts.push_back(Cat("a change of the row at ",
                        FormatSeconds(verdict.outside_writes.front().at - zero, 6),
                        " s that no process can have made"));
  }
  const Tone tone = ToneOf(verdict);
  if (tone == Tone::kGood) parts.emplace_back("no invariant was violated, by what was recorded");
  if (tone == Tone::kPlain) parts.emplace_back("too little was recorded to judge any invariant");
  sim::Headline headline{.text = {}, .tone = tone};
  for (const std::string& part : parts) {
    headline.text += Cat(headline.text.empty() ? "" : "; ", part);
  }
  if (headline.text.front() >= 'a') headline.text.front() -= 'a' - 'A';
  headline.text += ".";
  return headline;
}

}  // namespace whorl::check
