// Signals that ask this process to do something, heard by a thread of its own.
#pragma once

#include <functional>
#include <thread>
#include <vector>

namespace whorl::cli {

class Signals {
 public:
  // From now on these signals do nothing but run `hear`, one at a time, on that thread; but for
  // those that whoever started this process has told it to ignore.
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
