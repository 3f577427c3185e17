#pragma once

#include <cstdint>
#include <functional>

namespace warpath {

/// Where the late proposals of a campaign come from, as its driver sees it: a session asks its late
/// proposers, a study delivers recorded moves late. Not thread-safe.
class LateExchange {
 public:
  virtual ~LateExchange() = default;
  /// Offers opened nodes and gives the campaign the answers. `remaining`: number of builds left for
  /// a given number of dispatches. False: deterministic mode must wait for answers first.
  virtual bool exchange(const std::function<std::uint64_t(std::uint64_t)>& remaining) = 0;
  /// True if the last exchange brought proposals.
  [[nodiscard]] virtual bool arrived() const = 0;
  /// True if more answers may still come.
  [[nodiscard]] virtual bool waiting() const = 0;
  /// True if the search opened nodes that were not offered yet.
  [[nodiscard]] virtual bool has_offers() const = 0;
  [[nodiscard]] virtual bool has_proposers() const = 0;
};

}  // namespace warpath
