#include "runners/cuda/driver/toolkit_program.h"

#include <unistd.h>

#include <cstdlib>
#include <filesystem>
#include <sstream>
#include <vector>

namespace warpath::cuda {

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
      return program.string();
  }
  return "";
}

}  // namespace warpath::cuda
