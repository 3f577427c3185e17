#include "runners/cuda/code/ptx_tokens.h"

#include <algorithm>

#include "engine/base/ascii.h"

namespace warpath::cuda {
namespace {

bool is_ptx_word(char c) {
  return is_word(c) || c == '$' || c == '%' || c == '.';
}

bool is_space(char c) {
  return c == ' ' || c == '\t' || c == '\n' || c == '\r' || c == '\f' || c == '\v';
}

/// Length of the comment at `at`, 0 if there is none.
std::size_t comment_length(std::string_view text, std::size_t at) {
  if (text[at] != '/' || at + 1 >= text.size()) return 0;
  if (text[at + 1] == '/') return std::min(text.find('\n', at), text.size()) - at;
  if (text[at + 1] != '*') return 0;
  const std::size_t end = text.find("*/", at + 2);
  return (end == std::string_view::npos ? text.size() : end + 2) - at;
}

std::size_t string_length(std::string_view text, std::size_t at) {
  std::size_t end = at + 1;
  while (end < text.size() && text[end] != '"') end += text[end] == '\\' ? 2 : 1;
  return std::min(end + 1, text.size()) - at;
}

}  // namespace

std::vector<PtxToken> tokenize_ptx(std::string_view text) {
  std::vector<PtxToken> tokens;
  std::size_t at = 0;
  while (at < text.size()) {
    if (is_space(text[at])) {
      ++at;
      continue;
    }
    if (const std::size_t comment = comment_length(text, at); comment > 0) {
      at += comment;
      continue;
    }
    std::size_t size = 1;
    auto kind = PtxToken::Kind::mark;
    if (text[at] == '"') {
      kind = PtxToken::Kind::string;
      size = string_length(text, at);
    } else if (is_ptx_word(text[at])) {
      kind = PtxToken::Kind::word;
      while (at + size < text.size() && (is_ptx_word(text[at + size]) ||
                                         (text[at + size] == ':' && at + size + 1 < text.size() &&
                                          text[at + size + 1] == ':'))) {
        // "::" joins words: "shared::cta", "L1::evict_last"
        size += text[at + size] == ':' ? 2 : 1;
      }
      size = std::min(size, text.size() - at);
    }
    tokens.push_back({kind, text.substr(at, size)});
    at += size;
  }
  return tokens;
}

std::vector<std::string_view> words_of(std::string_view operand) {
  std::vector<std::string_view> words;
  for (const PtxToken& token : tokenize_ptx(operand)) {
    if (token.kind == PtxToken::Kind::word) words.push_back(token.text);
  }
  return words;
}

}  // namespace warpath::cuda
