#include <dlfcn.h>
#include <unistd.h>

#include <algorithm>
#include <cstdio>
#include <cstdlib>
#include <filesystem>
#include <nlohmann/json.hpp>
#include <string>
#include <vector>

#include "engine/base/error.h"
#include "engine/plugin/options.h"
#include "experiments/build_facts.h"
#include "experiments/console/option_layers.h"
#include "experiments/console/table_text.h"
#include "experiments/setup/environment.h"
#include "experiments/setup/llm_setup.h"
#include "experiments/setup/option_groups.h"
#include "priors/llm/options.h"
#include "priors/llm/probe.h"
#include "register_commands.h"
#include "runners/cuda/code/disassembler.h"
#include "runners/cuda/compile/availability.h"
#include "runners/cuda/driver/toolkit_program.h"
#include "runners/host/compile/compile.h"
#include "runners/host/options.h"
#include "runners/worker/sandbox.h"

namespace warpath {
namespace {

struct Finding {
  /// missing: something optional; broken: something required
  enum class State : unsigned char { ok, missing, broken, untried };
  State state = State::ok;
  std::string what;
  std::string detail;  ///< what was found, or what to do
};

/// "13.0" from the driver's and the CUDA libraries' way of counting, 13000.
std::string cuda_version(int packed) {
  return std::to_string(packed / 1000) + "." + std::to_string(packed % 1000 / 10);
}

/// Without a GPU only the host runner works, and it needs a compiler.
Finding compiler_finding(bool needed) {
  const Finding::State absent = needed ? Finding::State::broken : Finding::State::missing;
  const std::string compiler = HostOptions{}.compiler;
  const std::string path = find_program(compiler);
  if (path.empty())
    return {absent, "C++ compiler", compiler + " is not on PATH: apt-get install g++"};
  const std::string command =
      "echo '#include <atomic>' | '" + path + "' -std=c++20 -fsyntax-only -x c++ - 2>/dev/null";
  if (std::system(command.c_str()) !=
      0) {  // NOLINT(cert-env33-c): a path that access() accepted, quoted
    return {absent, "C++ compiler", path + " does not compile C++20: apt-get install g++"};
  }
  return {Finding::State::ok, "C++ compiler", path + " (the host runner compiles kernels with it)"};
}

Finding outdir_finding(const std::string& outdir) {
  std::filesystem::path folder = std::filesystem::absolute(outdir);
  while (!std::filesystem::exists(folder) && folder.has_relative_path())
    folder = folder.parent_path();
  std::string probe = (folder / ".warpath_doctor_XXXXXX").string();
  const int file = mkstemp(probe.data());
  if (file < 0)
    return {Finding::State::broken, "output folder",
            folder.string() + " cannot be written: choose another with --outdir"};
  close(file);
  unlink(probe.c_str());
  std::error_code ignored;
  const auto space = std::filesystem::space(folder, ignored);
  return {Finding::State::ok, "output folder",
          outdir + " (" + std::to_string(space.available >> 30U) + " GiB free)"};
}

std::vector<Finding> cuda_findings(const cuda::Platform& platform) {
  using enum Finding::State;
  std::vector<Finding> findings;
  if (kHasCudaHeaders) {
    findings.push_back({ok, "CUDA headers", "found when the program was built"});
  } else {
    findings.push_back(
        {missing, "CUDA headers", "not found when the program was built: it cannot use a GPU"});
  }
  if (platform.nvrtc_problem.empty()) {
    findings.push_back({ok, "NVRTC", platform.nvrtc_version + ", " + platform.nvrtc_path});
  } else {
    findings.push_back(
        {missing, "NVRTC", platform.nvrtc_problem + "; without it nothing is compiled for GPUs"});
  }
  if (platform.driver_problem.empty()) {
    findings.push_back(
        {ok, "CUDA driver", "supports CUDA " + cuda_version(platform.driver_version)});
  } else {
    findings.push_back({missing, "CUDA driver",
                        platform.driver_problem + "; without it kernels run on the CPU only"});
  }
  for (const cuda::DeviceSummary& device : platform.devices) {
    findings.push_back({ok, "GPU " + std::to_string(device.index),
                        device.name + ", " + std::to_string(device.multiprocessors) +
                            " multiprocessors, compute capability " +
                            std::to_string(device.compute_major) + "." +
                            std::to_string(device.compute_minor) + ", " +
                            std::to_string(device.memory_bytes >> 30U) + " GiB"});
  }
  if (platform.devices.empty()) {
    findings.push_back(
        {missing, "GPU", "none: kernels run on the CPU (host runner), timings are CPU timings"});
  }
  return findings;
}

Finding cupti_finding() {
  std::vector<std::string> names{"libcupti.so.13", "libcupti.so.12", "libcupti.so"};
  for (const char* variable : {"CUDA_PATH", "CUDA_HOME"}) {
    const char* const folder = std::getenv(variable);
    if (folder != nullptr) names.push_back(std::string(folder) + "/extras/CUPTI/lib64/libcupti.so");
  }
  names.emplace_back("/usr/local/cuda/extras/CUPTI/lib64/libcupti.so");
  for (const std::string& name : names) {
    if (dlopen(name.c_str(), RTLD_NOW | RTLD_LOCAL) != nullptr)
      return {Finding::State::ok, "CUPTI", name};
  }
  return {Finding::State::missing, "CUPTI",
          "no libcupti: without it there are no hardware counters, only facts read off the code"};
}

Finding sandbox_finding() {
  const Sandbox sandbox = probe_sandbox();
  if (sandbox.missing().empty())
    return {Finding::State::ok, "sandbox",
            sandbox.summary() + " confine compilers, and kernels on the CPU"};
  if (sandbox.blocks_files()) {
    return {Finding::State::missing, "sandbox",
            "no " + sandbox.missing() + ": " + sandbox.summary() +
                " alone confines compilers, and kernels on the CPU"};
  }
  return {Finding::State::missing, "sandbox",
          "neither landlock nor seccomp: only gates on the text keep a kernel from files of this "
          "machine, and on the CPU a hostile one has the rights of this user"};
}

/// Whether the host runner's compiler works while it is confined.
Finding confined_compiler_finding() {
  try {
    const Sandbox sandbox = host::Compiler(HostOptions{}).sandbox();
    if (sandbox.blocks_files())
      return {Finding::State::ok, "confined compiler", "makes kernels under " + sandbox.summary()};
    return {Finding::State::missing, "confined compiler",
            "works only unconfined: gates on the text alone keep it from reading files of this "
            "machine into a kernel"};
  } catch (const Error& error) {
    return {Finding::State::missing, "confined compiler", error.what()};
  }
}

Finding tool_finding(const std::string& tool, const std::string& cost) {
  const std::string path = cuda::toolkit_program(tool);
  if (!path.empty()) return {Finding::State::ok, tool, path};
  return {Finding::State::missing, tool, "neither on PATH nor in the toolkit's folders: " + cost};
}

Finding disassembler_finding() {
  const cuda::Disassembler tool = cuda::find_disassembler();
  if (!tool.path.empty()) return {Finding::State::ok, "disassembler", tool.path};
  return {Finding::State::missing, "disassembler",
          "neither nvdisasm nor cuobjdump: moves are looked for in PTX instead of machine code "
          "(NVIDIA's cuda-nvdisasm)"};
}

const char* state_word(Finding::State state) {
  switch (state) {
    case Finding::State::ok:
      return "ok";
    case Finding::State::missing:
      return "missing";
    case Finding::State::broken:
      return "BROKEN";
    case Finding::State::untried:
      return "-";
  }
  return "";
}

/// True if something required is missing.
bool print(const std::vector<Finding>& findings) {
  std::vector<std::vector<std::string>> rows;
  for (const Finding& finding : findings)
    rows.push_back({state_word(finding.state), finding.what, finding.detail});
  std::printf("%s", aligned_text(rows).c_str());
  return std::any_of(findings.begin(), findings.end(),
                     [](const Finding& f) { return f.state == Finding::State::broken; });
}

/// The flags of a run that say which model, and how much may be spent.
std::vector<Flag> model_flags() {
  std::vector<Flag> out;
  for (Flag& flag : option_flags()) {
    const bool of_files = flag.name == "llm-cassette" || flag.name == "llm-cassette-mode";
    if (flag.name.starts_with("llm-") && !of_files && flag.name != "llm-in-flight" &&
        flag.name != "llm-seconds")
      out.push_back(std::move(flag));
  }
  return out;
}

Finding::State state_of(llm::Probed::State state) {
  switch (state) {
    case llm::Probed::State::yes:
      return Finding::State::ok;
    case llm::Probed::State::no:
      return Finding::State::missing;
    case llm::Probed::State::broken:
      return Finding::State::broken;
    case llm::Probed::State::untried:
      return Finding::State::untried;
  }
  return Finding::State::untried;
}

/// What a profile file must contain for the observed capabilities; empty if the profile already
/// does.
nlohmann::json corrections(const llm::Profile& profile, const llm::ProbeReport& report) {
  nlohmann::json out = nlohmann::json::object();
  for (const std::string_view name : llm::kCapabilities) {
    const bool seen = report.capabilities.contains(name);
    if (seen != profile.can(name)) out[std::string(name)] = seen;
  }
  return out;
}

int doctor_of_model(const Arguments& arguments) {
  const LlmOptions options = apply_layers(default_options(), arguments).of<LlmOptions>();
  if (options.model.empty() && options.profile.empty())
    throw bad_input("--llm", "no model", "--llm-model, or a --llm-profile that names one");
  std::string why;
  const auto access = llm_access(options, why);
  if (!access) {
    print({{Finding::State::broken, "key", why}});
    return static_cast<int>(ErrorCode::environment);
  }
  llm::Redactor redactor;
  redactor.add(access->key);
  llm::Budget budget({.calls = options.calls,
                      .input_tokens = options.input_tokens,
                      .output_tokens = options.output_tokens,
                      .money = options.money,
                      .seconds = 0});
  const auto transport = llm::make_curl_transport();
  const llm::ProbeReport report =
      llm::probe(access->profile, access->key, *transport, budget, redactor);
  std::vector<Finding> findings;
  for (const llm::Probed& line : report.lines)
    findings.push_back({state_of(line.state), line.what, line.detail});
  const bool broken = print(findings);
  const llm::Spent spent = budget.spent();
  std::printf("%lld calls, %lld tokens in, %lld out\n", static_cast<long long>(spent.calls),
              static_cast<long long>(spent.input_tokens),
              static_cast<long long>(spent.output_tokens));
  if (const nlohmann::json wrong = corrections(access->profile, report);
      report.usable && !wrong.empty()) {
    std::printf("profile %s is not what was seen; in a profile file: {\"capabilities\": %s}\n",
                access->profile.name.c_str(), wrong.dump().c_str());
  }
  return broken || !report.usable ? static_cast<int>(ErrorCode::environment) : 0;
}

int doctor(const Arguments& arguments, const Program&) {
  if (arguments.has("llm")) return doctor_of_model(arguments);
  const Environment environment = probe_environment();
  const Finding sandbox = sandbox_finding();  // forks: before a driver starts threads
  const cuda::Platform platform = cuda::probe_platform();
  const bool has_gpu =
      kHasCudaHeaders && !platform.devices.empty() && platform.nvrtc_problem.empty();
  std::vector<Finding> findings{
      {Finding::State::ok, "program",
       "revision " + environment.revision + ", built by " + environment.build_compiler},
      {Finding::State::ok, "CPU",
       environment.cpu + ", " + std::to_string(environment.cores) + " cores"},
      {Finding::State::ok, "memory", std::to_string(environment.memory_mib) + " MiB"},
      compiler_finding(!has_gpu),
      outdir_finding(arguments.value("outdir").value_or("out")),
      sandbox};
  for (Finding& finding : cuda_findings(platform)) findings.push_back(std::move(finding));
  findings.push_back(confined_compiler_finding());
  findings.push_back(cupti_finding());
  findings.push_back(
      tool_finding("ncu", "no counters where CUPTI is refused (NVIDIA's nsight-compute)"));
  findings.push_back(disassembler_finding());
  findings.push_back(tool_finding("nvcc", "specs whose backend is nvcc cannot be compiled"));
  findings.push_back(tool_finding(
      "compute-sanitizer", "finalists are not searched for races (NVIDIA's cuda-sanitizer)"));
  const bool broken = print(findings);
  std::printf("%s\n", broken ? "something required is missing" : "everything required is there");
  return broken ? static_cast<int>(ErrorCode::environment) : 0;
}

}  // namespace

void register_command_doctor(CommandRegistry& registry) {
  std::vector<Flag> flags{
      {.name = "outdir", .value = "DIR", .help = "the output folder to try (out)"},
      {.name = "llm",
       .value = "",
       .help = "instead: what the server of a language model can do, by a few small questions",
       .takes = Flag::Takes::nothing}};
  for (Flag& flag : model_flags()) flags.push_back(std::move(flag));
  registry.push_back(
      {.name = "doctor",
       .usage = "[--outdir DIR] | --llm --llm-model MODEL [FLAGS]",
       .help = "what this machine offers: compiler, GPU, CUDA libraries, tools; with --llm, what a "
               "model's server offers; exit code 3 if something required is missing",
       .flags = std::move(flags),
       .run = doctor});
}

}  // namespace warpath
