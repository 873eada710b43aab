#include "tests/mutants/chosen.h"

#include <array>
#include <cstdio>
#include <cstdlib>
#include <string_view>

namespace whorl::mutants {

#define MUTANT(name) \
  extern bool name;  \
  bool name = false;
#include "mutant_names.inc"
#undef MUTANT

namespace {

struct Mutant {
  const char* name;
  bool* runs;
};

bool no_mutant = false;

constexpr std::array kMutants = {
    Mutant{"none", &no_mutant},
#define MUTANT(name) Mutant{#name, &(name)},
#include "mutant_names.inc"
#undef MUTANT
};

const Mutant* chosen = kMutants.data();

// Before constructors without a priority, which are those of the sources.
__attribute__((constructor(101))) void Choose() {
  const char* wanted = std::getenv("WHORL_MUTANT");
  if (wanted == nullptr) return;
  for (const Mutant& mutant : kMutants) {
    if (std::string_view(mutant.name) != wanted) continue;
    chosen = &mutant;
    *mutant.runs = true;
    return;
  }
  std::fprintf(stderr, "there is no mutant %s\n", wanted);
  std::_Exit(2);
}

}  // namespace

const char* ChosenName() { return chosen->name; }

}  // namespace whorl::mutants
