#pragma once

#include <cstddef>
#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

namespace warpath::cuda {

/// What a launch of delayed code does, read by every thread at its start from the constant
/// `DelayedPtx::plan`. All zero: no delays, the code computes as before. Eight 32-bit words.
struct DelayPlan {
  std::uint32_t seed = 0;
  std::uint32_t warps = 0;  ///< how many of 256 warps are slow, in the blocks that take part
  /// a slow warp passes a site slowly with a chance of (1 to sites_mask + 1) / 64, and so many
  /// times at most; 2^k - 1, k < 6
  std::uint32_t sites_mask = 0;
  std::uint32_t blocks = 0;  ///< how many of 65536 blocks take part
  /// all warps of such a block begin up to so many ns late; 2^k - 1
  std::uint32_t entry_mask = 0;
  /// 32 * (how often lanes part, in the blocks that take part) + 2 * (a bit of the lane's number) +
  /// (which value goes first)
  std::uint32_t split = 0;
  /// sleeps at a site are 2 to this power times as long as some microseconds; at most 7: a
  /// millisecond
  std::uint32_t sleep_shift = 0;
  /// not 0: slow warps pass this one of `DelayedPtx::writes` a millisecond late, once, and every
  /// other place as they come
  std::uint32_t only_site = 0;
};
static_assert(sizeof(DelayPlan) == 32);

struct DelayedPtx {
  std::string text;       ///< empty: see `why`
  std::string plan;       ///< name of the constant variable that holds the plan
  std::size_t sites = 0;  ///< places where a warp may be slow
  /// those of the places at which memory is written that other blocks see, ascending
  std::vector<std::uint32_t> writes;
  std::size_t splits = 0;  ///< stretches that the lanes of a warp may run in two halves
  std::string why;         ///< why there is no text: one line
};

/// Rewrites PTX so that the order between warps and blocks, which nothing but barriers and atomics
/// may rely on, can be chosen: before runs of accesses of one kind, around barriers and behind
/// waits, whole warps sleep by a hash of plan, block, warp and place, some microseconds and a few
/// times each; blocks begin late; stretches of straight code that pass data through shared memory
/// without a barrier run for one half of a warp's lanes first. What a program without races
/// computes stays the same, to the bit.
///
/// Three registers are live throughout, which may cost registers or spills; `threads` is the
/// largest block that is launched: entries without a limit of their own get it, so that the code
/// fits. Linear in the text.
[[nodiscard]] DelayedPtx delay_ptx(std::string_view ptx, std::int64_t threads);

}  // namespace warpath::cuda
