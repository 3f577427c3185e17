#include "moves/tiles/window.h"

#include <algorithm>
#include <map>
#include <set>

#include "moves/edit/hinted_access.h"
#include "moves/edit/span_rewrite.h"
#include "moves/model/kernel_model.h"
#include "moves/model/moved_pointers.h"
#include "moves/syntax/syntax_query.h"
#include "moves/tiles/stencil.h"

namespace warpath {

using namespace model;

namespace {

constexpr int kMostNested = 8;
constexpr std::size_t kMostLoads = 256;
/// Loads of an element of the box, on average, in halves: less is not worth a copy.
constexpr std::int64_t kLeastReuseHalves = 3;

/// coefficient * (part - low), or coefficient * (high - part) for a part that counts down: 0 to
/// `spread` times the coefficient.
struct Moving {
  std::int64_t coefficient = 1;  ///< above 0
  Polynomial from_low;
  std::int64_t spread = 0;
  std::array<std::int64_t, 3> per_thread{};
};

/// A load's index: base, the same for a block, and what threads and loops add.
struct Reach {
  const Access* access = nullptr;
  Polynomial base;
  std::vector<Moving> moving;
  std::int64_t loads = 1;  ///< of a thread
  bool by_thread = false;
};

/// Bounds of indices over the threads of a block and the iterations of loops.
class WindowReader {
 public:
  WindowReader(const MoveContext& context, const KernelModel& kernel, std::string& why)
      : context_(context), kernel_(kernel), facts_(kernel.facts), why_(why) {}

  /// The extents of the block, which must be numbers.
  bool read_block(std::array<std::int64_t, 3>& block) {
    for (std::size_t axis = 0; axis < 3; ++axis) {
      const Expression& extent = context_.variant.launch.block[axis];
      if (!extent.is_constant()) return fail("the block's size is no number");
      block[axis] = extent.evaluate({}, "launch plan");
    }
    if (has_own_plans(context_.spec)) return fail("workloads have launch plans of their own");
    block_ = block;
    for (const std::string& name : facts_.names_written(*kernel_.kernel->body))
      written_.insert(name);
    return true;
  }

  std::optional<Reach> read(const Access& access) {
    Reach out;
    out.access = access_ = &access;
    counted_.clear();
    if (depends_on_tunable(access.index)) return std::nullopt;
    const Polynomial index = with_constants(kernel_, access.index);
    if (!index.is_known() || index.key().find('\'') != std::string::npos)
      return fail("an index depends on data or on what changes"), std::nullopt;
    for (const Polynomial::Term& term : index.terms()) {
      Polynomial part(1);
      for (const auto& factor : term.factors) part = part * of_atom(*factor);
      if (is_uniform(part)) {
        out.base += Polynomial(term.coefficient) * part;
      } else if (term.factors.size() == 1) {
        if (!add(out, part, term.coefficient)) return std::nullopt;
      } else {
        return fail("an index is no sum of multiples of its parts"), std::nullopt;
      }
    }
    for (const Loop* loop : counted_) out.loads *= std::max<std::int64_t>(trips(*loop), 1);
    return out;
  }

  /// The least value of a polynomial over the blocks of all workloads; nullopt: not known.
  [[nodiscard]] std::optional<std::int64_t> least(const Polynomial& value) const {
    std::optional<std::int64_t> out;
    for (const Workload* w : workloads_of(context_)) {
      Bindings values = facts_.values(*w);
      for (std::size_t axis = 0; axis < 3; ++axis) {
        const std::string dot = std::string(".") + "xyz"[axis];
        const auto blocks = values.find("gridDim" + dot);
        if (blocks == values.end()) return std::nullopt;
        const Polynomial rest = value.substituted("gridDim" + dot, blocks->second);
        if (!rest.affine_in("blockIdx" + dot)) return std::nullopt;
        const auto by = rest.coefficient_of("blockIdx" + dot).evaluate(values);
        if (!by) return std::nullopt;
        values["blockIdx" + dot] = *by < 0 ? blocks->second - 1 : 0;
      }
      const auto number = value.evaluate(values);
      if (!number) return std::nullopt;
      out = std::min(out.value_or(*number), *number);
    }
    return out;
  }

 private:
  bool fail(std::string text) { return why_ = std::move(text), false; }

  bool depends_on_tunable(const Polynomial& value) {
    for (const std::string& name : value.names()) {
      if (context_.variant.tunables.contains(name))
        return fail("the window depends on the tunable " + name), true;
    }
    return false;
  }

  static Polynomial of_atom(const Atom& atom) {
    return atom.op.empty() ? Polynomial::name(atom.text)
                           : Polynomial::operation(atom.op, atom.operands);
  }

  /// The same for all threads of a block, and known at the head of the kernel.
  [[nodiscard]] bool is_uniform(const Polynomial& value) const {
    const std::set<std::string> names = value.names();
    const auto operations = value.operations();
    return value.is_known() && value.key().find('\'') == std::string::npos &&
           std::ranges::all_of(names,
                               [&](const std::string& name) {
                                 return name.starts_with("blockIdx.") ||
                                        name.starts_with("gridDim.") ||
                                        (kernel_.kernel->parameter(name) != nullptr &&
                                         !written_.contains(name) && loop_of(name) == nullptr);
                               }) &&
           std::ranges::all_of(operations, [](const Atom* a) {
             return a->op == "/" || a->op == "%" || a->op == "min" || a->op == "max";
           });
  }

  [[nodiscard]] const Loop* loop_of(const std::string& name) const {
    for (const Loop* loop : access_->loops) {
      if (loop->counted && loop->variable == name) return loop;
    }
    return nullptr;
  }

  /// min(x, limit) or max(x, limit) with a limit that all threads share: x.
  [[nodiscard]] const Polynomial* clamped(const Polynomial& part, Polynomial& limit) const {
    if (part.terms().size() != 1 || part.terms()[0].factors.size() != 1) return nullptr;
    const Atom& atom = *part.terms()[0].factors[0];
    if ((atom.op != "min" && atom.op != "max") || atom.operands.size() != 2) return nullptr;
    for (const std::size_t i : {0U, 1U}) {
      if (!is_uniform(atom.operands[i]) || is_uniform(atom.operands[1 - i])) continue;
      return limit = atom.operands[i], &atom.operands[1 - i];
    }
    return nullptr;
  }

  /// The least (or greatest) value over threads and iterations as something uniform.
  Polynomial bound(const Polynomial& given, bool upper, int depth = 0) {
    if (depth > kMostNested || depends_on_tunable(given)) return Polynomial::unknown();
    const Polynomial value = with_constants(kernel_, given);
    if (!value.is_known()) return Polynomial::unknown();
    Polynomial out(0);
    for (const Polynomial::Term& term : value.terms()) {
      Polynomial part(1);
      for (const auto& factor : term.factors) part = part * of_atom(*factor);
      if (!is_uniform(part)) {
        if (term.factors.size() != 1) return Polynomial::unknown();
        part = bound_of(*term.factors[0], upper == (term.coefficient > 0), depth);
      }
      out += Polynomial(term.coefficient) * part;
    }
    return out;
  }

  Polynomial bound_of(const Atom& atom, bool upper, int depth) {
    for (std::size_t axis = 0; axis < 3; ++axis) {
      if (atom.text == std::string("threadIdx.") + "xyz"[axis]) return upper ? block_[axis] - 1 : 0;
    }
    if (atom.op.empty()) {
      const Loop* loop = loop_of(atom.text);
      if (loop == nullptr || !loop->declared_inside || !loop->stmt->is(StmtKind::for_) ||
          visible(kernel_.unit, *kernel_.kernel, loop->variable, access_->expr->span.begin) !=
              loop->declarator)
        return Polynomial::unknown();
      counted_.insert(loop);
      const Polynomial low = loop->descending ? loop->end + 1 : loop->first,
                       high = loop->descending ? loop->first : loop->end - 1;
      return bound(upper ? high : low, upper, depth + 1);
    }
    Polynomial limit;
    const Polynomial whole = of_atom(atom);
    const Polynomial* inner = clamped(whole, limit);
    if (inner == nullptr) return Polynomial::unknown();
    Polynomial out = bound(*inner, upper, depth + 1);
    // min leaves an upper bound as it is; a lower one, if the limit is not below it in any block
    const bool kept = (atom.op == "min") == upper;
    if (!out.is_known()) return out;
    const auto room =
        kept ? std::optional<std::int64_t>(0) : least(upper ? out - limit : limit - out);
    return room && *room >= 0 ? out : Polynomial::unknown();
  }

  bool add(Reach& out, const Polynomial& part, std::int64_t coefficient) {
    const Polynomial low = bound(part, false), high = bound(part, true);
    const auto spread = (high - low).constant();
    if (!spread || *spread < 0) return fail("the range of " + part.text() + " is not known");
    const bool down = coefficient < 0;
    Moving moving{down ? -coefficient : coefficient, down ? high - part : part - low, *spread, {}};
    const Polynomial core = unclamped(part);
    for (std::size_t axis = 0; axis < 3; ++axis) {
      const std::string thread = std::string("threadIdx.") + "xyz"[axis];
      moving.per_thread[axis] =
          moving.coefficient * core.coefficient_of(thread).constant().value_or(0);
      out.by_thread = out.by_thread || core.mentions(thread);
    }
    for (const Loop* loop : counted_) {
      for (const std::string_view axis : {"threadIdx.x", "threadIdx.y", "threadIdx.z"})
        out.by_thread = out.by_thread || loop->first.mentions(axis);
    }
    if (*spread > 0) out.moving.push_back(std::move(moving));
    out.base += Polynomial(coefficient) * (down ? high : low);
    return true;
  }

  /// Without the limits around its parts.
  [[nodiscard]] Polynomial unclamped(const Polynomial& given, int depth = 0) const {
    Polynomial out(0), limit;
    if (depth > kMostNested) return given;
    const Polynomial value = with_constants(kernel_, given);
    for (const Polynomial::Term& term : value.terms()) {
      Polynomial part(1);
      for (const auto& factor : term.factors) part = part * of_atom(*factor);
      const Polynomial* inner = term.factors.size() == 1 ? clamped(part, limit) : nullptr;
      out +=
          Polynomial(term.coefficient) * (inner == nullptr ? part : unclamped(*inner, depth + 1));
    }
    return out;
  }

  /// Away from the edges.
  [[nodiscard]] std::int64_t trips(const Loop& loop) const {
    const auto length = (unclamped(loop.end) - unclamped(loop.first)).constant(),
               step = facts_.resolved(loop.step).constant();
    if (!length || !step || *step == 0) return 1;
    return (std::abs(*length) + std::abs(*step) - 1) / std::abs(*step);
  }

  const MoveContext& context_;
  const KernelModel& kernel_;
  const KernelFacts& facts_;
  std::string& why_;
  std::array<std::int64_t, 3> block_{1, 1, 1};
  std::set<std::string, std::less<>> written_;
  const Access* access_ = nullptr;
  std::set<const Loop*> counted_;  ///< that the index of the access depends on
};

/// Distances in the array that neither threads nor loops fill in smaller steps: strides of a box,
/// innermost first.
std::vector<std::int64_t> find_strides(const std::map<std::int64_t, std::int64_t>& spreads) {
  std::vector<std::int64_t> out{1};
  std::int64_t span = 0;
  for (const auto& [distance, spread] : spreads) {
    const std::int64_t steps = distance / out.back();
    if (distance % out.back() != 0 || steps > span + 1) out.push_back(distance), span = 0;
    span += distance / out.back() * spread;
  }
  return out;
}

/// Elements of the spec's tensor as the kernel counts them; nullopt unless all workloads agree.
std::optional<std::int64_t> elements_of(const MoveContext& context,
                                        const Array& array,
                                        std::vector<std::int64_t>& shape) {
  const ArgSpec* const arg = context.spec.io.find(array.spec_name);
  if (arg == nullptr || !arg->tensor || array.element_bytes == 0) return std::nullopt;
  std::optional<std::int64_t> out;
  for (const Workload* w : workloads_of(context)) {
    shape = context.spec.shape_of(*arg, *w);
    std::int64_t bytes = static_cast<std::int64_t>(info(arg->tensor->dtype).size_bytes);
    for (const std::int64_t extent : shape) bytes *= extent;
    const std::int64_t elements = bytes / static_cast<std::int64_t>(array.element_bytes);
    if (out && *out != elements) return std::nullopt;
    out = elements;
  }
  if (array.element_bytes != info(arg->tensor->dtype).size_bytes) shape.clear();
  return out;
}

/// A constant distance in steps of the strides, outermost first, each to the nearest.
std::vector<std::int64_t> in_steps(std::int64_t distance,
                                   const std::vector<std::int64_t>& strides) {
  std::vector<std::int64_t> out;
  for (const std::int64_t stride : strides) {
    const std::int64_t half = stride / 2, up = distance + half;
    const std::int64_t steps = (up >= 0 ? up : up - stride + 1) / stride;
    out.push_back(steps), distance -= steps * stride;
  }
  return out;
}

std::size_t dimension_of(std::int64_t coefficient, const std::vector<std::int64_t>& strides) {
  std::size_t at = 0;
  while (strides[at] > coefficient) ++at;
  return at;
}

/// The box around loads whose bases are constant distances apart.
Window box_around(const std::vector<Reach>& reaches, const std::vector<std::int64_t>& shape) {
  std::map<std::int64_t, std::int64_t> spreads;  // by distance in the array
  for (const Reach& reach : reaches) {
    std::map<std::int64_t, std::int64_t> own;
    for (const Moving& m : reach.moving) own[m.coefficient] += m.spread;
    for (const auto& [distance, spread] : own)
      spreads[distance] = std::max(spreads[distance], spread);
  }
  for (const Polynomial::Term& term : reaches.front().base.terms()) {
    if (!term.factors.empty()) spreads.try_emplace(std::abs(term.coefficient), 0);
  }
  std::int64_t row = 1;
  for (auto at = shape.rbegin(); at != shape.rend(); ++at) {
    if (row > 1) spreads.try_emplace(row, 0);
    row *= std::max<std::int64_t>(*at, 1);
  }
  Window out;
  out.strides = find_strides(spreads);
  std::ranges::reverse(out.strides);
  const std::size_t dimensions = out.strides.size();
  std::vector<std::int64_t> low(dimensions, INT64_MAX), high(dimensions, INT64_MIN);
  for (auto& per_thread : out.per_thread) per_thread.assign(dimensions, 0);
  for (const Reach& reach : reaches) {
    const auto offset = in_steps(*(reach.base - reaches.front().base).constant(), out.strides);
    std::vector<std::int64_t> most = offset;
    WindowLoad load{reach.access, {}};
    for (const std::int64_t steps : offset) load.place.emplace_back(steps);
    for (const Moving& m : reach.moving) {
      const std::size_t d = dimension_of(m.coefficient, out.strides);
      const std::int64_t steps = m.coefficient / out.strides[d];
      most[d] += steps * m.spread;
      load.place[d] += Polynomial(steps) * m.from_low;
      for (std::size_t axis = 0; axis < 3 && &reach == &reaches.front(); ++axis)
        out.per_thread[axis][d] += m.per_thread[axis] / out.strides[d];
    }
    for (std::size_t d = 0; d < dimensions; ++d)
      low[d] = std::min(low[d], offset[d]), high[d] = std::max(high[d], most[d]);
    out.loads.push_back(std::move(load));
  }
  out.first = reaches.front().base;
  for (std::size_t d = 0; d < dimensions; ++d) {
    out.first += Polynomial(low[d] * out.strides[d]);
    out.extents.push_back(high[d] - low[d] + 1);
    for (WindowLoad& load : out.loads) load.place[d] += Polynomial(-low[d]);
  }
  for (std::size_t d = dimensions; d-- > 0;) {
    if (out.extents[d] > 1 || out.extents.size() == 1) continue;
    const auto at = static_cast<std::ptrdiff_t>(d);
    out.extents.erase(out.extents.begin() + at), out.strides.erase(out.strides.begin() + at);
    for (auto& per_thread : out.per_thread) per_thread.erase(per_thread.begin() + at);
    for (WindowLoad& load : out.loads) load.place.erase(load.place.begin() + at);
  }
  return out;
}

}  // namespace

std::optional<Window> find_window(const MoveContext& context,
                                  const KernelModel& kernel,
                                  const Array& array,
                                  std::string& why) {
  const KernelFacts& facts = kernel.facts;
  const auto none = [&](std::string text) { return why = std::move(text), std::nullopt; };
  if (!facts.veto.empty()) return none(facts.veto);
  const int own = facts.array_index(array.name);
  if (array.written || array.atomic) return none(array.name + " is written");
  if (!array.is_parameter || array.space != Space::global || own < 0)
    return none(array.name + " is no argument in global memory");
  if (is_moved(facts, array)) return none("the kernel moves the pointer " + array.name);
  for (std::size_t i = 0; i < facts.arrays.size(); ++i) {
    if (facts.arrays[i].written && facts.may_alias(own, static_cast<int>(i)))
      return none(array.name + " may be the same memory as " + facts.arrays[i].name +
                  ", which is written");
  }
  std::vector<std::int64_t> shape;
  const auto elements = elements_of(context, array, shape);
  if (!elements) return none("the size of " + array.name + " is no number");
  WindowReader reader(context, kernel, why);
  std::array<std::int64_t, 3> block{};
  if (!reader.read_block(block)) return std::nullopt;
  std::vector<std::vector<Reach>> groups;
  std::string refused;
  std::size_t seen = 0;
  for (const Access* access : facts.accesses_to(own)) {
    if (++seen > kMostLoads) break;
    if (replaceable(*access) == nullptr || access->in_helper || access->vector_width != 1) {
      refused = array.name + " is not loaded by plain subscripts";
      continue;
    }
    auto reach = reader.read(*access);
    if (!reach) {
      refused = why;
      continue;
    }
    if (!reach->by_thread) {
      refused = "all threads of a block load the same elements of " + array.name;
      continue;
    }
    const auto group = std::ranges::find_if(groups, [&](const std::vector<Reach>& g) {
      return (g.front().base - reach->base).constant().has_value();
    });
    (group == groups.end() ? groups.emplace_back() : *group).push_back(std::move(*reach));
  }
  if (groups.empty()) return none(refused.empty() ? array.name + " is not loaded" : refused);
  const auto loads = [](const std::vector<Reach>& group) {
    std::int64_t out = 0;
    for (const Reach& reach : group) out += reach.loads;
    return out;
  };
  const auto& best = *std::ranges::max_element(groups, {}, loads);
  Window out = box_around(best, shape);
  out.array = &array, out.elements = *elements, out.block = block;
  constexpr std::int64_t kMost = INT64_C(1) << 24;
  std::int64_t box = 1, last = 0;
  for (std::size_t d = 0; d < out.extents.size(); ++d) {
    box *= std::min(out.extents[d], kMost + 1);
    if (box > kMost) return none("the window of " + array.name + " is too large");
    last += (out.extents[d] - 1) * out.strides[d];
  }
  if (2 * loads(best) * block[0] * block[1] * block[2] < kLeastReuseHalves * box)
    return none("a block loads the elements of " + array.name + " hardly more than once");
  const auto low = reader.least(out.first),
             room = reader.least(Polynomial(*elements - 1 - last) - out.first);
  const std::int64_t beyond = room ? *elements - *room : 0;
  if (!low || !room || *low < INT32_MIN || beyond > INT32_MAX || *elements > INT32_MAX)
    return none("the elements of " + array.name + " are not known to be counted by an int");
  out.inside = *low >= 0 && *room >= 0;
  return out;
}

}  // namespace warpath
