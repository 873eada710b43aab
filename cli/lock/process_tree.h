// All that descends from this process, ended to the last one.
//
// A process that makes itself a subreaper inherits those of its descendants whose parents have
// ended, daemons that forked twice among them. So whoever ends its children until it has none has
// ended them all.
//
// Invariant: a signal reaches only children of this process, or a group whose leader it has not
// reaped: the ids of neither can belong to anybody else.
#pragma once

#include <sys/types.h>

#include <vector>

namespace whorl::cli {

// From now on orphaned descendants become this process's children.
void BecomeSubreaper();

// Of all threads of this process, those that have ended and were not reaped among them. By /proc.
std::vector<pid_t> ChildrenOfThisProcess();

// Whether the child has ended; it stays there to be reaped.
bool HasEnded(pid_t child);

// In what follows, `leader` is a child of this process that was not reaped and leads a group; -1:
// there is none.

// Sends it to the leader's group and to all other children. The first of them that may not be
// signalled, because it is another user's by now; 0: there is none.
pid_t SignalDescendants(pid_t leader, int signal);

// Reaps those that have ended but for `leader`. Whether any other child, or the leader, still runs.
bool ReapAllBut(pid_t leader);

// SIGKILL, until there is no child left. Blocking. Returns the leader's status as waitpid gives it;
// -1 without a leader.
int KillDescendants(pid_t leader);

}  // namespace whorl::cli
