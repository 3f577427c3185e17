#pragma once

#include <chrono>
#include <cstdint>
#include <mutex>
#include <optional>

#include "priors/llm/model_call.h"

namespace warpath::llm {

/// Tokens added to the messages of a request.
inline constexpr std::int64_t kFraming = 64;

struct BudgetLimits {
  std::int64_t calls = 200;  ///< requests sent, including retries
  std::int64_t input_tokens = 4'000'000;
  std::int64_t output_tokens = 1'000'000;
  double money = 5;
  double seconds = 0;  ///< since construction; 0: no limit
};

struct Spent {
  std::int64_t calls = 0;
  std::int64_t input_tokens = 0;
  std::int64_t output_tokens = 0;
  double money = 0;
};

/// Hard limits: the worst case of a call is reserved before it is sent and replaced by its actual
/// cost afterwards. What was spent plus what may still be spent thus stays within every limit,
/// provided that servers bill no more than was requested. Thread-safe.
class Budget {
 public:
  explicit Budget(const BudgetLimits& limits) : limits_(limits) {}

  /// Returns false, reserving nothing, if the worst case `worst` of one call does not fit.
  [[nodiscard]] bool reserve(const Usage& worst, double money);
  /// Ends a reservation of `worst` and `money` and counts the actual cost.
  void settle(const Usage& worst, double money, const Usage& took, double cost);
  /// Ends the reservation of a call that was never sent.
  void release(const Usage& worst, double money);
  /// Counts a call of an earlier session, regardless of limits.
  void charge(const Usage& took, double cost);

  [[nodiscard]] Spent spent() const;
  [[nodiscard]] Spent reserved() const;
  /// Actual cost of calls plus the worst case of those whose end is unknown.
  [[nodiscard]] Spent charged() const;
  [[nodiscard]] const BudgetLimits& limits() const { return limits_; }

 private:
  const BudgetLimits limits_;
  mutable std::mutex mutex_;
  Spent spent_, reserved_;  // guarded by mutex_
  std::chrono::steady_clock::time_point begin_ = std::chrono::steady_clock::now();
};

}  // namespace warpath::llm
