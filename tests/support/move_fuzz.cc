#include "tests/support/move_fuzz.h"

#include <algorithm>
#include <utility>

#include "moves/propose/rule_proposer.h"
#include "moves/syntax/unit.h"
#include "tests/support/kernel_variations.h"

namespace warpath::test {
namespace {

DeviceFacts full_device() {
  return {.runner = "cuda",
          .name = "fuzz",
          .arch = "sm_90a",
          .multiprocessors = 132,
          .max_smem_per_block_bytes = 227 << 10,
          .is_gpu = true};
}

/// Parts of the kernel that are not understood; a kernel that is not found has one more than any
/// other.
std::size_t misunderstood(const KernelSpec& spec, const Variant& variant) {
  const model::Unit unit = model::parse(spec, variant);
  const model::Function* const kernel = unit.find_kernel(variant.kernel_name);
  return kernel == nullptr || kernel->body == nullptr
             ? SIZE_MAX
             : unit.opaque().size() + (unit.ambiguous() ? 1 : 0);
}

struct Made {
  MoveInstance instance;
  const Move* move = nullptr;
};

}  // namespace

void fuzz_moves_once(const std::vector<KernelSpec>& kernels,
                     const MoveRegistry& moves,
                     std::size_t most,
                     Rng& rng,
                     MoveFuzzFigures& figures,
                     const std::function<void(const MadeKernel&)>& on_made) {
  const DeviceFacts device = full_device();
  const KernelSpec& spec = kernels[rng.below(kernels.size())];
  Variant variant = baseline_variant(spec);
  std::vector<std::unique_ptr<Move>> all;
  for (const auto& [name, entry] : moves.entries()) all.push_back(entry.make());
  std::string why;
  const auto step = [&] {
    const Move& move = *all[rng.below(all.size())];
    const std::vector<MoveInstance> listed = move.enumerate({spec, variant, device});
    if (listed.empty()) return false;
    auto next = move.apply({spec, variant, device}, listed[rng.below(listed.size())], why);
    if (next) variant = std::move(*next);
    return next.has_value();
  };
  constexpr int kTries = 12;  // most moves have nothing to say of most kernels
  std::uint64_t steps = rng.below(4);
  for (int i = 0; i < kTries && steps > 0; ++i) steps -= step() ? 1 : 0;
  if (rng.below(10) != 0) variant.source = varied(variant.source, rng);

  ++figures.mutants;
  std::vector<Made> applying;
  for (const auto& move : all) {
    for (MoveOffer& offer : offers(*move, {spec, variant, device}))
      applying.push_back({std::move(offer.instance), move.get()});
  }
  figures.offered += applying.size();
  figures.seen_through += applying.empty() ? 0 : 1;
  if (applying.empty()) return;
  const std::size_t before = misunderstood(spec, variant);
  const auto order = rng.permutation(static_cast<std::uint32_t>(applying.size()));
  for (std::size_t i = 0; i < std::min(most, order.size()); ++i) {
    const Made& made = applying[order[i]];
    const auto after = made.move->apply({spec, variant, device}, made.instance, why);
    if (!after) continue;
    ++figures.applied;
    const bool bent = misunderstood(spec, *after) > before;
    figures.bent += bent ? 1 : 0;
    on_made({.spec = spec,
             .before = variant,
             .instance = made.instance,
             .after = *after,
             .problem = bent ? "the result is understood less than the kernel" : ""});
  }
}

}  // namespace warpath::test
