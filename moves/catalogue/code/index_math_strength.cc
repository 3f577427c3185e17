#include <algorithm>
#include <array>

#include "moves/edit/kernel_move.h"
#include "moves/edit/span_rewrite.h"
#include "moves/model/kernel_model.h"
#include "moves/syntax/syntax_query.h"
#include "moves/syntax/words.h"
#include "register_moves.h"

namespace warpath {
namespace {

using namespace model;

/// What is made cheaper: the site.
constexpr std::string_view kIndex = "index", kMath = "math", kDivide = "divide",
                           kLiterals = "literals";
/// Values of the parameter at site "math".
constexpr std::int64_t kFast = 1, kHardware = 2;

/// Relative errors that a spec's tolerance must leave room for, several times over.
constexpr double kFastError = 4e-6, kTanhError = 1e-4, kHardwareTanhError = 2e-3;

struct FastCall {
  std::string_view precise, fast;
};
constexpr std::array<FastCall, 7> kFastCalls{{{"expf", "__expf"},
                                              {"logf", "__logf"},
                                              {"log2f", "__log2f"},
                                              {"log10f", "__log10f"},
                                              {"powf", "__powf"},
                                              {"sinf", "__sinf"},
                                              {"cosf", "__cosf"}}};
constexpr std::string_view kDivision = "__fdividef";
constexpr std::array<FastCall, 10> kFloatCalls{{{"exp", "expf"},
                                                {"log", "logf"},
                                                {"sqrt", "sqrtf"},
                                                {"pow", "powf"},
                                                {"tanh", "tanhf"},
                                                {"sin", "sinf"},
                                                {"cos", "cosf"},
                                                {"fabs", "fabsf"},
                                                {"fmax", "fmaxf"},
                                                {"fmin", "fminf"}}};

/// The smallest relative error that the outputs may have: by element where rtol or atol leave room,
/// by norm where atol does; 0 if one must be exact. Too much trust in atol costs a build, which the
/// gates refuse.
double tolerance_of(const KernelSpec& spec) {
  double out = 1;
  for (const ArgSpec& arg : spec.io.args) {
    if (arg.type != ArgType::tensor || arg.role == ArgRole::input) continue;
    const Tolerance& t = spec.tolerance_of(arg.name);
    out = std::min(out, t.exact ? 0.0 : std::max(t.rtol, std::min(t.atol, t.norm)));
  }
  return out;
}

/// A GPU's runner refuses approximations that the spec neither declares (operations of the special
/// function unit, fast mathematics) nor uses itself.
bool may_approximate(const MoveContext& context, std::string_view fast) {
  if (!context.device.is_gpu || context.spec.bound.flops.contains("sfu")) return true;
  const auto& options = context.spec.compiler_options;
  return std::ranges::any_of(
             options,
             [](const std::string& option) { return option.ends_with("use_fast_math"); }) ||
         context.spec.source.find(fast) != std::string::npos;
}

bool is_wide_integer(std::string_view type) {
  return is_integer_type(type) && size_of_type(type) == 8;
}

/// Every array has fewer than 2^31 elements in every workload, so that no index inside it
/// overflows.
bool arrays_are_small(const MoveContext& context) {
  for (const ArgSpec& arg : context.spec.io.args) {
    if (arg.type != ArgType::tensor) continue;
    for (const Workload* w : workloads_of(context)) {
      std::int64_t count = 1;
      for (const std::int64_t extent : context.spec.shape_of(arg, *w)) {
        if (extent > INT32_MAX) return false;
        count *= std::max<std::int64_t>(extent, 1);
        if (count > INT32_MAX) return false;
      }
    }
  }
  return true;
}

/// The variable is only compared, stepped, divided or used inside subscripts, so it never needs
/// more than its own range.
bool only_indexes(const KernelFacts& facts, const Declarator& d) {
  bool good = true;
  walk_expressions(*facts.kernel->body, [&](const Expr& e) {
    if (!e.is_name(d.name)) return good;
    bool used = false;
    for (const Expr* at = &e; at->parent != nullptr && !used; at = at->parent) {
      const Expr& p = *at->parent;
      if (p.is(ExprKind::subscript) && p.args[0] != at) {
        const Access* const access = facts.access_of(p);
        used = access != nullptr && access->index.is_known() &&
               access->index.has_only_positive_terms();
        break;
      }
      if (p.is_op(ExprKind::binary, "<") || p.is_op(ExprKind::binary, ">=") ||
          p.is_op(ExprKind::binary, ">") || p.is_op(ExprKind::binary, "<=") ||
          p.is(ExprKind::unary) || p.is(ExprKind::postfix)) {
        used = true;
      }
      if (p.is(ExprKind::assign) && p.args[0] == at) used = true;
    }
    good = good && used;
    return good;
  });
  return good;
}

void strip_wide_casts(const Expr& root, std::vector<Edit>& edits) {
  walk(root, [&](const Expr& e) {
    if (e.is(ExprKind::cast) && e.args.size() == 1 && is_wide_integer(plain_type(e))) {
      // The operand keeps its own parentheses: (long long)(a + b) becomes (a + b).
      edits.push_back({e.span.begin, e.arg(0).outer.begin, ""});
      if (e.arg(0).outer.end < e.span.end) edits.push_back({e.arg(0).outer.end, e.span.end, ""});
    }
    return true;
  });
}

/// The operand as an argument of a call: without its parentheses, unless they hold a comma operator
/// or a comment.
Span argument_span(const Unit& unit, const Expr& e) {
  if (e.is(ExprKind::comma)) return e.outer;
  const bool only_parentheses =
      unit.text({e.outer.begin, e.span.begin}).find_first_not_of("( ") == std::string_view::npos &&
      unit.text({e.span.end, e.outer.end}).find_first_not_of(") ") == std::string_view::npos;
  return only_parentheses ? e.span : e.outer;
}

/// 64-bit thread indices and loop counters that stay below 2^31 become int, division by what does
/// not change becomes multiplication, math functions their fast forms, double literals float. Sites
/// "index", "divide", "math", "literals".
class IndexMathStrength final : public KernelMove {
 public:
  [[nodiscard]] std::string_view name() const override { return "index_math_strength"; }

  [[nodiscard]] std::vector<Tunable> domain(const MoveContext&,
                                            std::string_view site) const override {
    if (site == kMath)
      return {Tunable{
          "form", {kFast, kHardware}, kFast, "1: fast functions; 2: also the hardware's tanh"}};
    if (site != kIndex && site != kDivide && site != kLiterals) return {};
    return {Tunable{"form", {kFast}, kFast, "1"}};
  }

 private:
  [[nodiscard]] std::vector<MoveInstance> candidates(const MoveContext&,
                                                     const KernelModel&) const override {
    std::vector<MoveInstance> out;
    for (const std::string_view site : {kIndex, kMath, kDivide, kLiterals})
      add(out, std::string(site), "form", {kFast, kHardware});
    return out;
  }

  [[nodiscard]] std::optional<Variant> rewritten(const MoveContext& context,
                                                 const KernelModel& model,
                                                 const MoveInstance& wanted,
                                                 std::string& why) const override {
    std::vector<Edit> edits;
    if (wanted.site == kIndex) {
      narrow(context, model, edits);
    } else if (wanted.site == kMath) {
      if (!fast_math(context, model, wanted.parameters.at("form"), edits, why)) return std::nullopt;
    } else if (wanted.site == kDivide) {
      if (tolerance_of(context.spec) < kFastError)
        return why = "the tolerance leaves no room for it", std::nullopt;
      return reciprocals(context, model, why);
    } else if (wanted.site == kLiterals) {
      if (tolerance_of(context.spec) < kFastError)
        return why = "the tolerance leaves no room for it", std::nullopt;
      floats(model, edits);
    } else {
      return why = "sites are index, math, divide and literals", std::nullopt;
    }
    if (edits.empty()) return why = "nothing to make cheaper at " + wanted.site, std::nullopt;
    Rewrite rewrite(model);
    rewrite.add(std::move(edits));
    return rewrite.finish(context.variant);
  }

  static void narrow(const MoveContext& context,
                     const KernelModel& model,
                     std::vector<Edit>& edits) {
    const KernelFacts& facts = model.facts;
    if (!arrays_are_small(context)) return;
    // The largest value under the launch, including one step beyond the bound of a loop.
    const auto fits = [&](const Polynomial& value, const Polynomial& step) {
      for (const Workload* w : workloads_of(context)) {
        const Bindings last = last_thread(context, facts, *w);
        const auto most = facts.resolved(value).evaluate(last),
                   more = facts.resolved(step).evaluate(last);
        if (!most || !more || *most < 0 || *more < 0 || *most > INT32_MAX ||
            *more > INT32_MAX - *most)
          return false;
      }
      return true;
    };
    const auto change = [&](const Declarator& d, const Expr* step) {
      if (d.value() == nullptr || d.type.empty() ||
          !is_wide_integer(model.unit.plain_text(d.type)) || !only_indexes(facts, d))
        return;
      if (d.stmt != nullptr && d.stmt->declarators.size() != 1) return;
      edits.push_back({d.type.begin, d.type.end, "int"});
      strip_wide_casts(*d.value(), edits);
      if (step != nullptr) strip_wide_casts(*step, edits);
    };
    for (const ThreadIndex& index : facts.thread_indices) {
      if (index.declarator == nullptr || index.form != ThreadIndex::Form::global || !index.bound)
        continue;
      bool in_loop = false;
      for (const auto& loop : facts.loops)
        in_loop = in_loop || loop->declarator == index.declarator;
      if (!in_loop && fixed(facts, *index.bound) && fits(index.value, 0))
        change(*index.declarator, nullptr);
    }
    for (const auto& loop : facts.loops) {
      if (loop->counted && !loop->descending && loop->declared_inside &&
          loop->declarator != nullptr && fixed(facts, loop->end) && fits(loop->end, loop->step)) {
        change(*loop->declarator, loop->stmt->step);
      }
    }
  }

  static bool fast_math(const MoveContext& context,
                        const KernelModel& model,
                        std::int64_t form,
                        std::vector<Edit>& edits,
                        std::string& why) {
    const double tolerance = tolerance_of(context.spec);
    if (tolerance < kFastError) return why = "the tolerance leaves no room for it", false;
    if (form == kHardware && (tolerance < kHardwareTanhError || !context.device.is_gpu))
      return why = "the hardware's tanh is too coarse, or there is none", false;
    const Unit& unit = model.unit;
    bool tanh_found = false, refused = false;
    const auto may = [&](std::string_view fast) {
      const bool allowed = may_approximate(context, fast);
      refused = refused || !allowed;
      return allowed;
    };
    const std::string helper = fresh_name(unit, "hardware_tanh");
    walk_expressions(*model.kernel->body, [&](const Expr& e) {
      const std::string_view called = callee(e);
      for (const FastCall& c : kFastCalls) {
        if (called == c.precise && may(c.fast))
          edits.push_back({e.arg(0).span.begin, e.arg(0).span.end, std::string(c.fast)});
      }
      if (called == "tanhf" && e.args.size() == 2 && tolerance >= kTanhError &&
          may(form == kHardware ? "tanh.approx" : "__expf") &&
          (form == kHardware || may(kDivision))) {
        tanh_found = true;
        if (form == kHardware) {
          edits.push_back({e.arg(0).span.begin, e.arg(0).span.end, helper});
        } else {
          edits.push_back(
              {e.span.begin, e.arg(1).outer.begin, "(1.0f - __fdividef(2.0f, __expf(2.0f * ("});
          edits.push_back({e.arg(1).outer.end, e.span.end, ")) + 1.0f))"});
        }
      }
      if (e.is_op(ExprKind::binary, "/") && type_of(model.facts, e) == "float") {
        const Expr &a = e.arg(0), &b = e.arg(1);
        if (callee(b) == "sqrtf" && (a.name == "1.0f" || a.name == "1.f" || a.name == "1.0F")) {
          edits.push_back({a.outer.begin, b.arg(0).span.end, "rsqrtf"});
        } else if (callee(b) == "sqrtf" && type_of(model.facts, a) == "float") {
          edits.push_back({e.name_span.begin, e.name_span.end, "*"});
          edits.push_back({b.arg(0).span.begin, b.arg(0).span.end, "rsqrtf"});
        } else if (type_of(model.facts, a) == "float" && type_of(model.facts, b) == "float" &&
                   !b.is(ExprKind::number) && may(kDivision)) {
          const Span over = argument_span(unit, a), under = argument_span(unit, b);
          edits.push_back({e.span.begin, over.begin, "__fdividef("});
          edits.push_back({over.end, under.begin, ", "});
          edits.push_back({under.end, e.span.end, ")"});
        }
      }
      return true;
    });
    if (edits.empty() && refused)
      return why = "the spec declares no approximations: bound.flops.sfu, or -use_fast_math", false;
    if (form == kHardware) {
      if (!tanh_found) return why = "the kernel calls no tanhf", false;
      edits.push_back({model.kernel->span.begin, model.kernel->span.begin,
                       "// The special function unit's tanh, relative error below "
                       "2^-10.9.\n__device__ __forceinline__ float " +
                           helper +
                           "(float x) {\n  float y;\n  asm(\"tanh.approx.f32 %0, %1;\" : \"=f\"(y) "
                           ": \"f\"(x));\n  return y;\n}\n\n"});
    }
    return true;
  }

  /// a / b in a loop that does not change b: one division before the loop, a * inverse inside.
  static std::optional<Variant> reciprocals(const MoveContext& context,
                                            const KernelModel& model,
                                            std::string& why) {
    const KernelFacts& facts = model.facts;
    Rewrite rewrite(model);
    std::map<std::pair<const Stmt*, std::string>, std::string> inverses;
    walk_expressions(*model.kernel->body, [&](const Expr& e) {
      if (!e.is_op(ExprKind::binary, "/") || type_of(facts, e) != "float" ||
          !e.arg(1).is(ExprKind::name) || e.stmt == nullptr)
        return true;
      const std::string b(e.arg(1).name);
      const Declarator* const d = declaration_of(model.unit, e.arg(1));
      if (d == nullptr || d->is_pointer() || d->reference || type_of(facts, e.arg(1)) != "float")
        return true;
      const Stmt* outermost = nullptr;
      for (const Stmt* loop = enclosing_loop(*e.stmt); loop != nullptr;
           loop = enclosing_loop(*loop)) {
        const std::vector<std::string> written = facts.names_written(*loop);
        if ((d->stmt != nullptr && is_inside(*d->stmt, *loop)) ||
            std::find(written.begin(), written.end(), b) != written.end())
          break;
        if (loop->parent == nullptr || !loop->parent->is(StmtKind::block)) break;
        outermost = loop;
      }
      if (outermost == nullptr) return true;
      std::string& inverse = inverses[{outermost, b}];
      if (inverse.empty()) {
        inverse = rewrite.fresh("inverse_" + b);
        rewrite.before(*outermost, "const float " + inverse + " = 1.0f / " + b + ";\n");
      }
      rewrite.replace({e.arg(0).outer.end, e.arg(1).outer.end}, " * " + inverse);
      return true;
    });
    if (inverses.empty())
      return why = "no division by a value that a loop leaves alone", std::nullopt;
    return rewrite.finish(context.variant);
  }

  /// 0.5 * x with a float x computes in double: the literal becomes float; exp(x) of a float
  /// becomes expf(x).
  static void floats(const KernelModel& model, std::vector<Edit>& edits) {
    walk_expressions(*model.kernel->body, [&](const Expr& e) {
      if (e.is(ExprKind::binary) && e.args.size() == 2) {
        for (const std::size_t side : {0U, 1U}) {
          const Expr &literal = e.arg(side), &other = e.arg(1 - side);
          const bool is_double = literal.is(ExprKind::number) &&
                                 literal.name.find_first_of(".eE") != std::string_view::npos &&
                                 !literal.name.starts_with("0x") &&
                                 literal.name.find_last_of("fFlL") != literal.name.size() - 1;
          if (is_double && type_of(model.facts, other) == "float")
            edits.push_back({literal.span.end, literal.span.end, "f"});
        }
      }
      for (const FastCall& c : kFloatCalls) {
        if (callee(e) != c.precise) continue;
        bool all = true;
        for (std::size_t i = 1; i < e.args.size(); ++i)
          all = all && type_of(model.facts, e.arg(i)) == "float";
        if (all) edits.push_back({e.arg(0).span.begin, e.arg(0).span.end, std::string(c.fast)});
      }
      return true;
    });
  }
};

}  // namespace

void register_move_index_math_strength(MoveRegistry& registry) {
  registry.add("index_math_strength",
               "cheaper forms of index arithmetic, divisions and math functions",
               [] { return std::make_unique<IndexMathStrength>(); });
}

}  // namespace warpath
