#pragma once

#include <cstddef>
#include <list>
#include <memory>
#include <unordered_map>
#include <utility>

#include "engine/base/ids.h"

namespace warpath {

/// What was lately made of nodes and can be made again: each has a weight, and those used longest
/// ago are dropped where all together weigh too much. Not thread-safe.
template <class T>
class NodeCache {
 public:
  explicit NodeCache(std::size_t most) : most_(most) {}

  /// Null: never added, or dropped.
  [[nodiscard]] std::shared_ptr<T> find(NodeId node) {
    const auto it = entries_.find(index(node));
    if (it == entries_.end()) return nullptr;
    order_.splice(order_.end(), order_, it->second);
    return it->second->value;
  }
  std::shared_ptr<T> add(NodeId node, std::shared_ptr<T> value, std::size_t weight = 1) {
    erase(node);
    order_.push_back({node, value, weight});
    entries_.emplace(index(node), std::prev(order_.end()));
    weight_ += weight;
    while (weight_ > most_ && order_.size() > 1) erase(order_.front().node);
    return value;
  }
  void erase(NodeId node) {
    const auto it = entries_.find(index(node));
    if (it == entries_.end()) return;
    weight_ -= it->second->weight;
    order_.erase(it->second);
    entries_.erase(it);
  }

 private:
  struct Entry {
    NodeId node;
    std::shared_ptr<T> value;
    std::size_t weight;
  };
  std::size_t most_, weight_ = 0;
  std::list<Entry> order_;  // the one used last at the end
  std::unordered_map<std::uint32_t, typename std::list<Entry>::iterator> entries_;
};

}  // namespace warpath
