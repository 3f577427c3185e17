#include "runners/worker/worker_process.h"

#include <unistd.h>

#include <array>
#include <cerrno>
#include <cstdlib>
#include <cstring>
#include <filesystem>
#include <span>

#include "engine/base/error.h"

namespace warpath {
namespace {

constexpr std::int64_t kOpenFiles = 64;

ProcessSpec locked_down(const WorkerCommand& command, const std::string& folder) {
  ProcessSpec spec;
  spec.argv = command.argv;
  spec.directory = folder;
  spec.memory_bytes = static_cast<std::int64_t>(command.memory_bytes);
  spec.file_bytes = 1;
  spec.open_files = kOpenFiles;
  return spec;
}

}  // namespace

WorkerProcess::EmptyFolder::EmptyFolder() {
  std::error_code error;
  const std::filesystem::path base = std::filesystem::temp_directory_path(error);
  path = (error ? std::filesystem::path("/tmp") : base) / "warpath-worker-XXXXXX";
  if (::mkdtemp(path.data()) == nullptr)
    throw environment_error(path + ": cannot be made: " + std::strerror(errno));
}

WorkerProcess::EmptyFolder::~EmptyFolder() {
  ::rmdir(path.c_str());
}

WorkerProcess::WorkerProcess(const WorkerCommand& command)
    : child_(locked_down(command, folder_.path)) {}

void WorkerProcess::send(std::string_view payload) {
  outgoing_ += frame(payload);
  static_cast<void>(pump());
}

bool WorkerProcess::pump() {
  while (!outgoing_.empty()) {
    const auto put = child_.write_some(std::as_bytes(std::span(outgoing_)));
    if (!put || *put == 0) break;  // gone, or full: reading tells which
    outgoing_.erase(0, *put);
  }
  std::array<char, 1U << 16U> bytes;
  while (const auto got = child_.read_some(std::as_writable_bytes(std::span(bytes)))) {
    if (*got == 0) return !decoder_.broken();
    decoder_.feed({bytes.data(), *got});
  }
  return false;
}

}  // namespace warpath
