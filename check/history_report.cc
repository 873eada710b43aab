#include "check/history_report.h"

#include <algorithm>
#include <cstdint>
#include <map>
#include <set>
#include <string_view>
#include <utility>

#include "base/text.h"
#include "check/history_headline.h"
#include "check/no_protocol.h"
#include "check/page_events.h"
#include "check/relative_time.h"
#include "sim/judge/known.h"
#include "sim/report/headline.h"
#include "sim/report/page_spans.h"
#include "sim/report/page_tables.h"
#include "sim/report/row_text.h"
#include "sim/report/timeline.h"

namespace whorl::check {
namespace {

using sim::Instant;
using sim::Json;
using sim::PageSpan;
using sim::TimelineLine;
using sim::Tone;

constexpr std::string_view kToneWords[] = {"plain", "good", "bad", "warning"};

const InvariantResult* FirstViolated(const HistoryVerdict& verdict) {
  const InvariantResult* first = nullptr;
  for (const InvariantResult& found : verdict.invariants) {
    if (found.verdict != Verdict::kViolated || !found.at) continue;
    if (first == nullptr || *found.at < *first->at) first = &found;
  }
  return first;
}

class Report {
 public:
  Report(const ProtocolInfo& protocol, const PageEvents& all, const HistoryVerdict& verdict,
         const ReportAbout& about)
      : protocol_(protocol),
        all_(all),
        verdict_(verdict),
        about_(about),
        states_(all.nodes.size()) {}

  HistoryReport Make() {
    for (const PageEvent& event : all_.events) {
      now_ = {(event.at - all_.zero).ns};
      ++ordinal_;
      AddRow(event);
      spans_.Observing(ordinal_);
      BeginsToRun(event);
      Follow(event);
    }
    spans_.AddTo(tables_);
    AddViolations();
    HistoryReport report;
    report.nodes = all_.nodes;
    report.story = StoryOfFirst();
    report.page.head = Head(report.story);
    sim::PageTables::Packed packed = tables_.Pack();
    report.page.head["data"] = std::move(packed.manifest);
    report.page.bytes = std::move(packed.bytes);
    report.timeline = std::move(lines_);
    return report;
  }

 private:
  struct State {  // of a node
    bool runs = false;
    std::set<int> believes;  // locks
    std::set<int> works;
  };

  void AddRow(const PageEvent& event) {
    const std::string_view kind = WordOf(event.kind);
    const auto known = std::ranges::find(kinds_, kind);
    tables_.Add("events").Int("at", now_.ns).Int("kind", known - kinds_.begin());
    if (known == kinds_.end()) kinds_.push_back(kind);
    tables_.Add(kind).Fields(event.fields);
  }

  void AddLine(const PageEvent& event, Tone tone, const std::string& text) {
    if (lines_.size() >= sim::Timeline::kMaxLines) {
      ++left_out_;
      return;
    }
    sim::Lane lane = sim::Lane::kAbsent;
    if (event.node >= 0) {
      const State& state = states_[static_cast<size_t>(event.node)];
      if (state.runs) lane = state.believes.empty() ? sim::Lane::kRuns : sim::Lane::kBelieves;
    }
    const std::string of = event.lock >= 0 && all_.locks.size() > 1
                               ? Cat(all_.locks[static_cast<size_t>(event.lock)], ": ")
                               : std::string();
    lines_.push_back({.at = now_,
                      .ordinal = ordinal_,
                      .node = event.node,
                      .lane = lane,
                      .tone = tone,
                      .text = of + text});
    line_locks_.push_back(event.lock);
  }

  // A process that shows a sign of life is up, whether or not its start was recorded. A start is no sign of the
  // process before, which it ends.
  void BeginsToRun(const PageEvent& event) {
    if (event.node < 0 || !event.is_sign || event.kind == PageEventKind::kProcessGone ||
        event.kind == PageEventKind::kProcessStarted) {
      return;
    }
    states_[static_cast<size_t>(event.node)].runs = true;
    spans_.Set(PageSpan::kUp, event.node, 0, true);
  }

  void Follow(const PageEvent& event) {
    switch (event.kind) {
      case PageEventKind::kProcessStarted:
        End(event);
        spans_.Set(PageSpan::kUp, event.node, 0, true);
        states_[static_cast<size_t>(event.node)].runs = true;
        return AddLine(event, Tone::kPlain, "started");
      case PageEventKind::kProcessGone:
        End(event);
        return AddLine(event, Tone::kWarning, "ended");
      case PageEventKind::kBeliefChanged:
        return Changes(event, &State::believes, PageSpan::kBelieves, "believes that it leads",
                       event.lapses ? "its belief lapsed" : "believes so no longer");
      case PageEventKind::kWorkChanged:
        return Changes(event, &State::works, PageSpan::kWorks, "is at work", "rests");
      case PageEventKind::kRowCommitted:
        return AddVersion(event);
      case PageEventKind::kFaultBegan:
        spans_.FaultBegins(event.number);
        SetPaused(event, true);
        return AddLine(event, Tone::kWarning, Cat("inferred: ", all_.faults[event.number].text));
      case PageEventKind::kFaultEnded:
        SetPaused(event, false);
        return spans_.FaultEnds(event.number);
      case PageEventKind::kCallSent:
        return spans_.Sent(event.number);
      case PageEventKind::kCallServed:
        return spans_.Served(event.number);
      case PageEventKind::kCallEnded:
        return spans_.Ended(event.number);
      case PageEventKind::kQuestionAnswered:
      case PageEventKind::kWriteArrived:
      case PageEventKind::kLine:
      case PageEventKind::kViolated:
        break;
    }
  }

  void SetPaused(const PageEvent& fault, bool is_on) {
    if (!all_.faults[fault.number].is_pause || fault.node < 0) return;
    spans_.Set(PageSpan::kPaused, fault.node, 0, is_on);
  }

  void End(const PageEvent& event) {
    spans_.Gone(event.node, all_.locks.size());
    states_[static_cast<size_t>(event.node)] = State();
  }

  void Changes(const PageEvent& event, std::set<int> State::* set, PageSpan span,
               std::string_view begins, std::string_view ends) {
    std::set<int>& on = states_[static_cast<size_t>(event.node)].*set;
    // Without a lock: of all its locks.
    for (int lock = 0; lock < static_cast<int>(all_.locks.size()); ++lock) {
      if (event.lock >= 0 && event.lock != lock) continue;
      const bool changes = event.is_on ? on.insert(lock).second : on.erase(lock) > 0;
      if (!changes) continue;
      spans_.Set(span, event.node, static_cast<uint16_t>(lock), event.is_on);
      PageEvent of_lock = event;
      of_lock.lock = lock;
      AddLine(of_lock, event.is_on ? Tone::kGood : Tone::kPlain,
              std::string(event.is_on ? begins : ends));
    }
  }

  void AddVersion(const PageEvent& event) {
    if (event.lock < 0) return;
    const PageVersion& version = event.version;
    tables_.Add("versions")
        .Int("event", static_cast<int64_t>(ordinal_))
        .Int("lock", event.lock)
        .Int("held", version.held ? 1 : 0)
        .Int("node", version.held ? version.node : -1)
        .Text("token", "version", version.token)
        .Int("lease_until", version.lease_until ? (*version.lease_until - all_.zero).ns : 0);
    PageVersion& last = versions_[event.lock];
    const bool is_grant =
        version.held && (!last.held || last.owner != version.owner || last.token != version.token);
    const bool renews = last.held && last.owner == version.owner && version.token.empty();
    PageEvent of_row = event;
    of_row.node = TimelineLine::kSpanner;
    if (is_grant && !renews) {
      AddLine(of_row, Tone::kGood,
              Cat(last.held && last.owner != version.owner
                      ? Cat(version.owner, " took it from ", last.owner)
                      : Cat("held by ", version.owner),
                  version.token.empty() ? "" : ", token ", version.token));
    } else if (last.held && !version.held) {
      AddLine(of_row, Tone::kPlain, version.is_there ? "given back" : "row deleted");
    }
    last = version;
  }

  void AddViolations() {
    for (const InvariantResult& found : verdict_.invariants) {
      if (found.verdict != Verdict::kViolated || !found.at) continue;
      tables_.Add("violations")
          .Int("event", static_cast<int64_t>(EventOf(WordOf(found.invariant), *found.at)))
          .Int("at", (*found.at - all_.zero).ns)
          .Int("invariant", static_cast<int64_t>(found.invariant));
    }
  }
  // The ordinal of the event at that time: of a violation there is one.
  uint64_t EventAt(Timestamp at) const {
    const auto event = std::ranges::lower_bound(all_.events, at, {}, &PageEvent::at);
    return std::min(all_.events.size(), static_cast<size_t>(event - all_.events.begin()) + 1);
  }
  uint64_t EventOf(std::string_view invariant, Timestamp at) const {
    const auto is_it = [&](const PageEvent& event) {
      return event.kind == PageEventKind::kViolated && event.fields["invariant"] == invariant;
    };
    const auto event = std::ranges::find_if(all_.events, is_it);
    if (event == all_.events.end()) return EventAt(at);
    return static_cast<uint64_t>(event - all_.events.begin()) + 1;
  }

  // --- the story -----------------------------------------------------------------------------------

  sim::Story StoryOfFirst() const {
    sim::Story story;
    const InvariantResult* first = FirstViolated(verdict_);
    if (first == nullptr) return story;
    const std::string name(WordOf(first->invariant));
    story.invariant = name;
    story.at = {(*first->at - all_.zero).ns};
    story.head = Cat(name, " violated at ", sim::InstantText(story.at), " s: ", first->text);
    const auto lock = std::ranges::find(all_.locks, first->lock);
    const int wanted = lock == all_.locks.end() ? -1 : static_cast<int>(lock - all_.locks.begin());
    constexpr size_t kLines = sim::kMaxStoryLines - 4;  // beside the head, the mark and the end
    for (size_t i = 0; i < lines_.size() && lines_[i].at <= story.at; ++i) {
      if (wanted >= 0 && line_locks_[i] >= 0 && line_locks_[i] != wanted) continue;
      const TimelineLine& line = lines_[i];
      const std::string who =
          line.node >= 0 ? all_.nodes[static_cast<size_t>(line.node)] : std::string();
      story.lines.push_back({.at = line.at, .who = who, .text = line.text});
    }
    if (story.lines.size() > kLines) {
      story.left_out = story.lines.size() - kLines;
      story.lines.erase(story.lines.begin(),
                        story.lines.begin() + static_cast<std::ptrdiff_t>(story.left_out));
    }
    story.lines.push_back({.at = story.at, .who = "", .text = Cat("certain by now   <- ", name)});
    story.end = StateAfter(story.at);
    return story;
  }

  // What the nodes were doing at that time, by the lines.
  std::string StateAfter(Instant at) const {
    std::map<int16_t, sim::Lane> lanes;
    for (const TimelineLine& line : lines_) {
      if (line.at <= at && line.node >= 0) lanes[line.node] = line.lane;
    }
    std::string text;
    for (const auto& [node, lane] : lanes) {
      const std::string_view does = lane == sim::Lane::kBelieves ? " believes that it leads"
                                    : lane == sim::Lane::kRuns   ? " runs"
                                                                 : " is down";
      text += Cat(text.empty() ? "" : ", ", all_.nodes[static_cast<size_t>(node)], does);
    }
    return text.empty() ? "nothing is known of the processes" : text;
  }

  // --- the head ------------------------------------------------------------------------------------

  Json Head(const sim::Story& story) const {
    Json head = Json::object();
    head["format"] = sim::kPageFormat;
    head["recorded"] = true;
    head["whorl"] = about_.whorl_version;
    head["command"] = about_.command;
    head["on"] = "";
    head["scenario"] = ScenarioJson();
    head["result"] = ResultJson();
    head["headline"] = sim::HeadlineJson(HeadlineOf(verdict_, all_.zero));
    head["story"] = StoryJson(story);
    Json timeline = Json::array();
    for (const TimelineLine& line : lines_) {
      timeline.push_back({{"event", line.ordinal},
                          {"at", line.at.ns},
                          {"node", line.node},
                          {"tone", kToneWords[static_cast<size_t>(line.tone)]},
                          {"text", line.text}});
    }
    head["timeline"] = std::move(timeline);
    head["timeline_left_out"] = left_out_;
    head["kinds"] = kinds_;
    return head;
  }

  Json ScenarioJson() const {
    Json nodes = Json::array();
    for (const std::string& name : all_.nodes) {
      nodes.push_back({{"name", name}, {"lease", ""}, {"clock_offset", 0}, {"clock_ppm", 0}});
    }
    Json faults = Json::array();
    for (const PageFault& fault : all_.faults) {
      faults.push_back(
          {{"text", Cat("inferred: ", fault.text)}, {"node", fault.node}, {"line", 0}});
    }
    return {{"name", "history"},
            {"start", FormatRfc3339(all_.zero)},
            {"about", Cat("What was recorded from ", TimeText(all_.events.front().at), " to ",
                          TimeText(all_.events.back().at), ". 0 s is ", TimeText(all_.zero),
                          "; what a process logged is shown at the time that is likely by its "
                          "clock. Faults are inferred from what processes did not do.")},
            {"protocol", all_.protocol},
            {"duration", now_.ns},
            {"epsilon", 0},
            {"locks", all_.locks},
            {"nodes", std::move(nodes)},
            {"faults", std::move(faults)}};
  }

  // Without a protocol nothing is promised.
  std::string_view PromisedText(Invariant invariant) const {
    if (IsNone(protocol_)) return "";
    return sim::PromiseWords(invariant, protocol_.promises[static_cast<size_t>(invariant)]);
  }

  Json ResultJson() const {
    Json invariants = Json::array();
    for (const InvariantResult& found : verdict_.invariants) {
      Json one = {{"name", WordOf(found.invariant)},
                  {"verdict", HistoryWordOf(found.verdict)},
                  {"violations", found.violations},
                  {"promised", PromisedText(found.invariant)},
                  {"expects", ""}};
      if (found.at) {
        one["event"] = EventOf(WordOf(found.invariant), *found.at);
        one["at"] = (*found.at - all_.zero).ns;
        one["text"] = found.text;
        one["promise"] = "";
        one["findings"] = "";
      } else if (!found.text.empty()) {
        one["unknown_because"] =
            Cat(found.text, found.remedy.empty() ? "" : "; to know: ", found.remedy);
      }
      invariants.push_back(std::move(one));
    }
    if (verdict_.outside_count > 0) {
      const OutsideWrite& first = verdict_.outside_writes.front();
      invariants.push_back({{"name", "outside_write"},
                            {"verdict", WordOf(Verdict::kViolated)},
                            {"violations", verdict_.outside_count},
                            {"promised", "it is charged to nobody"},
                            {"expects", ""},
                            {"event", EventOf("outside_write", first.at)},
                            {"at", (first.at - all_.zero).ns},
                            {"text", first.text},
                            {"promise", ""},
                            {"findings", ""}});
    }
    const HistoryMetrics& metrics = verdict_.metrics;
    return {{"seed", ""},
            {"hash", ""},
            {"simulated", now_.ns},
            {"judged", false},
            {"failures", Json::array()},
            {"metrics", {{"grants", metrics.grants}, {"takeovers", metrics.takeovers}}},
            {"records", verdict_.records.Lines()},
            {"invariants", std::move(invariants)}};
  }

  static Json StoryJson(const sim::Story& story) {
    Json lines = Json::array();
    for (const sim::StoryLine& line : story.lines) {
      lines.push_back({{"at", line.at.ns}, {"who", line.who}, {"text", line.text}});
    }
    return {{"invariant", story.invariant}, {"at", story.at.ns},          {"head", story.head},
            {"lines", std::move(lines)},    {"left_out", story.left_out}, {"end", story.end}};
  }

  const ProtocolInfo& protocol_;
  const PageEvents& all_;
  const HistoryVerdict& verdict_;
  const ReportAbout& about_;
  std::vector<State> states_;            // by node
  std::map<int, PageVersion> versions_;  // by lock
  sim::PageTables tables_;
  sim::PageSpans<uint32_t> spans_;
  std::vector<std::string_view> kinds_;
  std::vector<TimelineLine> lines_;
  std::vector<int> line_locks_;  // -1: of none
  uint64_t left_out_ = 0;
  Instant now_;
  uint64_t ordinal_ = 0;
};

}  // namespace

HistoryReport ReportOf(const ProtocolInfo& protocol, const History& history,
                       const Processes& processes, const InferredScenario& inferred,
                       const HistoryVerdict& verdict, const ReportAbout& about) {
  const PageEvents events =
      PageEventsOf(protocol, history.InOrder(processes), processes, inferred, verdict, about.lease);
  return Report(protocol, events, verdict, about).Make();
}

}  // namespace whorl::check
