#include "moves/edit/span_rewrite.h"

#include <algorithm>
#include <array>

#include "engine/plugin/runner.h"
#include "engine/spec/parameters.h"
#include "moves/syntax/syntax_query.h"
#include "moves/syntax/words.h"

namespace warpath {

using namespace model;

void Rewrite::add(std::vector<Edit> edits) {
  for (Edit& edit : edits) edits_.push_back(std::move(edit));
}

void Rewrite::declare_first(std::string_view lines) {
  head_ += lines;
}

void Rewrite::before(const Stmt& stmt, std::string_view lines) {
  const std::string indent = indentation(unit_, stmt.span.begin);
  const Stmt* const first = stmt.pragma != nullptr ? stmt.pragma : &stmt;
  const std::size_t at = first->span.begin;
  const std::size_t line = line_begin(unit_.source(), at);
  const bool own_line =
      unit_.source().substr(line, at - line).find_first_not_of(" \t") == std::string_view::npos;
  insert(own_line ? line : at,
         own_line ? indented(lines, indent) : "\n" + indented(lines, indent) + indent);
}

void Rewrite::after(const Stmt& stmt, std::string_view lines) {
  std::string text = "\n" + indented(lines, indentation(unit_, stmt.span.begin));
  if (text.ends_with('\n')) text.pop_back();
  insert(stmt.span.end, std::move(text));
}

std::string Rewrite::fresh(std::string_view wish) {
  return fresh_name(unit_, wish, &taken_);
}

Variant Rewrite::finish(const Variant& from) {
  if (!head_.empty()) {
    const std::string indent = indentation(unit_, kernel_.span.begin) + indent_unit(unit_);
    std::string text = "\n" + indented(head_, indent);
    text.pop_back();
    insert(kernel_.body->span.begin + 1, std::move(text));
    head_.clear();
  }
  Variant out = from;
  out.source = edited(unit_.source(), edits_);
  return out;
}

bool takes(const MoveInstance& instance,
           std::initializer_list<std::string_view> names,
           std::string& why) {
  bool same = instance.parameters.size() == names.size();
  for (const std::string_view name : names) same = same && instance.parameters.contains(name);
  if (same) return true;
  why = instance.move + " takes ";
  if (names.size() == 0) why += "no parameters";
  bool first = true;
  for (const std::string_view name : names)
    why += (first ? "" : ", ") + std::string(name), first = false;
  return false;
}

std::string substituted(const Unit& unit, Span span, const std::vector<Edit>& edits) {
  std::vector<Edit> inside;
  for (const Edit& edit : edits) {
    if (span.begin <= edit.begin && edit.end <= span.end)
      inside.push_back({edit.begin - span.begin, edit.end - span.begin, edit.text});
  }
  return edited(unit.text(span), std::move(inside));
}

std::string unindented(std::string_view text) {
  std::vector<std::string_view> lines;
  while (!text.empty()) {
    const std::size_t end = std::min(text.find('\n'), text.size());
    lines.push_back(text.substr(0, end));
    text.remove_prefix(std::min(end + 1, text.size()));
  }
  std::size_t shared = std::string::npos;
  for (const std::string_view line : lines) {
    const std::size_t blanks = line.find_first_not_of(" \t\r");
    if (blanks != std::string_view::npos && !line.starts_with('#'))
      shared = std::min(shared, blanks);
  }
  std::string out;
  for (const std::string_view line : lines) {
    const bool blank = line.find_first_not_of(" \t\r") == std::string_view::npos;
    const std::string_view kept =
        line.starts_with('#') ? line : line.substr(std::min(shared, line.size()));
    if (!blank) out += kept;
    out += '\n';
  }
  return out;
}

std::string body_text(const Unit& unit, const Stmt& body, const std::vector<Edit>& edits) {
  const bool block = body.is(StmtKind::block);
  Span span = body.span;
  if (block) span = {body.span.begin + 1, body.span.end - 1};
  const std::size_t line = line_begin(unit.source(), span.begin);
  std::string text = substituted(unit, span, edits);
  if (!block) text = std::string(span.begin - line, ' ') + text;
  while (!text.empty() &&
         (text.back() == ' ' || text.back() == '\n' || text.back() == '\t' || text.back() == '\r'))
    text.pop_back();
  const std::size_t first = text.find_first_not_of(" \t\r\n");
  if (first == std::string::npos) return "";
  const std::size_t line_before = text.rfind('\n', first);
  if (line_before != std::string::npos) {
    text.erase(0, line_before + 1);
  } else if (block) {  // starts on the line of its brace: so far in as the second line
    text.erase(0, first);
    const std::size_t next = text.find('\n');
    const std::size_t blanks =
        next == std::string::npos ? 0 : text.find_first_not_of(" \t\n", next) - next - 1;
    text.insert(0, std::string(blanks, ' '));
  }
  return unindented(text);
}

namespace {

/// Nothing encloses it within an argument of a macro, whose operators may bind tighter.
bool bare_in_macro(const Expr& e) {
  for (const Expr *at = &e, *up = e.parent; up != nullptr; at = up, up = up->parent) {
    if (at->parenthesised) return false;
    if (up->is(ExprKind::call)) return up->of_macro && up->args[0] != at;
    if (up->is(ExprKind::subscript) && up->args[0] != at) return false;
  }
  return false;
}

/// An operator around `name` could bind tighter than those of what takes its place.
bool needs_parentheses(const Expr& name) {
  if (name.parenthesised || name.parent == nullptr) return false;
  if (bare_in_macro(name)) return true;
  const Expr& parent = *name.parent;
  if (parent.is(ExprKind::subscript)) return parent.args[0] == &name;
  if (parent.is(ExprKind::call) || parent.is(ExprKind::init_list) || parent.is(ExprKind::assign))
    return parent.args[0] == &name;
  if (parent.is(ExprKind::cast)) return parent.op == "(";
  return !(parent.is_op(ExprKind::binary, "+") || parent.is_op(ExprKind::binary, "<") ||
           parent.is_op(ExprKind::binary, ">="));
}

void rename_here(const Expr& e,
                 std::string_view name,
                 std::string_view text,
                 std::vector<Edit>& edits) {
  if (!e.is_name(name)) return;
  const bool plain = text.find_first_of(" ?") == std::string_view::npos;
  edits.push_back(
      {e.span.begin, e.span.end,
       plain || !needs_parentheses(e) ? std::string(text) : "(" + std::string(text) + ")"});
}

}  // namespace

void rename_variable(const Stmt& root,
                     std::string_view name,
                     std::string_view text,
                     std::vector<Edit>& edits) {
  walk_expressions(root, [&](const Expr& e) { return rename_here(e, name, text, edits), true; });
}

void rename_variable(const Expr& root,
                     std::string_view name,
                     std::string_view text,
                     std::vector<Edit>& edits) {
  walk(root, [&](const Expr& e) { return rename_here(e, name, text, edits), true; });
}

namespace {

/// Of an arithmetic type, as far as can be told; operators of others mean what their class says.
bool is_number(const KernelFacts& facts, const Expr& e) {
  bool told = true;
  walk(e, [&](const Expr& part) { return told = told && !part.is(ExprKind::call), told; });
  const std::string type = type_of(facts, e);
  return told && (is_integer_type(type) || type == "float" || type == "double");
}

}  // namespace

std::string negated(const KernelFacts& facts, const Expr& c) {
  static const std::pair<std::string_view, std::string_view> kTurned[] = {
      {">=", "<"}, {"<", ">="}, {">", "<="}, {"<=", ">"}, {"==", "!="}, {"!=", "=="}};
  const Unit& unit = *facts.unit;
  if (c.is(ExprKind::binary)) {
    // neither a < b nor a >= b holds for a number that is none; a != b is not a == b all the same
    const bool ordered =
        ((c.op == "==" || c.op == "!=") && is_number(facts, c.arg(0)) &&
         is_number(facts, c.arg(1))) ||
        (is_integer_type(type_of(facts, c.arg(0))) && is_integer_type(type_of(facts, c.arg(1))));
    for (const auto& [from, to] : kTurned) {
      if (ordered && c.op == from)
        return unit.plain_text(c.arg(0).outer) + " " + std::string(to) + " " +
               unit.plain_text(c.arg(1).outer);
    }
    if (c.op == "||" || c.op == "&&") {
      const auto side = [&](const Expr& e) {
        const std::string text = negated(facts, e);
        return c.op == "||" && text.find("||") == std::string::npos ? text : "(" + text + ")";
      };
      return side(c.arg(0)) + (c.op == "||" ? " && " : " || ") + side(c.arg(1));
    }
  }
  if (c.is_op(ExprKind::unary, "!")) return unit.plain_text(c.arg(0).outer);
  return "!(" + unit.plain_text(c.span) + ")";
}

std::string factor_of(const Unit& unit, const Expr& expr) {
  const std::string text = unit.plain_text(expr.span);
  const bool simple = expr.is(ExprKind::name) || expr.is(ExprKind::number) ||
                      expr.is(ExprKind::call) || expr.is(ExprKind::subscript) ||
                      expr.is(ExprKind::member);
  return simple ? text : "(" + text + ")";
}

bool make_changeable(const Unit& unit, const Declarator& variable, std::vector<Edit>& edits) {
  if (variable.stmt == nullptr || variable.stmt->declarators.size() != 1) return false;
  if (!variable.has(kConst)) return true;
  const std::size_t begin = variable.stmt->span.begin;
  const CodeText head(unit.source().substr(begin, variable.name_span.begin - begin));
  for (std::size_t i = 0; i < head.tokens.size(); ++i) {
    if (!head.is(i, "const")) continue;
    const std::size_t next = head.source.find_first_not_of(' ', head.tokens[i].end);
    edits.push_back({begin + head.tokens[i].begin, begin + std::min(next, head.source.size()), ""});
  }
  return true;
}

std::string as_factor(const std::string& text) {
  const CodeText code(text);
  for (std::size_t i = 0, depth = 0; i < code.tokens.size(); ++i) {
    const std::string_view word = code.text[i];
    if (word == "(" || word == "[") ++depth;
    if (word == ")" || word == "]") --depth;
    const bool operation = code.tokens[i].kind == TokenKind::punctuator && word != "(" &&
                           word != ")" && word != "[" && word != "]" && word != "." && word != "->";
    if (depth == 0 && operation && word != "*" && word != "::") return "(" + text + ")";
  }
  return text;
}

Bindings last_thread(const MoveContext& context,
                     const KernelFacts& facts,
                     const Workload& workload) {
  const LaunchNumbers n =
      evaluate(launch_for(context.spec, context.variant, workload),
               context.spec.bindings(workload, context.variant.tunables), "launch plan");
  Bindings last = facts.values(workload);
  last["blockIdx.x"] = n.grid[0] - 1, last["threadIdx.x"] = n.block[0] - 1,
  last["blockDim.x"] = n.block[0], last["gridDim.x"] = n.grid[0];
  return last;
}

std::vector<const Workload*> workloads_of(const MoveContext& context) {
  std::vector<const Workload*> out = workloads_for(context.spec, context.device);
  const auto other = [&](const Workload* w) { return !serves(context.spec, context.variant, *w); };
  std::erase_if(out, other);
  return out.empty() ? all_workloads_of(context) : out;
}

std::vector<const Workload*> all_workloads_of(const MoveContext& context) {
  std::vector<const Workload*> out;
  for (const Workload& w : context.spec.workloads) {
    if (serves(context.spec, context.variant, w)) out.push_back(&w);
  }
  return out;
}

const ArgSpec* argument_of(const KernelSpec& spec,
                           const Function& kernel,
                           const Declarator& parameter) {
  const std::vector<const ArgSpec*> passed = parameter_arguments(spec);
  if (passed.size() != kernel.parameters.size()) return nullptr;
  for (std::size_t i = 0; i < passed.size(); ++i) {
    if (kernel.parameters[i] == &parameter) return passed[i];
  }
  return nullptr;
}

namespace {

/// With the values of integer constants that the kernel declares (constexpr int C = 4096;).
Polynomial with_constants(const KernelFacts& facts, const Polynomial& value) {
  Polynomial out = facts.resolved(value);
  if (!out.is_known()) return out;
  Bindings known;
  for (const std::string& name : out.names()) {
    const Declarator* const d =
        visible(*facts.unit, *facts.kernel, name, facts.kernel->body->span.end - 1);
    if (d == nullptr || !d->is_constant() || d->is_array() || d->value() == nullptr) continue;
    if (const auto number = constant_value(*facts.unit, *d->value())) known[name] = *number;
  }
  return known.empty() ? out : out.bound(known);
}

}  // namespace

std::optional<std::int64_t> fixed(const KernelFacts& facts, const Polynomial& value) {
  return with_constants(facts, value).constant();
}

bool is_multiple(const KernelFacts& facts, const Polynomial& value, std::int64_t n) {
  return with_constants(facts, value).divisible_by(n, facts.multiples());
}

bool stays_small(const MoveContext& context, const KernelFacts& facts, const Polynomial& value) {
  for (const Workload* w : workloads_of(context)) {
    const auto number = with_constants(facts, value).evaluate(facts.values(*w));
    if (number && *number > INT32_MAX) return false;
  }
  return true;
}

Expression divided(const Expression& count, std::int64_t factor) {
  return Expression::parse("ceil_div(" + count.text() + ", " + std::to_string(factor) + ")",
                           "launch plan");
}

bool has_own_plans(const KernelSpec& spec) {
  return std::any_of(spec.workloads.begin(), spec.workloads.end(),
                     [](const Workload& w) { return w.launch.has_value(); });
}

bool jumps_out(const Stmt& stmt) {
  bool found = false;
  walk(stmt, [&](const Stmt& s) {
    if (s.is(StmtKind::return_) || s.is(StmtKind::goto_) || s.is(StmtKind::label)) found = true;
    if (s.is(StmtKind::break_) || s.is(StmtKind::continue_)) {
      const Stmt* at = s.parent;
      while (at != nullptr && at != stmt.parent && !at->is_loop() &&
             !(s.is(StmtKind::break_) && at->is(StmtKind::switch_)))
        at = at->parent;
      if (at == nullptr || at == stmt.parent) found = true;
    }
    return !found;
  });
  return found;
}

bool joins_threads(const Stmt& stmt) {
  bool found = false;
  walk(stmt, [&](const Stmt& s) {
    return found = found || s.is(StmtKind::assembly) || s.is(StmtKind::opaque), !found;
  });
  walk_expressions(stmt, [&](const Expr& e) {
    found = found || joins_threads(callee(e));
    return !found;
  });
  return found;
}

bool joins_threads(std::string_view function) {
  constexpr std::array<std::string_view, 7> kParts{"sync",  "shfl",         "ballot",       "__any",
                                                   "__all", "__activemask", "__threadfence"};
  return std::ranges::any_of(
      kParts, [&](std::string_view part) { return function.find(part) != std::string_view::npos; });
}

bool is_always_evaluated(const Expr& e) {
  for (const Expr* at = &e; at->parent != nullptr; at = at->parent) {
    const Expr& p = *at->parent;
    if (p.is(ExprKind::conditional) && p.args[0] != at) return false;
    if ((p.is_op(ExprKind::binary, "&&") || p.is_op(ExprKind::binary, "||")) && p.args[0] != at)
      return false;
    if (p.is(ExprKind::lambda)) return false;
  }
  return true;
}

const Expr& subscripted(const Expr& name, std::size_t& depth) {
  const Expr* at = &name;
  for (depth = 0;
       at->parent != nullptr && at->parent->is(ExprKind::subscript) && &at->parent->arg(0) == at;
       ++depth)
    at = at->parent;
  return *at;
}

std::int64_t static_smem_bytes(const KernelFacts& facts, const Array* except) {
  std::int64_t out = 0;
  for (const Array& array : facts.arrays) {
    if (array.space != Space::shared || array.dynamic_shared || &array == except) continue;
    std::int64_t bytes = static_cast<std::int64_t>(array.element_bytes);
    for (const Polynomial& extent : array.extents) {
      const std::int64_t n = facts.resolved(extent).constant().value_or(1);
      bytes = n > 0 && bytes < INT32_MAX ? bytes * std::min<std::int64_t>(n, INT32_MAX) : bytes;
    }
    out += std::min<std::int64_t>(bytes, INT32_MAX);
  }
  return out;
}

std::optional<GuardedBody> guarded_body(const KernelFacts& facts, int axis, std::string& why) {
  GuardedBody out;
  for (const ThreadIndex& index : facts.thread_indices) {
    if (index.axis == axis && index.form == ThreadIndex::Form::global &&
        index.declarator != nullptr && index.bound) {
      out.index = &index;
      break;
    }
  }
  if (out.index == nullptr) {
    const bool beyond = std::ranges::any_of(facts.thread_indices, [&](const ThreadIndex& index) {
      return index.axis == axis && index.form == ThreadIndex::Form::global && index.beyond_launch;
    });
    return why = beyond ? "the guard's bound lies beyond the launch"
                        : "no thread index that a guard bounds",
           std::nullopt;
  }
  const Guard& guard = *out.index->guard;
  out.guard = guard.stmt;
  out.early_exit = guard.early_exit;
  const Expr& c = *guard.stmt->expr;
  const bool comparison =
      c.is(ExprKind::binary) && (c.op == "<" || c.op == "<=" || c.op == ">" || c.op == ">=");
  out.only_bound = comparison && (strip_casts(c.arg(0)).is_name(out.index->name) ||
                                  strip_casts(c.arg(1)).is_name(out.index->name));
  const Stmt* const block = guard.stmt->parent;
  if (block != facts.kernel->body)
    return why = "the guard does not stand in the kernel's body", std::nullopt;
  if (guard.stmt->otherwise != nullptr) return why = "the guard has an else branch", std::nullopt;
  bool behind = false;
  for (const Stmt* s : block->children) {
    if (s == guard.stmt) {
      behind = true;
      continue;
    }
    if (behind && out.early_exit) {
      out.statements.push_back(s);
    } else if (!s->is(StmtKind::declaration) && !s->is(StmtKind::empty) &&
               !s->is(StmtKind::directive)) {
      return why = "something but declarations stands outside the guard", std::nullopt;
    }
  }
  if (!out.early_exit) out.statements = statements(*guard.stmt->body);
  if (out.statements.empty()) return why = "the guard protects nothing", std::nullopt;
  out.span = {out.statements.front()->span.begin, out.statements.back()->span.end};
  return out;
}

std::string bound_text(const Unit& unit, const GuardedBody& body) {
  const Expr& c = *body.guard->expr;
  const bool plain =
      c.is_op(ExprKind::binary, body.early_exit ? ">=" : "<") && c.arg(0).is_name(body.index->name);
  return plain ? unit.plain_text(c.arg(1).outer) : body.index->bound->text();
}

}  // namespace warpath
