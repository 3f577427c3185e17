#include "priors/llm/retry.h"

#include <algorithm>
#include <array>
#include <charconv>
#include <cmath>
#include <ctime>

namespace warpath::llm {
namespace {

using Next = Judgement::Next;

std::optional<double> number(std::string_view text) {
  double value = 0;
  const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), value);
  if (error != std::errc() || end != text.data() + text.size() || !std::isfinite(value))
    return std::nullopt;
  return value;
}

std::optional<double> http_date(std::string_view text) {
  for (const char* format :
       {"%a, %d %b %Y %H:%M:%S GMT", "%A, %d-%b-%y %H:%M:%S GMT", "%a %b %d %H:%M:%S %Y"}) {
    std::tm time{};
    const std::string whole(text);
    const char* end = strptime(whole.c_str(), format, &time);
    if (end != nullptr && *end == '\0') return static_cast<double>(timegm(&time));
  }
  return std::nullopt;
}

/// Words by which servers name what a capability puts into a request.
constexpr std::array<std::pair<std::string_view, std::string_view>, 14> kWords{
    {{"temperature", "temperature"},
     {"stream_options", "stream_usage"},
     {"include_usage", "stream_usage"},
     {"response_format", "json_schema"},
     {"json_schema", "json_schema"},
     {"output_config", "json_schema"},
     {"text.format", "json_schema"},
     {"json_object", "json_object"},
     {"reasoning_effort", "reasoning_effort"},
     {"reasoning.effort", "reasoning_effort"},
     {"developer", "developer_role"},
     {"store", "store"},
     {"cache_control", "cache_control"},
     {"stream", "stream"}}};

std::string droppable(const ModelAnswer& answer, const Profile& profile) {
  for (const std::string* text : {&answer.error_param, &answer.error_message}) {
    for (const auto& [word, capability] : kWords) {
      if (text->find(word) != std::string::npos && profile.can(capability))
        return std::string(capability);
    }
  }
  return "";
}

bool says(const ModelAnswer& answer, std::initializer_list<std::string_view> words) {
  return std::ranges::any_of(words, [&](std::string_view w) {
    return answer.error_code.find(w) != std::string::npos ||
           answer.error_type.find(w) != std::string::npos ||
           answer.error_message.find(w) != std::string::npos;
  });
}

Judgement again(std::string reason, const HttpResult& result, double now) {
  return {.next = Next::retry,
          .reason = std::move(reason),
          .wait_s = retry_after(result, now),
          .option = ""};
}
Judgement with(Next next, std::string reason) {
  return {.next = next, .reason = std::move(reason), .wait_s = std::nullopt, .option = ""};
}

Judgement judge_status(const HttpResult& result,
                       const ModelAnswer& answer,
                       const Profile& profile,
                       double now) {
  const int s = result.status;
  const std::string said = "http_" + std::to_string(s) +
                           (answer.error_message.empty() ? "" : ": " + answer.error_message);
  if (says(answer, {"insufficient_quota", "billing_hard_limit", "credit balance"}))
    return with(Next::disable, said);
  if (s == 401 || s == 403) return with(Next::disable, said);
  if (s == 413 || says(answer, {"context_length", "maximum context", "prompt is too long"}))
    return with(Next::shrink, said);
  if (s == 400 || s == 422) {
    Judgement out = with(Next::give_up, said);
    out.option = droppable(answer, profile);
    if (!out.option.empty()) out.next = Next::drop;
    return out;
  }
  const std::string_view should = result.header("x-should-retry");
  if (should == "false") return with(Next::give_up, said);
  if (should == "true" || s == 408 || s == 409 || s == 429 || s >= 500)
    return again(said, result, now);
  return with(Next::give_up, said);  // 3xx too: a redirect would carry the key elsewhere
}

}  // namespace

Judgement judge(const HttpResult& result,
                const ModelAnswer& answer,
                const Profile& profile,
                double unix_now_s) {
  switch (result.failure) {
    case HttpFailure::none:
      break;
    case HttpFailure::transfer:
      return again("transfer: " + result.detail, result, unix_now_s);
    case HttpFailure::timed_out:
      return again("timed_out: " + result.detail, result, unix_now_s);
    case HttpFailure::too_large:
      return with(Next::give_up, "too_large: " + result.detail);
    case HttpFailure::forbidden:
      return with(Next::disable, "forbidden: " + result.detail);
    case HttpFailure::cancelled:
      return with(Next::give_up, "cancelled");
  }
  if (result.status / 100 != 2) return judge_status(result, answer, profile, unix_now_s);
  switch (answer.end) {
    case ModelAnswer::End::unfinished:
      return again("truncated: " + answer.error_message, result, unix_now_s);
    case ModelAnswer::End::error:
      if (says(answer, {"insufficient_quota", "authentication", "permission"}))
        return with(Next::disable, "stream_error: " + answer.error_message);
      return again("stream_error: " + answer.error_message, result, unix_now_s);
    default:
      return with(Next::take, "");
  }
}

std::optional<double> retry_after(const HttpResult& result, double unix_now_s) {
  if (const auto ms = number(result.header("retry-after-ms"))) return std::max(0.0, *ms / 1000);
  const std::string_view text = result.header("retry-after");
  if (text.empty()) return std::nullopt;
  if (const auto seconds = number(text)) return std::max(0.0, *seconds);
  if (const auto date = http_date(text)) return std::max(0.0, *date - unix_now_s);
  return std::nullopt;
}

std::optional<double> go_duration(std::string_view text) {
  if (text.empty()) return std::nullopt;
  double total = 0;
  while (!text.empty()) {
    const std::size_t digits = std::min(text.find_first_not_of("0123456789."), text.size());
    const auto value = number(text.substr(0, digits));
    text.remove_prefix(digits);
    if (!value) return std::nullopt;
    double unit = 0;
    std::size_t size = 1;
    if (text.starts_with("ms"))
      unit = 1e-3, size = 2;
    else if (text.starts_with("us"))
      unit = 1e-6, size = 2;
    else if (text.starts_with("h"))
      unit = 3600;
    else if (text.starts_with("m"))
      unit = 60;
    else if (text.starts_with("s"))
      unit = 1;
    else
      return std::nullopt;
    text.remove_prefix(size);
    total += *value * unit;
  }
  return total;
}

double backoff(const RetryPolicy& policy, int attempt, Rng& rng) {
  const double limit =
      std::min(policy.cap_s, policy.base_s * std::exp2(std::clamp(attempt - 1, 0, 30)));
  return limit * rng.uniform();
}

RateLimit::RateLimit(double requests_per_minute, double tokens_per_minute, Clock::time_point now) {
  requests_ = {.per_minute = requests_per_minute,
               .level = requests_per_minute,
               .filled = now,
               .closed_until = now};
  tokens_ = {.per_minute = tokens_per_minute,
             .level = tokens_per_minute,
             .filled = now,
             .closed_until = now};
}

void RateLimit::Bucket::fill(Clock::time_point now) {
  const std::chrono::duration<double> passed = now - filled;
  filled = now;
  level = std::min(per_minute, level + per_minute / 60 * passed.count());
}

double RateLimit::Bucket::wait(double amount, Clock::time_point now) {
  double out = std::max(0.0, std::chrono::duration<double>(closed_until - now).count());
  if (per_minute <= 0) return out;
  fill(now);
  // more than a minute's worth goes when the bucket is full
  const double needed = std::min(amount, per_minute);
  return std::max(out, (needed - level) * 60 / per_minute);
}

double RateLimit::wait(std::int64_t tokens, Clock::time_point now) {
  return std::max(requests_.wait(1, now), tokens_.wait(static_cast<double>(tokens), now));
}

void RateLimit::take(std::int64_t tokens, Clock::time_point now) {
  requests_.fill(now);
  tokens_.fill(now);
  requests_.level -= 1;
  tokens_.level -= static_cast<double>(tokens);
}

void RateLimit::correct(std::int64_t reserved, std::int64_t actual) {
  tokens_.level += static_cast<double>(reserved - actual);
}

void RateLimit::hear(const HttpResult& result,
                     std::string_view kind,
                     Bucket& bucket,
                     Clock::time_point now) {
  const std::string prefix = "x-ratelimit-";
  const auto limit = number(result.header(prefix + "limit-" + std::string(kind)));
  const auto remaining = number(result.header(prefix + "remaining-" + std::string(kind)));
  if (limit && *limit > 0 && (bucket.per_minute <= 0 || *limit < bucket.per_minute)) {
    bucket.fill(now);
    bucket.level = bucket.per_minute > 0 ? std::min(bucket.level, *limit) : *limit;
    bucket.per_minute = *limit;
  }
  if (!remaining || *remaining >= 1) return;
  const auto reset = go_duration(result.header(prefix + "reset-" + std::string(kind)));
  if (reset)
    bucket.closed_until = std::max(
        bucket.closed_until, now + std::chrono::duration_cast<Clock::duration>(
                                       std::chrono::duration<double>(std::min(*reset, 600.0))));
}

void RateLimit::hear(const HttpResult& result, Clock::time_point now) {
  hear(result, "requests", requests_, now);
  hear(result, "tokens", tokens_, now);
}

void Breaker::failed(Clock::time_point now) {
  probing_ = false;
  if (++failures_ >= limit_)
    until_ =
        now + std::chrono::duration_cast<Clock::duration>(std::chrono::duration<double>(open_s_));
}

}  // namespace warpath::llm
