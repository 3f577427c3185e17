#include "runners/cuda/compile/triton.h"

#include <algorithm>
#include <chrono>
#include <cstdlib>
#include <filesystem>
#include <nlohmann/json.hpp>
#include <vector>

#include "engine/base/error.h"
#include "engine/base/hash.h"
#include "engine/base/words.h"
#include "runners/cuda/compile/compile_options.h"
#include "runners/cuda/compile/ptxas.h"
#include "runners/triton_compile_text.h"
#include "runners/worker/process.h"
#include "runners/worker/scratch_files.h"

namespace warpath::cuda {
namespace {

namespace fs = std::filesystem;
using nlohmann::json;

constexpr const char* kHelper = "warpath_compile.py";
constexpr std::int64_t kWarp = 32;
/// What drivers of CUDA 12.4 on read; newer devices need newer PTX, which Triton chooses.
constexpr int kPtxVersion = 84;
constexpr int kLastOfPtxVersion = 90;
constexpr std::string_view kErrorPrefix = "kernel.py(";

constexpr const char* kQuestion =
    "import json, os, sys, triton\n"
    "folder = os.path.dirname(triton.__file__)\n"
    "print(json.dumps({'python': os.path.realpath(sys.executable), 'program': sys.executable,\n"
    "  'version': triton.__version__ + ', Python ' + sys.version.split()[0],\n"
    "  'packages': os.path.dirname(folder), 'folders': [sys.prefix, sys.base_prefix] + sys.path,\n"
    "  'ptxas': os.path.join(folder, 'backends', 'nvidia', 'bin', 'ptxas')}))\n";

std::string value_of(const char* name) {
  const char* const value = std::getenv(name);
  return value == nullptr ? "" : value;
}

std::vector<std::string> environment_of_python(const std::string& folder,
                                               const std::string& packages) {
  return {"HOME=" + folder,
          "PYTHONPATH=" + packages,
          "MALLOC_ARENA_MAX=2",
          "TMPDIR=" + folder,
          "TRITON_CACHE_DIR=" + folder + "/cache",
          "TRITON_DISABLE_LINE_INFO=1",
          "TRITON_DEFAULT_FP_FUSION=1",
          "PATH=/usr/local/bin:/usr/bin:/bin",
          "PYTHONHASHSEED=0",
          "LC_ALL=C.UTF-8"};
}

/// "90" of "sm_90a".
int number_of(const std::string& arch) {
  return std::atoi(arch.substr(std::min<std::size_t>(3, arch.size())).c_str());
}

/// Options of Triton's compiler among the constants: those that it knows by these names.
constexpr WordList kOptions("num_stages maxnreg");

json request_of(const CompileRequest& request) {
  json options{{"num_warps", request.threads_per_block / kWarp}};
  json constants = json::object();
  for (const auto& [name, text] : macros_of(request)) {
    if (kOptions.contains(name)) {
      options[name] = std::atoi(text.c_str());
    } else {
      constants[name] = text;
    }
  }
  // the assembler takes no notice of a cap where the PTX says how many threads a block has
  constexpr std::string_view kCap = "--maxrregcount=";
  for (const std::string& option : request.options) {
    if (option.starts_with(kCap)) options["maxnreg"] = std::atoi(option.c_str() + kCap.size());
  }
  const int arch = number_of(request.arch);
  if (arch <= kLastOfPtxVersion) options["ptx_version"] = kPtxVersion;
  return {{"kernel", request.kernel},
          {"parameters", request.parameters},
          {"constants", std::move(constants)},
          {"options", std::move(options)},
          {"arch", arch}};
}

/// The last line of `output` that is about the kernel.
std::string error_of(const std::string& output) {
  const std::size_t at = output.rfind("\n" + std::string(kErrorPrefix));
  if (at == std::string::npos) return last_line(output) + "\n";
  return output.substr(at + 1, std::min(output.find('\n', at + 1), output.size()) - at - 1) + "\n";
}

}  // namespace

Triton::Triton(const std::string& python) {
  python_ = !python.empty() ? python : value_of("WARPATH_PYTHON");
  if (python_.empty()) python_ = "python3";
  const ProcessResult answer =
      run_process({.argv = {python_, "-c", kQuestion},
                   .environment = {"PATH=" + value_of("PATH"), "HOME=" + value_of("HOME"),
                                   "PYTHONPATH=" + value_of("PYTHONPATH")}},
                  std::chrono::seconds(60), std::size_t{1} << 16U);
  const std::string last = last_line(answer.output);
  const json facts = json::parse(last, nullptr, false);
  if (answer.end != ProcessEnd::exited || answer.code != 0 || !facts.is_object())
    throw environment_error("the spec's kernel_type is triton, and " + python_ +
                            " cannot import it (" + last +
                            "); pip install triton, or name another Python with WARPATH_PYTHON or "
                            "--set cuda.python=PATH");
  python_ = facts.at("program").get<std::string>();
  ptxas_ = facts.at("ptxas").get<std::string>();
  packages_ = facts.at("packages").get<std::string>();
  ProgramSandbox::Access access{
      .read = {"/etc/ld.so.cache", "/usr/share", "/dev/urandom", "/proc/cpuinfo", "/proc/self"},
      .execute = system_folders(),
      .write = {scratch_.path().string(), "/dev/null"}};
  access.execute.insert(access.execute.end(), {python_, facts.at("python").get<std::string>(),
                                               "/usr/local/bin", "/usr/local/lib"});
  access.execute.push_back(packages_);
  for (const std::string folder : facts.at("folders")) {
    const fs::path path(folder);
    if (path.is_absolute() && path.has_relative_path() && path != "/usr" && path != "/usr/local")
      access.execute.push_back(folder);
  }
  sandbox_ = std::make_unique<const ProgramSandbox>(access);
  identity_ = "triton " + facts.at("version").get<std::string>() + " " +
              Hasher().add(std::string_view(kTritonCompile)).digest().hex();
  if (const std::string problem = try_out(); !problem.empty())
    throw environment_error("Triton of " + python_ + " cannot compile a kernel while confined (" +
                            sandbox_->sandbox().summary() + "): " + problem);
}

std::string Triton::try_out() const {
  const CompileResult result = compile({.source = "import triton\nimport triton.language as tl\n"
                                                  "@triton.jit\n"
                                                  "def probe(x):\n    tl.store(x, 1)\n",
                                        .kernel = "probe",
                                        .arch = "sm_90a",
                                        .options = {},
                                        .language = KernelType::triton,
                                        .parameters = {"*i32:16"},
                                        .threads_per_block = kWarp},
                                       CompileLimits{.seconds = 60}, {});
  return result.status == Status::ok ? "" : result.log.substr(0, result.log.find('\n'));
}

CompileResult Triton::compile(const CompileRequest& request,
                              const CompileLimits& limits,
                              const std::stop_token& stop) const {
  if (auto refused = refused_request(request)) return std::move(*refused);
  if (request.threads_per_block % kWarp != 0)
    return failed_compile(Status::compile_error,
                          "a block of a Triton kernel has 32 * num_warps threads, not " +
                              std::to_string(request.threads_per_block) + "\n");
  const TemporaryFolder folder("kernel", scratch_.path());
  write_scratch(folder / "kernel.py", request.source);
  write_scratch(folder / kHelper, kTritonCompile);
  write_scratch(folder / "request.json", request_of(request).dump());
  // Python with a compiler's library and its threads reserves much more than it uses.
  CompileLimits reserving = limits;
  reserving.memory_bytes *= 4;
  CompilerRun run(folder.path(), environment_of_python(folder.path().string(), packages_),
                  sandbox_.get(), reserving, stop);
  CompileResult& result = run.result;
  if (!run.run({python_, "-B", kHelper})) {
    if (run.refused()) {
      result.status = Status::compile_error;
      result.log = error_of("\n" + run.output());
    }
    return std::move(result);
  }
  const auto refused = [&](const std::string& why) {
    return failed_compile(Status::compile_error, why + "\n");
  };
  const json facts = json::parse(read_scratch(folder / "result.json"), nullptr, false);
  std::string ptx = read_scratch(folder / "kernel.ptx");
  if (!facts.is_object() || ptx.empty()) return refused("Triton made no code");
  const std::string entry = facts.value("entry", "");
  const auto shared = facts.value("shared", std::int64_t{0});
  constexpr std::int64_t kMostShared = std::int64_t{1} << 20U;
  if (facts.value("clusters", 1) != 1) return refused("num_ctas other than 1 is not launched");
  if (facts.value("scratch", 1) != 0)
    return refused("the kernel needs scratch memory of Triton's launcher");
  if (shared < 0 || shared > kMostShared) return refused("Triton's shared memory is no number");
  std::string why;
  if (!drop_hidden_parameters(ptx, entry, request.parameters.size(), why)) return refused(why);
  assemble(ptxas_, request, std::move(ptx), entry, limits, run);
  result.dynamic_smem_bytes = shared;
  return std::move(result);
}

std::string triton_type(DType dtype) {
  if (dtype == DType::boolean) return "i1";
  if (dtype == DType::bf16) return "bf16";
  const std::string bits = std::to_string(8 * info(dtype).size_bytes);
  if (info(dtype).is_float) return "fp" + bits;
  return (info(dtype).is_signed ? "i" : "u") + bits;
}

bool drop_hidden_parameters(std::string& ptx,
                            std::string_view entry,
                            std::size_t kept,
                            std::string& why) {
  const std::size_t head = ptx.find(".entry " + std::string(entry) + "(");
  const std::size_t open = head == std::string::npos ? head : ptx.find('(', head);
  const std::size_t close = open == std::string::npos ? open : ptx.find(')', open);
  if (close == std::string::npos) return why = "the PTX has no entry " + std::string(entry), false;
  std::vector<std::string> parameters;
  for (std::size_t begin = open + 1; begin < close;) {
    const std::size_t end = std::min(ptx.find(',', begin), close);
    parameters.push_back(ptx.substr(begin, end - begin));
    begin = end + 1;
  }
  if (parameters.size() < kept)
    return why = "Triton left out a parameter of " + std::string(entry), false;
  for (std::size_t i = kept; i < parameters.size(); ++i) {
    std::string& text = parameters[i];
    while (!text.empty() && (text.back() == '\n' || text.back() == ' ')) text.pop_back();
    const std::string name = text.substr(text.find_last_of(" \t") + 1);
    if (ptx.find(name, close) != std::string::npos)
      return why = "the code reads " + name + ", which only Triton's launcher passes", false;
  }
  std::string list;
  for (std::size_t i = 0; i < kept; ++i) list += (i == 0 ? "" : ",") + parameters[i];
  ptx.replace(open + 1, close - open - 1, list + "\n");
  return true;
}

}  // namespace warpath::cuda
