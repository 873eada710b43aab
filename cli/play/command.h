// Declares `whorl play`.
#pragma once

namespace whorl::cli {

// Parses the command line of `whorl play` and serves the page until a signal comes. Returns the exit code. `argv` is
// the whole command line, so argv[1] is "play". REQUIRES: no other thread runs yet.
int RunPlayCommand(int argc, char** argv);

}  // namespace whorl::cli
