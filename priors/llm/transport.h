#pragma once

#include <chrono>
#include <cstddef>
#include <cstdint>
#include <functional>
#include <memory>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

namespace warpath::llm {

struct HttpLimits {
  std::chrono::milliseconds connect{10'000};
  /// of the body or header; a model that reasons is silent
  std::chrono::milliseconds first_byte{120'000};
  std::chrono::milliseconds idle{60'000};  ///< between pieces after the first
  std::chrono::milliseconds total{900'000};
  std::size_t max_response_bytes = std::size_t{16} << 20U;
};

using HttpHeaders = std::vector<std::pair<std::string, std::string>>;

/// One POST.
struct HttpRequest {
  std::uint64_t id = 0;  ///< chosen by the caller, distinct among requests under way
  std::string url;
  HttpHeaders headers;
  std::string body;
  HttpLimits limits;
  /// Sees every piece of a successful answer's body; true: that was all, whatever the server still
  /// does. On the transport's thread.
  std::function<bool(std::string_view)> ended = nullptr;
};

/// Why a request came to no whole response.
enum class HttpFailure : std::uint8_t {
  none,
  transfer,   ///< not resolved, not connected, cut short: may go better another time
  timed_out,  ///< one of the limits
  too_large,  ///< more than max_response_bytes
  /// bad address, certificate refused, plain http beyond this machine: will not go better
  forbidden,
  cancelled,
};
inline constexpr std::string_view kHttpFailureNames[] = {"none",      "transfer",  "timed_out",
                                                         "too_large", "forbidden", "cancelled"};

struct HttpResult {
  std::uint64_t id = 0;
  HttpFailure failure = HttpFailure::none;
  std::string detail;   ///< of a failure, one line
  bool sent = false;    ///< the request may have reached the server
  int status = 0;       ///< 0: no response began
  HttpHeaders headers;  ///< names in lower case
  std::string body;     ///< as far as it came
  /// seconds since the request, bytes: sums to the body
  std::vector<std::pair<double, std::size_t>> pieces;
  double seconds = 0;
  [[nodiscard]] std::string_view header(std::string_view name) const;  ///< empty if absent
};

/// Carries requests. `send` and `cancel` never block and may be called from any thread; `done` is
/// called once for each request, on a thread of the transport, and must not block; after the
/// destructor nothing is called.
class Transport {
 public:
  virtual ~Transport() = default;
  virtual void send(HttpRequest request, std::function<void(HttpResult)> done) = 0;
  virtual void cancel(std::uint64_t id) = 0;
};

/// Empty, or why the address may not be asked: https alone, http where it is this machine's.
[[nodiscard]] std::string address_problem(const std::string& url);

/// Over libcurl: one thread, one multi handle. Verifies peers; https alone but for loopback
/// addresses; follows no redirect, which would carry the key elsewhere; proxies and certificates as
/// the standard environment variables say. Throws Error(environment) if libcurl fails to start.
[[nodiscard]] std::unique_ptr<Transport> make_curl_transport();

}  // namespace warpath::llm
