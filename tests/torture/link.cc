#include "tests/torture/link.h"

#include <arpa/inet.h>
#include <netinet/tcp.h>
#include <poll.h>
#include <sys/socket.h>
#include <unistd.h>

#include <array>
#include <cerrno>
#include <chrono>
#include <memory>
#include <system_error>
#include <utility>

namespace whorl::torture {
namespace {

constexpr int kLookEveryMs = 10;

sockaddr_in Loopback(int port) {
  sockaddr_in address = {};
  address.sin_family = AF_INET;
  address.sin_port = htons(static_cast<uint16_t>(port));
  address.sin_addr.s_addr = htonl(INADDR_LOOPBACK);
  return address;
}

bool IsReadable(int file) {
  pollfd one = {.fd = file, .events = POLLIN, .revents = 0};
  return poll(&one, 1, kLookEveryMs) > 0;
}

bool WriteAll(int file, const char* data, ssize_t size) {
  while (size > 0) {
    const ssize_t written = send(file, data, static_cast<size_t>(size), MSG_NOSIGNAL);
    if (written <= 0) return false;
    data += written;
    size -= written;
  }
  return true;
}

}  // namespace

Link::Link(std::function<int()> upstream)
    : upstream_(std::move(upstream)), listener_(socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0)) {
  sockaddr_in address = Loopback(0);
  socklen_t size = sizeof(address);
  if (bind(listener_, reinterpret_cast<sockaddr*>(&address), size) != 0 ||
      listen(listener_, SOMAXCONN) != 0 ||
      getsockname(listener_, reinterpret_cast<sockaddr*>(&address), &size) != 0) {
    throw std::system_error(errno, std::generic_category(), "a link");
  }
  port_ = ntohs(address.sin_port);
  accepting_ = std::jthread([this](const std::stop_token& stop) { Accept(stop); });
}

Link::~Link() {
  accepting_.request_stop();
  accepting_.join();
  passing_.clear();
  close(listener_);
}

void Link::Accept(const std::stop_token& stop) {
  while (!stop.stop_requested()) {
    if (!IsReadable(listener_)) continue;
    const int client = accept4(listener_, nullptr, nullptr, SOCK_CLOEXEC);
    if (client >= 0) Connect(client);
  }
}

void Link::Connect(int client) {
  const int upstream = upstream_();
  const int server = socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0);
  const sockaddr_in address = Loopback(upstream);
  const auto closed = [](const int* file) {
    close(*file);
    delete file;
  };
  const std::shared_ptr<const int> ends[] = {{new int(client), closed}, {new int(server), closed}};
  if (mode_ == LinkMode::kCut || upstream == 0 ||
      connect(server, reinterpret_cast<const sockaddr*>(&address), sizeof(address)) != 0) {
    return;
  }
  const int yes = 1;
  for (const auto& end : ends) setsockopt(*end, IPPROTO_TCP, TCP_NODELAY, &yes, sizeof(yes));
  const std::lock_guard lock(mutex_);
  std::erase_if(passing_, [](const Passing& one) { return one.ended->load(); });
  for (const auto& [from, to] : {std::pair(ends[0], ends[1]), std::pair(ends[1], ends[0])}) {
    auto ended = std::make_shared<std::atomic<bool>>(false);
    passing_.push_back(
        {.ended = ended,
         .thread = std::jthread([this, ended, from = from, to = to](const std::stop_token& stop) {
           Pass(stop, *from, *to);
           *ended = true;
         })});
  }
}

void Link::Pass(const std::stop_token& stop, int from, int to) const {
  std::array<char, 1 << 16> buffer{};
  while (!stop.stop_requested() && mode_ != LinkMode::kCut) {
    if (mode_ == LinkMode::kHolds) {
      std::this_thread::sleep_for(std::chrono::milliseconds(kLookEveryMs));
      continue;
    }
    if (!IsReadable(from)) continue;
    const ssize_t size = recv(from, buffer.data(), buffer.size(), 0);
    if (size <= 0 || !WriteAll(to, buffer.data(), size)) break;
  }
  shutdown(from, SHUT_RDWR);
  shutdown(to, SHUT_RDWR);
}

}  // namespace whorl::torture
