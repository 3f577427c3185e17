#include "runners/replay/recorded_space.h"

#include <algorithm>
#include <string_view>

#include "engine/base/error.h"
#include "engine/search/strategy.h"
#include "runners/replay/point_space.h"

namespace warpath {
namespace {

constexpr std::uint64_t kDense = std::uint64_t{1} << 24U;

}  // namespace

RecordedSpace::RecordedSpace(std::string name,
                             std::string device,
                             std::vector<Axis> axes,
                             std::vector<Row> rows,
                             std::string_view place)
    : Recording(std::move(name), std::move(device), std::move(rows), place),
      axes_(std::move(axes)),
      strides_(axes_.size()) {
  std::uint64_t product = 1;
  for (std::size_t i = axes_.size(); i-- > 0;) {
    strides_[i] = product;
    const std::uint64_t count = axes_[i].values.size();
    if (count == 0 || count > std::numeric_limits<Level>::max() ||
        product > std::numeric_limits<std::uint64_t>::max() / count) {
      throw bad_input(place, axes_[i].name,
                      "axes of 1 to 65535 values that number fewer than 2^64 points");
    }
    product *= count;
  }
  if (axes_.empty()) throw bad_input(place, "no parameter of two values or more", "at least one");
  if (product <= kDense) dense_.assign(product, kNone);
  for (std::uint32_t i = 0; i < Recording::rows().size(); ++i) {
    const std::uint64_t n = number(Recording::rows()[i].point);
    std::uint32_t& slot =
        product <= kDense ? dense_[n] : sparse_.try_emplace(n, kNone).first->second;
    if (slot != kNone) throw bad_input(place, "row " + std::to_string(i), "each point once");
    slot = i;
  }
}

std::uint64_t RecordedSpace::number(std::span<const Level> point) const {
  std::uint64_t out = 0;
  for (std::size_t i = 0; i < point.size(); ++i) out += strides_[i] * point[i];
  return out;
}

std::uint32_t RecordedSpace::find(std::span<const Level> point) const {
  const std::uint64_t n = number(point);
  if (!dense_.empty()) return dense_[n];
  const auto it = sparse_.find(n);
  return it == sparse_.end() ? kNone : it->second;
}

bool RecordedSpace::draw(Rng& rng, std::span<Level> point) const {
  std::ranges::copy(rows()[rng.below(rows().size())].point, point.begin());
  return true;
}

std::uint32_t RecordedSpace::first_row(const Options& options,
                                       std::uint64_t seed,
                                       std::uint64_t attempt) const {
  return find(first_point(options, *this, seed, attempt));
}

std::unique_ptr<Recording::Walk> RecordedSpace::walk(std::uint32_t first, const Steps&) const {
  return std::make_unique<PointSpace>(*this, rows()[first].point);
}

void RecordedSpace::neighbours(std::uint32_t row, std::vector<std::uint32_t>& out) const {
  std::vector<Level> point = rows()[row].point;
  for (std::size_t axis = 0; axis < point.size(); ++axis) {
    const Level own = point[axis];
    for (std::size_t level = 0; level < levels(axis); ++level) {
      point[axis] = static_cast<Level>(level);
      const std::uint32_t other = find(point);
      if (other != kNone && other != row) out.push_back(other);
    }
    point[axis] = own;
  }
}

}  // namespace warpath
