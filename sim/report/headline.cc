#include "sim/report/headline.h"

#include <algorithm>
#include <cstddef>
#include <optional>
#include <string_view>

#include "base/text.h"
#include "sim/judge/known.h"

namespace whorl::sim {
namespace {

std::string AtText(Instant at) { return Cat(FormatSeconds({at.ns}, 3), " s"); }

const InvariantResult* FirstOf(const CheckReport& checks, auto is_wanted) {
  const InvariantResult* first = nullptr;
  for (const InvariantResult& of : checks.invariants) {
    if (!of.first.has_value() || !is_wanted(of)) continue;
    if (first == nullptr || of.first->at < first->first->at) first = &of;
  }
  return first;
}

std::string ViolationText(const InvariantResult& of) {
  return Cat("At ", AtText(of.first->at), " ", of.first->text);
}

Headline RefusedOfHolder(const CountedWrites& writes) {
  const auto count = static_cast<int64_t>(writes.events.size());
  return {.text = Cat(CountText(count, "write", "writes"), " of the rightful holder ",
                      count == 1 ? "was refused, at " : "were refused, the first at ",
                      AtText(writes.at), count == 1 ? " (" : " (of ", writes.writer,
                      "): the resource had taken a greater token before."),
          .tone = Tone::kBad,
          .event = writes.events.front()};
}

std::string TimesText(size_t count) {
  return count == 1 ? std::string(" it") : Cat(" ", std::to_string(count), " such writes");
}

// What became of the writes of processes that did not hold the lock.
Headline StaleWrites(const CountedWrites& refused, const CountedWrites& accepted, bool has_tokens) {
  const bool is_lost = !accepted.events.empty();
  const bool is_saved = !refused.events.empty();
  const CountedWrites& first =
      !is_lost || (is_saved && refused.at < accepted.at) ? refused : accepted;
  std::string text = Cat("At ", AtText(first.at), " ", first.writer, " wrote although ");
  if (first.owner.empty()) {
    text += "it held the lock no longer";
  } else if (first.owner == first.writer) {
    text += "the lock had changed hands since it sent the write";
  } else {
    text += Cat(first.owner, " held the lock");
  }
  const std::string took = TimesText(accepted.events.size());
  if (!has_tokens) {
    text += Cat(", and nothing refused", is_lost ? took : std::string(" it"), ".");
  } else if (is_lost && is_saved) {
    text += Cat(": the resource that checks tokens refused", TimesText(refused.events.size()),
                ", the one that does not check them accepted", took, ".");
  } else if (is_lost) {
    text += Cat(": the resource does not check tokens, and accepted", took, ".");
  } else {
    text += Cat(": the resource that checks tokens refused", TimesText(refused.events.size()), ".");
  }
  return {.text = std::move(text),
          .tone = is_lost ? Tone::kBad : Tone::kWarning,
          .event = first.events.front()};
}

std::string TogetherText(const CheckReport& checks, Metric sum, std::string_view what) {
  const Duration together = {checks.metrics[sum]};
  if (together.ns == 0) return ".";
  return Cat("; two ", what, " at once for ", FormatSeconds(together, 3), " s in all.");
}

Headline OfViolation(const CheckReport& checks, const InvariantResult& of) {
  std::string end = ".";
  if (of.invariant == Invariant::kSingleWorker) {
    end = TogetherText(checks, Metric::kWorkOverlapSum, "were at work");
  } else if (of.invariant == Invariant::kSingleLeaderBelief) {
    end = TogetherText(checks, Metric::kBeliefOverlapSum, "believed that they lead");
  }
  return {.text = ViolationText(of) + end, .tone = Tone::kBad, .event = of.first->observation};
}

Headline OfNoViolation(const CheckReport& checks) {
  std::string unknown;
  for (const InvariantResult& of : checks.invariants) {
    if (of.verdict != Verdict::kUnknown) continue;
    unknown += Cat(unknown.empty() ? "" : ", ", WordOf(of.invariant));
  }
  if (unknown.empty()) return {.text = "No invariant was violated.", .tone = Tone::kGood};
  return {.text = Cat("No invariant was violated, as far as can be told: of ", unknown,
                      " it is unknown."),
          .tone = Tone::kPlain};
}

}  // namespace

Headline HeadlineOf(const Scenario& scenario, const CheckReport& checks, const WriteFates& writes) {
  const InvariantResult* broken = FirstOf(checks, [&](const InvariantResult& of) {
    return KnownOf(scenario, of.invariant, of.promise).IsPromiseBroken();
  });
  if (broken != nullptr) {
    return {.text = Cat(ViolationText(*broken), ", which ", scenario.protocol,
                        " promises never to happen."),
            .tone = Tone::kBad,
            .event = broken->first->observation};
  }
  const InvariantResult* first = FirstOf(checks, [](const InvariantResult&) { return true; });
  if (!writes.rightful_refused.events.empty()) return RefusedOfHolder(writes.rightful_refused);
  if (!writes.stale_accepted.events.empty() || !writes.stale_refused.events.empty()) {
    const bool has_tokens = checks[Invariant::kTokenMonotonic].verdict != Verdict::kNotApplicable;
    Headline told = StaleWrites(writes.stale_refused, writes.stale_accepted, has_tokens);
    if (first == nullptr) told.text += " No invariant was violated.";
    return told;
  }
  if (first == nullptr) return OfNoViolation(checks);
  for (const Invariant harm : {Invariant::kSingleWorker, Invariant::kSingleLeaderBelief}) {
    if (checks[harm].first.has_value()) return OfViolation(checks, checks[harm]);
  }
  return OfViolation(checks, *first);
}

}  // namespace whorl::sim
