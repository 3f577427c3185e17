#include "moves/model/expression_walker.h"

#include <algorithm>

#include "moves/syntax/argument_effects.h"
#include "moves/syntax/syntax_query.h"
#include "moves/syntax/words.h"

namespace warpath::model {
namespace {

constexpr std::size_t kMostAccesses = 20000;

bool is_barrier(std::string_view name) {
  return name == "__syncthreads" || name == "__syncthreads_or" || name == "__syncthreads_and" ||
         name == "__syncthreads_count" || name == "__barrier_sync";
}
bool is_warp_op(std::string_view name) {
  return name.starts_with("__shfl") || name.starts_with("__ballot") || name.starts_with("__any") ||
         name.starts_with("__all") || name.starts_with("__syncwarp") ||
         name.starts_with("__activemask") || name.starts_with("__match") ||
         name.starts_with("__reduce_") || name == "cudaGridDependencySynchronize" ||
         name == "cudaTriggerProgrammaticLaunchCompletion";
}
bool is_harmless(std::string_view name) {
  return name.starts_with("__threadfence") || name.starts_with("__builtin_assume") ||
         name == "__builtin_expect" || name == "assert" || name == "static_assert" ||
         name == "__cvta_generic_to_shared" || name == "__nanosleep" || name == "clock" ||
         name == "clock64" || name == "__builtin_unreachable" || name == "__trap" ||
         name == "__isShared" || name == "__isGlobal";
}
/// `(T*)&v + i`, `(T*)&v - i`
bool steps_from_address(const Expr& e) {
  if (!e.is_op(ExprKind::binary, "+") && !e.is_op(ExprKind::binary, "-")) return false;
  const Expr* from = &e.arg(0);
  while (from->is(ExprKind::cast) && from->args.size() == 1) from = from->args[0];
  return from->is_op(ExprKind::unary, "&");
}
bool is_store_intrinsic(std::string_view name) {
  return name == "__stcs" || name == "__stcg" || name == "__stwb" || name == "__stwt";
}

}  // namespace

void ExpressionWalker::visit_quietly(const Expr& e) {
  walk(e, [&](const Expr& inner) {
    note_name(inner);
    return true;
  });
}

void ExpressionWalker::note_name(const Expr& e) {
  if (e.kind != ExprKind::name) return;
  const auto declared = at_.state.declared.find(&e);
  if (declared != at_.state.declared.end())
    at_.state.values[&e] = at_.variables.value_of(*declared->second);
}

void ExpressionWalker::visit(const Expr& e, Mode mode) {
  switch (e.kind) {
    case ExprKind::name:
      note_name(e);
      return;
    case ExprKind::assign:
      assignment(e);
      return;
    case ExprKind::subscript:
      for (std::size_t i = 1; i < e.args.size(); ++i) visit(e.arg(i), Mode::read);
      visit(e.arg(0), is_row(e) ? Mode::none : Mode::read);
      if (mode != Mode::none) access(e, mode);
      return;
    case ExprKind::unary:
      if (e.args.empty()) return;
      if (e.op == "*") {
        visit(e.arg(0), Mode::read);
        if (mode != Mode::none) access(e, mode);
      } else if (e.op == "&") {
        visit(e.arg(0), Mode::none);
      } else if (e.op == "++" || e.op == "--") {
        visit(e.arg(0), Mode::read_write);
        bumped(e);
      } else {
        visit(e.arg(0), Mode::read);
      }
      return;
    case ExprKind::postfix:
      visit(e.arg(0), e.op == "..." ? mode : Mode::read_write);
      if (e.op != "...") bumped(e);
      return;
    case ExprKind::member:
      visit(e.arg(0), e.op == "." ? mode : Mode::read);
      return;
    case ExprKind::binary:
      visit(e.arg(0), Mode::read);
      logical(e);
      return;
    case ExprKind::conditional:
      conditional(e);
      return;
    case ExprKind::call:
      call(e, mode);
      return;
    case ExprKind::lambda:
    case ExprKind::statement:
    case ExprKind::launch:
    case ExprKind::opaque:
    case ExprKind::new_object:
      unknown_call(std::string(name(e.kind)), e.span);
      return;
    case ExprKind::cast:
      if (e.args.size() == 1) {
        visit(e.arg(0), mode);
        if (makes_object(e)) escape(e.arg(0));
        return;
      }
      [[fallthrough]];
    case ExprKind::init_list:
      for (const Expr* arg : e.args) {
        visit(*arg, Mode::read);
        escape(*arg);  // into an object
      }
      return;
    default:
      for (const Expr* arg : e.args) visit(*arg, Mode::read);
      return;
  }
}

/// A cast to a class: neither a number nor a pointer.
bool ExpressionWalker::makes_object(const Expr& cast) const {
  const std::string type = at_.unit.resolved_type(plain_type(cast));
  return type.find_first_of("*&") == std::string::npos && size_of_type(type) == 0;
}

/// The base of a subscript that is a row of an array with more dimensions is no access of its own.
bool ExpressionWalker::is_row(const Expr& e) const {
  return e.arg(0).kind == ExprKind::subscript || e.arg(0).kind == ExprKind::cast;
}

void ExpressionWalker::logical(const Expr& e) {
  const bool both = e.op == "&&" || e.op == "and";
  const bool either = e.op == "||" || e.op == "or";
  if (both || either) {
    at_.add_guard(e.arg(0), either, *e.stmt);
    visit(e.arg(1), Mode::read);
    at_.guards.pop_back();
  } else {
    visit(e.arg(1), Mode::read);
  }
}

void ExpressionWalker::conditional(const Expr& e) {
  visit(e.arg(0), Mode::read);
  for (const bool negated : {false, true}) {
    at_.add_guard(e.arg(0), negated, *e.stmt);
    visit(e.arg(negated ? 2 : 1), Mode::read);
    at_.guards.pop_back();
  }
}

void ExpressionWalker::assignment(const Expr& e) {
  visit(e.arg(1), Mode::read);
  visit(e.arg(0), e.op == "=" ? Mode::write : Mode::read_write);
  if (e.arg(0).kind != ExprKind::name) {
    if (e.arg(0).kind == ExprKind::member || e.arg(0).kind == ExprKind::cast) changed(e.arg(0));
    escape_if_pointer(e.arg(1), e.arg(0));
    return;
  }
  const auto declared = at_.state.declared.find(&e.arg(0));
  if (declared == at_.state.declared.end()) return;
  const Declarator& d = *declared->second;
  const Value before = at_.variables.value_of(d);
  const Value right = at_.reader.read(e.arg(1));
  Value after;
  if (e.op == "=") {
    after = right;
  } else if (e.op == "+=" || e.op == "-=") {
    const Polynomial scale(e.op == "+=" ? before.width : -before.width);
    after = before;
    after.full = before.full + scale * right.full;
    after.source = before.source + scale * right.source;
    after.subscripts.clear();
  } else if (e.op == "*=") {
    after.full = before.full * right.full;
    after.source = before.source * right.source;
  } else if (!before.is_pointer() && e.op.size() >= 2) {
    const std::string_view op = e.op.substr(0, e.op.size() - 1);
    after.full = Polynomial::operation(op, {before.full, right.full});
    after.source = Polynomial::operation(op, {before.source, right.source});
  }
  if (d.reference) {
    changed(e.arg(0));
  } else {
    at_.variables.assign(d, after);
  }
}

void ExpressionWalker::bumped(const Expr& e) {
  if (e.arg(0).kind != ExprKind::name) return changed(e.arg(0));
  const auto declared = at_.state.declared.find(&e.arg(0));
  if (declared == at_.state.declared.end()) return;
  Value value = at_.variables.value_of(*declared->second);
  const Polynomial one(e.op == "++" ? value.width : -value.width);
  value.full += one;
  value.source += one;
  value.subscripts.clear();
  at_.variables.assign(*declared->second, value);
}

/// A variable gets a value the model does not know.
void ExpressionWalker::changed(const Expr& target) {
  const Expr* e = &target;
  while (e->kind == ExprKind::member || (e->kind == ExprKind::cast && !e->args.empty()) ||
         (e->kind == ExprKind::unary && e->op == "&"))
    e = e->args[0];
  const auto declared =
      e->kind == ExprKind::name ? at_.state.declared.find(e) : at_.state.declared.end();
  if (declared != at_.state.declared.end()) at_.variables.forget(*declared->second);
}

void ExpressionWalker::escape(const Expr& e) {
  const Value where = at_.reader.read(e);
  if (where.is_pointer()) at_.facts.arrays[static_cast<std::size_t>(where.array)].escapes = true;
}

void ExpressionWalker::escape_if_pointer(const Expr& value, const Expr& target) {
  const Value where = at_.reader.read(value);
  if (where.is_pointer() && target.kind != ExprKind::name)
    at_.facts.arrays[static_cast<std::size_t>(where.array)].escapes = true;
}

void ExpressionWalker::unknown_call(const std::string& what, Span span, bool stays) {
  at_.facts.has_unknown_calls = true;
  at_.state.unknown_effects.push_back(
      {what, helper_call_ == nullptr ? span : helper_call_->span, stays});
  if (std::find(at_.facts.unknown_calls.begin(), at_.facts.unknown_calls.end(), what) ==
      at_.facts.unknown_calls.end())
    at_.facts.unknown_calls.push_back(what);
}

/// The atomic is a function of the file: one of that name takes a pointer to what the address is
/// of, or to what is not known.
bool ExpressionWalker::is_of_file(const Expr& atomic) {
  const Value where = at_.reader.read(atomic.arg(1));
  const std::string type = where.is_pointer() && where.width == 1
                               ? at_.facts.arrays[static_cast<std::size_t>(where.array)].type
                               : std::string();
  const std::string_view f = callee(atomic);
  if (at_.unit.find_function(f) == nullptr && !dtype_of_type(type)) return false;
  return std::ranges::any_of(at_.unit.functions(), [&](const Function* own) {
    if (own->name != f || own->body == nullptr) return false;
    if (own->parameters.empty() || !own->template_parameters.empty() || !dtype_of_type(type))
      return true;
    const std::string taken = at_.unit.resolved_type(at_.unit.plain_text(own->parameters[0]->type));
    return taken == type || !(dtype_of_type(taken) || at_.unit.is_type_name(taken) ||
                              taken.find("::") != std::string::npos);
  });
}

void ExpressionWalker::call(const Expr& e, Mode mode) {
  std::string_view f = callee(e);
  if (f.starts_with("std::")) f.remove_prefix(5);
  if (is_barrier(f)) at_.facts.has_barrier = true;
  if (is_warp_op(f)) at_.facts.has_warp_ops = true;
  const bool atomic = f.starts_with("atomic") && e.args.size() >= 2 && !is_of_file(e);
  if (atomic || is_load_intrinsic(f) || is_store_intrinsic(f)) {
    for (std::size_t i = 2; i < e.args.size(); ++i) visit(e.arg(i), Mode::read);
    if (e.args.size() < 2) return;
    visit(e.arg(1), Mode::none);
    pointed(e.arg(1),
            atomic                  ? AccessKind::atomic
            : is_store_intrinsic(f) ? AccessKind::write
                                    : AccessKind::read,
            atomic ? f : std::string_view(), e);
    return;
  }
  const auto expansion = expansion_of(at_.unit, e);
  for (std::size_t i = 1; i < e.args.size(); ++i)
    visit(e.arg(i), expansion && takes_address_of(*expansion, i - 1) ? Mode::none : Mode::read);
  if (expansion && helper_depth_ < kHelperDepth &&
      ++at_.state.expansions < KernelFacts::State::kMaxExpansions) {
    return expand(e, *expansion, mode);
  }
  if (e.arg(0).kind != ExprKind::name && e.arg(0).kind != ExprKind::member)
    visit(e.arg(0), Mode::read);
  if (is_barrier(f) || is_warp_op(f) || is_harmless(f) ||
      (!f.empty() && is_pure_function(at_.unit, f)))
    return;
  if (reaches_only_arguments(e)) return;
  const bool of_file = std::ranges::any_of(
      at_.unit.functions(), [&](const Function* function) { return function->name == f; });
  unknown_call(f.empty() ? plain_text(e.arg(0)) : std::string(f), e.span, of_file);
  for (std::size_t i = 1; i < e.args.size(); ++i) {
    escape(e.arg(i));
    const bool by_reference = std::any_of(
        at_.state.writes.begin(), at_.state.writes.end(),
        [&](const Write& w) { return w.node == &e && e.arg(i).span.contains(w.name->span); });
    if (by_reference || e.arg(i).is_op(ExprKind::unary, "&")) changed(e.arg(i));
  }
}

/// A function of the file that touches nothing but what its arguments are or point to, anywhere in
/// it: the call has these accesses.
bool ExpressionWalker::reaches_only_arguments(const Expr& e) {
  if (at_.state.declared.contains(&e.arg(0))) return false;  // a variable is called
  const auto effects = argument_effects(at_.unit, e);
  if (!effects) return false;
  std::vector<std::pair<int, AccessKind>> touched;  // arrays
  std::vector<const Expr*> set;                     // variables
  for (std::size_t i = 0; i < effects->size(); ++i) {
    const Expr& argument = e.arg(i + 1);
    const ArgumentEffect effect = (*effects)[i];
    Value where = at_.reader.read(argument);
    if (!where.is_pointer() && effect > ArgumentEffect::copies) where = at_.reader.place(argument);
    if (where.is_pointer()) {
      const bool reads = effect == ArgumentEffect::reads;
      touched.emplace_back(where.array, reads ? AccessKind::read : AccessKind::read_write);
    } else if (effect == ArgumentEffect::copies) {
      const std::string type = type_of(at_.facts, argument);
      if (size_of_type(at_.unit.resolved_type(type)) == 0) return false;  // no number
    } else if (effect != ArgumentEffect::none) {
      const bool address = argument.is_op(ExprKind::unary, "&");
      const Declarator* const variable = variable_in(address ? argument.arg(0) : argument);
      if (variable == nullptr || variable->is_pointer() || variable->is_array() ||
          variable->reference || variable->function == nullptr)
        return false;
      if (effect == ArgumentEffect::writes) set.push_back(&argument);
    }
  }
  const Expr* const outer = helper_call_;
  if (helper_call_ == nullptr) helper_call_ = &e;
  for (const auto& [array, kind] : touched) {
    Value anywhere;
    anywhere.array = array;
    anywhere.full = anywhere.source = Polynomial::unknown();
    record(e, anywhere, kind, {});
  }
  helper_call_ = outer;
  for (const Expr* argument : set) changed(*argument);
  return true;
}

/// The variable that an lvalue is or is a member of; null if it is in memory, or not known.
const Declarator* ExpressionWalker::variable_in(const Expr& lvalue) const {
  const Expr* root = &lvalue;
  while (root->is_op(ExprKind::member, ".")) root = root->args[0];
  const auto declared =
      root->is(ExprKind::name) ? at_.state.declared.find(root) : at_.state.declared.end();
  return declared == at_.state.declared.end() ? nullptr : declared->second;
}

/// Of a macro's argument the address alone is asked for: `(reinterpret_cast<float4*>(&(v))[0])`.
bool ExpressionWalker::takes_address_of(const Expansion& expansion, std::size_t parameter) {
  if (!expansion.is_macro) return false;
  int uses = 0, addresses = 0;
  const auto is_it = [&](const Expr& e) {
    return e.kind == ExprKind::name && e.name == expansion.parameters[parameter];
  };
  walk(*expansion.result, [&](const Expr& e) {
    if (is_it(e)) ++uses;
    if (e.is_op(ExprKind::unary, "&") && e.args.size() == 1 && is_it(e.arg(0))) ++addresses;
    return true;
  });
  return uses > 0 && uses == addresses;
}

/// The accesses of what a call stands for are those of the call.
void ExpressionWalker::expand(const Expr& e, const Expansion& expansion, Mode mode) {
  if (const auto names = at_.state.macro_names.find(&e); names != at_.state.macro_names.end()) {
    for (const auto& [name, declarator] : names->second)
      at_.state.macro_values[{&e, name}] = at_.variables.value_of(*declarator);
  }
  at_.reader.bind(e, expansion);
  ++helper_depth_;
  const Expr* const outer = helper_call_;
  if (helper_call_ == nullptr) helper_call_ = &e;
  visit_helper(*expansion.result, mode);
  helper_call_ = outer;
  --helper_depth_;
}

void ExpressionWalker::visit_helper(const Expr& e, Mode mode) {
  if (e.kind == ExprKind::name) return;
  if (e.kind == ExprKind::call) return call(e, mode);
  for (const Expr* arg : e.args) {
    const bool address = e.is_op(ExprKind::unary, "&") && arg->kind == ExprKind::subscript;
    const bool row =
        e.kind == ExprKind::subscript && arg == e.args[0] && arg->kind == ExprKind::subscript;
    if (address || row) {
      for (const Expr* part : arg->args) visit_helper(*part, Mode::read);
    } else {
      visit_helper(*arg,
                   e.kind == ExprKind::member || e.kind == ExprKind::cast ? mode : Mode::read);
    }
  }
  const bool memory = e.kind == ExprKind::subscript || e.is_op(ExprKind::unary, "*");
  if (memory && mode != Mode::none) access(e, mode);
}

void ExpressionWalker::access(const Expr& e, Mode mode) {
  const Value where = at_.reader.place(e);
  if (!where.is_pointer()) {
    // A subscript of something that is no array of the kernel: a member array, a vector's
    // operator[].
    if (!is_local_object(e, mode)) unknown_call(plain_text(e), e.span, true);
    return;
  }
  const Array& array = at_.facts.arrays[static_cast<std::size_t>(where.array)];
  if (e.kind == ExprKind::subscript && where.width == 1 &&
      where.dimensions < static_cast<int>(array.extents.size()))
    return;  // a row
  const AccessKind kind = mode == Mode::write        ? AccessKind::write
                          : mode == Mode::read_write ? AccessKind::read_write
                                                     : AccessKind::read;
  record(e, where, kind, {});
}

/// A write by a macro to what is its argument is not followed.
bool ExpressionWalker::is_local_object(const Expr& e, Mode mode) const {
  const Expr* root = e.args[0];
  for (;;) {
    const auto argument = at_.state.macro_arguments.find(root);
    if (argument != at_.state.macro_arguments.end()) {
      if (mode != Mode::read) return false;
      root = argument->second;
    } else if (root->kind == ExprKind::member || root->kind == ExprKind::subscript ||
               (root->kind == ExprKind::cast && !root->args.empty()) ||
               root->is_op(ExprKind::unary, "&") || steps_from_address(*root)) {
      root = root->args[0];
    } else {
      break;
    }
  }
  const auto declared =
      root->kind == ExprKind::name ? at_.state.declared.find(root) : at_.state.declared.end();
  return declared != at_.state.declared.end() && !declared->second->is_pointer() &&
         declared->second->function != nullptr;
}

void ExpressionWalker::pointed(const Expr& pointer,
                               AccessKind kind,
                               std::string_view atomic_op,
                               const Expr& call) {
  const Value where = at_.reader.read(pointer);
  if (!where.is_pointer()) return unknown_call(std::string(callee(call)), call.span, true);
  const bool element =
      pointer.is_op(ExprKind::unary, "&") && pointer.arg(0).kind == ExprKind::subscript;
  record(element ? pointer.arg(0) : call, where, kind, atomic_op);
}

void ExpressionWalker::record(const Expr& e,
                              const Value& where,
                              AccessKind kind,
                              std::string_view atomic_op) {
  if (at_.facts.accesses.size() >= kMostAccesses) return unknown_call("too many accesses", e.span);
  Access out;
  out.array = where.array;
  out.kind = kind;
  out.atomic_op = std::string(atomic_op);
  out.expr = helper_call_ != nullptr ? helper_call_ : &e;
  out.in_helper = helper_call_ != nullptr || where.width == 0;
  out.stmt = out.expr->stmt;
  if (where.width == 0) {
    out.index = out.source_index = Polynomial::unknown();
  } else {
    out.index = where.full;
    out.source_index = where.source;
    out.subscripts = where.subscripts;
    out.vector_width = where.width;
  }
  out.loops.assign(at_.loops.begin(), at_.loops.end());
  out.guards = at_.guards;
  Array& array = at_.facts.arrays[static_cast<std::size_t>(where.array)];
  array.read = array.read || out.reads();
  array.written = array.written || out.writes();
  array.atomic = array.atomic || kind == AccessKind::atomic;
  if (out.writes() && array.declarator != nullptr)
    at_.state.written_arrays.insert(array.declarator);
  if (!out.in_helper) at_.state.access_of[out.expr] = static_cast<int>(at_.facts.accesses.size());
  at_.facts.accesses.push_back(std::move(out));
}
}  // namespace warpath::model
