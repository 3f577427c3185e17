#pragma once

#include <chrono>
#include <filesystem>
#include <map>
#include <memory>
#include <stop_token>
#include <string>
#include <vector>

#include "engine/base/hash.h"
#include "engine/base/temporary_folder.h"
#include "engine/plugin/options.h"
#include "engine/plugin/outcome.h"
#include "runners/host/options.h"
#include "runners/worker/sandbox.h"

namespace warpath::host {

/// A compilation; macros are defined before the source's first line.
struct CompileJob {
  std::string source;                ///< CUDA C++ as written
  std::vector<std::string> kernels;  ///< names or name expressions of the entries, in the order in
                                     ///< which WorkerClient::load counts them
  std::map<std::string, std::string, std::less<>> macros;
  std::map<std::string, std::int64_t, std::less<>> integers;  ///< the macros with integer values
  /// Code for LaunchCommand::interleaved; the same text has been compiled and accepted without.
  bool interleaved = false;
};

struct Compiled {
  Status status = Status::ok;
  std::string gate;         ///< the failed gate: "source", "compile" or "imports"
  std::string log;          ///< reason, or filtered diagnostics
  std::string object_path;  ///< if ok; valid until forgotten or the compiler's scratch folder goes
  Hash128 binary{};         ///< of the object's bytes
  double seconds = 0;
};

/// Search path for the compiler and its parts; the only variable of their environment.
inline constexpr const char* kCompilerPath = "/usr/local/bin:/usr/bin:/bin";
[[nodiscard]] std::vector<std::string> compiler_environment();

/// Compiles kernels to shared objects with the system compiler, in a confined child process
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
  /// The compiler's confinement; none if it cannot run confined, as a script that starts shells.
  [[nodiscard]] Sandbox sandbox() const {
    return confinement_ ? confinement_->sandbox() : Sandbox{};
  }

 private:
  [[nodiscard]] std::vector<std::string> arguments(bool interleaved) const;
  /// Compiles a kernel that any compiler accepts; returns the log's first line if that fails, else
  /// empty.
  [[nodiscard]] std::string try_out() const;

  static constexpr const char* kFolder = "host";

  HostOptions options_;
  TemporaryFolder scratch_{kFolder};
  std::unique_ptr<const ProgramSandbox> confinement_;
  std::string version_;
};

/// What is wrong with `name` as a kernel's name or name expression; empty if nothing.
[[nodiscard]] std::string kernel_name_problem(const std::string& name);

}  // namespace warpath::host
