#pragma once

#include <chrono>
#include <cstdint>
#include <map>
#include <mutex>
#include <optional>
#include <string>
#include <string_view>

#include "runners/cluster/messages.h"
#include "runners/cluster/socket.h"

namespace warpath::cluster {

/// An evaluation that a member has been asked for. Guarded by the cluster's mutex.
struct Asked {
  std::optional<Finished> answer;
  bool lost = false;  ///< its member is gone
};

/// The engine's side of one member. Guarded by the cluster's mutex but for what is said otherwise.
struct Member {
  using Clock = std::chrono::steady_clock;
  enum class State : std::uint8_t {
    connected,  ///< has not said who it is
    joined,     ///< its runner is being made or prepared
    ready,      ///< evaluates
    gone,
  };

  explicit Member(Socket connection) : socket(std::move(connection)) {}

  Socket socket;
  std::mutex writing;  ///< of the socket
  State state = State::connected;
  Join who;
  std::uint64_t turn = 0;  ///< of the last OpenRunner or PrepareSpec that was sent
  RunnerOpened opened;     ///< of the present turn, if `state` is ready
  std::map<std::uint64_t, Asked*> asked;
  int useful = 1;  ///< evaluations at once
  Clock::time_point heard = Clock::now();

  /// Sends a message; if that fails the connection is ended, which its reader notices. Without the
  /// cluster's mutex.
  void send(const EngineMessage& message);
  /// The same for whole frames, under `writing`.
  void put(std::string_view frames);
  /// Asks for a sign of life, unless something else is being sent.
  void ping();
  /// "node3 (job 17_2)"
  [[nodiscard]] std::string text() const;
};

}  // namespace warpath::cluster
