#include "runners/cuda/compile/ptxas.h"

#include <algorithm>
#include <charconv>
#include <chrono>
#include <filesystem>
#include <string_view>
#include <utility>

#include "engine/base/ascii.h"
#include "engine/base/error.h"
#include "runners/cuda/compile/compile_options.h"
#include "runners/cuda/driver/toolkit_program.h"
#include "runners/worker/process.h"
#include "runners/worker/scratch_files.h"

namespace warpath::cuda {
namespace {

namespace fs = std::filesystem;

/// "kernel.ptx(12): error: REASON: the line" of the assembler's first error.
std::string first_error(const std::string& output, const std::string& ptx) {
  constexpr std::string_view kLine = ", line ";
  for (std::size_t begin = 0; begin < output.size();) {
    const std::size_t end = std::min(output.find('\n', begin), output.size());
    const std::string line = output.substr(begin, end - begin);
    begin = end + 1;
    const std::size_t error = std::min(line.find("; error"), line.find("; fatal"));
    const std::size_t place = line.find(kLine);
    if (error == std::string::npos || place == std::string::npos || place > error) continue;
    std::size_t number = 0;
    std::from_chars(line.data() + place + kLine.size(), line.data() + error, number);
    std::size_t at = 0;
    for (std::size_t i = 1; i < number && at != std::string::npos; ++i) {
      at = ptx.find('\n', at);
      if (at != std::string::npos) ++at;
    }
    const std::string text = at == std::string::npos
                                 ? ""
                                 : ptx.substr(at, std::min(ptx.find('\n', at), ptx.size()) - at);
    const std::size_t reason = line.find(": ", error);
    return "kernel.ptx(" + std::to_string(number) +
           "): error: " + (reason == std::string::npos ? "refused" : line.substr(reason + 2)) +
           ": " + last_line(text) + "\n";
  }
  const std::string last = last_line(output);
  return last.starts_with("ptxas") ? last + "\n"
                                   : "the assembler gives no reason within the kernel's own text\n";
}

/// Lines that begin with '#' are the preprocessor's, which could read other files.
bool has_directive(std::string_view text) {
  for (std::size_t begin = 0; begin < text.size();) {
    const std::size_t end = std::min(text.find('\n', begin), text.size());
    const std::size_t first = text.find_first_not_of(" \t", begin);
    if (first < end && text[first] == '#') return true;
    begin = end + 1;
  }
  return false;
}

}  // namespace

std::vector<std::string> system_folders() {
  return {"/usr/bin", "/bin", "/usr/lib", "/usr/lib64", "/lib", "/lib64"};
}

std::vector<std::pair<std::string, std::string>> macros_of(const CompileRequest& request) {
  std::vector<std::pair<std::string, std::string>> out;
  for (const std::string& option : request.options) {
    if (!option.starts_with("-D")) continue;
    const std::size_t equals = option.find('=');
    if (equals == std::string::npos) {
      out.emplace_back(option.substr(2), "1");
    } else {
      out.emplace_back(option.substr(2, equals - 2), option.substr(equals + 1));
    }
  }
  return out;
}

std::string with_values(const CompileRequest& request, std::string_view text) {
  const auto macros = macros_of(request);
  const auto in_name = [](char c) { return is_word(c) || c == '$' || c == '%'; };
  std::string out;
  for (auto it = text.begin(); it != text.end();) {
    if (!in_name(*it)) {
      out += *it++;
      continue;
    }
    const auto end = std::find_if_not(it, text.end(), in_name);
    const std::string word(it, end);
    it = end;
    const auto macro = std::ranges::find_if(macros, [&](const auto& m) { return m.first == word; });
    out += macro == macros.end() ? word : macro->second;
  }
  return out;
}

Ptxas::Ptxas() : path_(toolkit_program("ptxas")) {
  if (path_.empty())
    throw environment_error(
        "the spec's kernel_type is ptx, and ptxas is neither on PATH nor in CUDA_PATH, CUDA_HOME, "
        "/usr/local/cuda or /opt/cuda");
  std::error_code error;
  const fs::path real = fs::canonical(path_, error);
  ProgramSandbox::Access access{.read = {"/etc/ld.so.cache"},
                                .execute = system_folders(),
                                .write = {scratch_.path().string(), "/dev/null"}};
  access.execute.push_back((error ? fs::path(path_) : real).string());
  sandbox_ = std::make_unique<const ProgramSandbox>(access);
  const ProcessResult answer =
      run_process({.argv = {path_, "--version"}, .environment = {}, .sandbox = sandbox_.get()},
                  std::chrono::seconds(20), std::size_t{1} << 16U);
  if (answer.end != ProcessEnd::exited || answer.code != 0)
    throw environment_error(path_ + " does not work: " + last_line(answer.output));
  identity_ = "ptxas " + path_ + "\n" + answer.output;
}

CompileResult Ptxas::compile(const CompileRequest& request,
                             const CompileLimits& limits,
                             const std::stop_token& stop) const {
  if (auto refused = refused_request(request)) return std::move(*refused);
  std::string ptx = with_values(request, request.source);
  if (has_directive(ptx))
    return failed_compile(Status::compile_error, "a line of the PTX begins with '#'\n");
  const TemporaryFolder folder("ptx", scratch_.path());
  CompilerRun run(folder.path(), {"TMPDIR=" + folder.path().string(), "LC_ALL=C"}, sandbox_.get(),
                  limits, stop);
  assemble(path_, request, std::move(ptx), request.kernel, limits, run);
  return std::move(run.result);
}

void assemble(const std::string& program,
              const CompileRequest& request,
              std::string ptx,
              const std::string& entry,
              const CompileLimits& limits,
              CompilerRun& run) {
  write_scratch(run.folder() / "kernel.ptx", ptx);
  std::vector<std::string> argv{program, "-arch=" + request.arch, "-v",
                                "-o",    "kernel.cubin",          "kernel.ptx"};
  for (const std::string& option : request.options) {
    if (option.find("maxrregcount=") != std::string::npos)
      argv.push_back("--maxrregcount" + option.substr(option.find('=')));
    if (const auto own = assembler_option(option); !own.empty()) argv.emplace_back(own);
  }
  if (!run.run(argv)) {
    if (!run.refused()) return;
    run.result.status = Status::compile_error;
    run.result.log = first_error(run.output(), ptx);
    return;
  }
  CompileResult& result = run.result;
  result.cubin = read_scratch(run.folder() / "kernel.cubin");
  result.ptx = std::move(ptx);
  result.lowered_name = entry;
  result.usage = parse_ptxas_info(run.output(), entry);
  const bool fits = result.ptx.size() + result.cubin.size() <= limits.output_bytes;
  result.status = result.cubin.empty() ? Status::compile_error
                  : fits               ? Status::ok
                                       : Status::limits_exceeded;
  if (result.cubin.empty()) result.log = "the assembler made no machine code\n";
  if (!fits)
    result.log = "the compiled code exceeds " + std::to_string(limits.output_bytes) + " bytes\n";
}

}  // namespace warpath::cuda
