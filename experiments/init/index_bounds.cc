#include "experiments/init/index_bounds.h"

#include <algorithm>
#include <functional>
#include <iterator>

#include "experiments/init/index_sources.h"
#include "moves/model/value_reader.h"

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

/// Of `a & b` both, which hold together as those of `a && b` do.
std::vector<const model::Expr*> parts_of(const model::Expr& condition) {
  if (!condition.is_op(model::ExprKind::binary, "&")) return {&condition};
  std::vector<const model::Expr*> out = parts_of(condition.arg(0));
  for (const model::Expr* const one : parts_of(condition.arg(1))) out.push_back(one);
  return out;
}

/// min(a, b) + c gives a + c and b + c; otherwise nothing.
std::vector<Polynomial> ends_of(const Polynomial& end) {
  for (const std::string& text : end.atoms()) {
    const Atom* const operation = end.operation_atom(text);
    if (operation == nullptr || operation->op != "min" || end.coefficient_of(text).constant() != 1)
      continue;
    std::vector<Polynomial> out;
    for (const Polynomial& operand : operation->operands)
      if (const auto one = with(end, text, operand)) out.push_back(*one);
    return out;
  }
  return {};
}

}  // namespace

std::string loaded_array(const Atom& atom) {
  return atom.op.starts_with(kLoad) ? atom.op.substr(kLoad.size()) : std::string();
}

IndexBounds::IndexBounds(const model::KernelFacts& facts, std::vector<Polynomial> assumed)
    : facts_(facts),
      assumed_(std::move(assumed)),
      values_(declared_values(facts)),
      windows_(facts) {
  model::ValueReader reader(facts);
  for (const auto& loop : facts.loops) {
    const model::Stmt& stmt = *loop->stmt;
    if (loop->counted || stmt.is(model::StmtKind::do_) || stmt.expr == nullptr) continue;
    for (const model::Expr* const one : parts_of(*stmt.expr))
      reader.comparisons(*one, false, conditions_[loop.get()]);
  }
}

/// The same for all threads and at every place.
bool IndexBounds::is_size(const std::string& name) const {
  return facts_.kernel->parameter(name) != nullptr || is_launch_extent(name) ||
         name.starts_with('#') ||
         (!is_thread(name) &&
          std::ranges::any_of(assumed_, [&](const Polynomial& one) { return one.mentions(name); }));
}

bool IndexBounds::varies(const std::string& name, const Access& access) const {
  return !is_size(name) || std::ranges::any_of(access.loops, [&](const Loop* loop) {
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
  for (const Loop* const loop : access.loops) {
    const auto conditions = conditions_.find(loop);
    if (conditions == conditions_.end()) continue;
    for (const Polynomial& one : conditions->second) known.push_back(&one);
  }
  for (const Polynomial& one : assumed_) known.push_back(&one);
  std::optional<Polynomial> best;
  std::size_t left = varying(p, access);
  for (const Polynomial* const guard : known) {
    for (const std::string& atom : guard->atoms()) {
      const Polynomial within = -guard->coefficient_of(atom), own = p.coefficient_of(atom);
      if (p.degree(atom) != 1 || guard->degree(atom) != 1 || !windows_.positive(within) ||
          !windows_.positive(own))
        continue;
      std::optional<Polynomial> times;
      if (const auto number = within.constant()) times = own.divided_by(*number);
      if (own == within) times = Polynomial(1);
      if (!times || !windows_.positive(*times)) continue;
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
    const bool up = windows_.positive(p.coefficient_of(loop.variable));
    const bool from_thread =
        std::ranges::any_of(loop.first.names(), [](const auto& name) { return is_thread(name); });
    const auto step = loop.step.constant();
    Polynomial last = loop.first;
    if (up != loop.descending) {
      for (const Atom* const operation : loop.end.operations()) {
        const std::string array = loaded_array(*operation);  // row[i] to row[i + 1]
        const auto begins = loop.first.operations();
        const bool begins_there = std::ranges::any_of(
            begins, [&](const Atom* begin) { return loaded_array(*begin) == array; });
        if (!array.empty() && begins_there && loop.end.degree(operation->text) == 1 &&
            loop.first.degree(operation->text) == 0)
          row_pointers_.insert(array);
      }
      const bool exact = !from_thread && !loop.descending;
      last = loop.descending ? loop.end + 1 : loop.end - (exact ? loop.step : Polynomial(1));
      if (exact && step && *step > 1) multiples_.insert(*step);
    }
    auto next = with(p, loop.variable, last);
    for (const Polynomial& nearer : ends_of(last)) {  // below each of them
      auto other = with(p, loop.variable, nearer);
      const auto cost = [&](const Polynomial& one) {
        return std::pair(varying(one, access), one.terms().size());
      };
      if (next && other && cost(*other) < cost(*next)) next = other;
    }
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
  if (atom.op == "?:") return larger_of(atom.operands[1], atom.operands[2], access, depth);
  if (atom.operands.size() != 2) return std::nullopt;
  if (atom.op == "max") return larger_of(atom.operands[0], atom.operands[1], access, depth);
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
  if (atom.op != "min") return std::nullopt;
  // the one that depends on no thread says how far
  std::optional<Polynomial> fixed, other;
  for (const Polynomial& operand : atom.operands) {
    const bool free = varying(operand, access) > 0;
    auto& place = free || fixed ? other : fixed;
    if (const auto value = largest(operand, access, depth + 1)) place = value;
  }
  return fixed ? fixed : other;
}

/// Of two indices that are used in turn; one that is at most 0 is the smaller one.
std::optional<Polynomial> IndexBounds::larger_of(const Polynomial& a,
                                                 const Polynomial& b,
                                                 const Access& access,
                                                 int depth) {
  const auto one = largest(a, access, depth + 1), other = largest(b, access, depth + 1);
  if (!one || !other) return std::nullopt;
  if (one->constant().value_or(1) <= 0) return other;
  if (other->constant().value_or(1) <= 0 || *one == *other) return one;
  return Polynomial::operation("max", {*one, *other});
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
    if (windows_.positive(factor)) value = largest_of(*operation, access, depth);
    if (windows_.positive(-factor)) value = Polynomial(0);  // quotients, remainders, loads of sizes
    const auto next = value ? with(p, text, *value) : std::nullopt;
    if (!next) continue;
    p = *next;
    return true;
  }
  return false;
}

/// Locals as what they are set to.
bool IndexBounds::by_declaration(Polynomial& p, const Access& access) const {
  for (const std::string& name : p.atoms()) {
    const auto declared = values_.find(name);
    if (declared == values_.end() || declared->second == nullptr || !varies(name, access)) continue;
    const auto value = rounded_value(facts_, *declared->second);
    const auto next = value && !value->mentions(name) ? with(p, name, *value) : std::nullopt;
    if (!next) continue;
    p = *next;
    return true;
  }
  return false;
}

/// Indices of threads and blocks at the launch's last.
bool IndexBounds::by_launch(Polynomial& p) const {
  for (const std::string& name : p.atoms()) {
    if (!is_thread(name)) continue;
    const std::string extent =
        (name.starts_with("threadIdx") ? "blockDim" : "gridDim") + name.substr(name.find('.'));
    const Polynomial own = p.coefficient_of(name);
    const bool up = windows_.positive(own);
    if (!up && !windows_.positive(-own)) return false;
    const auto next = with(p, name, up ? Polynomial::name(extent) - 1 : Polynomial(0));
    if (!next) return false;
    p = *next;
    return true;
  }
  return false;
}

/// The pointer is set nowhere but at the top of a loop over the grid's points.
bool IndexBounds::moves_with_points(const std::string& pointer, const Access& access) const {
  const auto points = std::ranges::find_if(access.loops, [](const Loop* loop) {
    return loop->counted && std::ranges::any_of(loop->step.names(), [](const std::string& name) {
             return name.starts_with("gridDim.");
           });
  });
  if (points == access.loops.end()) return false;
  bool out = true;
  model::walk_expressions(*facts_.kernel->body, [&](const model::Expr& e) {
    const bool sets = e.is(model::ExprKind::assign) || e.is(model::ExprKind::postfix) ||
                      e.is_op(model::ExprKind::unary, "++") ||
                      e.is_op(model::ExprKind::unary, "--") || e.is_op(model::ExprKind::unary, "&");
    if (sets && e.arg(0).is_name(pointer))
      out = out && e.stmt != nullptr && e.stmt->parent == (*points)->stmt->body;
    return out;
  });
  return out;
}

std::optional<Polynomial> IndexBounds::largest(Polynomial p, const Access& access, int depth) {
  if (depth > kMostNesting) return std::nullopt;
  const std::string& array = facts_.arrays[static_cast<std::size_t>(access.array)].name;
  if (moves_with_points(array, access)) {  // a thread has one, and nothing has moved before it
    for (const std::string& name : p.atoms())
      if (name.starts_with(array + "_offset'")) p = p.substituted(name, 0);
  }
  for (int step = 0; step < kMostSteps && p.is_known(); ++step) {
    if (varying(p, access) == 0) return p;
    if (by_guard(p, access) || by_loop(p, access) || by_declaration(p, access) ||
        by_operation(p, access, depth) || by_launch(p))
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

std::optional<std::set<std::string>> IndexBounds::sizes_behind(const Access& access) const {
  return sizes_behind_index(facts_, values_, assumed_, access);
}

std::optional<Polynomial> IndexBounds::extent_beside(const Access& access,
                                                     const Polynomial& stride) {
  for (const std::string& atom : access.index.atoms()) {
    const Atom* const operation = access.index.operation_atom(atom);
    if (operation != nullptr || !(access.index.coefficient_of(atom) == stride)) continue;
    const auto last =
        varies(atom, access) ? largest(Polynomial::name(atom), access, 0) : std::nullopt;
    const auto names = last ? last->names() : std::set<std::string>{};
    if (std::ranges::any_of(names, [](const auto& name) { return name.starts_with('#'); }))
      continue;
    if (!names.empty()) return *last + 1;
  }
  return std::nullopt;
}

std::map<std::string, Polynomial> IndexBounds::strides() {
  std::set<std::string> other;  // used in another way
  const auto note = [&](const Polynomial& p) { other.merge(p.names()); };
  for (const auto& guard : facts_.guards) std::ranges::for_each(guard->nonnegative, note);
  for (const auto& [loop, conditions] : conditions_) std::ranges::for_each(conditions, note);
  std::ranges::for_each(assumed_, note);
  for (const auto& loop : facts_.loops) {
    if (loop->counted) note(loop->first), note(loop->end), note(loop->step);
  }
  for (const Access& access : facts_.accesses) {
    for (const Atom* const operation : access.index.operations())
      std::ranges::for_each(operation->operands, note);
  }
  std::set<std::string> factors;
  for (const Access& access : facts_.accesses) factors.merge(access.index.atoms());
  const auto is_pure = [&](const std::string& name) {
    const model::Declarator* const parameter = facts_.kernel->parameter(name);
    return parameter != nullptr && !parameter->points() && factors.contains(name) &&
           !other.contains(name);
  };
  const auto place_of = [&](const std::string& name) {
    return std::ranges::find(facts_.kernel->parameters, name, &model::Declarator::name) -
           facts_.kernel->parameters.begin();
  };
  std::map<std::string, Polynomial> out;
  for (const Access& access : facts_.accesses) {
    std::map<std::set<std::string>, Polynomial> parts;  // of the index, by the strides in them
    for (const auto& term : access.index.terms()) {
      std::set<std::string> own;
      Polynomial rest(term.coefficient);
      for (const auto& factor : term.factors) {
        const bool stride = factor->op.empty() && is_pure(factor->text);
        if (stride)
          own.insert(factor->text);
        else if (factor->op.empty())
          rest = rest * Polynomial::name(factor->text);
        else
          rest = rest * Polynomial::operation(factor->op, factor->operands);
      }
      parts[own] += rest;
    }
    std::erase_if(parts, [&](const auto& part) {
      return !part.first.empty() && varying(part.second, access) == 0;  // an offset
    });
    const bool nested =
        std::ranges::any_of(parts, [](const auto& part) { return part.first.size() > 1; });
    std::vector<std::set<std::string>> outwards;
    for (const auto& [own, part] : parts) outwards.push_back(own);
    std::ranges::stable_sort(outwards, {}, [&](const std::set<std::string>& own) {
      const auto at = [&](const std::string& name) { return place_of(name); };
      return nested || own.empty() ? static_cast<std::ptrdiff_t>(own.size())
                                   : 1000 - at(*own.begin());
    });
    Polynomial extent = 1;
    std::set<std::string> within;
    for (const std::set<std::string>& own : outwards) {
      std::vector<std::string> added;
      std::ranges::set_difference(own, within, std::back_inserter(added));
      const bool sizes = std::ranges::none_of(extent.names(), [&](const std::string& name) {
        return name.starts_with('#') || is_pure(name);
      });
      if (added.size() > 1 || (nested && own.size() < within.size() + added.size())) break;
      Polynomial times = 1;  // sizes that are multiplied by the stride
      for (const std::string& name : parts.at(own).atoms()) {
        const bool whole = parts.at(own).without(name).is_zero();
        if (whole && is_size(name)) times = times * Polynomial::name(name);
      }
      if (!times.constant()) extent = Polynomial::operation("/", {extent + times - 1, times});
      if (added.size() == 1 && sizes) out.try_emplace(added[0], extent);
      const auto last = largest(parts.at(own), access, 0);
      if (!last) break;
      extent = nested ? *last + 1 : extent * (*last + 1);
      if (nested) within = own;
    }
  }
  return out;
}

std::vector<Polynomial> IndexBounds::shape_of(const Polynomial& elements,
                                              const Access& access) const {
  if (auto windows = windows_.shape_of(elements, access.index)) return *windows;
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
  model::ValueReader reader(facts);  // i / H * H + i % H has no H any more
  for (const auto& [name, value] : declared_values(facts))
    if (value != nullptr) look(reader.read(*value).full);
  return out;
}

}  // namespace warpath
