#include "sim/report/state_words.h"

#include <string_view>
#include <variant>

#include "base/time.h"
#include "sim/world/node_clock.h"
#include "sim/world/spanner_clocks.h"

namespace whorl::sim {

std::string TimeWords(Instant at) {
  std::string text = FormatSeconds({at.ns});
  text.erase(text.find_last_not_of('0') + 1);
  if (text.ends_with('.')) text.pop_back();
  return text;
}

Json ValueWords(const Value& value) {
  if (const auto* time = std::get_if<Timestamp>(&value)) return TimeWords(ToInstant(*time));
  return ValueJson(value);
}

LocalTime NodesClocks(const World& world, int16_t node, Instant at) {
  const Node& of = world.state().nodes[static_cast<size_t>(node)];
  return ReadClocks(of.clock, of.started, at);
}

model::ClockReading SpannersClocks(const World& world, Instant at) {
  const SpannerState& spanner = world.state().spanner;
  const Timestamp now = ToTimestamp(at);
  return {.truetime = TrueTimeAt(spanner.truetime, 0, at),
          .current_timestamp = (now + spanner.current_timestamp_error).TruncatedToMicros()};
}

Json Words(const FieldTree::Fields& fields) {
  Json object = Json::object();
  for (const NamedField& field : fields) object[std::string(field.name)] = Words(field.value);
  return object;
}

Json Words(const FieldTree& tree) {
  struct Visitor {
    Json operator()(std::monostate) const { return nullptr; }
    Json operator()(bool x) const { return x; }
    Json operator()(int64_t x) const { return x; }
    Json operator()(uint64_t x) const { return std::to_string(x); }
    Json operator()(const std::string& x) const { return x; }
    Json operator()(Timestamp x) const { return TimeWords(ToInstant(x)); }
    Json operator()(Duration x) const { return FormatDuration(x); }
    Json operator()(const Value& x) const { return ValueWords(x); }
    Json operator()(const FieldTree::List& list) const {
      Json array = Json::array();
      for (const FieldTree& element : list) array.push_back(Words(element));
      return array;
    }
    Json operator()(const FieldTree::Fields& fields) const { return Words(fields); }
  };
  return std::visit(Visitor{}, tree.what);
}

}  // namespace whorl::sim
