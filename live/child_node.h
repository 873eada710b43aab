// A node's process, seen from the stage: what it is told, what it says, and how it is stopped,
// paused and killed.
#pragma once

#include <sys/types.h>

#include <boost/asio/io_context.hpp>
#include <boost/asio/posix/stream_descriptor.hpp>
#include <boost/asio/streambuf.hpp>
#include <functional>
#include <string>

#include "live/child_process.h"
#include "live/talk.h"

namespace whorl::live {

class ChildNode {
 public:
  // Gets what the process says, in order, on the thread that runs `context`.
  using Hear = std::function<void(Report&)>;
  // The process has ended by itself, or speaks another language.
  using Fail = std::function<void(const std::string& why)>;

  // Throws std::system_error when the system gives no process.
  ChildNode(boost::asio::io_context& context, const Setup& setup, Hear hear, Fail fail);
  ~ChildNode();
  ChildNode(const ChildNode&) = delete;
  ChildNode& operator=(const ChildNode&) = delete;

  void Send(const Order& order);
  // Until all of its threads stand still.
  void Pause();
  void Resume();
  // SIGKILL; what it said before is heard before this returns.
  void Kill();

 private:
  // The stage's ends of the two pipes, and the node's until it has been started.
  struct Pipes {
    int to_node[2];
    int from_node[2];
    Pipes();
  };

  void AwaitLine();
  void OnRead(bool failed);
  // Takes whole lines from `heard_`.
  void TakeLines();

  Pipes pipes_;
  ChildProcess process_;
  boost::asio::posix::stream_descriptor from_;
  boost::asio::streambuf heard_;
  const Hear hear_;
  const Fail fail_;
  bool ended_ = false;
  std::shared_ptr<bool> here_ = std::make_shared<bool>(true);
};

}  // namespace whorl::live
