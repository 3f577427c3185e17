#include "experiments/init/index_coverage.h"

#include <algorithm>
#include <iterator>
#include <optional>
#include <string>
#include <vector>

namespace warpath {
namespace {

constexpr std::int64_t kMostPoints = 4 * kMostFollowed;

/// Steps through the threads and loops on which the index of a store or its guards depend.
class StoreWalk {
 public:
  /// `guards`: those of the access that decide whether the element is written.
  StoreWalk(const model::Access& access,
            const std::vector<const model::Guard*>& guards,
            const Bindings& numbers,
            std::vector<bool>& seen)
      : access_(access), guards_(guards), numbers_(numbers), seen_(seen) {
    std::set<std::string> used = access.index.names();
    for (const model::Guard* const guard : guards_) {
      for (const auto& one : guard->nonnegative) used.merge(one.names());
    }
    for (auto it = access.loops.rbegin(); it != access.loops.rend(); ++it) {
      if (!(*it)->counted || !used.contains((*it)->variable)) continue;
      loops_.insert(loops_.begin(), *it);
      used.merge((*it)->first.names());
      used.merge((*it)->end.names());
      used.merge((*it)->step.names());
    }
    for (const std::string axis : {".z", ".y", ".x"}) {
      for (const auto& [index, extent] :
           {std::pair("blockIdx", "gridDim"), std::pair("threadIdx", "blockDim")}) {
        const auto number = numbers.find(extent + axis);
        if (used.contains(index + axis) && number != numbers.end())
          axes_.emplace_back(index + axis, number->second);
      }
    }
  }

  void run() {
    const bool followed =
        std::ranges::all_of(guards_, [](const model::Guard* guard) { return guard->complete; });
    const bool counted =
        std::ranges::all_of(access_.loops, [](const model::Loop* loop) { return loop->counted; });
    if (followed && counted && access_.index.is_known()) axis(0);
  }

 private:
  void axis(std::size_t i) {
    if (i == axes_.size()) return loop(0);
    for (std::int64_t at = 0; at < axes_[i].second && points_ < kMostPoints; ++at) {
      numbers_[axes_[i].first] = at;
      axis(i + 1);
    }
  }

  void loop(std::size_t i) {
    if (i == loops_.size()) return point();
    const model::Loop& one = *loops_[i];
    const auto first = one.first.evaluate(numbers_), end = one.end.evaluate(numbers_),
               step = one.step.evaluate(numbers_);
    if (!first || !end || !step || *step == 0) return;
    for (std::int64_t at = *first; *step > 0 ? at < *end : at > *end; at += *step) {
      if (points_ >= kMostPoints) return;
      numbers_[one.variable] = at;
      loop(i + 1);
    }
  }

  void point() {
    ++points_;
    for (const model::Guard* const guard : guards_) {
      for (const auto& one : guard->nonnegative) {
        const auto value = one.evaluate(numbers_);
        if (!value || *value < 0) return;
      }
    }
    const auto index = access_.index.evaluate(numbers_);
    if (!index) return;
    for (int k = 0; k < access_.vector_width; ++k) {
      const std::int64_t at = *index + k;
      if (at >= 0 && at < static_cast<std::int64_t>(seen_.size()))
        seen_[static_cast<std::size_t>(at)] = true;
    }
  }

  const model::Access& access_;
  const std::vector<const model::Guard*>& guards_;
  Bindings numbers_;
  std::vector<bool>& seen_;
  std::vector<const model::Loop*> loops_;
  std::vector<std::pair<std::string, std::int64_t>> axes_;
  std::int64_t points_ = 0;
};

/// A store and the guards that it is under.
struct Store {
  const model::Access* access = nullptr;
  std::vector<const model::Guard*> guards;
};

/// What is stored in both branches of an `if` is stored whatever its condition is.
void join_branches(std::vector<Store>& stores) {
  const auto joined = [](const Store& a, const Store& b) -> std::optional<Store> {
    if (!(a.access->index == b.access->index) || a.guards.size() != b.guards.size() ||
        a.access->loops != b.access->loops)
      return std::nullopt;
    const auto [at, other] = std::ranges::mismatch(a.guards, b.guards);
    if (at == a.guards.end() || std::next(at) != a.guards.end()) return std::nullopt;
    if ((*at)->stmt != (*other)->stmt || (*at)->negated == (*other)->negated) return std::nullopt;
    return Store{a.access, {a.guards.begin(), at}};
  };
  for (std::size_t i = 1; i < stores.size(); ++i) {
    for (std::size_t j = 0; j < i; ++j) {
      if (const auto both = joined(stores[j], stores[i])) stores.push_back(*both);
    }
  }
}

}  // namespace

bool writes_all(const model::KernelFacts& facts,
                int array,
                std::int64_t elements,
                const Bindings& numbers) {
  if (elements < 1 || elements > kMostFollowed) return false;
  std::vector<bool> seen(static_cast<std::size_t>(elements));
  std::vector<Store> stores;
  for (const model::Access* const access : facts.accesses_to(array))
    if (access->kind == model::AccessKind::write) stores.push_back({access, access->guards});
  join_branches(stores);
  for (const Store& store : stores) StoreWalk(*store.access, store.guards, numbers, seen).run();
  return std::ranges::all_of(seen, [](bool one) { return one; });
}

}  // namespace warpath
