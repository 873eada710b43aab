#include "cli/signals.h"

#include <poll.h>
#include <pthread.h>
#include <signal.h>  // NOLINT(modernize-deprecated-headers): POSIX's, not C's
#include <sys/eventfd.h>
#include <sys/signalfd.h>
#include <unistd.h>

#include <array>
#include <cstdint>
#include <utility>

namespace whorl::cli {

Signals::Signals(const std::vector<int>& signals, std::function<void(int)> hear)
    : hear_(std::move(hear)), end_(eventfd(0, EFD_CLOEXEC)) {
  sigset_t heard;
  sigemptyset(&heard);
  for (const int signal : signals) {
    struct sigaction action{};
    // If it were blocked, sigwait would receive it although it is ignored.
    if (sigaction(signal, nullptr, &action) == 0 && action.sa_handler == SIG_IGN) continue;
    sigaddset(&heard, signal);
  }
  pthread_sigmask(SIG_BLOCK, &heard, nullptr);
  signals_ = signalfd(-1, &heard, SFD_CLOEXEC);
  thread_ = std::thread([this] { Run(signals_); });
}

Signals::~Signals() {
  const uint64_t one = 1;
  if (write(end_, &one, sizeof(one)) == sizeof(one)) thread_.join();
  close(signals_);
  close(end_);
}

void Signals::Run(int signals) const {
  while (true) {
    std::array<pollfd, 2> files = {
        {{.fd = signals, .events = POLLIN}, {.fd = end_, .events = POLLIN}}};
    if (poll(files.data(), files.size(), -1) < 0) continue;
    if (files[1].revents != 0) return;
    signalfd_siginfo info{};
    if (read(signals, &info, sizeof(info)) != sizeof(info)) continue;
    hear_(static_cast<int>(info.ssi_signo));
  }
}

}  // namespace whorl::cli
