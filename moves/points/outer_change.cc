#include "moves/points/outer_change.h"

#include <algorithm>

#include "moves/edit/span_rewrite.h"
#include "moves/model/kernel_model.h"
#include "moves/syntax/syntax_query.h"
#include "moves/syntax/words.h"

namespace warpath {

using namespace model;

namespace {

constexpr std::size_t kMostAxes = 4;

/// Numbers where the source fixes them.
Polynomial size_value(const KernelFacts& facts, const Polynomial& value) {
  const auto number = fixed(facts, value);
  return number ? Polynomial(*number) : value;
}

std::optional<Polynomial> exact_quotient(const Polynomial& a, const Polynomial& b) {
  if (!a.is_known() || !b.is_known() || b.is_zero()) return std::nullopt;
  const Polynomial out = Polynomial::operation("/", {a, b});
  return out.is_known() && out * b == a ? std::optional(out) : std::nullopt;
}

/// Finds by which numbers of elements a kernel divides its flat index.
class InnerSizes {
 public:
  InnerSizes(const KernelFacts& facts, const ThreadIndex& index, std::int64_t pack)
      : facts_(facts), index_(index), pack_(pack) {}

  std::vector<Polynomial> find() {
    std::vector<Polynomial> out;
    walk_expressions(*facts_.kernel->body, [&](const Expr& e) {
      const auto by = divisor_of(facts_, e);
      const auto scale = by ? scale_of(e.arg(0), 0) : std::nullopt;
      if (!scale) return true;
      const Polynomial size = *scale * *by;
      if (std::ranges::none_of(out, [&](const Polynomial& p) { return p == size; }))
        out.push_back(size);
      return true;
    });
    return out;
  }

 private:
  /// D where the expression is the index divided by D.
  [[nodiscard]] std::optional<Polynomial> scale_of(const Expr& given, int depth) const {
    constexpr int kMostNames = 8;
    const Expr& e = strip_casts(given);
    if (e.is_name(index_.name)) return Polynomial(1);
    if (e.is(ExprKind::name) && depth < kMostNames) {
      const Declarator* const d = declaration_of(*facts_.unit, e);
      const bool local = d != nullptr && d->stmt != nullptr && d->value() != nullptr &&
                         !d->is_pointer() && !d->is_array();
      return local ? scale_of(*d->value(), depth + 1) : std::nullopt;
    }
    if (!e.is(ExprKind::binary)) return std::nullopt;
    // within a pack
    if (e.op == "+" && pack_ > 1) return scale_of(e.arg(0), depth);
    const auto by = e.op == "/" || e.op == ">>" ? divisor_of(facts_, e) : std::nullopt;
    const auto scale = by ? scale_of(e.arg(0), depth) : std::nullopt;
    return scale ? std::optional(*scale * *by) : std::nullopt;
  }

  const KernelFacts& facts_;
  const ThreadIndex& index_;
  std::int64_t pack_;
};

/// Sizes that can be written at the head of the kernel.
bool is_size(const KernelModel& kernel, const Polynomial& value) {
  const std::set<std::string> names = value.names();
  return value.is_known() && value.operations().empty() &&
         std::ranges::all_of(names, [&](const std::string& name) {
           return kernel.kernel->parameter(name) != nullptr;
         });
}

}  // namespace

std::optional<Polynomial> divisor_of(const KernelFacts& facts, const Expr& e) {
  if (!e.is(ExprKind::binary)) return std::nullopt;
  if (e.op == "/" || e.op == "%") {
    const Polynomial by = size_value(facts, facts.polynomial(e.arg(1)));
    return by.is_known() && !by.is_zero() ? std::optional(by) : std::nullopt;
  }
  if (e.op != ">>" && e.op != "&") return std::nullopt;
  const auto number = fixed(facts, facts.polynomial(e.arg(1)));
  if (!number || *number < 0) return std::nullopt;
  constexpr std::int64_t kMostBits = 30;
  if (e.op == ">>")
    return *number <= kMostBits ? std::optional(Polynomial(std::int64_t{1} << *number))
                                : std::nullopt;
  return *number < INT32_MAX && (*number & (*number + 1)) == 0
             ? std::optional(Polynomial(*number + 1))
             : std::nullopt;
}

std::vector<OuterAxis> flat_axes(const KernelModel& kernel, std::string& why) {
  const KernelFacts& facts = kernel.facts;
  const auto none = [&](std::string text) {
    return why = std::move(text), std::vector<OuterAxis>();
  };
  OuterAxis axis;
  const Polynomial thread = facts.resolved(Polynomial::name("blockIdx.x")) *
                                facts.resolved(Polynomial::name("blockDim.x")) +
                            Polynomial::name("threadIdx.x");
  for (const ThreadIndex& t : facts.thread_indices) {
    if (!t.bound || t.name.empty() || t.declarator == nullptr || t.guard == nullptr) continue;
    const Polynomial value = facts.resolved(t.value);
    const auto pack = value.coefficient_of("threadIdx.x").constant();
    if (!pack || *pack < 1 || !(value == thread * Polynomial(*pack))) continue;
    axis.index = &t, axis.pack = *pack;
    break;
  }
  if (axis.index == nullptr) return none("no bounded index of a thread along x");
  const Polynomial bound = size_value(facts, *axis.index->bound);
  std::vector<OuterAxis> out;
  for (const Polynomial& found : InnerSizes(facts, *axis.index, axis.pack).find()) {
    axis.inner = size_value(facts, found);
    const auto extent = exact_quotient(bound, axis.inner);
    if (!extent || !is_size(kernel, axis.inner) || !is_size(kernel, *extent)) continue;
    axis.extent = *extent;
    const auto elements = axis.inner.constant();
    if (elements && (*elements < kLeastInner || *elements % axis.pack != 0)) continue;
    if (!elements && axis.pack != 1) continue;
    const auto outer = axis.extent.constant();
    if (outer && *outer < 2) continue;
    out.push_back(axis);
  }
  std::ranges::stable_sort(out, [](const OuterAxis& a, const OuterAxis& b) {
    const auto x = a.inner.constant(), y = b.inner.constant();
    return x && y ? *x > *y
                  : a.inner.terms().size() + a.inner.names().size() >
                        b.inner.terms().size() + b.inner.names().size();
  });
  if (out.size() > kMostAxes) out.resize(kMostAxes);
  if (out.empty()) why = "the index is not divided by the elements of an outer coordinate";
  return out;
}

bool OuterSteps::is_block_number(const Expr& e) const {
  return axis_.grid_axis >= 0 && e.is_op(ExprKind::member, ".") && e.arg(0).is_name("blockIdx") &&
         e.name == std::string_view("xyz").substr(static_cast<std::size_t>(axis_.grid_axis), 1);
}

OuterStep OuterSteps::of_name(const Expr& e) const {
  if (axis_.index != nullptr && e.is_name(axis_.index->name)) {
    const auto elements = axis_.inner.constant();
    return {axis_.inner, true, elements ? std::optional(*elements - axis_.pack) : std::nullopt};
  }
  if (const auto found = varying_.find(e.name); found != varying_.end()) return found->second;
  if (const auto found = counts_.find(e.name); found != counts_.end())
    return {Polynomial(0), true, found->second - 1};
  const Declarator* const d = declaration_of(*facts_.unit, e);
  const auto number =
      d != nullptr && !d->is_array() ? fixed(facts_, facts_.polynomial(e)) : std::nullopt;
  return {Polynomial(0), number && *number >= 0, number};
}

OuterStep OuterSteps::quotient(const OuterStep& a, const Polynomial& by) const {
  if (!a.step) return {};
  const auto number = by.constant();
  const auto most =
      a.most && number && *number > 0 ? std::optional(*a.most / *number) : std::nullopt;
  if (a.is_same()) return {Polynomial(0), a.nonnegative, most};
  const auto step = exact_quotient(*a.step, by);
  return step && a.nonnegative ? OuterStep{step, true, most} : OuterStep{};
}

OuterStep OuterSteps::remainder(const OuterStep& a, const Polynomial& by) const {
  const auto number = by.constant();
  const auto most = number && *number > 0 ? std::optional(*number - 1) : std::nullopt;
  if (a.is_same()) return {Polynomial(0), a.nonnegative, most};
  const bool whole = a.step && a.nonnegative && exact_quotient(*a.step, by);
  return whole ? OuterStep{Polynomial(0), true, most} : OuterStep{};
}

OuterStep OuterSteps::of_binary(const Expr& e) const {
  const OuterStep a = of(e.arg(0)), b = of(e.arg(1));
  if (!a.step || !b.step) return {};
  if (const auto by = b.is_same() ? divisor_of(facts_, e) : std::nullopt)
    return e.op == "/" || e.op == ">>" ? quotient(a, *by) : remainder(a, *by);
  const bool nonnegative = a.nonnegative && b.nonnegative;
  const bool known = a.most && b.most && nonnegative;
  if (e.op == "+")
    return {*a.step + *b.step, nonnegative,
            known ? std::optional(*a.most + *b.most) : std::nullopt};
  if (e.op == "-") return {*a.step - *b.step, false};
  if (e.op == "*") {
    if (a.is_same() && b.is_same()) return {Polynomial(0), nonnegative};
    if (!a.is_same() && !b.is_same()) return {};
    const Expr& factor = a.is_same() ? e.arg(0) : e.arg(1);
    const Polynomial by = size_value(facts_, facts_.polynomial(factor));
    const OuterStep& grown = a.is_same() ? b : a;
    if (!by.is_known()) return {};
    return {*grown.step * by, nonnegative};
  }
  return a.is_same() && b.is_same() ? OuterStep{Polynomial(0)} : OuterStep{};
}

OuterStep OuterSteps::of(const Expr& e) const {
  if (e.is(ExprKind::number) || e.is(ExprKind::literal)) {
    const auto number = constant_value(*facts_.unit, e);
    return {Polynomial(0), number && *number >= 0, number};
  }
  if (e.is(ExprKind::name)) return of_name(e);
  if (is_block_number(e)) return {Polynomial(1), true};
  if (e.is(ExprKind::member) && (e.arg(0).is_name("threadIdx") || e.arg(0).is_name("blockIdx") ||
                                 e.arg(0).is_name("blockDim")))
    return {Polynomial(0), true};
  if (e.is(ExprKind::lambda) || e.is(ExprKind::statement) || e.is(ExprKind::opaque)) return {};
  if (e.is(ExprKind::binary)) return of_binary(e);
  if (e.is(ExprKind::cast) && e.args.size() == 1) {
    OuterStep inner = of(e.arg(0));
    const std::string type = facts_.unit->plain_text(e.type);
    const bool integer = is_integer_type(type) && size_of_type(type) >= 4;
    if (integer || !inner.step) return inner;
    return inner.is_same() ? OuterStep{Polynomial(0)} : OuterStep{};
  }
  const bool same = std::ranges::all_of(e.args, [&](const Expr* a) { return of(*a).is_same(); });
  return same ? OuterStep{Polynomial(0)} : OuterStep{};
}

}  // namespace warpath
