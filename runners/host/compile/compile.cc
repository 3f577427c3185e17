#include "runners/host/compile/compile.h"

#include <unistd.h>

#include <algorithm>
#include <atomic>
#include <cctype>
#include <cerrno>
#include <cstdio>
#include <sstream>

#include "engine/base/error.h"
#include "engine/base/format.h"
#include "engine/text/one_kernel.h"
#include "engine/text/source_text.h"
#include "runners/host/compile/imports.h"
#include "runners/host/compile/shim.h"
#include "runners/host/compile/toolchain.h"
#include "runners/host/compile/translate.h"
#include "runners/host/options.h"
#include "runners/worker/process.h"
#include "runners/worker/scratch_files.h"

namespace warpath::host {
namespace {

namespace fs = std::filesystem;

constexpr std::size_t kMaxOutput = 256 << 10;
constexpr std::size_t kMaxLog = 4 << 10;
constexpr std::int64_t kMaxFile = 256LL << 20;
constexpr std::size_t kMaxSource = 1 << 20;

std::atomic<std::uint64_t> next_name{0};  // names of files within a scratch folder

/// "kernel.cu: In function 'void k(float*)':", "required from here": where an error stands that
/// comes behind it, with its own line.
bool is_context(const std::string& line) {
  if (line.find("error") != std::string::npos) return false;
  const bool names_place = line.ends_with(':') && (line.find(": In ") != std::string::npos ||
                                                   line.find(": At ") != std::string::npos);
  return names_place || line.find("   required from ") != std::string::npos ||
         line.starts_with("                 from ");
}

/// Keeps the lines about the kernel, without the machine's paths.
std::string filtered(const std::string& output, const std::string& scratch) {
  std::string out;
  std::istringstream lines(output);
  for (std::string line; std::getline(lines, line) && out.size() < kMaxLog;) {
    for (std::size_t at; (at = line.find(scratch)) != std::string::npos;)
      line.erase(at, scratch.size() + 1);
    if (line.find("/usr/") != std::string::npos || line.starts_with("In file included") ||
        line.starts_with("compilation terminated") || is_context(line))
      continue;
    out += line + "\n";
  }
  if (out.size() > kMaxLog) out.resize(kMaxLog);
  while (!out.empty() && out.back() == '\n') out.pop_back();
  return out;
}

/// The line of the source behind each error about it, and the place where that is certain: the
/// compiler reads the translated text, whose columns may differ.
std::string with_source_lines(const std::string& log, const std::string& source) {
  std::vector<std::string> lines;
  std::istringstream text(source), messages(log);
  for (std::string line; std::getline(text, line);) lines.push_back(line);
  std::string out;
  for (std::string message; std::getline(messages, message) && out.size() < kMaxLog;) {
    out += message + "\n";
    std::size_t number = 0, column = 0;
    int read = 0;
    if (std::sscanf(message.c_str(), "kernel.cu:%zu:%zu: %n", &number, &column, &read) != 2 ||
        number < 1 || number > lines.size() ||
        message.compare(static_cast<std::size_t>(read), 5, "error") != 0) {
      continue;
    }
    const std::string& line = lines[number - 1];
    const std::size_t begin = std::min(line.find_first_not_of(" \t"), line.size());
    out += "    " + line.substr(begin) + "\n";
    const std::size_t open = message.find('\'', static_cast<std::size_t>(read)),
                      close = message.find('\'', open + 1);
    const std::string named =
        close < message.size() ? message.substr(open + 1, close - open - 1) : "";
    if (column > begin && !named.empty() &&
        line.compare(std::min(column - 1, line.size()), named.size(), named) == 0) {
      out += "    " + std::string(column - 1 - begin, ' ') + "^\n";
    }
  }
  if (out.ends_with('\n')) out.pop_back();
  return out;
}

bool out_of_memory(const std::string& output) {
  for (const char* const sign : {"out of memory", "virtual memory exhausted", "Killed",
                                 "cannot allocate memory", "bad_alloc"}) {
    if (output.find(sign) != std::string::npos) return true;
  }
  return false;
}

std::string whole_text(const CompileJob& job, const std::string& translated) {
  std::string text = "#include \"warpath_cuda.h\"\n";
  // What few kernels name is a tenth of what the compiler would read for the others.
  constexpr std::pair<const char*, const char*> kRare[] = {{"__v", "warpath_simd.h"},
                                                           {"half", "warpath_pairs.h"},
                                                           {"bfloat16", "warpath_pairs.h"},
                                                           {"inv", "warpath_inverse.h"},
                                                           {"std::m", "algorithm"}};
  for (const auto& [name, header] : kRare) {
    if (translated.find(name) != std::string::npos)
      text += std::string("#include \"") + header + "\"\n";
  }
  for (const auto& [name, value] : job.macros) text += "#define " + name + " " + value + "\n";
  text += "#line 1 \"kernel.cu\"\n" + translated + "\n#line 1 \"entry\"\nWARPATH_ENTRIES(";
  for (const auto& kernel : job.kernels)
    text += (&kernel == job.kernels.data() ? "" : ", ") + ("WARPATH_ENTRY(" + kernel + ")");
  return text + ")\n";
}

}  // namespace

std::string kernel_name_problem(const std::string& name) {
  if (name.empty() || name.size() > 512) return "a kernel name of 1 to 512 characters";
  int depth = 0;
  for (const char c : name) {
    if (std::isalnum(static_cast<unsigned char>(c)) == 0 &&
        std::string_view("_:<>, *&-()").find(c) == std::string_view::npos) {
      return "a kernel name or an instantiation like row_sum<float, 4>";
    }
    if (c == '(') ++depth;
    if (c == ')' && --depth < 0) return "balanced parentheses";
  }
  return depth == 0 ? "" : "balanced parentheses";
}

Compiler::Compiler(const HostOptions& options) : options_(options) {
  TemporaryFolder::remove_leftovers(kFolder);
  for (const auto& file : shim_files()) write_scratch(scratch_.path() / file.name, file.text);
  ProcessSpec probe;
  probe.argv = {options_.compiler, "--version"};
  probe.environment = compiler_environment();
  const auto result = run_process(probe, std::chrono::seconds(20), kMaxOutput);
  if (result.end != ProcessEnd::exited || result.code != 0) {
    throw environment_error("host.compiler " + options_.compiler +
                            " does not work: " + result.output.substr(0, 200));
  }
  version_ = result.output.substr(0, result.output.find('\n'));
  confinement_ = std::make_unique<const ProgramSandbox>(
      compiler_access(options_.compiler, scratch_.path().string()));
  std::string log = try_out();
  if (!log.empty()) {
    confinement_.reset();
    log = try_out();
  }
  if (!log.empty())
    throw environment_error("host.compiler " + options_.compiler +
                            " cannot build a kernel: " + log);
}

std::string Compiler::try_out() const {
  CompileJob job;
  job.source = "__global__ void probe(int* x) { *x = 1; }";
  job.kernels = {"probe"};
  const auto trial = compile(job);
  if (trial.status != Status::ok) return trial.log.substr(0, trial.log.find('\n'));
  forget(trial.object_path);
  return {};
}

std::vector<std::string> compiler_environment() {
  return {std::string("PATH=") + kCompilerPath, "LC_ALL=C"};
}

std::vector<std::string> Compiler::arguments(bool interleaved) const {
  std::vector<std::string> out{options_.compiler, "-x",     "c++", "-std=gnu++17", "-w",
                               "-fPIC",           "-shared"};
  std::istringstream words(options_.optimization);
  for (std::string word; words >> word;) out.push_back(word);
  for (const char* const flag : {"-fno-exceptions",
                                 "-fno-rtti",
                                 "-fno-strict-aliasing",
                                 "-fno-math-errno",
                                 "-fwrapv",
                                 "-ffp-contract=off",
                                 "-fvisibility=hidden",
                                 "-fno-plt",
                                 "-fno-threadsafe-statics",
                                 "-fno-asynchronous-unwind-tables",
                                 "-fno-stack-protector",
                                 "-fstack-clash-protection",
                                 "-fcf-protection=none",
                                 "-fdiagnostics-color=never",
                                 "-fmax-errors=8",
                                 "-Wl,-z,now",
                                 "-Wl,-z,relro",
                                 "-Wl,--build-id=none",
                                 "-Wl,--no-undefined-version",
                                 "-s",
                                 "-nostartfiles",
                                 "-nodefaultlibs"}) {
    out.push_back(flag);
  }
#ifdef __x86_64__
  out.push_back("-mtls-dialect=gnu2");  // shared variables without a call a use
#else
  std::erase(out, "-fcf-protection=none");
#endif
  if (version_.find("clang") != std::string::npos) {
    std::erase(out, "-mtls-dialect=gnu2");
    std::erase(out, "-fmax-errors=8");
    out.push_back("-ferror-limit=8");
  } else {
    out.push_back("-fno-gnu-unique");
  }
  if (interleaved) {
    out.push_back("-fsanitize=thread,alignment");
    out.push_back("-DWARPATH_INTERLEAVED");
  }
  out.push_back("-I.");
  return out;
}

Compiled Compiler::compile(const CompileJob& job, const std::stop_token& stop) const {
  Compiled out;
  const auto fail = [&](Status status, const char* gate, const std::string& log) {
    out.status = status, out.gate = gate, out.log = log.substr(0, kMaxLog);
    return out;
  };
  if (job.source.size() > kMaxSource)
    return fail(Status::limits_exceeded, "source", "the source is longer than 1 MiB");
  for (const auto& kernel : job.kernels) {
    if (const auto problem = kernel_name_problem(kernel); !problem.empty())
      return fail(Status::rejected, "source", "expected " + problem);
  }
  const SourceText text = source_text(job.source);
  if (!text.problem.empty())
    return fail(Status::compile_error, "compile", "the source is not UTF-8: " + text.problem);
  const Translation translation =
      translate(without_other_kernels(text.text, job.kernels), job.integers);
  if (translation.end == Translation::End::refused)
    return fail(Status::rejected, "source", translation.why);
  if (translation.end == Translation::End::not_supported)
    return fail(Status::not_applicable, "source", translation.why);

  const std::string stem = "k" + std::to_string(next_name++);
  const fs::path source = scratch_.path() / (stem + ".cc"),
                 object = scratch_.path() / (stem + ".so");
  write_scratch(source, whole_text(job, translation.text));
  ProcessSpec child{.argv = arguments(job.interleaved),
                    .environment = compiler_environment(),
                    .directory = scratch_.path().string(),
                    .memory_bytes = options_.memory_mib << 20,
                    .file_bytes = kMaxFile,
                    .cpu_seconds = static_cast<std::int64_t>(options_.compile_seconds) + 1,
                    .sandbox = confinement_.get()};
  child.environment.push_back("TMPDIR=" + scratch_.path().string());
  for (const auto& word : {stem + ".cc", std::string("-o"), stem + ".so", std::string("-lm"),
                           std::string("-lc"), std::string("-lgcc")}) {
    child.argv.push_back(word);
  }
  const auto result =
      run_process(child, std::chrono::duration<double>(options_.compile_seconds), kMaxOutput, stop);
  out.seconds = result.seconds;
  std::error_code ignored;
  fs::remove(source, ignored);
  if (result.end == ProcessEnd::exited && result.code == 0) {
    const std::string bytes = read_scratch(object);
    std::string problem;
    const std::string refused = refused_content(
        std::as_bytes(std::span(bytes.data(), bytes.size())), problem, job.interleaved);
    if (refused.empty() && problem.empty()) {
      out.object_path = object.string();
      out.binary = hash128(bytes);
      return out;
    }
    fs::remove(object, ignored);
    if (!problem.empty()) return fail(Status::compile_error, "compile", problem);
    return fail(Status::rejected, "imports", "the kernel " + refused);
  }
  fs::remove(object, ignored);
  const std::string log =
      with_source_lines(filtered(result.output, scratch_.path().string()), text.text);
  switch (result.end) {
    case ProcessEnd::timed_out:
      return fail(Status::timed_out, "compile",
                  "compiling took longer than " + number_text(options_.compile_seconds) +
                      " s (host.compile_seconds)");
    case ProcessEnd::too_verbose:
      return fail(Status::limits_exceeded, "compile",
                  "the compiler printed more than 256 KiB\n" + log);
    case ProcessEnd::stopped:
      return fail(Status::compile_error, "compile", "stopped");
    default:
      break;
  }
  if (out_of_memory(result.output)) {
    return fail(Status::limits_exceeded, "compile",
                "compiling took more than " + std::to_string(options_.memory_mib) +
                    " MiB (host.memory_mib)");
  }
  return fail(Status::compile_error, "compile",
              log.empty() ? "the compiler failed without a diagnostic about the kernel" : log);
}

void Compiler::forget(const std::string& object_path) const {
  std::error_code ignored;
  fs::remove(object_path, ignored);
}

}  // namespace warpath::host
