#include <algorithm>
#include <map>

#include "engine/text/source_edit.h"
#include "moves/edit/code_writer.h"
#include "moves/edit/hinted_access.h"
#include "moves/edit/span_rewrite.h"
#include "moves/model/kernel_model.h"
#include "moves/model/moved_pointers.h"
#include "moves/syntax/syntax_query.h"
#include "moves/tiles/staging.h"
#include "moves/tiles/step_values.h"

namespace warpath {

using namespace model;

namespace {

constexpr std::int64_t kMostStreamStride = 8, kMostSpan = 64;

/// Elements that all threads of a block load: stride * j + base + offset, `span` + 1 of them in one
/// step.
struct Stream {
  const Array* array = nullptr;
  Polynomial base;         ///< with the lowest offset
  Polynomial source_base;  ///< its text compiles before the loop
  std::int64_t stride = 1, span = 0;
  std::vector<std::pair<const Access*, std::int64_t>> loads;  ///< offset above base
  [[nodiscard]] bool operator<(const Stream& other) const {
    return std::pair(stride, span) < std::pair(other.stride, other.span);
  }
  /// Elements of `steps` steps beyond steps * stride.
  [[nodiscard]] std::int64_t extra() const { return span + 1 - stride; }
};

/// The element exists in every step of the loop, also in those that do not load it.
bool exists_in_every_step(const MoveContext& context,
                          const KernelFacts& facts,
                          const Loop& loop,
                          const Access& load) {
  const Array& array = facts.arrays[static_cast<std::size_t>(load.array)];
  const ArgSpec* const arg = context.spec.io.find(array.spec_name);
  const Polynomial last = load.index.substituted(loop.variable, loop.end - Polynomial(1));
  if (arg == nullptr || !arg->tensor || !load.index.has_only_positive_terms() ||
      !loop.first.has_only_positive_terms())
    return false;
  return std::ranges::all_of(workloads_of(context), [&](const Workload* w) {
    const LaunchNumbers n =
        evaluate(launch_for(context.spec, context.variant, *w),
                 context.spec.bindings(*w, context.variant.tunables), "launch plan");
    Bindings values = facts.values(*w);
    for (std::size_t axis = 0; axis < 3; ++axis)
      values[std::string("blockIdx.") + "xyz"[axis]] = n.grid[axis] - 1;
    std::int64_t elements = 1;
    for (const std::int64_t extent : context.spec.shape_of(*arg, *w)) elements *= extent;
    const auto most = facts.resolved(last).evaluate(values);
    return most && *most < elements;
  });
}

/// The loop around the access, or loops of known length in it, run it in every iteration.
bool runs_in_every_step(const Access& access, const Loop& loop) {
  const auto at = std::ranges::find(access.loops, &loop);
  return at != access.loops.end() && std::all_of(at + 1, access.loops.end(), [](const Loop* l) {
           return l->trip_count.value_or(0) > 0 && !l->exits_early;
         });
}

/// The loads that depend on j and on no thread: an array's stand in one stream where they are a
/// fixed distance apart.
std::vector<Stream> find_streams(const MoveContext& context,
                                 const KernelFacts& facts,
                                 const Loop& loop) {
  std::vector<Stream> out;
  std::set<std::string> inside;
  walk(*loop.stmt->body, [&](const Stmt& s) {
    for (const Declarator* d : s.declarators) inside.insert(std::string(d->name));
    return true;
  });
  const std::size_t guards = facts.guards_at(*loop.stmt).size();
  for (const Access* access : facts.accesses_in(*loop.stmt)) {
    const Array& array = facts.arrays[static_cast<std::size_t>(access->array)];
    if (access->writes() || array.written || array.space != Space::global ||
        is_moved(facts, array) || replaceable(*access) == nullptr ||
        !access->expr->is(ExprKind::subscript) || access->in_helper)
      continue;
    if (!access->index.affine_in(loop.variable) || !access->source_index.affine_in(loop.variable) ||
        access->vector_width != 1 || !runs_in_every_step(*access, loop))
      continue;
    const Polynomial base = access->index.without(loop.variable),
                     source_base = access->source_index.without(loop.variable);
    const std::int64_t stride = access->index.coefficient_of(loop.variable).constant().value_or(0);
    if (facts.uniformity(base) == Uniformity::thread || stride < 1 || stride > kMostStreamStride ||
        access->source_index.coefficient_of(loop.variable).constant() != stride)
      continue;
    const std::set<std::string> names = source_base.names();
    if (std::ranges::any_of(names, [&](const std::string& name) { return inside.contains(name); }))
      continue;
    const bool always = access->guards.size() == guards && is_always_evaluated(*access->expr);
    if (!always && !exists_in_every_step(context, facts, loop, *access)) continue;
    const auto near = [&](const Stream& s) {
      const auto distance = (base - s.base).constant();
      return s.array == &array && s.stride == stride && distance &&
             std::max(s.span, *distance) - std::min<std::int64_t>(*distance, 0) <= kMostSpan;
    };
    auto stream = std::ranges::find_if(out, near);
    if (stream == out.end())
      stream = out.insert(out.end(), Stream{&array, base, source_base, stride, 0, {}});
    const std::int64_t distance = *(base - stream->base).constant();
    if (distance < 0) {
      for (auto& load : stream->loads) load.second -= distance;
      stream->base = base, stream->source_base = source_base, stream->span -= distance;
    }
    stream->loads.emplace_back(access, std::max<std::int64_t>(distance, 0));
    stream->span = std::max(stream->span, distance);
  }
  std::erase_if(out, [](const Stream& s) {  // most of what would be staged must be of use
    std::set<std::int64_t> places;
    for (const auto& [load, offset] : s.loads) places.insert(offset % s.stride);
    return static_cast<std::int64_t>(places.size()) * 2 < s.stride;
  });
  std::stable_sort(out.begin(), out.end());
  return out;
}

/// A value that the loop computes of staged elements and constants alone: once a step for the block
/// will do.
struct StagedValue {
  std::vector<const Expr*> uses;  ///< of equal text
  std::string text;               ///< of step `e`
  /// The variable that it starts as, or "value".
  [[nodiscard]] std::string name() const {
    for (const Declarator* d : uses.front()->stmt->declarators) {
      if (d->value() == uses.front()) return std::string(d->name);
    }
    return "value";
  }
};

using StagedLoads = std::map<const Expr*, std::pair<const Stream*, std::int64_t>>;

/// Made of staged loads, constants, arithmetic and pure functions; counts what it is made of.
struct ValueParts {
  std::vector<const Expr*> loads;
  int operations = 0;
  bool slow = false;  ///< a division, a function
};
bool is_made_of(const Unit& unit,
                const Stmt& loop,
                const Expr& e,
                const StagedLoads& staged,
                ValueParts& parts) {
  if (staged.contains(&e)) return parts.loads.push_back(&e), true;
  if (e.is(ExprKind::number)) return true;
  if (e.is(ExprKind::name)) {
    const Declarator* const d = declaration_of(unit, e);
    return d != nullptr && d->has(kConstexpr) && !d->is_array() &&
           (d->stmt == nullptr || !is_inside(*d->stmt, loop));
  }
  const bool divides = e.is_op(ExprKind::binary, "/");
  const bool calls = e.is(ExprKind::call) && is_pure_function(unit, callee(e));
  const bool computes = divides || e.is_op(ExprKind::binary, "*") ||
                        e.is_op(ExprKind::binary, "+") || e.is_op(ExprKind::binary, "-");
  if (!calls && !computes && !e.is_op(ExprKind::unary, "-") && !e.is(ExprKind::cast)) return false;
  parts.operations += calls || computes ? 1 : 0;
  parts.slow = parts.slow || calls || divides;
  return std::all_of(e.args.begin() + (calls ? 1 : 0), e.args.end(),
                     [&](const Expr* arg) { return is_made_of(unit, loop, *arg, staged, parts); });
}

/// The index of a load's element in step `step` of the loop.
std::string index_in_step(const Stream& stream, std::int64_t offset, const Polynomial& step) {
  return (stream.source_base + Polynomial(stream.stride) * step + Polynomial(offset)).text();
}

/// The largest such values of type float. A quick one is left out where its elements are needed
/// besides, as it would be one more to read, and where its elements are several in a row.
/// `step`: the loop variable's value.
std::vector<StagedValue> find_values(const KernelModel& kernel,
                                     const Loop& loop,
                                     const StagedLoads& staged,
                                     const Polynomial& step) {
  const Unit& unit = kernel.unit;
  std::vector<std::pair<const Expr*, ValueParts>> found;
  std::map<const Array*, std::size_t> left;  // loads outside of values
  for (const auto& [load, place] : staged) left[place.first->array] += 1;
  walk_expressions(*loop.stmt->body, [&](const Expr& e) {
    ValueParts parts;
    if (!is_made_of(unit, *loop.stmt, e, staged, parts) || parts.operations == 0 ||
        parts.loads.empty() || type_of(kernel.facts, e) != "float")
      return true;
    for (const Expr* load : parts.loads) left[staged.at(load).first->array] -= 1;
    found.emplace_back(&e, std::move(parts));
    return false;
  });
  std::vector<StagedValue> out;
  for (const auto& [e, parts] : found) {
    const bool pays = parts.slow || std::ranges::all_of(parts.loads, [&](const Expr* load) {
                        const Stream& stream = *staged.at(load).first;
                        return left[stream.array] == 0 && stream.stride == 1 && stream.span == 0;
                      });
    if (!pays) continue;
    std::vector<Edit> edits;
    for (const Expr* load : parts.loads) {
      const auto& [stream, offset] = staged.at(load);
      edits.push_back({load->span.begin - e->span.begin, load->span.end - e->span.begin,
                       stream->array->name + "[" + index_in_step(*stream, offset, step) + "]"});
    }
    std::string text = edited(unit.text(*e), std::move(edits));
    const auto same = std::ranges::find(out, text, &StagedValue::text);
    if (same == out.end()) {
      out.push_back({{e}, std::move(text)});
    } else {
      same->uses.push_back(e);
    }
  }
  return out;
}

std::string plus(std::int64_t n) {
  return n == 0 ? "" : n > 0 ? " + " + number(n) : " - " + number(-n);
}

}  // namespace

std::optional<Variant> streamed_through_tile(const MoveContext& context,
                                             const KernelModel& kernel,
                                             const Loop& loop,
                                             std::int64_t tile,
                                             bool values,
                                             std::string& why) {
  const KernelFacts& facts = kernel.facts;
  const Unit& unit = kernel.unit;
  const auto none = [&](std::string text) { return why = std::move(text), std::nullopt; };
  if (auto veto = facts.threads_veto(); !veto.empty()) return none(std::move(veto));
  if (!loop.counted || loop.descending || loop.step != Polynomial(1) || !loop.uniform ||
      loop.exits_early || loop.parent != nullptr || !loop.declared_inside) {
    return none("the loop does not run in steps of 1 over a range that all threads share");
  }
  if (loop.stmt->body == nullptr || !loop.stmt->is(StmtKind::for_) || loop.first_expr == nullptr ||
      loop.bound_expr == nullptr)
    return none("the loop has no plain header");
  if (context.variant.launch.block[2] != Expression(1))
    return none("the block has three dimensions");
  const bool flat = context.variant.launch.block[1] == Expression(1);
  const std::string thread = flat ? "threadIdx.x" : "threadIdx.y * blockDim.x + threadIdx.x",
                    threads = flat ? "blockDim.x" : "blockDim.x * blockDim.y";
  if (loop.stmt->parent != kernel.kernel->body) return none("the loop stands in another statement");
  std::vector<Stream> streams;
  if (!values) streams = find_streams(context, facts, loop);
  if (!values && streams.empty()) return none("no element is loaded by all threads of a block");
  std::set<std::string, std::less<>> taken;
  const auto fresh = [&](const std::string& wish) { return fresh_name(unit, wish, &taken); };
  const std::string size = fresh("TILE"), e = fresh("e"), j = loop.variable, start = fresh(j + "0"),
                    last = fresh(j + "_last");
  const std::string pad = indentation(unit, loop.stmt->span.begin), step = indent_unit(unit);
  std::vector<Edit> edits;
  std::string active;
  for (const Guard* guard : facts.guards_at(*loop.stmt)) {
    const Expr* c = guard->condition;
    const ThreadIndex* index = c->is(ExprKind::binary) && c->arg(0).is(ExprKind::name)
                                   ? facts.thread_index(c->arg(0).name)
                                   : nullptr;
    const bool plain = guard->early_exit && guard->negated && c->is_op(ExprKind::binary, ">=") &&
                       index != nullptr && guard->stmt != nullptr &&
                       guard->stmt->parent == kernel.kernel->body && index->declarator != nullptr;
    if (facts.uniformity(*c) != Uniformity::thread) continue;
    if (!plain || !make_changeable(unit, *index->declarator, edits))
      return none("not all threads of a block reach the loop");
    for (const Stmt* stmt : statements(*kernel.kernel->body)) {
      if (stmt->span.begin >= guard->stmt->span.begin) break;
      if (stmt != index->declarator->stmt && mentions(*stmt, index->name))
        return none("a value is made of " + index->name + " before its guard");
    }
    const std::string inside = fresh("active");
    active += (active.empty() ? "" : " && ") + inside;
    const std::string end = unit.plain_text(c->arg(1).outer.empty() ? c->arg(1).span
                                                                    : c->arg(1).outer),
                      at = indentation(unit, guard->stmt->span.begin);
    edits.push_back({guard->stmt->span.begin, guard->stmt->span.end,
                     "bool " + inside + " = " + index->name + " < " + end +
                         ";  // the others stay for the barriers, on the last element\n" + at +
                         "if (!" + inside + ") " + index->name + " = " + end + " - 1;"});
  }
  const std::string bound =
      loop.inclusive ? loop.source_end.text()
                     : unit.plain_text(loop.bound_expr->outer.empty() ? loop.bound_expr->span
                                                                      : loop.bound_expr->outer);
  const std::string type =
      loop.declarator != nullptr ? std::string(unit.text(loop.declarator->type)) : "int";
  std::int64_t bytes = 0;
  std::string head = pad + "constexpr int " + size + " = " + number(tile) +
                     ";  // elements a step that the block shares\n",
              fill;
  const std::string fill_steps = "for (int " + e + " = " + thread + "; " + start + " + " + e +
                                 " < " + last + "; " + e + " += " + threads + ")";
  if (values) {
    auto found = step_values(kernel, loop,
                             {.size = size,
                              .steps = tile,
                              .start = start,
                              .index = e,
                              .fill = fill_steps,
                              .pad = pad,
                              .indent = step,
                              .fresh = fresh},
                             why);
    if (!found) return std::nullopt;
    head += found->declared, fill += found->filled, bytes += found->bytes;
    edits.insert(edits.end(), found->edits.begin(), found->edits.end());
  }
  const Stream plain;  // an element a step
  const Stream* before = nullptr;
  StagedLoads staged;
  for (const Stream& stream : streams) {
    for (const auto& [load, offset] : stream.loads) staged[replaceable(*load)] = {&stream, offset};
  }
  for (const StagedValue& value :
       find_values(kernel, loop, staged, Polynomial::name(start) + Polynomial::name(e))) {
    const std::string name = fresh(value.name() + "_tile");
    if (before == nullptr) fill += pad + step + fill_steps + " {\n";
    before = &plain;
    head += pad + "__shared__ float " + name + "[" + size + "];\n";
    bytes += tile * static_cast<std::int64_t>(sizeof(float));
    fill += pad + step + step + name + "[" + e + "] = " + value.text + ";\n";
    for (const Expr* use : value.uses) {
      edits.push_back({use->outer.begin, use->outer.end, name + "[" + j + " - " + start + "]"});
      for (Stream& stream : streams) {
        std::erase_if(stream.loads, [&](const auto& load) {
          const Span span = replaceable(*load.first)->span;
          return use->span.begin <= span.begin && span.end <= use->span.end;
        });
      }
    }
  }
  for (const Stream& stream : streams) {
    if (stream.loads.empty()) continue;
    const std::string name = fresh(stream.array->name + "_tile"),
                      times = stream.stride == 1 ? "" : " * " + number(stream.stride);
    const std::int64_t extra = stream.extra();
    head += pad + "__shared__ " + stream.array->type + " " + name + "[" + size + times +
            plus(std::max<std::int64_t>(extra, 0)) + "];\n";
    bytes += (tile * stream.stride + std::max<std::int64_t>(extra, 0)) *
             static_cast<std::int64_t>(stream.array->element_bytes);
    if (before == nullptr || *before < stream) {
      const std::string limit =
          stream.stride == 1 && extra == 0
              ? start + " + " + e + " < " + last
              : e + " < " +
                    (times.empty() ? last + " - " + start
                                   : "(" + last + " - " + start + ")" + times) +
                    plus(extra);
      fill += (before == nullptr ? "" : pad + step + "}\n") + pad + step + "for (int " + e + " = " +
              thread + "; " + limit + "; " + e + " += " + threads + ") {\n";
    }
    before = &stream;
    const Polynomial moved = stream.source_base +
                             Polynomial(stream.stride) * Polynomial::name(start) +
                             Polynomial::name(e);
    fill += pad + step + step + name + "[" + e + "] = " + stream.array->name + "[" + moved.text() +
            "];\n";
    for (const auto& [load, offset] : stream.loads) {
      const std::string steps =
          stream.stride == 1 ? j + " - " + start : "(" + j + " - " + start + ")" + times;
      edits.push_back({replaceable(*load)->span.begin, replaceable(*load)->span.end,
                       name + "[" + steps + plus(offset) + "]"});
    }
  }
  if (bytes + static_smem_bytes(facts) > kStaticSmemBytes)
    return none("the tiles take " + number(bytes) + " bytes of shared memory");
  head += pad + "for (" + type + " " + start + " = " + unit.plain_text(loop.first_expr->span) +
          "; " + start + " < " + bound + "; " + start + " += " + size + ") {\n";
  head += pad + step + type + " " + last + " = " + start + " + " + size + " < " + bound + " ? " +
          start + " + " + size + " : " + bound + ";\n";
  head += fill + pad + step + "}\n";
  head += pad + step + "__syncthreads();\n";
  const Stmt* top = loop.stmt->pragma != nullptr ? loop.stmt->pragma : loop.stmt;
  const std::size_t begin = line_of_statement(unit.source(), top->span.begin);
  edits.push_back({begin, begin, head});
  edits.push_back(
      {loop.stmt->header.begin, loop.stmt->header.end,
       "for (" + type + " " + j + " = " + start + "; " + j + " < " + last + "; " + j + "++)"});
  indent_lines(unit.source(), begin, loop.stmt->span.end, step, edits);
  edits.push_back({loop.stmt->span.end, loop.stmt->span.end,
                   "\n" + pad + step + "__syncthreads();\n" + pad + "}"});
  if (!active.empty()) {
    const std::vector<const Stmt*> all = statements(*kernel.kernel->body);
    bool behind = false, joins = false;
    const Stmt* first = nullptr;
    for (const Stmt* stmt : all) {
      if (behind && first == nullptr) first = stmt;
      behind = behind || stmt == loop.stmt;
      joins = joins || (behind && stmt != loop.stmt && joins_threads(*stmt));
    }
    if (first == nullptr || joins) return none("what follows the loop is not understood");
    for (const Stmt* stmt : all) {
      if (stmt->span.begin >= loop.stmt->span.begin) break;
      for (const Access* access : facts.accesses_in(*stmt)) {
        if (access->writes() &&
            facts.arrays[static_cast<std::size_t>(access->array)].space != Space::local)
          return none("memory is written before the loop");
      }
    }
    for (const Access* access : facts.accesses_in(*loop.stmt)) {
      if (access->writes() &&
          facts.arrays[static_cast<std::size_t>(access->array)].space == Space::global)
        return none("the loop writes memory");
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
