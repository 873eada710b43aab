// Forwards a TCP connection between one process and Spanner, and can hold or cut it.
#pragma once

#include <atomic>
#include <functional>
#include <list>
#include <memory>
#include <mutex>
#include <thread>

namespace whorl::torture {

enum class LinkMode { kPasses, kHolds, kCut };

// Listens on a free loopback port, and passes connections on to `upstream()`, a port of the
// same machine (0: there is no server now).
class Link {
 public:
  explicit Link(std::function<int()> upstream);
  Link(const Link&) = delete;
  Link& operator=(const Link&) = delete;
  ~Link();

  int port() const { return port_; }
  // kHolds: bytes wait. kCut: connections are reset, and new ones refused.
  void Set(LinkMode mode) { mode_ = mode; }

 private:
  void Accept(const std::stop_token& stop);
  void Connect(int client);
  void Pass(const std::stop_token& stop, int from, int to) const;

  const std::function<int()> upstream_;
  int listener_ = -1;
  int port_ = 0;
  std::atomic<LinkMode> mode_ = LinkMode::kPasses;
  std::mutex mutex_;
  struct Passing {
    std::shared_ptr<std::atomic<bool>> ended;
    std::jthread thread;
  };
  std::list<Passing> passing_;  // guarded by mutex_
  std::jthread accepting_;
};

}  // namespace whorl::torture
