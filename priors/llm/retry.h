#pragma once

#include <chrono>
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>

#include "engine/base/rng.h"
#include "priors/llm/model_call.h"
#include "priors/llm/profile.h"
#include "priors/llm/transport.h"

namespace warpath::llm {

struct RetryPolicy {
  int attempts = 4;
  double base_s = 0.5;
  double cap_s = 20;        ///< maximum of the computed wait
  double hint_cap_s = 120;  ///< a server that asks for a longer wait is given up
  double total_s = 600;     ///< maximum per call, including waits
};

/// What to do with a response.
struct Judgement {
  enum class Next : std::uint8_t {
    take,  ///< an answer, however it ended
    retry,
    drop,     ///< the server does not support `option`: retry without it
    shrink,   ///< the prompt is too long
    give_up,  ///< this call has failed
    disable,  ///< every call would fail
  } next = Next::give_up;
  std::string reason;            ///< one line, whose first word is used for counters
  std::optional<double> wait_s;  ///< requested by the server
  std::string option;            ///< of kCapabilities
};
[[nodiscard]] Judgement judge(const HttpResult& result,
                              const ModelAnswer& answer,
                              const Profile& profile,
                              double unix_now_s);

/// The wait that a response requests, in seconds: retry-after-ms, or retry-after as seconds or an
/// HTTP date. nullopt if there is none.
[[nodiscard]] std::optional<double> retry_after(const HttpResult& result, double unix_now_s);
/// "1s", "6m0s", "20ms", "1h2m": seconds; nullopt for anything else.
[[nodiscard]] std::optional<double> go_duration(std::string_view text);
/// Wait before attempt `attempt` (from 1): full jitter over base * 2^(attempt-1), at most the cap.
[[nodiscard]] double backoff(const RetryPolicy& policy, int attempt, Rng& rng);

/// Limits on requests and tokens per minute, as configured and as reported in the server's headers;
/// the later of the two applies. Not thread-safe.
class RateLimit {
 public:
  using Clock = std::chrono::steady_clock;
  RateLimit(double requests_per_minute, double tokens_per_minute, Clock::time_point now);
  /// Seconds until a request of `tokens` may be sent; 0: now.
  [[nodiscard]] double wait(std::int64_t tokens, Clock::time_point now);
  void take(std::int64_t tokens, Clock::time_point now);
  /// Reports that a request took `actual` tokens instead of `reserved`.
  void correct(std::int64_t reserved, std::int64_t actual);
  /// x-ratelimit-{limit,remaining,reset}-{requests,tokens}
  void hear(const HttpResult& result, Clock::time_point now);

 private:
  struct Bucket {
    double per_minute = 0;  // 0: no known limit
    double level = 0;
    Clock::time_point filled{};
    Clock::time_point closed_until{};
    void fill(Clock::time_point now);
    [[nodiscard]] double wait(double amount, Clock::time_point now);
  };
  void hear(const HttpResult& result, std::string_view kind, Bucket& bucket, Clock::time_point now);
  Bucket requests_, tokens_;
};

/// A circuit breaker: opens after consecutive failures; after its time one call may try. Not
/// thread-safe.
class Breaker {
 public:
  using Clock = std::chrono::steady_clock;
  Breaker(int failures, double open_s) : limit_(failures), open_s_(open_s) {}
  [[nodiscard]] bool lets_pass(Clock::time_point now) const {
    return failures_ < limit_ || (now >= until_ && !probing_);
  }
  [[nodiscard]] bool open(Clock::time_point now) const {
    return failures_ >= limit_ && now < until_;
  }
  [[nodiscard]] Clock::time_point until() const { return until_; }
  void sent() { probing_ = failures_ >= limit_; }
  void succeeded() { failures_ = 0, probing_ = false; }
  void failed(Clock::time_point now);

 private:
  int limit_;
  double open_s_;
  int failures_ = 0;
  bool probing_ = false;
  Clock::time_point until_{};
};

}  // namespace warpath::llm
