#pragma once

#include <chrono>
#include <filesystem>
#include <map>
#include <memory>
#include <stop_token>
#include <string>
#include <vector>

#include "engine/base/hash.h"
#include "engine/plugin/options.h"
#include "engine/plugin/outcome.h"
#include "runners/host/options.h"
#include "runners/worker/sandbox.h"

namespace warpath::host {

/// A folder of this process's own below the system's temporary folder, removed on destruction;
/// folders that ended processes left behind are removed when one is made.
class ScratchFolder {
 public:
  /// Throws Error(environment) if none can be made.
  ScratchFolder();
  ~ScratchFolder();
  ScratchFolder(const ScratchFolder&) = delete;
  ScratchFolder& operator=(const ScratchFolder&) = delete;
  [[nodiscard]] const std::filesystem::path& path() const { return path_; }

 private:
  std::filesystem::path path_;
};

/// What to compile: macros are defined before the source's first line.
struct CompileJob {
  std::string source;                ///< CUDA C++ as written
  std::vector<std::string> kernels;  ///< names or name expressions of the entries, in the order
                                     ///< that WorkerClient::load counts them
  std::map<std::string, std::string, std::less<>> macros;
  std::map<std::string, std::int64_t, std::less<>> integers;  ///< those of them with integer values
};

struct Compiled {
  Status status = Status::ok;
  std::string gate;         ///< that failed: "source", "compile" or "imports"
  std::string log;          ///< why, or filtered diagnostics
  std::string object_path;  ///< status ok; lives as long as the compiler's scratch folder or until
                            ///< forgotten
  Hash128 binary{};         ///< of the object's bytes
  double seconds = 0;
};

/// Where the compiler and its parts are looked for, and all that their environment holds.
inline constexpr const char* kCompilerPath = "/usr/local/bin:/usr/bin:/bin";
[[nodiscard]] std::vector<std::string> compiler_environment();

/// Turns kernels into shared objects with the system compiler, in a confined child process
/// (ProgramSandbox) with an empty environment and limits on time, memory and output. Thread-safe.
class Compiler {
 public:
  /// Throws Error(environment) if the compiler cannot be started or cannot build a shared object.
  explicit Compiler(const HostOptions& options);

  [[nodiscard]] Compiled compile(const CompileJob& job, const std::stop_token& stop = {}) const;
  /// Deletes a compiled object.
  void forget(const std::string& object_path) const;
  /// First line of the compiler's --version.
  [[nodiscard]] const std::string& version() const { return version_; }
  [[nodiscard]] const std::filesystem::path& scratch() const { return scratch_.path(); }
  /// What confines it. Nothing where it does not work so: compilers that are scripts start shells.
  [[nodiscard]] Sandbox sandbox() const {
    return confinement_ ? confinement_->sandbox() : Sandbox{};
  }

 private:
  [[nodiscard]] std::vector<std::string> arguments() const;
  /// A kernel that every compiler takes; the log, or empty.
  [[nodiscard]] std::string try_out() const;

  HostOptions options_;
  ScratchFolder scratch_;
  std::unique_ptr<const ProgramSandbox> confinement_;
  std::string version_;
};

/// Empty, or what is wrong with `name` as the kernel's name or name expression.
[[nodiscard]] std::string kernel_name_problem(const std::string& name);

}  // namespace warpath::host
