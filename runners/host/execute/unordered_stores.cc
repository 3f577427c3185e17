#include "runners/host/execute/unordered_stores.h"

#include <algorithm>
#include <cstring>
#include <utility>

namespace warpath::host {
namespace {

constexpr std::size_t kWarp = 32;
/// Of changes that are remembered, 24 KiB each.
constexpr std::size_t kMostGroups = 4096;

}  // namespace

void UnorderedStores::begin(std::span<const Buffer> tensors,
                            std::uint64_t blocks,
                            std::size_t threads) {
  tensors_ = tensors;
  changes_.clear();
  for (const Buffer& tensor : tensors) changes_.emplace_back((tensor.size() + kGroup - 1) / kGroup);
  fences_.assign(blocks, 0);
  warp_operations_.assign((threads + kWarp - 1) / kWarp, 0);
  pending_.assign(threads, Pending{});
  groups_left_ = kMostGroups;
  found_.reset();
}

void UnorderedStores::begin_block(std::uint64_t block) {
  block_ = block;
  barriers_ = 0;
  std::ranges::fill(warp_operations_, 0U);
}

void UnorderedStores::before_store(std::uint32_t thread,
                                   const volatile void* address,
                                   std::size_t bytes,
                                   bool atomic) {
  Pending& next = pending_[thread];
  const auto* const at = static_cast<const std::byte*>(const_cast<const void*>(address));
  for (std::size_t i = 0; i < tensors_.size() && bytes <= kMostStored; ++i) {
    const Buffer& tensor = tensors_[i];
    const auto offset = static_cast<std::size_t>(reinterpret_cast<std::uintptr_t>(at) -
                                                 reinterpret_cast<std::uintptr_t>(tensor.data()));
    if (offset >= tensor.size() || tensor.size() - offset < bytes) continue;
    next.tensor = static_cast<std::uint32_t>(i);
    next.offset = offset;
    next.bytes = bytes;
    next.atomic = atomic;
    std::memcpy(next.before.data(), at, bytes);
    if (atomic) fence();
    return;
  }
}

void UnorderedStores::settle(std::uint32_t thread) {
  Pending& stored = pending_[thread];
  const std::size_t bytes = std::exchange(stored.bytes, 0);
  if (bytes == 0) return;
  const std::byte* const now = tensors_[stored.tensor].data();
  for (std::size_t k = 0; k < bytes; ++k) {
    if (now[stored.offset + k] == stored.before[k]) continue;
    Change& last = last_of(stored.tensor, stored.offset + k);
    const Change own{.block = static_cast<std::uint32_t>(block_),
                     .thread = thread,
                     .fences = fences_[block_],
                     .barriers = barriers_,
                     .warp_operations = warp_operations_[thread / kWarp],
                     .known = true,
                     .atomic = stored.atomic};
    if (!found_ && !is_ordered(last, own))
      found_ = {.tensor = stored.tensor,
                .offset = stored.offset + k,
                .first = {last.block, last.thread},
                .second = {block_, thread}};
    last = own;
  }
}

UnorderedStores::Change& UnorderedStores::last_of(std::uint32_t tensor, std::size_t offset) {
  auto& group = changes_[tensor][offset / kGroup];
  if (!group) {
    if (groups_left_ == 0) return beyond_ = {};
    --groups_left_;
    group = std::make_unique<std::array<Change, kGroup>>();
  }
  return (*group)[offset % kGroup];
}

bool UnorderedStores::is_ordered(const Change& earlier, const Change& later) const {
  if (!earlier.known || earlier.atomic) return true;
  if (earlier.block != later.block) return fences_[earlier.block] != earlier.fences;
  if (earlier.thread == later.thread || earlier.barriers != later.barriers ||
      fences_[earlier.block] != earlier.fences)
    return true;
  return earlier.thread / kWarp == later.thread / kWarp &&
         earlier.warp_operations != later.warp_operations;
}

}  // namespace warpath::host
