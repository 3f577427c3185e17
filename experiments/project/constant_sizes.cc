#include "experiments/project/constant_sizes.h"

#include <algorithm>
#include <cstdint>
#include <set>
#include <string_view>
#include <vector>

#include "engine/base/ascii.h"
#include "engine/text/source_edit.h"
#include "engine/text/tokens.h"
#include "experiments/project/kernel_signature.h"
#include "moves/syntax/syntax_query.h"

namespace warpath {
namespace {

using model::Declarator;
using model::Expr;
using model::ExprKind;
using model::Macro;
using model::Span;

/// Smaller ones cost the host nothing.
constexpr std::int64_t kLeastSize = 128;
/// So many threads a block may have.
constexpr std::int64_t kMostBlockThreads = 1024;

/// Where the file says a constant, so that it can be taken out.
struct NamedConstant {
  std::string name;
  Span span;
};

class Sizes {
 public:
  Sizes(const model::Unit& unit, const model::Function& kernel) : unit_(unit), kernel_(kernel) {}

  [[nodiscard]] std::optional<KernelOfSizes> made() const {
    KernelOfSizes out;
    std::vector<Edit> edits;
    std::string parameters;
    for (const NamedConstant& one : definitions()) {
      const std::int64_t value = unit_.constants().at(one.name);
      if (!is_size(one, value)) continue;
      out.sizes[one.name] = value;
      edits.push_back({one.span.begin, one.span.end, ""});
      parameters += ", int " + one.name;
    }
    if (edits.empty() || kernel_.parameters.empty()) return std::nullopt;
    edits.push_back({kernel_.parameters_span.end, kernel_.parameters_span.end, parameters});
    out.source = edited(unit_.source(), std::move(edits));
    return out;
  }

 private:
  [[nodiscard]] std::vector<NamedConstant> definitions() const {
    std::vector<NamedConstant> out;
    const auto wanted = [&](std::string_view name) {
      const auto value = unit_.constants().find(name);
      return value != unit_.constants().end() && value->second >= kLeastSize &&
             value->second <= INT32_MAX && !unit_.bindings().contains(name);
    };
    const auto is_number = [](std::string_view text) {
      const std::vector<Token> tokens = tokenize(text).tokens;
      return tokens.size() == 1 && tokens[0].kind == TokenKind::number;
    };
    for (const Macro& macro : unit_.macros()) {
      if (!macro.function_like && is_number(macro.body) && wanted(macro.name))
        out.push_back({std::string(macro.name), macro.span});
    }
    for (const Declarator* const global : unit_.globals()) {
      if (!global->is_constant() || global->value() == nullptr || !wanted(global->name) ||
          !global->value()->is(ExprKind::number))
        continue;
      const std::size_t end = unit_.source().find_first_not_of(" \t", global->span.end);
      const bool alone = end != std::string_view::npos && unit_.source()[end] == ';' &&
                         global->specifiers.end <= global->span.begin;
      if (alone) out.push_back({std::string(global->name), {global->specifiers.begin, end + 1}});
    }
    const auto times = [&](const std::string& name) {
      return std::ranges::count(out, name, &NamedConstant::name);
    };
    std::erase_if(out, [&](const NamedConstant& one) { return times(one.name) > 1; });
    return out;
  }

  /// Names that the text has, and those in the macros that it names.
  [[nodiscard]] std::set<std::string, std::less<>> names_in(std::string_view text) const {
    std::set<std::string, std::less<>> out;
    std::vector<std::string> open;
    const auto read = [&](std::string_view part) {
      for (const Token& token : tokenize(part).tokens) {
        std::string word = spelling(part, token);
        if (token.kind == TokenKind::identifier && out.insert(word).second)
          open.push_back(std::move(word));
      }
    };
    read(text);
    while (!open.empty()) {
      const Macro* const macro = unit_.macro(open.back());
      open.pop_back();
      if (macro != nullptr) read(macro->body);
    }
    return out;
  }
  [[nodiscard]] bool names(std::string_view text, std::string_view name) const {
    return names_in(text).contains(name);
  }
  [[nodiscard]] bool names(const Expr& e, std::string_view name) const {
    return names(unit_.text(e), name);
  }

  [[nodiscard]] bool is_size(const NamedConstant& constant, std::int64_t value) const {
    const std::string& name = constant.name;
    if (is_block_name(name) || !names(unit_.text(kernel_.body->span), name)) return false;
    return !is_fixed(name) && ends_something(name) &&
           !(value <= kMostBlockThreads && counts_threads(name));
  }

  /// Other parts of the file are made with it that the macro would not change, or that the analysis
  /// would not understand without it.
  [[nodiscard]] bool is_fixed(const std::string& name) const {
    const Span head{kernel_.span.begin, kernel_.body->span.begin};
    if (names(unit_.text(head), name)) return true;
    for (const Declarator* const global : unit_.globals()) {
      if (global->name != name && names(unit_.text(global->span), name)) return true;
    }
    const auto in_another = [&](Span place) {
      return std::ranges::any_of(unit_.functions(), [&](const model::Function* function) {
        return function != &kernel_ && function->span.begin <= place.begin &&
               place.end <= function->span.end;
      });
    };
    for (const model::Conditional& condition : unit_.conditionals()) {
      if (in_another(condition.directive)) continue;
      const std::string_view line = unit_.text(condition.directive);
      const bool guards = line.find("ifndef") != std::string_view::npos;
      if (!guards && names(line.substr(line.find('#') + 1), name)) return true;
    }
    return std::ranges::any_of(unit_.functions(), [&](const model::Function* function) {
      return function != &kernel_ && function->is_device && function->body != nullptr &&
             names(unit_.text(function->span), name);
    });
  }

  /// A comparison has it.
  [[nodiscard]] bool ends_something(const std::string& name) const {
    bool out = false;
    model::walk_expressions(*kernel_.body, [&](const Expr& e) {
      const bool compares =
          e.is(ExprKind::binary) && (e.op == "<" || e.op == "<=" || e.op == ">" || e.op == ">=");
      out = out || (compares && (names(e.arg(0), name) || names(e.arg(1), name)));
      return !out;
    });
    return out;
  }

  /// A step from block to block, an extent of shared memory, the end of threadIdx.
  [[nodiscard]] bool counts_threads(const std::string& name) const {
    bool out = false;
    const auto is_index = [&](const Expr& e, std::string_view of) {
      return e.is(ExprKind::member) && e.arg(0).is_name(of);
    };
    model::walk_expressions(*kernel_.body, [&](const Expr& e) {
      if (!e.is(ExprKind::binary) || e.args.size() != 2) return true;
      const bool left = names(e.arg(0), name), right = names(e.arg(1), name);
      if (left == right) return true;
      const Expr& other = e.arg(left ? 1 : 0);
      const bool steps =
          e.op == "*" && is_index(other, "blockIdx") && e.parent != nullptr &&
          e.parent->is_op(ExprKind::binary, "+") &&
          (is_index(e.parent->arg(0), "threadIdx") || is_index(e.parent->arg(1), "threadIdx"));
      const bool ends = e.op != "*" && e.op != "+" && is_index(other, "threadIdx");
      out = out || steps || ends;
      return !out;
    });
    model::walk(*kernel_.body, [&](const model::Stmt& stmt) {
      for (const Declarator* const one : stmt.declarators) {
        for (const Expr* const extent : one->extents)
          out = out || (extent != nullptr && names(*extent, name));
      }
      return !out;
    });
    return out;
  }

  const model::Unit& unit_;
  const model::Function& kernel_;
};

}  // namespace

std::optional<KernelOfSizes> kernel_of_sizes(const model::Unit& unit,
                                             const model::Function& kernel) {
  return Sizes(unit, kernel).made();
}

}  // namespace warpath
