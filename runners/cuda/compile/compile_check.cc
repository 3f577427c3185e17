#include "runners/cuda/compile/compile_check.h"

#include <algorithm>
#include <array>
#include <string_view>

#include "engine/base/error.h"
#include "runners/cuda/code/opcode_counts.h"
#include "runners/cuda/code/ptx.h"
#include "runners/cuda/options.h"

namespace warpath::cuda {
namespace {

/// One device of a compute capability, and that capability's limits (CUDA C++ Programming Guide,
/// technical specifications).
struct AssumedDevice {
  std::string_view arch, name;
  DeviceLimits limits;
};

constexpr std::int64_t kKiB = 1024;

constexpr DeviceLimits limits_of(
    int major, int minor, int multiprocessors, int threads, int blocks, std::int64_t smem_kib) {
  return {.compute_major = major,
          .compute_minor = minor,
          .multiprocessors = multiprocessors,
          .threads_per_sm = threads,
          .blocks_per_sm = blocks,
          .registers_per_sm = 65536,
          .registers_per_block = 65536,
          .threads_per_block = 1024,
          .smem_per_sm_bytes = smem_kib * kKiB,
          .smem_per_block_bytes = (smem_kib - 1) * kKiB,
          .reserved_smem_bytes = kKiB};
}

constexpr std::array<AssumedDevice, 6> kDevices{
    {{"sm_80", "A100", limits_of(8, 0, 108, 2048, 32, 164)},
     {"sm_86", "RTX 3090", limits_of(8, 6, 82, 1536, 16, 100)},
     {"sm_89", "RTX 4090", limits_of(8, 9, 128, 1536, 24, 100)},
     {"sm_90", "H100", limits_of(9, 0, 132, 2048, 32, 228)},
     {"sm_90a", "H200", limits_of(9, 0, 132, 2048, 32, 228)},
     {"sm_100a", "B200", limits_of(10, 0, 148, 2048, 32, 228)}}};

const AssumedDevice& assumed(const std::string& arch) {
  const auto it = std::ranges::find(kDevices, arch, &AssumedDevice::arch);
  if (it != kDevices.end()) return *it;
  std::string known;
  for (const AssumedDevice& device : kDevices)
    known += (known.empty() ? "" : ", ") + std::string(device.arch);
  throw bad_input("GPU architecture", arch, "one of " + known);
}

}  // namespace

CompileCheck::CompileCheck(const CudaOptions& options, std::string program, const std::string& arch)
    : arch_(arch) {
  const AssumedDevice& device = assumed(arch);
  limits_ = device.limits;
  facts_.runner = "compile";
  facts_.name = std::string(device.name) + " (assumed)";
  facts_.arch = arch;
  facts_.multiprocessors = limits_.multiprocessors;
  facts_.max_threads_per_block = limits_.threads_per_block;
  facts_.max_smem_per_block_bytes = limits_.smem_per_block_bytes;
  facts_.is_gpu = true;
  service_ = std::make_unique<CompileService>(service_options(options, std::move(program), 0));
  builder_ = std::make_unique<Builder>(*service_, GatePlan(GateTable()), arch_, limits_);
}

void CompileCheck::prepare(const KernelSpec& spec) {
  if (spec.kernel_type == KernelType::multi_kernel)
    throw bad_input(spec.place("/kernel/kernel_type"), "multi_kernel", "cuda, triton or ptx");
  spec_ = &spec;
  workloads_ = workloads_for(spec, facts_);
  if (workloads_.empty())
    throw bad_input(spec.place("/kernel/workloads"), "",
                    "a workload for a GPU (target gpu or any)");
  baseline_ = builder_->text_of(spec, baseline_variant(spec), workloads_);
}

std::string CompileCheck::launch_refusal(const Build& build) const {
  const auto fact = [&](const char* name) { return build.diagnosis.facts.at(name).value; };
  for (std::size_t w = 0; w < workloads_.size(); ++w) {
    const LaunchNumbers& numbers = build.candidate.numbers[w];
    const BlockNeeds needs{
        .threads = static_cast<int>(numbers.block[0] * numbers.block[1] * numbers.block[2]),
        .registers_per_thread = static_cast<int>(fact("registers_per_thread")),
        .static_smem_bytes = static_cast<std::int64_t>(fact("static_smem_bytes")),
        .dynamic_smem_bytes = numbers.dynamic_smem_bytes};
    if (const auto problem = limits_problem(limits_, needs, numbers); !problem.empty()) {
      return "workload " + workloads_[w]->name + ": " + problem;
    }
  }
  return "";
}

Outcome CompileCheck::check(const Variant& variant, const std::stop_token& stop) const {
  const Build build =
      builder_->build(*spec_, variant, workloads_, &baseline_, Stage::screening, stop);
  Outcome outcome;
  outcome.status = build.status;
  outcome.log = build.log;
  outcome.verdict.gates = build.gates;
  outcome.diagnosis = build.diagnosis;
  outcome.compile_seconds = build.compile_seconds;
  outcome.binary_key = build.candidate.key;
  if (outcome.status != Status::ok) return outcome;
  const std::string problem = launch_refusal(build);
  outcome.verdict.gates.push_back(
      {std::string(kLaunchGate),
       problem.empty() ? GateResult::Answer::pass : GateResult::Answer::fail, problem});
  if (problem.empty()) return outcome;
  outcome.status = Status::limits_exceeded;
  outcome.log = problem;
  return outcome;
}

std::optional<CodeCounts> CompileCheck::code(const Variant& variant,
                                             const Disassembler& tool,
                                             std::string& why,
                                             const std::stop_token& stop) const {
  // whether the code may run does not matter for what it contains
  const Builder ungated(*service_, GatePlan{}, arch_, limits_);
  const Build build =
      ungated.build(*spec_, variant, workloads_, &baseline_, Stage::screening, stop);
  if (build.status != Status::ok) {
    why = std::string(name(build.status)) + ": " + build.log.substr(0, build.log.find('\n'));
    return std::nullopt;
  }
  const auto scored = std::ranges::find(workloads_, WorkloadRole::score, &Workload::role);
  const Workload& workload = scored == workloads_.end() ? *workloads_.front() : **scored;
  const std::array<const Workload*, 1> one{&workload};
  const CompiledVariant compiled = service_->compile(*spec_, variant, one, arch_, stop);
  if (compiled.status != Status::ok) return why = "it does not compile any more", std::nullopt;
  const CompileResult& result = compiled.code(0);
  const auto ptx = parse_ptx(result.ptx, why);
  if (!ptx) return std::nullopt;
  std::vector<std::string> entries = step_kernels(version_for(*spec_, variant, workload)), left_out;
  entries.push_back(result.lowered_name);
  for (const PtxFunction& function : ptx->functions) {
    if (function.is_entry && std::ranges::find(entries, function.name) == entries.end())
      left_out.emplace_back(function.name);
  }
  CodeCounts out{.arch = arch_,
                 .tool = "",
                 .ptx = {},
                 .machine = {},
                 .numbers = {},
                 .key = build.candidate.key};
  CountedCode counted = count_ptx(*ptx, entries);
  out.ptx = std::move(counted.opcodes);
  out.numbers["loops"] = static_cast<double>(counted.loops);
  for (const auto& [fact, value] : build.diagnosis.facts) out.numbers[fact] = value.value;
  std::string unread;  // PTX then stands in
  const std::string text = disassemble(tool, result.cubin, unread);
  if (text.empty()) return out;
  counted = count_machine(text, left_out);
  if (counted.opcodes.empty()) return out;
  out.tool = tool.name;
  out.machine = std::move(counted.opcodes);
  out.numbers["machine_loops"] = static_cast<double>(counted.loops);
  return out;
}

}  // namespace warpath::cuda
