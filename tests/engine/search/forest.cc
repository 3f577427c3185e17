#include "engine/search/forest.h"

#include <doctest/doctest.h>

#include <algorithm>
#include <cmath>
#include <cstdint>
#include <numeric>
#include <vector>

#include "tests/support/grid_space.h"

using namespace warpath;

TEST_SUITE_BEGIN("forest");

namespace {

/// The definition, a split after the other, on rows as they come.
class PlainForest {
 public:
  PlainForest(const Features& features,
              std::vector<float> rows,
              std::vector<float> targets,
              Rng& rng)
      : features_(features), rows_(std::move(rows)), targets_(std::move(targets)) {
    std::vector<std::uint32_t> members(targets_.size());
    for (int t = 0; t < Forest::Settings{}.trees; ++t) {
      std::iota(members.begin(), members.end(), 0U);
      roots_.push_back(nodes_.size());
      grow(members, rng);
    }
  }

  [[nodiscard]] Forest::Prediction predict(const float* row) const {
    double sum = 0, squares = 0;
    for (std::size_t at : roots_) {
      while (!nodes_[at].leaf)
        at = weigh(nodes_[at], row) <= nodes_[at].threshold ? at + 1 : nodes_[at].right;
      const auto value = static_cast<double>(nodes_[at].threshold);
      sum += value;
      squares += value * value;
    }
    const auto trees = static_cast<double>(roots_.size());
    const double mean = sum / trees;
    return {
        .mean = static_cast<float>(mean),
        .deviation = static_cast<float>(std::sqrt(std::max(0.0, squares / trees - mean * mean)))};
  }

 private:
  struct Split {
    bool leaf = true;
    std::size_t first = 0, second = 0, right = 0;
    float sign = 0, threshold = 0;
  };

  [[nodiscard]] static float weigh(const Split& s, const float* row) {
    return s.sign == 0 ? row[s.first] : row[s.first] + s.sign * row[s.second];
  }

  [[nodiscard]] Split drawn(Rng& rng) const {
    const std::size_t axes = features_.axes();
    Split s{.leaf = false, .first = rng.below(axes)};
    const double kind = rng.uniform();
    if (kind < Forest::Settings{}.pairs && axes > 1) {
      const std::size_t other = rng.below(axes - 1);
      s.second = 2 * axes + other + (other >= s.first ? 1 : 0);
      s.first += 2 * axes;
      s.sign = rng.uniform() < 0.5 ? 1.0F : -1.0F;
    } else if (kind < Forest::Settings{}.pairs + Forest::Settings{}.divisibility &&
               features_.divisible(s.first)) {
      s.first += axes;
    }
    return s;
  }

  void grow(std::span<std::uint32_t> members, Rng& rng) {
    const auto count = static_cast<float>(members.size());
    float sum = 0, squares = 0;
    for (const std::uint32_t m : members) {
      sum += targets_[m];
      squares += targets_[m] * targets_[m];
    }
    const std::size_t me = nodes_.size();
    nodes_.push_back({.threshold = sum / count});
    if (members.size() < 2 || squares - sum * sum / count < 1e-9F) return;
    Split best;
    float highest = -1;
    for (std::size_t useful = 0, tries = 0;
         useful < features_.axes() && tries < 6 * features_.axes(); ++tries) {
      Split split = drawn(rng);
      std::vector<float> x;
      for (const std::uint32_t m : members)
        x.push_back(weigh(split, &rows_[m * features_.count()]));
      const auto [low, high] = std::minmax_element(x.begin(), x.end());
      if (*high - *low < 1e-6F) continue;
      ++useful;
      split.threshold = *low + static_cast<float>(rng.uniform()) * (*high - *low);
      float left = 0, left_count = 0;
      for (std::size_t j = 0; j < x.size(); ++j) {
        if (x[j] > split.threshold) continue;
        left += targets_[members[j]];
        ++left_count;
      }
      if (left_count == 0 || left_count == count) continue;
      const float right = sum - left;
      const float gain = left * left / left_count + right * right / (count - left_count);
      if (gain > highest) best = split, highest = gain;
    }
    if (best.leaf) return;
    // An exchange from both ends: the order of the members decides the last bits of later sums.
    const auto is_left = [&](std::uint32_t m) {
      return weigh(best, &rows_[m * features_.count()]) <= best.threshold;
    };
    std::size_t begin = 0, end = members.size();
    for (;;) {
      while (begin < end && is_left(members[begin])) ++begin;
      while (begin < end && !is_left(members[end - 1])) --end;
      if (begin >= end) break;
      std::swap(members[begin++], members[--end]);
    }
    grow(members.first(begin), rng);
    best.right = nodes_.size();
    nodes_[me] = best;
    grow(members.subspan(begin), rng);
  }

  const Features& features_;
  std::vector<float> rows_, targets_;
  std::vector<Split> nodes_;
  std::vector<std::size_t> roots_;
};

}  // namespace

TEST_CASE(
    "a forest is its definition bit for bit, random stream included, for any number of axes and "
    "observations") {
  for (const std::size_t axes : {1U, 2U, 5U, 11U, 20U}) {
    for (const std::size_t observations : {1U, 2U, 3U, 40U, 300U}) {
      CAPTURE(axes);
      CAPTURE(observations);
      const test::GridSpace space(axes, axes == 1 ? 200 : 6);
      const Features features(space);
      Rng rng(axes, "observations", observations);
      std::vector<Level> point(axes);
      std::vector<float> rows, targets;
      // the second half is unknown to the forest; points may come twice
      for (std::size_t i = 0; i < 2 * observations; ++i) {
        REQUIRE(space.draw(rng, point));
        rows.resize(rows.size() + features.count());
        features.of(point, std::span(rows).last(features.count()));
        if (i < observations)
          targets.push_back(i % 5 == 0 ? 1.0F : static_cast<float>(rng.normal()));
      }
      const std::vector<float> told(
          rows.begin(),
          rows.begin() + static_cast<std::ptrdiff_t>(observations * features.count()));
      Rng one(3, "forest"), other(3, "forest");
      Forest forest(features, {});
      forest.fit(told, targets, one);
      const PlainForest plain(features, told, targets, other);
      CHECK(one.next() == other.next());
      std::vector<Forest::Prediction> all(2 * observations);
      forest.predict(rows, all);
      for (std::size_t i = 0; i < all.size(); ++i) {
        const Forest::Prediction p = plain.predict(&rows[i * features.count()]);
        REQUIRE(all[i].mean == p.mean);
        REQUIRE(all[i].deviation == p.deviation);
      }
    }
  }
}

TEST_CASE("a forest that is fitted again forgets what it was told before") {
  const test::GridSpace space(3, 4);
  const Features features(space);
  std::vector<float> rows(2 * features.count());
  features.of(std::vector<Level>{3, 3, 3}, std::span(rows).last(features.count()));
  Forest forest(features, {});
  Rng rng(1, "forest");
  forest.fit(rows, std::vector<float>{1, 2}, rng);
  forest.fit(std::span(rows).first(features.count()), std::vector<float>{7}, rng);
  std::vector<Forest::Prediction> all(2);
  forest.predict(rows, all);
  for (const Forest::Prediction& p : all) {
    CHECK(p.mean == 7);
    CHECK(p.deviation == 0);
  }
}

TEST_SUITE_END();
