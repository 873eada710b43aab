#include "base/text.h"
#include "sim/scenario/faults/keys.h"

namespace whorl::sim {

FaultInfo PartitionFault::Describe() {
  return {
      .word = "partition",
      .about =
          "nothing passes between the node and Spanner, both ways or one way; for good "
          "without `for`. Messages that a black hole holds arrive when it ends, unless the "
          "connection has timed out by then",
      .keys = {ForKey(),
               {.key = {.name = "mode",
                        .form = Form::kWord,
                        .about = "calls hang until the connection timeout, or fail at once",
                        .words = ListedWords<PartitionMode>(),
                        .otherwise = WordJson(WordOf(PartitionFault().mode))}},
               DirectionKey()},
      .example =
          R"({ "at": "20s", "do": "partition", "node": "a", "direction": "from", "for": "15s" })",
      .of_calls =
          "nothing passes between this client and Spanner for the time in `for`; with `mode` "
          "`refuse` its connections are reset, and new ones refused"};
}

std::string_view PartitionFault::ConflictingSetting(const PartitionFault& other) const {
  if (mode == other.mode || !Overlap(direction, other.direction)) return {};
  return "the mode of a partition";
}

}  // namespace whorl::sim
