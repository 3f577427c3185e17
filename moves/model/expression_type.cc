#include <algorithm>
#include <array>

#include "moves/model/facts_state.h"
#include "moves/model/value_reader.h"
#include "moves/syntax/syntax_query.h"
#include "moves/syntax/words.h"

namespace warpath::model {
namespace {

std::string promoted(const std::string& a, const std::string& b) {
  if (a == b && dtype_of_type(a) && size_of_type(a) >= 4) return a;
  const auto x = dtype_of_type(a);
  const auto y = dtype_of_type(b);
  if (!x || !y) return a == b ? a : std::string();
  const auto is = [&](DType t) { return *x == t || *y == t; };
  if (is(DType::f64)) return "double";
  if (is(DType::f32)) return "float";
  if (is(DType::bf16)) return "__nv_bfloat16";
  if (is(DType::f16)) return "__half";
  if (is(DType::u64)) return "unsigned long long";
  if (is(DType::i64)) return "long long";
  if (is(DType::u32)) return "unsigned int";
  return "int";
}

std::string literal_type(std::string_view text) {
  const bool hex = text.starts_with("0x") || text.starts_with("0X");
  const char last = text.back();
  const bool floating = text.find('.') != std::string_view::npos ||
                        (!hex && (text.find('e') != std::string_view::npos ||
                                  text.find('E') != std::string_view::npos));
  if (floating || (!hex && (last == 'f' || last == 'F')))
    return last == 'f' || last == 'F' ? "float" : "double";
  const bool is_unsigned = text.find_first_of("uU") != std::string_view::npos;
  const bool is_long = text.find_first_of("lL") != std::string_view::npos;
  if (is_long) return is_unsigned ? "unsigned long long" : "long long";
  return is_unsigned ? "unsigned int" : "int";
}

/// Result of CUDA's functions by name; `first` is the type of the first argument.
std::string called_type(std::string_view f, const std::string& first, const std::string& second) {
  if (f.starts_with("std::")) f.remove_prefix(5);
  if (f == "min" || f == "max") return promoted(first, second);
  if (f == "abs" || f.starts_with("__shfl") || f.starts_with("__ld") || f == "__hadd" ||
      f == "__hmul" || f == "__hsub" || f == "__hfma" || f == "__hmax" || f == "__hmin") {
    return f.starts_with("__shfl") ? second : first;
  }
  if (f.starts_with("make_")) return std::string(f.substr(5));
  if (f.starts_with("atomic"))
    return first.ends_with('*') ? first.substr(0, first.size() - 1) : std::string();
  for (const std::string_view type : {"float", "double", "int", "uint"}) {
    const bool converts =
        f.ends_with("2" + std::string(type)) || f.ends_with("_as_" + std::string(type));
    if (converts) return type == "uint" ? "unsigned int" : std::string(type);
  }
  if (f.find("2float") != std::string_view::npos || f == "__bfloat162float" ||
      f == "__half2float" || f == "__low2float" || f == "__high2float")
    return "float";
  if (f.find("2bfloat162") != std::string_view::npos) return "__nv_bfloat162";
  if (f.find("2bfloat16") != std::string_view::npos) return "__nv_bfloat16";
  if (f.find("2half2") != std::string_view::npos) return "__half2";
  if (f.find("2half") != std::string_view::npos) return "__half";
  if (f.find("2int") != std::string_view::npos || f == "__popc" || f == "__clz" || f == "__dp4a" ||
      f == "__ffs")
    return "int";
  constexpr auto kDouble = std::to_array<std::string_view>(
      {"sqrt", "exp", "log", "pow", "sin", "cos", "tan", "tanh", "fabs", "fmax", "fmin", "floor",
       "ceil", "fma", "rsqrt", "erf"});
  if (std::find(kDouble.begin(), kDouble.end(), f) != kDouble.end())
    return first == "float" ? "float" : "double";
  if (f.ends_with('f') || f.starts_with("__f")) return "float";
  return {};
}

std::string type_at(const KernelFacts& facts, const Expr& e, int depth);

/// A macro that is arithmetic on its arguments has their common type.
std::string macro_type(const KernelFacts& facts, const Expr& call, int depth) {
  const auto expansion = expansion_of(*facts.unit, call);
  if (!expansion || call.args.size() < 2) return {};
  bool arithmetic = true;
  walk(*expansion->result, [&](const Expr& e) {
    const bool plain =
        e.kind == ExprKind::binary || e.kind == ExprKind::unary || e.kind == ExprKind::name;
    if (!plain && !(e.kind == ExprKind::number && literal_type(e.name) == "int"))
      arithmetic = false;
    return arithmetic;
  });
  if (!arithmetic) return {};
  std::string out = type_at(facts, call.arg(1), depth + 1);
  for (std::size_t i = 2; i < call.args.size(); ++i)
    out = promoted(out, type_at(facts, call.arg(i), depth + 1));
  return out;
}

std::string type_at(const KernelFacts& facts, const Expr& e, int depth) {
  constexpr int kDepth = 200;
  if (depth > kDepth) return {};
  const Unit& unit = *facts.unit;
  const auto of = [&](std::size_t i) {
    return i < e.args.size() ? type_at(facts, e.arg(i), depth + 1) : std::string();
  };
  switch (e.kind) {
    case ExprKind::number:
      return literal_type(e.name);
    case ExprKind::literal:
      return e.name == "true" || e.name == "false" ? "bool"
             : e.name.starts_with('\'')            ? "char"
                                                   : "";
    case ExprKind::name: {
      const auto found = facts.state->declared.find(&e);
      const Declarator* d =
          found != facts.state->declared.end() ? found->second : declaration_of(unit, e);
      if (d == nullptr) return unit.constants().contains(e.name) ? "int" : "";
      std::string type = unit.resolved_type(unit.plain_text(d->type));
      if (type == "auto" && d->value() != nullptr && !d->is_pointer())
        return type_at(facts, *d->value(), depth + 1);
      return type +
             std::string(static_cast<std::size_t>(d->pointer_depth) + d->extents.size(), '*');
    }
    case ExprKind::member: {
      const Expr& object = e.arg(0);
      if (object.kind == ExprKind::name &&
          (object.name == "threadIdx" || object.name == "blockIdx" || object.name == "blockDim" ||
           object.name == "gridDim"))
        return "unsigned int";
      std::string base = of(0);
      while (base.ends_with('*')) base.pop_back();
      if (base.starts_with("float") && base.size() == 6) return "float";
      if (base.starts_with("double") && base.size() == 7) return "double";
      if (base.starts_with("int") && base.size() == 4) return "int";
      if (base.starts_with("uint") && base.size() == 5) return "unsigned int";
      if (base == "half2" || base == "__half2") return "__half";
      if (base == "__nv_bfloat162" || base == "nv_bfloat162") return "__nv_bfloat16";
      return {};
    }
    case ExprKind::subscript: {
      std::string base = of(0);
      if (!base.ends_with('*')) return {};
      base.pop_back();
      return base;
    }
    case ExprKind::unary: {
      std::string a = of(0);
      if (e.op == "*") return a.ends_with('*') ? a.substr(0, a.size() - 1) : std::string();
      if (e.op == "&") return a.empty() ? a : a + "*";
      if (e.op == "!" || e.op == "not") return "bool";
      if (e.op == "++" || e.op == "--") return a;
      return a.ends_with('*') ? a
                              : promoted(a, size_of_type(a) < 4 && is_integer_type(a) ? "int" : a);
    }
    case ExprKind::postfix:
      return of(0);
    case ExprKind::binary: {
      if (e.op == "<" || e.op == ">" || e.op == "<=" || e.op == ">=" || e.op == "==" ||
          e.op == "!=" || e.op == "&&" || e.op == "||")
        return "bool";
      const std::string a = of(0);
      std::string b = of(1);
      if (a.ends_with('*')) return b.ends_with('*') ? "long long" : a;
      if (b.ends_with('*')) return b;
      if (e.op == "<<" || e.op == ">>")
        return promoted(a, "int") == "long long" || size_of_type(a) == 8 ? a : promoted(a, a);
      return promoted(a, b);
    }
    case ExprKind::assign:
      return of(0);
    case ExprKind::comma:
      return of(1);
    case ExprKind::conditional: {
      const std::string a = of(1);
      const std::string b = of(2);
      return a == b ? a : promoted(a, b);
    }
    case ExprKind::cast: {
      std::string plain = unit.resolved_type(plain_type(e));
      if (!plain.ends_with('*')) return plain;
      std::string element = plain.substr(0, plain.find('*'));
      if (element.starts_with("const ")) element.erase(0, 6);
      while (element.ends_with(' ')) element.pop_back();
      return unit.resolved_type(element) +
             std::string(static_cast<std::size_t>(std::count(plain.begin(), plain.end(), '*')),
                         '*');
    }
    case ExprKind::size_of:
      return "unsigned long long";
    case ExprKind::call: {
      const std::string_view f = callee(e);
      if (const Macro* macro = unit.macro(f); macro != nullptr && macro->function_like)
        return macro_type(facts, e, depth);
      if (const Function* helper = unit.find_function(f))
        return unit.resolved_type(unit.plain_text(helper->return_type));
      return called_type(f, of(1), of(2));
    }
    default:
      return {};
  }
}

}  // namespace

std::string type_of(const KernelFacts& facts, const Expr& expr) {
  return type_at(facts, expr, 0);
}

}  // namespace warpath::model
