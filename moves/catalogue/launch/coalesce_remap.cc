#include <algorithm>
#include <array>

#include "engine/base/error.h"
#include "engine/text/source_edit.h"
#include "moves/edit/known_shape.h"
#include "moves/edit/span_rewrite.h"
#include "moves/launch/block_extent.h"
#include "moves/launch/joined_blocks.h"
#include "moves/model/facts.h"
#include "moves/model/kernel_model.h"
#include "register_moves.h"

namespace warpath {
namespace {

using namespace model;

constexpr std::array<std::string_view, 3> kSites{"axes:xy", "axes:xz", "axes:yz"};
constexpr std::array<std::array<std::size_t, 2>, 3> kPairs{{{0, 1}, {0, 2}, {1, 2}}};
constexpr std::string_view kBlocksSite = "blocks";
/// threads of a former block, and blocks that become one
constexpr std::array<std::array<std::int64_t, 2>, 11> kJoined{{{32, 32},
                                                               {32, 8},
                                                               {32, 16},
                                                               {64, 8},
                                                               {64, 16},
                                                               {128, 8},
                                                               {0, 8},
                                                               {0, 4},
                                                               {0, 16},
                                                               {0, 32},
                                                               {0, 2}}};
constexpr std::int64_t kMostGridBlocks = 65535;  // in y and z

/// How well the accesses to global memory would be coalesced if `axis` were the fast one: bytes of
/// accesses that grow by one element, or not at all, along it, inner loops counted more.
double coalesced(const KernelFacts& facts, std::size_t axis) {
  const std::string thread = std::string("threadIdx.") + "xyz"[axis];
  double out = 0;
  for (const Access& access : facts.accesses) {
    const Array& array = facts.arrays[static_cast<std::size_t>(access.array)];
    if (array.space != Space::global || !access.index.affine_in(thread)) continue;
    const Polynomial step = facts.resolved(access.index.coefficient_of(thread));
    double weight = access.loops.empty() ? 1 : 64;
    if (step == Polynomial(1)) out += weight;
    if (step.is_zero()) out += weight / 2;
  }
  return out;
}

/// Gives two thread axes each other's role, in the source and in the launch: the one along which
/// memory is contiguous shall be x, whose threads are neighbours in a warp. Site "blocks":
/// neighbouring blocks, along which it is contiguous, become neighbouring threads of one block; for
/// 8 of 4 bytes or more to fit, each may have fewer threads than it had.
class CoalesceRemap final : public Move {
 public:
  [[nodiscard]] std::string_view name() const override { return "coalesce_remap"; }

  [[nodiscard]] std::vector<MoveInstance> enumerate(const MoveContext& context) const override {
    std::vector<MoveInstance> out;
    std::string why;
    const auto kernel = model_kernel(context.spec, context.variant, why);
    if (kernel == nullptr) return out;
    for (std::size_t i = 0; i < kSites.size(); ++i) {
      if (swapped(context, *kernel, kPairs[i], why))
        out.push_back({std::string(name()), std::string(kSites[i]), {}});
    }
    const std::vector<BlockExtent> free = free_block_extents(context, why);
    for (const auto& [threads, columns] : kJoined) {
      if (joined(context, free, threads, columns, why))
        out.push_back({std::string(name()),
                       std::string(kBlocksSite),
                       {{"columns", columns}, {"threads", threads}}});
    }
    return out;
  }

  [[nodiscard]] std::vector<Tunable> domain(const MoveContext&,
                                            std::string_view site) const override {
    if (site != kBlocksSite) return {};
    return {Tunable{"columns", {2, 4, 8, 16, 32}, 8, "blocks that become one"},
            Tunable{"threads", {0, 32, 64, 128, 256, 512}, 0, "of each; 0: as many as they had"}};
  }

  [[nodiscard]] std::optional<Variant> apply(const MoveContext& context,
                                             const MoveInstance& wanted,
                                             std::string& why) const override {
    const auto kernel = model_kernel(context.spec, context.variant, why);
    if (kernel == nullptr) return std::nullopt;
    if (wanted.site == kBlocksSite) {
      const std::vector<Tunable> known = domain(context, wanted.site);
      for (const Tunable& t : known) {
        const auto value = wanted.parameters.find(t.name);
        if (wanted.parameters.size() != known.size() || value == wanted.parameters.end() ||
            !std::ranges::binary_search(t.values, value->second))
          return why = "coalesce_remap@blocks takes columns and threads, of their values",
                 std::nullopt;
      }
      std::string tie;
      const std::vector<BlockExtent> free = free_block_extents(context, tie);
      const std::int64_t threads = wanted.parameters.at("threads");
      auto out = joined(context, free, threads, wanted.parameters.at("columns"), why);
      if (!out && threads != 0 && !tie.empty()) why += ": " + tie;
      return out;
    }
    const auto site = std::find(kSites.begin(), kSites.end(), wanted.site);
    if (site == kSites.end() || !wanted.parameters.empty())
      return why = "coalesce_remap takes a pair of axes as its site and no parameters, or blocks",
             std::nullopt;
    return swapped(context, *kernel, kPairs[static_cast<std::size_t>(site - kSites.begin())], why);
  }

 private:
  static std::optional<Variant> joined(const MoveContext& context,
                                       const std::vector<BlockExtent>& free,
                                       std::int64_t threads,
                                       std::int64_t columns,
                                       std::string& why) {
    Variant variant = context.variant;
    if (threads != 0) {
      if (free.size() != 1 || free[0].axis != 0 ||
          !std::ranges::binary_search(free[0].values, threads) || threads == free[0].current ||
          !set_block_extent(variant.launch, free[0], threads))
        return why = "a block cannot have " + std::to_string(threads) + " threads instead",
               std::nullopt;
    }
    const MoveContext narrowed{context.spec, variant, context.device};
    auto kernel = model_kernel(context.spec, context.variant, why);
    if (kernel == nullptr) return std::nullopt;
    if (threads != 0) {  // indices do not depend on it, and another model would be expensive
      if (!gains_side_by_side(kernel->facts, threads))
        return why = "neighbouring blocks touch no neighbouring elements", std::nullopt;
      kernel = model_kernel(context.spec, variant, why);
    }
    if (kernel == nullptr) return std::nullopt;
    return blocks_side_by_side(narrowed, *kernel, columns, why);
  }

  static std::optional<Variant> swapped(const MoveContext& context,
                                        const KernelModel& kernel,
                                        std::array<std::size_t, 2> pair,
                                        std::string& why) {
    const KernelFacts& facts = kernel.facts;
    if (facts.has_warp_ops || facts.has_assembly || facts.has_opaque)
      return why = "the kernel counts on which threads form a warp", std::nullopt;
    if (facts.has_unknown_calls)  // which may count on it too
      return why = facts.veto, std::nullopt;
    if (context.variant.launch.block[pair[1]] == Expression(1))
      return why = "the block has one thread along the second axis", std::nullopt;
    if (coalesced(facts, pair[1]) <= coalesced(facts, pair[0]))
      return why = "memory is no more contiguous along the second axis than along the first",
             std::nullopt;
    Variant out = context.variant;
    const auto edits = index_edits(kernel, pair, why);
    if (!edits) return std::nullopt;
    out.source = edited(kernel.unit.source(), *edits);
    for (auto* triple : {&out.launch.grid, &out.launch.block, &out.launch.cluster})
      std::swap((*triple)[pair[0]], (*triple)[pair[1]]);
    return fits(context, out, why) ? std::optional(out) : std::nullopt;
  }

  /// Exchanges the axis letters after threadIdx, blockIdx, blockDim and gridDim in the kernel's
  /// body.
  static std::optional<std::vector<Edit>> index_edits(const KernelModel& kernel,
                                                      std::array<std::size_t, 2> pair,
                                                      std::string& why) {
    const CodeText code(kernel.unit.source());
    const Span body = kernel.kernel->body->span;
    std::vector<Edit> edits;
    for (std::size_t i = 0; i < code.tokens.size(); ++i) {
      const bool builtin = code.is(i, "threadIdx") || code.is(i, "blockIdx") ||
                           code.is(i, "blockDim") || code.is(i, "gridDim");
      if (!builtin || code.tokens[i].kind != TokenKind::identifier) continue;
      const bool inside = body.contains({code.tokens[i].begin, code.tokens[i].end});
      if (!inside && outside_function_of(kernel, code.tokens[i].begin)) continue;
      const std::string_view letter =
          code.is(i + 1, ".") && i + 2 < code.text.size() ? code.text[i + 2] : "";
      if (!inside || (letter != "x" && letter != "y" && letter != "z"))
        return why = "an index of the launch is used in a way that is not understood", std::nullopt;
      for (std::size_t side = 0; side < 2; ++side) {
        if (letter[0] != "xyz"[pair[side]]) continue;
        edits.push_back({code.tokens[i + 2].begin, code.tokens[i + 2].end,
                         std::string(1, "xyz"[pair[1 - side]])});
      }
    }
    for (const Macro& macro : kernel.unit.macros()) {
      for (const std::string_view name : {"threadIdx", "blockIdx", "blockDim", "gridDim"}) {
        if (macro.body.find(name) != std::string::npos)
          return why = "a macro uses the indices of the launch", std::nullopt;
      }
    }
    return edits;
  }

  /// Byte `at` lies in another kernel, which the launch does not concern.
  static bool outside_function_of(const KernelModel& kernel, std::size_t at) {
    for (const Function* function : kernel.unit.functions()) {
      if (function->span.begin <= at && at < function->span.end)
        return function->is_global && function != kernel.kernel;
    }
    return false;
  }

  static bool fits(const MoveContext& context, const Variant& variant, std::string& why) {
    for (const Workload* const workload : all_workloads_of(context)) {
      try {
        const LaunchNumbers numbers = evaluate(
            variant.launch, context.spec.bindings(*workload, variant.tunables), "launch plan");
        if (numbers.grid[1] > kMostGridBlocks || numbers.grid[2] > kMostGridBlocks ||
            numbers.block[2] > 64)
          return why = "the grid would be too long in y or z", false;
      } catch (const Error& e) {
        return why = "the launch of " + workload->name + " cannot be evaluated", false;
      }
    }
    return true;
  }
};

}  // namespace

void register_move_coalesce_remap(MoveRegistry& registry) {
  registry.add("coalesce_remap",
               "exchange thread axes so that neighbours in a warp touch neighbours in memory",
               [] { return on_known_shape(std::make_unique<CoalesceRemap>()); });
}

}  // namespace warpath
