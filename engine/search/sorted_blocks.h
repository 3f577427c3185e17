#pragma once

#include <algorithm>
#include <cstddef>
#include <iterator>
#include <utility>
#include <vector>

#include "engine/search/strategy_state.h"

namespace warpath {

/// A sorted sequence that many elements enter and leave anywhere, in blocks, so that few move:
///
///   blocks_ [ e0 e1 e2 | e3 e4 | e5 e6 e7 ]    none is empty
template <class T>
class SortedBlocks {
 public:
  [[nodiscard]] bool empty() const { return blocks_.empty(); }
  [[nodiscard]] const T& back() const { return blocks_.back().back(); }
  void pop_back() {
    blocks_.back().pop_back();
    if (blocks_.back().empty()) blocks_.pop_back();
  }
  /// The last of those that are less than `element`; null: there is none.
  template <class Less>
  [[nodiscard]] const T* last_below(const T& element, Less less) const {
    const auto block = std::ranges::lower_bound(blocks_, element, less, kLastOf);
    if (block != blocks_.end()) {
      const auto at = std::ranges::lower_bound(*block, element, less);
      if (at != block->begin()) return &*std::prev(at);
    }
    return block == blocks_.begin() ? nullptr : &std::prev(block)->back();
  }
  /// Behind those that are not more by `less`, by which all are sorted.
  template <class Less>
  void insert(const T& element, Less less) {
    if (blocks_.empty()) {
      blocks_.push_back({element});
      return;
    }
    auto block = std::ranges::upper_bound(blocks_, element, less, kLastOf);
    if (block == blocks_.end()) --block;
    block->insert(std::ranges::upper_bound(*block, element, less), element);
    if (std::ssize(*block) < kMost) return;
    const auto half = block->begin() + kMost / 2;
    std::vector<T> upper(half, block->end());
    block->erase(half, block->end());
    blocks_.insert(block + 1, std::move(upper));
  }
  /// Nothing if it is not there.
  template <class Less>
  void erase(const T& element, Less less) {
    for (auto block = std::ranges::lower_bound(blocks_, element, less, kLastOf);
         block != blocks_.end() && !less(element, block->front()); ++block) {
      const auto at = std::ranges::find(*block, element);
      if (at == block->end()) continue;
      block->erase(at);
      if (block->empty()) blocks_.erase(block);
      return;
    }
  }
  /// As one sequence.
  void keep(StrategyState& state) {
    std::size_t count = 0;
    for (const std::vector<T>& block : blocks_) count += block.size();
    count = state.size(count);
    if (state.reads()) {
      blocks_.clear();
      for (; count > 0; count -= blocks_.back().size())
        blocks_.emplace_back(std::min<std::size_t>(kMost / 2, count));
    }
    for (std::vector<T>& block : blocks_) {
      for (T& element : block) state(element);
    }
  }

 private:
  static constexpr std::ptrdiff_t kMost = 1024;
  static constexpr auto kLastOf = [](const std::vector<T>& block) -> const T& {
    return block.back();
  };

  std::vector<std::vector<T>> blocks_;
};

}  // namespace warpath
