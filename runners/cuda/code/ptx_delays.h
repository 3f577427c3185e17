#pragma once

#include <cstddef>
#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

namespace warpath::cuda {

/// The delays of one launch of delayed code, read by every thread at its start from the constant
/// `DelayedPtx::plan`. All zero: no delays. Eight 32-bit words.
struct DelayPlan {
  std::uint32_t seed = 0;
  std::uint32_t warps = 0;  ///< how many of 256 warps are slow in participating blocks
  /// a slow warp sleeps at a site with probability (1 to sites_mask + 1) / 64, and at most that
  /// many times; 2^k - 1, k < 6
  std::uint32_t sites_mask = 0;
  std::uint32_t blocks = 0;  ///< how many of 65536 blocks participate
  /// all warps of a participating block start up to this many ns late; 2^k - 1
  std::uint32_t entry_mask = 0;
  /// 64 * (how often lanes split, in participating blocks) + 2 * (a mask) + (which half goes
  /// second: the lanes whose numbers have an odd number of bits in the mask if 0, else the others)
  std::uint32_t split = 0;
  /// sleeps at a site are 2^sleep_shift times some microseconds; at most 7: a millisecond
  std::uint32_t sleep_shift = 0;
  /// not 0: slow warps reach this one of `DelayedPtx::writes` a millisecond late, once, and are not
  /// delayed elsewhere
  std::uint32_t only_site = 0;
};
static_assert(sizeof(DelayPlan) == 32);

struct DelayedPtx {
  std::string text;       ///< empty: see `why`
  std::string plan;       ///< name of the constant that holds the plan
  std::size_t sites = 0;  ///< places where a warp may be delayed
  /// the sites at which memory visible to other blocks is written, ascending
  std::vector<std::uint32_t> writes;
  std::size_t splits = 0;  ///< code sections that the lanes of a warp may execute in two halves
  std::string why;         ///< if `text` is empty, the reason: one line
};

/// Rewrites PTX so that the order between warps and blocks, on which only barriers and atomics may
/// depend, can be varied: before runs of accesses of one kind, around barriers and after waits,
/// whole warps sleep for some microseconds a few times each, chosen by a hash of plan, block, warp
/// and site; blocks start late; straight-line code that passes data through shared or global memory
/// without a barrier is executed by one half of a warp's lanes first. The results of a race-free
/// program stay bit-identical.
///
/// Three registers are live throughout, which may cost registers or spills. `threads`: the largest
/// block launched; entries without a limit of their own get it, so that the code fits. Linear in
/// the text.
[[nodiscard]] DelayedPtx delay_ptx(std::string_view ptx, std::int64_t threads);

}  // namespace warpath::cuda
