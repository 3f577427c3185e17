#include "moves/blocks/block_rows.h"

#include <algorithm>
#include <iterator>
#include <utility>
#include <vector>

#include "engine/text/source_edit.h"
#include "engine/text/tokens.h"
#include "moves/blocks/block_reduction.h"
#include "moves/blocks/one_thread.h"
#include "moves/blocks/row_launch.h"
#include "moves/edit/span_rewrite.h"
#include "moves/model/facts.h"
#include "moves/rows/lanes.h"
#include "moves/rows/row_sweeps.h"
#include "moves/syntax/syntax_query.h"

namespace warpath {
namespace {

using model::Declarator;
using model::Expr;
using model::ExprKind;
using model::Stmt;
using model::StmtKind;

/// Writes the kernel with the number of the row in place of that of the block.
class RowWriter {
 public:
  RowWriter(const MoveContext& context, const model::KernelModel& model)
      : context_(context), model_(model), unit_(model.unit) {}

  std::optional<ThreadRows> written(std::vector<Edit> edits, std::string& why) const {
    const RowCount rows = row_count(context_, model_);
    const Stmt* const own = row_declaration();
    const std::string row =
        own != nullptr ? std::string(own->declarators[0]->name) : model::fresh_name(unit_, "row");
    std::vector<Edit> more;
    bool plain = true;
    model::walk_expressions(*model_.kernel->body, [&](const Expr& e) {
      if (!is_block(e)) return true;
      const bool gone = std::ranges::any_of(edits, [&](const Edit& edit) {
        return edit.begin <= e.span.begin && e.span.end <= edit.end;
      });
      plain = plain && unit_.plain_text(e.span) == model::plain_text(e);
      if (!gone && (own == nullptr || !own->span.contains(e.span)))
        more.push_back({e.span.begin, e.span.end, row});
      return true;
    });
    if (!plain) return why = "a macro asks for the block's number", std::nullopt;
    if (more.empty() && own == nullptr) return why = "the block's number is not used", std::nullopt;
    for (Edit& edit : edits) {
      const std::string block = "blockIdx.x";
      for (std::size_t at = 0; (at = edit.text.find(block, at)) != std::string::npos;)
        edit.text.replace(at, block.size(), row), at += row.size();
    }
    remove_unused(edits, rows);
    edits.insert(edits.end(), more.begin(), more.end());
    const auto& list = model_.kernel->body->children;
    const auto first = std::find_if(list.begin(), list.end(), [&](const Stmt* s) {
      return s == own || !s->is(StmtKind::declaration) || s->declarators.empty() ||
             !s->declarators[0]->has(model::kConstexpr);
    });
    if (first == list.end()) return why = "the kernel does nothing", std::nullopt;
    const std::size_t late = (own != nullptr ? own : *first)->span.begin;
    if (rows.declaration != nullptr && rows.declaration->span.begin > late)
      return why = "the number of rows is declared late", std::nullopt;
    std::string index = row_index(row, rows, false);
    if (own != nullptr) {
      const auto next = std::next(std::find(list.begin(), list.end(), own));
      const std::size_t line = index.find('\n') + 1;
      if (next != list.end() && index.substr(line) == unit_.plain_text((*next)->span) + "\n")
        index.erase(line);
      index.pop_back();
      edits.push_back({own->span.begin, own->span.end,
                       hanging(index, model::indentation(unit_, own->span.begin))});
    } else {
      const std::size_t at = model::whole_lines(unit_, (*first)->span).begin;
      const std::string indent = model::indentation(unit_, (*first)->span.begin);
      edits.push_back({at, at, model::indented(index, indent)});
    }
    ThreadRows out{context_.variant, rows.text.has_value()};
    out.variant.source = edited(unit_.source(), std::move(edits));
    out.variant.launch.dynamic_smem_bytes = Expression(0);  // no shared array is left
    if (!set_thread_rows(out.variant.launch, rows, why)) return std::nullopt;
    return out;
  }

 private:
  static bool is_block(const Expr& e) {
    return e.is_op(ExprKind::member, ".") && e.arg(0).is_name("blockIdx") && e.name == "x";
  }

  /// `int row = blockIdx.x;` before anything else asks for it; null if there is none.
  [[nodiscard]] const Stmt* row_declaration() const {
    const Expr* asked = nullptr;
    model::walk_expressions(*model_.kernel->body, [&](const Expr& e) {
      if (asked == nullptr && is_block(e)) asked = &e;
      return asked == nullptr;
    });
    const Stmt* const s = asked == nullptr ? nullptr : asked->stmt;
    if (s == nullptr || s->parent != model_.kernel->body || !s->is(StmtKind::declaration) ||
        s->declarators.size() != 1)
      return nullptr;
    const Declarator& d = *s->declarators[0];
    if (d.value() != asked || d.is_pointer() || d.reference || d.has(model::kConstexpr) ||
        unit_.plain_text(d.type) != "int")
      return nullptr;
    for (const Stmt* other : model_.kernel->body->children) {
      const std::vector<std::string> written = model_.facts.names_written(*other);
      if (other != s && std::ranges::find(written, d.name) != written.end()) return nullptr;
    }
    return s;
  }

  static bool mentions(const std::string& text, const std::string& name) {
    const std::vector<Token> tokens = tokenize(text).tokens;
    return std::ranges::any_of(tokens, [&](const Token& token) {
      return token.kind == TokenKind::identifier && spelling(text, token) == name;
    });
  }

  /// Constants that only what is replaced needed: the number of lanes that shared a row.
  void remove_unused(std::vector<Edit>& edits, const RowCount& rows) const {
    std::vector<Edit> more;
    for (const Stmt* s : model_.kernel->body->children) {
      if (!s->is(StmtKind::declaration) || s->declarators.size() != 1 || s == rows.declaration ||
          !s->declarators[0]->has(model::kConstexpr))
        continue;
      const std::string name(s->declarators[0]->name);
      bool needed = true, used = false;
      model::walk_expressions(*model_.kernel->body, [&](const Expr& e) {
        if (!e.is_name(name)) return true;
        if (!used) needed = false;
        used = true;
        needed = needed || std::ranges::none_of(edits, [&](const Edit& edit) {
                   return edit.begin <= e.span.begin && e.span.end <= edit.end;
                 });
        return true;
      });
      if (needed ||
          std::ranges::any_of(edits, [&](const Edit& edit) { return mentions(edit.text, name); }))
        continue;
      const std::string_view text = unit_.source();
      const std::size_t line = std::min(text.find('\n', s->span.end), text.size());
      const std::size_t rest = text.find_first_not_of(" \t", s->span.end);
      const bool comment = rest < line && text.substr(rest).starts_with("//");
      const std::size_t begin = text.find_last_not_of(" \t", s->span.begin - 1) + 1;
      more.push_back({begin, comment || rest >= line ? line + 1 : s->span.end, ""});
    }
    edits.insert(edits.end(), more.begin(), more.end());
  }

  const MoveContext& context_;
  const model::KernelModel& model_;
  const model::Unit& unit_;
};

std::optional<ThreadRows> found_rows(const MoveContext& context,
                                     const model::KernelModel& model,
                                     std::string& why) {
  const model::KernelFacts& facts = model.facts;
  if (!facts.has_barrier && !facts.has_warp_ops)
    return why = "threads of the kernel do not work together", std::nullopt;
  if (why = facts.veto; !why.empty()) return std::nullopt;
  if (context.variant.has_extras()) return why = "the launch has further steps", std::nullopt;
  if (has_own_plans(context.spec))
    return why = "workloads have launch plans of their own", std::nullopt;
  if (std::ranges::any_of(facts.arrays, &model::Array::atomic))
    return why = "the kernel has atomic operations", std::nullopt;
  if (!threads_per_row_block(context.variant))
    return why = "the block has more than one axis", std::nullopt;
  if (!context.variant.launch.block[0].is_constant())
    return why = "the block's size is no constant", std::nullopt;
  const std::vector<BlockReduction> reductions = block_reductions(context, model, why);
  if (reductions.empty()) return std::nullopt;
  auto edits = edits_for_one_thread(model, reductions, why);
  return edits ? RowWriter(context, model).written(std::move(*edits), why) : std::nullopt;
}

}  // namespace

std::optional<ThreadRows> rows_of_threads(const MoveContext& context,
                                          const model::KernelModel& model,
                                          std::string& why) {
  const auto found = model::found_in<std::optional<ThreadRows>>(
      context, model, "rows_of_threads",
      [&](std::string& reason) { return found_rows(context, model, reason); });
  if (!found->first) why = found->second;
  return found->first;
}

}  // namespace warpath
