#include "runners/cuda/measure/problem.h"

#include <algorithm>
#include <chrono>

#include "engine/base/error.h"
#include "engine/base/format.h"
#include "engine/base/round_up.h"
#include "engine/portable/guard.h"
#include "runners/arguments.h"
#include "runners/cuda/measure/cache_plan.h"

namespace warpath::cuda {
namespace {

/// Megabytes behind a buffer have been seen overwritten by a plain indexing error.
constexpr std::size_t kZoneBytes = std::size_t{16} << 20U;
/// Addresses are as aligned as an allocator's, in every slot but the odd one.
constexpr std::size_t kSlotAlignment = 256;

}  // namespace

std::string InputSet::label() const {
  return format("seed %llx, ", static_cast<unsigned long long>(seed)) +
         (form_label.empty() ? std::string(name_of(family)) : form_label);
}

bool PlacedWorkload::mutates_inputs() const {
  return std::any_of(tensors.begin(), tensors.end(),
                     [](const TensorPlace& t) { return t.role == ArgRole::inout; });
}

Problem::Problem(Bench& bench, ProblemSetup setup) : bench_(bench), setup_(std::move(setup)) {
  const Candidate& reference = setup_.reference ? *setup_.reference : setup_.baseline;
  for (const CandidateCode& code : reference.codes) {
    std::string why;
    auto kernel = load_kernel(bench_.api(), code.cubin, code.entry, why);
    if (!kernel) throw environment_error(spec().name + ": the reference kernel: " + why);
    reference_kernels_.push_back(std::move(*kernel));
  }
  for (const std::string& name : setup_.workloads) {
    const auto it = std::find_if(spec().workloads.begin(), spec().workloads.end(),
                                 [&](const Workload& w) { return w.name == name; });
    WARPATH_CHECK(it != spec().workloads.end());
    place(*it);
  }
  const auto declared = static_cast<std::uint64_t>(bench_.options().input_sets);
  for (std::size_t w = 0; w < placed_.size(); ++w) {
    std::vector<InputSet*> sets;
    for (std::uint64_t i = 0; i < declared; ++i) {
      placed_[w].sets.push_back(make_inputs(w, InputFamily::as_declared, setup_.seed + i));
      sets.push_back(placed_[w].sets.back().get());
    }
    const auto begin = std::chrono::steady_clock::now();
    make_references(w, sets);
    reference_seconds_ +=
        std::chrono::duration<double>(std::chrono::steady_clock::now() - begin).count();
    for (std::uint64_t i = 0; i < declared; ++i) {
      placed_[w].slots.push_back(make_slot(placed_[w], i + 1 == declared));
    }
    arm_guards(w);
  }
}

void Problem::place(const Workload& workload) {
  PlacedWorkload placed;
  placed.workload = &workload;
  if (has_structs(spec())) placed.structs = parameter_layouts(spec());
  for (const ArgSpec* const arg : kernel_arguments(spec())) {
    ParameterPlace parameter;
    if (arg->type == ArgType::tensor) {
      const TensorSpec content = spec().tensor_of(*arg, workload);
      TensorPlace tensor{.arg = arg,
                         .dtype = content.dtype,
                         .role = arg->role,
                         .shape = spec().shape_of(*arg, workload),
                         .elements = 1,
                         .size_bytes = 0,
                         .alignment_bytes = static_cast<std::size_t>(content.alignment_bytes)};
      for (const auto extent : tensor.shape) tensor.elements *= static_cast<std::uint64_t>(extent);
      tensor.size_bytes = tensor.elements * info(content.dtype).size_bytes;
      placed.launch_bytes += static_cast<double>(tensor.size_bytes);
      parameter.tensor = placed.tensors.size();
      placed.tensors.push_back(std::move(tensor));
    } else if (const auto scalar = scalar_value(*arg, workload)) {
      parameter.bytes = scalar_bytes(*scalar, arg->dtype);
    }
    placed.parameters.push_back(std::move(parameter));
  }
  const Bindings bindings = spec().bindings(workload, spec().default_tunables());
  const std::string at = spec().place("/bound");
  for (const auto& [type, count] : spec().bound.flops) {
    placed.operations[type] = static_cast<double>(count.evaluate(bindings, at));
  }
  if (spec().bound.bytes)
    placed.bytes = static_cast<double>(spec().bound.bytes->evaluate(bindings, at));
  placed.cold_scored = cache_plan(workload.l2, bench_.options().l2, Stage::screening).cold_scored;
  placed.floor_ns = bench_.peaks().floor_ns(placed.bytes, placed.operations, !placed.cold_scored);
  placed_.push_back(std::move(placed));
}

Slot Problem::make_slot(const PlacedWorkload& placed, bool odd) {
  Slot slot;
  if (setup_.exact_memory) {
    for (const TensorPlace& tensor : placed.tensors) {
      slot.memory.push_back(allocate(bench_.api(), std::max<std::size_t>(tensor.size_bytes, 1)));
      slot.tensors.push_back(slot.memory.back().get());
    }
    return slot;
  }
  // The odd slot's tensors start at odd multiples of the declared alignment: more cannot be relied
  // on.
  std::size_t total = kZoneBytes;
  std::vector<std::size_t> offsets;
  for (const TensorPlace& tensor : placed.tensors) {
    const std::size_t alignment = std::max<std::size_t>(tensor.alignment_bytes, 1);
    std::size_t offset = round_up(total, std::max(kSlotAlignment, 2 * alignment));
    if (odd) offset += alignment;
    offsets.push_back(offset);
    total = offset + tensor.size_bytes + kZoneBytes;
  }
  slot.memory.push_back(allocate(bench_.api(), total));
  const CUdeviceptr base = slot.memory.front().get();
  std::size_t zone = 0;
  for (std::size_t t = 0; t < offsets.size(); ++t) {
    slot.tensors.push_back(base + offsets[t]);
    slot.zones.push_back({base + zone, offsets[t] - zone});
    zone = offsets[t] + placed.tensors[t].size_bytes;
  }
  slot.zones.push_back({base + zone, total - zone});
  return slot;
}

void Problem::restore(std::size_t w, std::size_t slot, const InputSet& set) {
  const PlacedWorkload& placed = placed_[w];
  for (std::size_t t = 0; t < placed.tensors.size(); ++t) {
    if (!placed.tensors[t].is_read() || placed.tensors[t].size_bytes == 0) continue;
    require(bench_.api(),
            bench_.api().cuMemcpyDtoDAsync(placed.slots[slot].tensors[t], set.pristine[t].get(),
                                           placed.tensors[t].size_bytes, bench_.stream()),
            "cannot copy inputs");
  }
}

void Problem::poison(std::size_t w, std::size_t slot, std::uint64_t seed) {
  const PlacedWorkload& placed = placed_[w];
  for (std::size_t t = 0; t < placed.tensors.size(); ++t) {
    const TensorPlace& tensor = placed.tensors[t];
    if (tensor.role != ArgRole::output || tensor.elements == 0) continue;
    bench_.harness().poison(bench_.stream(), placed.slots[slot].tensors[t], tensor.elements,
                            tensor.dtype, seed + 2 * t);
  }
}

void Problem::arm_guards(std::size_t w) {
  auto& slots = placed_[w].slots;
  for (std::size_t s = 0; s < slots.size(); ++s) {
    Slot& slot = slots[s];
    // Where there are three, one that is not the first and not the barely aligned one has zeros: a
    // small number added to a large one leaves no trace. What is read outside should be no zero in
    // the others.
    slot.guard_seed = s == 1 && s + 1 < slots.size() ? portable::kZeroGuard : bench_.secret();
    for (const Slot::Zone& zone : slot.zones) {
      bench_.harness().guard_fill(bench_.stream(), zone.address, zone.size_bytes, slot.guard_seed);
    }
  }
}

}  // namespace warpath::cuda
