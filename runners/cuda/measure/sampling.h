#pragma once

#include <cstddef>
#include <vector>

namespace warpath::cuda {

class Trial;

/// Launch times of one workload.
struct Sampling {
  std::vector<double> hot_ns;
  std::vector<double> cold_ns;
  int launches_per_sample = 1;    ///< of hot samples: launches per graph
  std::vector<bool> timed_slots;  ///< slots whose outputs are those of a timed launch
  bool raced_out = false;         ///< stopped early: clearly slower than the incumbent
  bool cold_scored = false;       ///< `cold_ns` count
  [[nodiscard]] const std::vector<double>& scored_ns() const {
    return cold_scored ? cold_ns : hot_ns;
  }
};

/// Runs all launches that timing one workload takes.
[[nodiscard]] Sampling sample(Trial& trial, std::size_t w);
/// Interleaved launches of two candidates on one workload, in random order, with the level-2 cache
/// as scored: times by pair, in ns.
struct Pairs {
  std::vector<double> first_ns, second_ns;
};
[[nodiscard]] Pairs sample_pairs(Trial& first, Trial& second, std::size_t w, int pairs);

/// Interleaved blocks of launches of two candidates on one workload, with the cache as it is
/// scored: times by pair of blocks, in ns.
///
/// The device rests before each chunk of some 10 ms for as long as it has worked: without breaks it
/// reaches its power limit, and the reduced clocks make blocks differ by up to a fifth. A candidate
/// runs until the times of two chunks agree, so that no effect of earlier work is left. A block
/// contains launches of every timed slot; its time is the mean over slots of their trimmed means,
/// so that in a multimodal distribution, where a median would pick one mode, all modes count. For
/// launches of 20 ms or more a block is one launch, on alternating slots, with 10 ms of rest. After
/// at least five pairs (of long launches as many as fit into 1.2 s, six to sixteen) measuring ends
/// once the 99 % interval is narrower than one percent or time is over: 1.5 s of work; while it is
/// wider than QuietLimits::width 5 s, with four times the rest if the pairs are not of two kinds,
/// and with long launches 3 s.
struct BlockPairs {
  Pairs pairs;                    ///< times of blocks
  std::vector<double> residuals;  ///< samples over the median of those taken with them
};
[[nodiscard]] BlockPairs sample_blocks(Trial& first, Trial& second, std::size_t w);

/// Mean launch, in ns, at the end of 0.3 s of launches without rest; longer than in a block if the
/// kernel reaches the device's power limit.
[[nodiscard]] double sustained_ns(Trial& trial, std::size_t w);

}  // namespace warpath::cuda
