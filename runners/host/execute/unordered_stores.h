#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <memory>
#include <optional>
#include <span>
#include <vector>

#include "runners/host/execute/buffer.h"

namespace warpath::host {

/// Two threads of a launch that gave a byte of a tensor different values, in no order that the
/// kernel makes.
struct UnorderedStore {
  struct By {
    std::uint64_t block = 0;  ///< linear
    std::uint32_t thread = 0;
  };
  std::uint32_t tensor = 0;
  std::size_t offset = 0;  ///< in bytes
  By first, second;
};

/// Finds them, whatever order the threads happen to run in: a happens-before analysis of the stores
/// of one launch whose blocks run one after another on one OS thread (as in Flanagan and Freund,
/// FastTrack, 2009, for stores alone).
///
/// Ordered are stores with a barrier of their block, an operation of their warp, or a fence or an
/// atomic change of a tensor by the first one's block between them; and a store after an atomic
/// change, as of a counter that the last block resets. Two atomic changes are no stores. One that
/// leaves the value as it was is none either: many threads may say the same.
class UnorderedStores {
 public:
  /// Of a launch of so many blocks and warps a block; forgets the launch before.
  void begin(std::span<const Buffer> tensors, std::uint64_t blocks, std::size_t threads);
  void begin_block(std::uint64_t block);

  /// The thread is about to change memory.
  void before_store(std::uint32_t thread,
                    const volatile void* address,
                    std::size_t bytes,
                    bool atomic);
  /// It has done what it was about to do.
  void settle(std::uint32_t thread);
  void fence() { ++fences_[block_]; }
  void barrier() { ++barriers_; }
  void warp_operation(std::size_t warp) { ++warp_operations_[warp]; }

  /// The first one.
  [[nodiscard]] const std::optional<UnorderedStore>& found() const { return found_; }

 private:
  /// Who changed a byte last.
  struct Change {
    std::uint32_t block = 0, thread = 0;
    std::uint32_t fences = 0, barriers = 0, warp_operations = 0;  // that there were before
    bool known = false, atomic = false;
  };
  static constexpr std::size_t kGroup = 1024, kMostStored = 64;
  struct Pending {
    std::uint32_t tensor = 0;
    std::size_t offset = 0, bytes = 0;  // none: 0
    bool atomic = false;
    std::array<std::byte, kMostStored> before{};
  };

  [[nodiscard]] Change& last_of(std::uint32_t tensor, std::size_t offset);
  [[nodiscard]] bool is_ordered(const Change& earlier, const Change& later) const;

  std::span<const Buffer> tensors_;
  std::vector<std::vector<std::unique_ptr<std::array<Change, kGroup>>>> changes_;  // by tensor
  std::vector<std::uint32_t> fences_;                                              // by block
  std::vector<std::uint32_t> warp_operations_;  // by warp of the block at hand
  std::vector<Pending> pending_;                // by thread
  std::uint64_t block_ = 0;
  std::uint32_t barriers_ = 0;
  std::size_t groups_left_ = 0;
  Change beyond_;  // of what there is no memory for
  std::optional<UnorderedStore> found_;
};

}  // namespace warpath::host
