#include "check/json_lines.h"

#include "sim/scenario/error_text.h"

namespace whorl::check {

using sim::Cat;

std::string JsonLines::Records(const Node& value, const Place& place, std::vector<Operation>& out) {
  const size_t had = out.size();
  try {
    RecordReader(protocol_, wanted_, place, out, &serve_calls_).Read(value);
    return {};
  } catch (const Wrong& wrong) {
    out.resize(had);
    return Cat(WhereIs(place), ": ", wrong.text);
  }
}

std::string JsonLines::Document(std::vector<Operation>& out) {
  if (const Node* value = json_.Parse(document_.text())) {
    return Records(*value, document_.place(), out);
  }
  return Cat(document_.WhereIs(json_.error_at()), ": is no JSON (", json_.error(), ")");
}

std::string JsonLines::Read(std::string_view line, const Place& place,
                            std::vector<Operation>& out) {
  if (document_.is_open()) {
    document_.Add(line);
    return document_.is_open() ? std::string() : Document(out);
  }
  if (line.find_first_not_of(" \t\r") == std::string_view::npos) return {};
  const bool may_be_cut = is_first_ || takes_several_;
  is_first_ = false;
  if (const Node* value = json_.Parse(line)) return Records(*value, place, out);
  if (may_be_cut && json_.is_cut()) {
    document_.Begin(line, place);
    takes_several_ = document_.is_open();
    if (takes_several_) return {};
  }
  return Cat(WhereIs(place), ":", std::to_string(json_.error_at() + 1), ": is no JSON (",
             json_.error(), "): ", sim::Quoted(line));
}

std::string JsonLines::Finish() {
  if (!document_.is_open()) return {};
  const Place place = document_.place();
  document_ = Brackets(Syntax::kJson);
  return Cat(WhereIs(place), ": is no JSON: what begins here does not end");
}

}  // namespace whorl::check
