#include "runners/inputs/exponentials.h"

#include <algorithm>
#include <set>
#include <string>
#include <string_view>

#include "engine/text/tokens.h"

namespace warpath {

bool takes_exponentials(const KernelSpec& spec) {
  const std::string& source = spec.source;
  static const std::set<std::string_view> kFunctions{
      "exp",      "expf",      "exp2",  "exp2f", "exp10",  "exp10f", "expm1",   "expm1f", "__expf",
      "__exp10f", "hexp",      "hexp2", "h2exp", "h2exp2", "pow",    "powf",    "__powf", "sin",
      "sinf",     "cos",       "cosf",  "tan",   "tanf",   "sincos", "sincosf", "__sinf", "__cosf",
      "__tanf",   "__sincosf", "sinh",  "sinhf", "cosh",   "coshf"};
  return std::ranges::any_of(tokenize(source).tokens, [&](const Token& token) {
    return token.kind == TokenKind::identifier &&
           kFunctions.contains(std::string_view(source).substr(token.begin, token.size()));
  });
}

}  // namespace warpath
