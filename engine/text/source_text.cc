#include "engine/text/source_text.h"

#include <algorithm>

#include "engine/base/error.h"
#include "engine/base/format.h"
#include "engine/base/utf8.h"
#include "engine/json/json_reader.h"
#include "engine/text/tokens.h"

namespace warpath {
namespace {

constexpr std::string_view kMark = "\xEF\xBB\xBF";

std::string line_text(std::string_view text, std::size_t at) {
  return "line " + std::to_string(1 + std::ranges::count(text.substr(0, at), '\n'));
}

/// Where the first bytes stand that are no UTF-8; the size if there are none.
std::size_t first_invalid(std::string_view text) {
  std::size_t at = 0;
  while (at < text.size()) {
    const std::size_t n = utf8_length(text.substr(at));
    if (n == 0) return at;
    at += n;
  }
  return at;
}

/// Bytes that are no UTF-8 as the Latin-1 letters they would be.
std::string from_latin1(std::string_view text) {
  std::string out;
  while (!text.empty()) {
    const std::size_t n = utf8_length(text);
    if (n > 0) {
      out += text.substr(0, n);
    } else {
      const auto byte = static_cast<unsigned char>(text.front());
      out += static_cast<char>(0xC0U | (byte >> 6U));
      out += static_cast<char>(0x80U | (byte & 0x3FU));
    }
    text.remove_prefix(std::max<std::size_t>(n, 1));
  }
  return out;
}

}  // namespace

SourceText source_text(std::string_view bytes) {
  SourceText out;
  if (bytes.starts_with(kMark)) bytes.remove_prefix(kMark.size());
  if (bytes.starts_with("\xFF\xFE") || bytes.starts_with("\xFE\xFF")) {
    out.problem = "UTF-16 text";
    return out;
  }
  const std::size_t bad = first_invalid(bytes);
  if (bad == bytes.size()) {
    out.text = bytes;
    return out;
  }
  std::size_t at = 0;
  const auto plain = [&](std::size_t end) {  // false: the text up to `end` holds such a byte
    const std::size_t wrong = at + first_invalid(bytes.substr(at, end - at));
    if (wrong < end) {
      out.problem = line_text(bytes, wrong) + ": byte 0x" + hex_text({&bytes[wrong], 1}) +
                    " outside a comment";
      return false;
    }
    out.text += bytes.substr(at, end - at);
    return true;
  };
  const auto comment = [&](std::size_t begin, std::size_t end) {
    if (!plain(begin)) return false;
    out.text += from_latin1(bytes.substr(begin, end - begin));
    at = end;
    return true;
  };
  const auto comments_of = [&](const TokenStream& stream, const auto& self) -> bool {
    for (const Token& token : stream.tokens) {
      if (token.kind == TokenKind::comment && !comment(token.begin, token.end)) return false;
      if (token.kind == TokenKind::directive && !self(tokenize_directive(bytes, token), self))
        return false;
    }
    return true;
  };
  if (!comments_of(tokenize(bytes), comments_of) || !plain(bytes.size())) {
    out.text.clear();
    return out;
  }
  out.note = line_text(bytes, bad) + ": a comment is not UTF-8 and is read as Latin-1";
  return out;
}

SourceText read_source_file(const std::string& path,
                            std::size_t max_bytes,
                            std::string_view place) {
  SourceText out = source_text(read_text_file(path, max_bytes, place));
  if (!out.problem.empty())
    throw bad_input(place, path + ": " + out.problem,
                    "text in UTF-8 (in comments Latin-1 will do)");
  return out;
}

}  // namespace warpath
