#include "runners/cuda/counters/cupti_places.h"

#include <glob.h>

#include <algorithm>
#include <cstdlib>
#include <filesystem>

namespace warpath::cuda {
namespace {

namespace fs = std::filesystem;

/// Files that match `pattern`, the highest version first.
std::vector<std::string> matches(const std::string& pattern) {
  glob_t found{};
  std::vector<std::string> files;
  if (::glob(pattern.c_str(), 0, nullptr, &found) == 0) {
    for (std::size_t i = found.gl_pathc; i-- > 0;) files.emplace_back(found.gl_pathv[i]);
  }
  ::globfree(&found);
  return files;
}

/// CUDA_PATH and CUDA_HOME where they are set.
std::vector<std::string> named_installations() {
  std::vector<std::string> folders;
  for (const char* variable : {"CUDA_PATH", "CUDA_HOME"}) {
    if (const char* value = std::getenv(variable); value != nullptr && *value != '\0')
      folders.emplace_back(value);
  }
  return folders;
}

void append(std::vector<std::string>& list, const std::vector<std::string>& more) {
  for (const std::string& each : more) {
    if (std::ranges::find(list, each) == list.end()) list.push_back(each);
  }
}

}  // namespace

std::vector<std::string> cupti_candidates(const std::string& beside) {
  std::vector<std::string> folders;
  if (const fs::path library(beside); library.is_absolute()) {
    const std::string folder = library.parent_path().string();
    for (const char* relative :
         {"", "/../extras/CUPTI/lib64", "/../../../extras/CUPTI/lib64", "/../../cuda_cupti/lib"}) {
      folders.push_back(folder + relative);
    }
  }
  std::error_code error;
  const fs::path program = fs::read_symlink("/proc/self/exe", error);
  if (!error) folders.push_back((program.parent_path() / "lib").string());
  for (const std::string& folder : named_installations()) {
    append(folders, {folder + "/extras/CUPTI/lib64", folder + "/lib64", folder + "/lib"});
  }
  for (const char* variable : {"VIRTUAL_ENV", "CONDA_PREFIX"}) {
    const char* const value = std::getenv(variable);
    if (value == nullptr || *value == '\0') continue;
    for (const std::string& file : matches(
             std::string(value) + "/lib/python3*/site-packages/nvidia/c*/lib/libcupti.so.1[23]")) {
      append(folders, {fs::path(file).parent_path().string()});
    }
  }
  std::vector<std::string> candidates;
  const auto add_files = [&](const std::string& folder) {
    for (const char* name : {"libcupti.so.13", "libcupti.so.12"}) {
      if (fs::exists(folder + "/" + name, error)) append(candidates, {folder + "/" + name});
    }
  };
  for (const std::string& folder : folders) add_files(folder);
  append(candidates, {"libcupti.so.13", "libcupti.so.12"});  // the loader's places
  for (const char* folder : {"/usr/local/cuda/extras/CUPTI/lib64", "/usr/local/cuda/lib64",
                             "/opt/cuda/extras/CUPTI/lib64"}) {
    add_files(folder);
  }
  for (const char* pattern :
       {"/usr/local/cuda-1*/extras/CUPTI/lib64/libcupti.so.1[23]",
        "/usr/local/cuda-1*/lib64/libcupti.so.1[23]", "/usr/lib/*-linux-gnu/libcupti.so.1[23]",
        "/usr/lib/python3*/*-packages/nvidia/c*/lib/libcupti.so.1[23]",
        "/usr/local/lib/python3*/*-packages/nvidia/c*/lib/libcupti.so.1[23]",
        "/opt/*/lib/python3*/*-packages/nvidia/c*/lib/libcupti.so.1[23]",
        "/opt/nvidia/nsight-systems/*/target-linux-*/libcupti.so.1[23]*"}) {
    append(candidates, matches(pattern));
  }
  return candidates;
}

std::vector<std::string> ncu_candidates() {
  std::vector<std::string> candidates;
  std::error_code error;
  const auto add = [&](const std::string& path) {
    if (fs::exists(path, error)) append(candidates, {path});
  };
  const char* path = std::getenv("PATH");
  std::string rest = path == nullptr ? "" : path;
  while (!rest.empty()) {
    const std::size_t end = std::min(rest.find(':'), rest.size());
    if (end > 0) add(rest.substr(0, end) + "/ncu");
    rest.erase(0, std::min(end + 1, rest.size()));
  }
  for (const std::string& folder : named_installations()) add(folder + "/bin/ncu");
  add("/usr/local/cuda/bin/ncu");
  append(candidates, matches("/opt/nvidia/nsight-compute/*/ncu"));
  return candidates;
}

}  // namespace warpath::cuda
