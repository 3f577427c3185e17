#include "priors/tactics/proposal_features.h"

#include <algorithm>
#include <cmath>

#include "priors/tactics/experience.h"

namespace warpath {
namespace {

const Diagnosis kNothing;

double log2_of(double x) {
  return std::log2(1 + std::abs(x));
}

/// "loop:2" is a loop, "argument:x" an argument.
std::string site_kind(const std::string& site) {
  return site.substr(0, site.find(':'));
}

DiagnosisView view_of(const Outcome* outcome) {
  if (outcome == nullptr) return {kNothing, 0};
  return {outcome->diagnosis ? *outcome->diagnosis : kNothing, measured_time_ns(*outcome)};
}

/// A fact and the way it becomes a feature. Facts that are often known, one each for what a move
/// can change.
struct Reading {
  const char* fact;
  double (*scaled)(double);
};
double as_share(double x) {
  return std::clamp(x, 0.0, 1.0);
}
double as_size(double x) {
  return std::min(log2_of(x) / 4, 4.0);
}
constexpr Reading kReadings[] = {
    {"occupancy_now", as_share},
    {"waves", as_size},
    {"registers_per_thread", [](double x) { return std::min(x / 128, 2.0); }},
    {"sector_excess", as_size},
    {"bank_conflicts", as_share},
    {"local_traffic", as_size},
    {"global_reuse", as_size},
    {"loop_loads_in_flight", as_size},
    {"ptx_tensor", [](double x) { return x > 0 ? 1.0 : 0.0; }},
    {"ptx_barrier", as_size},
    {"ptx_atomic", as_size},
};

}  // namespace

NodeFeatures::NodeFeatures(const ProposalContext& context)
    : evidence_(view_of(context.outcome)), from_(came_from(context)) {
  const DiagnosisView view = view_of(context.outcome);
  diagnosed_ = context.outcome != nullptr && context.outcome->diagnosis.has_value();
  const auto put = [&](std::string name, double value) {
    if (std::isfinite(value) && value != 0) node_.emplace_back(std::move(name), value);
  };
  if (evidence_.gaps().known) {
    put("compute_gap", evidence_.gaps().compute - 0.5);
    put("memory_gap", evidence_.gaps().memory - 0.5);
    put("latency", evidence_.gaps().latency - 0.5);
  }
  double bound = 0;
  for (const auto& [resource, fact] : view.diagnosis().time_bound_ns)
    bound = std::max(bound, fact.value);
  if (bound > 0 && view.time_ns() > bound)
    put("headroom", std::min(std::log(view.time_ns() / bound), 6.0) / 2);
  for (const Reading& reading : kReadings) {
    if (const auto fact = view.get(reading.fact)) put(reading.fact, reading.scaled(fact->value));
  }
  const double start_ns = context.baseline != nullptr ? measured_time_ns(*context.baseline) : 0;
  if (start_ns > 0 && view.time_ns() > 0)
    put("gained", std::clamp(std::log(start_ns / view.time_ns()), -2.0, 6.0) / 2);
  alone_.emplace_back("1", 1);
  alone_.emplace_back("class=" + std::string(kernel_class(context.at.spec, context.at.device)), 1);
  alone_.emplace_back("depth", std::min(static_cast<double>(context.path.size()), 8.0) / 4);
  if (context.outcome != nullptr && !context.outcome->timings.empty()) {
    const LaunchNumbers& launch = context.outcome->timings.front().launch;
    const auto threads = static_cast<double>(launch.block[0] * launch.block[1] * launch.block[2]);
    const auto blocks =
        static_cast<double>(launch.grid[0]) * static_cast<double>(launch.grid[1] * launch.grid[2]);
    threads_ = threads;
    put("threads", (log2_of(threads) - 8) / 2);
    put("blocks", (log2_of(blocks / std::max(1, context.at.device.multiprocessors)) - 3) / 4);
  }
  for (const MoveInstance* const step : context.path) {
    before_.push_back(step->move);
    restructured_ += MethodRegistry::built_in().structural(step->move) ? 1 : 0;
  }
}

/// Products of move and node say more than the two alone, but of few kernels: they are kept small.
constexpr double kProduct = 0.4;

Features NodeFeatures::of(const MoveInstance& instance) const {
  Features out = alone_;
  const std::string& move = instance.move;
  const bool structural = MethodRegistry::built_in().structural(move);
  const auto times =
      static_cast<double>(std::min<std::ptrdiff_t>(std::ranges::count(before_, move), 3));
  out.emplace_back("move=" + move, 1);
  out.emplace_back("site=" + move + "@" + site_kind(instance.site), kProduct);
  out.emplace_back("after=" + from_ + ">" + move, kProduct);
  if (times > 0) out.emplace_back("again", times);
  if (times > 0) out.emplace_back("again=" + move, times);
  if (structural) {
    out.emplace_back("structural", 1);
    if (times > 0) out.emplace_back("structural again", times);
    if (restructured_ > 0)
      out.emplace_back("structural after others", std::min(restructured_ - times, 3.0));
  }
  for (const auto& [name, value] : node_) {
    out.emplace_back(name, value);
    out.emplace_back(move + "*" + name, kProduct * value);
    if (structural) out.emplace_back("structural*" + name, value);
  }
  if (diagnosed_) {
    out.emplace_back("raised", evidence_.raised(move));
    out.emplace_back("lowered", evidence_.lowered(move));
    out.emplace_back("axis", evidence_.axis(move) - 1);
  }
  double block = 1;
  for (const auto& [name, value] : instance.parameters) {
    if (name == "text") continue;  // the name of a source that was written out
    const double size = log2_of(static_cast<double>(value)) / 4;
    if (name.starts_with("BLOCK") || name.starts_with("block")) {
      block *= static_cast<double>(std::max<std::int64_t>(value, 1));
      continue;
    }
    out.emplace_back(move + "." + name, size);
    out.emplace_back(move + "." + name + "^2", size * size);
  }
  if (block > 1 && threads_ > 0) {
    const double change = std::log2(block / threads_) / 4, size = (std::log2(block) - 8) / 4;
    for (const auto& [name, value] : {std::pair{"block", size},
                                      {"block^2", size * size},
                                      {"larger", change},
                                      {"change", std::abs(change)}}) {
      out.emplace_back(move + "." + name, value);
    }
  }
  return out;
}

}  // namespace warpath
