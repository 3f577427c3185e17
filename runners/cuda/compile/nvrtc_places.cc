#include "runners/cuda/compile/nvrtc_places.h"

#include <cstdlib>
#include <filesystem>

namespace warpath::cuda {

std::vector<std::string> nvrtc_candidates() {
  const std::vector<std::string> names{"libnvrtc.so.13", "libnvrtc.so.12", "libnvrtc.so"};
  std::vector<std::string> folders;
  std::error_code error;
  const std::filesystem::path program = std::filesystem::read_symlink("/proc/self/exe", error);
  if (!error) {
    const std::filesystem::path folder = program.parent_path();
    folders.push_back((folder.parent_path() / "lib").string());
    folders.push_back((folder / "lib").string());
  }
  for (const char* variable : {"CUDA_PATH", "CUDA_HOME"}) {
    if (const char* value = std::getenv(variable); value != nullptr && *value != '\0') {
      folders.push_back(std::string(value) + "/lib64");
      folders.push_back(std::string(value) + "/lib");
    }
  }
  std::vector<std::string> candidates;
  const auto add_existing = [&](const std::string& folder) {
    for (const std::string& name : names) {
      if (std::filesystem::exists(folder + "/" + name, error))
        candidates.push_back(folder + "/" + name);
    }
  };
  for (const std::string& folder : folders) add_existing(folder);
  candidates.insert(candidates.end(), names.begin(), names.end());  // the loader's places
  for (const char* folder : {"/usr/local/cuda/lib64", "/usr/local/cuda/targets/x86_64-linux/lib",
                             "/usr/local/cuda/targets/sbsa-linux/lib", "/opt/cuda/lib64"}) {
    add_existing(folder);
  }
  return candidates;
}

std::optional<Nvrtc> open_nvrtc(std::string& why) {
  std::string first_reason;
  for (const std::string& candidate : nvrtc_candidates()) {
    if (auto nvrtc = Nvrtc::open(candidate, why)) return nvrtc;
    if (first_reason.empty() || std::filesystem::path(candidate).is_absolute()) first_reason = why;
  }
  why = first_reason +
        "; looked in lib/ beside the program, CUDA_PATH, CUDA_HOME, the loader's folders, "
        "/usr/local/cuda and /opt/cuda; "
        "install it (Debian: nvidia-cuda-toolkit, pip: nvidia-cuda-nvrtc) or set CUDA_PATH";
  return std::nullopt;
}

}  // namespace warpath::cuda
