#include "check/json_lines.h"

#include "sim/scenario/error_text.h"

namespace whorl::check {

using sim::Cat;

std::string JsonLines::Read(std::string_view line, const Place& place,
                            std::vector<Operation>& out) {
  if (line.find_first_not_of(" \t\r") == std::string_view::npos) return {};
  const auto where = [&] {
    return Cat(sim::Printable(place.file, 1'000), ":", std::to_string(place.line));
  };
  const size_t had = out.size();
  const Node* value = json_.Parse(line);
  if (value == nullptr) {
    return Cat(where(), ":", std::to_string(json_.error_at() + 1), ": is no JSON (", json_.error(),
               "): ", sim::Quoted(line));
  }
  try {
    RecordReader(protocol_, wanted_, place, out).Read(*value);
    return {};
  } catch (const Wrong& wrong) {
    out.resize(had);
    return Cat(where(), ": ", wrong.text);
  }
}

}  // namespace whorl::check
