#include "sim/report/sequence_diagram.h"

#include <algorithm>
#include <cstdlib>
#include <optional>
#include <set>
#include <tuple>
#include <utility>
#include <variant>

#include "base/text.h"
#include "sim/report/row_text.h"

namespace whorl::sim {
namespace {

constexpr std::string_view kSpanner = "spanner";
constexpr std::string_view kResource = "resource";

std::string Id(int16_t node) { return Cat("n", std::to_string(node)); }

bool IsWordCharacter(char c) {
  return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || (c >= '0' && c <= '9') || c == '_';
}

// Whether no grammar of Mermaid gives the character a meaning within a text.
bool IsPlain(char c) {
  constexpr std::string_view kPlain = " .,:+'()=!?/-";
  return IsWordCharacter(c) || static_cast<unsigned char>(c) >= 0x80 ||
         kPlain.find(c) != std::string_view::npos;
}

// Breaks the text between words, so that a note does not become as wide as its text.
std::string Wrapped(const std::string& text) {
  constexpr size_t kWidth = 56;
  std::string lines;
  size_t used = 0;
  for (size_t at = 0; at < text.size();) {
    const size_t end = std::min(text.find(' ', at), text.size());
    const std::string_view word = std::string_view(text).substr(at, end - at);
    if (used > 0) lines += used + word.size() > kWidth ? "<br/>" : " ";
    used = used > 0 && used + word.size() <= kWidth ? used + 1 + word.size() : word.size();
    lines += MermaidText(word);
    at = end + 1;
  }
  return lines;
}

// The less, the more important.
int WeightOf(const TimelineLine& line) {
  if (line.node == TimelineLine::kAll) return 0;
  switch (line.tone) {
    case Tone::kBad:
      return 1;
    case Tone::kWarning:
      return 2;
    case Tone::kGood:
      return 3;
    case Tone::kPlain:
      return line.text == "started" ? 5 : 4;
  }
  return 5;
}

}  // namespace

std::string MermaidText(std::string_view text) {
  const std::string printable = Printable(text, 400);
  std::string out;
  for (size_t i = 0; i < printable.size(); ++i) {
    const char c = printable[i];
    const bool begins_word = i == 0 || !IsWordCharacter(printable[i - 1]);
    // The word that ends a block.
    const bool ends_block = begins_word && (c == 'e' || c == 'E') && printable.size() >= i + 3 &&
                            (printable[i + 1] | 0x20) == 'n' && (printable[i + 2] | 0x20) == 'd' &&
                            (printable.size() == i + 3 || !IsWordCharacter(printable[i + 3]));
    if (IsPlain(c) && !ends_block) {
      out += c;
    } else {
      out += Cat("#", std::to_string(static_cast<int>(c)), ";");
    }
  }
  return out;
}

SequenceDiagram::SequenceDiagram(const Scenario& scenario)
    : scenario_(scenario), timeline_(scenario) {}

void SequenceDiagram::Hear(const Observation& observation, uint64_t ordinal, uint64_t hash) {
  const size_t before = timeline_.changes().size();
  timeline_.Hear(observation, ordinal, hash);
  if (timeline_.changes().size() == before) return;
  if (const auto* row = std::get_if<RowCommitted>(&observation.what)) {
    if (row->writer == ProcessId{}) return;
    messages_[ordinal] = {.node = row->writer.node, .step = std::string(WordOf(row->step))};
  } else if (const auto* ended = std::get_if<TransactionFinished>(&observation.what)) {
    messages_[ordinal] = {
        .node = ended->process.node, .arrow = Arrow::kFailsFromSpanner, .step = {}};
  } else if (const auto* write = std::get_if<WriteArrived>(&observation.what)) {
    messages_[ordinal] = {.node = write->process.node,
                          .arrow = write->accepted ? Arrow::kToResource : Arrow::kRefusedByResource,
                          .step = {}};
  }
}

const SequenceDiagram::Message* SequenceDiagram::MessageOf(const TimelineLine& line) const {
  const auto message = messages_.find(line.ordinal);
  return message == messages_.end() || line.node == TimelineLine::kAll ? nullptr : &message->second;
}

int16_t SequenceDiagram::NodeOf(const TimelineLine& line) const {
  const Message* message = MessageOf(line);
  return std::max<int16_t>(message == nullptr ? line.node : message->node, -1);
}

std::string SequenceDiagram::HeadText(const RunResult& result) const {
  std::string text =
      Cat(scenario_.name, ", ", scenario_.protocol, ", seed ", std::to_string(result.seed), ": ");
  std::string violated;
  for (const InvariantResult& of : result.checks.invariants) {
    if (of.verdict != Verdict::kViolated) continue;
    violated += Cat(violated.empty() ? "" : ", ", WordOf(of.invariant));
  }
  return text + (violated.empty() ? "no invariant was violated" : violated + " violated");
}

// The most important lines, as many as fit beside their participants, in the order of time.
std::vector<TimelineLine> SequenceDiagram::Chosen(const RunResult& result, size_t& left_out) const {
  // The diagram's first line, Spanner, the resource, the head and the note of what is left out.
  constexpr size_t kOwnLines = 5;
  std::vector<TimelineLine> lines = timeline_.Lines(result.checks);
  std::optional<Instant> violated;
  for (const TimelineLine& line : lines) {
    if (line.node == TimelineLine::kAll) violated = std::min(violated.value_or(line.at), line.at);
  }
  std::vector<size_t> order(lines.size());
  for (size_t i = 0; i < order.size(); ++i) order[i] = i;
  std::ranges::sort(order, {}, [&](size_t i) {
    const Instant around = violated.value_or(Instant{});
    return std::tuple(WeightOf(lines[i]), std::llabs((lines[i].at - around).ns), i);
  });
  std::set<size_t> chosen;
  std::set<int16_t> nodes;
  for (const size_t i : order) {
    const int16_t node = NodeOf(lines[i]);
    const bool is_new = node >= 0 && !nodes.contains(node);
    if (kOwnLines + chosen.size() + nodes.size() + (is_new ? 2 : 1) > kMaxLines) break;
    chosen.insert(i);
    if (node >= 0) nodes.insert(node);
  }
  left_out = lines.size() - chosen.size() + timeline_.left_out();
  std::vector<TimelineLine> kept;
  for (const size_t i : chosen) kept.push_back(std::move(lines[i]));
  return kept;
}

std::string SequenceDiagram::StatementOf(const TimelineLine& line,
                                         std::string_view over_all) const {
  const std::string at = InstantText(line.at);
  const Message* message = MessageOf(line);
  if (message == nullptr) {
    const std::string whom = line.node >= 0                    ? Id(line.node)
                             : line.node == TimelineLine::kAll ? std::string(over_all)
                                                               : std::string(kSpanner);
    return Cat("Note over ", whom, ": ", Wrapped(Cat(at, " ", line.text)));
  }
  const std::string node = Id(message->node);
  const std::string text =
      Wrapped(Cat(at, " ", message->step, message->step.empty() ? "" : ", ", line.text));
  switch (message->arrow) {
    case Arrow::kToSpanner:
      return Cat(node, "->>", kSpanner, ": ", text);
    case Arrow::kFailsFromSpanner:
      return Cat(kSpanner, "--x", node, ": ", text);
    case Arrow::kToResource:
      return Cat(node, "->>", kResource, ": ", text);
    case Arrow::kRefusedByResource:
      break;
  }
  return Cat(node, "-x", kResource, ": ", text);
}

std::string SequenceDiagram::Text(const RunResult& result) const {
  size_t left_out = 0;
  const std::vector<TimelineLine> lines = Chosen(result, left_out);
  std::set<int16_t> nodes;
  for (const TimelineLine& line : lines) {
    if (NodeOf(line) >= 0) nodes.insert(NodeOf(line));
  }
  std::string text = "sequenceDiagram\n";
  for (const int16_t node : nodes) {
    text += Cat("participant ", Id(node), " as ",
                MermaidText(scenario_.nodes[static_cast<size_t>(node)].name), "\n");
  }
  text += Cat("participant ", kSpanner, " as Spanner\nparticipant ", kResource, " as resource\n");
  const std::string all =
      Cat(nodes.empty() ? std::string(kSpanner) : Id(*nodes.begin()), ",", kResource);
  text += Cat("Note over ", all, ": ", Wrapped(HeadText(result)), "\n");
  for (const TimelineLine& line : lines) text += StatementOf(line, all) + "\n";
  if (left_out == 0) return text;
  return Cat(text, "Note over ", all, ": ",
             Wrapped(Cat(CountText(static_cast<int64_t>(left_out), "change", "changes"),
                         " of less weight left out; whorl replay --timeline has all")),
             "\n");
}

}  // namespace whorl::sim
