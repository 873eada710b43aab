#include "check/clock.h"

#include <algorithm>

#include "base/text.h"

namespace whorl::check {
namespace {

constexpr int64_t kMillion = 1'000'000;

std::string Text(Offsets offsets) {
  return Cat(FormatDuration(offsets.least), " to ", FormatDuration(offsets.most));
}

}  // namespace

std::string Clock::Declare(Offsets offsets) {
  if (offsets.least > offsets.most) {
    contradicts_ = true;
    return Cat("the declared offset, ", Text(offsets), ", is an empty interval");
  }
  if (declared_) {
    const Offsets both = {.least = std::max(declared_->least, offsets.least),
                          .most = std::min(declared_->most, offsets.most)};
    if (both.least > both.most) {
      contradicts_ = true;
      return Cat("its offset is declared as ", Text(*declared_), " and as ", Text(offsets));
    }
    declared_ = both;
    return {};
  }
  declared_ = offsets;
  return {};
}

Duration Clock::DriftIn(Duration time) {
  // By whole milliseconds, and one more.
  return {time.ns / kMillion * kDriftPpm + kDriftPpm};
}

Offsets Clock::Worn(const Shown& shown, Timestamp at) {
  const Duration drift = DriftIn(at < shown.at ? shown.at - at : at - shown.at);
  return {.least = shown.offsets.least - drift, .most = shown.offsets.most + drift};
}

std::string Clock::Call(Timestamp sent, Timestamp commit, Timestamp received,
                        const std::string& where) {
  // Once is enough.
  if (contradicts_) return {};
  std::string wrong = Narrow(sent, commit, received, where);
  contradicts_ = !wrong.empty();
  return wrong;
}

std::string Clock::Narrow(Timestamp sent, Timestamp commit, Timestamp received,
                          const std::string& where) {
  const std::string fact =
      Cat("the call of ", where, " (sent ", FormatRfc3339(sent), ", committed ",
          FormatRfc3339(commit), ", received ", FormatRfc3339(received), ")");
  if (received + resolution_ < sent) return Cat(fact, " was received before it was sent");
  // As of when the reply came: what the request shows is older.
  const Duration took = received < sent ? Duration() : received - sent;
  const Offsets call = {.least = sent - commit - DriftIn(took),
                        .most = received + resolution_ - commit};
  if (declared_ && (call.least > declared_->most || call.most < declared_->least)) {
    return Cat(fact, " says that its offset is ", Text(call), ", and it is declared as ",
               Text(*declared_));
  }
  if (!shown_) {
    shown_ = {.offsets = call, .at = received, .least_from = fact, .most_from = fact};
    return {};
  }
  Shown next = *shown_;
  next.offsets = Worn(*shown_, received);
  next.at = received;
  if (call.least > next.offsets.most || call.most < next.offsets.least) {
    const std::string other = call.least > next.offsets.most ? next.most_from : next.least_from;
    const std::string known = Text(next.offsets);
    return Cat(fact, " says that its offset is ", Text(call), "; ", other,
               " leaves, with a drift of ", std::to_string(kDriftPpm), " ppm, ", known);
  }
  if (call.least > next.offsets.least) {
    next.offsets.least = call.least;
    next.least_from = fact;
  }
  if (call.most < next.offsets.most) {
    next.offsets.most = call.most;
    next.most_from = fact;
  }
  shown_ = next;
  return {};
}

Offsets Clock::At(Timestamp at) const {
  if (!shown_) return *declared_;
  const Offsets worn = Worn(*shown_, at);
  if (!declared_) return worn;
  const Offsets both = {.least = std::max(declared_->least, worn.least),
                        .most = std::min(declared_->most, worn.most)};
  return both.least <= both.most ? both : *declared_;
}

}  // namespace whorl::check
