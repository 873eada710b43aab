#include "cli/check/judgement.h"

#include <algorithm>
#include <iostream>
#include <utility>

#include "cli/interrupt.h"
#include "cli/output.h"
#include "sim/scenario/error_text.h"

namespace whorl::cli {
namespace {

using check::InvariantFinding;

constexpr int64_t kErrorsShown = 20;

}  // namespace

Judgement::Judgement(const ProtocolInfo& protocol, const CheckRequest& request)
    : keeps_all_(request.WantsHistory()),
      checker_(protocol, {.lease = request.lease,
                          .clock_error = request.clock_error,
                          .window = request.window.value_or(check::CheckOptions{}.window)}) {}

std::optional<Timestamp> Judgement::Take(Source& source) {
  operations_.clear();
  Refuse(source.input().Read(source.line(), source.place(), operations_), source);
  std::optional<Timestamp> at;
  for (check::Operation& operation : operations_) {
    if (const std::optional<Timestamp> time = check::TimeOf(operation)) at = time;
    ++added_;
    if (keeps_all_) history_.Add(operation);
    checker_.Add(std::move(operation));
  }
  return at;
}

void Judgement::End(Source& source) {
  Refuse(source.broken(), source);
  Refuse(source.input().Finish(), source);
}

std::vector<InvariantFinding> Judgement::News() {
  std::vector<InvariantFinding> news = checker_.Certain();
  std::erase_if(
      news, [&](const InvariantFinding& found) { return !told_.insert(found.invariant).second; });
  return news;
}

void Judgement::Refuse(const std::string& wrong, const Source& source) {
  if (wrong.empty()) return;
  if (errors_++ < kErrorsShown) Complain(wrong);
  checker_.AddUnread(source.place());
}

void ReadAll(std::vector<Source>& sources, Judgement& judgement, bool tells) {
  std::vector<std::pair<Timestamp, Source*>> open;
  for (Source& source : sources) open.emplace_back(Timestamp::Min(), &source);
  while (!open.empty() && !SignalNotice::HasCome()) {
    const auto next = std::ranges::min_element(
        open, [](const auto& a, const auto& b) { return a.first < b.first; });
    Source& source = *next->second;
    if (tells && source.MayWait()) {
      for (const InvariantFinding& found : judgement.News()) {
        std::cout << "violated  " << WordOf(found.invariant) << ": "
                  << sim::Printable(found.text, 2'000) << std::endl;
      }
    }
    if (!source.Next()) {
      judgement.End(source);
      open.erase(next);
      continue;
    }
    if (const auto at = judgement.Take(source)) next->first = *at;
  }
}

void ComplainOfMore(const Judgement& judgement) {
  if (judgement.errors() <= kErrorsShown) return;
  Complain(sim::Cat("and ", std::to_string(judgement.errors() - kErrorsShown),
                    " more lines that cannot be read"));
}

}  // namespace whorl::cli
