#include "live/child_node.h"

#include <fcntl.h>
#include <sys/wait.h>
#include <unistd.h>

#include <boost/asio/read.hpp>
#include <boost/asio/read_until.hpp>
#include <cerrno>
#include <csignal>
#include <filesystem>
#include <istream>
#include <string_view>
#include <system_error>
#include <utility>

#include "live/message_codec.h"

namespace whorl::live {
namespace {

// A node runs the same program, with another argument (cli/grpc/main.cc).
std::string OwnProgram() { return std::filesystem::read_symlink("/proc/self/exe").string(); }

void CloseEnd(int& end) {
  if (end >= 0) close(std::exchange(end, -1));
}

}  // namespace

ChildNode::Pipes::Pipes() : to_node{-1, -1}, from_node{-1, -1} {
  if (pipe2(to_node, O_CLOEXEC) != 0 || pipe2(from_node, O_CLOEXEC) != 0) {
    throw std::system_error(errno, std::generic_category(), "no pipe to a node");
  }
}

ChildNode::ChildNode(boost::asio::io_context& context, const NodeSetup& setup, Hear hear, Fail fail)
    : process_({OwnProgram(), std::string(kNodeArgument)}, pipes_.from_node[1], pipes_.to_node[0]),
      leads_group_(!setup.program.empty()),
      from_(context, pipes_.from_node[0]),
      hear_(std::move(hear)),
      fail_(std::move(fail)) {
  CloseEnd(pipes_.from_node[1]);
  CloseEnd(pipes_.to_node[0]);
  Send(setup);
  AwaitLine();
}

ChildNode::~ChildNode() {
  *here_ = false;
  if (leads_group_ && !ended_) kill(Target(), SIGKILL);
  process_.Kill();
  CloseEnd(pipes_.to_node[1]);
}

void ChildNode::Send(const Order& order) {
  const std::string line = ToJson(order).dump() + "\n";
  std::string_view left = line;
  while (!left.empty()) {
    const ssize_t written = write(pipes_.to_node[1], left.data(), left.size());
    if (written < 0 && errno == EINTR) continue;
    if (written < 0) return;  // the process has ended; OnRead notices that
    left.remove_prefix(static_cast<size_t>(written));
  }
}

pid_t ChildNode::Target() const { return leads_group_ ? -process_.pid() : process_.pid(); }

void ChildNode::Pause() {
  kill(Target(), SIGSTOP);
  siginfo_t what = {};
  waitid(P_PID, static_cast<id_t>(process_.pid()), &what, WSTOPPED);
}

void ChildNode::Resume() { kill(Target(), SIGCONT); }

void ChildNode::Kill() {
  if (std::exchange(ended_, true)) return;
  // Its group first, which has no name once it is gone.
  if (leads_group_) kill(Target(), SIGKILL);
  process_.Kill();
  from_.cancel();
  boost::system::error_code end;
  boost::asio::read(from_, heard_, end);
  TakeLines();
}

void ChildNode::AwaitLine() {
  boost::asio::async_read_until(
      from_, heard_, '\n', [this, here = here_](const boost::system::error_code& error, size_t) {
        if (*here && !ended_) OnRead(error.failed());
      });
}

void ChildNode::OnRead(bool failed) {
  TakeLines();
  if (ended_) return;  // a report has ended it
  if (!failed) return AwaitLine();
  Kill();
  fail_("a node's process has ended by itself:\n" + process_.Output());
}

void ChildNode::TakeLines() {
  std::istream stream(&heard_);
  while (heard_.size() > 0) {
    const auto data = heard_.data();
    const std::string_view text(static_cast<const char*>(data.data()), data.size());
    if (text.find('\n') == std::string_view::npos) return;
    std::string line;
    std::getline(stream, line);
    Report report;
    try {
      FromJson(MessageJson::parse(line), report);
    } catch (const MessageJson::exception& error) {
      return fail_(std::string("a node's process does not speak as it should: ") + error.what());
    }
    hear_(report);
  }
}

}  // namespace whorl::live
