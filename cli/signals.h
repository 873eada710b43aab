// Handles signals on a separate thread.
#pragma once

#include <functional>
#include <thread>
#include <vector>

namespace whorl::cli {

class Signals {
 public:
  // From now on these signals only call `hear`, one at a time, on that thread. Signals that this
  // process was started to ignore stay ignored.
  // REQUIRES: no other thread runs yet.
  Signals(const std::vector<int>& signals, std::function<void(int signal)> hear);
  Signals(const Signals&) = delete;
  Signals& operator=(const Signals&) = delete;
  ~Signals();

 private:
  void Run(int signals) const;

  std::function<void(int)> hear_;
  int signals_ = -1;
  int end_ = -1;
  std::thread thread_;
};

}  // namespace whorl::cli
