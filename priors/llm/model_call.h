#pragma once

#include <cstdint>
#include <nlohmann/json.hpp>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace warpath::llm {

struct Message {
  enum class Role : std::uint8_t { system, user, assistant };
  Role role = Role::user;
  std::string text;
};
[[nodiscard]] std::string_view name(Message::Role role);

/// A request to a model, independent of wire format.
struct ModelRequest {
  std::vector<Message> messages;         ///< a system message first, if any
  std::optional<nlohmann::json> schema;  ///< of the answer; absent: plain text
  std::string schema_name = "answer";
  std::int64_t max_output_tokens = 8192;
  std::optional<double> temperature;
  std::string effort;  ///< reasoning effort; empty: the server's default
  /// purpose, the same in every session of a run; empty: none. Never sent
  std::string label = {};
};

struct Usage {
  std::int64_t input = 0;        ///< tokens, including cached ones
  std::int64_t cached = 0;       ///< of `input`: read from a cache
  std::int64_t cache_write = 0;  ///< of `input`: written to one
  std::int64_t output = 0;       ///< including reasoning
  std::int64_t reasoning = 0;    ///< of `output`
  bool known = false;            ///< reported by the server
  bool operator==(const Usage&) const = default;
};

/// A response as decoded by its codec.
struct ModelAnswer {
  enum class End : std::uint8_t { unfinished, complete, length, refusal, filtered, error };
  End end = End::unfinished;  ///< unfinished: no terminal event arrived
  std::string text;           ///< the message only, without reasoning
  std::string refusal;
  Usage usage;
  std::string model;  ///< as reported by the server
  // From an error object, in a body or within a stream.
  std::string error_type, error_code, error_param, error_message;
};
inline constexpr std::string_view kEndNames[] = {"unfinished", "complete", "length",
                                                 "refusal",    "filtered", "error"};

}  // namespace warpath::llm
