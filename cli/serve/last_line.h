// Makes a server that dies, or that cannot end, say so in one line, end its COMMAND, and exit with 3. What
// runs then is only what a signal handler may do.
#pragma once

#include <sys/types.h>

namespace whorl::cli {

// From now on a fatal signal or an exception that nobody catches ends the process so.
void SayHowItDies();

// The command that ends with the process; 0 for none.
void EndsWithIt(pid_t command);

// Ends the process, if it still runs after two seconds; false calls that off. For a call that holds up
// the end.
void MustEndSoon(bool must);

}  // namespace whorl::cli
