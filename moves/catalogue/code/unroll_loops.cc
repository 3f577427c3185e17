#include <algorithm>
#include <array>
#include <memory>

#include "engine/text/source_edit.h"
#include "moves/edit/kernel_move.h"
#include "moves/edit/loop_site.h"
#include "register_moves.h"

namespace warpath {
namespace {

constexpr std::int64_t kRemove = 0;
constexpr std::array<std::int64_t, 5> kFirstFactors{4, 8, 2, 16, 1};  // best guess first
constexpr std::array<std::int64_t, 10> kDomain{kRemove, 1, 2, 3, 4, 6, 8, 12, 16, 32};

/// An innermost for loop of a function.
struct InnermostLoop {
  std::size_t ordinal = 0;  ///< among the `for` tokens of the file
  std::size_t token = 0;    ///< its `for`
  /// token of the "#pragma unroll N" directly before it
  std::optional<std::size_t> pragma;
  std::int64_t factor = kRemove;  ///< N; kRemove without a pragma
};

/// The N of "#pragma unroll N"; kRemove for other pragmas; nullopt for an unroll pragma without a
/// plain number.
std::optional<std::int64_t> unroll_factor(const CodeText& code, std::size_t directive) {
  const auto inside =
      without_comments(tokenize_directive(code.source, code.tokens[directive]).tokens);
  const auto text = [&](std::size_t i) {
    return i < inside.size() ? spelling(code.source, inside[i]) : std::string();
  };
  if (text(1) != "pragma" || (text(2) != "unroll" && text(2) != "nounroll")) return kRemove;
  if (text(2) != "unroll" || inside.size() != 4) return std::nullopt;
  const auto factor = integer_value(text(3));
  return factor && *factor > 0 ? factor : std::nullopt;
}

/// True if the statement that is the loop's body, from token `body`, holds no other loop.
bool is_innermost(const CodeText& code, std::size_t body, std::size_t limit) {
  const bool braces = code.is(body, "{");
  const std::size_t end = braces ? code.match[body] : limit;
  for (std::size_t i = body; i < end; ++i) {
    if (code.is(i, "for") || code.is(i, "while") || code.is(i, "do")) return false;
    if (!braces && code.is(i, ";")) return true;
    // a body that is an if with a block: look into it, stop behind it
    if (!braces && code.match[i] > i) {
      for (std::size_t j = i; j < code.match[i]; ++j) {
        if (code.is(j, "for") || code.is(j, "while") || code.is(j, "do")) return false;
      }
      if (code.is(i, "{") && !code.is(code.match[i] + 1, "else")) return true;
      i = code.match[i];
    }
  }
  return true;
}

/// A kernel of the file besides the variant's own.
bool is_other_kernel(const CodeText& code, const FunctionText& function, const FunctionText& own) {
  if (own.name == function.name) return false;
  std::size_t i = function.name;
  while (i > 0 && !code.is(i - 1, ";") && !code.is(i - 1, "}") && !code.is(i - 1, "{")) {
    if (code.is(--i, "__global__")) return true;
  }
  return false;
}

std::vector<InnermostLoop> find_loops(const CodeText& code, const Variant& variant) {
  std::vector<InnermostLoop> out;
  std::size_t ordinal = 0;
  auto counted = std::size_t{0};
  // Where nothing else is launched, their loops run nowhere.
  const auto own = variant.has_extras() ? std::nullopt : find_kernel(code, variant.kernel_name);
  for (const FunctionText& function : find_functions(code, {})) {
    if (own && is_other_kernel(code, function, *own)) continue;
    for (; counted < function.body; ++counted) ordinal += code.is(counted, "for") ? 1U : 0U;
    for (std::size_t i = function.body; i < function.end; ++i) {
      if (!code.is(i, "for")) continue;
      InnermostLoop loop{ordinal++, i, std::nullopt, kRemove};
      if (!code.is(i + 1, "(") || !is_innermost(code, code.match[i + 1] + 1, function.end))
        continue;
      const std::size_t before = i - 1;
      if (code.tokens[before].kind == TokenKind::directive) {
        const auto factor = unroll_factor(code, before);
        if (!factor) continue;
        if (*factor != kRemove) loop.pragma = before, loop.factor = *factor;
      } else if (!code.is(before, ";") && !code.is(before, "{") && !code.is(before, "}") &&
                 !code.is(before, ")")) {
        continue;  // a pragma stands between statements
      }
      out.push_back(loop);
    }
    counted = function.end;
  }
  return out;
}

/// A text with its loops.
struct LoopText {
  explicit LoopText(const Variant& variant)
      : source(variant.source),
        kernel_name(variant.kernel_name),
        has_extras(variant.has_extras()),
        code(source) {
    if (!code.ambiguous) loops = find_loops(code, variant);
  }
  LoopText(const LoopText&) = delete;  // its tokens refer to it
  LoopText& operator=(const LoopText&) = delete;
  [[nodiscard]] bool is_of(const Variant& variant) const {
    return source == variant.source && kernel_name == variant.kernel_name &&
           has_extras == variant.has_extras();
  }

  std::string source, kernel_name;
  bool has_extras = false;
  CodeText code;
  std::vector<InnermostLoop> loops;
};

/// The same text is asked for by every instance at a node.
std::shared_ptr<const LoopText> loops_of(const Variant& variant) {
  static thread_local std::shared_ptr<const LoopText> latest;
  if (latest == nullptr || !latest->is_of(variant))
    latest = std::make_shared<const LoopText>(variant);
  return latest;
}

std::string pragma_text(std::int64_t factor) {
  return "#pragma unroll " + std::to_string(factor);
}

bool is_blank(std::string_view text) {
  return text.find_first_not_of(" \t\r\n") == std::string_view::npos;
}

/// A line of its own above the loop, indented like it; in the middle of a line (or behind a
/// continued one) the line is cut.
Edit insertion(const CodeText& code, const InnermostLoop& loop, std::int64_t factor) {
  const std::size_t at = code.tokens[loop.token].begin;
  const std::size_t begin = line_begin(code.source, at);
  const std::string_view indent = code.source.substr(begin, at - begin);
  const std::string end(line_end(code.source));
  const std::string_view above = code.source.substr(0, begin);
  const bool continued = above.ends_with("\\\n") || above.ends_with("\\\r\n");
  if (is_blank(indent) && !continued)
    return {begin, begin, std::string(indent) + pragma_text(factor) + end};
  return {at, at, end + pragma_text(factor) + end};
}

/// Removes the pragma's whole line if nothing else is on it.
Edit removal(const CodeText& code, const Token& pragma) {
  const std::size_t begin = line_begin(code.source, pragma.begin);
  const std::size_t next = code.source.find('\n', pragma.end);
  const std::size_t end = next == std::string_view::npos ? code.source.size() : next + 1;
  const bool alone = is_blank(code.source.substr(begin, pragma.begin - begin)) &&
                     is_blank(code.source.substr(pragma.end, end - pragma.end));
  return alone ? Edit{begin, end, ""} : Edit{pragma.begin, pragma.end, ""};
}

/// Puts "#pragma unroll N" before an innermost loop, changes its N or takes it away.
class UnrollLoops final : public ParameterMove {
 public:
  [[nodiscard]] std::string_view name() const override { return "unroll_loops"; }

  [[nodiscard]] std::vector<MoveInstance> enumerate(const MoveContext& context) const override {
    std::vector<MoveInstance> out;
    const auto text = loops_of(context.variant);
    for (const InnermostLoop& loop : text->loops) {
      for (const std::int64_t factor : kFirstFactors) {
        if (factor != loop.factor) out.push_back(instance(loop.ordinal, factor));
      }
      if (loop.factor != kRemove) out.push_back(instance(loop.ordinal, kRemove));
    }
    return out;
  }

  [[nodiscard]] std::vector<Tunable> domain(const MoveContext&,
                                            std::string_view site) const override {
    if (!is_loop_site(site)) return {};
    return {Tunable{"factor",
                    {kDomain.begin(), kDomain.end()},
                    kRemove,
                    "copies of the body; 0: leave it to the compiler; 1: none"}};
  }

  [[nodiscard]] std::optional<Variant> applied(const MoveContext& context,
                                               const MoveInstance& wanted,
                                               std::string& why) const override {
    const std::int64_t factor = wanted.parameters.at("factor");
    const auto text = loops_of(context.variant);
    const CodeText& code = text->code;
    if (code.ambiguous) return why = "the source has no undisputed tokens", std::nullopt;
    for (const InnermostLoop& loop : text->loops) {
      if (loop_site(loop.ordinal) != wanted.site) continue;
      if (loop.factor == factor) return why = "the loop has this factor already", std::nullopt;
      Variant out = context.variant;
      out.source = edited(code.source, {edit(code, loop, factor)});
      return out;
    }
    return why = "no innermost loop of plain form at " + wanted.site, std::nullopt;
  }

  [[nodiscard]] std::optional<MoveInstance> inverse(const MoveContext& context,
                                                    const MoveInstance& done) const override {
    const auto text = loops_of(context.variant);
    for (const InnermostLoop& loop : text->loops) {
      const bool known = std::binary_search(kDomain.begin(), kDomain.end(), loop.factor);
      if (loop_site(loop.ordinal) == done.site && known) return instance(loop.ordinal, loop.factor);
    }
    return std::nullopt;
  }

 private:
  static MoveInstance instance(std::size_t ordinal, std::int64_t factor) {
    return {"unroll_loops", loop_site(ordinal), {{"factor", factor}}};
  }
  static Edit edit(const CodeText& code, const InnermostLoop& loop, std::int64_t factor) {
    if (!loop.pragma) return insertion(code, loop, factor);
    const Token& pragma = code.tokens[*loop.pragma];
    if (factor == kRemove) return removal(code, pragma);
    return {pragma.begin, pragma.end, pragma_text(factor)};
  }
};

}  // namespace

void register_move_unroll_loops(MoveRegistry& registry) {
  registry.add("unroll_loops", "unroll an innermost loop by a pragma",
               [] { return std::make_unique<UnrollLoops>(); });
}

}  // namespace warpath
