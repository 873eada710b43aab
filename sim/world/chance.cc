#include "sim/world/chance.h"

#include <algorithm>
#include <array>
#include <string>
#include <string_view>
#include <variant>

#include "protocol/spanner/fingerprint.h"
#include "sim/world/mix.h"

namespace whorl::sim {
namespace {

// Keep the world's streams and the machines' streams apart.
constexpr uint64_t kWorldStream = 1;
constexpr uint64_t kMachineStream = 2;

constexpr size_t kRequests = std::variant_size_v<Request>;
constexpr size_t kInsideSteps = kCountOf<StepName> + 1;  // 0: of no transaction

uint64_t KeyOf(std::string_view text) {
  Fingerprint name;
  name.Add(std::string(text));
  return name.value();
}

// A step's key is made from its word, because enumerators move when a protocol is added.
uint64_t KeyOf(StepName step) {
  static const std::array<uint64_t, kCountOf<StepName>> names = [] {
    std::array<uint64_t, kCountOf<StepName>> all{};
    for (size_t i = 0; i < all.size(); ++i) all[i] = KeyOf(WordOf(static_cast<StepName>(i)));
    return all;
  }();
  return names[static_cast<size_t>(step)];
}

uint64_t NameOfStream(Draw draw, const DrawnFor& whom) {
  return KeyOf(whom.step) ^
         (kWorldStream << 32 | static_cast<uint64_t>(draw) << 16 | uint64_t{whom.request});
}

std::string NodeName(const Scenario& scenario, int16_t node) {
  return node < 0 ? std::string() : scenario.nodes[static_cast<size_t>(node)].name;
}

// A fault's key is made from its text, without its line and its place in the file, and without the
// distribution or share that it draws from: changing those leaves the draws the same.
uint64_t KeyOf(const Scenario& scenario, const FaultSpec& fault) {
  Fingerprint name;
  name.Add(std::string(FaultKindText(fault.kind())));
  name.Add(NodeName(scenario, fault.node));
  if (const auto* at = std::get_if<Instant>(&fault.trigger)) {
    name.Add(at->ns);
  } else {
    const When& when = std::get<When>(fault.trigger);
    name.Add(NodeName(scenario, when.node));
    name.Add(std::string(WordOf(when.step)));
    name.Add(std::string(WordOf(when.phase)));
    name.Add(when.count);
    if (when.lock) name.Add(scenario.locks[*when.lock]);
  }
  name.Add(LastsOf(fault.what));
  name.Add(std::string(WordOf(DirectionOf(fault.what))));
  std::visit(
      [&name](const auto& kind) {
        if constexpr (requires { kind.of_step; }) {
          if (kind.of_step) name.Add(std::string(WordOf(*kind.of_step)));
        }
      },
      fault.what);
  return name.value();
}

std::vector<uint64_t> NamesOfFaults(const Scenario& scenario) {
  std::vector<uint64_t> names;
  std::map<uint64_t, uint64_t>
      met;  // how often each name has occurred, since two faults may have the same text
  for (const FaultSpec& fault : scenario.faults) {
    const uint64_t name = KeyOf(scenario, fault);
    names.push_back(Combine(name, met[name]++));
  }
  return names;
}

}  // namespace

Chance::Chance(uint64_t seed, const Scenario& scenario)
    : seed_(Mix(seed + kGolden)),
      locks_(scenario.locks.size()),
      participations_(scenario.nodes.size() * scenario.locks.size()),
      faults_(NamesOfFaults(scenario)) {
  for (size_t node = 0; node < scenario.nodes.size(); ++node) {
    const uint64_t named = Combine(seed_, KeyOf(scenario.nodes[node].name));
    for (const uint16_t lock : scenario.nodes[node].locks) {
      ParticipationOf(static_cast<int16_t>(node), lock).name =
          Combine(named, KeyOf(scenario.locks[lock]));
    }
  }
}

uint64_t Chance::Bits(Draw draw, const DrawnFor& whom) {
  Participation& participation = ParticipationOf(whom.node, whom.lock);
  if (participation.calls.empty())
    participation.calls.resize(kCountOf<StepName> * kRequests * kCountOf<Draw>);
  const size_t place =
      (static_cast<size_t>(whom.step) * kRequests + whom.request) * kCountOf<Draw> +
      static_cast<size_t>(draw);
  const uint64_t n = participation.calls[place]++;
  return Combine(Combine(participation.name, NameOfStream(draw, whom)), n);
}

uint64_t Chance::BitsOfFault(uint32_t fault, Draw draw, const DrawnFor& whom) {
  // A call by an operator belongs to no node.
  const uint64_t caller = whom.node < 0 ? seed_ : ParticipationOf(whom.node, whom.lock).name;
  const uint64_t stream = Combine(caller, NameOfStream(draw, whom));
  const uint64_t n = drawn_of_faults_[{faults_[fault], stream}]++;
  return Combine(Combine(stream, faults_[fault]), n);
}

int64_t Chance::Between(ProcessId process, uint16_t lock, std::optional<StepName> step,
                        Purpose purpose, int64_t lo, int64_t hi) {
  Participation& participation = ParticipationOf(process.node, lock);
  if (participation.incarnation != process.incarnation) {
    // A process's draws do not depend on how many draws the node's last process made.
    participation.incarnation = process.incarnation;
    participation.inside.assign(kInsideSteps * kCountOf<Purpose>, 0);
  }
  const size_t row = step ? static_cast<size_t>(*step) + 1 : 0;
  const size_t place = row * kCountOf<Purpose> + static_cast<size_t>(purpose);
  const uint64_t n = participation.inside[place]++;
  const uint64_t stream =
      (step ? KeyOf(*step) : 0) ^ (kMachineStream << 32 | static_cast<uint64_t>(purpose) << 16);
  const uint64_t bits =
      Combine(Combine(Combine(participation.name, stream), uint64_t{process.incarnation}), n);
  return whorl::sim::Between(bits, lo, hi);
}

}  // namespace whorl::sim
