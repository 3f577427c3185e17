#include "moves/syntax/argument_effects.h"

#include <algorithm>
#include <map>
#include <set>
#include <string>
#include <string_view>

#include "moves/syntax/assembly.h"
#include "moves/syntax/syntax_query.h"
#include "moves/syntax/words.h"

namespace warpath::model {
namespace {

constexpr std::size_t kMostFunctions = 200;  // looked into for one call

std::string_view unqualified(std::string_view name) {
  const std::size_t colons = name.rfind("::");
  return colons == std::string_view::npos ? name : name.substr(colons + 2);
}

/// What is called, with the class that has it: `Of<T>::f<4>` is Of<>::f. Empty if it has no name.
std::string called_name(const Expr& call) {
  if (!call.is(ExprKind::call) || !call.arg(0).is(ExprKind::name)) return {};
  std::string out;
  int depth = 0;
  for (const char c : call.arg(0).name) {
    depth -= c == '>' ? 1 : 0;
    if (depth == 0) out += c;
    depth += c == '<' ? 1 : 0;
  }
  if (out.ends_with("<>")) out.resize(out.size() - 2);
  return depth == 0 ? out : std::string();
}

/// Of Of<>::f, Of.
std::string_view class_template_in(std::string_view name) {
  const std::size_t end = name.rfind("<>::");
  return end == std::string_view::npos ? std::string_view() : unqualified(name.substr(0, end));
}

std::string_view class_of(const Function& f) {
  return f.record == nullptr ? std::string_view()
                             : f.record->name.substr(0, f.record->name.find('<'));
}

/// Functions that are called without being named: operators, constructors, conversions.
bool is_unnamed(const Function& f) {
  return f.name.starts_with("operator") || f.name.starts_with("~") ||
         (f.record != nullptr && f.name == f.record->name);
}

using Names = std::set<std::string, std::less<>>;

bool reaches_by_pointer(std::string_view name) {
  static const Names kIntrinsics{"__ldg",  "__ldca", "__ldcg", "__ldcs", "__ldcv",
                                 "__ldlu", "__stwb", "__stcg", "__stcs", "__stwt"};
  return name.starts_with("atomic") || kIntrinsics.contains(name);
}

/// What a function of a library does to `count` arguments; empty if it is none that is known here.
std::vector<ArgumentEffect> effects_of_library(std::string_view name, std::size_t count) {
  using enum ArgumentEffect;
  static const std::map<std::string_view, std::vector<ArgumentEffect>> kEffects{
      {"sincos", {none, writes, writes}},
      {"sincosf", {none, writes, writes}},
      {"__sincosf", {none, writes, writes}},
      {"sincospi", {none, writes, writes}},
      {"sincospif", {none, writes, writes}},
      {"frexp", {none, writes}},
      {"frexpf", {none, writes}},
      {"modf", {none, writes}},
      {"modff", {none, writes}},
      {"memcpy", {writes, reads, none}},
      {"memset", {writes, none, none}},
      {"curand_init", {none, none, none, writes}}};
  // of a state, and numbers
  static const Names kRandom{"curand",
                             "curand4",
                             "curand_discrete",
                             "curand_log_normal",
                             "curand_log_normal2",
                             "curand_log_normal4",
                             "curand_normal",
                             "curand_normal2",
                             "curand_normal4",
                             "curand_normal_double",
                             "curand_normal2_double",
                             "curand_poisson",
                             "curand_poisson4",
                             "curand_uniform",
                             "curand_uniform4",
                             "curand_uniform_double",
                             "curand_uniform2_double"};
  for (const std::string_view space : {"::", "std::"}) {
    if (name.starts_with(space)) name.remove_prefix(space.size());
  }
  if (kRandom.contains(name) && count >= 1) {
    std::vector<ArgumentEffect> out(count, none);
    out[0] = writes;
    return out;
  }
  const auto known = kEffects.find(name);
  if (known == kEffects.end() || known->second.size() != count) return {};
  return known->second;
}

/// Bodies that a call may run, all of which must reach no more than arguments.
class Reach {
 public:
  explicit Reach(const Unit& unit) : unit_(unit) {}

  /// What `name` may mean; empty if some of it is not known.
  std::vector<const Function*> meant(std::string_view name, const Function* caller) const {
    std::vector<const Function*> out;
    bool known = unit_.macro(name) == nullptr;
    const bool members = name.find("::") != std::string_view::npos ||
                         (caller != nullptr && caller->record != nullptr);
    const std::string_view of = class_template_in(name);
    known = known && !is_derived(of);
    for (const Function* f : unit_.functions()) {
      if (f->name.substr(0, f->name.find('<')) != unqualified(name)) continue;
      if (f->record != nullptr && !members) continue;
      if (!of.empty() && class_of(*f) != of) continue;
      if (f->body != nullptr) out.push_back(f);
    }
    for (const Function* f : unit_.functions()) {
      const bool declared = f->body == nullptr && f->name == unqualified(name);
      known = known && (!declared || std::ranges::any_of(out, [&](const Function* other) {
                return other->parameters.size() == f->parameters.size();
              }));
    }
    if (!known) out.clear();
    return out;
  }

  /// The file has a function or macro of this name.
  [[nodiscard]] bool names_any(std::string_view name) const {
    return unit_.macro(name) != nullptr || std::ranges::any_of(unit_.functions(), [&](auto* f) {
             return f->name.substr(0, f->name.find('<')) == unqualified(name);
           });
  }

  bool is_closed(const std::vector<const Function*>& all) {
    return std::ranges::all_of(all, [&](const Function* f) { return is_closed(*f); }) &&
           operators_are_closed();
  }

  /// Some pointer to constant elements may become one to others on the way.
  [[nodiscard]] bool drops_const() const { return drops_const_; }

 private:
  bool operators_are_closed() {
    return std::ranges::all_of(unit_.functions(), [&](const Function* f) {
      return !is_unnamed(*f) || f->body == nullptr || is_closed(*f);
    });
  }

  bool is_closed(const Function& f) {
    if (!seen_.insert(&f).second) return true;
    const std::string head(unit_.text(Span{f.span.begin, f.body->span.begin}));
    const std::string_view text = unit_.text(f.span);
    if (seen_.size() > kMostFunctions || f.is_global || !f.opaque.empty() ||
        f.unresolved_conditionals || head.find("...") != std::string::npos ||
        text.find("volatile") != std::string_view::npos ||
        text.find("goto") != std::string_view::npos)
      return false;
    Names own, numbers;
    const auto declares = [&](const Declarator& d) {
      own.emplace(d.name);
      const bool number = !d.is_pointer() && !d.is_array() && !d.reference &&
                          dtype_of_type(unit_.resolved_type(unit_.plain_text(d.type)));
      if (number) numbers.emplace(d.name);
    };
    for (const Declarator* p : f.parameters) {
      if (p->is_function_pointer || p->pointer_depth > 1) return false;
      declares(*p);
    }
    for (const TemplateParameter& p : f.template_parameters) own.emplace(p.name);
    bool closed = true;
    walk(*f.body, [&](const Stmt& s) {
      closed = closed && is_closed(s);
      for (const Declarator* d : s.declarators) {
        const bool plain = !d->has(kShared) && !d->has(kStatic) && !d->has(kExtern) &&
                           !d->is_function_pointer && d->pointer_depth < 2;
        closed = closed && plain;
        declares(*d);
      }
      return closed;
    });
    walk_expressions(*f.body, [&](const Expr& e) {
      closed = closed && is_closed(e, f, own) && (!e.is(ExprKind::cast) || keeps(e, numbers));
      return closed;
    });
    return closed;
  }

  bool is_closed(const Stmt& s) const {
    switch (s.kind) {
      case StmtKind::assembly:
        return effect_of_assembly(unit_, s) == AssemblyEffect::none;
      case StmtKind::macro:
      case StmtKind::opaque:
      case StmtKind::try_:
      case StmtKind::goto_:
      case StmtKind::label:
        return false;
      case StmtKind::declaration: {
        const std::string_view text = unit_.text(s);
        return !s.text_only || text.starts_with("using") || text.starts_with("typedef") ||
               text.starts_with("static_assert");
      }
      default:
        return true;
    }
  }

  bool is_closed(const Expr& e, const Function& f, const Names& own) {
    switch (e.kind) {
      case ExprKind::launch:
      case ExprKind::new_object:
      case ExprKind::lambda:
      case ExprKind::statement:
      case ExprKind::opaque:
        return false;
      case ExprKind::name:
        return is_called(e) || is_own(e.name, f, own);
      case ExprKind::call:
        return is_closed_call(e, f, own);
      default:
        return true;
    }
  }

  static bool is_called(const Expr& e) {
    return e.parent != nullptr && e.parent->is(ExprKind::call) && &e.parent->arg(0) == &e;
  }

  /// A variable of the function, or a constant.
  bool is_own(std::string_view name, const Function& f, const Names& own) const {
    bool global = false, fixed = true;
    for (const Declarator* d : unit_.globals()) {
      if (d->name != name && d->name != unqualified(name)) continue;
      global = true;
      fixed = fixed && !d->is_pointer() && (d->is_constant() || d->has(kConstant));
    }
    if (global) return fixed;
    if (own.contains(name) || unit_.constants().contains(name)) return true;
    static const std::set<std::string, std::less<>> kLaunch{"threadIdx", "blockIdx", "blockDim",
                                                            "gridDim"};
    const bool member = f.record != nullptr && !kLaunch.contains(name) &&
                        unit_.macro(name) == nullptr && name != "warpSize";
    return member || name.starts_with("std::numeric_limits");
  }

  /// A cast makes no pointer of a number.
  bool keeps(const Expr& e, const Names& numbers) {
    const std::string type = unit_.resolved_type(unit_.plain_text(e.type));
    if (type.find_first_of("*&") == std::string::npos) return e.op != "const_cast";
    drops_const_ = drops_const_ || type.find("const") == std::string::npos;
    bool points = false;
    for (const Expr* arg : e.args) {
      walk(*arg, [&](const Expr& part) {
        points = points || (part.is(ExprKind::name) && !numbers.contains(part.name)) ||
                 part.is_op(ExprKind::unary, "&");
        return !points;
      });
    }
    return points;
  }

  bool is_closed_call(const Expr& e, const Function& f, const Names& own) {
    if (makes_and_calls(e, own)) return true;  // its operator is looked into as every other
    const std::string member = called_name(e);
    const std::string_view name = callee(e);
    if (name.empty() || own.contains(name)) return false;
    if (const std::vector<const Function*> all = meant(member, &f); !all.empty())
      return std::ranges::all_of(all, [&](const Function* one) { return is_closed(*one); });
    const bool declared = std::ranges::any_of(
        unit_.functions(), [&](const Function* other) { return other->name == unqualified(name); });
    if (is_pure_function(unit_, name)) return true;
    if (declared || unit_.macro(name) != nullptr) return false;
    return reaches_by_pointer(name) || !effects_of_library(name, e.args.size() - 1).empty() ||
           name == "assert" || name == "__trap" || name == "__builtin_unreachable";
  }

  /// `Of<T>()(a, b)` where Of is a class of the file with an operator of its own.
  [[nodiscard]] bool makes_and_calls(const Expr& e, const Names& own) const {
    const Expr& made = e.arg(0);
    const bool called = made.is(ExprKind::call) && made.args.size() == 1;
    const bool cast = made.is(ExprKind::cast) && made.args.empty();
    if (!called && !cast) return false;
    const std::string text = called ? called_name(made) : unit_.plain_text(made.type);
    const std::string_view of = unqualified(std::string_view(text).substr(0, text.find('<')));
    if (own.contains(of) || is_derived(of)) return false;
    return std::ranges::any_of(unit_.functions(), [&](const Function* f) {
      return f->name == "operator()" && f->body != nullptr && class_of(*f) == of;
    });
  }

  /// A class of this name has members of others.
  [[nodiscard]] bool is_derived(std::string_view name) const {
    return !name.empty() && std::ranges::any_of(unit_.functions(), [&](const Function* f) {
      return class_of(*f) == name &&
             unit_.text(f->record->head).find(':') != std::string_view::npos;
    });
  }

  const Unit& unit_;
  std::set<const Function*> seen_;
  bool drops_const_ = false;
};

bool is_of_template(const Unit& unit, const Function& f, const Declarator& p) {
  const std::string type = unit.plain_text(p.type);
  return type == "auto" || std::ranges::any_of(f.template_parameters, [&](const auto& t) {
           return t.is_type && type.find(t.name) != std::string::npos;
         });
}

/// An object by value, or whose members the function reaches: what they point to is no argument.
bool may_hold_pointers(const Unit& unit, const Function& f, const Declarator& p) {
  return !is_of_template(unit, f, p) &&
         size_of_type(unit.resolved_type(unit.plain_text(p.type))) == 0;
}

ArgumentEffect effect_of(const Unit& unit, const Function& f, const Declarator& p, bool drops) {
  const bool kept = p.has(kConst) && !drops;
  if (p.points() || p.reference) return kept ? ArgumentEffect::reads : ArgumentEffect::writes;
  const bool open = is_of_template(unit, f, p);
  return open ? ArgumentEffect::copies : ArgumentEffect::none;
}

}  // namespace

std::optional<std::vector<ArgumentEffect>> argument_effects(const Unit& unit, const Expr& call) {
  const std::string name = called_name(call);
  if (name.empty()) return std::nullopt;
  Reach reach(unit);
  const std::vector<const Function*> all = reach.meant(name, nullptr);
  if (all.empty() && !reach.names_any(name)) {
    std::vector<ArgumentEffect> known = effects_of_library(name, call.args.size() - 1);
    return known.empty() ? std::nullopt : std::optional(std::move(known));
  }
  if (all.empty() || !reach.is_closed(all)) return std::nullopt;
  std::vector<ArgumentEffect> out(call.args.size() - 1, ArgumentEffect::none);
  for (const Function* f : all) {
    const std::string_view type = unit.text(f->return_type);
    if (type.find_first_of("*&") != std::string_view::npos) return std::nullopt;
    for (std::size_t i = 0; i < std::min(out.size(), f->parameters.size()); ++i) {
      if (may_hold_pointers(unit, *f, *f->parameters[i])) return std::nullopt;
      out[i] = std::max(out[i], effect_of(unit, *f, *f->parameters[i], reach.drops_const()));
    }
  }
  return out;
}

}  // namespace warpath::model
