#include <algorithm>

#include "moves/edit/hinted_access.h"
#include "moves/edit/loop_move.h"
#include "moves/edit/span_rewrite.h"
#include "moves/model/kernel_model.h"
#include "moves/syntax/syntax_query.h"
#include "moves/syntax/words.h"
#include "register_moves.h"

namespace warpath {
namespace {

using namespace model;

/// An element that a loop updates in memory although its place stays the same.
struct Element {
  int array = 0;
  std::vector<const Access*> accesses;  ///< inside the loop
  bool written = false;
};

bool changes_in(const KernelFacts& facts, const Stmt& loop, const Access& access) {
  if (!access.source_index.is_known()) return true;
  for (const std::string& name : facts.names_written(loop)) {
    if (access.source_index.mentions(name) || mentions(*access.expr, name)) return true;
  }
  bool declared = false;
  walk(loop, [&](const Stmt& s) {
    for (const Declarator* d : s.declarators)
      declared = declared || mentions(*access.expr, d->name);
    return !declared;
  });
  return declared;
}

/// Elements of global arrays at one place for the whole loop, written in it, that no other access
/// of the loop can reach.
std::vector<Element> find_elements(const KernelFacts& facts, const Loop& loop) {
  std::vector<Element> out;
  const std::vector<const Access*> all = facts.accesses_in(*loop.stmt);
  for (std::size_t a = 0; a < facts.arrays.size(); ++a) {
    const Array& array = facts.arrays[a];
    if (array.space != Space::global || array.escapes || array.type.empty() ||
        size_of_type(array.type) == 0)
      continue;
    Element element{static_cast<int>(a), {}, false};
    bool good = true;
    for (const Access* access : all) {
      if (access->array == static_cast<int>(a)) {
        element.accesses.push_back(access);
        element.written = element.written || access->writes();
        good = good && replaceable(*access) != nullptr && !access->expr->is(ExprKind::call) &&
               access->vector_width == 1 && !changes_in(facts, *loop.stmt, *access) &&
               access->source_index == element.accesses.front()->source_index;
      } else {
        good = good && !facts.may_alias(static_cast<int>(a), access->array);
      }
    }
    if (good && element.written) out.push_back(std::move(element));
  }
  return out;
}

/// The statement directly before `loop` in its block, if it sets the element: `y[row] = 0.0f;`.
const Stmt* setting(const KernelFacts& facts, const Stmt& loop, const Access& access) {
  const Stmt* before = nullptr;
  for (const Stmt* s : loop.parent->children) {
    if (s == &loop) break;
    if (!s->is(StmtKind::directive)) before = s;
  }
  if (before == nullptr || !before->is(StmtKind::expression) ||
      !before->expr->is_op(ExprKind::assign, "="))
    return nullptr;
  const Access* const target = facts.access_of(before->expr->arg(0));
  return target != nullptr && target->array == access.array &&
                 target->source_index == access.source_index
             ? before
             : nullptr;
}

/// y[row] += ... in a loop becomes a local that is loaded once before it and stored once behind it.
/// Site "loop:K"; `elements` = 1.
class PromoteScalars final : public LoopMove {
 public:
  [[nodiscard]] std::string_view name() const override { return "promote_scalars"; }

 private:
  [[nodiscard]] std::optional<Variant> rewritten(const MoveContext& context,
                                                 const KernelModel& model,
                                                 const Loop& loop,
                                                 std::string& why) const override {
    const KernelFacts& facts = model.facts;
    const Stmt& stmt = *loop.stmt;
    why = facts.veto_at(stmt);
    if (!why.empty()) return std::nullopt;
    if (stmt.parent == nullptr || !stmt.parent->is(StmtKind::block))
      return why = "the loop is the body of another statement without braces", std::nullopt;
    if (jumps_out(stmt) || joins_threads(stmt))
      return why = "the loop leaves early or joins threads", std::nullopt;
    const std::vector<Element> elements = find_elements(facts, loop);
    if (elements.empty())
      return why = "the loop updates no element of memory at a fixed place", std::nullopt;
    Rewrite rewrite(model);
    for (const Element& element : elements) promote(model, stmt, element, rewrite);
    return rewrite.finish(context.variant);
  }

  static void promote(const KernelModel& model,
                      const Stmt& loop,
                      const Element& element,
                      Rewrite& rewrite) {
    const KernelFacts& facts = model.facts;
    const Array& array = facts.arrays[static_cast<std::size_t>(element.array)];
    const std::string local = rewrite.fresh(array.name + "_value");
    const std::string place = model.unit.plain_text(element.accesses.front()->expr->span);
    for (const Access* access : element.accesses)
      rewrite.replace(replaceable(*access)->span, local);
    const Stmt* const first = setting(facts, loop, *element.accesses.front());
    if (first != nullptr) {
      rewrite.replace(first->expr->arg(0).span, array.type + " " + local);
    } else {
      rewrite.before(loop, array.type + " " + local + " = " + place + ";\n");
    }
    rewrite.after(loop, place + " = " + local + ";\n");
  }
};

}  // namespace

void register_move_promote_scalars(MoveRegistry& registry) {
  registry.add("promote_scalars", "an element that a loop updates in memory kept in a register",
               [] { return std::make_unique<PromoteScalars>(); });
}

}  // namespace warpath
