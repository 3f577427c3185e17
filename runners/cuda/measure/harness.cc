#include "runners/cuda/measure/harness.h"

#include <algorithm>
#include <array>
#include <limits>

#include "engine/base/rng.h"
#include "engine/portable/random.h"
#include "runners/inputs/input_family.h"

namespace warpath::cuda {
namespace {

constexpr unsigned kThreads = 256;
constexpr unsigned kBlocksPerMultiprocessor = 8;
constexpr unsigned kMaxBlocks = 2048;  ///< of a kernel that leaves a record a block
constexpr std::uint64_t kNone = ~std::uint64_t{0};

struct HarnessEntry {
  const char* name;
  CUfunction HarnessFunctions::* function;
};
constexpr std::array<HarnessEntry, 19> kEntries{{
    {"harness_fill", &HarnessFunctions::fill},
    {"harness_family", &HarnessFunctions::family},
    {"harness_nudge", &HarnessFunctions::nudge},
    {"harness_poison", &HarnessFunctions::poison},
    {"harness_mask", &HarnessFunctions::mask},
    {"harness_compare", &HarnessFunctions::compare},
    {"harness_compare_finish", &HarnessFunctions::compare_finish},
    {"harness_digest", &HarnessFunctions::digest},
    {"harness_digest_finish", &HarnessFunctions::digest_finish},
    {"harness_guard_fill", &HarnessFunctions::guard_fill},
    {"harness_guard_check", &HarnessFunctions::guard_check},
    {"harness_guard_finish", &HarnessFunctions::guard_finish},
    {"harness_flush", &HarnessFunctions::flush},
    {"harness_poison_shared", &HarnessFunctions::poison_shared},
    {"harness_poison_local", &HarnessFunctions::poison_local},
    {"harness_canary", &HarnessFunctions::canary},
    {"harness_spin", &HarnessFunctions::spin},
    {"harness_noise", &HarnessFunctions::noise},
    {"harness_stir", &HarnessFunctions::stir},
}};

constexpr auto kNames = [] {
  std::array<std::string_view, kEntries.size()> names;
  for (std::size_t i = 0; i < names.size(); ++i) names[i] = kEntries[i].name;
  return names;
}();

std::int64_t elements_of(std::span<const std::int64_t> shape) {
  std::int64_t product = 1;
  for (const std::int64_t extent : shape) product *= extent;
  return product;
}

std::int64_t index_of(std::uint64_t index) {
  return index == kNone ? -1 : static_cast<std::int64_t>(index);
}

/// x -> factor * x + term, modulo 2^64.
struct Affine {
  std::uint64_t factor = 1, term = 0;
};
Affine after(const Affine& second, const Affine& first) {
  return {second.factor * first.factor, second.factor * first.term + second.term};
}

}  // namespace

std::string device_code() {
  return std::string(portable_device_code()) + std::string(timed_device_code());
}

std::span<const std::string_view> harness_kernels() {
  return kNames;
}

CompileRequest harness_request(std::string_view arch) {
  return {.source = device_code(),
          .kernel = std::string(kNames.front()),
          .arch = std::string(arch),
          .options = {"-default-device", "--fmad=false"}};
}

Comparison finish(const DeviceComparison& record,
                  const Tolerance& tolerance,
                  std::span<const std::int64_t> shape,
                  std::uint64_t nonce) {
  const std::int64_t elements = elements_of(shape);
  const auto in_range = [elements](std::int64_t i) { return i >= -1 && i < elements; };
  if (record.nonce != nonce || record.elements != static_cast<std::uint64_t>(elements) ||
      record.bad_elements > record.elements || !in_range(index_of(record.worst_index))) {
    Comparison out;
    out.worst_ratio = out.relative_norm = std::numeric_limits<double>::infinity();
    out.bad_elements = elements;
    out.detail = "the comparison left no record of its own";
    return out;
  }
  return conclude({.bad_elements = static_cast<std::int64_t>(record.bad_elements),
                   .worst_index = index_of(record.worst_index),
                   .worst_ratio = record.worst_ratio,
                   .worst_output = record.worst_output,
                   .worst_reference = record.worst_reference,
                   .max_abs_error = record.max_abs_error,
                   .error = record.error,
                   .reference = record.reference},
                  tolerance, shape);
}

std::vector<std::uint64_t> canary_answer(std::uint64_t seed) {
  Affine all, power{kCanaryFactor, kCanaryTerm};
  for (unsigned steps = kCanarySteps; steps > 0; steps /= 2) {
    if (steps % 2 != 0) all = after(power, all);
    power = after(power, power);
  }
  std::vector<std::uint64_t> sums(kCanaryWords);
  for (std::uint64_t thread = 0; thread < std::uint64_t{kCanaryWords} * kThreads; ++thread) {
    sums[thread / kThreads] += all.factor * portable::mix(seed + thread) + all.term;
  }
  return sums;
}

Harness::Harness(const Device& device, const std::string& cubin) : device_(device) {
  const DriverApi& api = device_.api();
  CUmodule module = nullptr;
  require(api, api.cuModuleLoadData(&module, cubin.data()), "cannot load the harness's kernels");
  module_ = Module(api, module);
  for (const HarnessEntry& entry : kEntries) {
    require(api, api.cuModuleGetFunction(&(functions_.*entry.function), module, entry.name),
            entry.name);
  }
  workspace_ = allocate(api, kMaxBlocks * sizeof(DeviceComparison));
  const DeviceLimits limits = device_.limits();
  multiprocessors_ = static_cast<unsigned>(limits.multiprocessors);
  shared_bytes_ = static_cast<unsigned>(limits.smem_per_block_bytes);
  flush_bytes_ =
      2 * static_cast<std::uint64_t>(device_.attribute(CU_DEVICE_ATTRIBUTE_L2_CACHE_SIZE));
  require(api, allow_dynamic_smem(api, functions_.poison_shared, limits.smem_per_block_bytes),
          "cannot use all shared memory");
}

void Harness::launch(CUstream stream,
                     CUfunction function,
                     const Grid& grid,
                     std::initializer_list<const void*> arguments) const {
  std::array<void*, 8> pointers{};
  std::transform(arguments.begin(), arguments.end(), pointers.begin(),
                 [](const void* argument) { return const_cast<void*>(argument); });
  const DriverApi& api = device_.api();
  require(api,
          api.cuLaunchKernel(function, grid.blocks, 1, 1, grid.threads, 1, 1, grid.smem_bytes,
                             stream, pointers.data(), nullptr),
          "cannot launch a kernel of the harness");
}

Harness::Grid Harness::grid_for(std::uint64_t threads) const {
  const std::uint64_t wanted = (threads + kThreads - 1) / kThreads;
  const std::uint64_t most = std::min(kMaxBlocks, kBlocksPerMultiprocessor * multiprocessors_);
  return {static_cast<unsigned>(std::clamp<std::uint64_t>(wanted, 1, most)), kThreads, 0};
}

void Harness::fill(CUstream stream,
                   CUdeviceptr out,
                   std::uint64_t elements,
                   const ElementRule& rule) const {
  launch(stream, functions_.fill, grid_for(elements / 4 + 1), {&out, &elements, &rule});
}

void Harness::family(CUstream stream, CUdeviceptr data, const FamilyRule& rule) const {
  if (!applies(rule)) return;
  launch(stream, functions_.family, grid_for(rule.elements), {&data, &rule});
}

void Harness::nudge(CUstream stream,
                    CUdeviceptr data,
                    std::uint64_t elements,
                    DType dtype,
                    std::uint64_t seed) const {
  if (!info(dtype).is_float || elements == 0) return;
  launch(stream, functions_.nudge, grid_for(elements), {&data, &elements, &dtype, &seed});
}

void Harness::poison(CUstream stream,
                     CUdeviceptr out,
                     std::uint64_t elements,
                     DType dtype,
                     std::uint64_t seed) const {
  launch(stream, functions_.poison, grid_for(elements / 4 + 1), {&out, &elements, &dtype, &seed});
}

void Harness::mask(CUstream stream,
                   CUdeviceptr data,
                   std::uint64_t size_bytes,
                   const MaskKey& key) const {
  launch(stream, functions_.mask, grid_for(size_bytes / 16 + 1), {&data, &size_bytes, &key});
}

void Harness::compare(CUstream stream,
                      CUdeviceptr output,
                      CUdeviceptr reference,
                      const CompareRule& rule,
                      CUdeviceptr result) const {
  const CUdeviceptr parts = workspace_.get();
  const Grid grid = grid_for(rule.elements / 4 + 1);
  launch(stream, functions_.compare, grid, {&output, &reference, &rule, &parts});
  launch(stream, functions_.compare_finish, grid_for(1),
         {&output, &reference, &rule, &parts, &grid.blocks, &result});
}

void Harness::digest(CUstream stream,
                     CUdeviceptr data,
                     std::uint64_t size_bytes,
                     std::uint64_t seed,
                     std::uint64_t nonce,
                     CUdeviceptr result) const {
  const CUdeviceptr parts = workspace_.get();
  const Grid grid = grid_for(size_bytes / 16 + 1);
  launch(stream, functions_.digest, grid, {&data, &size_bytes, &seed, &parts});
  launch(stream, functions_.digest_finish, grid_for(1),
         {&parts, &grid.blocks, &size_bytes, &nonce, &result});
}

void Harness::guard_fill(CUstream stream,
                         CUdeviceptr zone,
                         std::uint64_t size_bytes,
                         std::uint64_t seed) const {
  launch(stream, functions_.guard_fill, grid_for(size_bytes / 8 + 2), {&zone, &size_bytes, &seed});
}

void Harness::guard_check(CUstream stream,
                          CUdeviceptr zone,
                          std::uint64_t size_bytes,
                          std::uint64_t seed,
                          std::uint64_t nonce,
                          CUdeviceptr result) const {
  const CUdeviceptr parts = workspace_.get();
  const Grid grid = grid_for(size_bytes / 8 + 2);
  launch(stream, functions_.guard_check, grid, {&zone, &size_bytes, &seed, &parts});
  launch(stream, functions_.guard_finish, grid_for(1),
         {&parts, &grid.blocks, &size_bytes, &nonce, &result});
}

void Harness::flush_l2(CUstream stream,
                       CUdeviceptr scratch,
                       std::uint64_t size_bytes,
                       std::uint32_t value) const {
  launch(stream, functions_.flush, grid_for(size_bytes / 16), {&scratch, &size_bytes, &value});
}

void Harness::poison_shared(CUstream stream, std::uint32_t seed) const {
  // One block fills a multiprocessor; a second round reaches one that was still busy.
  launch(stream, functions_.poison_shared, {2 * multiprocessors_, 1024, shared_bytes_},
         {&shared_bytes_, &seed});
}

void Harness::poison_local(CUstream stream, std::uint32_t seed) const {
  launch(stream, functions_.poison_local,
         {kBlocksPerMultiprocessor * multiprocessors_, kThreads, 0}, {&seed});
}

void Harness::spin(CUstream stream,
                   CUdeviceptr flag,
                   std::uint32_t value,
                   std::uint64_t limit_ns) const {
  launch(stream, functions_.spin, {1, 1, 0}, {&flag, &value, &limit_ns});
}

void Harness::noise(CUstream stream,
                    CUdeviceptr scratch,
                    std::uint64_t size_bytes,
                    int blocks,
                    CUdeviceptr flag,
                    std::uint32_t value,
                    std::uint64_t limit_ns) const {
  launch(stream, functions_.noise, {static_cast<unsigned>(blocks), kThreads, 0},
         {&scratch, &size_bytes, &flag, &value, &limit_ns});
}

void Harness::stir(CUstream stream, std::uint64_t seed) const {
  constexpr int kLaunches = 4,
                kBlocks = 16;  // at least, a multiprocessor; three times as many at most
  constexpr std::uint64_t kMostNs = 8000;
  Rng rng(seed, "stir");
  for (int i = 0; i < kLaunches; ++i) {
    const std::uint64_t more =
        rng.below(2 * std::uint64_t{kBlocks} * static_cast<std::uint64_t>(multiprocessors_));
    const Grid grid{kBlocks * multiprocessors_ + static_cast<unsigned>(more), 32U << rng.below(6),
                    0};
    const std::uint64_t blocks_seed = rng.next();
    launch(stream, functions_.stir, grid, {&blocks_seed, &kMostNs});
  }
}

void Harness::canary(CUstream stream, CUdeviceptr out, std::uint64_t seed) const {
  launch(stream, functions_.canary, {kCanaryWords, kThreads, 0}, {&out, &seed});
}

}  // namespace warpath::cuda
