// Servers that tests start must not outlive them, or the next run meets their ports and their load.
#include "live/child_process.h"

#include <gtest/gtest.h>
#include <poll.h>
#include <sys/syscall.h>
#include <sys/types.h>
#include <sys/wait.h>
#include <unistd.h>

#include <array>

namespace whorl::child_process_test {
namespace {

// True once the process, which need not be a child of this one, has ended.
bool HasEnded(pid_t pid) {
  const auto fd = static_cast<int>(syscall(SYS_pidfd_open, pid, 0));
  if (fd < 0) return true;  // ended, and waited for
  constexpr int kMillisecondsMax = 10'000;
  pollfd watched = {.fd = fd, .events = POLLIN, .revents = 0};
  const bool ended = poll(&watched, 1, kMillisecondsMax) == 1;
  close(fd);
  return ended;
}

TEST(WireChildProcessTest, EndsWithItsObject) {
  pid_t pid = -1;
  {
    ChildProcess child({"/bin/sleep", "1000"});
    EXPECT_TRUE(child.IsRunning());
    pid = child.pid();
  }
  EXPECT_TRUE(HasEnded(pid));
}

// As when a test fails an assertion of a library, or runs into ctest's timeout.
TEST(WireChildProcessTest, EndsWhenItsTestDies) {
  std::array<int, 2> pipe_ends{};
  ASSERT_EQ(pipe(pipe_ends.data()), 0);
  const pid_t test = fork();
  if (test == 0) {
    const ChildProcess child({"/bin/sleep", "1000"});
    const pid_t pid = child.pid();
    const bool told = write(pipe_ends[1], &pid, sizeof(pid)) == sizeof(pid);
    _exit(told ? 0 : 1);  // without destructors
  }
  close(pipe_ends[1]);
  pid_t grandchild = -1;
  ASSERT_EQ(read(pipe_ends[0], &grandchild, sizeof(grandchild)), ssize_t{sizeof(grandchild)});
  close(pipe_ends[0]);
  ASSERT_EQ(waitpid(test, nullptr, 0), test);
  EXPECT_TRUE(HasEnded(grandchild));
}

TEST(WireChildProcessTest, KeepsWhatItPrinted) {
  ChildProcess child({"/bin/sh", "-c", "echo out; echo err >&2"});
  ASSERT_TRUE(HasEnded(child.pid()));
  EXPECT_FALSE(child.IsRunning());
  EXPECT_EQ(child.Output(), "out\nerr\n");
}

// A wrong path is no server that is slow to answer.
TEST(WireChildProcessTest, AProgramThatIsNotThereEndsAtOnce) {
  ChildProcess child({"/nonexistent/program"});
  EXPECT_TRUE(HasEnded(child.pid()));
  EXPECT_FALSE(child.IsRunning());
}

}  // namespace
}  // namespace whorl::child_process_test
