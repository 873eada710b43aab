// A program for `whorl replay --program`: a real lock of fenced_lease (real_client/lock.h), which
// shares no line with the machine that `replay --on` runs otherwise, except the protocol itself.
#include <algorithm>
#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <iostream>
#include <map>
#include <memory>
#include <mutex>
#include <nlohmann/json.hpp>
#include <string>
#include <utility>

#include "real_client/lock.h"
#include "real_client/os.h"

namespace whorl::real_client {
namespace {

using nlohmann::json;

void Say(const json& event) {
  static std::mutex mutex;
  const std::lock_guard lock(mutex);
  std::printf("%s\n", event.dump().c_str());
  std::fflush(stdout);
}

class Observer final : public LockObserver {
 public:
  explicit Observer(std::string lock) : lock_(std::move(lock)) {}

  void OnLeadership(const Leadership& leadership) override {
    if (!leadership.leads) return Say({{"event", "leads_not"}, {"lock", lock_}});
    const int64_t left = (leadership.until - MonotonicNow()).ns / 1'000'000;
    Say({{"event", "leads"}, {"lock", lock_}, {"lapses_in_ms", std::max<int64_t>(left, 0)}});
  }

 private:
  const std::string lock_;
};

std::string Environment(const char* name) {
  const char* value = std::getenv(name);  // NOLINT(concurrency-mt-unsafe)
  return value == nullptr ? std::string() : value;
}

int Main() {
  std::unique_ptr<LockClient> client;
  std::map<std::string, std::unique_ptr<DistributedLock>> locks;
  Status status = LockClient::Open({.database = Environment("WHORL_DATABASE")}, client);
  if (status.ok()) {
    status = client->Check("fenced_lease", Environment("WHORL_TABLE"), Seconds(10));
  }
  for (const std::string name : json::parse(Environment("WHORL_LOCKS"))) {
    if (!status.ok()) break;
    status = client->Make({.name = name,
                           .id = Environment("WHORL_ID"),
                           .lease = Milliseconds(std::stoll(Environment("WHORL_LEASE_MS"))),
                           .table = Environment("WHORL_TABLE"),
                           .observer = std::make_shared<Observer>(name)},
                          locks[name]);
  }
  if (!status.ok()) {
    std::fprintf(stderr, "%s\n", FormatStatus(status).c_str());
    return 1;
  }
  Say({{"event", "ready"}});
  std::string line;
  while (std::getline(std::cin, line)) {
    const json order = json::parse(line);
    const auto& lock = locks.at(order["lock"]);
    if (order["do"] == "start") lock->Start();
    if (order["do"] == "stop") lock->UnlockThen([] {});
    if (order["do"] != "ask") continue;
    const Leadership now = lock->Now();
    json answer = {{"event", "answer"}, {"id", order["id"]}, {"yes", now.leads}};
    if (now.token) answer["token"] = std::to_string(*now.token);
    Say(answer);
  }
  return 0;
}

}  // namespace
}  // namespace whorl::real_client

int main() { return whorl::real_client::Main(); }
