#pragma once

#include <map>
#include <set>
#include <string>
#include <string_view>

#include "moves/syntax/unit.h"

namespace warpath {

/// Instantiates templates of code without name clashes. In a template, `@name` stands for a name
/// that is unused in the source (the same one each time), or for the text given by set().
class CodeTemplate {
 public:
  /// `unit` must outlive this.
  explicit CodeTemplate(const model::Unit& unit) : unit_(unit) {}
  /// Sets the text of `@name`, used verbatim.
  void set(std::string_view name, std::string text) {
    values_[std::string(name)] = std::move(text);
  }
  void set(std::string_view name, long long value) { set(name, std::to_string(value)); }
  /// `text` with every `@name` replaced.
  [[nodiscard]] std::string fill(std::string_view text);
  /// The replacement of `@name`.
  [[nodiscard]] const std::string& name(std::string_view name);

 private:
  const model::Unit& unit_;
  std::set<std::string, std::less<>> taken_;
  std::map<std::string, std::string, std::less<>> values_;
};

}  // namespace warpath
