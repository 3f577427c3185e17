#pragma once

#include <cmath>
#include <nlohmann/json.hpp>
#include <type_traits>

#include "engine/base/error.h"
#include "engine/plugin/option_group.h"

/// Implementation of a group of options: for the group's own source file only.
namespace warpath {
namespace options_detail {

template <class T>
constexpr std::string_view type_name() {
  if constexpr (std::is_same_v<T, bool>) {
    return "true or false";
  } else if constexpr (std::is_integral_v<T>) {
    return "integer";
  } else if constexpr (std::is_floating_point_v<T>) {
    return "number";
  } else {
    return "text";
  }
}

template <class T>
std::string range_text(const Range<T>& range) {
  return nlohmann::json(range.low).dump() + " to " + nlohmann::json(range.high).dump();
}
template <std::size_t N>
std::string range_text(const OneOf<N>& one_of) {
  std::string out;
  for (const std::string_view word : one_of.words)
    out += (out.empty() ? "" : ", ") + std::string(word);
  return out;
}
inline std::string range_text(const AnyValue&) {
  return "";
}

template <class T, class Valid>
bool in_range(const T& value, const Valid& valid) {
  if constexpr (std::is_same_v<Valid, AnyValue>) {
    static_cast<void>(value), static_cast<void>(valid);
    return true;
  } else {
    return valid.holds(value);
  }
}

/// Reads `j` without conversion: no 1.5 for an integer, no -1 for an unsigned, no number for a
/// text.
template <class T>
bool read_exactly(const nlohmann::json& j, T& out) {
  if constexpr (std::is_same_v<T, bool>) {
    if (!j.is_boolean()) return false;
    out = j.get<bool>();
    return true;
  } else if constexpr (std::is_same_v<T, std::string>) {
    if (!j.is_string()) return false;
    out = j.get<std::string>();
    return true;
  } else if constexpr (std::is_floating_point_v<T>) {
    if (!j.is_number()) return false;
    out = j.get<T>();
    return std::isfinite(out);
  } else if constexpr (std::is_unsigned_v<T>) {
    if (!j.is_number_unsigned() && !(j.is_number_integer() && j.get<std::int64_t>() >= 0))
      return false;
    out = j.get<T>();
    return true;
  } else {
    if (!j.is_number_integer()) return false;
    if (j.is_number_unsigned() && j.get<std::uint64_t>() > static_cast<std::uint64_t>(INT64_MAX))
      return false;
    const auto wide = j.get<std::int64_t>();
    out = static_cast<T>(wide);
    return static_cast<std::int64_t>(out) == wide;
  }
}

template <class Valid>
std::string expected_text(const std::string& type, const std::string& range, const Valid&) {
  return type + " from " + range;
}
template <std::size_t N>
std::string expected_text(const std::string&, const std::string& words, const OneOf<N>&) {
  return "one of " + words;
}

template <class Group>
std::size_t overlay_group(Group& group, const nlohmann::json& j, const std::string& place) {
  std::size_t known = 0;
  Group::describe([&](auto member, const OptionText& text, const auto& valid) {
    const auto it = j.find(std::string(text.key));
    if (it == j.end()) return;
    ++known;
    auto& field = group.*member;
    auto value = field;
    if (!read_exactly(*it, value) || !in_range(value, valid)) {
      std::string expected(type_name<std::decay_t<decltype(field)>>());
      if (const std::string range = range_text(valid); !range.empty())
        expected = expected_text(expected, range, valid);
      throw bad_input(place + "/" + std::string(text.key), it->dump(), expected);
    }
    field = value;
  });
  return known;
}

template <class Group>
nlohmann::json group_to_json(const Group& group) {
  nlohmann::json out = nlohmann::json::object();
  Group::describe([&](auto member, const OptionText& text, const auto&) {
    out[std::string(text.key)] = group.*member;
  });
  return out;
}

template <class Group>
std::vector<OptionRow> group_rows() {
  std::vector<OptionRow> rows;
  const Group defaults;
  Group::describe([&](auto member, const OptionText& text, const auto& valid) {
    rows.push_back({.group = std::string(Group::kGroup),
                    .key = std::string(text.key),
                    .flag = std::string(text.flag),
                    .type = std::string(type_name<std::decay_t<decltype(defaults.*member)>>()),
                    .default_value = nlohmann::json(defaults.*member).dump(),
                    .range = range_text(valid),
                    .help = std::string(text.help),
                    .source = std::string(text.source),
                    .shapes = text.shapes});
  });
  return rows;
}

}  // namespace options_detail

/// The one kind of `Group`.
template <class Group>
const OptionGroupKind& option_group_kind() {
  namespace detail = options_detail;
  static constexpr OptionGroupKind kKind{
      .name = Group::kGroup,
      .of = Group::kOf,
      .make = [] { return std::any(Group{}); },
      .address = [](std::any& value) -> void* { return std::any_cast<Group>(&value); },
      .to_json =
          [](const void* group) {
            return detail::group_to_json(*static_cast<const Group*>(group));
          },
      .overlay =
          [](void* group, const nlohmann::json& overlay, const std::string& place) {
            return detail::overlay_group(*static_cast<Group*>(group), overlay, place);
          },
      .rows = [] { return detail::group_rows<Group>(); }};
  return kKind;
}

}  // namespace warpath
