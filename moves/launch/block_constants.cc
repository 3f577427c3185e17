#include "moves/launch/block_constants.h"

#include <algorithm>
#include <array>
#include <set>
#include <string_view>

#include "engine/text/function_text.h"
#include "moves/edit/device_limits.h"
#include "moves/syntax/syntax_query.h"

namespace warpath {
namespace {

using namespace model;

/// The texts that a kernel consists of: its own, and what it names, directly or not.
class NamedTexts {
 public:
  NamedTexts(const Unit& unit, const Variant& variant) : unit_(unit) {
    add(variant.kernel_name);
    const Function* const kernel = unit.find_kernel(variant.kernel_name);
    if (kernel != nullptr) add_function(*kernel);
    for (bool more = true; more;) {
      const std::size_t before = texts_.size();
      for (const Function* f : unit.functions()) {
        const bool member = f->record != nullptr && names_.contains(f->record->name);
        if (!f->is_global && (member || names_.contains(f->name))) add_function(*f);
      }
      for (const Macro& m : unit.macros()) {
        if (names_.contains(m.name)) add(m.body);
      }
      for (const Declarator* d : unit.globals()) {
        if (names_.contains(d->name))
          add(std::string(unit.text(d->specifiers)) + " " + std::string(unit.text(d->span)) + ";");
      }
      more = texts_.size() > before;
    }
  }
  [[nodiscard]] const std::set<std::string, std::less<>>& texts() const { return texts_; }
  [[nodiscard]] const std::set<std::string, std::less<>>& names() const { return names_; }
  [[nodiscard]] const std::set<const Function*>& functions() const { return functions_; }

 private:
  void add(std::string text) {
    const auto [it, is_new] = texts_.insert(std::move(text));
    if (!is_new) return;
    const CodeText code(*it);
    for (std::size_t i = 0; i < code.tokens.size(); ++i) {
      if (code.is_name(i)) names_.emplace(code.text[i]);
    }
  }
  void add_function(const Function& f) {
    if (!functions_.insert(&f).second) return;
    add(std::string(unit_.text(f.span)));
    if (f.record != nullptr) add(std::string(unit_.text(f.record->body)));
  }

  const Unit& unit_;
  std::set<std::string, std::less<>> texts_, names_;
  std::set<const Function*> functions_;
};

class TieFinder {
 public:
  TieFinder(const Unit& unit, const Variant& variant, const BlockNumbers& numbers)
      : unit_(unit), variant_(variant), numbers_(numbers), own_(unit, variant) {
    const std::int64_t warps = numbers.threads / kWarp;
    if (numbers.together && warps > 1) warps_ = warps;
  }

  std::string find() {
    for (const auto& [name, value] : unit_.constants()) {
      if (own_.names().contains(name) && !variant_.tunables.contains(name) && ties(value))
        return said(name, value);
    }
    for (const std::string& text : own_.texts()) {
      if (std::string tie = in_text(text); !tie.empty()) return tie;
    }
    for (const Function* f : own_.functions()) {
      for (const Expr* bound : f->launch_bounds_args) {
        if (const auto value = constant_value(unit_, *bound); value && is_threads(*value))
          return said(plain_text(*bound), *value);
      }
      if (f->body == nullptr) continue;
      walk(*f->body, [&](const Stmt& s) {
        if (tie_.empty() && warps_ > 0) loop(s);
        return tie_.empty();
      });
      walk_expressions(*f->body, [&](const Expr& e) {
        if (tie_.empty()) expression(e);
        return tie_.empty();
      });
      if (!tie_.empty()) return tie_;
    }
    return {};
  }

 private:
  [[nodiscard]] bool is_threads(std::int64_t value) const {
    return value > 1 && (value == numbers_.threads ||
                         std::ranges::find(numbers_.extents, value) != numbers_.extents.end());
  }
  [[nodiscard]] bool is_warps(std::int64_t value) const { return warps_ > 0 && value == warps_; }
  [[nodiscard]] bool ties(std::int64_t value) const { return is_threads(value) || is_warps(value); }
  [[nodiscard]] std::string said(std::string_view text, std::int64_t value) const {
    std::string out(text);
    if (out != std::to_string(value)) out += " = " + std::to_string(value);
    return out + (is_threads(value) ? " may be the block's threads" : " may be the block's warps");
  }

  /// Named constants and template arguments.
  [[nodiscard]] std::string in_text(const std::string& text) const {
    const CodeText code(text);
    for (std::size_t i = 0; i + 1 < code.tokens.size(); ++i) {
      if (!code.is_name(i)) continue;
      if (code.is(i + 1, "=") && names_constant(code, i)) {
        std::size_t end = i + 2;
        while (end < code.tokens.size() && !code.is(end, ";") && !code.is(end, ",") &&
               !code.is(end, "}") && !code.is(end, ">"))
          ++end;
        if (std::string tie = of_value(code, i + 2, end); !tie.empty()) return tie;
      }
      if (!code.is(i + 1, "<")) continue;
      std::size_t first = i + 2;
      for (std::size_t k = first; k < code.tokens.size(); ++k) {
        const bool ends = code.is(k, ">") || code.is(k, ">>");
        if (!ends && !code.is(k, ",")) {
          if (!code.is_name(k) && code.tokens[k].kind != TokenKind::number && !operates(code, k))
            break;
          if (code.is(k, "<")) first = k + 1;
          continue;
        }
        if (std::string tie = of_value(code, first, k); !tie.empty()) return tie;
        if (ends) break;
        first = k + 1;
      }
    }
    return {};
  }

  static bool operates(const CodeText& code, std::size_t k) {
    constexpr std::array<std::string_view, 9> kPlain{"::", "*", "+", "-", "/", "(", ")", "<<", "<"};
    return std::ranges::find(kPlain, code.text[k]) != kPlain.end();
  }

  /// Tokens [begin, end) are the value of something with a name.
  [[nodiscard]] std::string of_value(const CodeText& code,
                                     std::size_t begin,
                                     std::size_t end) const {
    if (begin >= end || end > code.tokens.size()) return {};
    const std::size_t from = code.tokens[begin].begin;
    const std::string_view text = code.source.substr(from, code.tokens[end - 1].end - from);
    const auto value = constant_value(unit_, text);
    return value && ties(*value) ? said(text, *value) : std::string();
  }

  /// The declaration of the name says that it stays what it is, or it is one of an enumeration.
  static bool names_constant(const CodeText& code, std::size_t name) {
    for (std::size_t i = name; i > 0;) {
      --i;
      if (code.is(i, "constexpr") || code.is(i, "const") || code.is(i, "template")) return true;
      if (code.is(i, ";") || code.is(i, "}") || code.is(i, "(")) return false;
      if (!code.is(i, "{")) continue;
      for (std::size_t k = i; k > 0 && i - k < 6;) {
        if (code.is(--k, "enum")) return true;
      }
      return false;
    }
    return false;
  }

  /// Something that is made of the thread's index, or of what a helper is given.
  [[nodiscard]] bool is_of_thread(const Expr& e, int depth = 0) const {
    constexpr int kDepth = 8;
    bool found = false;
    walk(e, [&](const Expr& part) {
      if (found || !part.is(ExprKind::name)) return !found;
      if (part.name == "threadIdx") return found = true, false;
      const Declarator* const d = declaration_of(unit_, part);
      if (d == nullptr) return true;
      if (d->is_parameter && d->function != nullptr && !d->function->is_global && !d->is_pointer())
        found = true;
      if (d->value() != nullptr && depth < kDepth && !d->is_array())
        found = found || is_of_thread(*d->value(), depth + 1);
      return !found;
    });
    return found;
  }

  /// An array that the block shares, or whatever a helper is given.
  [[nodiscard]] bool may_be_shared(const Expr& base) const {
    const Expr& e = strip_casts(base);
    if (e.is(ExprKind::subscript)) return may_be_shared(e.arg(0));
    const Declarator* const d = e.is(ExprKind::name) ? declaration_of(unit_, e) : nullptr;
    if (d == nullptr || d->function == nullptr) return true;
    if (d->is_parameter) return !d->function->is_global;
    return d->has(kShared) || d->is_pointer();
  }

  void loop(const Stmt& s) {
    if (!s.is_loop() || s.body == nullptr) return;
    std::string variable;
    if (s.expr != nullptr && s.expr->is(ExprKind::binary) && s.expr->args.size() == 2) {
      for (const bool right : {false, true}) {
        const auto value = constant_value(unit_, s.expr->arg(right ? 1 : 0));
        const Expr& other = strip_casts(s.expr->arg(right ? 0 : 1));
        if (!value || !other.is(ExprKind::name)) continue;
        if (is_warps(*value) || is_warps(*value + 1)) variable = other.name;
      }
    }
    if (!variable.empty()) {
      walk_expressions(*s.body, [&](const Expr& e) {
        if (e.is(ExprKind::subscript) && e.args.size() == 2 && mentions(e.arg(1), variable) &&
            may_be_shared(e.arg(0)))
          tie_ = said(plain_text(*s.expr), warps_);
        return tie_.empty();
      });
    }
    halves(s);
  }

  /// A loop that starts at half of the threads, or of the warps, and halves on.
  void halves(const Stmt& s) {
    if (s.init == nullptr || s.step == nullptr || !tie_.empty()) return;
    const std::string step = plain_text(*s.step);
    const bool by_two =
        step.find("/= 2") != std::string::npos || step.find(">>= 1") != std::string::npos ||
        step.find("/ 2") != std::string::npos || step.find(">> 1") != std::string::npos;
    const Expr* start = nullptr;
    for (const Declarator* d : s.init->declarators) start = d->value();
    if (s.init->expr != nullptr && s.init->expr->is_op(ExprKind::assign, "="))
      start = s.init->expr->args[1];
    const auto value = by_two && start != nullptr ? constant_value(unit_, *start) : std::nullopt;
    if (!value || *value < 2) return;
    // half a warp is the warp's own
    const bool of_warps = warps_ != kWarp && 2 * *value == warps_;
    if (of_warps || 2 * *value == numbers_.threads)
      tie_ = plain_text(*start) + " may be half of the block's " + (of_warps ? "warps" : "threads");
  }

  void expression(const Expr& e) {
    const bool compound =
        e.is(ExprKind::binary) || e.is(ExprKind::conditional) || e.is(ExprKind::size_of);
    if (compound) {
      const auto value = constant_value(unit_, e);
      if (value && is_threads(*value)) tie_ = said(plain_text(e), *value);
    }
    // what is read by it is as far apart as the grid has threads
    if (e.is_op(ExprKind::assign, "=") && strip_casts(e.arg(0)).is(ExprKind::subscript) &&
        mentions(e.arg(1), "gridDim") && mentions(e.arg(1), "blockDim"))
      tie_ = plain_text(e) + " keeps the threads of the grid";
    if (warps_ == 0 || !tie_.empty()) return;
    if (e.is(ExprKind::binary) && e.args.size() == 2) {
      constexpr std::array<std::string_view, 6> kComparisons{"<", "<=", ">", ">=", "==", "!="};
      if (std::ranges::find(kComparisons, e.op) == kComparisons.end()) return;
      for (const bool right : {false, true}) {
        const auto value = constant_value(unit_, e.arg(right ? 1 : 0));
        if (value && (is_warps(*value) || (is_warps(*value + 1) && *value > 1)) &&
            is_of_thread(e.arg(right ? 0 : 1)))
          tie_ = said(plain_text(e), warps_);
      }
    } else if (e.is(ExprKind::subscript) && e.args.size() == 2) {
      const auto index = constant_value(unit_, e.arg(1));
      if (index && is_warps(*index + 1) && may_be_shared(e.arg(0)))
        tie_ = plain_text(e) + " may be of the block's last warp";
    } else if (e.is(ExprKind::call) && callee(e).starts_with("__shfl") && e.args.size() == 5) {
      const auto width = constant_value(unit_, e.arg(4));
      if (width && is_warps(*width) && warps_ != kWarp)
        tie_ = plain_text(e) + " may go over the block's warps";
    }
  }

  const Unit& unit_;
  const Variant& variant_;
  const BlockNumbers& numbers_;
  NamedTexts own_;
  std::int64_t warps_ = 0;  // that tie; 0: none
  std::string tie_;
};

}  // namespace

std::string tie_to_block(const Unit& unit, const Variant& variant, const BlockNumbers& numbers) {
  return TieFinder(unit, variant, numbers).find();
}

}  // namespace warpath
