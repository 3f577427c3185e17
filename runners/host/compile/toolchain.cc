#include "runners/host/compile/toolchain.h"

#include <chrono>
#include <filesystem>
#include <sstream>

#include "runners/host/compile/compile.h"
#include "runners/worker/process.h"

namespace warpath::host {
namespace {

namespace fs = std::filesystem;

constexpr std::size_t kMostAnswer = 64 << 10;

/// The first line that the compiler answers to `question`; empty if it has no answer.
std::string ask(const std::string& compiler, const std::string& question) {
  const ProcessSpec spec{.argv = {compiler, question}, .environment = compiler_environment()};
  const ProcessResult result = run_process(spec, std::chrono::seconds(20), kMostAnswer);
  if (result.end != ProcessEnd::exited || result.code != 0) return {};
  return result.output.substr(0, result.output.find('\n'));
}

/// The file that a program's name means in the compiler's PATH, without symbolic links; empty if
/// there is none.
std::string program_file(const std::string& name) {
  std::string folders = name.find('/') == std::string::npos ? kCompilerPath : "";
  std::istringstream list(folders.empty() ? std::string(".") : folders);
  for (std::string folder; std::getline(list, folder, ':');) {
    std::error_code missing;
    const fs::path found =
        fs::canonical(folders.empty() ? fs::path(name) : fs::path(folder) / name, missing);
    if (!missing) return found.string();
  }
  return {};
}

}  // namespace

ProgramSandbox::Access compiler_access(const std::string& compiler, const std::string& scratch) {
  ProgramSandbox::Access out;
  out.write = {scratch, "/dev/null"};
  out.read = {
      "/usr/include",      "/usr/lib",    "/usr/lib64", "/usr/libexec",     "/usr/local/include",
      "/usr/local/lib",    "/lib",        "/lib64",     "/etc/ld.so.cache", "/etc/ld.so.conf",
      "/etc/ld.so.conf.d", "/dev/urandom"};
  const std::string driver = program_file(compiler);
  out.execute.push_back(driver);
  for (const char* const part : {"cc1plus", "collect2", "as", "ld", "lto-wrapper"}) {
    const std::string file = program_file(ask(compiler, std::string("-print-prog-name=") + part));
    if (!file.empty()) out.execute.push_back(file);
  }
  // The programs' own loader.
  for (const char* const loader : {"/lib64/ld-linux-x86-64.so.2", "/lib/ld-linux-aarch64.so.1"})
    out.execute.emplace_back(loader);
  // A compiler that is not the system's brings its headers and libraries along.
  const fs::path prefix = fs::path(driver).parent_path().parent_path();
  if (prefix.has_relative_path() && prefix != "/usr") {
    for (const char* const folder : {"include", "lib", "lib64", "libexec", "share"})
      out.read.push_back((prefix / folder).string());
  }
  if (const std::string library = ask(compiler, "-print-file-name=libm.so");
      library.find('/') != std::string::npos)
    out.read.push_back(fs::path(library).parent_path().string());
  return out;
}

}  // namespace warpath::host
