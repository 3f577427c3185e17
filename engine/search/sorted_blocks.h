#pragma once

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <iterator>
#include <span>
#include <vector>

#include "engine/base/pool.h"
#include "engine/search/strategy_state.h"

namespace warpath {

/// A sorted sequence that many elements enter and leave anywhere, in blocks, so that few move:
///
///   blocks_  [ 2: 3 | 0: 2 | 1: 3 ]    place and size, in order; none is empty
///   pool_    [ e3 e4 - - | e5 e6 e7 - | e0 e1 e2 - ]    by place
template <class T>
class SortedBlocks {
 public:
  [[nodiscard]] bool empty() const { return blocks_.empty(); }
  [[nodiscard]] const T& back() const { return elements(blocks_.back()).back(); }
  void pop_back() {
    if (--blocks_.back().size == 0) release(std::prev(blocks_.end()));
  }
  /// The last of those that are less than `element`; null: there is none.
  template <class Less>
  [[nodiscard]] const T* last_below(const T& element, Less less) const {
    const auto block = std::ranges::lower_bound(blocks_, element, less, last_of());
    if (block != blocks_.end()) {
      const std::span<const T> all = elements(*block);
      const auto at = std::ranges::lower_bound(all, element, less);
      if (at != all.begin()) return &*std::prev(at);
    }
    return block == blocks_.begin() ? nullptr : &elements(*std::prev(block)).back();
  }
  /// Behind those that are not more by `less`, by which all are sorted.
  template <class Less>
  void insert(T element, Less less) {
    if (blocks_.empty()) {
      resized(*add(blocks_.end()), 1).front() = element;
      return;
    }
    auto block = std::ranges::upper_bound(blocks_, element, less, last_of());
    if (block == blocks_.end()) --block;
    const std::span<T> all = resized(*block, block->size + 1);
    const auto last = std::prev(all.end());
    const auto at = std::ranges::upper_bound(all.begin(), last, element, less);
    std::move_backward(at, last, all.end());
    *at = element;
    if (block->size < kMost) return;
    const auto upper = add(std::next(block));
    const std::span<T> to = resized(*upper, kMost - kMost / 2);
    block = std::prev(upper);
    std::ranges::copy(elements(*block).subspan(kMost / 2), to.begin());
    block->size = kMost / 2;
  }
  /// Nothing if it is not there.
  template <class Less>
  void erase(const T& element, Less less) {
    for (auto block = std::ranges::lower_bound(blocks_, element, less, last_of());
         block != blocks_.end() && !less(element, elements(*block).front()); ++block) {
      const std::span<T> all = resized(*block, block->size);
      const auto at = std::ranges::find(all, element);
      if (at == all.end()) continue;
      std::move(std::next(at), all.end(), at);
      if (--block->size == 0) release(block);
      return;
    }
  }
  /// As one sequence.
  void keep(StrategyState& state) {
    std::size_t count = 0;
    for (const Block& block : blocks_) count += block.size;
    count = state.size(count);
    if (state.reads()) {
      *this = {};
      for (; count > 0; count -= blocks_.back().size)
        static_cast<void>(resized(*add(blocks_.end()), std::min<std::size_t>(kMost / 2, count)));
    }
    for (Block& block : blocks_) {
      for (T& element : resized(block, block.size)) state(element);
    }
  }

 private:
  static constexpr std::uint32_t kMost = 1024;  // of a block, which is halved at so many
  struct Block {
    std::uint32_t place = 0;
    std::uint32_t size = 0;
  };
  using Blocks = std::vector<Block>;

  [[nodiscard]] std::span<const T> elements(const Block& block) const {
    return {pool_.data() + std::size_t{block.place} * kMost, block.size};
  }
  /// The elements of a block that has so many from now on; valid until the next call.
  [[nodiscard]] std::span<T> resized(Block& block, std::size_t size) {
    const std::size_t begin = std::size_t{block.place} * kMost;
    if (begin + size > pool_.size()) pool_.resize(begin + size);
    block.size = static_cast<std::uint32_t>(size);
    return {pool_.data() + begin, size};
  }
  /// By which blocks are sorted, too.
  [[nodiscard]] auto last_of() const {
    return [this](const Block& block) -> const T& { return elements(block).back(); };
  }
  /// An empty block, to be filled before anything else is done.
  typename Blocks::iterator add(typename Blocks::const_iterator before) {
    auto place = static_cast<std::uint32_t>(blocks_.size());  // all others are in use
    if (!free_.empty()) {
      place = free_.back();
      free_.pop_back();
    }
    return blocks_.insert(before, {.place = place});
  }
  void release(typename Blocks::iterator block) {
    free_.push_back(block->place);
    blocks_.erase(block);
  }

  Blocks blocks_;
  std::vector<std::uint32_t> free_;  // places
  Pool<T> pool_;
};

}  // namespace warpath
