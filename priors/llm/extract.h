#pragma once

#include <nlohmann/json.hpp>
#include <optional>
#include <string>
#include <string_view>

namespace warpath::llm {

/// How much had to be forgiven to find the object.
enum class Extraction : unsigned char { strict, embedded };

struct Extracted {
  nlohmann::json object;
  Extraction how;
};

/// `text` without a leading block "<think>...</think>" (also "thinking", "reasoning"): only where
/// it is tagged at the very start.
[[nodiscard]] std::string_view without_thinking(std::string_view text);

/// The JSON object that a model answered with: the whole text if it is one, else the first balanced
/// object outside of strings that parses (a Markdown fence or talk around it is passed over).
/// nullopt with one line in `why`. Objects nested deeper than kMaxJsonDepth, with a key twice, or
/// of more than kMaxAnswerBytes are not taken. Time is linear in the text but for 64 attempts; no
/// text crashes it.
[[nodiscard]] std::optional<Extracted> extract_object(std::string_view text, std::string& why);

inline constexpr std::size_t kMaxAnswerBytes = std::size_t{1} << 20U;

}  // namespace warpath::llm
