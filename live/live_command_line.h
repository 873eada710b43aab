// The program whorl-live, which `whorl replay --on ...` becomes.
#pragma once

namespace whorl::live {

// Arguments are whorl's, from `replay` on. Returns the exit code. REQUIRES: no other thread runs
// yet.
int LiveMain(int argc, char** argv);

}  // namespace whorl::live
