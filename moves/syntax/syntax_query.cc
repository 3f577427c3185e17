#include "moves/syntax/syntax_query.h"

#include <algorithm>
#include <array>

#include "engine/text/source_edit.h"
#include "moves/syntax/storage.h"

namespace warpath::model {
namespace {

template <class Visit>
void walk_expression(const Expr& root, const Visit& visit, bool statements);

template <class OnStmt, class OnExpr>
void walk_tree(const Stmt& root, const OnStmt& on_stmt, const OnExpr& on_expr) {
  if (!on_stmt(root)) return;
  const auto expression = [&](const Expr* e) {
    if (e != nullptr) on_expr(*e);
  };
  const auto declare = [&](const Stmt& s) {
    for (const Declarator* d : s.declarators) {
      for (const Expr* e : d->extents) expression(e);
      for (const Expr* e : d->init) expression(e);
    }
  };
  declare(root);
  if (root.init != nullptr) walk_tree(*root.init, on_stmt, on_expr);
  if (root.kind != StmtKind::do_) expression(root.expr);
  for (const Expr* e : root.operands) expression(e);
  for (const Stmt* s : root.children) walk_tree(*s, on_stmt, on_expr);
  if (root.body != nullptr) walk_tree(*root.body, on_stmt, on_expr);
  if (root.kind == StmtKind::do_) expression(root.expr);
  expression(root.step);
  if (root.otherwise != nullptr) walk_tree(*root.otherwise, on_stmt, on_expr);
}

template <class Visit>
void walk_expression(const Expr& root, const Visit& visit, bool statements) {
  if (!visit(root)) return;
  for (const Expr* arg : root.args) {
    if (arg != nullptr) walk_expression(*arg, visit, statements);
  }
  if (statements && root.body != nullptr) {
    walk_tree(
        *root.body, [](const Stmt&) { return true; },
        [&](const Expr& e) { walk_expression(e, visit, statements); });
  }
}

const Declarator* declared_by(const Stmt& stmt, std::string_view name) {
  for (const Declarator* d : stmt.declarators) {
    if (d->name == name) return d;
  }
  return nullptr;
}

/// Looks outwards from `from`; declarations that begin at or behind `at` do not count.
const Declarator* look_up(const Unit& unit,
                          const Stmt* from,
                          const Function* function,
                          std::string_view name,
                          std::size_t at) {
  for (const Stmt* s = from; s != nullptr; s = s->parent) {
    if (s->kind == StmtKind::block) {
      const Declarator* last = nullptr;
      for (const Stmt* child : s->children) {
        if (child->span.begin >= at) break;
        if (const Declarator* d = declared_by(*child, name);
            d != nullptr && d->name_span.begin < at)
          last = d;
      }
      if (last != nullptr) return last;
    } else {
      if (const Declarator* d = declared_by(*s, name); d != nullptr && d->name_span.begin < at)
        return d;
      if (s->init != nullptr) {
        if (const Declarator* d = declared_by(*s->init, name);
            d != nullptr && d->name_span.begin < at)
          return d;
      }
    }
  }
  if (function != nullptr) {
    if (const Declarator* d = function->parameter(name)) return d;
  }
  for (const Declarator* d : unit.globals()) {
    if (d->name == name) return d;
  }
  return nullptr;
}

const Stmt* innermost_at(const Stmt* root, std::size_t at) {
  const Stmt* found = nullptr;
  if (root == nullptr) return found;
  walk(*root, [&](const Stmt& s) {
    if (at < s.span.begin || at > s.span.end) return false;
    found = &s;
    return true;
  });
  return found;
}

}  // namespace

void walk(const Expr& root, const std::function<bool(const Expr&)>& visit) {
  walk_expression(root, visit, false);
}

void walk_expressions(const Stmt& root, const std::function<bool(const Expr&)>& visit) {
  walk_tree(
      root, [](const Stmt&) { return true; },
      [&](const Expr& e) { walk_expression(e, visit, true); });
}

void walk(const Stmt& root, const std::function<bool(const Stmt&)>& visit) {
  walk_tree(root, visit, [&](const Expr& e) {
    walk_expression(
        e,
        [&](const Expr& inner) {
          if (inner.body != nullptr) walk(*inner.body, visit);
          return true;
        },
        false);
  });
}

std::vector<const Expr*> expressions_of(const Stmt& stmt) {
  std::vector<const Expr*> out;
  for (const Declarator* d : stmt.declarators) {
    for (const Expr* e : d->extents) {
      if (e != nullptr) out.push_back(e);
    }
    out.insert(out.end(), d->init.begin(), d->init.end());
  }
  if (stmt.expr != nullptr) out.push_back(stmt.expr);
  out.insert(out.end(), stmt.operands.begin(), stmt.operands.end());
  if (stmt.step != nullptr) out.push_back(stmt.step);
  return out;
}

const Expr& strip_casts(const Expr& expr) {
  const Expr* e = &expr;
  while (e->kind == ExprKind::cast && e->args.size() == 1) e = e->args[0];
  return *e;
}

std::string_view callee(const Expr& expr) {
  if (expr.kind != ExprKind::call || expr.args[0]->kind != ExprKind::name) return {};
  const std::string_view name = expr.args[0]->name;
  return name.substr(0, name.find('<'));
}

const Declarator* declaration_of(const Unit& unit, const Expr& name) {
  if (name.kind != ExprKind::name) return nullptr;
  const Function* const function = name.stmt != nullptr ? name.stmt->function : nullptr;
  return look_up(unit, name.stmt, function, name.name, name.span.begin);
}

const Declarator* visible(const Unit& unit,
                          const Function& function,
                          std::string_view name,
                          std::size_t at) {
  return look_up(unit, innermost_at(function.body, at), &function, name, at);
}

bool is_pure(const Unit& unit, const Expr& expr) {
  bool pure = true;
  walk(expr, [&](const Expr& e) {
    if (e.kind == ExprKind::assign || e.kind == ExprKind::opaque || e.kind == ExprKind::launch ||
        e.kind == ExprKind::lambda || e.kind == ExprKind::statement ||
        e.kind == ExprKind::new_object ||
        ((e.kind == ExprKind::unary || e.kind == ExprKind::postfix) &&
         (e.op == "++" || e.op == "--" || e.op == "delete" || e.op == "throw"))) {
      pure = false;
    } else if (e.kind == ExprKind::call) {
      pure = pure && is_pure_function(unit, callee(e));
    }
    return pure;
  });
  return pure;
}

bool mentions(const Expr& expr, std::string_view name) {
  bool found = false;
  walk_expression(
      expr,
      [&](const Expr& e) {
        found = found || e.is_name(name);
        return !found;
      },
      true);
  return found;
}

bool mentions(const Stmt& stmt, std::string_view name) {
  bool found = false;
  walk_expressions(stmt, [&](const Expr& e) {
    found = found || e.is_name(name);
    return !found;
  });
  return found;
}

std::vector<HiddenKernel> hidden_kernels(const Unit& unit) {
  std::vector<HiddenKernel> out;
  for (const Conditional& conditional : unit.conditionals()) {
    if (conditional.taken) continue;
    const std::string_view text = unit.text(conditional.branch);
    const std::vector<Token> tokens = without_comments(tokenize(text).tokens);
    for (std::size_t i = 0; i < tokens.size(); ++i) {
      if (spelling(text, tokens[i]) != "__global__") continue;
      // The name stands before the first parenthesis that no attribute owns.
      for (std::size_t k = i + 1; k + 1 < tokens.size(); ++k) {
        const std::string word = spelling(text, tokens[k]);
        if (word == ";" || word == "{") break;
        if (tokens[k].kind != TokenKind::identifier || spelling(text, tokens[k + 1]) != "(" ||
            word == "__launch_bounds__" || word == "__attribute__")
          continue;
        out.push_back({word, conditional.directive});
        break;
      }
    }
  }
  return out;
}

bool same_text(const Unit&, const Expr& a, const Expr& b) {
  const auto words = [&](const Expr& e) {
    std::vector<std::string> out;
    const std::string text = plain_text(e);
    for (const Token& t : without_comments(tokenize(text).tokens)) out.push_back(spelling(text, t));
    return out;
  };
  return words(a) == words(b);
}

std::string fresh_name(const Unit& unit,
                       std::string_view wish,
                       std::set<std::string, std::less<>>* taken) {
  const auto free = [&](const std::string& name) {
    return !unit.identifiers().contains(name) && !unit.is_defined(name) &&
           (taken == nullptr || !taken->contains(name));
  };
  std::string stem(wish);
  // cuda_sum, __square: no number behind it makes it another's
  if (is_cuda_name(stem + "_2"))
    stem = "own_" + stem.substr(std::min(stem.find_first_not_of('_'), stem.size()));
  std::string out = stem;
  for (int i = 2; !free(out) || is_keyword(out) || is_cuda_name(out); ++i)
    out = stem + "_" + std::to_string(i);
  if (taken != nullptr) taken->insert(out);
  return out;
}

std::string indentation(const Unit& unit, std::size_t at) {
  const std::string_view line = unit.source().substr(line_begin(unit.source(), at));
  const std::size_t end = line.find_first_not_of(" \t");
  return std::string(line.substr(0, end == std::string_view::npos ? line.size() : end));
}

std::string indent_unit(const Unit& unit) {
  for (const Function* f : unit.functions()) {
    if (f->body == nullptr || f->body->children.empty()) continue;
    const std::string inner = indentation(unit, f->body->children[0]->span.begin);
    const std::string outer = indentation(unit, f->body->span.begin);
    if (inner.size() > outer.size() && inner.starts_with(outer)) return inner.substr(outer.size());
  }
  return "  ";
}

std::string indented(std::string_view text, std::string_view indent) {
  std::string out;
  while (!text.empty()) {
    const std::size_t end = std::min(text.find('\n'), text.size() - 1) + 1;
    const std::string_view line = text.substr(0, end);
    if (line != "\n" && line != "\r\n" && !line.starts_with('#')) out += indent;
    out += line;
    text.remove_prefix(end);
  }
  return out;
}

std::size_t line_of(const Unit& unit, std::size_t at) {
  const std::string_view before = unit.source().substr(0, at);
  return 1 + static_cast<std::size_t>(std::count(before.begin(), before.end(), '\n'));
}

Span whole_lines(const Unit& unit, Span span, bool with_comments_above) {
  const std::string_view source = unit.source();
  const auto blank = [](std::string_view text) {
    return text.find_first_not_of(" \t\r\n") == std::string_view::npos;
  };
  const std::size_t begin = line_begin(source, span.begin);
  const std::size_t newline = source.find('\n', span.end);
  const std::size_t end = newline == std::string_view::npos ? source.size() : newline + 1;
  Span out = span;
  if (blank(source.substr(begin, span.begin - begin))) out.begin = begin;
  if (out.begin == begin && blank(source.substr(span.end, end - span.end))) out.end = end;
  while (with_comments_above && out.begin == line_begin(source, out.begin) && out.begin > 0) {
    const std::size_t above = line_begin(source, out.begin - 1);
    const std::string_view line = source.substr(above, out.begin - above);
    const std::size_t text = line.find_first_not_of(" \t");
    if (text == std::string_view::npos || !line.substr(text).starts_with("//")) break;
    out.begin = above;
  }
  return out;
}

bool is_inside(const Stmt& stmt, const Stmt& ancestor) {
  for (const Stmt* s = &stmt; s != nullptr; s = s->parent) {
    if (s == &ancestor) return true;
  }
  return false;
}

bool is_inside(const Expr& expr, const Stmt& ancestor) {
  return expr.stmt != nullptr && is_inside(*expr.stmt, ancestor);
}

const Stmt* enclosing_loop(const Stmt& stmt) {
  for (const Stmt* s = stmt.parent; s != nullptr; s = s->parent) {
    if (s->is_loop()) return s;
  }
  return nullptr;
}

std::vector<const Stmt*> statements(const Stmt& body) {
  if (body.kind != StmtKind::block) return {&body};
  return {body.children.begin(), body.children.end()};
}

}  // namespace warpath::model
