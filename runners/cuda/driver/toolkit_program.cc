#include "runners/cuda/driver/toolkit_program.h"

#include <unistd.h>

#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <sstream>
#include <string_view>
#include <vector>

namespace warpath::cuda {
namespace {

/// The program that a script starts which has no other line than `exec PROGRAM ...`; `path` itself
/// if it is anything else.
std::string behind_wrapper(const std::string& path) {
  constexpr std::string_view kExec = "exec ";
  std::ifstream script(path);
  std::string line;
  if (!std::getline(script, line) || !line.starts_with("#!")) return path;
  std::filesystem::path target;
  while (std::getline(script, line)) {
    if (line.empty() || line.front() == '#') continue;
    if (!line.starts_with(kExec) || !target.empty()) return path;
    std::istringstream(line.substr(kExec.size())) >> target;
  }
  return target.is_absolute() && ::access(target.c_str(), X_OK) == 0 ? target.string() : path;
}

}  // namespace

std::string toolkit_program(const std::string& name) {
  namespace fs = std::filesystem;
  std::vector<fs::path> folders;
  if (const char* const path = std::getenv("PATH")) {
    std::stringstream list(path);
    for (std::string folder; std::getline(list, folder, ':');) folders.emplace_back(folder);
  }
  for (const char* const variable : {"CUDA_PATH", "CUDA_HOME"}) {
    if (const char* const value = std::getenv(variable); value != nullptr && *value != '\0')
      folders.push_back(fs::path(value) / "bin");
  }
  for (const char* const usual : {"/usr/local/cuda/bin", "/opt/cuda/bin", "/usr/lib/cuda/bin"})
    folders.emplace_back(usual);
  for (const fs::path& folder : folders) {
    std::error_code error;
    const fs::path program = fs::absolute(folder / name, error);
    if (!error && fs::is_regular_file(program, error) && ::access(program.c_str(), X_OK) == 0)
      return behind_wrapper(program.string());
  }
  return "";
}

}  // namespace warpath::cuda
