#include "tests/sim/explore/any_checkpoint.h"

#include <cstddef>
#include <cstdint>
#include <cstdlib>
#include <sstream>
#include <string_view>
#include <utility>

#include "sim/explore/engine/checkpoint.h"
#include "sim/explore/engine/lasso.h"
#include "sim/explore/engine/search.h"
#include "tests/sim/explore/random_graph.h"

namespace whorl::explore {
namespace {

const RandomGraph& DrawnGraph() {
  static const RandomGraph& graph = *new RandomGraph(11, 300, 2);
  return graph;
}

bool IsBad(const RandomGraph::State& state) { return state.node % 4 != 0; }
uint32_t ClassOf(const RandomGraph::Choice& choice) { return choice.edge % 2; }

}  // namespace

std::string WholeCheckpoint(const Settings& settings) {
  std::string bytes;
  SearchOptions options = {.round = 3};
  options.progress = [](const Progress&) { return Continue::kSave; };
  options.save = [&](const SearchRecord& record, const WaitingLinks& waiting) {
    const bool has_all = waiting.frontier > 0 && waiting.found.size() > 0 &&
                         !waiting.waiting.empty() && !waiting.beyond_fault.empty();
    if (!has_all || !bytes.empty()) return;
    std::ostringstream out;
    WriteCheckpoint(settings, record, waiting, {}, out);
    bytes = out.str();
  };
  Explore(DrawnGraph(), options);
  return bytes;
}

std::string WholeLassoCheckpoint() {
  std::string bytes;
  SearchOptions options = {.round = 3};
  options.progress = [](const Progress&) { return Continue::kSave; };
  const auto save = [&](const SearchRecord& record, const WaitingLinks& waiting,
                        const BadGraph& bad) {
    if (waiting.frontier == 0 || bad.graph().edges() < 20 || !bytes.empty()) return;
    std::ostringstream out;
    WriteCheckpoint({}, record, waiting, bad, out);
    bytes = out.str();
  };
  FindLasso(DrawnGraph(), IsBad, ClassOf, 1, options, save);
  return bytes;
}

bool GoOnFromAny(std::string_view bytes) {
  try {
    std::istringstream in{std::string(bytes)};
    CheckpointReader reader(in, Checksums::kIgnored);
    reader.ReadSettings();
    int rounds = 20;
    SearchOptions options = {.round = 10};
    options.progress = [&rounds](const Progress&) {
      return rounds-- > 0 ? Continue::kYes : Continue::kNo;
    };
    Checkpoint read = reader.ReadSearch();
    if (read.bad.keys().size() == 0) {
      Explore(DrawnGraph(), options, std::move(read));
    } else {
      FindLasso(DrawnGraph(), IsBad, ClassOf, 1, options, {}, std::move(read));
    }
    return true;
  } catch (const BadCheckpoint& error) {
    const std::string_view what = error.what();
    if (!what.starts_with("byte ") && !what.starts_with("another model")) std::abort();
    return false;
  }
}

std::string EditedCheckpoint(std::string_view whole, std::string_view edits) {
  const auto place_at = [edits, whole](size_t i) {
    const auto high = static_cast<uint8_t>(edits[i]);
    const auto low = static_cast<uint8_t>(edits[i + 1]);
    return (size_t{high} << 8 | low) % whole.size();
  };
  std::string bytes(whole);
  for (size_t i = 3; i + 2 < edits.size(); i += 3) bytes[place_at(i)] = edits[i + 2];
  if (edits.size() > 2 && edits[2] % 4 == 0) bytes.resize(place_at(0));
  return bytes;
}

}  // namespace whorl::explore
