#pragma once

#include <array>
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
  /// of the body or header; models are silent while reasoning
  std::chrono::milliseconds first_byte{120'000};
  std::chrono::milliseconds idle{60'000};  ///< between later pieces
  std::chrono::milliseconds total{900'000};
  std::size_t max_response_bytes = std::size_t{16} << 20U;
};

using HttpHeaders = std::vector<std::pair<std::string, std::string>>;

/// One POST.
struct HttpRequest {
  std::uint64_t id = 0;  ///< chosen by the caller, unique among running requests
  std::string url;
  HttpHeaders headers;
  std::string body;
  HttpLimits limits;
  /// Receives every piece of a successful response's body; returning true ends the request,
  /// whatever the server still sends. Called on the transport's thread.
  std::function<bool(std::string_view)> ended = nullptr;
};

/// Why a request got no complete response.
enum class HttpFailure : std::uint8_t {
  none,
  transfer,   ///< not resolved, not connected, interrupted: may succeed later
  timed_out,  ///< one of the limits
  too_large,  ///< more than max_response_bytes
  /// bad address, certificate refused, plain http to another machine: will not succeed later
  forbidden,
  cancelled,
};
inline constexpr std::array<std::string_view, 6> kHttpFailureNames{
    "none", "transfer", "timed_out", "too_large", "forbidden", "cancelled"};

struct HttpResult {
  std::uint64_t id = 0;
  HttpFailure failure = HttpFailure::none;
  std::string detail = {};   ///< of a failure, one line
  bool sent = false;         ///< the request may have reached the server
  int status = 0;            ///< 0: no response began
  HttpHeaders headers = {};  ///< names in lower case
  std::string body = {};     ///< as far as received
  /// seconds since the request, number of bytes; adds up to the body
  std::vector<std::pair<double, std::size_t>> pieces = {};
  double seconds = 0;
  [[nodiscard]] std::string_view header(std::string_view name) const;  ///< empty if absent
};

/// Transports requests. `send` and `cancel` are thread-safe and never block; `done` is called once
/// per request, on a thread of the transport, and must not block; nothing is called after the
/// destructor.
class Transport {
 public:
  virtual ~Transport() = default;
  virtual void send(HttpRequest request, std::function<void(HttpResult)> done) = 0;
  virtual void cancel(std::uint64_t id) = 0;
};

/// Why an address must not be contacted (only https, or http on this machine); empty if it may.
[[nodiscard]] std::string address_problem(const std::string& url);

/// Transport over libcurl: one thread, one multi handle. Verifies peers; https only, except for
/// loopback addresses; does not follow redirects, which would send the key elsewhere; proxies and
/// certificates according to the standard environment variables. Throws Error(environment) if
/// libcurl cannot be initialised.
[[nodiscard]] std::unique_ptr<Transport> make_curl_transport();

}  // namespace warpath::llm
