#pragma once

#include <functional>
#include <set>
#include <string>
#include <string_view>

#include "moves/syntax/unit.h"

namespace warpath {

struct TextOptions {
  /// Whether the text keeps `#include <HEADER>`; without it none is kept.
  std::function<bool(std::string_view header)> keeps_header = {};
  /// Whether it keeps `using namespace NAME` of one that the file does not open.
  std::function<bool(std::string_view name)> keeps_namespace = {};
  /// Integer constants of the file that a macro of the compiler may replace.
  std::set<std::string, std::less<>> settable = {};
  /// Names that the text keeps beside those that the kernel names: of its template arguments.
  std::set<std::string, std::less<>> named = {};
};

/// The kernel with what it names of its file and nothing else: device functions, macros, types,
/// constants, each with what it names in turn, in the file's order and out of their namespaces,
/// which are named no more. Branches of conditions that are not taken, host functions and other
/// kernels are left out, headers of types that the text does not name, and what `template <>` gives
/// for types that the file does not declare. The text need not compile: what comes from elsewhere
/// is missing.
[[nodiscard]] std::string kernel_text(const model::Unit& unit,
                                      const model::Function& kernel,
                                      const TextOptions& options = {});

}  // namespace warpath
