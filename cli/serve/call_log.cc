#include "cli/serve/call_log.h"

#include <prometheus/counter.h>
#include <prometheus/family.h>
#include <prometheus/histogram.h>
#include <prometheus/registry.h>
#include <prometheus/text_serializer.h>

#include <algorithm>
#include <chrono>
#include <ios>
#include <string_view>
#include <utility>

#include "base/text.h"
#include "base/time.h"
#include "sim/report/json_print.h"
#include "sim/scenario/json_text.h"

namespace whorl::cli {
namespace {

using live::CallRecord;
using sim::Json;

std::string Hex(std::string_view bytes) {
  constexpr std::string_view kDigits = "0123456789abcdef";
  std::string hex;
  for (const char c : bytes) {
    const auto byte = static_cast<unsigned char>(c);
    hex += kDigits[byte / 16];
    hex += kDigits[byte % 16];
  }
  return hex;
}

std::string StatusTextOf(const CallRecord& record) {
  return record.answered ? std::string(WordOf(record.status.code)) : "lost";
}

std::string LineOf(const CallRecord& record, const std::vector<std::string>& names) {
  Json line = Json::object();
  line["at"] = FormatRfc3339(record.at);
  line["client"] = record.client + 1;
  const auto client = static_cast<size_t>(record.client);
  if (client < names.size()) line["id"] = names[client];
  line["method"] = record.method;
  if (!record.call.session.empty()) line["session"] = record.call.session;
  const TransactionId& transaction =
      record.call.transaction.empty() ? record.begun : record.call.transaction;
  if (!transaction.empty()) line["transaction"] = Hex(transaction);
  if (!record.call.sql.empty()) line["sql"] = Printable(record.call.sql, 4000);
  if (!record.call.parameters.empty()) {
    // By which a reader knows what the statement is about.
    Json& parameters = line["parameters"] = Json::object();
    for (const auto& [name, value] : record.call.parameters) {
      parameters[Printable(name, 300)] = Printable(value, 300);
    }
  }
  line["code"] = record.answered ? Json(StatusTextOf(record)) : Json(nullptr);
  if (record.commit) line["commit_timestamp"] = FormatRfc3339(*record.commit);
  line["took"] = FormatSeconds(record.took);
  if (!record.fault.empty()) line["fault"] = record.fault;
  return sim::DumpJson(line) + "\n";
}

}  // namespace

class CallLog::Meters {
 public:
  void Note(const CallRecord& record) {
    calls_
        .Add({{"client", std::to_string(record.client + 1)},
              {"code", StatusTextOf(record)},
              {"method", record.method}})
        .Increment();
    seconds_.Add({{"method", record.method}}, kSeconds)
        .Observe(static_cast<double>(record.took.ns) / 1e9);
    if (!record.fault.empty()) faults_.Add({{"rule", record.fault}}).Increment();
  }
  std::string Text() const { return prometheus::TextSerializer().Serialize(registry_.Collect()); }

 private:
  static inline const prometheus::Histogram::BucketBoundaries kSeconds = {
      0.001, 0.0025, 0.005, 0.01, 0.025, 0.05, 0.1, 0.25, 0.5, 1, 2.5, 10};

  prometheus::Registry registry_;
  prometheus::Family<prometheus::Counter>& calls_ =
      prometheus::BuildCounter()
          .Name("whorl_serve_calls_total")
          .Help("Calls that have been answered or lost, by the code that the client got.")
          .Register(registry_);
  prometheus::Family<prometheus::Counter>& faults_ = prometheus::BuildCounter()
                                                         .Name("whorl_serve_faults_total")
                                                         .Help("Calls that a rule has struck.")
                                                         .Register(registry_);
  prometheus::Family<prometheus::Histogram>& seconds_ =
      prometheus::BuildHistogram()
          .Name("whorl_serve_call_duration_seconds")
          .Help("From a request's arrival to its answer, with delays by faults.")
          .Register(registry_);
};

CallLog::CallLog(std::vector<std::string> names)
    : names_(std::move(names)), meters_(std::make_unique<Meters>()) {}

CallLog::~CallLog() = default;

absl::Status CallLog::OpenFile(const std::string& file) {
  file_.open(file, std::ios::out | std::ios::trunc);
  if (file_) return absl::OkStatus();
  return absl::UnavailableError(Cat("--history: ", Quoted(file), " cannot be written"));
}

void CallLog::Append(const CallRecord& record) {
  std::string line = LineOf(record, names_);
  meters_->Note(record);
  const std::lock_guard lock(mutex_);
  if (file_.is_open()) file_ << line;
  kept_.push_back(std::move(line));
  if (kept_.size() > kKept) kept_.pop_front();
  ++written_;
  changed_.notify_all();
}

absl::Status CallLog::End() {
  const std::lock_guard lock(mutex_);
  has_ended_ = true;
  changed_.notify_all();
  if (!file_.is_open()) return absl::OkStatus();
  file_.close();
  if (file_) return absl::OkStatus();
  return absl::UnavailableError("--history could not be written to its end");
}

CallLog::Lines CallLog::FromLocked(uint64_t from, size_t most) const {
  const uint64_t first = written_ - kept_.size();
  const uint64_t begin = std::clamp(from, first, written_);
  const uint64_t end = std::min<uint64_t>(begin + most, written_);
  Lines lines = {.next = end, .lines = {}, .has_ended = has_ended_ && end == written_};
  for (uint64_t i = begin; i < end; ++i) {
    lines.lines.push_back(kept_[static_cast<size_t>(i - first)]);
  }
  return lines;
}

CallLog::Lines CallLog::From(uint64_t from, size_t most) const {
  const std::lock_guard lock(mutex_);
  return FromLocked(from, most);
}

CallLog::Lines CallLog::WaitFrom(uint64_t from, size_t most) const {
  std::unique_lock lock(mutex_);
  changed_.wait_for(lock, std::chrono::milliseconds(250),
                    [&] { return has_ended_ || written_ > from; });
  return FromLocked(from, most);
}

std::string CallLog::Metrics() const { return meters_->Text(); }

}  // namespace whorl::cli
