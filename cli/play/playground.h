// Answers what the page of `whorl play` asks: runs scenarios, hunts from them, completes and saves them.
//
// Invariants:
//   1. What is not a scenario, takes too long or finds nothing is an answer, never an exception.
//   2. Files are written in one folder, under names of letters, digits, - and _; nothing there is replaced unless the
//      same session made it.
// May be used by one thread at a time.
#pragma once

#include <chrono>
#include <cstdint>
#include <set>
#include <string>
#include <vector>

#include "sim/report/json_print.h"

namespace whorl::cli {

class Playground {
 public:
  // `folder`: where Save writes. `patience`: the most time that a run, or a hunt, may take.
  Playground(std::string folder, std::chrono::milliseconds patience);

  // What a scenario may begin with: [{"words", "about", "text"}], the text for each protocol is made by Start.
  static sim::Json Starts();
  // The text of a scenario with that start. {"text"} or {"errors"}.
  sim::Json Start(const std::string& protocol, const std::string& words) const;

  // Runs the scenario. {"errors": ["scenario:3: .."]} or {"head", "good", "violated": [..], "failures": [..],
  // "story": [..]}, and its page, which Page() has until the next run.
  sim::Json Run(const std::string& text);
  const std::string& Page() const { return page_; }

  // Looks for a run around the scenario that violates something, promised invariants first, and makes it small.
  // {"errors"}, {"runs"} if nothing was found, or {"runs", "about", "text"}.
  sim::Json Hunt(const std::string& text) const;

  // {"path"} or {"errors"}.
  sim::Json Save(const std::string& name, const std::string& text);

 private:
  const std::string folder_;
  const std::chrono::milliseconds patience_;
  std::string page_;
  std::set<std::string> saved_;  // in this session
};

}  // namespace whorl::cli
