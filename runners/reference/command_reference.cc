#include "runners/reference/command_reference.h"

#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>

#include <cerrno>
#include <charconv>
#include <cstdlib>
#include <cstring>
#include <filesystem>
#include <fstream>

#include "engine/base/error.h"
#include "engine/base/temporary_folder.h"
#include "engine/spec/npy.h"
#include "runners/reference/host_op.h"
#include "runners/worker/process.h"

namespace warpath {
namespace {

constexpr std::size_t kMaxPrintedBytes = std::size_t{1} << 20U;
constexpr const char* kPassedVariables[] = {"PATH",
                                            "HOME",
                                            "USER",
                                            "LANG",
                                            "LC_ALL",
                                            "TMPDIR",
                                            "LD_LIBRARY_PATH",
                                            "PYTHONPATH",
                                            "VIRTUAL_ENV",
                                            "CUDA_VISIBLE_DEVICES"};

std::string npy(const TemporaryFolder& folder, const std::string& argument) {
  return (folder / (argument + ".npy")).string();
}

std::string json_number(const std::variant<std::int64_t, double, bool>& value) {
  if (const auto* boolean = std::get_if<bool>(&value)) return *boolean ? "true" : "false";
  char text[32];
  const auto end = std::holds_alternative<std::int64_t>(value)
                       ? std::to_chars(text, text + sizeof text, std::get<std::int64_t>(value)).ptr
                       : std::to_chars(text, text + sizeof text, std::get<double>(value)).ptr;
  return {text, end};
}

void write_scalars(const std::string& path, const ScalarMap& scalars) {
  std::ofstream file(path);
  file << "{";
  const char* separator = "";
  for (const auto& [name, value] : scalars) {
    file << separator << '"' << name << "\": " << json_number(value);
    separator = ", ";
  }
  file << "}\n";
  file.close();
  if (!file) throw environment_error("cannot write " + path);
}

/// Dates the file back to 1970, so that any later write shows in `written`.
void mark_unwritten(const std::string& path) {
  const timespec epoch[2] = {};
  if (::utimensat(AT_FDCWD, path.c_str(), epoch, 0) != 0) {
    throw environment_error("cannot set the time of " + path + ": " + std::strerror(errno));
  }
}

bool written(const std::string& path) {
  struct stat status{};
  return ::stat(path.c_str(), &status) == 0 && status.st_mtim.tv_sec != 0;
}

/// What went wrong, or empty.
std::string failure_of(const ProcessResult& result, double timeout_s) {
  switch (result.end) {
    case ProcessEnd::exited:
      return result.code == 0 ? "" : "ended with exit status " + std::to_string(result.code);
    case ProcessEnd::signalled:
      return "was ended by signal " + std::to_string(result.code);
    case ProcessEnd::timed_out:
      return "did not end within " + json_number(timeout_s) + " s (timeout_s)";
    case ProcessEnd::too_verbose:
      return "printed more than " + std::to_string(kMaxPrintedBytes) + " bytes";
    case ProcessEnd::stopped:
      return "was stopped";
  }
  return {};
}

class CommandReference final : public ReferenceSource {
 public:
  CommandReference(const KernelSpec& spec, ReferenceCommand command, const ReferenceConfig& config)
      : place_(spec.origin + ": reference command"),
        command_(std::move(command)),
        scratch_(config.scratch_folder) {
    if (command_.argv.empty() || command_.argv[0].empty())
      throw bad_input(place_ + ", argv", "", "a program to run");
  }

  TensorMap compute(const ReferenceInput& input) override {
    const TemporaryFolder folder("reference", scratch_);
    for (const auto& [name, tensor] : input.tensors) write_npy(npy(folder, name), tensor);
    write_scalars((folder / "scalars.json").string(), input.scalars);
    for (const ArgSpec& arg : input.spec.io.args) {
      if (arg.role == ArgRole::inout) mark_unwritten(npy(folder, arg.name));
    }
    run(folder.path().string());
    TensorMap outputs;
    for (const ArgSpec& arg : input.spec.io.args) {
      if (arg.role != ArgRole::output && arg.role != ArgRole::inout) continue;
      outputs[arg.name] = read_output(arg, input, npy(folder, arg.name));
    }
    return outputs;
  }

 private:
  [[nodiscard]] Error failed(const std::string& why) const {
    return environment_error(place_ + " " + command_.argv[0] + " " + why);
  }

  void run(const std::string& folder) const {
    ProcessSpec process;
    for (std::string argument : command_.argv) {
      for (std::size_t at = 0; (at = argument.find("{dir}", at)) != std::string::npos;
           at += folder.size()) {
        argument.replace(at, 5, folder);
      }
      process.argv.push_back(argument);
    }
    for (const char* name : kPassedVariables) {
      if (const char* value = std::getenv(name))
        process.environment.push_back(std::string(name) + "=" + value);
    }
    const ProcessResult result =
        run_process(process, std::chrono::duration<double>(command_.timeout_s), kMaxPrintedBytes);
    std::string failure = failure_of(result, command_.timeout_s);
    if (failure.empty()) return;
    if (const std::string said = last_line(result.output); !said.empty())
      failure += "; it said: " + said;
    throw failed(failure);
  }

  [[nodiscard]] Tensor read_output(const ArgSpec& arg,
                                   const ReferenceInput& input,
                                   const std::string& path) const {
    const std::string file = arg.name + ".npy";
    if (!written(path)) throw failed("did not write " + file);
    const DType dtype = input.spec.tensor_of(arg, input.workload).dtype;
    Tensor out = read(path, file, dtype);
    const auto shape = input.spec.shape_of(arg, input.workload);
    if (out.shape != shape)
      throw failed("wrote " + file + " of shape " + shape_text(out.shape) + ", expected " +
                   shape_text(shape));
    return out;
  }

  [[nodiscard]] Tensor read(const std::string& path, const std::string& file, DType dtype) const {
    const auto bad_file = [&](const Error& error) {
      const std::string what = error.what();
      return failed("wrote a bad " + file + what.substr(what.find(path) == 0 ? path.size() : 0));
    };
    try {
      return read_npy(path, dtype);
    } catch (const Error& error) {
      if (!info(dtype).is_float || dtype == DType::f64) throw bad_file(error);
      try {
        return read_npy(path, DType::f64);
      } catch (const Error&) {
        throw bad_file(error);  // which names the type that was asked for
      }
    }
  }

  std::string place_;
  ReferenceCommand command_;
  std::string scratch_;
};

}  // namespace

std::unique_ptr<ReferenceSource> make_command_reference(const KernelSpec& spec,
                                                        const ReferenceCommand& command,
                                                        const ReferenceConfig& config) {
  return std::make_unique<CommandReference>(spec, command, config);
}

}  // namespace warpath
