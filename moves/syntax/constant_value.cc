#include <array>

#include "engine/text/source_edit.h"
#include "moves/syntax/storage.h"
#include "moves/syntax/syntax_query.h"
#include "moves/syntax/words.h"

namespace warpath::model {
namespace {

using Constant = std::optional<std::int64_t>;

class Evaluator {
 public:
  Evaluator(const Unit& unit, const Bindings& extra) : unit_(unit), extra_(extra) {}

  Constant value(const Expr& e) {
    switch (e.kind) {
      case ExprKind::number:
        return integer_value(e.name);
      case ExprKind::literal:
        return e.name == "true" ? Constant(1) : e.name == "false" ? Constant(0) : std::nullopt;
      case ExprKind::name:
        return named(e);
      case ExprKind::unary:
        return unary(e);
      case ExprKind::binary:
        return binary(e);
      case ExprKind::conditional:
        return conditional(e);
      case ExprKind::cast:
        return cast(e);
      case ExprKind::size_of:
        return sized(e);
      case ExprKind::call:
        return called(e);
      default:
        return std::nullopt;
    }
  }

 private:
  Constant named(const Expr& e) {
    if (const auto found = extra_.find(e.name); found != extra_.end()) return found->second;
    if (const Declarator* d = declaration_of(unit_, e)) {
      constexpr int kDepth = 64;
      if (!d->is_constant() || d->is_array() || d->value() == nullptr || d->is_pointer() ||
          depth_ > kDepth)
        return std::nullopt;
      if (const std::string_view type = unit_.text(d->type);
          type != "auto" && !is_integer_type(unit_.resolved_type(type)))
        return std::nullopt;
      ++depth_;
      const Constant out = value(*d->value());
      --depth_;
      return out;
    }
    const auto found = unit_.constants().find(e.name);
    return found == unit_.constants().end() ? std::nullopt : Constant(found->second);
  }

  Constant unary(const Expr& e) {
    const Constant a = value(e.arg(0));
    if (!a) return a;
    if (e.op == "-") return apply_integer("-", 0, *a);
    if (e.op == "+") return a;
    if (e.op == "~" || e.op == "compl") return ~*a;
    if (e.op == "!" || e.op == "not") return *a == 0 ? 1 : 0;
    return std::nullopt;
  }

  Constant binary(const Expr& e) {
    const Constant a = value(e.arg(0));
    const bool both = e.op == "&&" || e.op == "and";
    const bool either = e.op == "||" || e.op == "or";
    if (a && both && *a == 0) return 0;
    if (a && either && *a != 0) return 1;
    if (!a) return a;
    const Constant b = value(e.arg(1));
    return b ? apply_integer(e.op, *a, *b) : b;
  }

  Constant conditional(const Expr& e) {
    const Constant condition = value(e.arg(0));
    if (!condition) return condition;
    return value(e.arg(*condition != 0 ? 1 : 2));
  }

  Constant cast(const Expr& e) {
    if (e.args.size() != 1) return std::nullopt;
    const auto dtype = dtype_of_type(unit_.resolved_type(plain_type(e)));
    if (!dtype || info(*dtype).is_float) return std::nullopt;
    const Constant a = value(e.arg(0));
    if (!a || info(*dtype).size_bytes == 8) return a;
    if (*dtype == DType::boolean) return *a != 0 ? 1 : 0;
    const std::int64_t range = std::int64_t{1} << (8 * info(*dtype).size_bytes);
    const std::int64_t low = info(*dtype).is_signed ? -range / 2 : 0;
    return *a >= low && *a < low + range ? a : std::nullopt;
  }

  Constant sized(const Expr& e) {
    if (e.op != "sizeof") return std::nullopt;
    std::string words;
    if (!e.type.empty()) {
      words = unit_.resolved_type(plain_type(e));
      if (words.ends_with('*')) return 8;
    } else {
      const Declarator* d = declaration_of(unit_, e.arg(0));
      if (d == nullptr || d->is_array()) return std::nullopt;
      if (d->is_pointer()) return 8;
      words = unit_.resolved_type(unit_.text(d->type));
    }
    const std::size_t size = size_of_type(words);
    return size == 0 ? std::nullopt : Constant(static_cast<std::int64_t>(size));
  }

  Constant called(const Expr& e) {
    const std::string_view f = callee(e);
    if (e.args.size() != 3) return std::nullopt;
    const Constant a = value(e.arg(1));
    const Constant b = value(e.arg(2));
    if (!a || !b) return std::nullopt;
    if (f == "min" || f == "std::min") return std::min(*a, *b);
    if (f == "max" || f == "std::max") return std::max(*a, *b);
    return std::nullopt;
  }

  const Unit& unit_;
  const Bindings& extra_;
  int depth_ = 0;
};

}  // namespace

std::optional<std::int64_t> constant_value(const Unit& unit,
                                           const Expr& expr,
                                           const Bindings& extra) {
  return Evaluator(unit, extra).value(expr);
}

std::optional<std::int64_t> constant_value(const Unit& unit,
                                           std::string_view text,
                                           const Bindings& extra) {
  const Unit piece = parse("long long value = (" + std::string(text) + ");");
  if (piece.globals().size() != 1 || piece.globals()[0]->value() == nullptr) return std::nullopt;
  Bindings names = unit.constants();
  for (const auto& [name, value] : extra) names.insert_or_assign(name, value);
  return Evaluator(piece, names).value(*piece.globals()[0]->value());
}

}  // namespace warpath::model
