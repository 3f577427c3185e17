#include "runners/cuda/candidate.h"

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

void put(WireWriter& to, const Candidate& candidate) {
  to.text(candidate.key).u32(static_cast<std::uint32_t>(candidate.codes.size()));
  for (const auto& code : candidate.codes) to.text(code.cubin).text(code.entry).texts(code.globals);
  to.u32(static_cast<std::uint32_t>(candidate.numbers.size()));
  for (std::size_t w = 0; w < candidate.numbers.size(); ++w) {
    to.u32(candidate.code_of[w]);
    put(to, candidate.numbers[w]);
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
    candidate.codes.push_back(std::move(code));
  }
  for (std::uint32_t n = from.u32(); n > 0 && from.ok(); --n) {
    candidate.code_of.push_back(from.u32());
    candidate.numbers.push_back(get_launch(from));
  }
  return candidate;
}

}  // namespace warpath::cuda
