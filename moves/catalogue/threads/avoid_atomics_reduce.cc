#include <algorithm>

#include "moves/edit/known_shape.h"
#include "moves/edit/sites.h"
#include "moves/edit/span_rewrite.h"
#include "moves/launch/grid_stride.h"
#include "moves/model/kernel_model.h"
#include "moves/model/moved_pointers.h"
#include "moves/syntax/syntax_query.h"
#include "register_moves.h"

namespace warpath {
namespace {

using namespace model;

constexpr std::int64_t kCopies[] = {0, 1, 2, 4, 8, 16, 32};

/// The atomics on one array.
struct Target {
  const Array* array = nullptr;
  std::vector<const Access*> accesses;
  std::int64_t elements = 0;
  /// of the only element, C text, if all atomics share one that is equal for all threads
  std::string address;
};

/// The call atomicAdd(place, value) of an access; null if its result is used or it is another
/// function.
const Expr* adding_call(const Access& access) {
  for (const Expr* at = access.expr; at != nullptr; at = at->parent) {
    if (!at->is(ExprKind::call) || callee(*at) != "atomicAdd" || at->args.size() != 3) continue;
    return at->parent == nullptr && at->stmt != nullptr && at->stmt->is(StmtKind::expression)
               ? at
               : nullptr;
  }
  return nullptr;
}

bool can_be_added(std::string_view type) {
  return type == "int" || type == "unsigned int" || type == "unsigned" || type == "float" ||
         type == "unsigned long long" || type == "double";
}

/// Number of elements by the spec, if no workload can change it.
std::int64_t elements_of(const MoveContext& context, const Array& array) {
  const ArgSpec* const arg = context.spec.io.find(array.spec_name);
  if (arg == nullptr) return 0;
  std::int64_t out = 0;
  for (const Workload* w : workloads_of(context)) {
    std::int64_t count = 1;
    for (const std::int64_t extent : context.spec.shape_of(*arg, *w)) count *= extent;
    if (out != 0 && count != out) return 0;
    out = count;
  }
  return out;
}

/// One thread of the block does it, for all.
bool is_of_one_thread(const Unit& unit, const Access& access) {
  return std::ranges::any_of(access.guards, [&](const Guard* guard) {
    return !guard->negated && guard->condition != nullptr &&
           unit.text(guard->condition->outer) == "threadIdx.x == 0";
  });
}

/// True if the block's threads already add to distinct elements, each once, or one thread adds for
/// all: `k = threadIdx.x; k < N; k += blockDim.x` with an element for each k, or behind
/// `threadIdx.x == 0`. Sums of the block would gain nothing.
bool adds_once_a_block(const Unit& unit, const Access& access) {
  if (is_of_one_thread(unit, access)) return access.loops.empty();
  if (access.loops.size() != 1) return false;
  const Loop& loop = *access.loops.front();
  const bool over_block = loop.thread_axis >= 0 && loop.thread_axis < 3;
  const Polynomial& index = access.source_index;
  return over_block && index.affine_in(loop.variable) &&
         index.coefficient_of(loop.variable) == Polynomial(1);
}

std::optional<Target> find_target(const MoveContext& context,
                                  const KernelModel& model,
                                  std::string_view site,
                                  std::string& why) {
  const KernelFacts& facts = model.facts;
  for (std::size_t a = 0; a < facts.arrays.size(); ++a) {
    const Array& array = facts.arrays[a];
    if (array.spec_name.empty() || std::string(kArgumentPrefix) + array.spec_name != site) continue;
    if (!array.atomic || array.space != Space::global || array.escapes)
      return why = array.name + " takes no atomics that the model follows", std::nullopt;
    if (is_moved(facts, array))
      return why = "the kernel moves the pointer " + array.name, std::nullopt;
    if (!can_be_added(array.type)) return why = "no shared copy of " + array.type, std::nullopt;
    Target out{&array, facts.accesses_to(static_cast<int>(a)), elements_of(context, array), ""};
    for (const Access* access : out.accesses) {
      if (access->kind != AccessKind::atomic || access->in_helper ||
          adding_call(*access) == nullptr)
        return why = "an access is no plain atomicAdd", std::nullopt;
    }
    if (std::all_of(out.accesses.begin(), out.accesses.end(), [&](const Access* access) {
          return adds_once_a_block(*facts.unit, *access);
        })) {
      return why = "a block adds to an element of " + array.name + " only once", std::nullopt;
    }
    const Polynomial& index = out.accesses.front()->index;
    const bool one = std::all_of(out.accesses.begin(), out.accesses.end(),
                                 [&](const Access* access) { return access->index == index; });
    const Uniformity who = facts.uniformity(index);
    if (one && index.is_known() &&
        (who == Uniformity::constant || who == Uniformity::grid || who == Uniformity::block)) {
      bool open = false;
      for (const std::string& name : index.names())
        open = open || (facts.kernel->parameter(name) == nullptr && !name.starts_with("blockIdx") &&
                        !facts.unit->constants().contains(name));
      if (!open) out.address = "&" + array.name + "[" + index.text() + "]";
    }
    return out;
  }
  return why = "no array argument with atomics at " + std::string(site), std::nullopt;
}

/// Atomics on global memory become sums of the block: copies = 0: a register of each thread,
/// combined by shuffles, one atomic a block (all atomics on one element); copies >= 1: the array in
/// shared memory, that many times, a lane's copy at its own place so that lanes do not meet, added
/// to global memory at the end. blocks_per_sm >= 1: a kernel of one item a thread, or of items that
/// lanes or a block share, strides over its items on a grid of so many blocks a multiprocessor
/// first. Site "argument:NAME".
class AvoidAtomicsReduce final : public Move {
 public:
  [[nodiscard]] std::string_view name() const override { return "avoid_atomics_reduce"; }

  [[nodiscard]] std::vector<MoveInstance> enumerate(const MoveContext& context) const override {
    std::vector<MoveInstance> out;
    std::string why;
    const auto model = model_kernel(context.spec, context.variant, why);
    if (model == nullptr) return out;
    constexpr std::int64_t kBlocks = 8;  // a multiprocessor
    const auto strided = on_strided_grid(context, *model, kBlocks, why);
    for (const ArgSpec& arg : context.spec.io.args) {
      if (arg.type != ArgType::tensor || arg.role == ArgRole::input) continue;
      const std::string site = std::string(kArgumentPrefix) + arg.name;
      for (const std::int64_t blocks : {kBlocks, std::int64_t{0}}) {
        if (blocks > 0 && !strided) continue;
        for (const std::int64_t copies : {0, 32, 8, 1, 16, 4, 2}) {
          const auto done = blocks > 0
                                ? rewritten(strided->context, *strided->model, site, copies, why)
                                : rewritten(context, *model, site, copies, why);
          if (done)
            out.push_back(
                {std::string(name()), site, {{"copies", copies}, {"blocks_per_sm", blocks}}});
        }
      }
    }
    return out;
  }

  [[nodiscard]] std::vector<Tunable> domain(const MoveContext&,
                                            std::string_view site) const override {
    if (!site.starts_with(kArgumentPrefix)) return {};
    std::vector<std::int64_t> blocks{0};
    blocks.insert(blocks.end(), std::begin(kBlocksPerMultiprocessor),
                  std::end(kBlocksPerMultiprocessor));
    return {Tunable{"copies",
                    {std::begin(kCopies), std::end(kCopies)},
                    1,
                    "copies of the array in shared memory; 0: a sum in a register"},
            Tunable{"blocks_per_sm", std::move(blocks), 0,
                    "blocks of a grid that strides over the items, for each multiprocessor; 0: the "
                    "grid stays"}};
  }

  [[nodiscard]] std::optional<Variant> apply(const MoveContext& context,
                                             const MoveInstance& wanted,
                                             std::string& why) const override {
    const bool keeps_grid = !wanted.parameters.contains("blocks_per_sm");
    if (keeps_grid ? !takes(wanted, {"copies"}, why)
                   : !takes(wanted, {"copies", "blocks_per_sm"}, why))
      return std::nullopt;
    const std::int64_t copies = wanted.parameters.at("copies"),
                       blocks = keeps_grid ? 0 : wanted.parameters.at("blocks_per_sm");
    if (std::ranges::find(kCopies, copies) == std::end(kCopies))
      return why = "copies is 0 or a power of two up to 32", std::nullopt;
    if (blocks != 0 &&
        std::ranges::find(kBlocksPerMultiprocessor, blocks) == std::end(kBlocksPerMultiprocessor))
      return why = "blocks_per_sm is 0 or a power of two up to 32", std::nullopt;
    const auto model = model_kernel(context.spec, context.variant, why);
    if (model == nullptr) return std::nullopt;
    if (blocks == 0) return rewritten(context, *model, wanted.site, copies, why);
    const auto strided = on_strided_grid(context, *model, blocks, why);
    return strided ? rewritten(strided->context, *strided->model, wanted.site, copies, why)
                   : std::nullopt;
  }

 private:
  /// The kernel after the first half of the move, and all that refers to it.
  struct Strided {
    std::unique_ptr<const Variant> variant;
    MoveContext context;
    std::shared_ptr<const KernelModel> model;
  };

  /// Summing per block first only pays if each thread has many items.
  static std::optional<Strided> on_strided_grid(const MoveContext& context,
                                                const KernelModel& model,
                                                std::int64_t blocks_per_sm,
                                                std::string& why) {
    const bool together = model.facts.has_barrier || model.facts.has_warp_ops;
    const bool summed = std::ranges::any_of(model.facts.accesses, [&](const Access& access) {
      return access.kind == AccessKind::atomic && is_of_one_thread(*model.facts.unit, access);
    });
    if (together && summed) return why = "a block adds up its sums already", std::nullopt;
    auto variant = together ? strided_over_blocks(context, model, blocks_per_sm, why)
                            : strided_over_threads(context, model, blocks_per_sm, why);
    if (!variant) return std::nullopt;
    auto kept = std::make_unique<const Variant>(std::move(*variant));
    const MoveContext after{context.spec, *kept, context.device};
    auto parsed = model_kernel(after.spec, after.variant, why);
    if (parsed == nullptr) return std::nullopt;
    return Strided{std::move(kept), after, std::move(parsed)};
  }

  static std::optional<Variant> rewritten(const MoveContext& context,
                                          const KernelModel& model,
                                          std::string_view site,
                                          std::int64_t copies,
                                          std::string& why) {
    if (!model.facts.veto.empty()) return why = model.facts.veto, std::nullopt;
    const auto target = find_target(context, model, site, why);
    if (!target) return std::nullopt;
    if (jumps_out(*model.kernel->body))
      return why = "threads leave early: turn the guard into an if first", std::nullopt;
    for (const std::size_t axis : {1U, 2U}) {
      if (context.variant.launch.block[axis] != Expression(1))
        return why = "the block has more than one axis", std::nullopt;
    }
    return copies == 0 ? in_register(context, model, *target, why)
                       : in_shared(context, model, *target, copies, why);
  }

  static std::string zero_of(std::string_view type) {
    return type == "float" ? "0.0f" : type == "double" ? "0.0" : "0";
  }

  /// Lines before the closing brace of the kernel.
  static void append(Rewrite& rewrite, const KernelModel& model, const std::string& lines) {
    const std::string outer = indentation(model.unit, model.kernel->span.begin),
                      indent = outer + indent_unit(model.unit);
    const std::size_t close = model.kernel->body->span.end - 1;
    const std::size_t line = line_begin(model.unit.source(), close);
    const bool own_line = model.unit.source().substr(line, close - line).find_first_not_of(" \t") ==
                          std::string_view::npos;
    rewrite.insert(own_line ? line : close,
                   (own_line ? "" : "\n") + indented(lines, indent) + (own_line ? "" : outer));
  }

  static std::optional<Variant> in_shared(const MoveContext& context,
                                          const KernelModel& model,
                                          const Target& target,
                                          std::int64_t copies,
                                          std::string& why) {
    const Array& array = *target.array;
    if (target.elements <= 0)
      return why = "the number of elements of " + array.name + " is open", std::nullopt;
    const std::int64_t bytes =
        target.elements * copies * static_cast<std::int64_t>(array.element_bytes);
    const std::int64_t all_bytes = bytes + static_smem_bytes(model.facts);
    if (all_bytes > kStaticSmemBytes)
      return why = std::to_string(all_bytes) + " bytes of shared memory are too many", std::nullopt;
    const Unit& unit = model.unit;
    Rewrite rewrite(model);
    const std::string local = rewrite.fresh(array.name + "_block"), count = rewrite.fresh("BINS"),
                      k = rewrite.fresh("k");
    const std::string many = copies > 1 ? rewrite.fresh("COPIES") : "",
                      lane = copies > 1 ? rewrite.fresh("own") : "";
    std::string head = "constexpr int " + count + " = " + std::to_string(target.elements) +
                       (copies > 1 ? ", " + many + " = " + std::to_string(copies) : "") + ";\n";
    const std::string all = copies > 1 ? count + " * " + many : count;
    head += "__shared__ " + array.type + " " + local + "[" + all + "];" +
            (copies > 1 ? "  // element e of copy c at e * " + many + " + c\n" : "\n");
    head += "for (int " + k + " = threadIdx.x; " + k + " < " + all + "; " + k + " += blockDim.x) " +
            local + "[" + k + "] = " + zero_of(array.type) + ";\n__syncthreads();\n";
    if (copies > 1)
      head += array.type + "* " + lane + " = " + local + " + threadIdx.x % " + many + ";\n";
    head += "\n";
    rewrite.declare_first(head);
    for (const Access* access : target.accesses) {
      const Expr& place = adding_call(*access)->arg(1);
      const std::string index = access->expr->is(ExprKind::subscript) &&
                                        access->expr->args.size() == 2 &&
                                        access->expr->arg(0).is_name(array.name)
                                    ? factor_of(unit, access->expr->arg(1))
                                    : access->source_index.factor_text();
      rewrite.replace(place.outer, "&" + (copies > 1 ? lane + "[" + index + " * " + many + "]"
                                                     : local + "[" + index + "]"));
    }
    std::string tail = "__syncthreads();\nfor (int " + k + " = threadIdx.x; " + k + " < " + count +
                       "; " + k + " += blockDim.x) {\n";
    const std::string step = indent_unit(unit);
    if (copies > 1) {
      const std::string sum = rewrite.fresh("sum"), c = rewrite.fresh("c");
      tail += step + array.type + " " + sum + " = " + zero_of(array.type) + ";\n";
      tail += step + "for (int " + c + " = 0; " + c + " < " + many + "; ++" + c + ") " + sum +
              " += " + local + "[" + k + " * " + many + " + (" + c + " + " + k + ") % " + many +
              "];\n";
      tail += step + "atomicAdd(&" + array.name + "[" + k + "], " + sum + ");\n}\n";
    } else {
      tail += step + "atomicAdd(&" + array.name + "[" + k + "], " + local + "[" + k + "]);\n}\n";
    }
    append(rewrite, model, tail);
    return rewrite.finish(context.variant);
  }

  static std::optional<Variant> in_register(const MoveContext& context,
                                            const KernelModel& model,
                                            const Target& target,
                                            std::string& why) {
    const Array& array = *target.array;
    if (target.address.empty())
      return why = "threads of a block add to different elements of " + array.name, std::nullopt;
    const Bindings values =
        context.spec.bindings(*workloads_of(context).front(), context.variant.tunables);
    const std::int64_t threads = context.variant.launch.block[0].evaluate(values, "block");
    if (threads % 32 != 0) return why = "the block is no multiple of a warp", std::nullopt;
    Rewrite rewrite(model);
    const std::string sum = rewrite.fresh(array.name + "_sum"), parts = rewrite.fresh("warp_sums"),
                      d = rewrite.fresh("d"), step = indent_unit(model.unit);
    rewrite.declare_first(array.type + " " + sum + " = " + zero_of(array.type) +
                          ";  // of this thread\n");
    for (const Access* access : target.accesses) {
      const Expr& call = *adding_call(*access);
      rewrite.replace(call.outer, sum + " += " + std::string(model.unit.text(call.arg(2).outer)));
    }
    const std::string tree = "for (int " + d + " = 16; " + d + " > 0; " + d + " /= 2) " + sum +
                             " += __shfl_xor_sync(0xffffffffu, " + sum + ", " + d + ");\n";
    std::string tail =
        "// One sum a block: over the lanes of each warp, then over the warps.\n" + tree;
    tail += "__shared__ " + array.type + " " + parts + "[32];\n";
    tail += "if (threadIdx.x % 32 == 0) " + parts + "[threadIdx.x / 32] = " + sum +
            ";\n__syncthreads();\n";
    tail += "if (threadIdx.x < 32) {\n" + step + sum + " = threadIdx.x < blockDim.x / 32 ? " +
            parts + "[threadIdx.x] : " + zero_of(array.type) + ";\n";
    tail += step + tree + step + "if (threadIdx.x == 0) atomicAdd(" + target.address + ", " + sum +
            ");\n}\n";
    append(rewrite, model, tail);
    return rewrite.finish(context.variant);
  }
};

}  // namespace

void register_move_avoid_atomics_reduce(MoveRegistry& registry) {
  registry.add("avoid_atomics_reduce",
               "sums of a block in registers or shared memory instead of global atomics",
               [] { return on_known_shape(std::make_unique<AvoidAtomicsReduce>()); });
}

}  // namespace warpath
