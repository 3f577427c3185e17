#include "priors/tactics/gain_model.h"

#include <algorithm>
#include <bit>
#include <cmath>
#include <cstring>
#include <nlohmann/json.hpp>
#include <numbers>

#include "engine/base/base64.h"
#include "engine/base/error.h"
#include "engine/json/record_codec.h"
#include "priors/tactics/experience.h"

namespace warpath {
namespace {

static_assert(std::endian::native == std::endian::little, "model files hold little-endian floats");

std::size_t triangle(std::size_t n) {
  return n * (n + 1) / 2;
}

double logistic(double x) {
  return 1 / (1 + std::exp(-x));
}

}  // namespace

namespace gain_fields {

/// A triangle of floats, little-endian, in base64.
struct Triangle {
  static void read(const JsonCursor& cursor, std::vector<float>& out) {
    const auto bytes = base64_decode(cursor.text());
    if (!bytes || bytes->size() % sizeof(float) != 0)
      throw bad_input(cursor.place(), "", "floats in base64");
    out.resize(bytes->size() / sizeof(float));
    if (!out.empty()) std::memcpy(out.data(), bytes->data(), bytes->size());
    for (const float x : out) {
      if (!std::isfinite(x)) throw bad_input(cursor.place(), "", "finite numbers");
    }
  }
  [[nodiscard]] static nlohmann::json write(const std::vector<float>& values) {
    return base64_encode(std::as_bytes(std::span(values)));
  }
};

}  // namespace gain_fields

template <>
struct Description<GainModel::Parts>
    : Record<Always<"format", "warpath-gain-model">,
             AlwaysNumber<"version", 1>,
             Kept<"kernels", &GainModel::Parts::kernels>,
             Kept<"examples", &GainModel::Parts::examples>,
             Kept<"lambda", &GainModel::Parts::lambda, Positive>,
             Kept<"noise", &GainModel::Parts::noise, Positive>,
             Kept<"offset", &GainModel::Parts::offset>,
             Kept<"slope", &GainModel::Parts::slope>,
             Kept<"names", &GainModel::Parts::names>,
             Kept<"weights", &GainModel::Parts::weights>,
             Kept<"inverse", &GainModel::Parts::inverse, gain_fields::Triangle>> {};

double expected_improvement(double mean, double variance) {
  if (!(variance > 0)) return std::max(0.0, mean);
  const double deviation = std::sqrt(variance), z = mean / deviation;
  const double density = std::exp(-z * z / 2) / std::sqrt(2 * std::numbers::pi);
  return std::max(0.0, deviation * density + mean * std::erfc(-z / std::numbers::sqrt2) / 2);
}

GainModel::GainModel(Parts parts) : parts_(std::move(parts)) {
  WARPATH_CHECK(parts_.weights.size() == parts_.names.size() &&
                parts_.inverse.size() == triangle(parts_.names.size()));
  for (std::size_t i = 0; i < parts_.names.size(); ++i) index_.emplace(parts_.names[i], i);
}

GainPrediction GainModel::predict(const Features& features) const {
  std::map<std::size_t, double> x;  // in the order of the names, whatever that of the features is
  for (const auto& [name, value] : features) {
    if (const auto it = index_.find(name); it != index_.end()) x[it->second] += value;
  }
  GainPrediction out;
  double fit = 0;
  for (auto i = x.begin(); i != x.end(); ++i) {
    out.mean += parts_.weights[i->first] * i->second;
    const std::size_t row = triangle(i->first);
    for (auto j = x.begin(); j != i; ++j)
      fit += 2 * i->second * j->second * static_cast<double>(parts_.inverse[row + j->first]);
    fit += i->second * i->second * static_cast<double>(parts_.inverse[row + i->first]);
  }
  out.mean = std::clamp(out.mean, kLeastTaughtGain, kMostTaughtGain);
  out.variance = parts_.noise * (1 + std::max(0.0, fit));
  out.improves =
      logistic(parts_.offset + parts_.slope * (out.mean - kImproved) / std::sqrt(out.variance));
  out.expected = expected_improvement(out.mean, out.variance);
  return out;
}

std::string GainModel::text() const {
  return Codec<Parts>::write(parts_).dump(1) + "\n";
}

GainModel GainModel::parse(const std::string& text, const std::string& place) {
  const nlohmann::json document = parse_json(text, place);
  const JsonCursor c(document, place);
  Parts parts;
  Codec<Parts>::read(c, parts);
  if (parts.weights.size() != parts.names.size()) c.at("weights").fail("as many as names");
  for (std::size_t i = 1; i < parts.names.size(); ++i) {
    if (parts.names[i] <= parts.names[i - 1]) c.at("names").element(i).fail("ascending names");
  }
  if (parts.inverse.size() != triangle(parts.names.size()))
    throw bad_input(c.at("inverse").place(), "", "a triangle of as many rows as names in base64");
  return GainModel(std::move(parts));
}

}  // namespace warpath
