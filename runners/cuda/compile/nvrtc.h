#pragma once

#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace warpath::cuda {

/// An include file provided as text; `name` is as written in the #include.
struct Header {
  std::string name;
  std::string text;
};

/// One translation unit. Referenced objects must outlive the call.
struct NvrtcInput {
  const std::string& source;
  const std::vector<Header>& headers;
  const std::vector<std::string>& options;
  const std::string& kernel;  ///< entry or template instantiation, as a name expression
};

struct NvrtcOutput {
  bool compiled = false;
  bool out_of_memory = false;  ///< reported by the compiler
  std::string log;             ///< NVRTC's log, not to be shown unfiltered
  std::string ptx;
  std::string cubin;         ///< empty unless the options ask for a real architecture (sm_XX)
  std::string lowered_name;  ///< the entry's name in PTX and machine code
};

/// File name of the kernel's source, with which its diagnostics begin.
inline constexpr const char* kSourceName = "kernel.cu";

/// NVIDIA's run-time compiler, loaded at run time. Needs no GPU. Thread-safe.
class Nvrtc {
 public:
  /// Opens `library` (a path or a name for the loader) for the life of the process. nullopt, with
  /// one line in `why`, if it is missing, is not NVRTC, is too old, or the program was built
  /// without CUDA headers.
  [[nodiscard]] static std::optional<Nvrtc> open(const std::string& library, std::string& why);

  [[nodiscard]] int major() const { return major_; }
  [[nodiscard]] int minor() const { return minor_; }
  [[nodiscard]] std::string version() const {
    return std::to_string(major_) + "." + std::to_string(minor_);
  }
  /// Absolute path of the library.
  [[nodiscard]] const std::string& path() const { return path_; }
  /// Compute capabilities for which it generates machine code, as major * 10 + minor, ascending.
  [[nodiscard]] const std::vector<int>& architectures() const { return architectures_; }
  [[nodiscard]] NvrtcOutput compile(const NvrtcInput& input) const;

 private:
  struct Table;
  Nvrtc() = default;

  // shared by copies; the functions live as long as the process
  std::shared_ptr<const Table> table_;
  int major_ = 0;
  int minor_ = 0;
  std::string path_;
  std::vector<int> architectures_;
};

}  // namespace warpath::cuda
