#include "experiments/project/project_folders.h"

#include <algorithm>
#include <array>
#include <cstddef>
#include <string_view>
#include <system_error>

namespace warpath {

namespace fs = std::filesystem;

namespace {

constexpr std::size_t kMostLevels = 10;
constexpr std::array<std::string_view, 7> kTopFiles{
    "LICENSE", "README.md", "README", "setup.py", "pyproject.toml", "CMakeLists.txt", "Makefile"};

bool has(const fs::path& folder, std::string_view name) {
  std::error_code none;
  return fs::exists(folder / name, none);
}

}  // namespace

std::vector<std::string> project_folders(const fs::path& file) {
  std::vector<fs::path> around;  // innermost first
  std::size_t levels = 0;        // of them in the project
  for (fs::path at = fs::absolute(file).lexically_normal().parent_path();
       at.has_relative_path() && around.size() < kMostLevels; at = at.parent_path()) {
    around.push_back(at);
    if (has(at, ".git")) {
      levels = around.size();
      break;
    }
    if (std::ranges::any_of(kTopFiles, [&](std::string_view name) { return has(at, name); }))
      levels = around.size();
  }
  std::vector<std::string> out;
  for (std::size_t i = 0; i < levels; ++i) {
    out.push_back(around[i].string());
    if (has(around[i], "include")) out.push_back((around[i] / "include").string());
  }
  return out;
}

}  // namespace warpath
