// Collects what lasts in a run, for its page: states of nodes, calls and faults, each from the
// observation that begins it to the one that ends it. What still lasts at the end of the run has 0
// for its end.
//
// `CallKey` names a call: CallName, or its text in a trace.
#pragma once

#include <cstddef>
#include <cstdint>
#include <map>
#include <tuple>
#include <vector>

#include "sim/report/page_tables.h"

namespace whorl::sim {

enum class PageSpan : uint8_t { kUp, kPaused, kBelieves, kWorks, kCutTo, kCutFrom };

template <typename CallKey>
class PageSpans {
 public:
  // All that follows happens in the observation of this ordinal.
  void Observing(uint64_t ordinal) { ordinal_ = ordinal; }

  void Set(PageSpan kind, int16_t node, uint16_t lock, bool is_on) {
    const Key key(kind, node, lock);
    if (is_on) {
      const bool is_new = open_spans_.try_emplace(key, spans_.size()).second;
      if (is_new) spans_.push_back({.key = key, .from = ordinal_});
      return;
    }
    End(open_spans_, key, spans_);
  }
  void Gone(int16_t node, size_t locks) {
    Set(PageSpan::kUp, node, 0, false);
    Set(PageSpan::kPaused, node, 0, false);
    for (size_t lock = 0; lock < locks; ++lock) {
      Set(PageSpan::kBelieves, node, static_cast<uint16_t>(lock), false);
      Set(PageSpan::kWorks, node, static_cast<uint16_t>(lock), false);
    }
  }

  void FaultBegins(uint32_t fault) {
    open_faults_[fault] = faults_.size();
    faults_.push_back({.fault = fault, .from = ordinal_});
  }
  void FaultEnds(uint32_t fault) { End(open_faults_, fault, faults_); }

  void Sent(const CallKey& call) {
    open_calls_[call] = calls_.size();
    calls_.push_back({.sent = ordinal_});
  }
  void Served(const CallKey& call) {
    const auto open = open_calls_.find(call);
    if (open != open_calls_.end()) calls_[open->second].served = ordinal_;
  }
  void Ended(const CallKey& call) {
    const auto open = open_calls_.find(call);
    if (open != open_calls_.end()) calls_[open->second].ended = ordinal_;
  }

  // The tables `calls`, `spans` and `faults`.
  void AddTo(PageTables& tables) const {
    // A call is drawn from where it was sent, so the rest is said as distances from there.
    const auto distance = [](uint64_t from, uint64_t to) {
      return static_cast<int64_t>(to == 0 ? 0 : to - from);
    };
    for (const Call& call : calls_) {
      tables.Add("calls")
          .Int("sent", static_cast<int64_t>(call.sent))
          .Int("served", distance(call.sent, call.served))
          .Int("ended", distance(call.sent, call.ended));
    }
    for (const Span& span : spans_) {
      const auto& [kind, node, lock] = span.key;
      tables.Add("spans")
          .Int("kind", static_cast<int64_t>(kind))
          .Int("node", node)
          .Int("lock", lock)
          .Int("from", static_cast<int64_t>(span.from))
          .Int("to", static_cast<int64_t>(span.to));
    }
    for (const ActiveFault& fault : faults_) {
      tables.Add("faults")
          .Int("fault", fault.fault)
          .Int("from", static_cast<int64_t>(fault.from))
          .Int("to", static_cast<int64_t>(fault.to));
    }
  }

 private:
  using Key = std::tuple<PageSpan, int16_t, uint16_t>;  // node, lock
  struct Call {
    uint64_t sent = 0;
    uint64_t served = 0;
    uint64_t ended = 0;
  };
  struct Span {
    Key key;
    uint64_t from = 0;
    uint64_t to = 0;
  };
  struct ActiveFault {
    uint32_t fault = 0;
    uint64_t from = 0;
    uint64_t to = 0;
  };

  template <typename Open, typename What, typename All>
  void End(Open& open, const What& what, All& all) {
    const auto found = open.find(what);
    if (found == open.end()) return;
    all[found->second].to = ordinal_;
    open.erase(found);
  }

  uint64_t ordinal_ = 0;
  std::vector<Span> spans_;
  std::vector<Call> calls_;
  std::vector<ActiveFault> faults_;
  // Which of them have not ended, as indexes. A call may be served after it has ended.
  std::map<Key, size_t> open_spans_;
  std::map<CallKey, size_t> open_calls_;
  std::map<uint32_t, size_t> open_faults_;
};

}  // namespace whorl::sim
