#include "runners/cluster/socket.h"

#include <netdb.h>
#include <netinet/in.h>
#include <netinet/tcp.h>
#include <poll.h>
#include <sys/socket.h>
#include <sys/time.h>
#include <unistd.h>

#include <array>
#include <cerrno>
#include <cstring>
#include <memory>
#include <thread>

#include "engine/base/error.h"

namespace warpath::cluster {
namespace {

using Clock = std::chrono::steady_clock;
constexpr std::chrono::seconds kWriteLimit{60};
constexpr int kWaiting = 256;  // connections that have not been accepted

void set_flag(int fd, int level, int name, int value) {
  static_cast<void>(::setsockopt(fd, level, name, &value, sizeof value));
}

/// Frames are whole messages: none waits for the next. A machine that is gone is noticed after 90
/// s.
void make_ready(int fd) {
  set_flag(fd, IPPROTO_TCP, TCP_NODELAY, 1);
  set_flag(fd, SOL_SOCKET, SO_KEEPALIVE, 1);
  set_flag(fd, IPPROTO_TCP, TCP_KEEPIDLE, 30);
  set_flag(fd, IPPROTO_TCP, TCP_KEEPINTVL, 10);
  set_flag(fd, IPPROTO_TCP, TCP_KEEPCNT, 6);
  const timeval limit{.tv_sec = kWriteLimit.count(), .tv_usec = 0};
  static_cast<void>(::setsockopt(fd, SOL_SOCKET, SO_SNDTIMEO, &limit, sizeof limit));
}

/// A connected socket; -1: `problem` says why not.
int connected(const addrinfo* all, std::string& problem) {
  for (const addrinfo* one = all; one != nullptr; one = one->ai_next) {
    const int fd = ::socket(one->ai_family, one->ai_socktype | SOCK_CLOEXEC, one->ai_protocol);
    if (fd >= 0 && ::connect(fd, one->ai_addr, one->ai_addrlen) == 0) return fd;
    problem = std::strerror(errno);
    if (fd >= 0) ::close(fd);
  }
  return -1;
}

}  // namespace

Socket& Socket::operator=(Socket&& other) noexcept {
  std::swap(fd_, other.fd_);
  return *this;
}

Socket::~Socket() {
  if (fd_ >= 0) ::close(fd_);
}

Socket Socket::connect(const std::string& host, int port, std::chrono::duration<double> limit) {
  constexpr std::chrono::milliseconds kPause{200};
  const auto deadline = Clock::now() + std::chrono::duration_cast<Clock::duration>(limit);
  addrinfo wish{};
  wish.ai_socktype = SOCK_STREAM;
  std::string problem;
  do {
    addrinfo* found = nullptr;
    const int code = ::getaddrinfo(host.c_str(), std::to_string(port).c_str(), &wish, &found);
    const std::unique_ptr<addrinfo, decltype(&::freeaddrinfo)> all(found, &::freeaddrinfo);
    const int fd = code == 0 ? connected(found, problem) : -1;
    if (code != 0) problem = ::gai_strerror(code);
    if (fd >= 0) {
      make_ready(fd);
      return Socket(fd);
    }
    std::this_thread::sleep_for(kPause);
  } while (Clock::now() < deadline);
  throw environment_error(host + " port " + std::to_string(port) + ": " + problem);
}

bool Socket::write(std::string_view frame) {
  while (!frame.empty()) {
    const ssize_t put = ::send(fd_, frame.data(), frame.size(), MSG_NOSIGNAL);
    if (put < 0 && errno == EINTR) continue;
    if (put <= 0) return false;
    frame.remove_prefix(static_cast<std::size_t>(put));
  }
  return true;
}

void Socket::try_write(std::string_view frame) {
  const ssize_t put = ::send(fd_, frame.data(), frame.size(), MSG_NOSIGNAL | MSG_DONTWAIT);
  // half a frame would make the rest of the stream unreadable
  if (put > 0 && static_cast<std::size_t>(put) < frame.size()) shut_down();
}

FrameStatus Socket::read(std::string& frame, std::uint64_t max_bytes) {
  return read_frame(fd_, frame, max_bytes);
}

void Socket::shut_down() {
  static_cast<void>(::shutdown(fd_, SHUT_RDWR));
}

Listener::Listener(int port) {
  fd_ = ::socket(AF_INET6, SOCK_STREAM | SOCK_CLOEXEC, 0);
  const bool six = fd_ >= 0;
  if (!six) fd_ = ::socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0);
  if (fd_ >= 0 && six) set_flag(fd_, IPPROTO_IPV6, IPV6_V6ONLY, 0);
  sockaddr_in6 any6{};
  any6.sin6_family = AF_INET6;
  any6.sin6_addr = in6addr_any;
  any6.sin6_port = htons(static_cast<std::uint16_t>(port));
  sockaddr_in any4{};
  any4.sin_family = AF_INET;
  any4.sin_port = any6.sin6_port;
  sockaddr* const address =
      six ? reinterpret_cast<sockaddr*>(&any6) : reinterpret_cast<sockaddr*>(&any4);
  socklen_t size = six ? sizeof any6 : sizeof any4;
  if (fd_ < 0 || ::bind(fd_, address, size) != 0 || ::listen(fd_, kWaiting) != 0 ||
      ::getsockname(fd_, address, &size) != 0) {
    const std::string why = std::strerror(errno);
    if (fd_ >= 0) ::close(fd_);
    throw environment_error("cluster.port " + std::to_string(port) + ": " + why);
  }
  port_ = ntohs(six ? any6.sin6_port : any4.sin_port);
}

Listener::~Listener() {
  ::close(fd_);
}

std::optional<Socket> Listener::accept(std::chrono::milliseconds limit) {
  pollfd entry{.fd = fd_, .events = POLLIN, .revents = 0};
  if (::poll(&entry, 1, static_cast<int>(limit.count())) <= 0) return std::nullopt;
  const int fd = ::accept4(fd_, nullptr, nullptr, SOCK_CLOEXEC);
  if (fd < 0) return std::nullopt;
  make_ready(fd);
  return Socket(fd);
}

std::string host_name() {
  std::array<char, 256> name{};
  if (::gethostname(name.data(), name.size() - 1) != 0 || name[0] == '\0') return "localhost";
  return name.data();
}

}  // namespace warpath::cluster
