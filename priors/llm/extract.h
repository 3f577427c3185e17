#pragma once

#include <nlohmann/json.hpp>
#include <optional>
#include <string>
#include <string_view>

namespace warpath::llm {

/// Whether the object was the whole text or embedded in other text.
enum class Extraction : unsigned char { strict, embedded };

struct Extracted {
  nlohmann::json object;
  Extraction how;
};

/// `text` without a leading block "<think>...</think>" (also "thinking", "reasoning") at its very
/// start.
[[nodiscard]] std::string_view without_thinking(std::string_view text);

/// The JSON object in a model's answer: the whole text if it is one, otherwise the first balanced
/// object outside strings that parses (a Markdown fence or surrounding text is skipped). nullopt
/// with one line in `why`. Rejects objects nested deeper than kMaxJsonDepth, with a duplicate key,
/// or larger than kMaxAnswerBytes. Linear time except for up to 64 attempts; safe on any text.
[[nodiscard]] std::optional<Extracted> extract_object(std::string_view text, std::string& why);

inline constexpr std::size_t kMaxAnswerBytes = std::size_t{1} << 20U;

}  // namespace warpath::llm
