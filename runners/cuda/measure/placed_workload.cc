#include "runners/cuda/measure/placed_workload.h"

#include <utility>

#include "engine/base/format.h"
#include "engine/base/round_up.h"
#include "runners/cuda/measure/cache_plan.h"
#include "runners/inputs/arguments.h"

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

double PlacedWorkload::writable_bytes() const {
  double sum = 0;
  for (const TensorPlace& tensor : tensors)
    if (tensor.is_written()) sum += static_cast<double>(tensor.size_bytes);
  return sum;
}

Tensor download(const DriverApi& api, const TensorPlace& place, CUdeviceptr from) {
  Tensor tensor = make_tensor(place.dtype, place.shape);
  if (place.size_bytes > 0) {
    require(api, api.cuMemcpyDtoH(tensor.bytes.data(), from, place.size_bytes),
            "cannot read inputs");
  }
  return tensor;
}

PlacedWorkload place_workload(const KernelSpec& spec,
                              const Workload& workload,
                              const Bench& bench) {
  PlacedWorkload placed;
  placed.workload = &workload;
  if (has_structs(spec)) placed.structs = parameter_layouts(spec);
  for (const ArgSpec* const arg : kernel_arguments(spec)) {
    ParameterPlace parameter;
    if (arg->type == ArgType::tensor) {
      const TensorSpec content = spec.tensor_of(*arg, workload);
      TensorPlace tensor{.arg = arg,
                         .dtype = content.dtype,
                         .role = arg->role,
                         .shape = spec.shape_of(*arg, workload),
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
  const Bindings bindings = spec.bindings(workload, spec.default_tunables());
  const std::string at = spec.place("/bound");
  for (const auto& [type, count] : spec.bound.flops) {
    placed.operations[type] = static_cast<double>(count.evaluate(bindings, at));
  }
  if (spec.bound.bytes)
    placed.bytes = static_cast<double>(spec.bound.bytes->evaluate(bindings, at));
  placed.cold_scored = cache_plan(workload.l2, bench.options().l2, Stage::screening).cold_scored;
  placed.floor_ns = bench.peaks().floor_ns(placed.bytes, placed.operations, !placed.cold_scored);
  return placed;
}

Slot make_slot(const DriverApi& api, const PlacedWorkload& placed, bool odd) {
  Slot slot;
  std::size_t total = kZoneBytes;
  std::vector<std::size_t> offsets;
  for (const TensorPlace& tensor : placed.tensors) {
    const std::size_t alignment = std::max<std::size_t>(tensor.alignment_bytes, 1);
    std::size_t offset = round_up(total, std::max(kSlotAlignment, 2 * alignment));
    if (odd) offset += alignment;
    offsets.push_back(offset);
    total = offset + tensor.size_bytes + kZoneBytes;
  }
  slot.memory.push_back(allocate(api, total));
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

Slot make_exact_slot(const DriverApi& api, const PlacedWorkload& placed) {
  Slot slot;
  for (const TensorPlace& tensor : placed.tensors) {
    slot.memory.push_back(allocate(api, std::max<std::size_t>(tensor.size_bytes, 1)));
    slot.tensors.push_back(slot.memory.back().get());
  }
  return slot;
}

}  // namespace warpath::cuda
