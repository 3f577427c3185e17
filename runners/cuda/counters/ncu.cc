#include "runners/cuda/counters/ncu.h"

#include <algorithm>
#include <chrono>
#include <cstdlib>
#include <set>

#include "engine/base/error.h"
#include "runners/cuda/counters/cupti_places.h"
#include "runners/cuda/counters/ncu_fields.h"
#include "runners/worker/process.h"

namespace warpath::cuda {
namespace {

constexpr std::string_view kKernelColumn = "Kernel Name";
constexpr std::size_t kMostOutputBytes = std::size_t{16} << 20U;

using Row = std::vector<std::string>;

/// The last line that says what went wrong, else the last line with text.
std::string complaint(std::string_view output) {
  std::string last, error;
  while (!output.empty()) {
    const std::size_t end = std::min(output.find('\n'), output.size());
    const std::string_view line = output.substr(0, end);
    if (line.find_first_not_of(" \t\r") != std::string_view::npos) last = line;
    if (line.starts_with("==ERROR==")) error = line;
    output.remove_prefix(std::min(end + 1, output.size()));
  }
  return error.empty() ? last : error;
}

/// What a profiled program may see of this one's environment.
std::vector<std::string> environment() {
  std::vector<std::string> kept;
  for (const char* name : {"PATH", "HOME", "TMPDIR", "LD_LIBRARY_PATH", "CUDA_VISIBLE_DEVICES",
                           "CUDA_PATH", "CUDA_HOME"}) {
    if (const char* value = std::getenv(name); value != nullptr)
      kept.push_back(std::string(name) + "=" + value);
  }
  return kept;
}

}  // namespace

std::vector<NcuLaunch> parse_ncu_csv(std::string_view text, const std::string& place) {
  Row header, units;
  std::size_t kernel_column = 0;
  std::vector<NcuLaunch> launches;
  for (std::size_t number = 1; !text.empty(); ++number) {
    const std::size_t end = std::min(text.find('\n'), text.size());
    const std::string_view line = text.substr(0, end);
    text.remove_prefix(std::min(end + 1, text.size()));
    if (line.empty() || line.starts_with("==")) continue;
    Row fields = split_ncu_fields(line);
    if (header.empty()) {
      const auto found = std::ranges::find(fields, kKernelColumn);
      if (fields.front() != "ID" || found == fields.end()) continue;
      kernel_column = static_cast<std::size_t>(found - fields.begin());
      header = std::move(fields);
      continue;
    }
    if (fields.size() != header.size()) {
      throw bad_input(place + ":" + std::to_string(number),
                      std::to_string(fields.size()) + " fields",
                      std::to_string(header.size()) + " fields, as in the header");
    }
    if (units.empty()) {
      units = std::move(fields);
      continue;
    }
    NcuLaunch launch{.kernel = fields[kernel_column], .counters = {}};
    for (std::size_t i = 0; i < fields.size(); ++i) {
      if (header[i].find("__") == std::string::npos)
        continue;  // a column of another kind ("Block Size")
      if (const auto value = ncu_number(fields[i]))
        launch.counters[header[i]] = *value * ncu_unit_scale(units[i]);
    }
    launches.push_back(std::move(launch));
  }
  if (header.empty())
    throw bad_input(
        place, "", "a header that begins with ID and names \"Kernel Name\" (ncu --csv --page raw)");
  if (launches.empty()) throw bad_input(place, "", "a line for at least one launch");
  return launches;
}

Readings metric_values(const NcuLaunch& launch, std::span<const Metric> wanted) {
  const auto resolved = resolve_metrics(
      wanted, [&](std::string_view name) { return launch.counters.contains(name); });
  return metric_values(resolved, launch.counters);
}

std::vector<std::string> ncu_arguments(const std::string& kernel, std::span<const Metric> wanted) {
  std::set<std::string_view> names;
  for (const Metric& metric : wanted) {
    for (const MetricSource& source : metric.sources)
      names.insert({source.numerator, source.denominator, source.less});
  }
  names.erase("");
  std::string list;
  for (const std::string_view name : names) list += (list.empty() ? "" : ",") + std::string(name);
  return {"--csv", "--page",         "raw", "--print-units", "base", "--clock-control",
          "none",  "--launch-count", "1",   "--kernel-name", kernel, "--metrics",
          list};
}

std::optional<Ncu> Ncu::open(const std::string& program, std::string& why) {
  constexpr std::chrono::seconds kLimit{20};
  constexpr std::size_t kMostVersionBytes = 1 << 16;
  const std::vector<std::string> candidates =
      program.empty() ? ncu_candidates() : std::vector<std::string>{program};
  why =
      "there is no Nsight Compute (ncu) in PATH, a CUDA installation or /opt/nvidia/nsight-compute";
  for (const std::string& candidate : candidates) {
    try {
      ProcessSpec spec;
      spec.argv = {candidate, "--version"};
      spec.environment = environment();
      const ProcessResult result = run_process(spec, kLimit, kMostVersionBytes);
      const std::size_t at = result.output.find("Version ");
      if (result.end == ProcessEnd::exited && result.code == 0 && at != std::string::npos) {
        const std::size_t begin = at + std::string_view("Version ").size();
        return Ncu(candidate,
                   result.output.substr(begin, result.output.find_first_of(" \n", begin) - begin));
      }
      why = candidate + ": does not tell its version: " + complaint(result.output);
    } catch (const Error& error) {
      why = error.what();
    }
  }
  return std::nullopt;
}

std::optional<Readings> Ncu::collect(const std::vector<std::string>& argv,
                                     const std::string& kernel,
                                     double limit_s,
                                     std::string& why,
                                     std::span<const Metric> wanted) const {
  ProcessSpec spec;
  spec.argv = {program_};
  spec.environment = environment();
  for (const std::string& argument : ncu_arguments(kernel, wanted)) spec.argv.push_back(argument);
  spec.argv.insert(spec.argv.end(), argv.begin(), argv.end());
  try {
    const ProcessResult result =
        run_process(spec, std::chrono::duration<double>(limit_s), kMostOutputBytes);
    if (result.end != ProcessEnd::exited || result.code != 0) {
      why = program_ + (result.end == ProcessEnd::timed_out ? ": took too long: " : ": failed: ") +
            complaint(result.output);
      return std::nullopt;
    }
    for (const NcuLaunch& launch : parse_ncu_csv(result.output, program_)) {
      if (launch.kernel.starts_with(kernel)) return metric_values(launch, wanted);
    }
    why = program_ + ": profiled no launch of " + kernel;
  } catch (const Error& error) {
    why = error.what();
  }
  return std::nullopt;
}

}  // namespace warpath::cuda
