#include <algorithm>

#include "moves/code_writer.h"
#include "moves/hinted_access.h"
#include "moves/source_edit.h"
#include "moves/span_rewrite.h"
#include "moves/staging.h"

namespace warpath {

using namespace model;

namespace {

std::string number(std::int64_t value) { return std::to_string(value); }

/// An array of which all threads of a block load the same elements: base + j * step.
struct Stream {
  const Array* array = nullptr;
  std::vector<const Access*> loads;
};

/// The loads that depend on j and on no thread, an array each; each index must be j plus something fixed.
std::vector<Stream> find_streams(const KernelFacts& facts, const Loop& loop) {
  std::vector<Stream> out;
  for (const Access* access : facts.accesses_in(*loop.stmt)) {
    const Array& array = facts.arrays[static_cast<std::size_t>(access->array)];
    if (access->writes() || array.written || array.space != Space::global || replaceable(*access) == nullptr || !access->expr->is(ExprKind::subscript) || access->in_helper) continue;
    if (!access->index.affine_in(loop.variable) || facts.uniformity(access->index.without(loop.variable)) == Uniformity::thread) continue;
    if (access->index.coefficient_of(loop.variable).constant() != 1 || access->vector_width != 1 || access->loops.back() != &loop) continue;
    auto stream = std::find_if(out.begin(), out.end(), [&](const Stream& s) { return s.array == &array; });
    if (stream == out.end()) stream = out.insert(out.end(), {&array, {}});
    stream->loads.push_back(access);
  }
  std::erase_if(out, [](const Stream& s) {
    return std::any_of(s.loads.begin(), s.loads.end(), [&](const Access* a) { return !(a->index == s.loads[0]->index); });
  });
  return out;
}

}  // namespace

std::optional<Variant> streamed_through_tile(const MoveContext& context, const KernelModel& kernel, const Loop& loop, std::int64_t tile, std::string& why) {
  const KernelFacts& facts = kernel.facts;
  const Unit& unit = kernel.unit;
  const auto none = [&](std::string text) { return why = std::move(text), std::nullopt; };
  if (!facts.veto.empty()) return none(facts.veto);
  if (facts.has_barrier || facts.has_warp_ops || facts.has_assembly) return none("the threads of a block work together already");
  if (!loop.counted || loop.descending || loop.step != Polynomial(1) || !loop.uniform || loop.exits_early || loop.parent != nullptr || !loop.declared_inside) {
    return none("the loop does not run in steps of 1 over a range that all threads share");
  }
  if (loop.stmt->body == nullptr || !loop.stmt->is(StmtKind::for_) || loop.first_expr == nullptr || loop.bound_expr == nullptr) return none("the loop has no plain header");
  if (context.variant.launch.block[1] != Expression(1) || context.variant.launch.block[2] != Expression(1)) return none("the block has more than one dimension");
  if (loop.stmt->parent != kernel.kernel->body) return none("the loop stands in another statement");
  const std::vector<Stream> streams = find_streams(facts, loop);
  if (streams.empty()) return none("no element is loaded by all threads of a block");
  std::set<std::string, std::less<>> taken;
  const auto fresh = [&](const std::string& wish) { return fresh_name(unit, wish, &taken); };
  const std::string size = fresh("TILE"), e = fresh("e"), j = loop.variable, start = fresh(j + "0"), last = fresh(j + "_last");
  const std::string pad = indentation(unit, loop.stmt->span.begin), step = indent_unit(unit);
  std::vector<Edit> edits;
  std::string active;
  for (const Guard* guard : facts.guards_at(*loop.stmt)) {
    const Expr* c = guard->condition;
    const ThreadIndex* index = c->is(ExprKind::binary) && c->arg(0).is(ExprKind::name) ? facts.thread_index(c->arg(0).name) : nullptr;
    const bool plain = guard->early_exit && guard->negated && c->is_op(ExprKind::binary, ">=") && index != nullptr && active.empty() && guard->stmt != nullptr &&
                       guard->stmt->parent == kernel.kernel->body && index->declarator != nullptr && !index->declarator->has(kConst);
    if (facts.uniformity(*c) != Uniformity::thread) continue;
    if (!plain) return none("not all threads of a block reach the loop");
    for (const Stmt* stmt : statements(*kernel.kernel->body)) {
      if (stmt->span.begin >= guard->stmt->span.begin) break;
      if (stmt != index->declarator->stmt && mentions(*stmt, index->name)) return none("a value is made of " + index->name + " before its guard");
    }
    active = fresh("active");
    const std::string end = unit.plain_text(c->arg(1).outer.empty() ? c->arg(1).span : c->arg(1).outer), at = indentation(unit, guard->stmt->span.begin);
    edits.push_back({guard->stmt->span.begin, guard->stmt->span.end,
                     "bool " + active + " = " + index->name + " < " + end + ";  // the others stay for the barriers, on the last element\n" + at + "if (!" + active + ") " +
                         index->name + " = " + end + " - 1;"});
  }
  const std::string bound = loop.inclusive ? loop.source_end.text() : unit.plain_text(loop.bound_expr->outer.empty() ? loop.bound_expr->span : loop.bound_expr->outer);
  const std::string type = loop.declarator != nullptr ? std::string(unit.text(loop.declarator->type)) : "int";
  std::int64_t bytes = 0;
  std::string head = pad + "constexpr int " + size + " = " + number(tile) + ";  // elements a step that the block shares\n", fill;
  for (const Stream& stream : streams) {
    const std::string name = fresh(stream.array->name + "_tile");
    head += pad + "__shared__ " + stream.array->type + " " + name + "[" + size + "];\n";
    bytes += tile * static_cast<std::int64_t>(stream.array->element_bytes);
    const Polynomial moved = stream.loads[0]->source_index.substituted(j, Polynomial::name(start) + Polynomial::name(e));
    fill += pad + step + step + name + "[" + e + "] = " + stream.array->name + "[" + moved.text() + "];\n";
    for (const Access* load : stream.loads) edits.push_back({replaceable(*load)->span.begin, replaceable(*load)->span.end, name + "[" + j + " - " + start + "]"});
  }
  if (bytes + static_smem_bytes(facts) > kStaticSmemBytes) return none("the tiles take " + number(bytes) + " bytes of shared memory");
  head += pad + "for (" + type + " " + start + " = " + unit.plain_text(loop.first_expr->span) + "; " + start + " < " + bound + "; " + start + " += " + size + ") {\n";
  head += pad + step + type + " " + last + " = " + start + " + " + size + " < " + bound + " ? " + start + " + " + size + " : " + bound + ";\n";
  head += pad + step + "for (int " + e + " = threadIdx.x; " + start + " + " + e + " < " + last + "; " + e + " += blockDim.x) {\n" + fill + pad + step + "}\n";
  head += pad + step + "__syncthreads();\n";
  const Stmt* top = loop.stmt->pragma != nullptr ? loop.stmt->pragma : loop.stmt;
  const std::size_t begin = line_of_statement(unit.source(), top->span.begin);
  edits.push_back({begin, begin, head});
  indent_lines(unit.source(), begin, loop.stmt->span.end, step, edits);
  edits.push_back({loop.stmt->header.begin, loop.stmt->header.end, "for (" + type + " " + j + " = " + start + "; " + j + " < " + last + "; " + j + "++)"});
  edits.push_back({loop.stmt->span.end, loop.stmt->span.end, "\n" + pad + step + "__syncthreads();\n" + pad + "}"});
  if (!active.empty()) {
    const std::vector<const Stmt*> all = statements(*kernel.kernel->body);
    bool behind = false, declares = false;
    const Stmt* first = nullptr;
    for (const Stmt* stmt : all) {
      if (behind && first == nullptr) first = stmt;
      behind = behind || stmt == loop.stmt;
      declares = declares || (behind && stmt->is_loop() && stmt != loop.stmt);
    }
    if (first == nullptr || declares) return none("what follows the loop is not understood");
    for (const Stmt* stmt : all) {
      if (stmt->span.begin >= loop.stmt->span.begin) break;
      for (const Access* access : facts.accesses_in(*stmt)) {
        if (access->writes()) return none("memory is written before the loop");
      }
    }
    for (const Access* access : facts.accesses_in(*loop.stmt)) {
      if (access->writes() && facts.arrays[static_cast<std::size_t>(access->array)].space == Space::global) return none("the loop writes memory");
    }
    const std::size_t at = line_of_statement(unit.source(), first->span.begin);
    edits.push_back({at, at, pad + "if (" + active + ") {\n"});
    indent_lines(unit.source(), at, all.back()->span.end, step, edits);
    edits.push_back({all.back()->span.end, all.back()->span.end, "\n" + pad + "}"});
  }
  Variant out = context.variant;
  out.source = edited(unit.source(), std::move(edits));
  return out;
}

}  // namespace warpath
