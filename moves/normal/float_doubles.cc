#include "moves/normal/float_doubles.h"

#include <algorithm>
#include <array>
#include <cmath>
#include <cstdlib>
#include <map>
#include <optional>
#include <set>
#include <string>

#include "moves/model/facts_state.h"
#include "moves/normal/helper_call.h"
#include "moves/normal/macro_words.h"
#include "moves/syntax/syntax_query.h"

namespace warpath {

using namespace model;

namespace {

/// The value of a literal of type double, with its sign.
std::optional<double> literal_value(const KernelFacts& facts, const Expr& e) {
  const bool minus = e.is_op(ExprKind::unary, "-");
  const Expr& number = minus ? e.arg(0) : e;
  if (!number.is(ExprKind::number) || type_of(facts, number) != "double") return std::nullopt;
  const std::string text(number.name);
  char* end = nullptr;
  const double value = std::strtod(text.c_str(), &end);
  if (end != text.c_str() + text.size() || !std::isfinite(value)) return std::nullopt;
  return minus ? -value : value;
}

/// As a float it is infinite: a little above the largest float it is that float.
bool is_beyond(double value) {
  return std::isinf(static_cast<float>(value));
}
bool is_float(double value) {
  return !is_beyond(value) && static_cast<double>(static_cast<float>(value)) == value;
}

class FloatDoubles {
 public:
  explicit FloatDoubles(const KernelFacts& facts)
      : facts_(facts), unit_(*facts.unit), body_(*facts.kernel->body) {}

  std::vector<Edit> found() {
    if (!facts_.kernel->opaque.empty()) return {};
    find_candidates();
    for (bool all = false; !all;) {
      const auto wrong =
          std::ranges::find_if(doubles_, [&](const Declarator* d) { return !is_good(*d); });
      all = wrong == doubles_.end();
      if (!all) doubles_.erase(wrong);
    }
    if (doubles_.empty() || !names_infinity()) return {};
    std::set<std::size_t> types;
    for (const Declarator* d : doubles_) {
      if (types.insert(d->type.begin).second)
        edits_.push_back({d->type.begin, d->type.end, "float"});
    }
    return std::move(edits_);
  }

 private:
  void find_candidates() {
    walk(body_, [&](const Stmt& s) {
      const bool plain = s.is(StmtKind::declaration) && !s.text_only && !s.declarators.empty() &&
                         std::ranges::all_of(s.declarators, [&](const Declarator* d) {
                           return unit_.plain_text(d->type) == "double" && !d->is_pointer() &&
                                  !d->is_array() && !d->reference && !d->is_function_pointer &&
                                  !d->has(kShared) && !d->has(kStatic) && !d->has(kExtern) &&
                                  !d->has(kVolatile) && !d->has(kConstexpr) &&
                                  d->init.size() <= 1 && !is_said_by_macro(unit_, d->name);
                         });
      if (plain) doubles_.insert(s.declarators.begin(), s.declarators.end());
      return true;
    });
  }

  [[nodiscard]] const Declarator* one_of(const Expr& e) const {
    const Declarator* const d = e.is(ExprKind::name) ? declaration_of(unit_, e) : nullptr;
    return d != nullptr && doubles_.contains(d) ? d : nullptr;
  }

  [[nodiscard]] bool is_good(const Declarator& d) const {
    // variables of one declaration have one type
    for (const Declarator* other : d.stmt->declarators) {
      if (!doubles_.contains(other)) return false;
    }
    if (d.value() != nullptr && !has_float(*d.value())) return false;
    for (const Write& w : facts_.state->writes) {
      if (w.variable != &d) continue;
      if (w.node == nullptr || w.partial || w.escapes) return false;
      const bool initial = w.node->stmt == d.stmt && !w.node->is(ExprKind::assign);
      if (!initial && (!w.node->is_op(ExprKind::assign, "=") || !has_float(w.node->arg(1))))
        return false;
    }
    bool good = true;
    walk_expressions(body_, [&](const Expr& e) {
      good =
          good && !e.is(ExprKind::lambda) && !e.is(ExprKind::statement) && !e.is(ExprKind::opaque);
      if (good && one_of(e) == &d) good = is_good_use(e);
      return good;
    });
    return good;
  }

  /// The value is one of float: of a float, of one of the variables, of a literal.
  [[nodiscard]] bool has_float(const Expr& e) const {
    if (one_of(e) != nullptr || type_of(facts_, e) == "float") return !e.is(ExprKind::init_list);
    if (e.is(ExprKind::conditional)) return has_float(e.arg(1)) && has_float(e.arg(2));
    const auto value = literal_value(facts_, e);
    return value && (is_float(*value) || is_beyond(*value));
  }

  [[nodiscard]] bool is_good_use(const Expr& e) const {
    const Expr* at = &e;
    const Expr* p = at->parent;
    for (; p != nullptr && p->is(ExprKind::conditional) && p->args[0] != at; p = at->parent) at = p;
    // The other value may be rounded twice on the way through a double.
    if (at != &e && !has_float(*at)) return false;
    if (p == nullptr) return is_initial(*at);
    if (p->is_op(ExprKind::assign, "=")) {
      if (p->args[0] == at) return at == &e && p->parent == nullptr;
      return one_of(p->arg(0)) != nullptr || type_of(facts_, p->arg(0)) == "float";
    }
    if (p->is(ExprKind::cast)) return plain_type(*p) == "float" && p->args.size() == 1;
    return at == &e && p->is(ExprKind::binary) && is_good_comparison(*p, e);
  }

  /// The value a declared variable begins with.
  [[nodiscard]] bool is_initial(const Expr& e) const {
    if (e.stmt == nullptr) return false;
    for (const Declarator* d : e.stmt->declarators) {
      if (d->value() == &e)
        return doubles_.contains(d) || (unit_.plain_text(d->type) == "float" && !d->is_pointer() &&
                                        !d->reference && !d->is_array());
    }
    return false;
  }

  [[nodiscard]] bool is_good_comparison(const Expr& p, const Expr& e) const {
    constexpr std::array kOrders{"<", "<=", ">", ">="};
    const bool ordered = std::ranges::find(kOrders, p.op) != kOrders.end();
    if (!ordered && p.op != "==" && p.op != "!=") return false;
    const bool left = p.args[0] == &e;
    const Expr& other = p.arg(left ? 1 : 0);
    const bool of_these = one_of(other) != nullptr;
    if (!of_these && type_of(facts_, other) != "float") return false;
    if (!any_beyond()) return true;
    if (of_these || !ordered) return false;
    // A float that is infinite must find the literal where infinity is: not less than the greatest.
    const bool less = p.op == "<" || p.op == "<=";  // as written
    const bool strict = p.op == "<" || p.op == ">";
    const bool other_less = left ? !less : less;  // other < e, other <= e
    for (const int sign : {1, -1}) {
      if (!any_beyond(sign)) continue;
      // other < 1e40 and other < infinity agree; so do other >= 1e40 and other >= infinity
      const bool agrees = (sign > 0) == other_less ? strict : !strict;
      if (!agrees) return false;
    }
    return true;
  }

  /// Literals beyond all floats among the values, of that sign or of any.
  [[nodiscard]] bool any_beyond(int sign = 0) const {
    bool out = false;
    const auto look = [&](const Expr& e) {
      walk(e, [&](const Expr& part) {
        const auto value = literal_value(facts_, part);
        if (value && is_beyond(*value)) out = out || sign == 0 || (*value > 0) == (sign > 0);
        return !value;
      });
    };
    for (const Declarator* d : doubles_) {
      if (d->value() != nullptr) look(*d->value());
    }
    for (const Write& w : facts_.state->writes) {
      if (w.variable != nullptr && doubles_.contains(w.variable) && w.node != nullptr &&
          w.node->is_op(ExprKind::assign, "="))
        look(w.node->arg(1));
    }
    return out;
  }

  /// Edits of the literals: infinity for those beyond all floats, whose values may not differ.
  bool names_infinity() {
    std::set<double> values;
    bool good = true;
    const auto put = [&](const Expr& root) {
      walk(root, [&](const Expr& e) {
        const auto value = literal_value(facts_, e);
        if (!value) return true;
        if (is_beyond(*value)) {
          values.insert(*value);
          good = good && unit_.plain_text(e.span) == plain_text(e);
          edits_.push_back({e.span.begin, e.span.end, *value > 0 ? "INFINITY" : "-INFINITY"});
        }
        return false;
      });
    };
    for (const Declarator* d : doubles_) {
      if (d->value() != nullptr) put_values(*d->value(), put);
    }
    for (const Write& w : facts_.state->writes) {
      if (w.variable != nullptr && doubles_.contains(w.variable) && w.node != nullptr &&
          w.node->is_op(ExprKind::assign, "="))
        put_values(w.node->arg(1), put);
    }
    const auto above = std::ranges::count_if(values, [](double v) { return v > 0; });
    return good && above <= 1 && static_cast<std::ptrdiff_t>(values.size()) - above <= 1;
  }

  /// Calls `put` for what may be the value.
  template <typename Put>
  void put_values(const Expr& e, const Put& put) const {
    if (!e.is(ExprKind::conditional)) return literal_value(facts_, e) ? put(e) : void();
    put_values(e.arg(1), put);
    put_values(e.arg(2), put);
  }

  const KernelFacts& facts_;
  const Unit& unit_;
  const Stmt& body_;
  std::set<const Declarator*> doubles_;
  std::vector<Edit> edits_;
};

}  // namespace

std::vector<Edit> float_doubles(const KernelFacts& facts) {
  return FloatDoubles(facts).found();
}

}  // namespace warpath
