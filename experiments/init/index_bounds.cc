#include "experiments/init/index_bounds.h"

#include <algorithm>
#include <functional>

namespace warpath {

using model::Access;
using model::Atom;
using model::Guard;
using model::Loop;
using model::Polynomial;

namespace {

constexpr int kMostSteps = 64;
constexpr int kMostNesting = 8;
constexpr std::string_view kLoad = "load ";

bool is_thread(const std::string& name) {
  return name.starts_with("threadIdx.") || name.starts_with("blockIdx.");
}

bool grows(const Polynomial& factor) {
  return factor.is_known() && !factor.is_zero() && factor.has_only_positive_terms();
}

/// p / q where that is a polynomial.
std::optional<Polynomial> quotient(const Polynomial& p, const Polynomial& q) {
  if (const auto number = q.constant(); number && *number != 0) return p.divided_by(*number);
  const auto name = q.as_name();
  const bool whole = name && p.affine_in(*name) && p.without(*name).is_zero();
  return whole ? std::optional(p.coefficient_of(*name)) : std::nullopt;
}

/// `p` with the atom replaced; nullopt where it is no linear factor.
std::optional<Polynomial> with(const Polynomial& p,
                               const std::string& atom,
                               const Polynomial& value) {
  if (p.degree(atom) != 1) return std::nullopt;
  return p.coefficient_of(atom) * value + p.without(atom);
}

}  // namespace

std::string loaded_array(const Atom& atom) {
  return atom.op.starts_with(kLoad) ? atom.op.substr(kLoad.size()) : std::string();
}

bool IndexBounds::varies(const std::string& name, const Access& access) const {
  return is_thread(name) || std::ranges::any_of(access.loops, [&](const Loop* loop) {
           return loop->counted && loop->variable == name;
         });
}

std::size_t IndexBounds::varying(const Polynomial& p, const Access& access) const {
  std::size_t count = 0;
  for (const std::string& text : p.atoms()) {
    const Atom* const operation = p.operation_atom(text);
    if (operation == nullptr) {
      count += varies(text, access) ? 1U : 0U;
      continue;
    }
    const bool inside = std::ranges::any_of(operation->operands, [&](const Polynomial& operand) {
      return std::ranges::any_of(operand.names(),
                                 [&](const std::string& name) { return varies(name, access); });
    });
    count += inside || !loaded_array(*operation).empty() ? 1U : 0U;
  }
  return count;
}

/// Adds the multiple of a guard that leaves fewest varying terms: p <= p + c * guard.
bool IndexBounds::by_guard(Polynomial& p, const Access& access) const {
  std::vector<const Polynomial*> known;
  for (const Guard* const guard : access.guards) {
    for (const Polynomial& one : guard->nonnegative) known.push_back(&one);
  }
  for (const Polynomial& one : assumed_) known.push_back(&one);
  std::optional<Polynomial> best;
  std::size_t left = varying(p, access);
  for (const Polynomial* const guard : known) {
    for (const std::string& atom : guard->atoms()) {
      const Polynomial within = -guard->coefficient_of(atom), own = p.coefficient_of(atom);
      if (p.degree(atom) != 1 || guard->degree(atom) != 1 || !grows(within) || !grows(own))
        continue;
      std::optional<Polynomial> times;
      if (const auto number = within.constant()) times = own.divided_by(*number);
      if (own == within) times = Polynomial(1);
      if (!times || !grows(*times)) continue;
      Polynomial next = p + *times * *guard;
      const std::size_t now = varying(next, access);
      if (!next.is_known() || now >= left) continue;
      left = now;
      best = std::move(next);
    }
  }
  if (best) p = std::move(*best);
  return best.has_value();
}

/// The innermost loop's variable at its last value.
bool IndexBounds::by_loop(Polynomial& p, const Access& access) {
  for (auto it = access.loops.rbegin(); it != access.loops.rend(); ++it) {
    const Loop& loop = **it;
    if (!loop.counted || p.degree(loop.variable) == 0) continue;
    const bool up = grows(p.coefficient_of(loop.variable));
    const bool from_thread =
        std::ranges::any_of(loop.first.names(), [](const auto& name) { return is_thread(name); });
    const auto step = loop.step.constant();
    Polynomial last = loop.first;
    if (up != loop.descending) {
      for (const Atom* const operation : loop.end.operations()) {
        const bool begins_elsewhere = !loop.first.constant();  // from 0: a number of elements
        if (begins_elsewhere && !loaded_array(*operation).empty() &&
            loop.end.degree(operation->text) == 1)
          row_pointers_.insert(loaded_array(*operation));
      }
      const bool exact = !from_thread && !loop.descending;
      last = loop.descending ? loop.end + 1 : loop.end - (exact ? loop.step : Polynomial(1));
      if (exact && step && *step > 1) multiples_.insert(*step);
    }
    const auto next = with(p, loop.variable, last);
    if (!next) return false;
    p = *next;
    return true;
  }
  return false;
}

std::optional<Polynomial> IndexBounds::largest_of(const Atom& atom,
                                                  const Access& access,
                                                  int depth) {
  if (const std::string array = loaded_array(atom); !array.empty()) {
    const Polynomial range = Polynomial::name(range_name(array));
    return row_pointers_.contains(array) ? range : range - 1;
  }
  if (atom.operands.size() != 2) return std::nullopt;
  const auto constant = atom.operands[1].constant();
  const auto left = [&] { return largest(atom.operands[0], access, depth + 1); };
  if (atom.op == "%") return largest(atom.operands[1] - 1, access, depth + 1);
  if (atom.op == "&" && constant && *constant >= 0) return atom.operands[1];
  if (atom.op == "/" || atom.op == ">>" || atom.op == "<<") {
    auto value = left();
    if (!value) return std::nullopt;
    if (atom.op == "/") {  // (q * d - 1) / d is q - 1
      const auto whole = quotient(*value + 1, atom.operands[1]);
      return whole ? *whole - 1 : Polynomial::operation("/", {*value, atom.operands[1]});
    }
    if (!constant || *constant < 0 || *constant > 30) return std::nullopt;
    const Polynomial power(std::int64_t{1} << static_cast<unsigned>(*constant));
    return atom.op == "<<" ? *value * power : Polynomial::operation("/", {*value, power});
  }
  if (atom.op != "min" && atom.op != "max") return std::nullopt;
  // the one that depends on no thread says how far
  std::optional<Polynomial> fixed, other;
  for (const Polynomial& operand : atom.operands) {
    const bool free = varying(operand, access) > 0;
    auto& place = free || fixed ? other : fixed;
    if (const auto value = largest(operand, access, depth + 1)) place = value;
  }
  if (atom.op == "min") return fixed ? fixed : other;
  const bool at_most_zero = fixed && fixed->constant().value_or(1) <= 0;
  return at_most_zero ? other : std::nullopt;
}

bool IndexBounds::by_operation(Polynomial& p, const Access& access, int depth) {
  for (const std::string& text : p.atoms()) {
    const Atom* const operation = p.operation_atom(text);
    if (operation == nullptr) continue;
    const Polynomial factor = p.coefficient_of(text);
    const bool changes =
        varying(Polynomial::operation(operation->op, operation->operands), access) > 0 ||
        !loaded_array(*operation).empty();
    if (!changes) continue;
    std::optional<Polynomial> value;
    if (grows(factor)) value = largest_of(*operation, access, depth);
    if (grows(-factor)) value = Polynomial(0);  // quotients, remainders, loads of sizes
    const auto next = value ? with(p, text, *value) : std::nullopt;
    if (!next) continue;
    p = *next;
    return true;
  }
  return false;
}

/// Indices of threads and blocks at the launch's last.
bool IndexBounds::by_launch(Polynomial& p) {
  for (const std::string& name : p.atoms()) {
    if (!is_thread(name)) continue;
    const std::string extent =
        (name.starts_with("threadIdx") ? "blockDim" : "gridDim") + name.substr(name.find('.'));
    const bool up = grows(p.coefficient_of(name));
    const auto next = with(p, name, up ? Polynomial::name(extent) - 1 : Polynomial(0));
    if (!next) return false;
    p = *next;
    return true;
  }
  return false;
}

std::optional<Polynomial> IndexBounds::largest(Polynomial p, const Access& access, int depth) {
  if (depth > kMostNesting) return std::nullopt;
  for (int step = 0; step < kMostSteps && p.is_known(); ++step) {
    if (varying(p, access) == 0) {
      const bool sizes = std::ranges::all_of(p.names(), [&](const std::string& name) {
        const bool of_grid = std::ranges::any_of(
            assumed_, [&](const Polynomial& one) { return one.mentions(name); });
        return of_grid || facts_.kernel->parameter(name) != nullptr ||
               name.starts_with("blockDim.") || name.starts_with("gridDim.") ||
               name.starts_with('#');
      });
      if (!sizes) return std::nullopt;
      return p;
    }
    if (by_guard(p, access) || by_loop(p, access) || by_operation(p, access, depth) || by_launch(p))
      continue;
    return std::nullopt;
  }
  return std::nullopt;
}

std::optional<Polynomial> IndexBounds::end_of(const Access& access) {
  const auto last = largest(access.index + (access.vector_width - 1), access, 0);
  if (!last) return std::nullopt;
  return *last + 1;
}

std::vector<Polynomial> IndexBounds::shape_of(const Polynomial& elements, const Access& access) {
  const auto factors = [](const Polynomial& p) -> std::optional<std::vector<std::string>> {
    if (p.terms().size() != 1 || p.terms()[0].coefficient != 1) return std::nullopt;
    std::vector<std::string> out;
    for (const auto& factor : p.terms()[0].factors) {
      if (!factor->op.empty()) return std::nullopt;
      out.push_back(factor->text);
    }
    return out;
  };
  const auto product = [](const std::vector<std::string>& names) {
    Polynomial out(1);
    for (const std::string& name : names) out = out * Polynomial::name(name);
    return out;
  };
  auto left = factors(elements);
  if (!left || left->size() < 2) return {elements};
  std::vector<std::vector<std::string>> strides;
  for (const std::string& atom : access.index.atoms()) {
    const Polynomial stride = access.index.coefficient_of(atom);
    // of a tile's index only the names count: 16 * N is a stride of N
    for (const auto& term : stride.terms()) {
      std::vector<std::string> names;
      for (const auto& factor : term.factors) {
        if (factor->op.empty() && !factor->text.starts_with("blockDim"))
          names.push_back(factor->text);
      }
      strides.push_back(names);
    }
  }
  std::ranges::sort(strides, std::greater<>(), [](const auto& names) { return names.size(); });
  std::vector<Polynomial> out;
  for (const auto& stride : strides) {
    std::vector<std::string> outer = *left;
    const bool divides = !stride.empty() && stride.size() < outer.size() &&
                         std::ranges::all_of(
                             stride,
                             [&](const std::string& name) {
                               const auto at = std::ranges::find(outer, name);
                               if (at == outer.end()) return false;
                               outer.erase(at);
                               return true;
                             });
    if (!divides) continue;
    out.push_back(product(outer));
    left = stride;
  }
  out.push_back(product(*left));
  return out;
}

std::set<std::string> extents_of_points(const model::KernelFacts& facts, const std::string& axis) {
  std::set<std::string> out;
  const std::function<void(const Polynomial&)> look = [&](const Polynomial& p) {
    for (const Atom* const operation : p.operations()) {
      for (const Polynomial& operand : operation->operands) look(operand);
      if (operation->op != "/" && operation->op != "%") continue;
      const auto points = operation->operands[0].names();
      const bool of_loop = std::ranges::any_of(facts.loops, [&](const auto& loop) {
        return loop->counted && points.contains(loop->variable) &&
               loop->step.mentions("gridDim." + axis);
      });
      if (of_loop || points.contains("blockIdx." + axis)) out.merge(operation->operands[1].names());
    }
  };
  for (const Access& access : facts.accesses) look(access.index);
  return out;
}

}  // namespace warpath
