#pragma once

#include <chrono>
#include <cmath>

namespace warpath {

/// Wall time since its construction.
class Stopwatch {
 public:
  [[nodiscard]] double seconds() const {
    return std::chrono::duration<double>(std::chrono::steady_clock::now() - begin_).count();
  }
  /// To 1 ms, for what is stored often.
  [[nodiscard]] double rounded_seconds() const { return std::round(seconds() * 1e3) * 1e-3; }

 private:
  std::chrono::steady_clock::time_point begin_ = std::chrono::steady_clock::now();
};

}  // namespace warpath
