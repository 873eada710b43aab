// Which mutant runs. A woven source (weave.awk) asks whorl::mutants::NAME in each function that the
// mutant NAME changes; one of them at most is true.
#pragma once

namespace whorl::mutants {

// What the environment's WHORL_MUTANT names; "none", if that is not set. Chosen before any
// initialiser of a woven source runs, and for good.
const char* ChosenName();

}  // namespace whorl::mutants
