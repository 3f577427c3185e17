#include "experiments/setup/portfolio_file.h"

#include <algorithm>
#include <charconv>
#include <cmath>
#include <limits>
#include <optional>
#include <utility>
#include <vector>

#include "engine/log/run_folder.h"
#include "engine/plugin/runner.h"
#include "engine/plugin/versions.h"
#include "engine/run/portfolio.h"
#include "engine/run/record.h"
#include "experiments/setup/portfolio_record.h"
#include "experiments/setup/recorded_run.h"
#include "experiments/setup/served_sizes.h"
#include "moves/contract/contract_text.h"
#include "moves/contract/source_contract.h"

namespace warpath {
namespace {

namespace fs = std::filesystem;

/// Kernels for all sizes whose text is read to learn what they rely on: the fastest so many.
constexpr std::size_t kMostRead = 12;

/// A measured kernel of the run.
struct Measured {
  std::size_t node = 0;
  Variant kernel;  ///< without versions; `when`: what it was launched for
  std::vector<double> ratios;
};

/// The sizes that a kernel's text has fixed; nullopt if it cannot be read or fixes something else.
std::optional<Bindings> fixed_sizes(const SourceContract& contract) {
  Bindings out;
  if (!contract.unread.empty()) return std::nullopt;
  for (const SourceContract::Fixed& fixed : contract.sizes) {
    std::int64_t value = 0;
    const std::string& text = fixed.values.front();
    const auto read = std::from_chars(text.data(), text.data() + text.size(), value);
    if (fixed.values.size() != 1 || read.ec != std::errc{} || read.ptr != text.data() + text.size())
      return std::nullopt;
    out.emplace(fixed.argument, value);
  }
  return out;
}

/// What the run's nodes offer to a portfolio.
class Offers {
 public:
  explicit Offers(const RecordedRun& run) : run_(run) {
    for (const ServedSize& one : served_sizes(run, 0)) {
      double floor = kPortfolioFloor;
      const auto workload = std::ranges::find(run.spec().workloads, one.workload, &Workload::name);
      if (one.role == WorkloadRole::guard && workload != run.spec().workloads.end())
        floor = std::clamp(workload->min_speedup, kPortfolioFloor, 1.0);
      sizes.push_back({.values = one.values,
                       .role = one.role,
                       .weight = one.weight,
                       .floor = floor,
                       .baseline_ns = one.time_ns});
      names.push_back(one.workload);
    }
    for (std::size_t node = 1; node < run.nodes().size(); ++node) add(node);
    narrow();
    measured.insert(
        measured.begin(),
        {.node = 0, .kernel = run.variant(0), .ratios = std::vector<double>(sizes.size(), 1)});
  }

  std::vector<PortfolioSize> sizes;
  std::vector<std::string> names;  ///< of the workloads
  std::vector<Measured> measured;  ///< the spec's own kernel first

 private:
  void add(std::size_t node) {
    const Outcome* const outcome = counted_outcome(run_.nodes()[node]);
    if (outcome == nullptr || outcome->status != Status::ok) return;
    const std::vector<ServedSize> served = served_sizes(run_, node);
    const Variant variant = run_.variant(node);
    const std::vector<const Variant*> kernels = kernels_of(variant);
    for (std::size_t k = 0; k < kernels.size(); ++k) {
      // The general kernel of versions is an earlier variant, measured as such.
      if (kernels.size() > 1 && kernels[k]->when.empty()) continue;
      Measured one{.node = node, .kernel = *kernels[k], .ratios = {}};
      one.kernel.versions.clear();
      for (const ServedSize& size : served) {
        const bool here = size.version == k;
        const double timed = size.time_ns > 0 ? size.time_ns / size.baseline_ns
                                              : std::numeric_limits<double>::quiet_NaN();
        one.ratios.push_back(!here ? std::nan("") : size.role == WorkloadRole::regress ? 1 : timed);
      }
      measured.push_back(std::move(one));
    }
  }

  /// Kernels for all sizes hold for those that their text has fixed; the slower ones are dropped.
  void narrow() {
    const auto slowness = [&](const Measured& one) {
      double sum = 0;
      for (std::size_t w = 0; w < sizes.size(); ++w) {
        if (sizes[w].role == WorkloadRole::score) sum += sizes[w].weight * std::log(one.ratios[w]);
      }
      return std::isnan(sum) ? std::numeric_limits<double>::infinity() : sum;
    };
    std::vector<Measured> whole;
    for (Measured& one : measured) {
      if (one.kernel.when.empty()) whole.push_back(std::move(one));
    }
    std::erase_if(measured, [](const Measured& one) { return one.kernel.when.empty(); });
    std::ranges::stable_sort(whole, {}, slowness);
    whole.resize(std::min(whole.size(), kMostRead));
    for (Measured& one : whole) {
      auto fixed = fixed_sizes(source_contract(run_.spec(), run_.device(), one.kernel));
      if (!fixed) continue;
      one.kernel.when = *std::move(fixed);
      measured.push_back(std::move(one));
    }
  }

  const RecordedRun& run_;
};

std::string condition_code(const Bindings& when) {
  std::string out;
  for (const auto& [name, value] : when)
    out += (out.empty() ? "if " : " && ") + name + " == " + std::to_string(value);
  return out.empty() ? "else" : out;
}

std::vector<PortfolioRecord::Kernel> kernels_of(const RecordedRun& run,
                                                const Offers& offers,
                                                const Portfolio& portfolio) {
  std::vector<PortfolioRecord::Kernel> out;
  for (std::size_t k = 0; k < portfolio.kernels.size(); ++k) {
    const Measured& one = offers.measured[portfolio.kernels[k]];
    const std::string file = version_file("portfolio/kernel", k);
    out.push_back({.key = run.nodes()[one.node].key,
                   .move = run.nodes()[one.node].move,
                   .when = one.kernel.when,
                   .decision = condition_code(one.kernel.when) + " -> " + file,
                   .file = file,
                   .is_spec_kernel = one.node == 0,
                   .contract = source_contract(run.spec(), run.device(), one.kernel)});
  }
  return out;
}

std::vector<PortfolioRecord::Size> sizes_of(const Offers& offers, const Portfolio& portfolio) {
  std::vector<PortfolioRecord::Size> out;
  for (std::size_t w = 0; w < offers.sizes.size(); ++w) {
    const PortfolioSize& size = offers.sizes[w];
    const double ratio = offers.measured[portfolio.kernels[portfolio.serving[w]]].ratios[w];
    PortfolioRecord::Size& one = out.emplace_back();
    one.workload = offers.names[w];
    one.role = size.role;
    one.weight = size.weight;
    one.values = size.values;
    one.kernel = portfolio.serving[w];
    if (size.role == WorkloadRole::regress) continue;
    one.baseline_ms = size.baseline_ns * 1e-6;
    one.time_ms = size.baseline_ns * ratio * 1e-6;
    one.speedup = 1 / ratio;
    one.best_speedup = 1 / portfolio.best_ratios[w];
    one.loss = 1 - portfolio.best_ratios[w] / ratio;
  }
  return out;
}

}  // namespace

void ship_portfolio(const fs::path& folder, const KernelSpec& spec, const DeviceFacts& device) {
  const fs::path kernels = folder / "portfolio";
  std::error_code ignored;
  fs::remove(folder / "portfolio.json", ignored);
  fs::remove_all(kernels, ignored);
  const std::vector<ServedSize> sizes =
      served_sizes(spec, device, baseline_variant(spec), nullptr, nullptr);
  const bool several = std::ranges::any_of(
      sizes, [&](const ServedSize& one) { return one.values != sizes.front().values; });
  if (!several) return;
  const RecordedRun run(folder);
  const Outcome* const baseline = counted_outcome(run.nodes()[0]);
  if (baseline == nullptr || baseline->status != Status::ok) return;
  const Offers offers(run);
  std::vector<PortfolioKernel> candidates;
  for (const Measured& one : offers.measured)
    candidates.push_back({.when = one.kernel.when, .ratios = one.ratios});
  const Portfolio portfolio = choose_portfolio(offers.sizes, candidates, run.spec().objective);
  for (std::size_t k = 0; k < portfolio.kernels.size(); ++k) {
    const Variant& kernel = offers.measured[portfolio.kernels[k]].kernel;
    fs::create_directories(kernels, ignored);
    write_file_atomically(
        folder / version_file("portfolio/kernel", k),
        shipped_source(run.spec(), kernel, source_contract(run.spec(), run.device(), kernel)));
  }
  write_portfolio(folder, {.name = run.run().name,
                           .runner = run.run().runner,
                           .device = run.device().name,
                           .floor = kPortfolioFloor,
                           .speedup = 1 / portfolio.ratio,
                           .kernels = kernels_of(run, offers, portfolio),
                           .sizes = sizes_of(offers, portfolio)});
}

}  // namespace warpath
