#include "priors/tactics/gain_training.h"

#include <Eigen/Cholesky>
#include <Eigen/Core>
#include <algorithm>
#include <cmath>
#include <map>
#include <set>

#include "engine/base/error.h"
#include "engine/base/statistics.h"
#include "priors/tactics/experience.h"

namespace warpath {
namespace {

using Matrix = Eigen::MatrixXd;
using Vector = Eigen::VectorXd;
using Row = std::vector<std::pair<Eigen::Index, double>>;

constexpr double kMostTrials = 40;  // that a move of a kernel counts as
constexpr double kLambdas[] = {1, 3, 10, 30, 100, 300};
constexpr double kUsualLambda = 10;
constexpr double kTrialsOfKernel = 400;  // in the calibration
constexpr std::size_t kFewestOfNode = 5;

double log_loss(double chance, bool improved) {
  const double p = std::clamp(chance, 1e-6, 1 - 1e-6);
  return -std::log(improved ? p : 1 - p);
}

/// The examples of one kernel as numbers.
struct Kernel {
  std::string name;
  std::vector<Row> rows;
  std::vector<double> gains;
  std::vector<bool> improved;
  std::vector<double> weights;  // in the fit
  double share = 1;             // of an example among those of all kernels, which count alike
  Matrix squares;               // X'WX, lower triangle
  Vector products;              // X'Wy
};

struct Problem {
  std::vector<std::string> names;
  std::vector<Kernel> kernels;
};

void accumulate(Kernel& kernel, Eigen::Index dimensions) {
  kernel.share = 1 / static_cast<double>(kernel.rows.size());
  kernel.squares = Matrix::Zero(dimensions, dimensions);
  kernel.products = Vector::Zero(dimensions);
  for (std::size_t r = 0; r < kernel.rows.size(); ++r) {
    for (const auto& [i, x] : kernel.rows[r]) {
      kernel.products(i) += kernel.weights[r] * x * kernel.gains[r];
      for (const auto& [j, y] : kernel.rows[r]) {
        if (j > i) break;
        kernel.squares(i, j) += kernel.weights[r] * x * y;
      }
    }
  }
}

Problem numbered(std::span<const GainExample> examples) {
  std::set<std::string> names, kernels;
  for (const GainExample& e : examples) {
    kernels.insert(e.kernel);
    for (const auto& [name, value] : e.features) names.insert(name);
  }
  Problem out;
  out.names.assign(names.begin(), names.end());
  std::map<std::string, Eigen::Index, std::less<>> index;
  for (const std::string& name : out.names)
    index.emplace(name, static_cast<Eigen::Index>(index.size()));
  std::map<std::string, std::size_t> place;
  for (const std::string& kernel : kernels) {
    place.emplace(kernel, out.kernels.size());
    out.kernels.emplace_back().name = kernel;
  }
  std::map<std::pair<std::string, std::string>, double> trials;
  for (const GainExample& e : examples) trials[{e.kernel, e.move}] += 1;
  for (const GainExample& e : examples) {
    Kernel& kernel = out.kernels[place.at(e.kernel)];
    std::map<Eigen::Index, double> row;
    for (const auto& [name, value] : e.features) row[index.at(name)] += value;
    kernel.rows.emplace_back(row.begin(), row.end());
    kernel.weights.push_back(std::min(1.0, kMostTrials / trials.at({e.kernel, e.move})));
    kernel.gains.push_back(e.gain);
    kernel.improved.push_back(e.improved);
  }
  for (Kernel& kernel : out.kernels)
    accumulate(kernel, static_cast<Eigen::Index>(out.names.size()));
  return out;
}

double fitted(const Row& row, const Vector& weights) {
  double sum = 0;
  for (const auto& [i, x] : row) sum += weights(i) * x;
  return std::clamp(sum, kLeastTaughtGain, kMostTaughtGain);
}

/// x'Ax of a sparse x; A's lower triangle.
double quadratic(const Row& row, const Matrix& a) {
  double sum = 0;
  for (const auto& [i, x] : row) {
    for (const auto& [j, y] : row) {
      if (j < i) sum += 2 * x * y * a(i, j);
      if (j == i) sum += x * x * a(i, i);
    }
  }
  return std::max(0.0, sum);
}

struct Solution {
  Vector weights;
  Matrix inverse;
};

Solution solve(const Matrix& squares, const Vector& products, double lambda, bool with_inverse) {
  Matrix a = squares;
  a.diagonal().array() += lambda;
  const Eigen::LLT<Matrix, Eigen::Lower> factors(a);
  Solution out{factors.solve(products), {}};
  if (with_inverse) out.inverse = factors.solve(Matrix::Identity(a.rows(), a.cols()));
  return out;
}

/// A kernel's predictions by the others.
struct HeldOut {
  double z = 0;  // (mean - kImproved) / sqrt(1 + fit), still to be divided by the noise
  double weight = 1;
  bool improved = false;
};

/// Logistic regression of one number, by Newton's method; the slope is drawn to the normal's 1.7
/// with the weight of a few trials.
void calibrate(const std::vector<HeldOut>& held, double noise, double& offset, double& slope) {
  constexpr double kPull = 4, kUsualSlope = 1.7;
  offset = 0;
  slope = kUsualSlope;
  for (int step = 0; step < 30; ++step) {
    double g0 = 0, g1 = kPull * (kUsualSlope - slope), h00 = 1e-6, h01 = 0, h11 = kPull;
    for (const HeldOut& h : held) {
      const double z = h.z / std::sqrt(noise), p = 1 / (1 + std::exp(-(offset + slope * z))),
                   w = h.weight * p * (1 - p);
      g0 += h.weight * ((h.improved ? 1.0 : 0.0) - p);
      g1 += h.weight * ((h.improved ? 1.0 : 0.0) - p) * z;
      h00 += w;
      h01 += w * z;
      h11 += w * z * z;
    }
    const double determinant = h00 * h11 - h01 * h01;
    if (!(determinant > 1e-12)) return;
    offset += std::clamp((h11 * g0 - h01 * g1) / determinant, -1.0, 1.0);
    slope += std::clamp((h00 * g1 - h01 * g0) / determinant, -1.0, 1.0);
  }
}

struct Sums {
  Matrix squares;
  Vector products;
};

Sums sums_of(const Problem& problem) {
  const auto n = static_cast<Eigen::Index>(problem.names.size());
  Sums out{Matrix::Zero(n, n), Vector::Zero(n)};
  for (const Kernel& kernel : problem.kernels) {
    out.squares += kernel.squares;
    out.products += kernel.products;
  }
  return out;
}

/// Mean over kernels of the squared error of predicting each by the others.
double error_of(const Problem& problem, const Sums& all, double lambda) {
  double sum = 0;
  for (const Kernel& kernel : problem.kernels) {
    const Solution s =
        solve(all.squares - kernel.squares, all.products - kernel.products, lambda, false);
    double error = 0, weight = 0;
    for (std::size_t r = 0; r < kernel.rows.size(); ++r) {
      error += kernel.weights[r] * std::pow(kernel.gains[r] - fitted(kernel.rows[r], s.weights), 2);
      weight += kernel.weights[r];
    }
    sum += error / weight;
  }
  return sum / static_cast<double>(problem.kernels.size());
}

void learn_noise(const Problem& problem, const Sums& all, GainModel::Parts& parts) {
  std::vector<HeldOut> held;
  double noise = 0, weight = 0;
  for (const Kernel& kernel : problem.kernels) {
    const Solution s =
        solve(all.squares - kernel.squares, all.products - kernel.products, parts.lambda, true);
    for (std::size_t r = 0; r < kernel.rows.size(); ++r) {
      const double fit = fitted(kernel.rows[r], s.weights),
                   spread = 1 + quadratic(kernel.rows[r], s.inverse);
      noise += kernel.share * std::pow(kernel.gains[r] - fit, 2) / spread;
      weight += kernel.share;
      held.push_back({(fit - kImproved) / std::sqrt(spread), kTrialsOfKernel * kernel.share,
                      kernel.improved[r]});
    }
  }
  parts.noise = std::max(1e-6, noise / weight);
  calibrate(held, parts.noise, parts.offset, parts.slope);
}

std::vector<GainExample> without(std::span<const GainExample> examples,
                                 const std::string& kernel,
                                 bool only) {
  std::vector<GainExample> out;
  std::ranges::copy_if(examples, std::back_inserter(out),
                       [&](const GainExample& e) { return (e.kernel == kernel) == only; });
  return out;
}

}  // namespace

double taught_gain(bool ok, double log_gain) {
  return ok ? std::clamp(log_gain, kLeastTaughtGain, kMostTaughtGain) : kFailedGain;
}

GainModel fit_gain_model(std::span<const GainExample> examples) {
  if (examples.empty())
    throw bad_input("training", "nothing that was tried",
                    "runs or graphs with at least one outcome");
  const Problem problem = numbered(examples);
  const Sums all = sums_of(problem);
  GainModel::Parts parts;
  parts.lambda = kUsualLambda;
  parts.noise = 0.1;
  if (problem.kernels.size() > 1) {
    double least = INFINITY;
    for (const double lambda : kLambdas) {
      const double error = error_of(problem, all, lambda);
      if (error < least) {
        least = error;
        parts.lambda = lambda;
      }
    }
    learn_noise(problem, all, parts);
  }
  const Solution s = solve(all.squares, all.products, parts.lambda, true);
  parts.names = problem.names;
  parts.weights.assign(s.weights.begin(), s.weights.end());
  for (Eigen::Index i = 0; i < s.inverse.rows(); ++i) {
    for (Eigen::Index j = 0; j <= i; ++j)
      parts.inverse.push_back(static_cast<float>(s.inverse(i, j)));
  }
  for (const Kernel& kernel : problem.kernels) parts.kernels.push_back(kernel.name);
  parts.examples = examples.size();
  return GainModel(std::move(parts));
}

GainValidation validate(const GainModel& model,
                        double usual_chance,
                        std::span<const GainExample> examples) {
  GainValidation out{.kernel = examples.empty() ? "" : examples.front().kernel,
                     .examples = examples.size()};
  std::vector<double> predicted, taught;
  struct NodeTrials {
    std::vector<double> predicted, taught;
    double expected = 0, weighed = 0, improvement = 0;
  };
  std::map<std::uint64_t, NodeTrials> nodes;
  for (const GainExample& e : examples) {
    const GainPrediction p = model.predict(e.features);
    predicted.push_back(p.mean);
    taught.push_back(e.gain);
    NodeTrials& node = nodes[e.node];
    node.predicted.push_back(p.mean);
    node.taught.push_back(e.gain);
    node.expected += p.expected;
    node.weighed += p.expected * std::max(0.0, e.gain);
    node.improvement += std::max(0.0, e.gain);
    out.improved += e.improved ? 1 : 0;
    out.log_loss += log_loss(p.improves, e.improved);
    out.uniform_log_loss += log_loss(usual_chance, e.improved);
    out.deviation += std::pow(p.mean - e.gain, 2);
    out.covered += std::abs(p.mean - e.gain) <= 2 * std::sqrt(p.variance) ? 1 : 0;
  }
  const double n = std::max(1.0, static_cast<double>(examples.size()));
  for (double* const sum :
       {&out.improved, &out.log_loss, &out.uniform_log_loss, &out.deviation, &out.covered})
    *sum /= n;
  out.deviation = std::sqrt(out.deviation);
  out.rank_correlation = rank_correlation(predicted, taught);
  std::vector<double> correlations;
  double drawn = 0, evenly = 0;
  for (const auto& entry : nodes) {
    const NodeTrials& node = entry.second;
    if (node.taught.size() < kFewestOfNode) continue;
    const bool varied =
        std::ranges::any_of(node.taught, [&](double x) { return x != node.taught.front(); });
    if (varied) correlations.push_back(rank_correlation(node.predicted, node.taught));
    evenly += node.improvement / static_cast<double>(node.taught.size());
    drawn += node.expected > 0 ? node.weighed / node.expected
                               : node.improvement / static_cast<double>(node.taught.size());
  }
  out.lift = evenly > 0 ? drawn / evenly : 1;
  out.node_correlation = correlations.empty() ? 0 : mean(correlations);
  return out;
}

std::vector<GainValidation> leave_one_kernel_out(
    std::span<const GainExample> examples,
    const std::function<void(const std::string&, const GainModel&)>& made) {
  std::set<std::string> kernels;
  for (const GainExample& e : examples) kernels.insert(e.kernel);
  if (kernels.size() < 2)
    throw bad_input("training", kernels.empty() ? "nothing" : *kernels.begin() + " alone",
                    "runs or graphs of at least two kernels");
  std::vector<GainValidation> out;
  for (const std::string& kernel : kernels) {
    const std::vector<GainExample> others = without(examples, kernel, false);
    const GainModel model = fit_gain_model(others);
    made(kernel, model);
    // Kernels count alike, as they do in the fit.
    std::map<std::string, std::pair<double, double>> share;
    for (const GainExample& e : others) {
      share[e.kernel].first += e.improved ? 1 : 0;
      share[e.kernel].second += 1;
    }
    double usual = 0;
    for (const auto& [name, s] : share)
      usual += s.first / s.second / static_cast<double>(share.size());
    out.push_back(validate(model, usual, without(examples, kernel, true)));
  }
  return out;
}

}  // namespace warpath
