#include "experiments/region_report.h"

#include <charconv>
#include <cstdio>
#include <nlohmann/json.hpp>

#include "engine/error.h"
#include "engine/json_reader.h"
#include "runners/cuda/compile.h"
#include "runners/cuda/headers.h"
#include "runners/cuda/ptx_regions.h"

namespace warpath {
namespace {

constexpr std::size_t kMostBytes = std::size_t{64} << 20U;

std::int64_t whole(const std::string& flag, std::string_view text, std::int64_t least) {
  std::int64_t value = 0;
  const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), value);
  if (error != std::errc{} || end != text.data() + text.size() || value < least) throw bad_input(flag, text, "a whole number, " + std::to_string(least) + " or more");
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
    if (equals == std::string::npos || equals == 0) throw bad_input("--" + flag, word, "NAME=VALUE");
    use(word.substr(0, equals), word.substr(equals + 1));
  }
}

cuda::PtxLaunch launch_of(const Arguments& arguments) {
  cuda::PtxLaunch launch{.parameters = {}, .block = axes(arguments, "block"), .grid = axes(arguments, "grid")};
  pairs(arguments, "parameter", [&](const std::string& name, const std::string& value) {
    launch.parameters[static_cast<std::size_t>(whole("--parameter", name, 0))] = whole("--parameter", value, INT64_MIN);
  });
  return launch;
}

cuda::RegionRates rates_of(const Arguments& arguments) {
  cuda::RegionRates rates;
  pairs(arguments, "rate", [&](const std::string& name, const std::string& value) {
    double rate = 0;
    const auto [end, error] = std::from_chars(value.data(), value.data() + value.size(), rate);
    if (error != std::errc{} || end != value.data() + value.size() || !(rate > 0)) throw bad_input("--rate", value, "a number above 0, a second");
    rates[name] = rate;
  });
  return rates;
}

std::string compiled_ptx(const Arguments& arguments, const std::string& file, const std::string& source) {
  const auto kernel = arguments.value("kernel");
  if (!kernel) throw bad_input("--kernel", "", "the kernel's name, with a CUDA file");
  std::string why;
  const auto nvrtc = cuda::Nvrtc::open_any(why);
  if (!nvrtc) throw environment_error("inspect --regions: " + why);
  const auto headers = cuda::load_headers(cuda::include_folders(nvrtc->path()));
  const cuda::CompileRequest request{.source = source, .kernel = *kernel, .arch = arguments.value("arch").value_or("sm_90a"), .options = {}};
  const cuda::CompileResult code = cuda::compile(*nvrtc, headers, request, {});
  if (code.status != Status::ok) throw bad_input(file, "", "a kernel that compiles: " + code.log.substr(0, code.log.find('\n')));
  return code.ptx;
}

}  // namespace

std::vector<Flag> region_flags() {
  return {{"regions", "FILE", "instead: regions, loops and critical path of a .ptx file, or of a .cu file with --kernel, as JSON", Flag::Takes::one},
          {"dot", "", "with --regions: for Graphviz", Flag::Takes::nothing},
          {"kernel", "NAME", "with --regions: the kernel of a .cu file, the entry of a .ptx file (default: its first)", Flag::Takes::one},
          {"arch", "ARCH", "with --regions: what a .cu file is compiled for (sm_90a)", Flag::Takes::one},
          {"block", "X,Y,Z", "with --regions: threads a block", Flag::Takes::one},
          {"grid", "X,Y,Z", "with --regions: blocks", Flag::Takes::one},
          {"parameter", "INDEX=VALUE", "with --regions: an integer that the kernel gets, from 0", Flag::Takes::repeated},
          {"rate", "NAME=VALUE", "with --regions: what the device does a second: dram and smem in bytes, fp32, tensor, ... in operations", Flag::Takes::repeated}};
}

void print_regions(const Arguments& arguments) {
  const std::string file = arguments.value("regions").value();
  std::string text = read_text_file(file, kMostBytes, "--regions");
  const bool is_ptx = file.ends_with(".ptx");
  if (!is_ptx) text = compiled_ptx(arguments, file, text);
  std::string why;
  const auto module = cuda::parse_ptx(text, why);
  if (!module) throw bad_input(file, "", "PTX: " + why);
  const auto wanted = is_ptx ? arguments.value("kernel") : std::nullopt;
  const cuda::PtxFunction* entry = nullptr;
  std::string names;
  for (const cuda::PtxFunction& function : module->functions) {
    if (!function.is_entry || !function.has_body) continue;
    names += (names.empty() ? "" : ", ") + std::string(function.name);
    if (entry == nullptr && (!wanted || function.name == *wanted)) entry = &function;
  }
  if (entry == nullptr) throw bad_input(wanted ? "--kernel" : file, wanted.value_or(""), names.empty() ? "an entry" : "one of " + names);
  const cuda::RegionGraph graph = cuda::region_graph(*entry, launch_of(arguments), rates_of(arguments));
  if (arguments.has("dot")) {
    std::fputs(cuda::to_dot(graph).c_str(), stdout);
  } else {
    std::printf("%s\n", cuda::to_json(graph).dump(1).c_str());
  }
}

}  // namespace warpath
