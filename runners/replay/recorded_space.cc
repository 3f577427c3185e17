#include "runners/replay/recorded_space.h"

#include <algorithm>
#include <cmath>
#include <string_view>

#include "engine/error.h"
#include "engine/statistics.h"

namespace warpath {
namespace {

constexpr std::uint64_t kDense = std::uint64_t{1} << 24U;

double relative_deviation(const std::vector<float>& samples) {
  Welford w;
  for (const float s : samples) w.add(static_cast<double>(s));
  return w.mean > 0 ? w.deviation() / w.mean : 0;
}

}  // namespace

RecordedSpace::RecordedSpace(std::string name, std::string device, std::vector<Axis> axes, std::vector<Row> rows, std::string_view place)
    : name_(std::move(name)), device_(std::move(device)), axes_(std::move(axes)), rows_(std::move(rows)), strides_(axes_.size()) {
  std::uint64_t product = 1;
  for (std::size_t i = axes_.size(); i-- > 0;) {
    strides_[i] = product;
    const std::uint64_t count = axes_[i].values.size();
    if (count == 0 || count > std::numeric_limits<Level>::max() || product > std::numeric_limits<std::uint64_t>::max() / count) {
      throw bad_input(place, axes_[i].name, "axes of 1 to 65535 values that number fewer than 2^64 points");
    }
    product *= count;
  }
  if (axes_.empty()) throw bad_input(place, "no parameter of two values or more", "at least one");
  if (rows_.empty()) throw bad_input(place, "no rows", "at least one");
  if (product <= kDense) dense_.assign(product, kNone);
  std::vector<double> deviations;
  for (std::uint32_t i = 0; i < rows_.size(); ++i) {
    const Row& row = rows_[i];
    std::uint32_t& slot = product <= kDense ? dense_[number(row.point)] : sparse_.try_emplace(number(row.point), kNone).first->second;
    if (slot != kNone) throw bad_input(place, "row " + std::to_string(i), "each point once");
    slot = i;
    if (row.status != Status::ok) continue;
    if (!(row.time_ns > 0) || !std::isfinite(row.time_ns)) throw bad_input(place, "row " + std::to_string(i), "a time above 0");
    if (best_ns_ == 0 || row.time_ns < best_ns_) best_ns_ = row.time_ns;
    if (row.samples_ns.size() > 1) deviations.push_back(relative_deviation(row.samples_ns));
  }
  if (!deviations.empty()) noise_ = median(deviations);
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
  std::ranges::copy(rows_[rng.below(rows_.size())].point, point.begin());
  return true;
}

}  // namespace warpath
