#pragma once

#include <map>
#include <set>
#include <string>
#include <string_view>

#include "moves/model/syntax.h"

namespace warpath {

/// Turns templates of code into code whose own names clash with nothing in a source. In a template,
/// `@name` stands for a name that the source does not have yet (the same one each time), or for the
/// text that set() gave it.
class CodeTemplate {
 public:
  /// `unit` must outlive this.
  explicit CodeTemplate(const model::Unit& unit) : unit_(unit) {}
  /// `@name` is `text` from now on; `text` is taken as it is.
  void set(std::string_view name, std::string text) {
    values_[std::string(name)] = std::move(text);
  }
  void set(std::string_view name, long long value) { set(name, std::to_string(value)); }
  /// `text` with every `@name` replaced.
  [[nodiscard]] std::string fill(std::string_view text);
  /// What `@name` stands for.
  [[nodiscard]] const std::string& name(std::string_view name);

 private:
  const model::Unit& unit_;
  std::set<std::string, std::less<>> taken_;
  std::map<std::string, std::string, std::less<>> values_;
};

}  // namespace warpath
