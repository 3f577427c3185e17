#include "runners/inputs/nan_tests.h"

#include <algorithm>
#include <set>
#include <string_view>

#include "engine/text/function_text.h"

namespace warpath {
namespace {

/// Tokens of the name, the element or the member that ends before token `at`; 0: of none.
std::size_t operand_before(const CodeText& code, std::size_t at) {
  std::size_t first = at;
  while (first > 0) {
    std::size_t k = first - 1;
    if (code.is(k, "]") && code.match[k] > 0) k = code.match[k] - 1;
    if (!code.is_name(k)) return 0;
    first = k;
    if (first == 0 || !(code.is(first - 1, ".") || code.is(first - 1, "->"))) break;
    --first;
  }
  return at - first;
}

/// `x != x`, `x[i] == x[i]`: the comparison is token `at`.
bool compares_with_itself(const CodeText& code, std::size_t at) {
  if (!code.is(at, "!=") && !code.is(at, "==")) return false;
  const std::size_t length = operand_before(code, at), end = at + 1 + length;
  if (length == 0 || end > code.text.size()) return false;
  // `x == x + 1`
  static const std::set<std::string_view> kGoesOn{"+", "-", "*", "/",  "%",  "<<", ">>",
                                                  "[", "(", ".", "->", "++", "--"};
  if (end < code.text.size() && kGoesOn.contains(code.text[end])) return false;
  const auto before = code.text.begin() + static_cast<std::ptrdiff_t>(at - length),
             after = code.text.begin() + static_cast<std::ptrdiff_t>(at + 1);
  return std::equal(before, before + static_cast<std::ptrdiff_t>(length), after);
}

}  // namespace

bool looks_for_nan(const KernelSpec& spec) {
  static const std::set<std::string_view> kTests{"isnan", "__isnan", "isnanf", "__isnanf",
                                                 "__hisnan"};
  const CodeText code(spec.source);
  if (code.ambiguous || !code.balanced) return false;
  for (std::size_t k = 0; k < code.text.size(); ++k) {
    const bool asks = kTests.contains(code.text[k]) && code.is(k + 1, "(");
    if (asks || compares_with_itself(code, k)) return true;
  }
  return false;
}

}  // namespace warpath
