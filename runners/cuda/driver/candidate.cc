#include "runners/cuda/driver/candidate.h"

namespace warpath::cuda {

void put(WireWriter& to, const LaunchNumbers& numbers) {
  for (const auto& triple : {numbers.grid, numbers.block, numbers.cluster}) {
    for (const auto extent : triple) to.u64(static_cast<std::uint64_t>(extent));
  }
  to.u64(static_cast<std::uint64_t>(numbers.dynamic_smem_bytes));
}

LaunchNumbers get_launch(WireReader& from) {
  LaunchNumbers numbers;
  for (auto* triple : {&numbers.grid, &numbers.block, &numbers.cluster}) {
    for (auto& extent : *triple) extent = static_cast<std::int64_t>(from.u64());
  }
  numbers.dynamic_smem_bytes = static_cast<std::int64_t>(from.u64());
  return numbers;
}

namespace {

void put(WireWriter& to, const std::vector<StepNumbers>& steps) {
  to.u32(static_cast<std::uint32_t>(steps.size()));
  for (const StepNumbers& step : steps) {
    to.u32(static_cast<std::uint32_t>(step.kind)).text(step.kernel_name);
    cuda::put(to, step.launch);
    to.u32(static_cast<std::uint32_t>(step.arguments.size()));
    for (const std::uint32_t argument : step.arguments) to.u32(argument);
  }
}

std::vector<StepNumbers> get_steps(WireReader& from) {
  std::vector<StepNumbers> steps;
  for (std::uint32_t n = from.u32(); n > 0 && from.ok(); --n) {
    StepNumbers step;
    step.kind = from.u32() == 0 ? LaunchStep::Kind::zero : LaunchStep::Kind::kernel;
    step.kernel_name = from.text();
    step.launch = get_launch(from);
    for (std::uint32_t m = from.u32(); m > 0 && from.ok(); --m)
      step.arguments.push_back(from.u32());
    steps.push_back(std::move(step));
  }
  return steps;
}

}  // namespace

void put(WireWriter& to, const Candidate& candidate) {
  to.text(candidate.key).u32(static_cast<std::uint32_t>(candidate.codes.size()));
  for (const auto& code : candidate.codes)
    to.text(code.cubin)
        .text(code.entry)
        .texts(code.globals)
        .text(code.ptx)
        .u32(code.has_atomics ? 1 : 0);
  to.u32(static_cast<std::uint32_t>(candidate.numbers.size()));
  for (std::size_t w = 0; w < candidate.numbers.size(); ++w) {
    to.u32(candidate.code_of[w]);
    put(to, candidate.numbers[w]);
  }
  to.texts(candidate.step_entries).u32(static_cast<std::uint32_t>(candidate.extras.size()));
  for (const ExtraNumbers& extra : candidate.extras) {
    to.u32(static_cast<std::uint32_t>(extra.scratch_bytes.size()));
    for (const std::int64_t bytes : extra.scratch_bytes) to.u64(static_cast<std::uint64_t>(bytes));
    put(to, extra.before);
    put(to, extra.after);
  }
}

Candidate get_candidate(WireReader& from) {
  Candidate candidate;
  candidate.key = from.text();
  for (std::uint32_t n = from.u32(); n > 0 && from.ok(); --n) {
    CandidateCode code;
    code.cubin = from.text();
    code.entry = from.text();
    code.globals = from.texts();
    code.ptx = from.text();
    code.has_atomics = from.u32() != 0;
    candidate.codes.push_back(std::move(code));
  }
  for (std::uint32_t n = from.u32(); n > 0 && from.ok(); --n) {
    candidate.code_of.push_back(from.u32());
    candidate.numbers.push_back(get_launch(from));
  }
  candidate.step_entries = from.texts();
  for (std::uint32_t n = from.u32(); n > 0 && from.ok(); --n) {
    ExtraNumbers extra;
    for (std::uint32_t m = from.u32(); m > 0 && from.ok(); --m)
      extra.scratch_bytes.push_back(static_cast<std::int64_t>(from.u64()));
    extra.before = get_steps(from);
    extra.after = get_steps(from);
    candidate.extras.push_back(std::move(extra));
  }
  return candidate;
}

}  // namespace warpath::cuda
