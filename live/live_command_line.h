// The program whorl-live, which `whorl replay --on ...` and `whorl bench takeover --on ...` become.
#pragma once

namespace whorl::live {

// Arguments are whorl's, from the sub-command on. Returns the exit code. REQUIRES: no other thread
// runs yet.
int LiveMain(int argc, char** argv);

}  // namespace whorl::live
