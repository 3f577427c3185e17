#include "moves/blocks/reduction_reader.h"

#include <algorithm>
#include <map>
#include <set>
#include <string>
#include <utility>

#include "engine/text/tokens.h"
#include "moves/syntax/syntax_query.h"

namespace warpath {
namespace {

using model::Access;
using model::Declarator;
using model::Expr;
using model::ExprKind;
using model::Stmt;
using model::StmtKind;
using ValueKind = BlockValue::Kind;

/// Elements of a shared array that belong to one thread, at most.
constexpr std::int64_t kMostPerThread = 4;

/// All threads' values of a variable, or elements first + step * t of a shared array.
struct Source {
  const Declarator* declarator = nullptr;
  std::int64_t first = 0, step = 0;  ///< of an array
  DType type = DType::f32;
};

/// Interprets the effect of a list of statements, and how the rest of the kernel uses it.
class ReductionReader {
 public:
  ReductionReader(const model::KernelModel& model,
                  const Bindings& values,
                  const std::vector<const Stmt*>& list,
                  std::size_t first,
                  std::size_t last,
                  const BlockRunner& runner)
      : model_(model),
        facts_(model.facts),
        values_(values),
        list_(list),
        first_(first),
        last_(last),
        runner_(runner),
        begin_(list[first]->span.begin),
        end_(list[last]->span.end) {}

  std::optional<BlockReduction> read() {
    for (const auto& [d, v] : runner_.variables()) {
      const bool good = v.memory >= 0 ? read_array(*d, v) : read_variable(*d, v);
      if (!good) return std::nullopt;
    }
    if (out_.totals.empty()) return std::nullopt;
    out_.statements.assign(list_.begin() + static_cast<std::ptrdiff_t>(first_),
                           list_.begin() + static_cast<std::ptrdiff_t>(last_) + 1);
    out_.waits_first = std::ranges::any_of(runner_.memories(), &BlockMemory::waits_first);
    out_.barriers = runner_.barriers();
    const auto place = [](const BlockTotal& t) { return t.value; };
    std::ranges::sort(out_.totals, {}, place);
    for (BlockTotal& t : out_.totals) {
      std::ranges::sort(t.results, {}, [](const Declarator* d) { return d->span.begin; });
      std::ranges::sort(t.elements, {}, &TotalElement::text);
    }
    return std::move(out_);
  }

 private:
  [[nodiscard]] bool is_inside(model::Span span) const {
    return begin_ <= span.begin && span.end <= end_;
  }
  /// The loop around the statements, unless the variable is declared in it: a place after them may
  /// belong to any of its iterations. Null if there is none.
  [[nodiscard]] const Stmt* loop_around(const Declarator& d) const {
    const Stmt* const loop = model::enclosing_loop(*list_[first_]);
    return loop != nullptr && !loop->span.contains(d.span) ? loop : nullptr;
  }

  // --- variables

  bool read_variable(const Declarator& d, const BlockRunner::Variable& v) {
    const bool own = is_inside(d.span);
    if (own && (d.stmt == nullptr || d.stmt->parent != list_[first_]->parent)) return true;
    const std::vector<const Expr*> uses = uses_behind(d);
    if (!own && v.before == v.values) return true;
    if (is_hidden(d)) return false;
    if (uses.empty()) return true;
    if (!v.extents.empty() || !v.type) return false;
    const auto holder = total_of(v.values);
    if (!holder) return false;
    for (const Expr* use : uses) {
      if (!all_have_it(*use, v.values, holder->second)) return false;
    }
    holder->first->results.push_back(&d);
    return true;
  }

  /// Where the variable's value after the statements may be used: mentions other than assignments,
  /// up to the statement that sets it anew.
  [[nodiscard]] std::vector<const Expr*> uses_behind(const Declarator& d) const {
    std::size_t past = list_[first_]->parent->span.end;
    if (!is_inside(d.span)) past = model_.kernel->body->span.end;
    for (std::size_t k = last_ + 1; k < list_.size() && !jumps(*list_[k]); ++k) {
      const Expr* const e = list_[k]->is(StmtKind::expression) ? list_[k]->expr : nullptr;
      if (e == nullptr || !e->is_op(ExprKind::assign, "=") || !is_use(e->arg(0), d) ||
          model::mentions(e->arg(1), d.name))
        continue;
      past = list_[k]->span.begin;
      break;
    }
    std::vector<const Expr*> out;
    const Stmt* const again = past < model_.kernel->body->span.end ? nullptr : loop_around(d);
    model::walk_expressions(*model_.kernel->body, [&](const Expr& e) {
      if (!is_use(e, d) || is_inside(e.span)) return true;
      const bool behind = e.span.begin >= end_ && e.span.begin < past;
      if (behind || (again != nullptr && again->span.contains(e.span))) out.push_back(&e);
      return true;
    });
    return out;
  }

  /// What follows may be left out.
  static bool jumps(const Stmt& s) {
    bool found = false;
    model::walk(s, [&](const Stmt& part) {
      found = found || part.is(StmtKind::break_) || part.is(StmtKind::continue_) ||
              part.is(StmtKind::goto_);
      return !found;
    });
    return found;
  }

  /// The variable has other names, or is used in macros, where uses are not visible.
  [[nodiscard]] bool is_hidden(const Declarator& d) const {
    for (const model::Macro& macro : model_.unit.macros()) {
      const TokenStream stream = tokenize(macro.body);
      if (std::ranges::any_of(stream.tokens, [&](const Token& token) {
            return token.kind == TokenKind::identifier && spelling(macro.body, token) == d.name;
          }))
        return true;
    }
    bool found = false;
    model::walk_expressions(*model_.kernel->body, [&](const Expr& e) {
      found =
          found || (e.is_op(ExprKind::unary, "&") && is_use(e.arg(0), d)) || e.is(ExprKind::lambda);
      return !found;
    });
    model::walk(*model_.kernel->body, [&](const Stmt& s) {
      for (const Declarator* other : s.declarators)
        found = found || (other->reference && other->value() != nullptr &&
                          model::mentions(*other->value(), d.name));
      return !found;
    });
    return found;
  }

  [[nodiscard]] bool is_use(const Expr& e, const Declarator& d) const {
    return e.is(ExprKind::name) && e.name == d.name && model::declaration_of(model_.unit, e) == &d;
  }

  /// No thread with another value gets to the use.
  [[nodiscard]] bool all_have_it(const Expr& use,
                                 const std::vector<BlockValue>& values,
                                 const BlockValue& total) const {
    if (values.size() == 1) return values[0] == total;
    if (use.stmt == nullptr) return false;
    const std::vector<const model::Guard*> guards = facts_.guards_at(*use.stmt);
    for (std::size_t t = 0; t < values.size(); ++t) {
      if (values[t] == total) continue;
      Bindings at = runner_.index_of(static_cast<int>(t));
      at.insert(values_.begin(), values_.end());
      const bool kept_out = std::ranges::any_of(guards, [&](const model::Guard* g) {
        return std::ranges::any_of(g->nonnegative, [&](const model::Polynomial& p) {
          const auto value = facts_.resolved(p).evaluate(at);
          return value && *value < 0;
        });
      });
      if (!kept_out) return false;
    }
    return true;
  }

  // --- shared arrays

  bool read_array(const Declarator& d, const BlockRunner::Variable& v) {
    const auto& memory = runner_.memories()[static_cast<std::size_t>(v.memory)];
    const std::vector<BlockMemory::Left> left = memory.left();
    const int array = array_of(d);
    if (array < 0) return false;
    // Accesses count the array's elements, as it is declared.
    const auto scale =
        static_cast<std::int64_t>(info(memory.type).size_bytes / info(*v.type).size_bytes);
    std::size_t others = 0;
    std::set<std::int64_t> lost;  // elements whose value differs afterwards
    for (std::size_t k = 0; k < left.size(); ++k) {
      if (left[k].stored) lost.insert(static_cast<std::int64_t>(k));
    }
    std::map<std::int64_t, std::vector<const Access*>> wanted;
    for (const Access* a : facts_.accesses_to(array)) {
      if (is_inside(a->expr->span)) continue;
      ++others;
      if (!a->reads() || lost.empty()) continue;
      if (a->expr->span.begin < begin_ && model::enclosing_loop(*list_[first_]) == nullptr)
        continue;
      auto at = facts_.resolved(a->index).bound(values_).constant();
      if (at && a->vector_width == scale && *at % scale == 0) {
        *at /= scale;
        if (lost.contains(*at) && !is_written_between(array, *a, {*at}, scale))
          wanted[*at].push_back(a);
      } else if (!is_written_between(array, *a, lost, scale)) {
        return false;
      }
    }
    for (const auto& [at, reads] : wanted) {
      const auto holder = total_of({left[static_cast<std::size_t>(at)].value});
      if (!holder) return false;
      TotalElement element{std::string(d.name) + "[" + std::to_string(at) + "]", {}};
      if (std::ranges::all_of(reads, [&](const Access* a) { return is_plain(array, *a); })) {
        for (const Access* a : reads) element.reads.push_back(a->expr);
      }
      // under another type it has no such name
      if (scale != 1 && element.reads.empty()) return false;
      others -= element.reads.size();  // their array is no longer needed
      holder->first->elements.push_back(std::move(element));
    }
    if (is_inside(d.span) && others > 0) return false;
    if (others == 0) out_.arrays.insert(&d);
    return true;
  }

  /// A read after the statements, in their block, with no write to the array in between: it may
  /// read the result from a variable instead.
  [[nodiscard]] bool is_plain(int array, const Access& read) const {
    const auto at = place_of(read.stmt);
    if (read.kind != model::AccessKind::read || read.in_helper || !at || *at <= last_ ||
        !read.expr->is(ExprKind::subscript) ||
        model_.unit.plain_text(read.expr->span) != model::plain_text(*read.expr))
      return false;
    return std::ranges::none_of(facts_.accesses_to(array), [&](const Access* a) {
      return a->writes() && a->expr->span.begin >= end_ &&
             a->expr->span.begin < list_[*at]->span.end;
    });
  }

  /// The statement of the list that it is in.
  [[nodiscard]] std::optional<std::size_t> place_of(const Stmt* s) const {
    while (s != nullptr && s->parent != list_[first_]->parent) s = s->parent;
    const auto found = std::ranges::find(list_, s);
    return found == list_.end() ? std::nullopt
                                : std::optional(static_cast<std::size_t>(found - list_.begin()));
  }

  [[nodiscard]] int array_of(const Declarator& d) const {
    for (std::size_t k = 0; k < facts_.arrays.size(); ++k) {
      if (facts_.arrays[k].declarator == &d) return static_cast<int>(k);
    }
    return -1;
  }

  /// True if all threads overwrite the elements, each its own, between the statements and the
  /// access.
  [[nodiscard]] bool is_written_between(int array,
                                        const Access& read,
                                        const std::set<std::int64_t>& elements,
                                        std::int64_t scale) const {
    const auto to = place_of(read.stmt);
    if (!to) return false;
    const std::size_t from = *to > last_ ? last_ + 1 : 0;
    const std::size_t guards = facts_.guards_at(*list_[first_]).size();
    std::set<std::int64_t> missing = elements;
    for (const Access* w : facts_.accesses_to(array)) {
      const auto at = place_of(w->stmt);
      if (w->kind != model::AccessKind::write || w->vector_width != scale || !at || *at < from ||
          *at > *to || w->stmt != list_[*at] || !w->stmt->is(StmtKind::expression) ||
          w->expr->span.begin >= read.expr->span.begin ||
          facts_.guards_at(*w->stmt).size() != guards || w->guards.size() != guards)
        continue;
      const model::Polynomial index = facts_.resolved(w->index).bound(values_);
      for (int t = 0; t < runner_.threads(); ++t) {
        const auto element = index.evaluate(runner_.index_of(t));
        if (element && *element % scale == 0) missing.erase(*element / scale);
      }
    }
    return missing.empty();
  }

  // --- what is a total

  /// The total that some of the threads hold, and its value; null if there is none, or two.
  std::optional<std::pair<BlockTotal*, BlockValue>> total_of(
      const std::vector<BlockValue>& values) {
    auto order = values;
    std::ranges::stable_partition(order,
                                  [&](const BlockValue& v) { return v.at == runner_.threads(); });
    for (const BlockValue& v : order) {
      if (!v.is(ValueKind::several) || v.at < 2 || v.at > runner_.threads()) continue;
      const auto source = source_of(v);
      if (!source) continue;
      const std::string text = text_of(*source);
      for (BlockTotal& t : out_.totals) {
        if (t.value == text && t.op == v.op && t.threads == v.at) return std::pair(&t, v);
      }
      BlockTotal t;
      t.value = text, t.op = v.op, t.threads = static_cast<int>(v.at);
      t.whole = t.threads == runner_.threads();
      t.type = std::string(info(v.type).cuda_type);
      if (source->step == 0) {
        t.variable = source->declarator;
        const BlockRunner::Variable& holder = runner_.variables().at(source->declarator);
        t.free = holder.values != holder.before || uses_behind(*source->declarator).empty();
        t.free = t.free && !is_hidden(*source->declarator);
      }
      if (info(v.type).size_bytes < 4 || model::identity_text(v.op, t.type).empty())
        return std::nullopt;
      return std::pair(&out_.totals.emplace_back(std::move(t)), v);
    }
    return std::nullopt;
  }

  /// Of which values it is the total.
  [[nodiscard]] std::optional<Source> source_of(const BlockValue& total) const {
    std::vector<std::int64_t> at(static_cast<std::size_t>(total.at));
    for (const auto& [d, v] : runner_.variables()) {
      const bool array = v.memory >= 0;
      if (total.array != (array ? v.memory : v.source)) continue;
      if (array && runner_.memories()[static_cast<std::size_t>(v.memory)].type != *v.type) continue;
      const bool whole = total.at == runner_.threads();
      for (std::int64_t step = 1; step <= (array && whole ? kMostPerThread : 1); ++step) {
        for (std::int64_t first = 0; first < step; ++first) {
          for (std::size_t t = 0; t < at.size(); ++t)
            at[t] = first + step * static_cast<std::int64_t>(t);
          if (BlockValue::all_of(total.array, at, total.op, total.type) == total)
            return Source{d, first, array ? step : 0, total.type};
        }
      }
    }
    return std::nullopt;
  }

  [[nodiscard]] std::string text_of(const Source& s) const {
    std::string out(s.declarator->name), thread = thread_text(runner_.block());
    if (s.step == 0) return out;
    if (s.step > 1 && thread.find(' ') != std::string::npos) thread = "(" + thread + ")";
    out += "[" + thread;
    if (s.step > 1) out += " * " + std::to_string(s.step);
    if (s.first > 0) out += " + " + std::to_string(s.first);
    return out + "]";
  }

  const model::KernelModel& model_;
  const model::KernelFacts& facts_;
  const Bindings& values_;
  const std::vector<const Stmt*>& list_;
  std::size_t first_, last_;
  const BlockRunner& runner_;
  std::size_t begin_, end_;
  BlockReduction out_;
};

}  // namespace

std::optional<BlockReduction> read_reduction(const model::KernelModel& model,
                                             const Bindings& values,
                                             const std::vector<const Stmt*>& list,
                                             std::size_t first,
                                             std::size_t last,
                                             const BlockRunner& runner) {
  return ReductionReader(model, values, list, first, last, runner).read();
}

}  // namespace warpath
