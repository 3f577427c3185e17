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

/// The first qualified name of a text, such as `at::Half`, whose namespace or type neither the text
/// nor `declared` declares, nor CUDA or the standard library; empty if there is none.
[[nodiscard]] std::string foreign_scope(const std::string& text,
                                        const std::set<std::string, std::less<>>& declared = {});

/// The kernel and the declarations of its file that it uses, directly or indirectly (device
/// functions, macros, types, constants), in the file's order. Namespaces are removed, as are
/// qualifiers that name them. Left out: branches of conditions that are not taken, host functions,
/// other kernels, headers of types that the text does not use, and specialisations for types that
/// the file does not declare. Bindings of the unit that the text asks for are defined in it. The
/// text need not compile: declarations of other files are missing.
[[nodiscard]] std::string kernel_text(const model::Unit& unit,
                                      const model::Function& kernel,
                                      const TextOptions& options = {});

}  // namespace warpath
