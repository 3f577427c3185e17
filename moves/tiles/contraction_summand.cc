#include "moves/tiles/contraction_summand.h"

#include <algorithm>
#include <array>
#include <cmath>
#include <cstdlib>
#include <string_view>
#include <vector>

#include "moves/model/kernel_model.h"
#include "moves/syntax/syntax_query.h"

namespace warpath {

using namespace model;

namespace {

constexpr int kMostDepth = 20;
constexpr auto kFunctions = std::to_array<std::string_view>({"fabsf", "fmaxf", "fminf"});

/// Text of an expression, and its value where both loads are 0.
struct Term {
  std::string text;
  double at_zero = 0;
};

class SummandReader {
 public:
  SummandReader(const ContractionParts& parts, const Loop& loop, std::string& why)
      : parts_(parts), loop_(loop), why_(why) {}

  [[nodiscard]] std::optional<ContractionSummand> run(const Expr& value) {
    const auto term = read(value, 0);
    if (!term) return std::nullopt;
    if (found_.size() != 2) return fail("the sum is not one of two loads");
    if (term->at_zero != 0) return fail("beyond the end of a tile the sum would grow");
    return ContractionSummand{{found_[0], found_[1]}, term->text};
  }

 private:
  std::nullopt_t fail(std::string text) {
    if (why_.empty()) why_ = std::move(text);
    return std::nullopt;
  }

  /// Everything is a float: no conversion is lost, and no integer is divided or overflows.
  std::optional<Term> read(const Expr& e, int depth) {
    const Unit& unit = parts_.unit();
    const auto other = [&] {
      return fail("a step adds more than its elements make: " + unit.plain_text(e.span));
    };
    if (depth > kMostDepth) return other();
    if (parts_.facts().access_of(e) != nullptr) return load(e);
    if (type_of(parts_.facts(), e) != "float") return other();
    if (e.is(ExprKind::name)) {
      const Declarator* const d = declaration_of(unit, e);
      const bool of_step = d != nullptr && d->stmt != nullptr && d->value() != nullptr &&
                           is_inside(*d->stmt, *loop_.stmt->body) && !d->reference &&
                           !d->is_array() && (d->qualifiers & kVolatile) == 0;
      return of_step ? read(*d->value(), depth + 1) : other();
    }
    if (e.is(ExprKind::number)) {
      const std::string text = unit.plain_text(e.span);
      return Term{text, std::strtod(text.c_str(), nullptr)};
    }
    if (e.is_op(ExprKind::unary, "-")) {
      const auto inner = read(e.arg(0), depth + 1);
      if (!inner) return std::nullopt;
      return Term{"(-" + inner->text + ")", -inner->at_zero};
    }
    if (e.is(ExprKind::binary) && (e.op == "+" || e.op == "-" || e.op == "*")) {
      const auto left = read(e.arg(0), depth + 1), right = read(e.arg(1), depth + 1);
      if (!left || !right) return std::nullopt;
      const double value = e.op == "+"   ? left->at_zero + right->at_zero
                           : e.op == "-" ? left->at_zero - right->at_zero
                                         : left->at_zero * right->at_zero;
      return Term{"(" + left->text + " " + std::string(e.op) + " " + right->text + ")", value};
    }
    if (e.is(ExprKind::call)) return call(e, depth);
    return other();
  }

  std::optional<Term> call(const Expr& e, int depth) {
    const std::string_view f = callee(e);
    const std::size_t count = f == "fabsf" ? 1 : 2;
    if (std::ranges::find(kFunctions, f) == kFunctions.end() || e.args.size() != count + 1 ||
        !is_pure_function(parts_.unit(), f))
      return fail("a step calls " + std::string(f));
    std::vector<Term> args;
    for (std::size_t i = 1; i <= count; ++i) {
      auto arg = read(e.arg(i), depth + 1);
      if (!arg) return std::nullopt;
      args.push_back(std::move(*arg));
    }
    if (count == 1)
      return Term{std::string(f) + "(" + args[0].text + ")", std::fabs(args[0].at_zero)};
    return Term{std::string(f) + "(" + args[0].text + ", " + args[1].text + ")",
                f == "fmaxf" ? std::fmax(args[0].at_zero, args[1].at_zero)
                             : std::fmin(args[0].at_zero, args[1].at_zero)};
  }

  std::optional<Term> load(const Expr& e) {
    std::string why;
    auto factor = contraction_factor(parts_, e, loop_, why);
    if (!factor) return fail(why);
    if (factor->operand.element != "float" || factor->operand.value != factor->operand.load)
      return fail("a factor of the sum is no float");
    const auto same = std::ranges::find_if(found_, [&](const FactorPart& known) {
      return known.array == factor->array && known.operand.index == factor->operand.index;
    });
    const bool is_a = same == found_.begin();  // or the first of all
    if (same == found_.end()) found_.push_back(std::move(*factor));
    return Term{is_a ? "$a" : "$b", 0};
  }

  const ContractionParts& parts_;
  const Loop& loop_;
  std::string& why_;
  std::vector<FactorPart> found_;
};

}  // namespace

std::optional<ContractionSummand> contraction_summand(const ContractionParts& parts,
                                                      const Expr& value,
                                                      const Loop& loop,
                                                      std::string& why) {
  why.clear();
  for (const Stmt* stmt : statements(*loop.stmt->body)) {
    for (const Declarator* d : stmt->declarators) {
      for (const Expr* init : d->init) {
        if (!is_pure(parts.unit(), *init))
          return why = "the sum's loop does more than sum", std::nullopt;
      }
    }
  }
  return SummandReader(parts, loop, why).run(value);
}

std::string with_factors(std::string text, const std::string& a, const std::string& b) {
  for (std::size_t at = 0; (at = text.find('$', at)) != std::string::npos;) {
    const std::string& by = text[at + 1] == 'a' ? a : b;
    text.replace(at, 2, by);
    at += by.size();
  }
  return text;
}

}  // namespace warpath
