// A process that competes for one lock until SIGTERM and prints one line for each event. Times are
// MonotonicNow() in nanoseconds:
//   leads TOKEN|- UNTIL AT      leadership begins, or its lease was renewed
//   ends AT                     leadership ends
//   looked AT                   a transaction has ended
//   gone                        the lock was released
// Arguments: CLIENT ENDPOINT|- DATABASE PROTOCOL LOCK ID LEASE_MS
#include <csignal>
#include <cstdio>
#include <cstdlib>
#include <memory>
#include <string>

#include "real_client/linked_clients.h"
#include "real_client/lock.h"
#include "real_client/os.h"

namespace whorl::real_client {
namespace {

class EventPrinter final : public LockObserver {
 public:
  void OnLeadership(const Leadership& leadership) override {
    const int64_t now = MonotonicNow().ns;
    if (!leadership.leads) return Say("ends " + std::to_string(now));
    const std::string token = leadership.token ? std::to_string(*leadership.token) : "-";
    Say("leads " + token + " " + std::to_string(leadership.until.ns) + " " + std::to_string(now));
  }
  void OnTransaction(const LockTransaction& transaction) override {
    Say("looked " + std::to_string(MonotonicNow().ns));
    if (!transaction.status.ok())
      std::fprintf(stderr, "%s\n", FormatStatus(transaction.status).c_str());
  }

 private:
  static void Say(const std::string& line) {
    std::printf("%s\n", line.c_str());
    std::fflush(stdout);
  }
};

int Main(char** arguments) {
  sigset_t stop;
  sigemptyset(&stop);
  sigaddset(&stop, SIGTERM);
  pthread_sigmask(SIG_BLOCK, &stop, nullptr);  // before other threads start
  LockClientOptions options;
  options.make_client = FindLinkedClient(arguments[1]);
  options.database = arguments[3];
  if (std::string(arguments[2]) != "-") {
    options.connection = {.endpoint = arguments[2], .credentials = Plaintext{}};
  }
  std::unique_ptr<LockClient> client;
  Status status = LockClient::Open(options, client);
  std::unique_ptr<DistributedLock> lock;
  if (status.ok()) {
    status = client->Make({.name = arguments[5],
                           .protocol = arguments[4],
                           .id = arguments[6],
                           .lease = Milliseconds(std::atoll(arguments[7])),
                           .observer = std::make_shared<EventPrinter>()},
                          lock);
  }
  if (!status.ok()) {
    std::fprintf(stderr, "%s\n", FormatStatus(status).c_str());
    return 1;
  }
  lock->Start();
  int signal = 0;
  sigwait(&stop, &signal);
  lock->Unlock();
  std::puts("gone");
  return 0;
}

}  // namespace
}  // namespace whorl::real_client

int main(int argc, char** argv) {
  constexpr int kArguments = 8;
  if (argc != kArguments) return 2;
  return whorl::real_client::Main(argv);
}
