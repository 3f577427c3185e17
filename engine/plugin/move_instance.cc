#include "engine/plugin/move_instance.h"

#include <algorithm>
#include <charconv>
#include <optional>
#include <utility>

#include "engine/base/error.h"

namespace warpath {
namespace {

constexpr std::string_view kPlain =
    "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789_.:/<>*+-";
constexpr std::string_view kHex = "0123456789ABCDEF";
constexpr std::string_view kForm =
    "MOVE, MOVE@SITE, MOVE(NAME=INTEGER,...) or MOVE@SITE(NAME=INTEGER,...)";

std::string escape(std::string_view text) {
  std::string out;
  for (const char c : text) {
    if (kPlain.find(c) != std::string_view::npos) {
      out += c;
    } else {
      const auto byte = static_cast<unsigned char>(c);
      out += {'%', kHex[byte >> 4U], kHex[byte & 15U]};
    }
  }
  return out;
}

/// nullopt if `text` is nothing that escape() writes.
std::optional<std::string> unescape(std::string_view text) {
  std::string out;
  for (std::size_t i = 0; i < text.size(); ++i) {
    if (text[i] == '%') {
      const std::size_t high =
          i + 1 < text.size() ? kHex.find(text[i + 1]) : std::string_view::npos;
      const std::size_t low = i + 2 < text.size() ? kHex.find(text[i + 2]) : std::string_view::npos;
      if (high == std::string_view::npos || low == std::string_view::npos) return std::nullopt;
      out += static_cast<char>(high * 16 + low);
      i += 2;
    } else if (kPlain.find(text[i]) != std::string_view::npos) {
      out += text[i];
    } else {
      return std::nullopt;
    }
  }
  return out;
}

bool parse_parameter(std::string_view text, MoveParameters& parameters) {
  const std::size_t equals = text.find('=');
  if (equals == std::string_view::npos) return false;
  const std::optional<std::string> name = unescape(text.substr(0, equals));
  if (!name || name->empty()) return false;
  std::int64_t value = 0;
  const char* const end = text.data() + text.size();
  const auto [stopped, error] = std::from_chars(text.data() + equals + 1, end, value);
  return error == std::errc() && stopped == end && parameters.try_emplace(*name, value).second;
}

}  // namespace

std::string MoveInstance::text() const {
  std::string out = escape(move);
  if (!site.empty()) out += '@' + escape(site);
  if (parameters.empty()) return out;
  char separator = '(';
  for (const auto& [name, value] : parameters) {
    out += separator + escape(name) + '=' + std::to_string(value);
    separator = ',';
  }
  return out + ')';
}

MoveInstance MoveInstance::parse(std::string_view text, std::string_view place) {
  const auto fail = [&] { return bad_input(place, text, kForm); };
  MoveInstance out;
  std::string_view label = text;
  if (const std::size_t open = text.find('('); open != std::string_view::npos) {
    if (!text.ends_with(')')) throw fail();
    label = text.substr(0, open);
    std::string_view rest = text.substr(open + 1, text.size() - open - 2);
    while (true) {
      const std::size_t comma = std::min(rest.find(','), rest.size());
      if (!parse_parameter(rest.substr(0, comma), out.parameters)) throw fail();
      if (comma == rest.size()) break;
      rest.remove_prefix(comma + 1);
    }
  }
  const std::size_t at = label.find('@');
  const std::optional<std::string> move = unescape(label.substr(0, at));
  if (!move || move->empty()) throw fail();
  out.move = *move;
  if (at != std::string_view::npos) {
    const std::optional<std::string> site = unescape(label.substr(at + 1));
    if (!site || site->empty()) throw fail();
    out.site = *site;
  }
  return out;
}

Hash128 MoveInstance::key() const {
  Hasher hasher;
  hasher.add(std::string_view("move-instance-1"))
      .add(std::string_view(move))
      .add(std::string_view(site));
  hasher.add(static_cast<std::uint64_t>(parameters.size()));
  for (const auto& [name, value] : parameters) hasher.add(std::string_view(name)).add(value);
  return hasher.digest();
}

std::set<std::string, std::less<>> move_names(std::string_view text) {
  std::set<std::string, std::less<>> out;
  std::string name;
  for (const char c : std::string(text) + ",") {
    if (c == ',' && !name.empty()) out.insert(std::exchange(name, ""));
    if (c != ',' && c != ' ') name += c;
  }
  return out;
}

}  // namespace warpath
