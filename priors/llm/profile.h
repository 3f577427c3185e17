#pragma once

#include <map>
#include <nlohmann/json_fwd.hpp>
#include <optional>
#include <set>
#include <string>
#include <string_view>
#include <vector>

#include "priors/llm/model_call.h"
#include "priors/llm/transport.h"

namespace warpath::llm {

/// Prices per million tokens.
struct Prices {
  double input = 0, cached = 0, cache_write = 0, output = 0;
};

/// A provider: its address and capabilities. docs/llm.md lists the built-in ones and the keys of a
/// profile file.
struct Profile {
  std::string name;
  std::string base_url;  ///< without trailing slash
  std::string codec = "chat";
  enum class Auth : std::uint8_t { bearer, api_key, x_api_key, none } auth = Auth::bearer;
  std::string key_env = "OPENAI_API_KEY";
  /// environment variable that replaces base_url; empty: none
  std::string base_url_env;
  HttpHeaders headers;  ///< besides those of the codec
  std::string model;
  std::set<std::string, std::less<>> capabilities;  ///< of kCapabilities
  std::string max_tokens_field = "max_completion_tokens";
  std::int64_t context_tokens = 128'000;
  std::int64_t max_output_tokens = 16'384;
  std::optional<Prices> prices;  ///< absent: unknown
  std::string currency = "USD";
  double requests_per_minute = 0;  ///< 0: no known limit
  double tokens_per_minute = 0;
  std::string effort;  ///< requested reasoning effort
  HttpLimits limits;

  [[nodiscard]] bool can(std::string_view capability) const {
    return capabilities.contains(capability);
  }
  [[nodiscard]] std::string url() const;  ///< of requests
  /// 0 without prices.
  [[nodiscard]] double cost(const Usage& usage) const;
};

inline constexpr std::string_view kCapabilities[] = {
    "temperature",      "json_schema",    "json_object", "stream",       "stream_usage",
    "reasoning_effort", "developer_role", "store",       "cache_control"};

/// The built-in profiles, by name.
[[nodiscard]] const std::map<std::string, Profile, std::less<>>& builtin_profiles();

/// `text`: the name of a built-in profile, or a JSON file with the same members; missing ones come
/// from the built-in profile named by "like". Throws Error(bad_input) naming file and key.
[[nodiscard]] Profile load_profile(const std::string& text);
[[nodiscard]] Profile profile_from_json(const nlohmann::json& value, const std::string& file);

}  // namespace warpath::llm
