#pragma once

#include <stop_token>
#include <string>
#include <thread>

namespace warpath {

/// Converts SIGINT, SIGTERM and, unless it is ignored (nohup), SIGHUP into stop requests during its
/// lifetime: the first asks to finish what is in flight, the second to abandon it, the third ends
/// the process as by default. Reports on stderr what the next one will do. Only one object at a
/// time.
class InterruptWatch {
 public:
  /// `first`: what it says when the first comes; empty: nothing.
  explicit InterruptWatch(
      std::string first = "finishing what is being evaluated; once more abandons it");
  ~InterruptWatch();  ///< restores the former handlers
  InterruptWatch(const InterruptWatch&) = delete;
  InterruptWatch& operator=(const InterruptWatch&) = delete;

  [[nodiscard]] std::stop_token stop() const { return stop_.get_token(); }
  [[nodiscard]] std::stop_token abandon() const { return abandon_.get_token(); }

 private:
  void watch(const std::stop_token& done);

  std::string first_;
  std::stop_source stop_;
  std::stop_source abandon_;
  std::jthread thread_;
};

}  // namespace warpath
