#include "experiments/setup/found_kernels.h"

#include <algorithm>
#include <charconv>
#include <nlohmann/json.hpp>
#include <optional>

#include "engine/base/error.h"
#include "engine/json/json_reader.h"
#include "engine/plugin/versions.h"
#include "engine/spec/spec_load.h"
#include "experiments/setup/best_summary.h"
#include "experiments/setup/portfolio_record.h"

namespace warpath {
namespace {

namespace fs = std::filesystem;
using nlohmann::json;

std::optional<std::int64_t> integer(const std::string& text) {
  std::int64_t value = 0;
  const auto read = std::from_chars(text.data(), text.data() + text.size(), value);
  if (read.ec != std::errc{} || read.ptr != text.data() + text.size()) return std::nullopt;
  return value;
}

/// Of a run without a portfolio: its best kernel for the sizes that its text has fixed, else the
/// spec's own.
PortfolioRecord one_size(const BestSummary& summary, const KernelSpec& spec) {
  PortfolioRecord out;
  if (summary.contract) {
    PortfolioRecord::Kernel& best = out.kernels.emplace_back();
    best.file = "best_kernel.cu";
    for (const SourceContract::Fixed& fixed : summary.contract->sizes) {
      if (const auto value = integer(fixed.values.at(0))) best.when[fixed.argument] = *value;
    }
    for (const auto& [name, values] : summary.contract->verified) {
      const auto workload = std::ranges::find(spec.workloads, name, &Workload::name);
      if (workload == spec.workloads.end()) continue;
      PortfolioRecord::Size& size = out.sizes.emplace_back();
      size.workload = name;
      size.values = sizes_of(spec, *workload);
      if (workload->role != WorkloadRole::score || !summary.measured) continue;
      size.time_ms = summary.best_ms;
      size.speedup = summary.speedup;
    }
  }
  out.kernels.emplace_back().is_spec_kernel = true;
  return out;
}

void add_run(const fs::path& run, std::vector<FoundKernel>& out) {
  const BestSummary summary = read_best_summary(run).value();
  const std::string spec_file = (run / "input_spec.json").string();
  const KernelSpec spec = spec_from_json(read_json_file(spec_file), spec_file);
  if (!summary.baseline_ok) return;
  const auto portfolio = read_portfolio(run);
  const PortfolioRecord served = portfolio ? *portfolio : one_size(summary, spec);
  const std::size_t first = out.size();
  for (const PortfolioRecord::Kernel& kernel : served.kernels) {
    FoundKernel& one = out.emplace_back();
    one.run = run;
    one.kernel = spec.name;
    one.identity = kernel_identity(spec);
    one.device = summary.device;
    one.runner = summary.runner;
    one.when = kernel.when;
    if (!kernel.is_spec_kernel) one.file = kernel.file;
  }
  for (const PortfolioRecord::Size& size : served.sizes) {
    FoundKernel& one = out.at(first + size.kernel);
    one.sizes.push_back(
        {size.workload, size.values, size.time_ms.value_or(0), size.speedup.value_or(0)});
    for (const auto& [name, value] : size.values) {
      auto& [low, high] = one.verified.try_emplace(name, value, value).first->second;
      low = std::min(low, value);
      high = std::max(high, value);
    }
  }
}

}  // namespace

Hash128 kernel_identity(const KernelSpec& spec) {
  json text = to_json(spec);
  for (const char* const key : {"name", "description", "objective", "guessed", "device_profile"})
    text.erase(key);
  json& kernel = text.at("kernel");
  for (const char* const key : {"workloads", "source_file"}) kernel.erase(key);
  // A workload says which value an argument has.
  for (json& arg : kernel.at("io").at("args")) {
    if (!arg.contains("tensor_spec")) arg.erase("value");
  }
  Hasher hasher;
  hasher.add("kernel").add(text.dump());
  return hasher.digest();
}

Serves serves(const FoundKernel& kernel, const Bindings& sizes) {
  for (const auto& [name, value] : kernel.when) {
    const auto it = sizes.find(name);
    if (it == sizes.end() || it->second != value) return Serves::no;
  }
  for (const FoundKernel::Size& size : kernel.sizes) {
    const bool same = std::ranges::all_of(sizes, [&](const auto& wanted) {
      const auto it = size.values.find(wanted.first);
      return it != size.values.end() && it->second == wanted.second;
    });
    if (same) return Serves::measured;
  }
  if (kernel.file.empty()) return Serves::own;
  const bool within = std::ranges::all_of(sizes, [&](const auto& wanted) {
    const auto it = kernel.verified.find(wanted.first);
    return it != kernel.verified.end() && it->second.first <= wanted.second &&
           wanted.second <= it->second.second;
  });
  return within ? Serves::within : Serves::outside;
}

std::vector<FoundKernel> found_kernels(const fs::path& folder, std::vector<std::string>& notes) {
  if (!fs::is_directory(folder)) throw bad_input(folder.string(), "", "a folder of runs");
  std::vector<fs::path> runs;
  for (const auto& entry :
       fs::recursive_directory_iterator(folder, fs::directory_options::skip_permission_denied)) {
    if (entry.path().filename() == "best_summary.json" && entry.is_regular_file())
      runs.push_back(entry.path().parent_path());
  }
  std::ranges::sort(runs);
  std::vector<FoundKernel> out;
  for (const fs::path& run : runs) {
    const std::size_t before = out.size();
    try {
      add_run(run, out);
    } catch (const std::exception& problem) {  // another version's, or cut off
      out.resize(before);
      notes.push_back(run.string() + ": passed over: " + problem.what());
    }
  }
  return out;
}

}  // namespace warpath
