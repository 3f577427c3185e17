#include "engine/json/json_record.h"

#include <algorithm>
#include <cmath>
#include <limits>
#include <nlohmann/json.hpp>

#include "engine/base/utf8.h"

namespace warpath {
using nlohmann::json;

json number_to_json(double x) {
  if (std::isfinite(x)) return x;
  if (std::isnan(x)) return "nan";
  return x > 0 ? "inf" : "-inf";
}

double any_number(const JsonCursor& cursor) {
  if (!cursor.value().is_string()) return cursor.number();
  const std::string word = cursor.text();
  if (word == "nan") return std::numeric_limits<double>::quiet_NaN();
  if (word == "inf") return std::numeric_limits<double>::infinity();
  if (word == "-inf") return -std::numeric_limits<double>::infinity();
  cursor.fail("a number, nan, inf or -inf");
}

Hash128 hash_from_json(const JsonCursor& cursor) {
  const auto parsed = Hash128::parse(cursor.text());
  if (!parsed) cursor.fail("32 hexadecimal digits");
  return *parsed;
}

void require_only(const JsonCursor& cursor, std::initializer_list<std::string_view> keys) {
  cursor.require_object();
  for (const auto& [key, unused] : cursor.value().items()) {
    if (std::ranges::find(keys, key) == keys.end()) cursor.at(key).fail("no such key");
  }
}

std::string valid_utf8(std::string_view text) {
  std::string out;
  out.reserve(text.size());
  while (!text.empty()) {
    const std::size_t n = utf8_length(text);
    out += n == 0 ? std::string_view("\xEF\xBF\xBD") : text.substr(0, n);
    text.remove_prefix(std::max<std::size_t>(n, 1));
  }
  return out;
}

std::string json_text(const nlohmann::json& value, int indent) {
  return value.dump(indent, ' ', false, nlohmann::json::error_handler_t::replace);
}

json any_text_to_json(std::string_view text) {
  if (valid_utf8(text) == text) return std::string(text);
  std::string wide;
  for (const char c : text) {
    const auto byte = static_cast<unsigned char>(c);
    if (byte < 0x80) {
      wide += c;
    } else {
      wide += static_cast<char>(0xC0U | (byte >> 6U));
      wide += static_cast<char>(0x80U | (byte & 0x3FU));
    }
  }
  return {{"latin1", wide}};
}

std::string any_text(const JsonCursor& view) {
  if (!view.value().is_object()) return view.text();
  require_only(view, {"latin1"});
  const std::string wide = view.at("latin1").text();
  std::string text;
  for (std::size_t i = 0; i < wide.size(); ++i) {
    const auto lead = static_cast<unsigned char>(wide[i]);
    if (lead < 0x80) {
      text += wide[i];
    } else if ((lead == 0xC2 || lead == 0xC3) && i + 1 < wide.size()) {
      text += static_cast<char>((lead << 6U) | (static_cast<unsigned char>(wide[++i]) & 0x3FU));
    } else {
      view.at("latin1").fail("code points up to 255");
    }
  }
  return text;
}

}  // namespace warpath
