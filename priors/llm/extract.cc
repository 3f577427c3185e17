#include "priors/llm/extract.h"

#include <array>
#include <nlohmann/json.hpp>

#include "engine/base/error.h"
#include "engine/base/format.h"
#include "engine/json/json_reader.h"

namespace warpath::llm {
namespace {

constexpr int kMostAttempts = 64;

/// Length of the balanced object that begins at the front of `text`; 0 if it never closes. Linear.
std::size_t balanced(std::string_view text) {
  std::size_t depth = 0;
  bool in_string = false;
  for (std::size_t i = 0; i < text.size(); ++i) {
    const char c = text[i];
    if (in_string) {
      if (c == '\\') {
        ++i;
      } else if (c == '"') {
        in_string = false;
      }
    } else if (c == '"') {
      in_string = true;
    } else if (c == '{') {
      ++depth;
    } else if (c == '}' && --depth == 0) {
      return i + 1;
    }
  }
  return 0;
}

std::optional<nlohmann::json> parsed(std::string_view text, std::string& why) {
  try {
    nlohmann::json value = parse_json(text, "answer");
    if (value.is_object()) return value;
    why = "the answer is no JSON object";
  } catch (const Error& e) {
    why = e.what();
  }
  return std::nullopt;
}

}  // namespace

std::string_view without_thinking(std::string_view text) {
  text = trimmed(text);
  constexpr std::array<std::string_view, 3> kTags{"think", "thinking", "reasoning"};
  for (const std::string_view tag : kTags) {
    const std::string open = "<" + std::string(tag) + ">";
    const std::string close = "</" + std::string(tag) + ">";
    if (!text.starts_with(open)) continue;
    const std::size_t end = text.find(close);
    if (end != std::string_view::npos) return trimmed(text.substr(end + close.size()));
  }
  return text;
}

std::optional<Extracted> extract_object(std::string_view text, std::string& why) {
  if (text.size() > kMaxAnswerBytes) {
    why = "the answer has " + std::to_string(text.size()) + " bytes";
    return std::nullopt;
  }
  text = without_thinking(text);
  if (text.starts_with('{')) {
    if (auto whole = parsed(text, why)) return Extracted{std::move(*whole), Extraction::strict};
  }
  why = "no JSON object in the answer";
  std::size_t at = text.find('{');
  for (int i = 0; i < kMostAttempts && at != std::string_view::npos; ++i) {
    const std::size_t size = balanced(text.substr(at));
    if (size > 0) {
      if (auto object = parsed(text.substr(at, size), why))
        return Extracted{std::move(*object), Extraction::embedded};
    } else {
      why = "the JSON object in the answer never closes";
    }
    at = text.find('{', at + 1);
  }
  return std::nullopt;
}

}  // namespace warpath::llm
