#include "experiments/capture/application.h"

#include <spawn.h>
#include <sys/wait.h>
#include <unistd.h>

#include <cerrno>
#include <csignal>
#include <cstdlib>
#include <cstring>
#include <utility>

#include "engine/base/error.h"

namespace warpath {

namespace fs = std::filesystem;

namespace {

constexpr const char* kLibrary = "libwarpath_capture.so";

/// This process's environment with some variables replaced.
std::vector<std::string> environment_with(
    const std::vector<std::pair<std::string, std::string>>& changed) {
  std::vector<std::string> out;
  for (char** one = environ; *one != nullptr; ++one) {
    const std::string entry = *one;
    bool kept = true;
    for (const auto& [name, value] : changed) kept = kept && !entry.starts_with(name + "=");
    if (kept) out.push_back(entry);
  }
  for (const auto& [name, value] : changed) out.push_back(name + "=" + value);
  return out;
}

std::vector<char*> pointers_to(std::vector<std::string>& words) {
  std::vector<char*> out;
  for (std::string& word : words) out.push_back(word.data());
  out.push_back(nullptr);
  return out;
}

/// Leaves Ctrl-C to the child while it runs.
class InterruptsIgnored {
 public:
  InterruptsIgnored() {
    struct sigaction ignore{};
    ignore.sa_handler = SIG_IGN;
    ::sigaction(SIGINT, &ignore, &interrupt_);
    ::sigaction(SIGQUIT, &ignore, &quit_);
  }
  ~InterruptsIgnored() {
    ::sigaction(SIGINT, &interrupt_, nullptr);
    ::sigaction(SIGQUIT, &quit_, nullptr);
  }
  InterruptsIgnored(const InterruptsIgnored&) = delete;
  InterruptsIgnored& operator=(const InterruptsIgnored&) = delete;

 private:
  struct sigaction interrupt_{}, quit_{};
};

}  // namespace

fs::path capture_library(const fs::path& program) {
  const fs::path folder = program.parent_path();
  for (const char* const place : {"../lib", "../lib/x86_64-linux-gnu", "../runners/cuda"}) {
    const fs::path file = folder / place / kLibrary;
    std::error_code error;
    if (!fs::exists(file, error)) continue;
    const fs::path found = fs::weakly_canonical(file);
    if (found.string().find_first_of(" :") == std::string::npos) return found;
    throw environment_error(found.string() +
                            ": the loader takes no path with blanks or colons: move the program");
  }
  throw environment_error(std::string(kLibrary) +
                          " does not lie beside the program; a build without the CUDA headers has "
                          "none (`warpath doctor`)");
}

int run_application(const CapturedApplication& application) {
  std::string contents;
  for (const std::string& one : application.contents)
    contents += (contents.empty() ? "" : ",") + one;
  const char* const before = std::getenv("LD_PRELOAD");
  std::vector<std::string> words = application.command;
  std::vector<std::string> variables = environment_with(
      {{"LD_PRELOAD", application.library.string() +
                          (before == nullptr || *before == '\0' ? "" : ":" + std::string(before))},
       {"WARPATH_CAPTURE", application.folder.string()},
       {"WARPATH_CAPTURE_CONTENTS", contents}});
  const std::vector<char*> argv = pointers_to(words), envp = pointers_to(variables);

  posix_spawnattr_t attributes;
  ::posix_spawnattr_init(&attributes);
  sigset_t defaults;
  ::sigemptyset(&defaults);
  for (const int number : {SIGINT, SIGQUIT, SIGXFSZ}) ::sigaddset(&defaults, number);
  ::posix_spawnattr_setsigdefault(&attributes, &defaults);
  ::posix_spawnattr_setflags(&attributes, POSIX_SPAWN_SETSIGDEF);
  const InterruptsIgnored ignored;
  pid_t child = -1;
  const int failed =
      ::posix_spawnp(&child, argv[0], nullptr, &attributes, argv.data(), envp.data());
  ::posix_spawnattr_destroy(&attributes);
  if (failed != 0)
    throw environment_error(application.command[0] +
                            " cannot be started: " + std::strerror(failed));
  int status = 0;
  while (::waitpid(child, &status, 0) < 0 && errno == EINTR) {
  }
  return WIFSIGNALED(status) ? 128 + WTERMSIG(status) : WEXITSTATUS(status);
}

}  // namespace warpath
