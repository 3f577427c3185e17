#include "moves/model/value_reader.h"

#include <algorithm>

#include "engine/text/source_edit.h"
#include "moves/syntax/storage.h"
#include "moves/syntax/syntax_query.h"
#include "moves/syntax/words.h"

namespace warpath::model {
namespace {

bool is_launch_name(std::string_view name) {
  return name == "threadIdx" || name == "blockIdx" || name == "blockDim" || name == "gridDim";
}

Value integer(const Polynomial& p) {
  Value out;
  out.full = out.source = p;
  return out;
}

}  // namespace

bool is_load_intrinsic(std::string_view name) {
  return name == "__ldg" || name == "__ldcs" || name == "__ldca" || name == "__ldcg" ||
         name == "__ldlu" || name == "__ldcv";
}

std::optional<Expansion> expansion_of(const Unit& unit, const Expr& call) {
  const std::string_view name = callee(call);
  if (name.empty()) return std::nullopt;
  Expansion out;
  if (const Macro* macro = unit.macro(name); macro != nullptr && macro->function_like) {
    out.result = unit.macro_expression(name);
    out.parameters.assign(macro->parameters.begin(), macro->parameters.end());
    out.is_macro = true;
  } else if (const Function* function = unit.find_function(name)) {
    out.result = returned_expression(*function);
    for (const Declarator* p : function->parameters) out.parameters.push_back(p->name);
  }
  if (out.result == nullptr || out.parameters.size() != call.args.size() - 1) return std::nullopt;
  return is_pure(unit, *out.result) ? std::optional(out) : std::nullopt;
}

Polynomial fresh_atom(KernelFacts::State& state, std::string_view text) {
  return Polynomial::name(std::string(text) + "'" + std::to_string(state.next_version++));
}

/// The expression as an atom of its own, the same whenever it is asked for.
Value ValueReader::itself(const Expr& expr) {
  const auto [found, fresh] = state_.versions.try_emplace(&expr, state_.next_version);
  if (fresh) ++state_.next_version;
  std::string text = plain_text(expr);
  constexpr std::size_t kLongest = 200;
  if (text.size() > kLongest || text.find('\'') != std::string::npos) return {};
  if (expr.kind != ExprKind::name && expr.kind != ExprKind::member && expr.kind != ExprKind::call &&
      expr.kind != ExprKind::subscript)
    text = "(" + text + ")";
  return integer(Polynomial::name(text + "'" + std::to_string(found->second)));
}

Value ValueReader::combine(std::string_view op, const std::vector<Value>& operands) {
  std::vector<Polynomial> full;
  std::vector<Polynomial> source;
  for (const Value& v : operands) {
    full.push_back(v.full);
    source.push_back(v.source);
  }
  Value out;
  out.full = Polynomial::operation(op, std::move(full));
  out.source = Polynomial::operation(op, std::move(source));
  return out;
}

Value ValueReader::named(const Expr& e) {
  if (const auto found = state_.values.find(&e); found != state_.values.end()) return found->second;
  const auto declared = state_.declared.find(&e);
  if (declared == state_.declared.end()) {
    if (facts_.unit->bindings().contains(e.name)) return integer(Polynomial::name(e.name));
    const auto constant = facts_.unit->constants().find(e.name);
    if (constant != facts_.unit->constants().end()) return integer(constant->second);
    return integer(Polynomial::name(e.name));
  }
  return integer(Polynomial::name(e.name));
}

Value ValueReader::member(const Expr& e) {
  const Expr& object = e.arg(0);
  if (object.kind == ExprKind::name && is_launch_name(object.name))
    return integer(Polynomial::name(std::string(object.name) + "." + std::string(e.name)));
  const Expr* root = &object;
  while (root->kind == ExprKind::member) root = root->args[0];
  const auto declared =
      root->kind == ExprKind::name ? state_.declared.find(root) : state_.declared.end();
  const bool fixed = declared != state_.declared.end() && declared->second->is_parameter &&
                     !declared->second->is_pointer() &&
                     !state_.write_counts.contains(declared->second);
  if (fixed) return integer(Polynomial::name(plain_text(e)));
  return itself(e);
}

Value ValueReader::cast(const Expr& e) {
  if (e.args.size() != 1) return {};
  const std::string type = facts_.unit->resolved_type(plain_type(e));
  Value inner = read(e.arg(0));
  if (inner.is_pointer() || type.find('*') != std::string::npos) {
    if (!inner.is_pointer() || inner.width == 0) return inner;
    std::string element = type.substr(0, type.find('*'));
    while (!element.empty() && element.back() == ' ') element.pop_back();
    if (element.starts_with("const ")) element.erase(0, 6);
    if (element.ends_with(" const")) element.erase(element.size() - 6);
    const std::size_t bytes = size_of_type(facts_.unit->resolved_type(element));
    const Array& array = facts_.arrays[static_cast<std::size_t>(inner.array)];
    const std::size_t own = array.element_bytes;
    const bool whole = bytes != 0 && own != 0 && bytes % own == 0;
    if (!whole && type.find('*') == std::string::npos) return {};
    inner.dimensions = 0;
    inner.subscripts.clear();
    if (whole) {
      inner.width = static_cast<int>(bytes / own);
      return inner;
    }
    // a part of an element, or of what no size is known: somewhere in the array
    const bool own_part = bytes != 0 && own % bytes == 0 && own != 0 && array.space == Space::local;
    inner.full = inner.source = Polynomial::unknown();
    inner.width = own_part ? 1 : 0;
    return inner;
  }
  if (!is_integer_type(type)) return {};
  if (size_of_type(type) >= 4) return inner;
  const auto small = inner.full.constant();  // a narrow type wraps
  return small && *small >= 0 && *small < 128 ? inner : itself(e);
}

/// Subscripts and stars: where they point to. `place` of a name that is no pointer is unknown.
Value ValueReader::place(const Expr& e) {
  if (e.kind == ExprKind::subscript && e.args.size() == 2) {
    Value base = read(e.arg(0));
    if (!base.is_pointer()) {
      base = read(e.arg(1));  // i[x]
      if (!base.is_pointer()) return {};
      return {};
    }
    const Value index = read(e.arg(1));
    const Array& array = facts_.arrays[static_cast<std::size_t>(base.array)];
    Polynomial stride(base.width);
    const std::size_t dims = array.extents.size();
    const std::size_t used = static_cast<std::size_t>(base.dimensions);
    if (dims > 1 && base.width == 1) {
      for (std::size_t i = used + 1; i < dims; ++i) stride = stride * array.extents[i];
      base.subscripts.push_back(index.full);
    }
    ++base.dimensions;
    base.full += index.full * stride;
    base.source += index.source * stride;
    return base;
  }
  if (e.kind == ExprKind::unary && e.op == "*") {
    Value base = read(e.arg(0));
    if (base.is_pointer()) ++base.dimensions;
    return base;
  }
  if (e.kind == ExprKind::member && e.op == "." &&
      (e.arg(0).kind == ExprKind::subscript || e.arg(0).kind == ExprKind::unary ||
       e.arg(0).kind == ExprKind::member))
    return place(e.arg(0));
  if (e.kind == ExprKind::cast && e.args.size() == 1) return place(e.arg(0));
  if (e.kind == ExprKind::name) {
    const auto argument = state_.macro_arguments.find(&e);
    return argument == state_.macro_arguments.end() ? Value{} : place(*argument->second);
  }
  if (e.kind == ExprKind::call) {
    const auto expansion = expansion_of(*facts_.unit, e);
    if (!expansion || !expansion->is_macro || depth_ >= kHelperDepth) return {};
    bind(e, *expansion);
    ++depth_;
    const Value out = place(*expansion->result);
    --depth_;
    return out;
  }
  return {};
}

/// A value loaded from memory: stable if nothing in the kernel writes there.
Value ValueReader::load(const Expr& e) {
  Value where = place(e);
  if (!where.is_pointer()) return itself(e);
  const Array& array = facts_.arrays[static_cast<std::size_t>(where.array)];
  if (array.extents.size() > 1 && where.dimensions < static_cast<int>(array.extents.size()) &&
      where.width == 1 && e.kind == ExprKind::subscript)
    return where;  // a row
  if (array.dtype && info(*array.dtype).is_float) return {};
  bool changes = array.space == Space::shared || array.space == Space::local || array.escapes ||
                 (array.declarator != nullptr && state_.written_arrays.contains(array.declarator));
  for (const Declarator* written : state_.written_arrays) {
    const auto other = state_.arrays.find(written);
    if (other != state_.arrays.end() && other->second != where.array)
      changes = changes || facts_.may_alias(where.array, other->second);
  }
  if (changes || where.width != 1) return itself(e);
  state_.trusted_arrays.insert(array.declarator);
  Value out;
  out.full = Polynomial::operation("load " + array.name, {where.full});
  out.source = Polynomial::operation("load " + array.name, {where.source});
  return out;
}

void ValueReader::bind(const Expr& call, const Expansion& expansion) {
  std::vector<Value> arguments;
  for (std::size_t i = 1; i < call.args.size(); ++i) arguments.push_back(read(call.arg(i)));
  walk(*expansion.result, [&](const Expr& inner) {
    if (inner.kind != ExprKind::name) return true;
    for (std::size_t i = 0; i < arguments.size(); ++i) {
      if (expansion.parameters[i] != inner.name) continue;
      state_.values[&inner] = arguments[i];
      if (expansion.is_macro) state_.macro_arguments[&inner] = &call.arg(i + 1);
    }
    const auto own = state_.macro_values.find({&call, &inner});
    if (own != state_.macro_values.end()) state_.values[&inner] = own->second;
    return true;
  });
}

Value ValueReader::called(const Expr& e) {
  const std::string_view name = callee(e);
  std::string_view plain = name;
  if (plain.starts_with("std::")) plain.remove_prefix(5);
  if (is_load_intrinsic(plain) && e.args.size() == 2) {
    Value where = read(e.arg(1));
    if (where.is_pointer()) {
      const Array& array = facts_.arrays[static_cast<std::size_t>(where.array)];
      if (array.dtype && info(*array.dtype).is_float) return {};
      if (array.declarator != nullptr && !state_.written_arrays.contains(array.declarator) &&
          where.width == 1) {
        state_.trusted_arrays.insert(array.declarator);
        return combine("load " + array.name, {where});
      }
    }
    return itself(e);
  }
  if ((plain == "min" || plain == "max" || plain == "umin" || plain == "umax") &&
      e.args.size() == 3) {
    return combine(plain.ends_with("min") ? "min" : "max", {read(e.arg(1)), read(e.arg(2))});
  }
  if (plain == "__mul24" || plain == "__umul24") {
    if (e.args.size() == 3) {
      const Value a = read(e.arg(1));
      const Value b = read(e.arg(2));
      Value out;
      out.full = a.full * b.full;
      out.source = a.source * b.source;
      return out;
    }
  }
  const auto expansion = expansion_of(*facts_.unit, e);
  if (expansion && depth_ < kHelperDepth &&
      ++state_.expansions < KernelFacts::State::kMaxExpansions) {
    bind(e, *expansion);
    ++depth_;
    const Value out = read(*expansion->result);
    --depth_;
    return out;
  }
  if (name.empty() || !is_pure_function(*facts_.unit, name) || expansion) return itself(e);
  const auto dtype = dtype_of_type(type_of(facts_, e));
  if (dtype && info(*dtype).is_float) return {};
  std::vector<Value> arguments;
  for (std::size_t i = 1; i < e.args.size(); ++i) {
    arguments.push_back(read(e.arg(i)));
    if (arguments.back().is_pointer()) return itself(e);
  }
  // with template arguments and member: numeric_limits<int>::min is not numeric_limits<int>::max
  Value out = combine("call " + std::string(e.arg(0).name), arguments);
  return out.full.is_known() ? out : itself(e);
}

Value ValueReader::binary(const Expr& e) {
  Value a = read(e.arg(0));
  Value b = read(e.arg(1));
  if (e.op == "+" && b.is_pointer()) std::swap(a, b);
  if (a.is_pointer()) {
    if (b.is_pointer() || (e.op != "+" && e.op != "-")) return {};
    Polynomial stride(a.width);
    const Array& array = facts_.arrays[static_cast<std::size_t>(a.array)];
    for (std::size_t i = static_cast<std::size_t>(a.dimensions) + 1;
         a.width == 1 && i < array.extents.size(); ++i)
      stride = stride * array.extents[i];
    const Polynomial sign(e.op == "+" ? 1 : -1);
    a.full += sign * stride * b.full;
    a.source += sign * stride * b.source;
    a.subscripts.clear();
    return a;
  }
  Value out;
  if (e.op == "+") {
    out.full = a.full + b.full;
    out.source = a.source + b.source;
  } else if (e.op == "-") {
    out.full = a.full - b.full;
    out.source = a.source - b.source;
  } else if (e.op == "*") {
    out.full = a.full * b.full;
    out.source = a.source * b.source;
  } else {
    out = combine(e.op, {a, b});
  }
  return out;
}

Value ValueReader::read(const Expr& e) {
  switch (e.kind) {
    case ExprKind::number: {
      const auto value = integer_value(e.name);
      return value ? integer(*value) : Value{};
    }
    case ExprKind::literal:
      return e.name == "true" ? integer(1) : e.name == "false" ? integer(0) : Value{};
    case ExprKind::name:
      return named(e);
    case ExprKind::member:
      return member(e);
    case ExprKind::cast:
      return cast(e);
    case ExprKind::subscript:
      return load(e);
    case ExprKind::call:
      return called(e);
    case ExprKind::binary:
      return binary(e);
    case ExprKind::conditional: {
      const Value yes = read(e.arg(1));
      if (yes.is_pointer()) return {};
      const Value no = read(e.arg(2));
      const std::string_view chosen = extremum(e.arg(0), yes.full, no.full);
      if (!chosen.empty()) return combine(chosen, {yes, no});
      return combine("?:", {read(e.arg(0)), yes, no});
    }
    case ExprKind::size_of: {
      const auto value = constant_value(*facts_.unit, e);
      return value ? integer(*value) : itself(e);
    }
    case ExprKind::unary: {
      if (e.args.empty()) return {};
      if (e.op == "&") return place(e.arg(0));
      if (e.op == "*") return load(e);
      if (e.op == "++" || e.op == "--") {  // names keep the value from before
        Value after = read(e.arg(0));
        const Polynomial one(e.op == "++" ? after.width : -after.width);
        after.full += one;
        after.source += one;
        return after;
      }
      Value a = read(e.arg(0));
      if (e.op == "+") return a;
      if (e.op == "-") {
        Value out;
        out.full = -a.full;
        out.source = -a.source;
        return out;
      }
      if (e.op == "!" || e.op == "~") return combine(e.op, {a});
      return {};
    }
    case ExprKind::postfix:
      return e.op == "++" || e.op == "--" ? read(e.arg(0)) : Value{};
    case ExprKind::assign:
      return e.op == "=" ? read(e.arg(1)) : Value{};
    case ExprKind::comma:
      return read(e.arg(1));
    default:
      return {};
  }
}

std::string_view ValueReader::extremum(const Expr& condition,
                                       const Polynomial& yes,
                                       const Polynomial& no) {
  if (!condition.is(ExprKind::binary)) return {};
  for (const Expr* side : condition.args) {  // below 0 it would be above all limits
    const std::string type = facts_.unit->resolved_type(type_of(facts_, *side));
    if (type.starts_with("u") || type.starts_with("size_t")) return {};
  }
  std::vector<Polynomial> holds;
  const Polynomial more = no - yes;
  if (!more.is_known() || !comparisons(condition, false, holds) || holds.size() != 1) return {};
  if (holds[0] == more || holds[0] == more - 1) return "min";
  return holds[0] == -more || holds[0] == -more - 1 ? "max" : "";
}

bool ValueReader::comparisons(const Expr& e, bool negated, std::vector<Polynomial>& out) {
  if (e.is_op(ExprKind::unary, "!")) return comparisons(e.arg(0), !negated, out);
  const bool both = e.is_op(ExprKind::binary, "&&") || e.is_op(ExprKind::binary, "and");
  const bool either = e.is_op(ExprKind::binary, "||") || e.is_op(ExprKind::binary, "or");
  if ((both && !negated) || (either && negated)) {
    const bool left = comparisons(e.arg(0), negated, out);
    return comparisons(e.arg(1), negated, out) && left;
  }
  if (e.kind != ExprKind::binary || both || either) return false;
  const Value a = read(e.arg(0));
  const Value b = read(e.arg(1));
  if (a.is_pointer() || b.is_pointer() || !a.full.is_known() || !b.full.is_known()) return false;
  const Polynomial difference = b.full - a.full;
  std::string_view op = e.op;
  if (negated)
    op = op == "<"    ? ">="
         : op == "<=" ? ">"
         : op == ">"  ? "<="
         : op == ">=" ? "<"
         : op == "==" ? "!="
         : op == "!=" ? "=="
                      : "";
  if (op == "<") return out.push_back(difference - 1), true;
  if (op == "<=") return out.push_back(difference), true;
  if (op == ">") return out.push_back(-difference - 1), true;
  if (op == ">=") return out.push_back(-difference), true;
  if (op == "==") return out.push_back(difference), out.push_back(-difference), true;
  return false;
}

}  // namespace warpath::model
