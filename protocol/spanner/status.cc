#include "protocol/spanner/status.h"

namespace whorl {

std::string FormatStatus(const Status& status) {
  std::string out(WordOf(status.code));
  if (!status.message.empty()) out += ": " + status.message;
  return out;
}

}  // namespace whorl
