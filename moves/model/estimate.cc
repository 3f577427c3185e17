#include <algorithm>
#include <cmath>

#include "engine/base/error.h"
#include "moves/model/facts_state.h"
#include "moves/syntax/syntax_query.h"
#include "moves/syntax/words.h"

namespace warpath::model {
namespace {

constexpr double kGuessedTrips = 16;

/// A polynomial that is not negative by its own signs, or becomes so with guards and the ends of
/// loops put in.
bool nonnegative(const KernelFacts& facts,
                 Polynomial value,
                 const std::vector<const Guard*>& guards,
                 const std::vector<const Loop*>& loops) {
  if (!value.is_known()) return false;
  for (auto l = loops.rbegin(); l != loops.rend(); ++l) {
    const Loop& loop = **l;
    if (!loop.counted || !value.mentions(loop.variable) || !value.affine_in(loop.variable))
      continue;
    const Polynomial coefficient = value.coefficient_of(loop.variable);
    const Polynomial last = loop.end + (loop.descending ? 1 : -1);
    const bool up = coefficient.has_only_positive_terms();
    const bool down = (-coefficient).has_only_positive_terms();
    if (!up && !down) continue;
    const Polynomial lowest = up != loop.descending ? loop.first : last;
    value = value.without(loop.variable) + coefficient * lowest;
  }
  value = facts.resolved(value);
  if (value.has_only_positive_terms()) return true;
  std::vector<Polynomial> known;
  for (const Guard* guard : guards) {
    for (const Polynomial& p : guard->nonnegative) known.push_back(facts.resolved(p));
  }
  for (const Polynomial& p : known) {
    if ((value - p).has_only_positive_terms()) return true;
    for (const Polynomial& q : known) {
      if ((value - p - q).has_only_positive_terms()) return true;
    }
  }
  return false;
}

class Estimator {
 public:
  Estimator(const KernelFacts& facts, const Workload& workload)
      : facts_(facts), values_(facts.values(workload)) {
    const KernelSpec* spec = facts.state->sources.spec;
    for (const Array& array : facts.arrays) {
      double elements = 0;
      const ArgSpec* argument =
          spec != nullptr && !array.spec_name.empty() ? spec->io.find(array.spec_name) : nullptr;
      if (argument != nullptr) {
        elements = 1;
        try {
          for (const std::int64_t extent : spec->shape_of(*argument, workload))
            elements *= static_cast<double>(extent);
        } catch (const Error&) {
          elements = 0;  // a shape that fails for this workload: unknown
        }
      }
      elements_.push_back(elements);
    }
  }

  WorkEstimate run() {
    out_.threads = 1;
    for (const char* axis : {"x", "y", "z"}) {
      for (const char* what : {"blockDim.", "gridDim."}) {
        const auto found = values_.find(std::string(what) + axis);
        if (found != values_.end())
          out_.threads *= static_cast<double>(std::max<std::int64_t>(1, found->second));
      }
    }
    active_ = out_.threads;
    for (const ThreadIndex& index : facts_.thread_indices) bound_threads(index);
    for (const Access& access : facts_.accesses) count(access);
    walk(*facts_.kernel->body, [&](const Stmt& s) {
      const double times = active_ * repeats(s);
      for (const Expr* e : expressions_of(s))
        walk(*e, [&](const Expr& inner) { return count_flops(inner, times), true; });
      return true;
    });
    for (std::size_t i = 0; i < touched_.size(); ++i) out_.footprint_bytes += touched_[i];
    return out_;
  }

 private:
  /// Threads beyond the guard's bound do nothing.
  void bound_threads(const ThreadIndex& index) {
    if (index.form != ThreadIndex::Form::global || !index.bound) return;
    const auto bound = index.bound->evaluate(values_);
    const std::string a = index.axis == 0 ? "x" : index.axis == 1 ? "y" : "z";
    const auto block = values_.find("blockDim." + a);
    const auto grid = values_.find("gridDim." + a);
    if (!bound || *bound <= 0 || block == values_.end() || grid == values_.end()) return;
    const double there = static_cast<double>(block->second) * static_cast<double>(grid->second);
    if (static_cast<double>(*bound) < there) active_ *= static_cast<double>(*bound) / there;
  }

  double trips(const Loop& loop) {
    const auto known = trips_.find(&loop);
    if (known != trips_.end()) return known->second;
    double out = 0;
    Bindings values = values_;
    for (const Loop* l = loop.parent; l != nullptr;
         l = l->parent) {  // the middle of an outer loop's range
      if (l->counted)
        values.insert_or_assign(l->variable, static_cast<std::int64_t>(trips(*l) / 2));
    }
    for (const char* axis : {"x", "y", "z"}) {
      const std::string a(axis);
      const auto grid = values_.find("gridDim." + a);
      const auto block = values_.find("blockDim." + a);
      values.emplace("threadIdx." + a, block != values_.end() ? block->second / 2 : 0);
      values.emplace("blockIdx." + a, grid != values_.end() ? grid->second / 2 : 0);
    }
    std::optional<std::int64_t> distance;
    std::optional<std::int64_t> step;
    if (loop.counted) {
      distance = (loop.descending ? loop.first - loop.end : loop.end - loop.first).evaluate(values);
      step = loop.step.evaluate(values);
    }
    if (distance && step && *step != 0) {
      out = std::ceil(std::max(0.0, static_cast<double>(*distance)) /
                      std::abs(static_cast<double>(*step)));
    } else {
      out_.exact_trips = false;
      out = guess(loop);
    }
    trips_[&loop] = out;
    return out;
  }

  /// The loop runs over a row of an array whose size is known: its mean length.
  [[nodiscard]] double guess(const Loop& loop) const {
    for (const Access& access : facts_.accesses) {
      const bool own =
          std::find(access.loops.begin(), access.loops.end(), &loop) != access.loops.end();
      const double elements = elements_[static_cast<std::size_t>(access.array)];
      if (own && loop.counted && elements > 0 && access.index == Polynomial::name(loop.variable))
        return std::max(1.0, elements / std::max(1.0, active_));
    }
    return kGuessedTrips;
  }

  double repeats(const Stmt& stmt) {
    double out = 1;
    for (const Stmt* s = enclosing_loop(stmt); s != nullptr; s = enclosing_loop(*s)) {
      if (const Loop* loop = facts_.loop_of(*s)) out *= trips(*loop);
    }
    if (stmt.is_loop()) {
      if (const Loop* loop = facts_.loop_of(stmt)) out *= std::max(1.0, trips(*loop));
    }
    return out;
  }

  void count(const Access& access) {
    const Array& array = facts_.arrays[static_cast<std::size_t>(access.array)];
    if (array.space != Space::global || array.element_bytes == 0) return;
    double times = active_;
    for (const Loop* loop : access.loops) times *= trips(*loop);
    const double bytes = times * static_cast<double>(array.element_bytes) * access.vector_width;
    if (access.reads()) out_.loaded_bytes += bytes;
    if (access.writes()) out_.stored_bytes += bytes;
    touched_.resize(facts_.arrays.size() * 2, 0.0);
    const double whole = elements_[static_cast<std::size_t>(access.array)] *
                         static_cast<double>(array.element_bytes);
    for (const bool store : {false, true}) {
      if (store ? !access.writes() : !access.reads()) continue;
      double& touched = touched_[static_cast<std::size_t>(access.array) * 2 + (store ? 1 : 0)];
      touched += bytes;
      if (whole > 0) touched = std::min(touched, whole);
    }
  }

  void count_flops(const Expr& e, double times) {
    const bool arithmetic =
        e.kind == ExprKind::binary && (e.op == "+" || e.op == "-" || e.op == "*" || e.op == "/");
    const bool compound = e.kind == ExprKind::assign && e.op.size() == 2 &&
                          (e.op[0] == '+' || e.op[0] == '-' || e.op[0] == '*' || e.op[0] == '/');
    const std::string_view f = callee(e);
    const bool math =
        !f.empty() && is_pure_function(*facts_.unit, f) && facts_.unit->find_function(f) == nullptr;
    if (!arithmetic && !compound && !math) return;
    const auto dtype = dtype_of_type(type_of(facts_, e));
    if (!dtype || !info(*dtype).is_float) return;
    const bool fused = f == "fmaf" || f == "fma" || f == "__fmaf_rn" || f == "__hfma";
    const bool converts = f.find('2') != std::string_view::npos || f.starts_with("__ld") ||
                          f.find("_as_") != std::string_view::npos;
    if (!converts) out_.flops += fused ? 2 * times : times;
  }

  const KernelFacts& facts_;
  Bindings values_;
  std::vector<double> elements_;  // of each array, 0: unknown
  std::vector<double> touched_;   // bytes loaded and stored, two an array
  std::map<const Loop*, double> trips_;
  double active_ = 1;
  WorkEstimate out_;
};

}  // namespace

WorkEstimate KernelFacts::estimate(const Workload& workload) const {
  return Estimator(*this, workload).run();
}

bool KernelFacts::provably_nonnegative(const Polynomial& value,
                                       const std::vector<const Guard*>& at,
                                       const std::vector<const Loop*>& around) const {
  return nonnegative(*this, value, at, around) || nonnegative(*this, value, at, {});
}

}  // namespace warpath::model
