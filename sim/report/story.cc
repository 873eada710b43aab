#include "sim/report/story.h"

#include <algorithm>
#include <map>
#include <string_view>
#include <tuple>
#include <utility>

#include "base/text.h"
#include "sim/report/row_text.h"

namespace whorl::sim {
namespace {

std::vector<StoryDraft> MergeRepeated(std::vector<StoryDraft> drafts) {
  std::map<std::string, size_t> first;
  std::vector<StoryDraft> merged;
  for (StoryDraft& draft : drafts) {
    const auto [place, is_new] = first.try_emplace(draft.same, merged.size());
    if (draft.same.empty() || is_new) {
      merged.push_back(std::move(draft));
      continue;
    }
    StoryDraft& kept = merged[place->second];
    ++kept.times;
    kept.last = draft.at;
    kept.weight = std::min(kept.weight, draft.weight);
  }
  return merged;
}

}  // namespace

std::string StoryDraft::Text() const {
  if (times == 1) return text;
  return Cat(text, " (", std::to_string(times), " times, until ", InstantText(last), ")");
}

std::vector<StoryDraft> FitIn(size_t room, std::vector<StoryDraft> drafts, size_t& left_out) {
  std::ranges::sort(drafts, {}, [](const StoryDraft& draft) {
    return std::tuple(draft.at, draft.rank, draft.order);
  });
  drafts = MergeRepeated(std::move(drafts));
  while (drafts.size() > (left_out > 0 ? room - 1 : room)) {
    drafts.erase(std::ranges::max_element(drafts, {}, &StoryDraft::weight));
    ++left_out;
  }
  return drafts;
}

std::vector<std::string> Story::Lines() const {
  if (invariant.empty()) {
    return {asked.empty() ? "nothing was violated" : asked + " was not violated"};
  }
  constexpr size_t kTimeWidth = 12;
  size_t width = 0;
  for (const StoryLine& line : lines) width = std::max(width, line.who.size());
  for (const StoryLine& line : after) width = std::max(width, line.who.size());
  const auto laid_out = [&](std::string time, std::string who, std::string_view text) {
    time.insert(0, kTimeWidth - std::min(kTimeWidth, time.size()), ' ');
    who.resize(std::max(width, who.size()), ' ');
    return Cat(time, "  ", who, "  ", text);
  };
  std::vector<std::string> all = {head};
  for (const StoryLine& line : lines) {
    all.push_back(laid_out(InstantText(line.at), line.who, line.text));
  }
  if (left_out > 0) {
    all.push_back(laid_out("...", "",
                           Cat(CountText(static_cast<int64_t>(left_out), "event", "events"),
                               " of less weight left out; --trace has everything")));
  }
  all.push_back(laid_out("then", "", end));
  for (const StoryLine& line : after) {
    all.push_back(laid_out(InstantText(line.at), line.who, line.text));
  }
  return all;
}

}  // namespace whorl::sim
