#pragma once

#include <cstdint>
#include <deque>
#include <string>
#include <utility>

#include "engine/base/error.h"
#include "engine/base/ids.h"
#include "engine/base/pool.h"
#include "engine/search/strategy_state.h"

namespace warpath {

/// A value for some nodes, found faster than in a map. References remain valid until keep().
///
///   place_  [ - | 0 | - | 2 | 1 | ... ]    by NodeId
///   values_ [ n1 | n4 | n3 ]
template <class T>
class NodeTable {
 public:
  /// Null: it has none.
  [[nodiscard]] const T* find(NodeId node) const {
    const std::uint32_t place = index(node) < place_.size() ? place_[index(node)] : kNone;
    return place == kNone ? nullptr : &values_[place];
  }
  [[nodiscard]] T* find(NodeId node) {
    return const_cast<T*>(std::as_const(*this).find(node));  // of a value that is not const
  }
  /// Made if there is none.
  [[nodiscard]] T& operator[](NodeId node) {
    if (index(node) >= place_.size()) place_.resize(index(node) + std::size_t{1}, kNone);
    std::uint32_t& place = place_[index(node)];
    if (place == kNone) {
      place = static_cast<std::uint32_t>(values_.size());
      values_.emplace_back();
    }
    return values_[place];
  }
  /// As a map from ids. Throws Error(bad_input) if it reads one that is not below `nodes`.
  void keep(StrategyState& state, std::uint32_t nodes) {
    const std::size_t count = state.size(values_.size());
    if (state.reads()) place_ = {}, values_.clear();
    for (std::uint32_t i = 0, node = 0; i < count; ++i, ++node) {
      while (!state.reads() && place_[node] == kNone) ++node;
      state(node);
      if (node >= nodes) throw bad_input("state", std::to_string(node), "a node that there is");
      state((*this)[NodeId{node}]);
    }
  }

 private:
  static constexpr std::uint32_t kNone = UINT32_MAX;
  Pool<std::uint32_t> place_;
  std::deque<T> values_;
};

}  // namespace warpath
