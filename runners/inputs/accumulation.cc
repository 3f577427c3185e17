#include "runners/inputs/accumulation.h"

#include <algorithm>
#include <map>
#include <optional>
#include <set>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "engine/spec/parameters.h"
#include "engine/text/function_text.h"
#include "engine/text/local_names.h"
#include "engine/text/one_kernel.h"
#include "runners/inputs/arguments.h"

namespace warpath {
namespace {

/// Names of the parameters of the function; empty for one without a name.
std::vector<std::string_view> parameter_names(const CodeText& code, const FunctionText& function) {
  std::vector<std::string_view> out(1);
  for (std::size_t k = function.open + 1; k < code.match[function.open]; ++k) {
    if (code.is(k, ",")) {
      out.emplace_back();
    } else if (code.is(k, "(") || code.is(k, "[")) {
      k = code.match[k];
    } else if (code.is_name(k)) {
      out.back() = code.text[k];
    }
  }
  return out;
}

/// Token `at` begins a statement.
bool begins_statement(const CodeText& code, std::size_t at) {
  if (at == 0) return false;
  const std::size_t before = at - 1;
  if (code.is(before, ";") || code.is(before, "{") || code.is(before, "}") ||
      code.is(before, "else"))
    return true;
  if (!code.is(before, ")")) return false;
  const std::size_t open = code.match[before];
  return open > 0 &&
         (code.is(open - 1, "if") || code.is(open - 1, "for") || code.is(open - 1, "while"));
}

/// The innermost bracket around token `at` is that of a block, not of a loop's header, of
/// arguments or of a list of values.
bool stands_in_block(const CodeText& code, std::size_t at) {
  for (std::size_t k = at; k-- > 1;) {
    if (code.is(k, ")") || code.is(k, "]") || code.is(k, "}")) {
      k = code.match[k];
    } else if (code.is(k, "(") || code.is(k, "[")) {
      return false;
    } else if (code.is(k, "{")) {
      static const std::set<std::string_view> kBefore{")", "{", "}", ";", "else", "do", ":"};
      return kBefore.contains(code.text[k - 1]);
    }
  }
  return false;
}

/// The name at token `at` is what an atomic function whose result is dropped is given:
/// `atomicAdd(&name[i], x);`, `atomicAdd(name + i, x);`
bool is_combined_atomically(const CodeText& code, std::size_t at) {
  static const std::set<std::string_view> kAtomics{
      "atomicAdd", "atomicSub", "atomicMax", "atomicMin", "atomicAnd", "atomicOr", "atomicXor"};
  const bool by_address = code.is(at - 1, "&");
  const std::size_t open = at - (by_address ? 2 : 1);
  if (!code.is(open, "(") || open == 0 || !kAtomics.contains(code.text[open - 1])) return false;
  const std::size_t next = at + 1;
  const bool is_element = by_address ? code.is(next, "[") && code.is(code.match[next] + 1, ",")
                                     : code.is(next, "+") || code.is(next, ",");
  return is_element && begins_statement(code, open - 1) && code.is(code.match[open] + 1, ";");
}

/// `name[i] += x;`, `name[i]++;`
bool is_combined_plainly(const CodeText& code, std::size_t at) {
  static const std::set<std::string_view> kAssignments{"+=", "-=", "&=", "|=", "^=", "++", "--"};
  if (!code.is(at + 1, "[") || !begins_statement(code, at)) return false;
  const std::size_t after = code.match[at + 1] + 1;
  return after < code.text.size() && kAssignments.contains(code.text[after]) &&
         stands_in_block(code, at);
}

/// A macro or another directive says the name: what it does with it is not looked into.
bool is_said_by_directive(const CodeText& code, std::string_view name) {
  for (std::size_t k = 0; k < code.text.size(); ++k) {
    if (code.tokens[k].kind == TokenKind::directive &&
        code.text[k].find(name) != std::string_view::npos)
      return true;
  }
  return false;
}

/// How often the text of the spec's kernel uses the tensor; nullopt if a use does not fit, by
/// token, and in doubt.
template <class Fits>
std::optional<std::size_t> uses(const KernelSpec& spec, const ArgSpec& arg, const Fits& fits) {
  if (has_structs(spec)) return std::nullopt;
  const auto arguments = kernel_arguments(spec);
  const CodeText code(spec.source);
  if (code.ambiguous || !code.balanced) return std::nullopt;
  const std::string_view kernel = plain_kernel_name(spec.kernel_name);
  std::size_t found = 0, used = 0;
  for (const FunctionText& function : find_functions(code, {})) {
    if (code.text[function.name] != kernel) continue;
    ++found;
    const auto names = parameter_names(code, function);
    if (names.size() != arguments.size()) return std::nullopt;
    const auto at =
        std::ranges::find(arguments, arg.name, [](const ArgSpec* a) { return a->name; });
    if (at == arguments.end()) return std::nullopt;
    const std::string_view name = names[static_cast<std::size_t>(at - arguments.begin())];
    if (is_said_by_directive(code, name)) return std::nullopt;
    for (std::size_t k = function.body; k < function.end; ++k) {
      if (code.text[k] != name || is_member(code, k)) continue;
      if (!fits(code, k)) return std::nullopt;
      ++used;
    }
  }
  return found == 1 ? std::optional(used) : std::nullopt;
}

/// All uses fit, and there are some.
template <class Fits>
bool every_use(const KernelSpec& spec, const ArgSpec& arg, const Fits& fits) {
  return uses(spec, arg, fits).value_or(0) > 0;
}

}  // namespace

bool only_accumulates(const KernelSpec& spec, const ArgSpec& arg) {
  return arg.role == ArgRole::inout &&
         every_use(spec, arg, [](const CodeText& code, std::size_t at) {
           return is_combined_atomically(code, at) || is_combined_plainly(code, at);
         });
}

bool only_stores(const KernelSpec& spec, const ArgSpec& arg) {
  return every_use(spec, arg, [](const CodeText& code, std::size_t at) {
    return code.is(at + 1, "[") && begins_statement(code, at) &&
           code.is(code.match[at + 1] + 1, "=");
  });
}

bool is_untouched(const KernelSpec& spec, const ArgSpec& arg) {
  // Asked for each input set, mostly of one kernel.
  static thread_local std::string known_kernel;
  static thread_local std::map<std::string, bool> known;
  std::string kernel = spec.kernel_name;
  for (const ArgSpec& one : spec.io.args) kernel += " " + one.name;
  kernel += "\n" + spec.source;
  if (kernel != known_kernel) known_kernel = std::move(kernel), known.clear();
  const auto [it, is_new] = known.try_emplace(arg.name);
  if (is_new) it->second = uses(spec, arg, [](const CodeText&, std::size_t) { return false; }) == 0;
  return it->second;
}

}  // namespace warpath
