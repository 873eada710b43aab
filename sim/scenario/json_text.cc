#include "sim/scenario/json_text.h"

namespace whorl::sim {

std::string DumpJson(const Json& json, int indent) {
  return json.dump(indent, ' ', false, Json::error_handler_t::replace);
}

}  // namespace whorl::sim
