#include "experiments/report/region_report.h"

#include <algorithm>
#include <array>
#include <charconv>
#include <cstdio>
#include <nlohmann/json.hpp>

#include "engine/base/detailed_error.h"
#include "engine/json/json_reader.h"
#include "engine/spec/spec_load.h"
#include "engine/text/one_kernel.h"
#include "runners/cuda/code/ptx_regions.h"
#include "runners/cuda/compile/build.h"
#include "runners/cuda/compile/compile.h"
#include "runners/cuda/compile/headers.h"
#include "runners/cuda/compile/nvrtc_places.h"

namespace warpath {
namespace {

constexpr std::size_t kMostRegionBytes = std::size_t{64} << 20U;

std::int64_t whole(const std::string& flag, std::string_view text, std::int64_t least) {
  std::int64_t value = 0;
  const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), value);
  if (error != std::errc{} || end != text.data() + text.size() || value < least)
    throw bad_input(flag, text, "a whole number, " + std::to_string(least) + " or more");
  return value;
}

/// "132,4" as three axes, the rest 1.
std::array<std::int64_t, 3> axes(const Arguments& arguments, const std::string& flag) {
  std::array<std::int64_t, 3> out{1, 1, 1};
  std::string_view text;
  const auto given = arguments.value(flag);
  if (!given) return out;
  text = *given;
  for (std::size_t i = 0;; ++i) {
    if (i == out.size()) throw bad_input("--" + flag, *given, "at most three numbers");
    const std::size_t comma = text.find(',');
    out[i] = whole("--" + flag, text.substr(0, comma), 1);
    if (comma == std::string_view::npos) return out;
    text.remove_prefix(comma + 1);
  }
}

/// "3=512": parameter 3 is 512. "dram=4.8e12": a rate.
template <class Use>
void pairs(const Arguments& arguments, const std::string& flag, Use&& use) {
  for (const std::string& word : arguments.values(flag)) {
    const std::size_t equals = word.find('=');
    if (equals == std::string::npos || equals == 0)
      throw bad_input("--" + flag, word, "NAME=VALUE");
    use(word.substr(0, equals), word.substr(equals + 1));
  }
}

/// Block, grid and parameters that were given replace those of `launch`.
void override_launch(const Arguments& arguments, cuda::PtxLaunch& launch) {
  if (arguments.has("block")) launch.block = axes(arguments, "block");
  if (arguments.has("grid")) launch.grid = axes(arguments, "grid");
  pairs(arguments, "parameter", [&](const std::string& name, const std::string& value) {
    launch.parameters[static_cast<std::size_t>(whole("--parameter", name, 0))] =
        whole("--parameter", value, INT64_MIN);
  });
}

cuda::RegionRates rates_of(const Arguments& arguments) {
  constexpr std::array<std::string_view, 10> kResources{
      "dram", "smem", "instructions", "fp32", "fp64", "fp16", "bf16", "tensor", "int32", "sfu"};
  cuda::RegionRates rates;
  pairs(arguments, "rate", [&](const std::string& name, const std::string& value) {
    if (std::ranges::find(kResources, name) == kResources.end())
      throw bad_input("--rate", name,
                      "dram, smem, instructions, fp32, fp64, fp16, bf16, tensor, int32 or sfu");
    double rate = 0;
    const auto [end, error] = std::from_chars(value.data(), value.data() + value.size(), rate);
    if (error != std::errc{} || end != value.data() + value.size() || !(rate > 0))
      throw bad_input("--rate", value, "a number above 0, a second");
    rates[name] = rate;
  });
  return rates;
}

std::string compiled_ptx(const std::string& file, const cuda::CompileRequest& request) {
  std::string why;
  const auto nvrtc = cuda::open_nvrtc(why);
  if (!nvrtc) throw environment_error("inspect --regions: " + why);
  const auto headers = cuda::load_headers(cuda::include_folders(nvrtc->path()));
  const cuda::CompileResult code = cuda::compile(*nvrtc, headers, request, {});
  if (code.status != Status::ok)
    throw DetailedError(
        bad_input(file, "", "a kernel that compiles: " + code.log.substr(0, code.log.find('\n'))),
        code.log);
  return code.ptx;
}

/// PTX and what is known of its launch.
struct PtxSubject {
  std::string ptx;
  cuda::PtxLaunch launch;
};

/// The spec's own kernel under its first workload.
PtxSubject spec_subject(const std::string& file, const std::string& arch) {
  const std::vector<KernelSpec> specs = load_specs(file);
  if (specs.size() != 1)
    throw bad_input(file, std::to_string(specs.size()) + " specs", "a file with one");
  const KernelSpec& spec = specs.front();
  const Variant variant = baseline_variant(spec);
  const Workload& workload = spec.workloads.front();
  return {compiled_ptx(file, cuda::request_for(spec, variant, workload, arch)),
          cuda::ptx_launch(spec, variant, workload)};
}

PtxSubject subject_of(const Arguments& arguments, const std::string& file) {
  const std::string arch = arguments.value("arch").value_or("sm_90a");
  if (file.ends_with(".json") && arguments.has("kernel"))
    throw bad_input("--kernel", *arguments.value("kernel"),
                    "it with a .cu or .ptx file: a spec names its kernel");
  if (file.ends_with(".json")) return spec_subject(file, arch);
  if (file.ends_with(".ptx") && arguments.has("arch"))
    throw bad_input("--arch", arch, "it with a file that is compiled, not PTX");
  std::string text = read_text_file(file, kMostRegionBytes, "--regions");
  if (file.ends_with(".ptx")) return {std::move(text), {}};
  const auto kernel = arguments.value("kernel");
  if (!kernel) throw bad_input("--kernel", "", "the kernel's name, with a CUDA file");
  return {compiled_ptx(file, {.source = without_other_kernels(text, {*kernel}),
                              .kernel = *kernel,
                              .arch = arch,
                              .options = {}}),
          {}};
}

}  // namespace

std::vector<Flag> region_flags() {
  return {
      {"regions", "FILE",
       "instead, as JSON: regions, loops and critical path of a spec's own kernel under its first "
       "workload, of a .ptx file, or of a .cu file with --kernel",
       Flag::Takes::one},
      {"dot", "", "with --regions: for Graphviz", Flag::Takes::nothing},
      {"kernel", "NAME",
       "with --regions: the kernel of a .cu file, the entry of a .ptx file (default: its first)",
       Flag::Takes::one},
      {"arch", "ARCH", "with --regions: what a kernel is compiled for (sm_90a)", Flag::Takes::one},
      {"block", "X,Y,Z", "with --regions: threads a block (1, a spec's: its own)",
       Flag::Takes::one},
      {"grid", "X,Y,Z", "with --regions: blocks (1, a spec's: its own)", Flag::Takes::one},
      {"parameter", "INDEX=VALUE", "with --regions: an integer that the kernel gets, from 0",
       Flag::Takes::repeated},
      {"rate", "NAME=VALUE",
       "with --regions: what the device does a second: dram and smem in bytes, fp32, tensor, ... "
       "in operations",
       Flag::Takes::repeated}};
}

void print_regions(const Arguments& arguments) {
  const std::string file = arguments.value("regions").value();
  PtxSubject subject = subject_of(arguments, file);
  override_launch(arguments, subject.launch);
  std::string why;
  const auto module = cuda::parse_ptx(subject.ptx, why);
  if (!module) throw bad_input(file, "", "PTX: " + why);
  const auto wanted = file.ends_with(".ptx") ? arguments.value("kernel") : std::nullopt;
  const cuda::PtxFunction* entry = nullptr;
  std::string names;
  for (const cuda::PtxFunction& function : module->functions) {
    if (!function.is_entry || !function.has_body) continue;
    names += (names.empty() ? "" : ", ") + std::string(function.name);
    if (entry == nullptr && (!wanted || function.name == *wanted)) entry = &function;
  }
  if (entry == nullptr)
    throw bad_input(wanted ? "--kernel" : file, wanted.value_or(""),
                    names.empty() ? "an entry" : "one of " + names);
  const cuda::RegionGraph graph = cuda::region_graph(*entry, subject.launch, rates_of(arguments));
  if (arguments.has("dot")) {
    std::fputs(cuda::to_dot(graph).c_str(), stdout);
  } else {
    std::printf("%s\n", cuda::to_json(graph).dump(1).c_str());
  }
}

}  // namespace warpath
