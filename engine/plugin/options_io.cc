#include "engine/plugin/options_io.h"

#include <charconv>
#include <cmath>
#include <nlohmann/json.hpp>
#include <type_traits>

#include "engine/base/error.h"

namespace warpath {
namespace {

using nlohmann::json;

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

std::string number_text(double x) {
  return json(x).dump();
}
std::string number_text(std::int64_t x) {
  return std::to_string(x);
}
std::string number_text(int x) {
  return std::to_string(x);
}

template <class T>
std::string range_text(const Range<T>& range) {
  return number_text(range.low) + " to " + number_text(range.high);
}
std::string range_text(const AnyValue&) {
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

/// Reads `j` without loss: no 1.5 for an integer, no -1 for an unsigned, no number for a text.
template <class T>
bool read_exactly(const json& j, T& out) {
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

template <class Group>
void overlay_group(Group& group, const json& j, const std::string& place) {
  if (!j.is_object()) throw bad_input(place, j.dump(), "an object of options");
  std::size_t known = 0;
  Group::describe([&](auto member, const OptionText& text, const auto& valid) {
    const auto it = j.find(std::string(text.key));
    if (it == j.end()) return;
    ++known;
    auto& field = group.*member;
    auto value = field;
    if (!read_exactly(*it, value) || !in_range(value, valid)) {
      std::string expected(type_name<std::decay_t<decltype(field)>>());
      if (const std::string range = range_text(valid); !range.empty()) expected += " from " + range;
      throw bad_input(place + "/" + std::string(text.key), it->dump(), expected);
    }
    field = value;
  });
  if (known == j.size()) return;
  for (const auto& [key, value] : j.items()) {
    bool found = false;
    Group::describe(
        [&](auto, const OptionText& text, const auto&) { found = found || text.key == key; });
    if (!found)
      throw bad_input(place + "/" + key, value.dump(),
                      "a known option; `warpath options` lists them");
  }
}

}  // namespace

std::vector<OptionRow> option_rows() {
  std::vector<OptionRow> rows;
  const Options defaults;
  Options::describe_groups([&](auto group_member, std::string_view group_name) {
    const auto& group = defaults.*group_member;
    std::decay_t<decltype(group)>::describe(
        [&](auto member, const OptionText& text, const auto& valid) {
          rows.push_back({.group = std::string(group_name),
                          .key = std::string(text.key),
                          .flag = std::string(text.flag),
                          .type = std::string(type_name<std::decay_t<decltype(group.*member)>>()),
                          .default_value = json(group.*member).dump(),
                          .range = range_text(valid),
                          .help = std::string(text.help),
                          .source = std::string(text.source)});
        });
  });
  return rows;
}

json to_json(const Options& options) {
  json out = json::object();
  Options::describe_groups([&](auto group_member, std::string_view group_name) {
    const auto& group = options.*group_member;
    json& j = out[std::string(group_name)] = json::object();
    std::decay_t<decltype(group)>::describe([&](auto member, const OptionText& text, const auto&) {
      j[std::string(text.key)] = group.*member;
    });
  });
  return out;
}

Options overlay_options(const Options& base, const json& overlay, std::string_view place) {
  if (!overlay.is_object()) throw bad_input(place, overlay.dump(), "an object of option groups");
  Options out = base;
  for (const auto& [key, value] : overlay.items()) {
    bool found = false;
    Options::describe_groups(
        [&, &key = key, &value = value](auto group_member, std::string_view group_name) {
          if (group_name != key) return;
          found = true;
          overlay_group(out.*group_member, value, std::string(place) + "/" + key);
        });
    if (!found) {
      throw bad_input(std::string(place) + "/" + key, value.dump(),
                      "an option group; `warpath options` lists them");
    }
  }
  return out;
}

Options set_option(const Options& base,
                   std::string_view dotted_key,
                   std::string_view text,
                   std::string_view place) {
  const auto dot = dotted_key.find('.');
  if (dot == std::string_view::npos) throw bad_input(place, dotted_key, "GROUP.KEY=VALUE");
  const std::string group(dotted_key.substr(0, dot));
  const std::string key(dotted_key.substr(dot + 1));
  // A text option takes the words as they are; everything else must be a JSON value.
  json value = json::parse(text, nullptr, false);
  for (const OptionRow& row : option_rows()) {
    if (row.group == group && row.key == key && row.type == "text" && !value.is_string())
      value = std::string(text);
  }
  if (value.is_discarded()) value = std::string(text);
  try {
    return overlay_options(base, json{{group, json{{key, value}}}}, "");
  } catch (const Error& e) {
    throw Error(e.code(), std::string(place) + " " + e.what());
  }
}

}  // namespace warpath
