#include "check/releases.h"

#include <algorithm>

#include "base/text.h"

namespace whorl::check {
namespace {

constexpr std::string_view kLogWork =
    "log when each application begins and ends to work, by its process's clock";

}  // namespace

void Releases::Add(Release release) { waiting_.push_back(std::move(release)); }

void Releases::Begin(const std::string& process, const std::string& lock, Timestamp at) {
  anybody_works_ = true;
  Part& part = parts_[{process, lock}];
  if (part.is_open) return;
  part.work.push_back({.from = at});
  part.is_open = true;
}

void Releases::End(const std::string& process, const std::string& lock, Timestamp at) {
  for (auto part = parts_.lower_bound({process, lock});
       part != parts_.end() && part->first.first == process; ++part) {
    if (!lock.empty() && part->first.second != lock) break;
    if (!std::exchange(part->second.is_open, false)) continue;
    part->second.work.back().to = at;
    part->second.work.back().may_to = at;
  }
}

void Releases::Gap(const std::string& process, std::optional<Timestamp> last, Timestamp at) {
  tally_.MissingLines(process, at);
  Cut(process, last, at);
}

void Releases::Restart(const std::string& process, std::optional<Timestamp> last, Timestamp at) {
  Cut(process, last, at);
}

void Releases::Cut(const std::string& process, std::optional<Timestamp> last, Timestamp at) {
  for (auto part = parts_.lower_bound({process, ""});
       part != parts_.end() && part->first.first == process; ++part) {
    if (!std::exchange(part->second.is_open, false)) continue;
    Work& work = part->second.work.back();
    work.to = std::max(last.value_or(work.from), work.from);
    work.may_to = at;
  }
}

bool Releases::Take(const Release& release, bool is_last) {
  const Process* who = processes_.Find(release.owner);
  const bool has_lines = who != nullptr && who->last_line.has_value();
  // Its log has to show what it did after the release.
  if (!is_last && (!has_lines || !release.call || *who->last_line <= release.call->received)) {
    return false;
  }
  if (!anybody_works_) return true;  // which Find() says
  if (!has_lines) {
    Missing(Cat(release.owner, " gave lock ", Quoted(release.lock),
                " back, and no line of it was recorded"),
            std::string(kLogWork));
    return true;
  }
  tally_.Judged();
  const auto part = parts_.find({release.owner, release.lock});
  if (part == parts_.end()) return true;
  const std::optional<Given> given = GivenBack(release, *who);
  if (given) {
    Say(release, Meet(release, *given, *who, part->second.work));
  } else {
    tally_.MissingClock(release.owner);
  }
  return true;
}

std::optional<Releases::Given> Releases::GivenBack(const Release& release, const Process& owner) {
  if (release.call) return Given{.from = release.call->sent, .to = release.call->received};
  if (!owner.clock.IsKnown()) return std::nullopt;
  // What it showed then, at least; how far off it was is known by what it showed.
  const Timestamp near = release.commit + owner.clock.At(release.commit).least;
  const Timestamp least = std::min(near, release.commit + owner.clock.At(near).least);
  return Given{.from = least - owner.clock.resolution(), .to = std::nullopt};
}

Releases::Meets Releases::Meet(const Release& release, const Given& given, const Process& owner,
                               const std::vector<Work>& works) {
  const Duration cut = owner.clock.resolution();
  Meets meets = Meets::kNo;
  for (const Work& work : works) {
    // If it logs no ends, this one may have ended at once.
    const Timestamp lasted = LogsEnds(owner, Kind::kWorking)
                                 ? std::max(work.to.value_or(*owner.last_line), work.from)
                                 : work.from;
    const bool is_before = work.may_to && *work.may_to + cut <= given.from;
    const bool is_after = given.to && work.from >= *given.to + cut;
    if (is_before || is_after) continue;
    // A line that only shows that it went on may be the reply's own.
    const bool says_end = work.to && work.to == work.may_to;
    const bool outlasts =
        given.to && (says_end ? lasted > *given.to + cut : lasted >= *given.to + cut);
    // The owner may have been the process that had its id before it.
    const bool is_certain =
        release.is_certain && !owner.has_restarted && outlasts && work.from + cut <= given.from;
    if (is_certain) return Meets::kYes;
    meets = Meets::kPerhaps;
  }
  return meets;
}

void Releases::Say(const Release& release, Meets meets) {
  const auto text = [&] {
    return Cat(release.owner, " gave lock ", Quoted(release.lock), " back with commit timestamp ",
               FormatRfc3339(release.commit));
  };
  if (meets == Meets::kYes) {
    tally_.Violated(release.commit, release.lock, {release.owner},
                    [&] { return Cat(text(), " while its application was still at work"); });
  } else if (meets == Meets::kPerhaps) {
    tally_.Possible(release.commit, release.lock, std::nullopt, [&] {
      return Cat(text(), ", perhaps while its application was still at work; ",
                 release.call ? "the lines do not decide it"
                              : "log its call: when it was sent, its step, when the reply came");
    });
  }
}

void Releases::JudgeBefore(Timestamp watermark) {
  std::erase_if(waiting_, [&](const Release& release) {
    return release.commit < watermark && Take(release, /*is_last=*/false);
  });
  for (auto& entry : parts_) {
    const std::string& process = entry.first.first;
    const Process* who = processes_.Find(process);
    if (!KnowsClock(who)) continue;
    const bool is_needed = std::ranges::any_of(
        waiting_, [&](const Release& release) { return release.owner == process; });
    if (is_needed) continue;
    std::erase_if(entry.second.work, [&](const Work& work) {
      return work.may_to && who->clock.TrueTime(*work.may_to).latest < watermark;
    });
  }
}

void Releases::Finish() {
  for (const Release& release : waiting_) Take(release, /*is_last=*/true);
  waiting_.clear();
}

InvariantResult Releases::Find() const {
  return tally_.Find(anybody_works_ ? "no release was recorded" : "no process said that it works",
                     std::string(kLogWork));
}

}  // namespace whorl::check
