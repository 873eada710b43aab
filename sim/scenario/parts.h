// Reads the parts of a scenario, one function each; only loader.cc calls them.
//
// Invariant: a part that refers to another one reports no error about it if the other one was
// wrong, so no error merely echoes another. Known says which parts were right.
#pragma once

#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "protocol/protocols.h"
#include "sim/scenario/fields.h"
#include "sim/scenario/scenario.h"

namespace whorl::sim {

// How an error about a fault that can never strike begins.
inline constexpr std::string_view kNeverFires = "can never fire: ";

// The parts that were read without an error.
struct Known {
  const ProtocolInfo* protocol = nullptr;
  bool locks = false;
  bool node_names = false;
  bool nodes = false;  // the names and all else
  bool duration = false;
  bool spanner = false;
};

// REQUIRES: scenario.protocol, .locks and .duration were read; sets known.node_names and .nodes.
void ReadNodes(const ObjectFields& file, Known& known, Scenario& scenario, Problems& problems);
void ReadRows(const ObjectFields& file, const Known& known, Scenario& scenario, Problems& problems);
// REQUIRES: ReadNodes came before.
void ReadFaults(const ObjectFields& file, const Known& known, Scenario& scenario,
                Problems& problems);
// REQUIRES: ReadFaults came before; `faults_are_good`: without an error.
void ReadSchedule(const ObjectFields& file, const Known& known, bool faults_are_good,
                  Scenario& scenario, Problems& problems);
// REQUIRES: ReadSchedule came before.
void ReadBranches(const ObjectFields& file, Scenario& scenario, Problems& problems);
// The keys that only the fault's kind takes. REQUIRES: the fault's kind and trigger were read.
void ReadFaultKeys(const ObjectFields& fields, const Known& known, const Scenario& scenario,
                   FaultSpec& fault, Problems& problems);
// Reads `truetime`, at the start or as a fault, from the object that has its keys.
void ReadTrueTime(const ObjectFields& fields, TrueTimeSpec& truetime, Problems& problems);
// REQUIRES: ReadNodes came before.
void ReadExpect(const ObjectFields& file, const Known& known, Scenario& scenario,
                Problems& problems);

// The words of the protocol's steps and of the application's.
std::vector<std::string_view> StepWordsOf(const ProtocolInfo& protocol);
// That the protocol has no step of this word, which step may be meant, and all that it has.
std::string NoStepText(const ProtocolInfo& protocol, std::string_view word);

// Views of names, for messages that list them.
std::vector<std::string_view> Views(std::span<const std::string> names);

}  // namespace whorl::sim
