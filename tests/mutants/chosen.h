// Tells which mutant runs. A woven source (weave.awk) asks whorl::mutants::NAME in each function that the
// mutant NAME changes; at most one of them is true.
#pragma once

namespace whorl::mutants {

// The value of the environment variable WHORL_MUTANT; "none" if it is not set. It is read before any
// initialiser of a woven source runs, and never again.
const char* ChosenName();

}  // namespace whorl::mutants
