#include "runners/worker/sandbox.h"

#include <fcntl.h>
#include <sys/prctl.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <cerrno>
#include <cstdint>
#include <span>

#include "runners/worker/system_calls.h"

namespace warpath {
namespace {

// Landlock's interface (linux/landlock.h), which older kernel headers lack in part. The numbers are
// the same on every architecture.
constexpr long kCreateRuleset = 444, kAddRule = 445, kRestrictSelf = 446;
constexpr unsigned kAskVersion = 1;
constexpr int kRuleOfPath = 1;
struct LandlockRuleset {
  std::uint64_t files = 0, network = 0, scopes = 0;
};
struct [[gnu::packed]] LandlockPath {
  std::uint64_t allowed = 0;
  std::int32_t parent = -1;
};
constexpr std::uint64_t kExecute = 1, kWriteFile = 1U << 1U, kReadFile = 1U << 2U,
                        kReadFolder = 1U << 3U, kTruncate = 1U << 14U;
constexpr std::uint64_t kOfFiles = kExecute | kWriteFile | kReadFile | kTruncate;

/// Every file right that a version knows: 13 in the first, then referring, truncating and, from the
/// fifth on, device controls.
std::uint64_t rights_of(int version) {
  constexpr std::uint64_t kFirst = (1U << 13U) - 1;
  return version >= 5   ? (1U << 16U) - 1
         : version >= 3 ? (1U << 15U) - 1
         : version == 2 ? (1U << 14U) - 1
                        : kFirst;
}

int landlock_version() {
  return static_cast<int>(std::max(0L, ::syscall(kCreateRuleset, nullptr, 0, kAskVersion)));
}

/// A ruleset that allows nothing that this version can restrict: files, TCP (from 4 on), abstract
/// sockets and signals to others (from 6 on). -1 if Landlock is not available.
int make_ruleset(int version) {
  if (version < 1) return -1;
  const LandlockRuleset rules{.files = rights_of(version),
                              .network = version >= 4 ? 3U : 0U,
                              .scopes = version >= 6 ? 3U : 0U};
  const std::size_t size = version >= 6 ? sizeof rules : version >= 4 ? 16U : 8U;
  const auto ruleset = static_cast<int>(::syscall(kCreateRuleset, &rules, size, 0));
  if (ruleset < 0) return -1;
  // Moves the descriptor above those that a child process replaces.
  const int high = ::fcntl(ruleset, F_DUPFD_CLOEXEC, 64);
  ::close(ruleset);
  return high;
}

void allow(int ruleset, const char* path, std::uint64_t rights) {
  const int place = ::open(path, O_PATH | O_CLOEXEC);
  if (place < 0) return;
  struct stat info{};
  const bool folder = ::fstat(place, &info) == 0 && S_ISDIR(info.st_mode);
  const LandlockPath rule{.allowed = folder ? rights : rights & kOfFiles, .parent = place};
  ::syscall(kAddRule, ruleset, kRuleOfPath, &rule, 0);
  ::close(place);
}

/// Confines the calling thread; the version, or 0.
int restrict_self(int ruleset, int version) {
  return ruleset >= 0 && ::syscall(kRestrictSelf, ruleset, 0) == 0 ? version : 0;
}

}  // namespace

std::string Sandbox::summary() const {
  std::string text;
  if (landlock > 0) text = "landlock " + std::to_string(landlock);
  if (seccomp) text += text.empty() ? "seccomp" : ", seccomp";
  return text.empty() ? "none" : text;
}

std::string Sandbox::missing() const {
  if (landlock > 0) return seccomp ? "" : "seccomp";
  return seccomp ? "landlock" : "landlock and seccomp";
}

Sandbox lock_down() {
  Sandbox sandbox;
  if (::prctl(PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0) != 0) return sandbox;
  const int version = landlock_version();
  const int ruleset = make_ruleset(version);
  sandbox.landlock = restrict_self(ruleset, version);
  if (ruleset >= 0) ::close(ruleset);
  sandbox.seccomp = install_filter(filter_for_libraries(), false);
  return sandbox;
}

ComputeOnly::ComputeOnly() {
  if (::prctl(PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0) != 0) return;
  ::prctl(PR_SET_DUMPABLE, 0, 0, 0, 0);
  const int version = landlock_version();
  const int ruleset = make_ruleset(version);
  if (ruleset < 0) return;
  if (!filters_offered()) allow(ruleset, ".", kReadFile);
  sandbox_.landlock = restrict_self(ruleset, version);
  ::close(ruleset);
}

Sandbox ComputeOnly::seal() {
  sandbox_.seccomp = install_filter(filter_for_present_code(), true) &&
                     install_filter(filter_for_computing(), true);
  return sandbox_;
}

ProgramSandbox::ProgramSandbox(const Access& access) {
  const int version = landlock_version();
  ruleset_ = make_ruleset(version);
  sandbox_ = {.landlock = ruleset_ >= 0 ? version : 0, .seccomp = filters_offered()};
  if (ruleset_ < 0) return;
  for (const std::string& path : access.read)
    allow(ruleset_, path.c_str(), kReadFile | kReadFolder);
  for (const std::string& path : access.execute)
    allow(ruleset_, path.c_str(), kReadFile | kReadFolder | kExecute);
  for (const std::string& path : access.write)
    allow(ruleset_, path.c_str(), rights_of(version) & ~kExecute);
}

ProgramSandbox::~ProgramSandbox() {
  if (ruleset_ >= 0) ::close(ruleset_);
}

void ProgramSandbox::enter() const noexcept {
  if (::prctl(PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0) != 0) return;
  static_cast<void>(restrict_self(ruleset_, 1));
  static_cast<void>(install_filter(filter_for_programs(), false));
}

Sandbox probe_sandbox() {
  Sandbox found;
  std::array<int, 2> ends{-1, -1};
  if (::pipe2(ends.data(), O_CLOEXEC) != 0) return found;
  const pid_t child = ::fork();
  if (child == 0) {
    const Sandbox sandbox = lock_down();
    ::_exit(::write(ends[1], &sandbox, sizeof sandbox) == static_cast<ssize_t>(sizeof sandbox) ? 0
                                                                                               : 1);
  }
  ::close(ends[1]);
  Sandbox read{};
  if (child > 0 && ::read(ends[0], &read, sizeof read) == static_cast<ssize_t>(sizeof read))
    found = read;
  ::close(ends[0]);
  if (child > 0) ::waitpid(child, nullptr, 0);
  return found;
}

}  // namespace warpath
