#include "sim/report/trace.h"

#include <type_traits>

namespace whorl::sim {
namespace {

// One for each alternative of ObservedEvent: a new one without a word does not compile.
constexpr std::string_view EventWord(const ProcessStarted&) { return "process_started"; }
constexpr std::string_view EventWord(const ProcessStopped&) { return "process_stopped"; }
constexpr std::string_view EventWord(const ProcessGone&) { return "process_gone"; }
constexpr std::string_view EventWord(const ProcessPaused&) { return "process_paused"; }
constexpr std::string_view EventWord(const ProcessResumed&) { return "process_resumed"; }
constexpr std::string_view EventWord(const ParticipationEnded&) { return "participation_ended"; }
constexpr std::string_view EventWord(const LinkChanged&) { return "link_changed"; }
constexpr std::string_view EventWord(const FaultBegan&) { return "fault_began"; }
constexpr std::string_view EventWord(const FaultEnded&) { return "fault_ended"; }
constexpr std::string_view EventWord(const CallSent&) { return "call_sent"; }
constexpr std::string_view EventWord(const CallServed&) { return "call_served"; }
constexpr std::string_view EventWord(const CallWaits&) { return "call_waits"; }
constexpr std::string_view EventWord(const CallHangs&) { return "call_hangs"; }
constexpr std::string_view EventWord(const CallEnded&) { return "call_ended"; }
constexpr std::string_view EventWord(const LateReplyIgnored&) { return "late_reply_ignored"; }
constexpr std::string_view EventWord(const TransactionStarted&) { return "transaction_started"; }
constexpr std::string_view EventWord(const TransactionAbortedBySpanner&) {
  return "transaction_aborted_by_spanner";
}
constexpr std::string_view EventWord(const TransactionCommitted&) {
  return "transaction_committed";
}
constexpr std::string_view EventWord(const TransactionFinished&) { return "transaction_finished"; }
constexpr std::string_view EventWord(const RowCommitted&) { return "row_committed"; }
constexpr std::string_view EventWord(const LeadershipViewChanged&) { return "standing_changed"; }
constexpr std::string_view EventWord(const BeliefChanged&) { return "belief_changed"; }
constexpr std::string_view EventWord(const CalledBack&) { return "called_back"; }
constexpr std::string_view EventWord(const QuestionAsked&) { return "question_asked"; }
constexpr std::string_view EventWord(const QuestionAnswered&) { return "question_answered"; }
constexpr std::string_view EventWord(const Noted&) { return "noted"; }
constexpr std::string_view EventWord(const WriteSent&) { return "write_sent"; }
constexpr std::string_view EventWord(const WriteArrived&) { return "write_arrived"; }
constexpr std::string_view EventWord(const RunEnded&) { return "run_ended"; }
constexpr std::string_view EventWord(const SpannerAvailability&) { return "spanner_availability"; }
constexpr std::string_view EventWord(const ClockChanged&) { return "clock_changed"; }
constexpr std::string_view EventWord(const SpannerClocksChanged&) {
  return "spanner_clocks_changed";
}
constexpr std::string_view EventWord(const SessionLost&) { return "session_lost"; }
constexpr std::string_view EventWord(const SessionCreated&) { return "session_created"; }
constexpr std::string_view EventWord(const WorkChanged&) { return "work_changed"; }

}  // namespace

std::string_view ObservedEventText(const ObservedEvent& event) {
  return std::visit([](const auto& what) { return EventWord(what); }, event);
}

std::string TraceLine(const JsonPrinter& printer, const Observation& observation, uint64_t ordinal,
                      uint64_t hash) {
  Json line = Json::object();
  line["n"] = ordinal;
  line["t"] = FormatSeconds({observation.at.ns});
  line["hash"] = HashText(hash);
  line["event"] = std::string(ObservedEventText(observation.what));
  std::visit([&](const auto& what) { printer.AddFields(what, line); }, observation.what);
  return DumpJson(line);
}

TraceWriter::TraceWriter(std::ostream& out, const Scenario& scenario, uint64_t seed,
                         std::string_view whorl_version)
    : out_(out), printer_(NamesOf(scenario)) {
  Json header = Json::object();
  header["format"] = "whorl-trace";
  header["version"] = kTraceVersion;
  header["whorl"] = std::string(whorl_version);
  header["scenario"] = scenario.name;
  header["protocol"] = scenario.protocol;
  header["seed"] = std::to_string(seed);
  header["start"] = FormatRfc3339(kStartTime);
  header["nodes"] = printer_.names().nodes;
  header["locks"] = printer_.names().locks;
  out_ << DumpJson(header) << '\n';
}

void TraceWriter::Hear(const Observation& observation, uint64_t ordinal, uint64_t hash) {
  out_ << TraceLine(printer_, observation, ordinal, hash) << '\n';
}

}  // namespace whorl::sim
