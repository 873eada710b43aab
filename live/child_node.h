// A node's process as the coordinator handles it: sends it orders, receives its reports, and pauses
// and kills it.
#pragma once

#include <sys/types.h>

#include <boost/asio/io_context.hpp>
#include <boost/asio/posix/stream_descriptor.hpp>
#include <boost/asio/streambuf.hpp>
#include <functional>
#include <string>

#include "live/child_process.h"
#include "live/messages.h"

namespace whorl::live {

class ChildNode {
 public:
  // Receives the reports of the process, in order, on the thread that runs `context`.
  using Hear = std::function<void(Report&)>;
  // Called if the process has ended by itself or sent a line that is no report.
  using Fail = std::function<void(const std::string& why)>;

  // Throws std::system_error if the system cannot start a process.
  ChildNode(boost::asio::io_context& context, const NodeSetup& setup, Hear hear, Fail fail);
  ~ChildNode();
  ChildNode(const ChildNode&) = delete;
  ChildNode& operator=(const ChildNode&) = delete;

  void Send(const Order& order);
  // Returns when all threads of the process have stopped.
  void Pause();
  void Resume();
  // Sends SIGKILL. Reports that the process had sent before are received before this returns.
  void Kill();

 private:
  // The two pipes: the coordinator's ends, and the node's ends until the node was started.
  struct Pipes {
    int to_node[2];
    int from_node[2];
    Pipes();
  };

  // The process, or its group: a program that takes part in its place belongs to it.
  pid_t Target() const;
  void AwaitLine();
  void OnRead(bool failed);
  // Handles the whole lines in `heard_`.
  void TakeLines();

  Pipes pipes_;
  ChildProcess process_;
  const bool leads_group_;
  boost::asio::posix::stream_descriptor from_;
  boost::asio::streambuf heard_;
  const Hear hear_;
  const Fail fail_;
  bool ended_ = false;
  std::shared_ptr<bool> here_ = std::make_shared<bool>(true);
};

}  // namespace whorl::live
