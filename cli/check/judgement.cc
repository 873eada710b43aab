#include "cli/check/judgement.h"

#include <algorithm>
#include <iostream>
#include <utility>

#include "base/text.h"
#include "cli/interrupt.h"
#include "cli/output.h"

namespace whorl::cli {
namespace {

using check::InvariantResult;

constexpr int64_t kErrorsShown = 20;

// What is read of a database comes in order: by itself it needs no window.
Duration WindowOf(const CheckRequest& request) {
  const bool is_ordered = request.database.IsRead() && request.files.empty();
  return request.window.value_or(is_ordered ? Duration() : check::CheckOptions{}.window);
}

}  // namespace

Judgement::Judgement(const ProtocolInfo& protocol, const CheckRequest& request,
                     std::shared_ptr<check::RecordCounts> counts)
    : counts_(std::move(counts)),
      keeps_all_(request.WantsHistory()),
      checker_(protocol, {.lease = request.lease,
                          .clock_error = request.clock_error,
                          .window = WindowOf(request)}) {
  if (!request.resume_path.empty()) resume_.emplace(request, protocol);
}

void Judgement::GoOn(Resumed resumed) {
  for (check::Operation& operation : resumed.changes) {
    resume_->Add(std::get<check::RowChange>(operation.what));
    checker_.Add(std::move(operation));
  }
  was_resumed_ = !resumed.changes.empty();
  checker_.Advance(resumed.position);
  checker_.GoOn(resumed.metrics);
  before_ = std::move(resumed.findings);
  outside_before_ = std::move(resumed.outside_writes);
  outside_before_count_ = resumed.outside_count;
  for (const InvariantResult& found : before_) {
    if (found.verdict == sim::Verdict::kViolated) told_.insert(found.invariant);
  }
}

check::HistoryVerdict Judgement::Verdict() {
  if (resume_) Keep(resume_->End(checker_, Before()));
  check::AddUnclear(*counts_, checker_);
  check::HistoryVerdict verdict = checker_.Verdict();
  verdict.records = *counts_;
  std::vector<check::OutsideWrite>& outside = verdict.outside_writes;
  outside.insert(outside.begin(), outside_before_.begin(), outside_before_.end());
  outside.resize(std::min(outside.size(), check::kOutsideKept));
  verdict.outside_count += outside_before_count_;
  for (const InvariantResult& found : before_) {
    InvariantResult& now = verdict.invariants[static_cast<size_t>(found.invariant)];
    now = WorseOf(found, now);
  }
  return verdict;
}

void Judgement::Keep(const absl::Status& kept) {
  if (kept.ok() || !failure_.ok()) return;
  Complain(std::string(kept.message()));
  failure_ = kept;
}

std::optional<Timestamp> Judgement::Take(Source& source) {
  if (source.reached()) {
    checker_.Advance(*source.reached());
    if (resume_) Keep(resume_->Reached(*source.reached(), checker_, Before()));
    return source.reached();
  }
  if (const std::optional<check::Unseen>& unseen = source.unseen()) checker_.Add(*unseen);
  operations_.clear();
  if (source.change()) {
    operations_.push_back({.place = source.place(), .what = *source.change()});
  } else {
    const std::string wrong = source.goes_on()
                                  ? source.input().Part(source.line(), source.place(), operations_)
                                  : source.input().Read(source.line(), source.place(), operations_);
    Refuse(wrong, source);
    if (counts_->MayDecide()) checker_.DoubtLines();
  }
  std::optional<Timestamp> at;
  for (check::Operation& operation : operations_) {
    std::string refused;
    if (origins_.Refuses(operation, refused)) {
      Refuse(refused, source);
      continue;
    }
    if (const std::optional<Timestamp> time = check::TimeOf(operation)) at = time;
    counts_->CountUsed(operation);
    if (keeps_all_) history_.Add(operation);
    const auto* change = std::get_if<check::RowChange>(&operation.what);
    if (resume_ && change != nullptr) resume_->Add(*change);
    checker_.Add(std::move(operation));
  }
  return at;
}

void Judgement::End(Source& source) {
  if (source.stream() != nullptr) return EndStream(*source.stream());
  Refuse(source.broken(), source);
  Refuse(source.input().Finish(), source);
}

void Judgement::EndStream(const RecordStream& stream) {
  if (stream.status().ok()) return;
  Complain(std::string(stream.status().message()));
  failure_ = stream.status();
  checker_.AddMissing(Cat(stream.name(), " could not be read to its end"),
                      "read it again when it can be");
}

std::vector<InvariantResult> Judgement::News() {
  std::vector<InvariantResult> news = checker_.Certain();
  std::erase_if(
      news, [&](const InvariantResult& found) { return !told_.insert(found.invariant).second; });
  return news;
}

std::vector<check::OutsideWrite> Judgement::OutsideNews() {
  const std::vector<check::OutsideWrite>& all = checker_.outside_writes();
  std::vector<check::OutsideWrite> news(all.begin() + static_cast<std::ptrdiff_t>(outside_told_),
                                        all.end());
  outside_told_ = all.size();
  return news;
}

void Judgement::Refuse(std::string wrong, const Source& source) {
  if (!wrong.empty()) counts_->Refuse(std::move(wrong));
  for (const std::string& refused : counts_->TakeRefused()) {
    if (errors_++ < kErrorsShown) Complain(refused);
    checker_.AddUnread(source.place());
  }
}

void ReadAll(std::vector<Source>& sources, Judgement& judgement, bool tells) {
  std::vector<std::pair<Timestamp, Source*>> open;
  for (Source& source : sources) open.emplace_back(Timestamp::Min(), &source);
  while (!open.empty() && !SignalNotice::HasCome()) {
    const auto next = std::ranges::min_element(
        open, [](const auto& a, const auto& b) { return a.first < b.first; });
    Source& source = *next->second;
    if (tells && source.MayWait()) {
      for (const InvariantResult& found : judgement.News()) {
        std::cout << "violated  " << WordOf(found.invariant) << ": " << Printable(found.text, 2'000)
                  << std::endl;
      }
      for (const check::OutsideWrite& write : judgement.OutsideNews()) {
        std::cout << "violated  outside_write: " << Printable(write.text, 2'000) << std::endl;
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
  Complain(Cat("and ", std::to_string(judgement.errors() - kErrorsShown),
               " more lines that cannot be read"));
}

}  // namespace whorl::cli
