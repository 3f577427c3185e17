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

/// What a model is asked, whatever its server speaks.
struct ModelRequest {
  std::vector<Message> messages;         ///< a system message first, if any
  std::optional<nlohmann::json> schema;  ///< of the answer; none: plain text
  std::string schema_name = "answer";
  std::int64_t max_output_tokens = 8192;
  std::optional<double> temperature;
  std::string effort;  ///< of reasoning; empty: the server's own
  /// what it is for, the same in every session of a run; empty: nothing special. Never sent
  std::string label = {};
};

struct Usage {
  std::int64_t input = 0;        ///< tokens, cached ones included
  std::int64_t cached = 0;       ///< of `input`: read from a cache
  std::int64_t cache_write = 0;  ///< of `input`: written to one
  std::int64_t output = 0;       ///< reasoning included
  std::int64_t reasoning = 0;    ///< of `output`
  bool known = false;            ///< the server said so
  bool operator==(const Usage&) const = default;
};

/// A response as its codec reads it.
struct ModelAnswer {
  enum class End : std::uint8_t { unfinished, complete, length, refusal, filtered, error };
  End end = End::unfinished;  ///< unfinished: no terminal event came
  std::string text;           ///< the message alone; reasoning is left out
  std::string refusal;
  Usage usage;
  std::string model;  ///< as the server calls itself
  // Of an error object, in a body or in the midst of a stream.
  std::string error_type, error_code, error_param, error_message;
};
inline constexpr std::string_view kEndNames[] = {"unfinished", "complete", "length",
                                                 "refusal",    "filtered", "error"};

}  // namespace warpath::llm
