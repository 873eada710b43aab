#include "sim/report/json_print.h"

#include <array>
#include <cmath>
#include <cstddef>

#include "absl/strings/escaping.h"

namespace whorl::sim {
namespace {

Json FloatJson(double value) {
  if (std::isnan(value)) return "NaN";
  if (std::isinf(value)) return value > 0 ? "Infinity" : "-Infinity";
  return value;
}

std::string RequestWord(const Request& request) { return std::string(RequestName(request)); }

}  // namespace

Json ValueJson(const Value& value) {
  struct Visitor {
    Json operator()(Null) const { return nullptr; }
    Json operator()(bool x) const { return x; }
    Json operator()(int64_t x) const { return std::to_string(x); }
    Json operator()(Float64 x) const { return FloatJson(x.value()); }
    Json operator()(const std::string& x) const { return x; }
    Json operator()(const Bytes& x) const { return absl::Base64Escape(x.data); }
    Json operator()(Timestamp x) const { return FormatRfc3339(x); }
    Json operator()(const Array& x) const {
      Json array = Json::array();
      for (const Value& element : x.elements) array.push_back(ValueJson(element));
      return array;
    }
  };
  return std::visit(Visitor{}, value);
}

Json MetricsJson(const Metrics& metrics) {
  Json object = Json::object();
  for (const Metric metric : AllOf<Metric>()) {
    Json& field = object[std::string(WordOf(metric))];
    if (IsTime(metric)) {
      field = FormatSeconds({metrics[metric]});
    } else {
      field = metrics[metric];
    }
  }
  return object;
}

Json MetJson(const Metrics& metrics) {
  Json object = Json::object();
  for (const Sometimes name : AllOf<Sometimes>()) {
    object[std::string(WordOf(name))] = metrics[name];
  }
  return object;
}

Json JsonPrinter::RequestText(uint8_t index) {
  return [index]<size_t... I>(std::index_sequence<I...>) {
    Json word = static_cast<int64_t>(index);
    ((I == index ? void(word = RequestWord(std::variant_alternative_t<I, Request>{})) : void()),
     ...);
    return word;
  }(std::make_index_sequence<std::variant_size_v<Request>>());
}

Json JsonPrinter::Text(std::string_view name, std::string_view text) {
  const bool is_transaction_id =
      name == "transaction" || name == "transaction_id" || name == "previous";
  std::string copy(text);
  return is_transaction_id ? absl::BytesToHexString(copy) : copy;
}

Json JsonPrinter::Special(std::string_view name, const Row& row) const {
  const bool is_of_the_table =
      (name == "before" || name == "after") && row.size() == names_.columns.size();
  Json result = is_of_the_table ? Json::object() : Json::array();
  for (size_t i = 0; i < row.size(); ++i) {
    if (is_of_the_table) {
      result[names_.columns[i]] = ValueJson(row[i]);
    } else {
      result.push_back(ValueJson(row[i]));
    }
  }
  return result;
}

Json JsonPrinter::Special(std::string_view, ProcessId process) const {
  return names_.Process(process);
}
Json JsonPrinter::Special(std::string_view, Duration duration) const {
  return FormatSeconds(duration);
}
Json JsonPrinter::Special(std::string_view, Instant instant) const {
  return FormatSeconds({instant.ns});
}
Json JsonPrinter::Special(std::string_view, LocalInstant instant) const {
  return FormatSeconds(instant - LocalInstant{});
}
Json JsonPrinter::Special(std::string_view, Timestamp timestamp) const {
  return FormatRfc3339(timestamp);
}
Json JsonPrinter::Special(std::string_view, Sql sql) const { return sql.text(); }
Json JsonPrinter::Special(std::string_view, const Value& value) const { return ValueJson(value); }
Json JsonPrinter::Special(std::string_view, const Token& token) const {
  return ValueJson(token.ToValue());
}
Json JsonPrinter::Special(std::string_view, const Metrics& metrics) const {
  return {{"values", MetricsJson(metrics)}, {"met", MetJson(metrics)}};
}

}  // namespace whorl::sim
