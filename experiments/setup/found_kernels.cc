#include "experiments/setup/found_kernels.h"

#include <algorithm>
#include <charconv>
#include <nlohmann/json.hpp>
#include <optional>

#include "engine/base/error.h"
#include "engine/json/json_reader.h"
#include "engine/plugin/versions.h"
#include "engine/spec/spec_load.h"

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

/// A run of one size: its best kernel for the sizes that its text has fixed, else the spec's own.
json one_size(const json& summary, const KernelSpec& spec) {
  const json contract = summary.value("contract", json());
  json kernels = json::array(), sizes = json::array();
  if (contract.is_object()) {
    json when = json::object();
    for (const auto& [name, values] : contract.at("sizes").items()) {
      if (const auto value = integer(values.at(0).get<std::string>())) when[name] = *value;
    }
    kernels.push_back({{"when", when}, {"file", "best_kernel.cu"}, {"is_spec_kernel", false}});
    for (const auto& [name, values] : contract.at("verified").items()) {
      const auto workload = std::ranges::find(spec.workloads, name, &Workload::name);
      if (workload == spec.workloads.end()) continue;
      const bool scored =
          workload->role == WorkloadRole::score && summary.at("speedup").is_number();
      sizes.push_back({{"workload", name},
                       {"values", sizes_of(spec, *workload)},
                       {"kernel", 0},
                       {"time_ms", scored ? summary.at("best_ms") : json()},
                       {"speedup", scored ? summary.at("speedup") : json()}});
    }
  }
  kernels.push_back({{"when", json::object()}, {"file", ""}, {"is_spec_kernel", true}});
  return {{"kernels", kernels}, {"sizes", sizes}};
}

void add_run(const fs::path& run, std::vector<FoundKernel>& out) {
  const json summary = read_json_file((run / "best_summary.json").string());
  const std::string spec_file = (run / "input_spec.json").string();
  const KernelSpec spec = spec_from_json(read_json_file(spec_file), spec_file);
  if (!summary.at("baseline_ok").get<bool>()) return;
  std::error_code absent;
  const json served = fs::exists(run / "portfolio.json", absent)
                          ? read_json_file((run / "portfolio.json").string())
                          : one_size(summary, spec);
  const std::size_t first = out.size();
  for (const json& kernel : served.at("kernels")) {
    FoundKernel& one = out.emplace_back();
    one.run = run;
    one.kernel = spec.name;
    one.identity = kernel_identity(spec);
    one.device = summary.at("device").get<std::string>();
    one.runner = summary.at("runner").get<std::string>();
    one.when = kernel.at("when").get<Bindings>();
    if (!kernel.at("is_spec_kernel").get<bool>()) one.file = kernel.at("file").get<std::string>();
  }
  for (const json& size : served.at("sizes")) {
    const auto values = size.at("values").get<Bindings>();
    FoundKernel& one = out.at(first + size.at("kernel").get<std::size_t>());
    one.sizes.push_back({size.at("workload").get<std::string>(), values,
                         size.at("time_ms").is_number() ? size.at("time_ms").get<double>() : 0,
                         size.at("speedup").is_number() ? size.at("speedup").get<double>() : 0});
    for (const auto& [name, value] : values) {
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
