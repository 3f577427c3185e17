#include <algorithm>
#include <array>
#include <optional>

#include "engine/base/error.h"
#include "runners/cuda/code/ptx.h"
#include "runners/cuda/code/ptx_delays.h"
#include "runners/cuda/gates/device_gate.h"

namespace warpath::cuda {
namespace {

/// Launches of delayed code, in each of which other warps, blocks or lanes are slow.
constexpr int kMostRounds = 24, kLeastRounds = 6;
constexpr double kRoundsNs = 100e6;
/// Maximum number of slow blocks: a race in any of them shows, and the launch grows by only a few
/// waves.
constexpr std::int64_t kSlowBlocks = 4096;
constexpr std::uint32_t kAllBlocks = 65536;
/// Further launches, each with one late place alone, at a write to memory that other blocks see.
constexpr std::size_t kMostLateWrites = 8;
/// Number of blocks that are slow by about a millisecond, which is longer than most launches: work
/// that usually comes first then comes last.
constexpr std::int64_t kLateBlocks = 16, kBlocksOfLateWarps = 512;
/// Number of stretches that a warp runs one half of its lanes after the other.
constexpr std::uint32_t kSplits = 48;
/// By which bits of their numbers lanes part, one of these in every round. Four rounds part any two
/// lanes but those whose numbers differ by 01101.
constexpr std::array<std::uint32_t, 4> kLaneMasks{0b00101, 0b00010, 0b10000, 0b01100};

/// Runs the same source with another order between threads: delays by warp, block and place are
/// added to the PTX, the driver assembles it, and the results must equal those without delays. If
/// they differ, the kernel does not wait where it should: for a barrier, a copy or another block.
class Delays final : public DeviceGate {
 public:
  Delays()
      : DeviceGate({.name = "delays",
                    .phase = GatePhase::device,
                    .stage = Stage::confirmation,
                    .help = "results do not change with the order of warps, blocks and lanes"}) {}

  [[nodiscard]] GateResult judge(Trial& trial) const override {
    Candidate delayed = trial.candidate();
    std::vector<DelayedPtx> plans;  // without their text
    std::size_t sites = 0;
    for (std::size_t c = 0; c < delayed.codes.size(); ++c) {
      CandidateCode& code = delayed.codes[c];
      if (code.ptx.empty()) return not_run("the PTX of the machine code is not known");
      DelayedPtx made = delay_ptx(code.ptx, most_threads(trial, c));
      if (made.text.empty()) return not_run(made.why);
      sites += made.sites + made.splits;
      code.cubin = std::move(made.text);
      made.text.clear();
      plans.push_back(std::move(made));
    }
    const bool exact = !trial.may_vary() && order_is_free(trial.candidate());
    TrialRequest request = trial.request();
    request.candidate = std::move(delayed);
    std::optional<Trial> other;
    try {
      other.emplace(trial.bench(), trial.problem(), request);
    } catch (const CandidateFault& fault) {
      if (fault.poisoned) throw;
      return not_run("the driver does not take the code with delays: " + fault.detail);
    } catch (const Error& error) {
      return not_run(error.what());
    }
    const auto problem = launches(trial, *other, plans, exact);
    for (std::size_t w = 0; w < trial.workloads(); ++w)
      trial.restore(w, 0, trial.declared_set(w, 0));
    if (problem) return *problem;
    return pass(std::to_string(sites) + " places, " +
                (exact ? "the same bytes in every order" : "within the tolerance in every order"));
  }

 private:
  std::optional<GateResult> launches(Trial& trial,
                                     Trial& other,
                                     const std::vector<DelayedPtx>& plans,
                                     bool exact) const {
    for (std::size_t w = 0; w < trial.workloads(); ++w) {
      if (const std::string why = misfit(trial, other, w); !why.empty()) return not_run(why);
      const InputSet& set = trial.declared_set(w, 0);
      set_plan(trial, other, w, plans, {});
      try {
        other.launch_fresh(w, 0, set, trial.bench().secret());
      } catch (const CandidateFault& fault) {
        if (fault.poisoned || fault.status != Status::launch_error) throw;
        return not_run("with delays " + fault.detail);
      }
      if (const Comparison result = other.compare(w, 0, set, "a launch of the code with delays");
          !result.passed) {
        return fail(where(trial, w, set) +
                    "the same PTX, assembled with places for delays: " + result.detail);
      }
      const Hash128 expected = other.fingerprint(w, 0, "a launch of the code with delays");
      for (const Round& round : rounds(trial, w, plans[trial.candidate().code_of[w]].writes)) {
        set_plan(trial, other, w, plans, round.plan);
        if (round.is_cold) trial.bench().flush_l2();  // copies arrive as late as they can
        // what an earlier launch or block left there may be what is read too early
        trial.bench().harness().poison_shared(trial.bench().stream(), round.plan.seed);
        other.launch_fresh(w, 0, set, trial.bench().secret());
        if (other.fingerprint(w, 0, "a delayed launch") == expected) continue;
        const Comparison result = other.compare(w, 0, set, "a delayed launch");
        if (!result.passed) return fail(where(trial, w, set) + round.kind + ": " + result.detail);
        if (exact)
          return fail(where(trial, w, set) + round.kind +
                      ": bytes differ, though no order is left open");
      }
    }
    return std::nullopt;
  }

  /// Why the delayed code cannot stand for the candidate's: empty if it can. Blocks may wait for
  /// each other as long as all of them fit at once, and must then do so here too.
  static std::string misfit(Trial& trial, Trial& other, std::size_t w) {
    const LaunchNumbers& numbers = trial.numbers(w);
    const std::int64_t threads = numbers.block[0] * numbers.block[1] * numbers.block[2];
    if (other.kernel(w).max_threads_per_block < threads)
      return "with delays the kernel needs more registers than a block of its size may have";
    const auto resident = [&](const Trial& of) {
      int blocks = 0;
      const DriverApi& api = trial.bench().api();
      const CUresult result = api.cuOccupancyMaxActiveBlocksPerMultiprocessor(
          &blocks, of.kernel(w).function, static_cast<int>(threads),
          static_cast<std::size_t>(numbers.dynamic_smem_bytes));
      return result == CUDA_SUCCESS ? std::int64_t{blocks} * trial.bench().limits().multiprocessors
                                    : 0;
    };
    const std::int64_t blocks = numbers.grid[0] * numbers.grid[1] * numbers.grid[2];
    if (blocks <= resident(trial) && blocks > resident(other))
      return "with delays fewer blocks fit on the device at once";
    return "";
  }

  static constexpr int kKinds = 6;
  static constexpr std::array<const char*, kKinds> kinds{
      "one warp of a block is slow",
      "half of the lanes of a warp run ahead",
      "blocks begin late",
      "some warps are slow, and blocks begin late",
      "a few blocks begin after most others",
      "a few warps come after most others"};

  struct Round {
    const char* kind;
    DelayPlan plan;
    bool is_cold = false;
  };

  static std::vector<Round> rounds(Trial& trial,
                                   std::size_t w,
                                   const std::vector<std::uint32_t>& writes) {
    const LaunchNumbers& numbers = trial.numbers(w);
    std::vector<Round> out;
    const int count = trial.repeats(w, kMostRounds, kLeastRounds, kRoundsNs);
    for (int r = 0; r < count; ++r)
      out.push_back(
          {kinds[r % kKinds], plan_of(r, numbers, trial.bench().secret()), r / kKinds % 2 == 1});
    const std::size_t late = std::min(writes.size(), kMostLateWrites);
    for (std::size_t i = 0; i < late; ++i)
      out.push_back(
          {"a write of a few warps comes after everything else",
           late_write(writes[i * writes.size() / late], numbers, trial.bench().secret())});
    return out;
  }

  /// The share of a launch's blocks, of 65536, that are about `some`.
  static std::uint32_t about(std::int64_t some, const LaunchNumbers& numbers) {
    const std::int64_t blocks = numbers.grid[0] * numbers.grid[1] * numbers.grid[2];
    return blocks <= some
               ? kAllBlocks
               : static_cast<std::uint32_t>(std::max<std::int64_t>(1, kAllBlocks * some / blocks));
  }

  /// Few blocks, so that the others end long before, and half of their warps, so that some are late
  /// alone.
  static DelayPlan late_write(std::uint32_t site,
                              const LaunchNumbers& numbers,
                              std::uint64_t secret) {
    DelayPlan plan;
    plan.seed = static_cast<std::uint32_t>(secret) + site;
    plan.blocks = about(kLateBlocks, numbers);
    plan.warps = 128;
    plan.only_site = site;
    return plan;
  }

  static DelayPlan plan_of(int round, const LaunchNumbers& numbers, std::uint64_t secret) {
    const std::int64_t warps = (numbers.block[0] * numbers.block[1] * numbers.block[2] + 31) / 32;
    DelayPlan plan;
    plan.seed = static_cast<std::uint32_t>(secret);
    plan.blocks = about(kSlowBlocks, numbers);
    const auto one = static_cast<std::uint32_t>(std::clamp<std::int64_t>(256 / warps, 16, 256));
    switch (round % kKinds) {
      case 0:
        plan.warps = one;
        plan.sites_mask = round / kKinds % 2 == 0 ? 15 : 3;
        break;
      case 1:
        plan.split =
            64U * kSplits +
            2U * kLaneMasks[((secret >> 40U) + static_cast<std::uint64_t>(round / kKinds)) %
                            kLaneMasks.size()] +
            static_cast<std::uint32_t>(round / kKinds % 2);
        break;
      case 2:  // some, so that others overtake them
        plan.blocks /= 4;
        plan.entry_mask = 65535;
        break;
      case 4:
        plan.blocks = about(kLateBlocks, numbers);
        plan.entry_mask = (1U << 20U) - 1;
        break;
      case 5:
        plan.blocks = about(kBlocksOfLateWarps, numbers);
        plan.warps = one;
        plan.sites_mask = 15;
        plan.sleep_shift = 7;
        break;
      default:
        plan.warps = 128;
        plan.sites_mask = 7;
        plan.entry_mask = 4095;
    }
    return plan;
  }

  static void set_plan(Trial& trial,
                       Trial& other,
                       std::size_t w,
                       const std::vector<DelayedPtx>& plans,
                       const DelayPlan& plan) {
    const DriverApi& api = trial.bench().api();
    trial.bench().synchronize("a launch before one with delays");
    CUdeviceptr address = 0;
    std::size_t size = 0;
    const std::string& name = plans[trial.candidate().code_of[w]].plan;
    require(api, api.cuModuleGetGlobal(&address, &size, other.kernel(w).module.get(), name.c_str()),
            "the delayed code lacks its plan");
    require(api, api.cuMemcpyHtoD(address, &plan, std::min(size, sizeof plan)),
            "cannot set the delays");
  }

  /// For all launches of code `c`.
  static std::int64_t most_threads(const Trial& trial, std::size_t c) {
    std::int64_t most = 0;
    const auto grow = [&](const LaunchNumbers& n) {
      most = std::max(most, n.block[0] * n.block[1] * n.block[2]);
    };
    for (std::size_t w = 0; w < trial.candidate().numbers.size(); ++w) {
      if (trial.candidate().code_of[w] != c) continue;
      grow(trial.numbers(w));
      if (const ExtraNumbers* const extra = trial.extra(w)) {
        for (const auto* steps : {&extra->before, &extra->after}) {
          for (const StepNumbers& step : *steps) grow(step.launch);
        }
      }
    }
    return most;
  }

  /// True if, beside atomics, nothing lets threads see who came first: then any order must give the
  /// same bytes.
  static bool order_is_free(const Candidate& candidate) {
    return std::ranges::none_of(candidate.codes, [](const CandidateCode& code) {
      std::string why;
      const auto module = parse_ptx(code.ptx, why);
      return !module || std::ranges::any_of(module->functions, [](const PtxFunction& function) {
        return std::ranges::any_of(function.instructions, [](const PtxInstruction& i) {
          if (i.opcode == "cp" && i.has("reduce")) return true;
          if (i.opcode == "membar" || (i.opcode == "fence" && (i.has("acq_rel") || i.has("sc"))))
            return true;
          return i.opcode == "ld" &&
                 (i.has("volatile") || i.has("relaxed") || i.has("acquire") || i.has("cg"));
        });
      });
    });
  }
};

}  // namespace

void register_gate_delays(GateTable& table) {
  table.add(std::make_unique<Delays>());
}

}  // namespace warpath::cuda
