#include "experiments/init/thread_layout.h"

#include <algorithm>
#include <regex>
#include <set>

#include "engine/base/ascii.h"
#include "experiments/init/index_bounds.h"
#include "experiments/init/index_sources.h"
#include "moves/syntax/syntax_query.h"

namespace warpath {

using model::Access;
using model::Declarator;
using model::Guard;
using model::Polynomial;

namespace {

/// Blocks of a grid whose threads go on to further points.
constexpr std::int64_t kStridingBlocks = 1024;
constexpr std::int64_t kMostThreads = 1024;
/// That a host launches as they are.
constexpr std::int64_t kFewBlocks = 256;

std::string with_axis(const char* what, std::size_t axis) {
  return std::string(what) + "." + kLaunchAxes[axis];
}

void replace_all(std::string& text, const std::string& from, const std::string& to) {
  for (std::size_t at = text.find(from); at != std::string::npos;
       at = text.find(from, at + to.size()))
    text.replace(at, from.size(), to);
}

bool is_atom(const std::string& text) {
  return std::ranges::all_of(text, is_word);
}

/// One kernel's layout from its facts.
class LayoutReader {
 public:
  LayoutReader(const model::KernelFacts& facts,
               const std::string& text,
               const std::vector<KernelParameter>& parameters,
               const std::vector<TemplateArgument>& arguments)
      : facts_(facts), text_(text), parameters_(parameters), arguments_(arguments) {
    for (const Access& access : facts.accesses) note(access.index.names());
    for (const auto& guard : facts.guards) {
      for (const Polynomial& one : guard->nonnegative) note(one.names());
    }
    for (const auto& loop : facts.loops) {
      if (loop->counted) note(loop->end.names()), note(loop->first.names());
    }
    model::walk_expressions(*facts.kernel->body, [&](const model::Expr& e) {
      if (e.is(model::ExprKind::name)) used_.emplace(e.name);
      return true;
    });
  }

  ThreadLayout read(const std::optional<HostLaunch>& launch) {
    for (std::size_t axis = 0; axis < 3; ++axis) {
      const auto threads = launch ? launch->threads(axis) : std::nullopt;
      if (!threads || *threads < 1 || *threads > kMostThreads) continue;
      const Polynomial& said = *launch->block[axis];
      layout_.block[axis] = {.value = *threads, .said = said.constant() ? "" : said.text()};
      known_[axis] = said_ = true;
    }
    for (std::size_t axis = 0; axis < 3; ++axis) {
      if (!known_[axis]) by_steps(axis);
      by_indices(axis);
      by_shared_array(axis);
      by_macro(axis);
    }
    block_by_bounds();
    usual_blocks();
    for (std::size_t axis = 0; axis < 3; ++axis) grid(axis, launch);
    shared_memory(launch);
    if (said_) open_blocks();
    for (const KernelParameter& p : parameters_) {
      const bool free = integer(p.name) && !used_.contains(p.name) && !taken_.contains(p.name);
      if (free) layout_.unused.push_back(p.name);
    }
    return std::move(layout_);
  }

 private:
  void note(std::set<std::string> names) { used_.merge(names); }
  [[nodiscard]] bool asks(const std::string& name) const {
    return text_.find(name) != std::string::npos;
  }

  /// for (j = 0; ...; j += 8) at y + j, or for (j = threadIdx.y; ...; j += 8): 8 threads.
  void by_steps(std::size_t axis) {
    const std::string thread = with_axis("threadIdx", axis);
    const auto take = [&](const model::Loop& loop) {
      const auto step = loop.step.constant();
      if (known_[axis] || !step || *step < 2 || *step > kMostThreads) return;
      layout_.block[axis].value = *step;
      known_[axis] = true;
    };
    for (const Access& access : facts_.accesses) {
      for (const model::Loop* const loop : access.loops) {
        if (!loop->counted) continue;
        const Polynomial along = access.index.coefficient_of(loop->variable);
        if (!along.is_zero() && along == access.index.coefficient_of(thread)) take(*loop);
        if (loop->first == Polynomial::name(thread)) take(*loop);
      }
    }
  }

  /// The extent that a shared array has for the threads: no more of them fit. A constant of the
  /// file that it is written with may change.
  void by_shared_array(std::size_t axis) {
    const std::string thread = with_axis("threadIdx", axis);
    for (const Access& access : facts_.accesses) {
      const model::Array& array = facts_.arrays[static_cast<std::size_t>(access.array)];
      if (array.space != model::Space::shared || array.declarator == nullptr) continue;
      std::vector<Polynomial> subscripts = access.subscripts;
      if (subscripts.empty()) subscripts = {access.index};
      if (subscripts.size() != array.extents.size()) continue;
      for (std::size_t d = 0; d < subscripts.size(); ++d) {
        const auto extent = array.extents[d].constant();
        if (subscripts[d] != Polynomial::name(thread) || !extent || *extent > kMostThreads)
          continue;
        const model::Expr* const written = array.declarator->extents[d];
        const bool constant = written != nullptr && written->is(model::ExprKind::name) &&
                              !is_argument(written->name) && one_definition(written->name);
        if (known_[axis] && layout_.block[axis].value < *extent) continue;
        if (said_ && layout_.block[axis].value != *extent) continue;
        layout_.block[axis] = {.value = *extent,
                               .tunable = constant ? std::string(written->name) : "",
                               .in_text = constant};
        known_[axis] = true;
        return;
      }
    }
  }
  [[nodiscard]] bool is_argument(std::string_view name) const {
    return std::ranges::any_of(arguments_, [&](const auto& a) { return a.name == name; });
  }
  /// A constant that is an integer by itself: others may follow from it.
  [[nodiscard]] bool one_definition(std::string_view name) const {
    return facts_.unit->constants().contains(name);
  }

  /// 16 * blockIdx.x + threadIdx.x: a block has 16 threads along x. Where nothing is of that form,
  /// 6 * (16 * blockIdx.x + threadIdx.x) says the same.
  void by_indices(std::size_t axis) {
    const auto look = [&](const Polynomial& value, bool scaled) {
      const auto step = value.coefficient_of(with_axis("blockIdx", axis)).constant();
      const auto one = value.coefficient_of(with_axis("threadIdx", axis)).constant();
      if (known_[axis] || !step || !one || *one < 1 || *step % *one != 0) return;
      const std::int64_t threads = *step / *one;
      if ((*one != 1 && !scaled) || threads < 2 || threads > kMostThreads) return;
      layout_.block[axis].value = threads;
      known_[axis] = true;
    };
    for (const bool scaled : {false, true}) {
      for (const model::ThreadIndex& index : facts_.thread_indices) look(index.value, scaled);
      for (const Access& access : facts_.accesses) look(access.index, scaled);
    }
  }

  /// __launch_bounds__, and template parameters named like the block.
  void block_by_bounds() {
    const bool plane = asks("threadIdx.y") || asks("threadIdx.z");
    if (known_[0] || plane) return;
    std::optional<std::int64_t> value;
    if (!facts_.kernel->launch_bounds_args.empty())
      value = model::constant_value(*facts_.unit, *facts_.kernel->launch_bounds_args[0]);
    for (const TemplateArgument& argument : arguments_) {
      if (!value && !argument.is_type && is_block_name(argument.name))
        value = model::constant_value(*facts_.unit, argument.value);
    }
    if (!value || *value < 1 || *value > kMostThreads) return;
    layout_.block[0].value = *value;
    known_[0] = true;
  }
  void usual_blocks() {
    const auto usual = usual_block(text_);
    const bool plane = asks("threadIdx.y") || asks("threadIdx.z");
    const bool free = !known_[0] && !known_[1] && !known_[2];
    for (std::size_t axis = 0; axis < 3; ++axis) {
      if (known_[axis]) continue;
      layout_.block[axis].value = usual[axis];
      if (!asks(with_axis("threadIdx", axis)) && axis > 0) continue;
      if (!asks("threadIdx")) layout_.block[axis].value = 1;
      const std::string name = plane ? std::string("BLOCK_") + "XYZ"[axis] : "BLOCK";
      const bool by_extent = asks(with_axis("blockDim", axis));
      if (free && by_extent && !facts_.unit->identifiers().contains(name))
        layout_.block[axis].tunable = name;
      guess("block", axis, "the kernel leaves the number of its threads open");
    }
  }

  /// A block that host code chose may change where the grid follows from it.
  void open_blocks() {
    if (layout_.smem_bytes != "0") return;
    for (std::size_t axis = 0; axis < 3; ++axis) {
      if (layout_.grid[axis].exact && layout_.grid[axis].exact->constant() != 1) return;
      if (!layout_.block[axis].tunable.empty() || !layout_.block[axis].said.empty()) return;
    }
    const bool line = layout_.block[1].value * layout_.block[2].value == 1;
    const std::string name = "BLOCK";
    const bool fixed = std::ranges::any_of(facts_.arrays, [](const model::Array& array) {
      return array.space == model::Space::shared && !array.extents.empty();
    });
    if (line && !fixed && asks("blockDim.x") && !facts_.unit->identifiers().contains(name))
      layout_.block[0].tunable = name;
  }

  /// A macro that a build may set instead, and that the extent is written with: blockIdx.x * WIDTH.
  void by_macro(std::size_t axis) {
    ThreadExtent& extent = layout_.block[axis];
    const std::regex written("\\b" + with_axis("blockIdx", axis) + "\\s*\\*\\s*(\\w+)");
    std::smatch found;
    if (!extent.tunable.empty() || !std::regex_search(text_, found, written)) return;
    const std::string name = found[1], value = std::to_string(extent.value);
    if (asks("#ifndef " + name + "\n#define " + name + " " + value + "\n"))
      extent = {.value = extent.value, .tunable = name, .in_text = true};
  }

  void guess(const std::string& part, std::size_t axis, const std::string& why) {
    layout_.guesses.push_back({part, axis, why});
  }
  /// `p` over the launch alone: what is added to the step of a block is left out.
  struct Step {
    Polynomial size, step;
  };
  /// size - 1 - step * blockIdx - ... >= 0
  [[nodiscard]] std::optional<Step> step_in(const Polynomial& bound, std::size_t axis) const {
    const std::string block = with_axis("blockIdx", axis);
    if (bound.degree(block) != 1 || bound.hides(block)) return std::nullopt;
    const Polynomial step = -bound.coefficient_of(block);
    if (!step.is_known() || !step.has_only_positive_terms()) return std::nullopt;
    Polynomial size = bound.without(block) + 1;
    for (std::size_t other = 0; other < 3; ++other)
      for (const char* const what : {"threadIdx", "blockIdx"})
        size = without_all(size, with_axis(what, other));
    for (const auto& loop : facts_.loops)
      if (loop->counted) size = without_all(size, loop->variable);
    const bool tiled = step.constant().value_or(0) == layout_.block[axis].value || !step.constant();
    const bool constant = tiled && size.constant().value_or(0) > 1;
    if (!(is_size(size) || constant) || !is_extent(step)) return std::nullopt;
    return Step{size, step};
  }
  static Polynomial without_all(Polynomial p, const std::string& name) {
    if (p.degree(name) > 0) p = p.without(name);
    for (const std::string& atom : p.atoms()) {
      const model::Atom* const operation = p.operation_atom(atom);
      const bool inside = operation != nullptr &&
                          Polynomial::operation(operation->op, operation->operands).mentions(name);
      if (inside) p = p.without(atom);
    }
    return p;
  }
  /// Over parameters that are integers, and at least one of them.
  [[nodiscard]] bool is_size(const Polynomial& p) const {
    const auto names = p.names();
    if (!p.is_known() || names.empty()) return false;
    for (const model::Atom* const operation : p.operations())
      if (operation->op.starts_with("load")) return false;
    return std::ranges::all_of(names, [&](const std::string& name) { return integer(name); });
  }
  [[nodiscard]] static bool is_extent(const Polynomial& p) {
    return std::ranges::all_of(
        p.names(), [](const std::string& name) { return name.starts_with("blockDim."); });
  }
  [[nodiscard]] bool integer(const std::string& name) const {
    return std::ranges::any_of(parameters_, [&](const KernelParameter& p) {
      return p.name == name && !p.pointer && !info(p.dtype).is_float && p.dtype != DType::boolean;
    });
  }

  void grid(std::size_t axis, const std::optional<HostLaunch>& launch) {
    GridExtent& out = layout_.grid[axis];
    if (launch && launch->grid[axis]) {
      const bool bounded = by_bounds(axis);
      if (same(out, *launch->grid[axis], launch->integers)) return;
      out = {.exact = launch->grid[axis]};
      const auto number = out.exact->constant();
      if (!number || *number <= kFewBlocks || bounded || !asks(with_axis("blockIdx", axis))) return;
      const std::string size = new_size("blocks", axis);  // fewer for the host
      out.exact = Polynomial::name(size);
      layout_.sizes.push_back(size);
      layout_.given[size] = *number;
      return;
    }
    if (asks(with_axis("blockIdx", axis)) && !by_bounds(axis)) by_access(axis);
  }
  /// True if both come to as many blocks in the launch that host code makes.
  [[nodiscard]] bool same(const GridExtent& derived,
                          const Polynomial& exact,
                          const std::map<std::string, std::int64_t>& integers) const {
    Bindings numbers(integers.begin(), integers.end());
    for (std::size_t axis = 0; axis < 3; ++axis)
      numbers[with_axis("blockDim", axis)] = layout_.block[axis].value;
    const auto size = derived.size.evaluate(numbers), step = derived.step.evaluate(numbers),
               blocks = exact.evaluate(numbers);
    return size && step && blocks && *step > 0 && derived.most == 0 &&
           (*size + *step - 1) / *step == *blocks;
  }

  bool by_bounds(std::size_t axis) {
    GridExtent& out = layout_.grid[axis];
    for (const auto& guard : facts_.guards) {
      for (const Polynomial& bound : guard->nonnegative) {
        const auto found = step_in(bound, axis);
        if (!found || found->step.is_zero()) continue;
        // the tile's last row of a stencil or window is no bound of its own
        if (guard->negated && !guard->early_exit) continue;
        out.size = found->size, out.step = found->step;
        if (const auto slack = slack_of(out.size)) out.size = *slack;
        return true;
      }
    }
    for (const auto& loop : facts_.loops) {
      if (!loop->counted || loop->descending) continue;
      const auto found = step_in(loop->end - 1 - loop->first, axis);
      if (!found) continue;
      out.size = found->size, out.step = found->step;
      if (!moves_a_pointer(facts_, *loop) && loop->step.mentions(with_axis("gridDim", axis)))
        out.most = kStridingBlocks;
      return true;
    }
    return false;
  }
  /// n - 1 is covered by n: the points that a guard leaves out are elements too.
  static std::optional<Polynomial> slack_of(const Polynomial& size) {
    const std::int64_t constant = size.constant_term();
    if (constant >= 0) return std::nullopt;
    return size - constant;
  }

  /// No guard: the inner extents are strides, or what the block's number is divided by; the outer
  /// one is a parameter that nothing else names, or a size that the launch alone knows.
  void by_access(std::size_t axis) {
    GridExtent& out = layout_.grid[axis];
    const std::string block = with_axis("blockIdx", axis);
    Polynomial step = 1;
    for (const Access& access : facts_.accesses) {
      const Polynomial own = access.index.coefficient_of(block);
      if (own.is_zero() || access.index.degree(block) != 1) continue;
      for (const std::string& name : own.names())  // blocks in one line: one row is all of them
        if (name.starts_with("gridDim.")) return;
      step = own.constant() || is_extent(own) ? own : tile_of(own);
      const auto stride = stride_beside(access, axis);
      if (!stride) continue;
      out.size = Polynomial::name(*stride), out.step = step;
      assume(axis);
      return guess(
          "grid", axis,
          "no guard bounds " + block + "; " + *stride + ", the stride beside it, is taken");
    }
    out.step = step;
    const auto outer = std::ranges::find_if(parameters_, [&](const KernelParameter& p) {
      return integer(p.name) && !used_.contains(p.name) && !taken_.contains(p.name);
    });
    if (outer != parameters_.end()) {
      taken_.insert(outer->name);
      out.size = Polynomial::name(outer->name);
    } else {
      layout_.sizes.push_back(new_size(step.constant() == 1 ? "rows" : "points", axis));
      out.size = Polynomial::name(layout_.sizes.back());
    }
    for (const std::string& inner : extents_of_points(facts_, kLaunchAxes[axis]))
      if (integer(inner)) out.size = out.size * Polynomial::name(inner);
    assume(axis);
    guess("grid", axis, "no guard bounds " + block + "; " + out.size.text() + " is taken");
  }
  /// 16 * N gives 16.
  [[nodiscard]] static Polynomial tile_of(const Polynomial& factor) {
    if (factor.terms().size() != 1) return 1;
    Polynomial out(factor.terms()[0].coefficient);
    for (const auto& one : factor.terms()[0].factors) {
      if (one->text.starts_with("blockDim.")) out = out * Polynomial::name(one->text);
    }
    return out;
  }
  /// The parameter that tells another index's stride in the same access from the block's: C of
  /// `(n * C + blockIdx.y) * S`, the whole stride where the block's is a number.
  [[nodiscard]] std::optional<std::string> stride_beside(const Access& access,
                                                         std::size_t axis) const {
    const Polynomial own = access.index.coefficient_of(with_axis("blockIdx", axis));
    for (std::size_t other = 0; other < 3; ++other) {
      if (other == axis) continue;
      const Polynomial factor = access.index.coefficient_of(with_axis("blockIdx", other));
      if (factor.terms().size() != 1) continue;
      for (const auto& one : factor.terms()[0].factors) {
        const bool beside =
            own.constant() || is_extent(own) || factor == own * Polynomial::name(one->text);
        if (integer(one->text) && beside) return one->text;
      }
    }
    return std::nullopt;
  }
  std::string new_size(const std::string& wish, std::size_t axis) const {
    std::string name = axis == 0 ? wish : wish + "_" + kLaunchAxes[axis];
    return model::fresh_name(*facts_.unit, name);
  }
  void assume(std::size_t axis) {
    const GridExtent& out = layout_.grid[axis];
    Polynomial index = out.step * Polynomial::name(with_axis("blockIdx", axis));
    const bool of_threads =
        out.step == Polynomial::name(with_axis("blockDim", axis)) ||
        (out.step.constant() == layout_.block[axis].value && layout_.block[axis].value > 1);
    if (of_threads) index = index + Polynomial::name(with_axis("threadIdx", axis));
    layout_.assumed.push_back(out.size - 1 - index);
  }

  void shared_memory(const std::optional<HostLaunch>& launch) {
    const bool dynamic = std::ranges::any_of(
        facts_.arrays, [](const model::Array& array) { return array.dynamic_shared; });
    if (launch && launch->dynamic_smem_bytes) {
      layout_.smem_bytes = layout_.text(*launch->dynamic_smem_bytes);
      return;
    }
    static const std::regex kExtern(R"(\bextern\b[^;]*\b__shared__\b)");
    if (!dynamic && !std::regex_search(text_, kExtern)) return;
    std::size_t bytes = 8;
    for (const model::Array& array : facts_.arrays) {
      // Bytes are memory for elements of any type.
      if (array.dynamic_shared && array.element_bytes > 1) bytes = array.element_bytes;
    }
    layout_.smem_of_thread = static_cast<std::int64_t>(bytes);
    guess("dynamic_smem_bytes", 0, "an element of the shared array for each thread of a block");
  }

  const model::KernelFacts& facts_;
  const std::string& text_;
  const std::vector<KernelParameter>& parameters_;
  const std::vector<TemplateArgument>& arguments_;
  std::set<std::string> used_, taken_;
  std::array<bool, 3> known_{};
  bool said_ = false;  // by host code
  ThreadLayout layout_;
};

}  // namespace

std::string ThreadLayout::block_text(std::size_t axis, bool tunables) const {
  const ThreadExtent& extent = block[axis];
  if (tunables && !extent.tunable.empty()) return extent.tunable;
  return extent.said.empty() ? std::to_string(extent.value) : "(" + extent.said + ")";
}

std::string ThreadLayout::with_block(std::string text, bool tunables) const {
  for (std::size_t axis = 0; axis < 3; ++axis)
    replace_all(text, with_axis("blockDim", axis), block_text(axis, tunables));
  return text;
}

std::string ThreadLayout::grid_text(std::size_t axis, bool tunables) const {
  const GridExtent& extent = grid[axis];
  if (extent.exact) return with_block(extent.exact->text(), tunables);
  std::string step = with_block(extent.step.text(), tunables);
  // a tile of the text follows the tunable that it is made of, its own axis's or another's
  const auto number = extent.step.constant();
  for (const std::size_t other : {axis, (axis + 1) % 3, (axis + 2) % 3}) {
    const ThreadExtent& threads = block[other];
    if (!tunables || !number || !threads.in_text || threads.tunable.empty()) continue;
    if (*number % threads.value != 0 || *number == 1) continue;
    const std::int64_t times = *number / threads.value;
    step = threads.tunable + (times == 1 ? "" : " * " + std::to_string(times));
    break;
  }
  const std::string size = with_block(extent.size.text(), tunables);
  std::string out = step == "1" ? size : "ceil_div(" + size + ", " + step + ")";
  return extent.most > 0 ? "min(" + out + ", " + std::to_string(extent.most) + ")" : out;
}

std::string ThreadLayout::smem_text(bool tunables) const {
  if (smem_of_thread == 0) return smem_bytes;
  std::string out = std::to_string(smem_of_thread);
  for (std::size_t axis = 0; axis < 3; ++axis)
    if (block[axis].value > 1) out += " * " + block_text(axis, tunables);
  return out;
}

std::string ThreadLayout::text(const Polynomial& size) const {
  std::string out = with_block(size.text(), false);
  for (std::size_t axis = 0; axis < 3; ++axis) {
    const std::string blocks = grid_text(axis, false);
    replace_all(out, with_axis("gridDim", axis), is_atom(blocks) ? blocks : "(" + blocks + ")");
  }
  return out;
}

ThreadLayout thread_layout(const model::KernelFacts& facts,
                           const std::string& text,
                           const std::optional<HostLaunch>& launch,
                           const std::vector<KernelParameter>& parameters,
                           const std::vector<TemplateArgument>& arguments) {
  return LayoutReader(facts, text, parameters, arguments).read(launch);
}

}  // namespace warpath
