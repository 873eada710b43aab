#include "sim/world/chance.h"

#include <algorithm>
#include <bit>
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
constexpr size_t kDrawsOfStep = kRequests * kCountOf<Draw>;

uint64_t KeyOf(std::string_view text) {
  Fingerprint name;
  name.Add(std::string(text));
  return name.value();
}

// A stream of the world's draws, by the name of its step.
uint64_t NameOfStream(uint64_t step, Draw draw, uint8_t request) {
  return step ^ (kWorldStream << 32 | static_cast<uint64_t>(draw) << 16 | uint64_t{request});
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
  // How often each name has occurred, since two faults may have the same text.
  std::map<uint64_t, uint64_t> met;
  for (const FaultSpec& fault : scenario.faults) {
    const uint64_t name = KeyOf(scenario, fault);
    names.push_back(Combine(name, met[name]++));
  }
  return names;
}

}  // namespace

SeededChance::SeededChance(uint64_t seed, const Scenario& scenario)
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

size_t SeededChance::FindPlaceOf(StepName step) {
  const auto found = std::ranges::find(steps_, step, &NamedStep::step);
  const auto place = static_cast<size_t>(found - steps_.begin());
  if (found == steps_.end()) steps_.push_back({.step = step, .name = KeyOf(WordOf(step))});
  if (step.key() < places_.size()) places_[step.key()] = static_cast<uint8_t>(place + 1);
  return place;
}

uint64_t SeededChance::Bits(Draw draw, const DrawnFor& whom) {
  Participation& participation = ParticipationOf(whom.node, whom.lock);
  const size_t step = PlaceOf(whom.step);
  const size_t place =
      step * kDrawsOfStep + whom.request * kCountOf<Draw> + static_cast<size_t>(draw);
  if (place >= participation.calls.size()) {
    participation.calls.resize((step + 1) * kDrawsOfStep);
  }
  DrawnForCalls& drawn = participation.calls[place];
  if (drawn.count == 0) {
    drawn.stream = Combine(participation.name, NameOfStream(steps_[step].name, draw, whom.request));
  }
  return Combine(drawn.stream, drawn.count++);
}

uint64_t SeededChance::BitsOfFault(uint32_t fault, Draw draw, const DrawnFor& whom) {
  // An operator's call is no node's.
  const uint64_t caller = whom.node < 0 ? seed_ : ParticipationOf(whom.node, whom.lock).name;
  const uint64_t name = steps_[PlaceOf(whom.step)].name;
  const uint64_t stream = Combine(caller, NameOfStream(name, draw, whom.request));
  const uint64_t n = drawn_of_faults_[{faults_[fault], stream}]++;
  return Combine(Combine(stream, faults_[fault]), n);
}

int64_t SeededChance::Between(ProcessId process, uint16_t lock, std::optional<StepName> step,
                              Purpose purpose, int64_t lo, int64_t hi) {
  Participation& participation = ParticipationOf(process.node, lock);
  if (participation.incarnation != process.incarnation) {
    // A process's draws do not depend on how much the one before it drew.
    participation.incarnation = process.incarnation;
    participation.inside.clear();
  }
  const uint64_t name = step ? steps_[PlaceOf(*step)].name : 0;
  const uint64_t stream = name ^ kMachineStream << 32 ^ std::rotl(purpose.key(), 16);
  auto& inside = participation.inside;
  auto drawn = std::ranges::find(inside, stream, &DrawnInside::stream);
  if (drawn == inside.end()) drawn = inside.insert(inside.end(), DrawnInside{.stream = stream});
  const uint64_t n = drawn->count++;
  const uint64_t bits =
      Combine(Combine(Combine(participation.name, stream), uint64_t{process.incarnation}), n);
  return whorl::sim::Between(bits, lo, hi);
}

uint64_t FixedChance::Bits(Draw /*draw*/, const DrawnFor& /*whom*/) { return 0; }

uint64_t FixedChance::BitsOfFault(uint32_t /*fault*/, Draw /*draw*/, const DrawnFor& /*whom*/) {
  return 0;
}

int64_t FixedChance::Between(ProcessId process, uint16_t lock, std::optional<StepName> /*step*/,
                             Purpose /*purpose*/, int64_t lo, int64_t hi) {
  constexpr int64_t kAll32 = 0xffff'ffff;
  if (lo != 0 || hi != kAll32) return hi;
  // A part of a random id (protocol/random_id.cc).
  const uint64_t who = uint64_t{process.incarnation} << 32 | uint64_t{lock} << 16 |
                       static_cast<uint16_t>(process.node);
  return static_cast<int64_t>(Mix(who) & 0xffff'ffff);
}

}  // namespace whorl::sim
