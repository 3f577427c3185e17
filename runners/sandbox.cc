#include "runners/sandbox.h"

#include <linux/audit.h>
#include <linux/filter.h>
#include <linux/seccomp.h>
#include <sys/prctl.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>

#include <cerrno>
#include <cstddef>
#include <vector>

#if __has_include(<linux/landlock.h>)
#include <linux/landlock.h>
#endif

namespace warpath {
namespace {

/// A ruleset that handles every file access of the first version and allows none. Returns the kernel's version or 0.
int forbid_by_landlock() {
#if defined(SYS_landlock_create_ruleset) && defined(LANDLOCK_CREATE_RULESET_VERSION)
  const long version = ::syscall(SYS_landlock_create_ruleset, nullptr, 0, LANDLOCK_CREATE_RULESET_VERSION);
  if (version < 1) return 0;
  landlock_ruleset_attr rules{};
  rules.handled_access_fs = (LANDLOCK_ACCESS_FS_MAKE_SYM << 1U) - 1;  // the last right of version 1
  const auto ruleset = static_cast<int>(
      ::syscall(SYS_landlock_create_ruleset, &rules, sizeof(rules.handled_access_fs), 0));
  if (ruleset < 0) return 0;
  const bool held = ::syscall(SYS_landlock_restrict_self, ruleset, 0) == 0;
  ::close(ruleset);
  return held ? static_cast<int>(version) : 0;
#else
  return 0;
#endif
}

#if defined(__x86_64__)
constexpr unsigned kAuditArch = AUDIT_ARCH_X86_64;
#elif defined(__aarch64__)
constexpr unsigned kAuditArch = AUDIT_ARCH_AARCH64;
#else
constexpr unsigned kAuditArch = 0;
#endif

/// System calls that reach outside the process.
constexpr long kForbidden[] = {
#ifdef SYS_open
    SYS_open, SYS_creat, SYS_stat, SYS_lstat, SYS_access, SYS_readlink, SYS_fork, SYS_vfork, SYS_unlink, SYS_rename, SYS_mkdir,
#endif
    SYS_openat, SYS_statx, SYS_faccessat, SYS_readlinkat, SYS_unlinkat, SYS_mkdirat, SYS_linkat, SYS_symlinkat,
    SYS_execve, SYS_execveat, SYS_socket, SYS_connect, SYS_bind, SYS_ptrace, SYS_process_vm_readv, SYS_process_vm_writev,
    SYS_mount, SYS_chroot, SYS_kill, SYS_tkill,
#ifdef SYS_newfstatat
    SYS_newfstatat,
#endif
#ifdef SYS_openat2
    SYS_openat2,
#endif
#ifdef SYS_faccessat2
    SYS_faccessat2,
#endif
#ifdef SYS_renameat2
    SYS_renameat2,
#endif
#ifdef SYS_io_uring_setup
    SYS_io_uring_setup,
#endif
};

bool forbid_by_seccomp() {
  if (kAuditArch == 0) return false;
  const auto load = [](std::size_t offset) {
    return sock_filter BPF_STMT(BPF_LD | BPF_W | BPF_ABS, static_cast<unsigned>(offset));
  };
  const sock_filter deny BPF_STMT(BPF_RET | BPF_K, SECCOMP_RET_ERRNO | EACCES);
  const sock_filter allow BPF_STMT(BPF_RET | BPF_K, SECCOMP_RET_ALLOW);
  std::vector<sock_filter> program{load(offsetof(seccomp_data, arch)),
                                   sock_filter BPF_JUMP(BPF_JMP | BPF_JEQ | BPF_K, kAuditArch, 1, 0), deny,
                                   load(offsetof(seccomp_data, nr))};
  for (const long call : kForbidden) {
    program.push_back(sock_filter BPF_JUMP(BPF_JMP | BPF_JEQ | BPF_K, static_cast<unsigned>(call), 0, 1));
    program.push_back(deny);
  }
  program.push_back(allow);
  const sock_fprog filter{.len = static_cast<unsigned short>(program.size()), .filter = program.data()};
  return ::prctl(PR_SET_SECCOMP, SECCOMP_MODE_FILTER, &filter, 0, 0) == 0;
}

}  // namespace

std::string Sandbox::summary() const {
  std::string text;
  if (landlock > 0) text = "landlock " + std::to_string(landlock);
  if (seccomp) text += text.empty() ? "seccomp" : ", seccomp";
  return text.empty() ? "none" : text;
}

Sandbox lock_down() {
  Sandbox sandbox;
  if (::prctl(PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0) != 0) return sandbox;
  sandbox.landlock = forbid_by_landlock();
  sandbox.seccomp = forbid_by_seccomp();
  return sandbox;
}

Sandbox probe_sandbox() {
  Sandbox found;
  int ends[2] = {-1, -1};
  if (::pipe(ends) != 0) return found;
  const pid_t child = ::fork();
  if (child == 0) {
    const Sandbox sandbox = lock_down();
    ::_exit(::write(ends[1], &sandbox, sizeof sandbox) == static_cast<ssize_t>(sizeof sandbox) ? 0 : 1);
  }
  ::close(ends[1]);
  Sandbox read{};
  if (child > 0 && ::read(ends[0], &read, sizeof read) == static_cast<ssize_t>(sizeof read)) found = read;
  ::close(ends[0]);
  if (child > 0) ::waitpid(child, nullptr, 0);
  return found;
}

}  // namespace warpath
