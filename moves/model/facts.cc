#include "moves/model/facts.h"

#include <algorithm>
#include <array>
#include <utility>

#include "engine/base/error.h"
#include "engine/spec/parameters.h"
#include "moves/model/facts_state.h"
#include "moves/model/value_reader.h"
#include "moves/syntax/syntax_query.h"
#include "moves/syntax/words.h"

namespace warpath::model {
namespace {

constexpr auto kAxes = std::to_array<std::string_view>({"x", "y", "z"});

/// The spec's argument behind each parameter: those that are passed, in order.
const ArgSpec* argument_of(const FactSources& sources,
                           const Function& kernel,
                           const Declarator& parameter) {
  if (sources.spec == nullptr) return nullptr;
  std::size_t at = 0;
  while (at < kernel.parameters.size() && kernel.parameters[at] != &parameter) ++at;
  const std::vector<const ArgSpec*> passed = parameter_arguments(*sources.spec);
  return at < passed.size() ? passed[at] : nullptr;
}

void note_launch(KernelFacts& facts) {
  KernelFacts::State& state = *facts.state;
  if (state.sources.variant == nullptr) return;
  Bindings known;
  for (const auto& [name, value] : state.sources.variant->tunables) known.emplace(name, value);
  const LaunchPlan& plan = state.sources.variant->launch;
  const auto note = [&](const std::array<Expression, 3>& extents, const std::string& what) {
    for (std::size_t i = 0; i < 3; ++i) {
      const auto names = extents[i].names();
      if (!std::all_of(names.begin(), names.end(),
                       [&](const std::string& n) { return known.contains(n); }))
        continue;
      try {
        state.launch_constants.emplace(what + "." + std::string(kAxes[i]),
                                       extents[i].evaluate(known, "launch"));
      } catch (const Error&) {
        continue;  // a division by zero in a plan that another check reports
      }
    }
  };
  note(plan.block, "blockDim");
  note(plan.grid, "gridDim");
}

bool names_a_thread(std::string_view name) {
  return name.starts_with("threadIdx") || name.starts_with("blockIdx");
}

bool of_thread(const Polynomial& p) {
  return std::ranges::any_of(p.terms(), [](const Polynomial::Term& term) {
    return std::ranges::any_of(term.factors, [](const auto& factor) {
      return (factor->op.empty() && names_a_thread(factor->text)) ||
             std::ranges::any_of(factor->operands, of_thread);
    });
  });
}

/// What guards say of threads' indices, in order: for each the polynomials that name one.
using ThreadGuards = std::vector<std::pair<const Guard*, std::vector<const Polynomial*>>>;

ThreadGuards guards_of_threads(const KernelFacts& facts) {
  ThreadGuards out;
  for (const auto& guard : facts.guards) {
    std::vector<const Polynomial*> said;
    for (const Polynomial& p : guard->nonnegative) {
      if (p.is_known() && of_thread(p)) said.push_back(&p);
    }
    if (!said.empty()) out.emplace_back(guard.get(), std::move(said));
  }
  return out;
}

/// The exclusive upper bounds of `value` that polynomials say which are at least 0.
std::vector<Polynomial> bounds_of(const Polynomial& value,
                                  const std::vector<const Polynomial*>& said) {
  std::vector<Polynomial> out;
  const Polynomial least = value + 1;
  for (const Polynomial* p : said) {
    Polynomial rest = *p + least;
    if (rest.is_known() && !of_thread(rest)) out.push_back(std::move(rest));
  }
  return out;
}

/// Nothing outside the bound reaches global memory: every access there that stores, or that depends
/// on `value`'s thread, stands under a guard which says as much. A kernel whose other threads load
/// or store something may not be run with more of them.
bool covers_kernel(const KernelFacts& facts,
                   const ThreadGuards& guards,
                   const Polynomial& value,
                   const Polynomial& bound) {
  std::set<const Guard*> enough;  // whose bound is no greater
  for (const auto& [guard, said] : guards) {
    const bool all = std::ranges::any_of(bounds_of(value, said), [&](const Polynomial& other) {
      const auto slack = (bound - other).constant();
      return slack && *slack >= 0;
    });
    if (all) enough.insert(guard);
  }
  std::vector<std::string> own;
  for (const std::string& name : value.names()) {
    if (names_a_thread(name)) own.push_back(name);
  }
  return std::all_of(facts.accesses.begin(), facts.accesses.end(), [&](const Access& access) {
    if (facts.arrays[static_cast<std::size_t>(access.array)].space != Space::global) return true;
    const bool depends = !access.index.is_known() ||
                         std::any_of(own.begin(), own.end(), [&](const std::string& name) {
                           return access.index.mentions(name);
                         });
    if (!access.writes() && !depends) return true;
    return std::ranges::any_of(access.guards,
                               [&](const Guard* guard) { return enough.contains(guard); });
  });
}

/// The launch has a thread for every value of `index` below the bound, as far as the workloads say.
bool launch_reaches(const KernelFacts& facts, const ThreadIndex& thread, const Polynomial& bound) {
  const Polynomial& index = thread.value;
  const std::string axis_name(kAxes[static_cast<std::size_t>(thread.axis)]);
  // a part of the thread's index is less than the step from one block to the next
  const bool of_block =
      !index.mentions("threadIdx." + axis_name) || !index.affine_in("threadIdx." + axis_name);
  const std::string counted = (of_block ? "blockIdx." : "threadIdx.") + axis_name;
  if (!index.affine_in(counted)) return true;
  const Polynomial step = index.coefficient_of(counted);
  const FactSources& sources = facts.state->sources;
  if (sources.spec == nullptr || sources.variant == nullptr) return true;
  const std::vector<Workload>& all = sources.spec->workloads;
  const auto is_of_host = [](const Workload& w) { return w.target == WorkloadTarget::host; };
  const bool host_alone = std::ranges::all_of(all, is_of_host);
  return std::ranges::all_of(all, [&](const Workload& workload) {
    // sizes that a device's kernel was made for are none of the host's
    if (is_of_host(workload) && !host_alone) return true;
    if (!serves(*sources.spec, *sources.variant, workload)) return true;
    Bindings values = facts.values(workload);
    const auto set_last = [&](const std::string& place, const std::string& extent) {
      const auto known = values.find(extent);
      if (known != values.end()) values.insert_or_assign(place, known->second - 1);
    };
    for (const std::string_view axis : kAxes) {
      set_last("threadIdx." + std::string(axis), "blockDim." + std::string(axis));
      set_last("blockIdx." + std::string(axis), "gridDim." + std::string(axis));
    }
    if (of_block) {
      for (const std::string_view axis : kAxes)
        values.insert_or_assign("threadIdx." + std::string(axis), 0);
    }
    const auto next = (index + step).evaluate(values), end = bound.evaluate(values);
    return !next || !end || *next >= *end;
  });
}

void find_thread_indices(KernelFacts& facts) {
  const ThreadGuards guards = guards_of_threads(facts);
  walk(*facts.kernel->body, [&](const Stmt& s) {
    for (const Declarator* d : s.declarators) {
      if (d->is_pointer() || d->is_array() || d->value() == nullptr ||
          facts.state->write_counts.contains(d))
        continue;
      ThreadIndex out;
      out.name = std::string(d->name);
      out.declarator = d;
      out.value = facts.polynomial(*d->value());
      bool any = false;
      for (int axis = 0; axis < 3; ++axis) {
        const std::string a(kAxes[static_cast<std::size_t>(axis)]);
        const std::string thread = "threadIdx." + a;
        const std::string block = "blockIdx." + a;
        if (!out.value.mentions(thread) && !out.value.mentions(block)) continue;
        any = true;
        out.axis = axis;
        const Polynomial extent = facts.resolved(Polynomial::name("blockDim." + a));
        const Polynomial global =
            facts.resolved(Polynomial::name(block)) * extent + Polynomial::name(thread);
        if (out.value == Polynomial::name(thread)) out.form = ThreadIndex::Form::thread;
        if (out.value == Polynomial::name(block)) out.form = ThreadIndex::Form::block;
        if (facts.resolved(out.value) == global) out.form = ThreadIndex::Form::global;
        if (out.form != ThreadIndex::Form::other) break;
      }
      if (!any) continue;
      for (const auto& [guard, said] : guards) {
        if (out.bound || guard->condition->span.begin < d->span.begin) continue;
        // a part of a condition holds only behind it, in the condition itself
        if (guard->stmt == nullptr || !guard->stmt->is(StmtKind::if_) ||
            guard->stmt->expr != guard->condition)
          continue;
        for (const Polynomial& bound : bounds_of(out.value, said)) {
          const bool reaches = launch_reaches(facts, out, bound);
          out.beyond_launch = out.beyond_launch || !reaches;
          if (!reaches || !covers_kernel(facts, guards, out.value, bound)) continue;
          out.bound = bound;
          out.guard = guard;
          break;
        }
      }
      if (out.bound) out.beyond_launch = false;
      facts.thread_indices.push_back(std::move(out));
    }
    return true;
  });
}

}  // namespace

KernelFacts::KernelFacts() : state(std::make_unique<State>()) {}
KernelFacts::KernelFacts(KernelFacts&&) noexcept = default;
KernelFacts& KernelFacts::operator=(KernelFacts&&) noexcept = default;
KernelFacts::~KernelFacts() = default;

int array_of(KernelFacts& facts, const Declarator& d) {
  const auto [found, fresh] =
      facts.state->arrays.try_emplace(&d, static_cast<int>(facts.arrays.size()));
  if (!fresh) return found->second;
  const Unit& unit = *facts.unit;
  Array out;
  out.name = std::string(d.name);
  out.declarator = &d;
  out.is_parameter = d.is_parameter;
  out.type = unit.resolved_type(unit.plain_text(d.type));
  if (d.pointer_depth > 1 || (d.is_array() && d.is_pointer())) out.type += "*";
  out.dtype = dtype_of_type(out.type);
  out.element_bytes = out.type.ends_with('*') ? 8 : size_of_type(out.type);
  out.space = d.has(kShared)                                             ? Space::shared
              : d.has(kConstant)                                         ? Space::constant
              : d.is_array() && d.function != nullptr && !d.is_parameter ? Space::local
                                                                         : Space::global;
  out.is_const = d.has(kConst) || d.has(kConstexpr);
  out.is_restrict = ((d.pointer_qualifiers | d.qualifiers) & kRestrict) != 0;
  out.dynamic_shared = d.has(kShared) && d.has(kExtern);
  for (const Expr* e : d.extents) {
    ValueReader reader(facts);
    const auto constant = e == nullptr ? std::nullopt : constant_value(unit, *e);
    const bool tunable =
        e != nullptr && std::any_of(unit.bindings().begin(), unit.bindings().end(),
                                    [&](const auto& b) { return mentions(*e, b.first); });
    out.extents.push_back(e == nullptr           ? Polynomial::unknown()
                          : constant && !tunable ? Polynomial(*constant)
                                                 : reader.read(*e).full);
  }
  if (out.space == Space::shared || out.space == Space::local)
    out.alignment_bytes = static_cast<std::int64_t>(out.element_bytes);
  if (const ArgSpec* argument =
          d.is_parameter ? argument_of(facts.state->sources, *facts.kernel, d) : nullptr;
      // a pointer where the spec has a scalar is none of its arrays
      argument != nullptr && argument->tensor) {
    out.spec_name = argument->name;
    out.alignment_bytes = argument->tensor->alignment_bytes;
  }
  facts.arrays.push_back(std::move(out));
  return found->second;
}

namespace {

/// A load that the walk took for one of memory that nothing writes is of memory that it found
/// written later.
bool relied_on_written(const KernelFacts& facts) {
  const KernelFacts::State& state = *facts.state;
  const auto index_of = [&](const Declarator* array) {
    const auto found = state.arrays.find(array);
    return found == state.arrays.end() ? -1 : found->second;
  };
  return std::ranges::any_of(state.trusted_arrays, [&](const Declarator* trusted) {
    const int own = index_of(trusted);
    return std::ranges::any_of(state.written_arrays, [&](const Declarator* written) {
      const int other = index_of(written);
      return written == trusted || (own >= 0 && other >= 0 && facts.may_alias(own, other));
    });
  });
}

}  // namespace

KernelFacts analyse(const Unit& unit, const Function& kernel, const FactSources& sources) {
  std::set<const Declarator*> written;
  for (bool again = false;; again = true) {
    KernelFacts facts;
    facts.unit = &unit;
    facts.kernel = &kernel;
    facts.state->sources = sources;
    facts.state->written_arrays = written;
    note_launch(facts);
    if (kernel.body == nullptr) {
      facts.veto = "no body";
      return facts;
    }
    resolve_names(facts);
    walk_kernel(facts);
    if (!again && relied_on_written(facts)) {  // known to be written from the start now
      written = facts.state->written_arrays;
      continue;
    }
    facts.has_opaque = !kernel.opaque.empty() || kernel.unresolved_conditionals;
    find_uniformity(facts);
    classify_loops(facts);
    find_thread_indices(facts);
    facts.veto = find_veto(facts);
    return facts;
  }
}

const Array* KernelFacts::array(std::string_view name) const {
  const int at = array_index(name);
  return at < 0 ? nullptr : &arrays[static_cast<std::size_t>(at)];
}

int KernelFacts::array_index(std::string_view name) const {
  for (std::size_t i = 0; i < arrays.size(); ++i) {
    if (arrays[i].name == name) return static_cast<int>(i);
  }
  return -1;
}

const Loop* KernelFacts::loop_of(const Stmt& stmt) const {
  const auto found = state->loops.find(&stmt);
  return found == state->loops.end() ? nullptr : found->second;
}

std::vector<const Access*> KernelFacts::accesses_in(const Stmt& stmt) const {
  std::vector<const Access*> out;
  for (const Access& access : accesses) {
    if (stmt.span.contains(access.expr->span)) out.push_back(&access);
  }
  return out;
}

std::vector<const Access*> KernelFacts::accesses_to(int wanted) const {
  std::vector<const Access*> out;
  for (const Access& access : accesses) {
    if (access.array == wanted) out.push_back(&access);
  }
  return out;
}

const Access* KernelFacts::access_of(const Expr& subscript) const {
  const auto found = state->access_of.find(&subscript);
  return found == state->access_of.end() ? nullptr
                                         : &accesses[static_cast<std::size_t>(found->second)];
}

std::vector<const Guard*> KernelFacts::guards_at(const Stmt& stmt) const {
  const auto found = state->guards.find(&stmt);
  return found == state->guards.end() ? std::vector<const Guard*>{} : found->second;
}

const ThreadIndex* KernelFacts::thread_index(std::string_view name) const {
  for (const ThreadIndex& index : thread_indices) {
    if (index.name == name) return &index;
  }
  return nullptr;
}

Polynomial KernelFacts::polynomial(const Expr& expr) const {
  const Value value = ValueReader(*this).read(expr);
  return value.is_pointer() ? Polynomial::unknown() : value.full;
}

Polynomial KernelFacts::source_polynomial(const Expr& expr) const {
  const Value value = ValueReader(*this).read(expr);
  return value.is_pointer() ? Polynomial::unknown() : value.source;
}

Polynomial KernelFacts::resolved(const Polynomial& value) const {
  const std::array<const Bindings*, 2> fixed{&state->launch_constants, &unit->bindings()};
  Bindings known;
  for (const std::string& name : value.names()) {
    const Bindings* of = nullptr;
    for (const Bindings* const one : fixed) {
      if (of == nullptr && one->contains(name)) of = one;
    }
    if (of != nullptr) {
      known.emplace(name, of->at(name));
      continue;
    }
    // constants of the body keep their names in source polynomials
    const auto named = state->by_name.find(name);
    const Declarator* const only = named == state->by_name.end() ? nullptr : named->second;
    if (only == nullptr || !only->is_constant() || only->value() == nullptr || only->is_array())
      continue;
    if (const auto number = constant_value(*unit, *only->value())) known.emplace(name, *number);
  }
  // operations are built again wherever anything is known
  for (const Bindings* const one : fixed) {
    if (known.empty() && !one->empty()) known.insert(*one->begin());
  }
  return value.bound(known);
}

Bindings KernelFacts::values(const Workload& workload) const {
  Bindings out = unit->constants();
  const KernelSpec* spec = state->sources.spec;
  if (spec == nullptr) return out;
  TunableValues tunables;
  if (state->sources.variant != nullptr) tunables = state->sources.variant->tunables;
  for (const auto& [name, value] : tunables) out.insert_or_assign(name, value);
  const Bindings scalars = spec->bindings(workload, tunables);
  for (const Declarator* p : kernel->parameters) {
    const ArgSpec* argument = argument_of(state->sources, *kernel, *p);
    if (argument == nullptr) continue;
    if (const auto found = scalars.find(argument->name); found != scalars.end())
      out.insert_or_assign(std::string(p->name), found->second);
  }
  if (state->sources.variant == nullptr) return out;
  try {
    const LaunchNumbers numbers =
        evaluate(launch_for(*spec, *state->sources.variant, workload), scalars, "launch");
    for (std::size_t i = 0; i < 3; ++i) {
      out.insert_or_assign("blockDim." + std::string(kAxes[i]), numbers.block[i]);
      out.insert_or_assign("gridDim." + std::string(kAxes[i]), numbers.grid[i]);
    }
  } catch (const Error&) {
    return out;  // a plan that fails for this workload: its numbers stay unknown
  }
  return out;
}

Bindings KernelFacts::multiples() const {
  Bindings out;
  if (state->sources.spec == nullptr) return out;
  for (const Expression& constraint : state->sources.spec->constraints) {
    const Unit piece = parse("bool value = (" + constraint.text() + ");");
    if (piece.globals().size() != 1 || piece.globals()[0]->value() == nullptr) continue;
    std::vector<const Expr*> conjuncts{piece.globals()[0]->value()};
    while (!conjuncts.empty()) {
      const Expr& e = *conjuncts.back();
      conjuncts.pop_back();
      if (e.kind == ExprKind::binary && (e.op == "and" || e.op == "&&")) {
        conjuncts.push_back(e.args[0]);
        conjuncts.push_back(e.args[1]);
      } else if (e.is_op(ExprKind::binary, "==") && e.arg(0).is_op(ExprKind::binary, "%") &&
                 e.arg(0).arg(0).kind == ExprKind::name && e.arg(1).kind == ExprKind::number &&
                 e.arg(1).name == "0") {
        const auto divisor = constant_value(piece, e.arg(0).arg(1), unit->bindings());
        if (!divisor || *divisor <= 0) continue;
        for (const Declarator* p : kernel->parameters) {
          const ArgSpec* argument = argument_of(state->sources, *kernel, *p);
          if (argument == nullptr || argument->name != e.arg(0).arg(0).name) continue;
          std::int64_t& known = out.try_emplace(std::string(p->name), 1).first->second;
          known = std::max(known, *divisor);
        }
      }
    }
  }
  return out;
}

bool KernelFacts::may_alias(int a, int b) const {
  if (a == b) return true;
  const Array& x = arrays[static_cast<std::size_t>(a)];
  const Array& y = arrays[static_cast<std::size_t>(b)];
  const auto followed = [](const Array& array) {
    return array.declarator != nullptr && (array.is_parameter || array.space != Space::global ||
                                           array.declarator->function == nullptr);
  };
  if (x.dynamic_shared && y.dynamic_shared) return true;  // all begin at the same byte
  if (!followed(x) || !followed(y)) return true;
  if (!x.is_parameter || !y.is_parameter) return false;
  if (state->sources.spec == nullptr) {
    return !state->sources.parameters_apart && !x.is_restrict && !y.is_restrict;
  }
  if (x.spec_name.empty() || y.spec_name.empty()) return true;
  for (const auto& group : state->sources.spec->io.may_alias) {
    const bool both = std::find(group.begin(), group.end(), x.spec_name) != group.end() &&
                      std::find(group.begin(), group.end(), y.spec_name) != group.end();
    if (both) return true;
  }
  return false;
}

}  // namespace warpath::model
