#include "runners/cuda/compile/nvcc.h"

#include <algorithm>
#include <chrono>
#include <cstdlib>
#include <filesystem>
#include <string_view>
#include <utility>
#include <vector>

#include "engine/base/error.h"
#include "engine/text/source_text.h"
#include "runners/cuda/compile/compile_options.h"
#include "runners/cuda/driver/toolkit_program.h"
#include "runners/worker/process.h"
#include "runners/worker/scratch_files.h"

namespace warpath::cuda {
namespace {

namespace fs = std::filesystem;

constexpr const char* kEntryVariable = "warpath_entry_of_the_kernel";
constexpr const char* kSystemPath = "/usr/local/bin:/usr/bin:/bin";
constexpr std::size_t kMaxOutput = std::size_t{1} << 20U;
constexpr std::string_view kHeaderFolder = "headers";

/// NAME=VALUE of a macro to define, NAME of one to undefine; neither for other options.
struct MacroOption {
  std::string_view define, undefine;
};

MacroOption macro_option(std::string_view option) {
  for (const std::string_view prefix : {"-D", "--define-macro="}) {
    if (option.starts_with(prefix)) return {option.substr(prefix.size()), {}};
  }
  for (const std::string_view prefix : {"-U", "--undefine-macro="}) {
    if (option.starts_with(prefix)) return {{}, option.substr(prefix.size())};
  }
  return {};
}

bool is_language_level(std::string_view option) {
  return option.starts_with("--std=") || option.starts_with("-std=");
}

/// Options of NVRTC that nvcc has not.
std::string unknown_option(const CompileRequest& request) {
  for (const std::string& option : request.options) {
    if (option == "--device-as-default-execution-space" || option == "-default-device")
      return "compiler option '" + option + "' is NVRTC's alone, and the spec's backend is nvcc";
  }
  return "";
}

/// False if a header's name leads out of the folder.
bool write_headers(const fs::path& folder, const std::vector<Header>& headers) {
  for (const Header& header : headers) {
    const fs::path name = fs::path(header.name).lexically_normal();
    if (name.is_absolute() || name.empty() || *name.begin() == "..") return false;
    fs::create_directories((folder / name).parent_path());
    write_scratch(folder / name, header.text);
  }
  return true;
}

/// Messages of the host's preprocessor in the form of the device's: "kernel.cu(3): error: ..." of
/// "kernel.cu:3:10: fatal error: ...".
std::string device_form(const std::string& log) {
  const std::string prefix = std::string(kSourceName) + ":";
  std::string out;
  for (std::size_t begin = 0; begin < log.size();) {
    const std::size_t end = std::min(log.find('\n', begin), log.size());
    const std::string line = log.substr(begin, end - begin);
    begin = end + 1;
    const std::size_t error = line.find("error: ");
    const std::size_t colon = line.find(':', prefix.size());
    if (line.starts_with(prefix) && error != std::string::npos && colon < error) {
      out += std::string(kSourceName) + "(" + line.substr(prefix.size(), colon - prefix.size()) +
             "): " + line.substr(error) + "\n";
    } else {
      out += line + "\n";
    }
  }
  return out;
}

/// What nvcc and the programs that it starts may reach.
ProgramSandbox::Access access_of(const std::string& program, const std::string& scratch) {
  std::error_code error;
  const fs::path real = fs::canonical(program, error);
  const fs::path folder = (error ? fs::path(program) : real).parent_path();
  ProgramSandbox::Access out;
  out.write = {scratch, "/dev/null"};
  out.read = {"/usr/include", "/usr/share", "/etc/ld.so.cache", "/etc/alternatives",
              "/dev/urandom"};
  // Besides the toolkit, the folders of the system's programs: the host's compiler and the shell.
  out.execute = {"/usr/bin",     "/bin",           "/usr/lib", "/usr/lib64",
                 "/usr/libexec", "/usr/local/bin", "/lib",     "/lib64"};
  const fs::path root = folder.parent_path();
  if (folder.filename() == "bin" && root.has_relative_path() && root != "/usr") {
    out.execute.push_back(root.string());
  } else {
    out.execute.push_back(folder.string());
  }
  return out;
}

std::vector<std::string> environment_of(const std::string& program, const std::string& scratch) {
  std::vector<std::string> out{
      "PATH=" + fs::path(program).parent_path().string() + ":" + kSystemPath, "LC_ALL=C",
      "TMPDIR=" + scratch};
  // Where the system's compiler is too new for the toolkit, this names another.
  if (const char* const host = std::getenv("NVCC_CCBIN"); host != nullptr && *host != '\0')
    out.push_back(std::string("NVCC_CCBIN=") + host);
  return out;
}

}  // namespace

Nvcc::Nvcc(const std::string& program)
    : path_(program.empty() ? toolkit_program("nvcc") : program) {
  if (path_.empty())
    throw environment_error(
        "the spec's backend is nvcc, which is neither on PATH nor in CUDA_PATH, CUDA_HOME, "
        "/usr/local/cuda or /opt/cuda; install it (Debian: nvidia-cuda-toolkit) or name it with "
        "--set cuda.nvcc=PATH");
  ProcessSpec question{.argv = {path_, "--version"},
                       .environment = environment_of(path_, scratch_.path().string())};
  const ProcessResult answer = run_process(question, std::chrono::seconds(20), kMaxOutput);
  if (answer.end != ProcessEnd::exited || answer.code != 0)
    throw environment_error("cuda.nvcc " + path_ + " does not work: " + last_line(answer.output));
  identity_ = "nvcc " + path_ + "\n" + answer.output;
  for (const std::string& word : question.environment) {
    if (word.starts_with("NVCC_CCBIN=")) identity_ += word + "\n";
  }
  sandbox_ = std::make_unique<const ProgramSandbox>(access_of(path_, scratch_.path().string()));
  std::string problem = try_out();
  if (!problem.empty()) {
    sandbox_.reset();
    problem = try_out();
  }
  if (!problem.empty())
    throw environment_error("cuda.nvcc " + path_ + " cannot compile a kernel: " + problem);
}

std::string Nvcc::try_out() const {
  const CompileResult result = compile({.source = "__global__ void probe(int* x) { *x = 1; }",
                                        .kernel = "probe",
                                        .arch = "sm_90",
                                        .options = {},
                                        .compiler = DeviceCompiler::nvcc},
                                       CompileLimits{.seconds = 60});
  return result.status == Status::ok ? "" : result.log.substr(0, result.log.find('\n'));
}

CompileResult Nvcc::compile(const CompileRequest& request,
                            const CompileLimits& limits,
                            const std::stop_token& stop) const {
  if (auto refused = refused_request(request)) return std::move(*refused);
  if (const std::string problem = unknown_option(request); !problem.empty())
    return failed_compile(Status::compile_error, problem);
  const SourceText source = source_text(request.source);
  if (!source.problem.empty())
    return failed_compile(Status::compile_error, "the source is not UTF-8: " + source.problem);

  const TemporaryFolder folder("nvcc", scratch_.path());
  write_scratch(folder / kSourceName, nvcc_text(request, source.text));
  if (!write_headers(folder / kHeaderFolder, request.headers))
    return failed_compile(Status::compile_error, "a header's name leads out of its folder");

  std::vector<std::string> common{"-arch=" + request.arch};
  std::string level = "-std=c++17";
  for (const std::string& option : request.options) {
    const MacroOption macro = macro_option(option);
    if (!macro.define.empty() || !macro.undefine.empty()) continue;
    if (is_language_level(option)) {
      level = option;
    } else {
      common.push_back(option);
    }
  }
  std::vector<std::string> first{"--ptx", level, "-DNDEBUG"};
  if (!request.headers.empty()) first.push_back("-I" + std::string(kHeaderFolder));
  first.insert(first.end(), common.begin(), common.end());
  first.insert(first.end(), {"-o", "kernel.ptx", kSourceName});
  std::vector<std::string> second{"-cubin", "-Xptxas", "-v"};
  second.insert(second.end(), common.begin(), common.end());
  second.insert(second.end(), {"-o", "kernel.cubin", "entry.ptx"});

  CompilerRun compiler(folder.path(), environment_of(path_, folder.path().string()), sandbox_.get(),
                       limits, stop);
  CompileResult& result = compiler.result;
  std::string output;
  const auto runs = [&](std::vector<std::string> words) {
    words.insert(words.begin(), path_);
    const bool done = compiler.run(words);
    output = device_form(compiler.output());
    if (done || !compiler.refused()) return done;
    result.status = Status::compile_error;
    result.log = error_log(output, source.text);
    if (result.log.empty() && output.find("File size limit exceeded") != std::string::npos) {
      result.status = Status::limits_exceeded;
      result.log = "the compiled code exceeds " + std::to_string(limits.output_bytes) + " bytes\n";
    } else if (result.log.empty() &&
               output.find(std::string(kEntryVariable)) != std::string::npos) {
      result.log = "the source has no kernel " + request.kernel + "\n";
    }
    if (result.log.empty()) {
      // A program that nvcc could not start speaks of itself alone.
      const std::string reason = last_line(compiler.output());
      result.log = reason.starts_with("nvcc ") || reason.starts_with("sh: ")
                       ? reason + "\n"
                       : "the compiler gives no reason within the kernel's own text\n";
    }
    return false;
  };

  if (!runs(first)) return result;
  const std::string warnings = filter_log(output);
  result.ptx = read_scratch(folder / "kernel.ptx");
  result.lowered_name = take_entry_name(result.ptx);
  if (result.lowered_name.empty())
    return failed_compile(Status::compile_error,
                          "the source has no kernel " + request.kernel + "\n");
  write_scratch(folder / "entry.ptx", result.ptx);
  if (!runs(second)) return failed_compile(result.status, result.log);
  result.cubin = read_scratch(folder / "kernel.cubin");
  if (result.cubin.empty())
    return failed_compile(Status::compile_error, "the compiler made no machine code\n");
  if (result.ptx.size() + result.cubin.size() > limits.output_bytes)
    return failed_compile(
        Status::limits_exceeded,
        "the compiled code exceeds " + std::to_string(limits.output_bytes) + " bytes\n");
  result.status = Status::ok;
  result.log = warnings + filter_log(output);
  result.usage = parse_ptxas_info(output, result.lowered_name);
  return result;
}

std::string nvcc_text(const CompileRequest& request, const std::string& source) {
  std::string out;
  for (const std::string& option : request.options) {
    const MacroOption macro = macro_option(option);
    if (!macro.undefine.empty()) out += "#undef " + std::string(macro.undefine) + "\n";
    if (macro.define.empty()) continue;
    const std::size_t equals = macro.define.find('=');
    out += "#define " + std::string(macro.define.substr(0, equals)) + " " +
           (equals == std::string_view::npos ? "1" : std::string(macro.define.substr(equals + 1))) +
           "\n";
  }
  out += "#line 1 \"" + std::string(kSourceName) + "\"\n" + source + "\n";
  return out + "#line 1 \"entry\"\n__device__ const void* " + kEntryVariable + " = (const void*)&" +
         request.kernel + ";\n";
}

std::string take_entry_name(std::string& ptx) {
  const std::string marker = std::string(" ") + kEntryVariable + " = ";
  const std::size_t at = ptx.find(marker);
  if (at == std::string::npos) return "";
  const std::size_t newline = ptx.rfind('\n', at);
  const std::size_t begin = newline == std::string::npos ? 0 : newline + 1;
  const std::size_t end = ptx.find(';', at);
  if (end == std::string::npos) return "";
  const std::size_t name = at + marker.size();
  std::string out = ptx.substr(name, end - name);
  if (out.starts_with("generic(") && out.ends_with(")")) out = out.substr(8, out.size() - 9);
  ptx.erase(begin, std::min(ptx.find('\n', end), ptx.size() - 1) + 1 - begin);
  return out;
}

}  // namespace warpath::cuda
