#pragma once

#include <functional>
#include <map>
#include <memory>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "engine/base/error.h"

namespace warpath {

struct OptionGroupKind;  // engine/plugin/option_group.h
struct Options;          // engine/plugin/options.h

/// Named factories of one interface. An ordinary object without global state, filled by generated
/// `register_*` calls (the top meson.build holds the only list of names). Iterates in name order.
template <class Interface, class... Args>
class Registry {
 public:
  using Factory = std::function<std::unique_ptr<Interface>(Args...)>;
  /// Throws Error(bad_input) if one of its options is wrong in a way that its description does not
  /// say: a name in a list, a file that is not there.
  using Check = void (*)(const Options& options);
  struct Entry {
    std::string help;
    Factory make;
    std::vector<const OptionGroupKind*> options;  ///< its own options, or shared ones
    Check check;                                  ///< may be null
  };

  /// `kind` names the interface in messages ("move", "selection policy").
  explicit Registry(std::string kind) : kind_(std::move(kind)) {}

  /// Registering a name twice is a bug.
  void add(const std::string& name,
           const std::string& help,
           Factory make,
           std::vector<const OptionGroupKind*> options = {},
           Check check = nullptr) {
    WARPATH_CHECK(
        entries_.try_emplace(name, Entry{help, std::move(make), std::move(options), check}).second);
  }
  /// The checks of all entries, whichever is chosen: a wrong option is never ignored silently.
  void check_options(const Options& options) const {
    for (const auto& [name, entry] : entries_) {
      if (entry.check != nullptr) entry.check(options);
    }
  }
  [[nodiscard]] bool contains(std::string_view name) const {
    return entries_.find(name) != entries_.end();
  }
  /// Throws Error(bad_input), listing the known names, if `name` is unknown. `place`: the flag or
  /// key.
  [[nodiscard]] std::unique_ptr<Interface> create(std::string_view place,
                                                  std::string_view name,
                                                  Args... args) const {
    const auto it = entries_.find(name);
    if (it == entries_.end()) throw bad_input(place, name, "a " + kind_ + ": one of " + names());
    return it->second.make(std::forward<Args>(args)...);
  }
  [[nodiscard]] const std::map<std::string, Entry, std::less<>>& entries() const {
    return entries_;
  }
  /// "a, b, c"
  [[nodiscard]] std::string names() const {
    std::string out;
    for (const auto& [name, entry] : entries_) out += (out.empty() ? "" : ", ") + name;
    return out;
  }

 private:
  std::string kind_;
  std::map<std::string, Entry, std::less<>> entries_;
};

}  // namespace warpath
