#include "sim/report/chrome_trace.h"

#include "base/text.h"

namespace whorl::sim {
namespace {

// Microseconds with three decimals.
std::string MicrosText(int64_t ns) {
  const bool is_negative = ns < 0;
  const uint64_t size = is_negative ? ~static_cast<uint64_t>(ns) + 1 : static_cast<uint64_t>(ns);
  std::string decimals = std::to_string(1'000 + size % 1'000);
  return Cat(is_negative ? "-" : "", std::to_string(size / 1'000), ".",
             std::string_view(decimals).substr(1));
}

std::string At(Instant at) { return Cat(",\"ts\":", MicrosText(at.ns)); }

std::string Of(TraceTrack track) {
  return Cat(",\"pid\":", std::to_string(track.process), ",\"tid\":", std::to_string(track.thread));
}

std::string In(std::string_view category) { return Cat(",\"cat\":", DumpJson(Json(category))); }

}  // namespace

ChromeTrace::ChromeTrace(std::ostream& out, const Json& about) : out_(out) {
  out_ << R"({"displayTimeUnit":"ms","otherData":)" << DumpJson(about) << ",\"traceEvents\":[\n";
}

void ChromeTrace::Write(std::string_view phase, std::string_view name, const std::string& rest,
                        const Json& args) {
  if (!is_first_) out_ << ",\n";
  is_first_ = false;
  out_ << R"({"ph":")" << phase << '"';
  if (!name.empty()) out_ << ",\"name\":" << DumpJson(Json(name));
  out_ << rest;
  if (!args.empty()) out_ << ",\"args\":" << DumpJson(args);
  out_ << '}';
}

int ChromeTrace::AddProcess(std::string_view name, int order) {
  const std::string pid = Cat(",\"pid\":", std::to_string(++processes_));
  Write("M", "process_name", pid, {{"name", name}});
  Write("M", "process_sort_index", pid, {{"sort_index", order}});
  return processes_;
}

TraceTrack ChromeTrace::AddTrack(int process, std::string_view name, int order) {
  const TraceTrack track = {.process = process, .thread = ++threads_};
  Write("M", "thread_name", Of(track), {{"name", name}});
  Write("M", "thread_sort_index", Of(track), {{"sort_index", order}});
  return track;
}

void ChromeTrace::Begin(TraceTrack track, Instant at, std::string_view name,
                        std::string_view category, const Json& args) {
  Write("B", name, In(category) + Of(track) + At(at), args);
}

void ChromeTrace::End(TraceTrack track, Instant at, const Json& args) {
  Write("E", "", Of(track) + At(at), args);
}

void ChromeTrace::Slice(TraceTrack track, Instant from, Instant to, std::string_view name,
                        std::string_view category, const Json& args) {
  Write("X", name,
        In(category) + Of(track) + At(from) + Cat(",\"dur\":", MicrosText((to - from).ns)), args);
}

void ChromeTrace::Point(TraceTrack track, Instant at, std::string_view name,
                        std::string_view category, const Json& args) {
  Write("i", name, In(category) + Of(track) + At(at) + ",\"s\":\"t\"", args);
}

void ChromeTrace::Arrow(TraceTrack from, Instant leaves, TraceTrack to, Instant arrives,
                        std::string_view name) {
  const std::string id = Cat(",\"id\":", std::to_string(++arrows_));
  Write("s", name, In("message") + id + Of(from) + At(leaves), Json::object());
  Write("f", name, In("message") + id + Of(to) + At(arrives) + ",\"bp\":\"e\"", Json::object());
}

void ChromeTrace::Close() { out_ << "\n]}\n"; }

TraceTrack TraceLanes::Take(ChromeTrace& trace, Instant now, Instant until) {
  for (Lane& lane : lanes_) {
    if (lane.taken_until > now) continue;
    lane.taken_until = until;
    return lane.track;
  }
  const std::string name =
      lanes_.empty() ? name_ : Cat(name_, " ", std::to_string(lanes_.size() + 1));
  lanes_.push_back({.track = trace.AddTrack(process_, name, order_), .taken_until = until});
  return lanes_.back().track;
}

void TraceLanes::Release(TraceTrack track, Instant now) {
  for (Lane& lane : lanes_) {
    if (lane.track.thread == track.thread) lane.taken_until = now;
  }
}

}  // namespace whorl::sim
