#pragma once

#include <any>
#include <array>
#include <concepts>
#include <cstddef>
#include <cstdint>
#include <nlohmann/json_fwd.hpp>
#include <string>
#include <string_view>
#include <vector>

namespace warpath {

/// Description of an option beyond its type, default and range. `flag`: the command-line flag
/// without dashes (empty: only `--set group.key=value` and the configuration file). `source`:
/// origin of the default.
struct OptionText {
  std::string_view key;
  std::string_view help;
  std::string_view source = "";
  std::string_view flag = "";
  bool shapes = true;  ///< false: it does not affect the outcomes in a graph

  [[nodiscard]] constexpr OptionText shaping_nothing() const {
    OptionText out = *this;
    out.shapes = false;
    return out;
  }
};

/// The values an option accepts: a closed range, one of some words, or any of its type.
template <class T>
struct Range {
  T low;
  T high;
  [[nodiscard]] constexpr bool holds(const T& x) const { return low <= x && x <= high; }
};
template <class T>
Range(T, T) -> Range<T>;
template <std::size_t N>
struct OneOf {
  std::array<std::string_view, N> words;
  template <class... Words>
  explicit constexpr OneOf(Words... all) : words{std::string_view(all)...} {}
  [[nodiscard]] constexpr bool holds(std::string_view x) const {
    for (const std::string_view word : words) {
      if (word == x) return true;
    }
    return false;
  }
};
template <class... Words>
OneOf(Words...) -> OneOf<sizeof...(Words)>;
struct AnyValue {};

/// What the options of a group affect.
enum class OptionsOf : std::uint8_t {
  search,     ///< which graph grows
  record,     ///< what a run records
  proposals,  ///< who proposes; a log contains the answers
  runner,     ///< results of evaluations
};

/// One row of `warpath options`.
struct OptionRow {
  std::string group, key, flag, type, default_value, range, help, source;
  bool shapes;  ///< OptionText::shapes
};

/// Type-erased operations on a group of options: a struct of plain members with a `describe` that
/// lists each once (a forgotten member does not compile), `kGroup`, its name before the dot, and
/// `kOf`. Made by option_group_kind() of engine/plugin/option_codec.h; a struct that others than
/// its owner change has `kind()`, defined by it in its source file. Several kinds may have the same
/// name: they are the parts of one group and have different keys. `group` always points to a value
/// of that type.
struct OptionGroupKind {
  std::string_view name;
  OptionsOf of;
  std::any (*make)();
  void* (*address)(std::any& value);
  nlohmann::json (*to_json)(const void* group);
  /// Takes the options of this kind from the object `overlay`; returns their number. Throws
  /// Error(bad_input) as overlay_options(), except for unknown keys.
  std::size_t (*overlay)(void* group, const nlohmann::json& overlay, const std::string& place);
  std::vector<OptionRow> (*rows)();  ///< with the defaults
};

struct OptionGroupRef {
  const OptionGroupKind* kind;
  void* group;
};

namespace options_detail {
struct AnyField {
  template <class T>
  constexpr operator T() const;  // NOLINT(google-explicit-constructor): never evaluated
};
template <class T, class... F>
[[nodiscard]] consteval std::size_t field_count() {
  if constexpr (requires { T{F{}..., AnyField{}}; }) {
    return field_count<T, F..., AnyField>();
  } else {
    return sizeof...(F);
  }
}
template <class T>
[[nodiscard]] consteval std::size_t described_count() {
  std::size_t n = 0;
  T::describe([&](const auto&...) { ++n; });
  return n;
}
}  // namespace options_detail
/// A forgotten member does not compile.
template <class T>
inline constexpr bool kFullyDescribed =
    options_detail::described_count<T>() == options_detail::field_count<T>();

}  // namespace warpath
