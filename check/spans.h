// Judges spans of time that must not overlap: in which processes believed that they lead a lock, or in
// which their applications were at work.
//
//   a  ..[======certain======]......        begin and end are intervals in true time, since clocks
//   b            ......[==certain==]..      are; the dots are where the span may have been, too
//
// An overlap is certain if the certain parts of both overlap, and possible if what may be does.
//
// Invariants:
//   1. A span is judged against others when it ends, or in Finish(): until then a missing line may show
//      that it was not one span.
//   2. Memory: spans are kept until no span that is open, or yet to come, can overlap with them.
//   3. Of a process that has logged no end of any span, a span is certain only where it says so.
//   4. Spans that are equal are kept once, and those that are over are found by when they ended at the latest:
//      what a span costs does not grow with the number of those before it.
//   5. An overlap that an outside write may have made is not charged to the protocol.
// REQUIRES: statements of one process come in the order of its clock.
#pragma once

#include <compare>
#include <cstddef>
#include <cstdint>
#include <map>
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "check/line_judge.h"
#include "check/operation.h"
#include "check/ownership.h"
#include "check/processes.h"
#include "check/tally.h"

namespace whorl::check {

class Spans final : public LineJudge {
 public:
  // `begins` is for people: "began to believe that it leads". `kind`: of its lines.
  Spans(Invariant invariant, Kind kind, std::string_view begins, const Processes& processes,
        const Ownership& ownership)
      : kind_(kind),
        begins_(begins),
        processes_(processes),
        ownership_(ownership),
        tally_(invariant) {}

  // `lapses`: when the span ends if nothing renews it. There may be no line of a renewal unless the process logs
  // renewals.
  // False: a renewal of what had not begun.
  bool Begin(const std::string& process, const std::string& lock, Timestamp at,
             std::optional<Timestamp> lapses = std::nullopt, bool is_renewal = false);
  // Empty lock: of all its locks. False: nothing had begun.
  bool End(const std::string& process, const std::string& lock, Timestamp at);
  // Of several spans within each other, as of a trace: what they say of the process is one span, which ends with
  // the last of them.
  void BeginNested(const std::string& process, const std::string& lock, Timestamp at);
  // Whether it was the last of them.
  bool EndNested(const std::string& process, const std::string& lock, Timestamp at);
  // It may end from now on, at any time, unless the process says that it has it still. It ends by a line End(), and
  // with the process's next Begin().
  void MayEnd(const std::string& process, const std::string& lock, Timestamp at);
  void HasStill(const std::string& process, const std::string& lock);
  void Gap(const std::string& process, std::optional<Timestamp> last, Timestamp at) override;
  void Restart(const std::string& process, std::optional<Timestamp> last, Timestamp at) override;
  // Forgets what no span can overlap with that begins at or after `watermark`, in true time.
  void Forget(Timestamp watermark);
  // Every span that is open ends with the process's last line, or later. Durations are added to
  // `overlaps`.
  void Finish() override;

  void Doubt(const std::string& process) override {
    Charge(Timestamp::Max());
    tally_.Doubt(process);
  }
  void Missing(std::string because, std::string remedy) override {
    tally_.Missing(std::move(because), std::move(remedy));
  }
  InvariantResult Find() const override;
  // The first violation that is certain by now, open spans included; judges nothing for good.
  std::optional<InvariantResult> Certain() const;
  size_t kept() const;
  const std::vector<Duration>& overlaps() const { return overlaps_; }

 private:
  struct Span {
    std::string process;
    const Process* who = nullptr;
    // By the process's clock.
    Timestamp certain_from;
    Timestamp said_last;                  // that it lasts
    std::optional<Timestamp> certain_to;  // nothing: until its last line
    std::optional<Timestamp> lapses;      // certain no longer than this
    std::optional<Timestamp> may_to;      // nothing: it may last
    bool was_cut = false;                 // by missing lines
    bool may_end = false;                 // `certain_to` is when that began
    bool is_endless = false;              // one within it has no end
    int64_t nested = 0;                   // those within it that have not ended

    // Whether it ended when it says.
    bool IsWhole() const { return certain_to && !was_cut && (!lapses || *certain_to <= *lapses); }
    auto operator<=>(const Span&) const = default;
  };
  struct Equal {
    int64_t count = 0;
    int64_t number = 0;  // of the first, among all of the lock
  };
  struct Lock {
    std::vector<Span> open;  // at most one for each process
    // By when they ended at the latest, by their processes' clocks.
    std::map<std::pair<Timestamp, Span>, Equal> closed;
    int64_t closed_ever = 0;
    // Likewise closed, by their processes, of whose clocks nothing was known then.
    std::map<std::string, std::vector<Span>> unclocked;
  };
  // An overlap that is certain. All changes of rows until it ends may not have been taken yet.
  struct Overlapping {
    Timestamp first_from;  // the first span may have begun then
    Timestamp begin;
    std::string lock;
    Duration shared;
    int64_t count;
    std::string a;
    std::string b;
    std::string text;
  };
  struct True {      // a span in true time
    Timestamp from;  // it may have begun then
    Timestamp to;    // it may have lasted until then
    Timestamp begun_by;
    Timestamp until;  // and lasted until then for certain
  };

  Span* OpenOf(const std::string& process, const std::string& lock);
  // The process's spans end here: for certain they lasted until `last`, and at most until `may_to(span)`.
  template <typename MayTo>
  void Cut(const std::string& process, std::optional<Timestamp> last, const MayTo& may_to);
  // When the span ended at the latest if no renewal was logged; nothing if the process logs none.
  static std::optional<Timestamp> LapseOf(const Span& span);
  // Spans of processes that were seen to have ended before `watermark`.
  void CloseEnded(const std::string& name, Lock& lock, Timestamp watermark);
  void Close(const std::string& name, Lock& lock, size_t index);
  // A span against one that `count` others are equal to.
  void Judge(const std::string& name, const Span& a, const Span& b, int64_t count);
  static void Keep(Lock& lock, Span span);
  template <typename Each>
  static void ForEach(const Lock& lock, const Each& each);
  std::string Overlap(const std::string& name, const Span& a, const Span& b) const;
  // Takes overlaps that began before `watermark` to the protocol's charge, except those by outside writes.
  void Charge(Timestamp watermark);
  bool IsOutside(const Overlapping& overlap) const {
    return ownership_.IsBrokenOutside(overlap.lock, overlap.first_from, overlap.begin);
  }
  // Clocks known to this would decide the two; nothing if none do.
  static std::optional<Duration> ClocksWanted(const Span& a, const Span& b);
  // REQUIRES: HasClock(span).
  True TrueOf(const Span& span) const;
  bool HasClock(const Span& span) const;
  void MissingClock(const Span& span);

  Kind kind_;
  std::string_view begins_;
  const Processes& processes_;
  const Ownership& ownership_;
  Tally tally_;
  std::map<std::string, Lock, std::less<>> locks_;
  std::vector<Duration> overlaps_;
  std::vector<Overlapping> certain_;
};

}  // namespace whorl::check
