// Ends all descendants of this process.
//
// A process that makes itself a subreaper becomes the parent of its descendants whose parents have
// ended, even of daemons that forked twice. So it has ended all descendants when it has ended its
// children until none is left.
//
// Invariant: a signal reaches only children of this process, or a group whose leader it has not
// reaped, since no other process can have got these ids.
#pragma once

#include <sys/types.h>

#include <vector>

namespace whorl::cli {

// From now on orphaned descendants become this process's children.
void BecomeSubreaper();

// The children of all threads of this process, including those that have ended and were not reaped.
// Reads /proc.
std::vector<pid_t> ChildrenOfThisProcess();

// Whether the child has ended. Does not reap it.
bool HasEnded(pid_t child);

// In the functions below, `leader` is a child of this process that was not reaped and leads a group;
// -1 if there is none.

// Sends the signal to the leader's group and to all other children. Returns the first of them that
// may not be signalled, because it has become another user's; 0 if there is none.
pid_t SignalDescendants(pid_t leader, int signal);

// Reaps the children that have ended, except `leader`. Returns whether any child still runs.
bool ReapAllBut(pid_t leader);

// Sends SIGKILL until no child is left. Blocking. Returns the leader's status as waitpid gives it, or
// -1 without a leader.
int KillDescendants(pid_t leader);

}  // namespace whorl::cli
