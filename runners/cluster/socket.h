#pragma once

#include <chrono>
#include <optional>
#include <string>
#include <string_view>
#include <utility>

#include "runners/worker/frames.h"

namespace warpath::cluster {

/// One end of a TCP connection, which ends by itself some 90 s after the other machine is gone.
/// Reading, writing and shut_down() may happen in three threads at once, each in one at a time.
class Socket {
 public:
  Socket() = default;
  explicit Socket(int fd) : fd_(fd) {}
  Socket(Socket&& other) noexcept : fd_(std::exchange(other.fd_, -1)) {}
  Socket& operator=(Socket&& other) noexcept;
  ~Socket();

  /// Connects within `limit`, trying again meanwhile. Throws Error(environment) if that fails.
  [[nodiscard]] static Socket connect(const std::string& host,
                                      int port,
                                      std::chrono::duration<double> limit);

  /// Writes a whole frame; false if the other side is gone or takes nothing for a minute.
  [[nodiscard]] bool write(std::string_view frame);
  /// As write(), but gives up at once if the other side takes nothing now.
  void try_write(std::string_view frame);
  /// As read_frame().
  [[nodiscard]] FrameStatus read(std::string& frame, std::uint64_t max_bytes = kMaxMessageBytes);
  /// Ends read() and write() of both sides.
  void shut_down();
  explicit operator bool() const { return fd_ >= 0; }

 private:
  friend class Listener;
  int fd_ = -1;
};

/// A TCP port of all interfaces of this machine.
class Listener {
 public:
  /// Throws Error(environment) naming the port if it cannot be had. 0: any that is free.
  explicit Listener(int port);
  ~Listener();
  Listener(const Listener&) = delete;
  Listener& operator=(const Listener&) = delete;

  [[nodiscard]] int port() const { return port_; }
  /// Nullopt after `limit`.
  [[nodiscard]] std::optional<Socket> accept(std::chrono::milliseconds limit);

 private:
  int fd_ = -1;
  int port_ = 0;
};

/// The name of this machine.
[[nodiscard]] std::string host_name();

}  // namespace warpath::cluster
