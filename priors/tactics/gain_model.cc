#include "priors/tactics/gain_model.h"

#include <algorithm>
#include <bit>
#include <cmath>
#include <cstring>
#include <nlohmann/json.hpp>
#include <numbers>

#include "engine/base/base64.h"
#include "engine/base/error.h"
#include "engine/json/json_reader.h"
#include "engine/json/json_record.h"
#include "priors/tactics/experience.h"

namespace warpath {
namespace {

using nlohmann::json;

static_assert(std::endian::native == std::endian::little, "model files hold little-endian floats");

std::size_t triangle(std::size_t n) {
  return n * (n + 1) / 2;
}

double logistic(double x) {
  return 1 / (1 + std::exp(-x));
}

std::vector<std::string> texts(const JsonCursor& c) {
  c.require_array();
  std::vector<std::string> out;
  for (std::size_t i = 0; i < c.size(); ++i) out.push_back(c.element(i).text());
  return out;
}

double positive(const JsonCursor& c) {
  const double x = c.number();
  if (!(x > 0)) c.fail("above 0");
  return x;
}

}  // namespace

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
  const json out{{"format", "warpath-gain-model"},
                 {"version", 1},
                 {"kernels", parts_.kernels},
                 {"examples", parts_.examples},
                 {"lambda", parts_.lambda},
                 {"noise", parts_.noise},
                 {"offset", parts_.offset},
                 {"slope", parts_.slope},
                 {"names", parts_.names},
                 {"weights", parts_.weights},
                 {"inverse", base64_encode(std::as_bytes(std::span(parts_.inverse)))}};
  return out.dump(1) + "\n";
}

GainModel GainModel::parse(const std::string& text, const std::string& place) {
  const json document = parse_json(text, place);
  const JsonCursor c(document, place);
  require_only(c, {"format", "version", "kernels", "examples", "lambda", "noise", "offset", "slope",
                   "names", "weights", "inverse"});
  if (c.at("format").text() != "warpath-gain-model") c.at("format").fail("warpath-gain-model");
  if (c.at("version").unsigned_integer() != 1) c.at("version").fail("1");
  Parts parts{.names = texts(c.at("names")),
              .weights = {},
              .inverse = {},
              .noise = positive(c.at("noise")),
              .offset = c.at("offset").number(),
              .slope = c.at("slope").number(),
              .lambda = positive(c.at("lambda")),
              .kernels = texts(c.at("kernels")),
              .examples = c.at("examples").unsigned_integer()};
  const JsonCursor weights = c.at("weights");
  weights.require_array();
  for (std::size_t i = 0; i < weights.size(); ++i)
    parts.weights.push_back(weights.element(i).number());
  if (parts.weights.size() != parts.names.size()) weights.fail("as many as names");
  for (std::size_t i = 1; i < parts.names.size(); ++i) {
    if (parts.names[i] <= parts.names[i - 1]) c.at("names").element(i).fail("ascending names");
  }
  const auto bytes = base64_decode(c.at("inverse").text());
  parts.inverse.resize(triangle(parts.names.size()));
  if (!bytes || bytes->size() != parts.inverse.size() * sizeof(float))
    throw bad_input(c.at("inverse").place(), "", "a triangle of as many rows as names in base64");
  if (!parts.inverse.empty()) std::memcpy(parts.inverse.data(), bytes->data(), bytes->size());
  for (const float x : parts.inverse) {
    if (!std::isfinite(x)) throw bad_input(c.at("inverse").place(), "", "finite numbers");
  }
  return GainModel(std::move(parts));
}

}  // namespace warpath
