#include <algorithm>

#include "engine/spec/parameters.h"
#include "engine/text/function_text.h"
#include "engine/text/source_edit.h"
#include "moves/edit/sites.h"
#include "register_moves.h"

namespace warpath {
namespace {

constexpr std::string_view kArgumentsSite = "arguments";

/// One pointer parameter of the kernel and the argument of the spec that it receives.
struct Pointer {
  const ArgSpec* arg = nullptr;
  std::size_t begin = 0;  ///< tokens [begin, end) are the parameter
  std::size_t end = 0;
  std::size_t star = 0;                      ///< its only "*"
  std::optional<std::size_t> pointee_const;  ///< token of the `const` before the star
  std::optional<std::size_t> restricted;     ///< token of the restrict qualifier
  bool may_be_const = false;                 ///< input that the body only subscripts
  bool may_be_restricted = false;            ///< no other argument may be the same memory
};

/// Which qualifiers a pointer has, or shall have.
struct Qualifiers {
  bool is_const = false;
  bool is_restricted = false;
  bool operator==(const Qualifiers&) const = default;
};

Qualifiers qualifiers_of(const Pointer& p) {
  return {p.pointee_const.has_value(), p.restricted.has_value()};
}

bool is_restrict(std::string_view word) {
  return word == "__restrict__" || word == "__restrict" || word == "restrict";
}

bool is_aliased(const KernelSpec& spec, const std::string& name) {
  return std::any_of(spec.io.may_alias.begin(), spec.io.may_alias.end(), [&](const auto& group) {
    return group.size() > 1 && std::find(group.begin(), group.end(), name) != group.end();
  });
}

/// Each use is `name[...]` without `&`, so no pointer to writable elements is derived from it.
bool only_subscripted(const CodeText& code, const FunctionText& kernel, std::string_view name) {
  for (std::size_t i = kernel.body; i < kernel.end; ++i) {
    if (code.tokens[i].kind == TokenKind::directive || !code.is(i, name) || is_member(code, i))
      continue;
    if (!code.is(i + 1, "[") || code.is(i - 1, "&") || code.is(i - 1, "&&")) return false;
  }
  return true;
}

std::optional<Pointer> read_pointer(const CodeText& code, std::size_t begin, std::size_t end) {
  Pointer p;
  p.begin = begin, p.end = end;
  int stars = 0;
  for (std::size_t i = begin; i < end; ++i) {
    const std::string_view word = code.text[i];
    if (word == "*") ++stars, p.star = i;
    if (word == "const" && stars == 0) p.pointee_const = i;
    if (is_restrict(word) && stars == 1) p.restricted = i;
    const bool strange = word == "&" || word == "&&" || word == "(" || word == "<" || word == "[" ||
                         word == "=" || word == "volatile" || word == "...";
    if (strange || code.tokens[i].kind == TokenKind::directive) return std::nullopt;
  }
  if (stars != 1 || !code.is_name(end - 1) || is_keyword(code.text[end - 1]) ||
      is_restrict(code.text[end - 1]))
    return std::nullopt;
  return p;
}

/// Parameter k of the kernel receives the k-th argument of the spec that is passed at all. Empty if
/// the counts differ or the kernel has another declaration, whose parameters would have to follow.
std::vector<Pointer> find_pointers(const CodeText& code, const MoveContext& context) {
  const auto kernel = find_kernel(code, context.variant.kernel_name);
  if (!kernel || code.ambiguous) return {};
  if (std::count(code.text.begin(), code.text.end(), code.text[kernel->name]) != 1) return {};
  std::vector<std::pair<std::size_t, std::size_t>> parameters;
  const std::size_t close = code.match[kernel->open];
  for (std::size_t i = kernel->open + 1, begin = i; i <= close; ++i) {
    if (i < close && code.match[i] > i) i = code.match[i];
    if (i == close || code.is(i, ",")) parameters.emplace_back(begin, i), begin = i + 1;
  }
  const std::vector<const ArgSpec*> args = parameter_arguments(context.spec);
  if (args.size() != parameters.size()) return {};
  std::vector<Pointer> out;
  for (std::size_t k = 0; k < args.size(); ++k) {
    auto pointer = args[k] != nullptr && args[k]->type == ArgType::tensor
                       ? read_pointer(code, parameters[k].first, parameters[k].second)
                       : std::nullopt;
    if (!pointer) continue;
    pointer->arg = args[k];
    pointer->may_be_const = args[k]->role == ArgRole::input &&
                            only_subscripted(code, *kernel, code.text[pointer->end - 1]);
    pointer->may_be_restricted = !is_aliased(context.spec, args[k]->name);
    out.push_back(*pointer);
  }
  return out;
}

Edit token_removal(const CodeText& code, std::size_t token) {
  std::size_t end = code.tokens[token].end;
  if (end < code.source.size() && code.source[end] == ' ') ++end;
  return {code.tokens[token].begin, end, ""};
}

void qualify(const CodeText& code,
             const Pointer& p,
             const Qualifiers& wanted,
             std::vector<Edit>& edits) {
  const Qualifiers now = qualifiers_of(p);
  if (wanted.is_const && !now.is_const) {
    const std::size_t at = code.tokens[p.begin].begin;
    edits.push_back({at, at, "const "});
  }
  if (!wanted.is_const && now.is_const) edits.push_back(token_removal(code, *p.pointee_const));
  if (wanted.is_restricted && !now.is_restricted) {
    const std::size_t at = code.tokens[p.star].end;
    const bool spaced = code.tokens[p.star + 1].begin > at;
    edits.push_back({at, at, spaced ? " __restrict__" : " __restrict__ "});
  }
  if (!wanted.is_restricted && now.is_restricted)
    edits.push_back(token_removal(code, *p.restricted));
}

/// Adds const to pointers that the spec calls inputs and __restrict__ to pointers that it lets
/// nobody alias. Parameters are the wanted state: {const, restrict} in {0, 1}. Site "argument:NAME"
/// (of the spec) or "arguments": all that may have it.
class QualifyPointers final : public Move {
 public:
  [[nodiscard]] std::string_view name() const override { return "qualify_pointers"; }

  [[nodiscard]] std::vector<MoveInstance> enumerate(const MoveContext& context) const override {
    const std::vector<Pointer> pointers = find_pointers(CodeText(context.variant.source), context);
    std::vector<MoveInstance> out;
    std::vector<std::vector<Qualifiers>> seen;
    for (const Qualifiers wanted :
         {Qualifiers{true, true}, Qualifiers{false, true}, Qualifiers{true, false}}) {
      std::vector<Qualifiers> states;
      std::ptrdiff_t changed = 0;
      for (const Pointer& p : pointers) {
        states.push_back(extended(p, wanted));
        changed += states.back() == qualifiers_of(p) ? 0 : 1;
      }
      // An instance that changes a single pointer is listed at that pointer's site.
      if (changed < 2 || std::find(seen.begin(), seen.end(), states) != seen.end()) continue;
      seen.push_back(std::move(states));
      out.push_back(instance(std::string(kArgumentsSite), wanted));
    }
    for (const Pointer& p : pointers) {
      const Qualifiers now = qualifiers_of(p), goal = extended(p, {true, true});
      if (goal == now) continue;
      const std::string site = std::string(kArgumentPrefix) + p.arg->name;
      out.push_back(instance(site, goal));
      if (goal.is_const != now.is_const && goal.is_restricted != now.is_restricted) {
        out.push_back(instance(site, {now.is_const, true}));
        out.push_back(instance(site, {true, now.is_restricted}));
      }
    }
    return out;
  }

  [[nodiscard]] std::vector<Tunable> domain(const MoveContext&, std::string_view) const override {
    return {Tunable{"const", {0, 1}, 0, "1: the kernel only reads through it"},
            Tunable{"restrict", {0, 1}, 0, "1: no other pointer reaches its memory"}};
  }

  [[nodiscard]] std::optional<Variant> apply(const MoveContext& context,
                                             const MoveInstance& wanted,
                                             std::string& why) const override {
    const auto state = read_state(wanted);
    if (!state) return why = "qualify_pointers takes const and restrict, each 0 or 1", std::nullopt;
    const CodeText code(context.variant.source);
    const std::vector<Pointer> pointers = find_pointers(code, context);
    std::vector<Edit> edits;
    if (wanted.site == kArgumentsSite) {
      edits = edits_for_all(code, pointers, *state);
    } else {
      const auto p = find(pointers, wanted.site);
      if (p == pointers.end())
        return why = "no plain pointer parameter at " + wanted.site, std::nullopt;
      const Qualifiers now = qualifiers_of(*p);
      if (state->is_const && !now.is_const && !p->may_be_const) {
        return why = p->arg->name + " is written, or pointers are made of it", std::nullopt;
      }
      if (state->is_restricted && !now.is_restricted && !p->may_be_restricted) {
        return why = "the spec lets another argument alias " + p->arg->name, std::nullopt;
      }
      qualify(code, *p, *state, edits);
    }
    if (edits.empty()) return why = "nothing to qualify at " + wanted.site, std::nullopt;
    Variant out = context.variant;
    out.source = edited(code.source, std::move(edits));
    return out;
  }

  [[nodiscard]] std::optional<MoveInstance> inverse(const MoveContext& context,
                                                    const MoveInstance& done) const override {
    const CodeText code(context.variant.source);
    const std::vector<Pointer> pointers = find_pointers(code, context);
    const auto p = find(pointers, done.site);
    if (p == pointers.end()) return std::nullopt;
    return instance(done.site, qualifiers_of(*p));
  }

 private:
  /// What `p` has, and of `wanted` what it may have.
  static Qualifiers extended(const Pointer& p, const Qualifiers& wanted) {
    return {p.pointee_const || (wanted.is_const && p.may_be_const),
            p.restricted || (wanted.is_restricted && p.may_be_restricted)};
  }
  static std::vector<Pointer>::const_iterator find(const std::vector<Pointer>& pointers,
                                                   std::string_view site) {
    if (!site.starts_with(kArgumentPrefix)) return pointers.end();
    site.remove_prefix(kArgumentPrefix.size());
    return std::find_if(pointers.begin(), pointers.end(),
                        [&](const Pointer& p) { return p.arg->name == site; });
  }
  /// Adds the qualifiers in `wanted` that are valid there; removes none.
  static std::vector<Edit> edits_for_all(const CodeText& code,
                                         const std::vector<Pointer>& pointers,
                                         const Qualifiers& wanted) {
    std::vector<Edit> edits;
    for (const Pointer& p : pointers) qualify(code, p, extended(p, wanted), edits);
    return edits;
  }
  static std::optional<Qualifiers> read_state(const MoveInstance& instance) {
    const auto read = [&](std::string_view key) {
      const auto it = instance.parameters.find(key);
      return it == instance.parameters.end() ? std::int64_t{-1} : it->second;
    };
    const std::int64_t is_const = read("const"), is_restricted = read("restrict");
    if (instance.parameters.size() != 2 || (is_const | is_restricted) < 0 || is_const > 1 ||
        is_restricted > 1)
      return std::nullopt;
    return Qualifiers{is_const == 1, is_restricted == 1};
  }
  static MoveInstance instance(const std::string& site, const Qualifiers& state) {
    return {"qualify_pointers",
            site,
            {{"const", state.is_const ? 1 : 0}, {"restrict", state.is_restricted ? 1 : 0}}};
  }
};

}  // namespace

void register_move_qualify_pointers(MoveRegistry& registry) {
  registry.add("qualify_pointers",
               "const and __restrict__ on the kernel's pointers, as far as the spec allows",
               [] { return std::make_unique<QualifyPointers>(); });
}

}  // namespace warpath
