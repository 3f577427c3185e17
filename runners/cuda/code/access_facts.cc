#include "runners/cuda/code/access_facts.h"

#include <algorithm>
#include <array>
#include <map>
#include <set>

#include "runners/cuda/code/ptx_facts.h"
#include "runners/cuda/code/ptx_values.h"

namespace warpath::cuda {
namespace {

constexpr std::int64_t kSectorBytes = 32, kBankBytes = 4, kBanks = 32,
                       kPassBytes = kBanks * kBankBytes;

/// Floor of a / b for b > 0.
std::int64_t floor_div(std::int64_t a, std::int64_t b) {
  return a / b - (a % b < 0 ? 1 : 0);
}

/// Blocks of `size` bytes that [at, at + bytes) of each lane touches.
std::set<std::int64_t> touched(const LaneValues& addresses,
                               std::size_t first,
                               std::size_t last,
                               std::int64_t bytes,
                               std::int64_t size) {
  std::set<std::int64_t> out;
  for (std::size_t lane = first; lane < last; ++lane) {
    const std::int64_t from = floor_div(addresses.at[lane], size),
                       to = floor_div(addresses.at[lane] + bytes - 1, size);
    for (std::int64_t block = from; block <= to; ++block) out.insert(block);
  }
  return out;
}

/// What an access takes, and what it would take at best.
struct Cost {
  double taken = 0, best = 0;
};

Cost sectors(const LaneValues& addresses, std::size_t lanes, std::int64_t bytes) {
  const double best = static_cast<double>(static_cast<std::int64_t>(lanes) * bytes) / kSectorBytes;
  return {static_cast<double>(touched(addresses, 0, lanes, bytes, kSectorBytes).size()), best};
}

/// Wide accesses go in groups of lanes that fill one pass. In a pass a bank gives one word.
Cost bank_passes(const LaneValues& addresses, std::size_t lanes, std::int64_t bytes) {
  const auto group = static_cast<std::size_t>(
      std::clamp<std::int64_t>(kPassBytes / bytes, 1, static_cast<std::int64_t>(kPtxLanes)));
  Cost cost;
  for (std::size_t first = 0; first < lanes; first += group) {
    std::array<int, kBanks> words{};
    for (const std::int64_t word :
         touched(addresses, first, std::min(lanes, first + group), bytes, kBankBytes)) {
      ++words[static_cast<std::size_t>(word - floor_div(word, kBanks) * kBanks)];
    }
    cost.taken += *std::ranges::max_element(words);
    cost.best += 1;
  }
  return cost;
}

/// Accesses of one kind, weighted by how often they run.
struct Total {
  Cost cost;
  bool all_known = true;
  void add(const std::optional<LaneValues>& addresses,
           double runs,
           std::size_t lanes,
           std::int64_t bytes,
           Cost (*measure)(const LaneValues&, std::size_t, std::int64_t)) {
    if (!addresses) {
      all_known = false;
      return;
    }
    const Cost one = measure(*addresses, lanes, bytes);
    cost.taken += runs * one.taken;
    cost.best += runs * one.best;
  }
  [[nodiscard]] double ratio() const { return cost.best > 0 ? cost.taken / cost.best : 0; }
};

}  // namespace

void add_access_facts(const PtxFunction& function,
                      const RegionGraph& graph,
                      const PtxLaunch& launch,
                      Diagnosis& diagnosis) {
  const PtxValues values(function, launch);
  double threads = 1;
  for (const std::int64_t n : launch.block) threads *= static_cast<double>(n);
  const auto lanes =
      static_cast<std::size_t>(std::clamp(threads, 1.0, static_cast<double>(kPtxLanes)));
  std::map<std::string_view, Total> totals;
  for (const PtxRegion& region : graph.regions) {
    for (std::size_t i = region.first; i < region.last; ++i) {
      const PtxInstruction& instruction = function.instructions[i];
      const bool stores = instruction.opcode == "st";
      if ((!stores && instruction.opcode != "ld") || instruction.operands.size() < 2) continue;
      const std::string_view kind = op_class(instruction);
      const bool global = kind == "global_load" || kind == "global_store";
      const std::int64_t bytes = access_bytes(instruction);
      if ((!global && kind != "shared_load" && kind != "shared_store") || bytes <= 0) continue;
      totals[global ? kind : "shared"].add(values.address(instruction.operands[stores ? 0 : 1], i),
                                           region.executions, lanes, bytes,
                                           global ? sectors : bank_passes);
    }
  }
  const auto give = [&](const char* fact, const Total& a, const Total& b) {
    const double worst = std::max(a.ratio(), b.ratio());
    if (worst <= 0) return;
    diagnosis.facts[fact] = {
        worst, a.all_known && b.all_known ? FactSource::static_analysis : FactSource::assumed};
  };
  give("static_sector_excess", totals["global_load"], totals["global_store"]);
  give("static_bank_ways", totals["shared"], {});
}

}  // namespace warpath::cuda
