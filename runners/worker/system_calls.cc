#include "runners/worker/system_calls.h"

#include <link.h>
#include <linux/audit.h>
#include <linux/seccomp.h>
#include <sched.h>
#include <sys/prctl.h>
#include <sys/syscall.h>
#include <unistd.h>

#include <array>
#include <cerrno>
#include <cstddef>
#include <cstdint>
#include <vector>

namespace warpath {
namespace {

#if defined(__x86_64__)
constexpr unsigned kAuditArch = AUDIT_ARCH_X86_64;
#elif defined(__aarch64__)
constexpr unsigned kAuditArch = AUDIT_ARCH_AARCH64;
#else
constexpr unsigned kAuditArch = 0;
#endif
constexpr unsigned kForeignTable = 0x40000000;  // x86-64: the same calls by the numbers of x32

/// Reach other processes, the network, or the kernel's own state.
constexpr long kOutside[] = {
    SYS_socket,
    SYS_socketpair,
    SYS_connect,
    SYS_bind,
    SYS_listen,
    SYS_accept,
    SYS_accept4,
    SYS_ptrace,
    SYS_process_vm_readv,
    SYS_process_vm_writev,
    SYS_kill,
    SYS_tkill,
    SYS_rt_sigqueueinfo,
    SYS_rt_tgsigqueueinfo,
    SYS_mount,
    SYS_umount2,
    SYS_chroot,
    SYS_pivot_root,
    SYS_unshare,
    SYS_setns,
    SYS_bpf,
    SYS_perf_event_open,
    SYS_add_key,
    SYS_request_key,
    SYS_keyctl,
    SYS_init_module,
    SYS_delete_module,
    SYS_reboot,
    SYS_swapon,
    SYS_swapoff,
    SYS_quotactl,
    SYS_acct,
    SYS_settimeofday,
    SYS_clock_settime,
    SYS_sethostname,
    SYS_setdomainname,
    SYS_shmget,
    SYS_shmat,
    SYS_shmctl,
    SYS_msgget,
    SYS_msgctl,
    SYS_semget,
    SYS_semctl,
    SYS_mq_open,
    SYS_mq_unlink,
    SYS_syslog,
    SYS_open_by_handle_at,
    SYS_fanotify_init,
    SYS_kcmp,
    SYS_personality,
#ifdef SYS_userfaultfd
    SYS_userfaultfd,
#endif
#ifdef SYS_kexec_load
    SYS_kexec_load,
#endif
#ifdef SYS_finit_module
    SYS_finit_module,
#endif
#ifdef SYS_pidfd_open
    SYS_pidfd_open,
    SYS_pidfd_send_signal,
#endif
#ifdef SYS_pidfd_getfd
    SYS_pidfd_getfd,
#endif
#ifdef SYS_io_uring_setup
    SYS_io_uring_setup,
    SYS_io_uring_enter,
    SYS_io_uring_register,
#endif
#ifdef SYS_fsopen
    SYS_fsopen,
    SYS_open_tree,
    SYS_move_mount,
#endif
};

/// Name files, or make processes.
constexpr long kFiles[] = {
#ifdef SYS_open
    SYS_open,
    SYS_creat,
    SYS_stat,
    SYS_lstat,
    SYS_access,
    SYS_readlink,
    SYS_fork,
    SYS_vfork,
    SYS_unlink,
    SYS_rename,
    SYS_mkdir,
    SYS_rmdir,
    SYS_link,
    SYS_symlink,
    SYS_chmod,
    SYS_chown,
    SYS_lchown,
    SYS_mknod,
    SYS_utime,
    SYS_utimes,
    SYS_futimesat,
#endif
    SYS_openat,
    SYS_statx,
    SYS_faccessat,
    SYS_readlinkat,
    SYS_unlinkat,
    SYS_mkdirat,
    SYS_linkat,
    SYS_symlinkat,
    SYS_mknodat,
    SYS_fchmodat,
    SYS_fchownat,
    SYS_truncate,
    SYS_utimensat,
    SYS_chdir,
    SYS_setxattr,
    SYS_lsetxattr,
    SYS_removexattr,
    SYS_statfs,
    SYS_inotify_add_watch,
    SYS_name_to_handle_at,
    SYS_execve,
    SYS_execveat,
#ifdef SYS_renameat
    SYS_renameat,
#endif
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
};

/// All that a process needs that computes on memory of its own and talks over open descriptors.
constexpr long kComputing[] = {
    SYS_read,
    SYS_write,
    SYS_readv,
    SYS_writev,
    SYS_pread64,
    SYS_recvmsg,
    SYS_close,
    SYS_dup,
    SYS_fstat,
    SYS_lseek,
    SYS_ppoll,
    SYS_mmap,
    SYS_munmap,
    SYS_mprotect,
    SYS_mremap,
    SYS_madvise,
    SYS_brk,
    SYS_futex,
    SYS_rt_sigaction,
    SYS_rt_sigprocmask,
    SYS_rt_sigreturn,
    SYS_sigaltstack,
    SYS_exit,
    SYS_exit_group,
    SYS_clock_gettime,
    SYS_clock_getres,
    SYS_gettimeofday,
    SYS_nanosleep,
    SYS_clock_nanosleep,
    SYS_sched_yield,
    SYS_sched_getaffinity,
    SYS_getpid,
    SYS_gettid,
    SYS_getrandom,
    SYS_restart_syscall,
    SYS_set_robust_list,
#ifdef SYS_poll
    SYS_poll,
    SYS_time,
#endif
#ifdef SYS_rseq
    SYS_rseq,
#endif
};

constexpr sock_filter statement(unsigned code, unsigned k) {
  return {static_cast<std::uint16_t>(code), 0, 0, k};
}
constexpr sock_filter jump(unsigned code, unsigned k, std::uint8_t yes, std::uint8_t no) {
  return {static_cast<std::uint16_t>(code), yes, no, k};
}
constexpr sock_filter load(std::size_t offset) {
  return statement(BPF_LD | BPF_W | BPF_ABS, static_cast<unsigned>(offset));
}
constexpr sock_filter equals(long value, std::uint8_t yes, std::uint8_t no) {
  return jump(BPF_JMP | BPF_JEQ | BPF_K, static_cast<unsigned>(value), yes, no);
}
constexpr sock_filter answer(unsigned action) {
  return statement(BPF_RET | BPF_K, action);
}
constexpr sock_filter kAllow = answer(SECCOMP_RET_ALLOW);
constexpr sock_filter kDeny = answer(SECCOMP_RET_ERRNO | EACCES);
constexpr sock_filter kAbsent = answer(SECCOMP_RET_ERRNO | ENOSYS);
constexpr sock_filter kRaise = answer(SECCOMP_RET_TRAP);
// little-endian machines
constexpr std::size_t low_half(std::size_t argument) {
  return offsetof(seccomp_data, args) + 8 * argument;
}
constexpr std::size_t high_half(std::size_t argument) {
  return low_half(argument) + 4;
}

/// A program under construction.
struct Draft {
  std::array<sock_filter, 320> steps{};
  std::size_t size = 0;
  constexpr void add(sock_filter step) { steps.at(size++) = step; }
  constexpr Draft() {
    add(load(offsetof(seccomp_data, arch)));
    add(equals(kAuditArch, 1, 0));
    add(kDeny);
    add(load(offsetof(seccomp_data, nr)));
    add(jump(BPF_JMP | BPF_JGE | BPF_K, kForeignTable, 0, 1));
    add(kDeny);
  }
  constexpr void each(std::span<const long> calls, sock_filter action) {
    for (const long call : calls) {
      add(equals(call, 0, 1));
      add(action);
    }
  }
  constexpr void one(long call, sock_filter action) { each(std::span(&call, 1), action); }
  /// New threads, and no new processes.
  constexpr void threads_only() {
    one(SYS_clone3, kAbsent);
    add(equals(SYS_clone, 0, 4));
    add(load(low_half(0)));
    add(jump(BPF_JMP | BPF_JSET | BPF_K, CLONE_THREAD, 0, 1));
    add(kAllow);
    add(kDeny);
  }
  /// Limits of this process may be read, those of others may not, and none may be set.
  constexpr void limits_read_only() {
    add(equals(SYS_prlimit64, 0, 8));
    add(load(low_half(0)));
    add(equals(0, 0, 5));
    add(load(low_half(2)));
    add(equals(0, 0, 3));
    add(load(high_half(2)));
    add(equals(0, 0, 1));
    add(kAllow);
    add(kDeny);
  }
};

constexpr Draft for_programs() {
  Draft draft;
  draft.each(kOutside, kDeny);
  draft.add(kAllow);
  return draft;
}
constexpr Draft for_libraries() {
  Draft draft;
  draft.each(kOutside, kDeny);
  draft.each(kFiles, kDeny);
  draft.threads_only();
  draft.add(kAllow);
  return draft;
}
constexpr Draft for_computing() {
  Draft draft;
  draft.each(kComputing, kAllow);
  draft.limits_read_only();
  draft.one(SYS_openat, kRaise);
#ifdef SYS_newfstatat
  draft.one(SYS_newfstatat, kRaise);
#endif
  draft.one(SYS_clone3, kAbsent);
  draft.add(kDeny);
  return draft;
}
constexpr Draft kForPrograms = for_programs();
constexpr Draft kForLibraries = for_libraries();
constexpr Draft kForComputing = for_computing();

FilterProgram whole(const Draft& draft) {
  return std::span(draft.steps).first(draft.size);
}

/// Allows calls made by code from `begin` to `end`, all of it within 4 GiB that agree in the upper
/// half of their addresses. The kernel says where the instruction behind the call is.
void allow_code(std::vector<sock_filter>& program, std::uint64_t begin, std::uint64_t end) {
  constexpr std::size_t kPlace = offsetof(seccomp_data, instruction_pointer);
  const auto low = [](std::uint64_t address) { return static_cast<unsigned>(address); };
  program.insert(program.end(), {load(kPlace + 4), equals(static_cast<long>(end >> 32U), 0, 4),
                                 load(kPlace), jump(BPF_JMP | BPF_JGT | BPF_K, low(begin), 0, 2),
                                 jump(BPF_JMP | BPF_JGT | BPF_K, low(end), 1, 0), kAllow});
}

}  // namespace

std::vector<sock_filter> filter_for_present_code() {
  std::vector<sock_filter> out;
  ::dl_iterate_phdr(
      [](dl_phdr_info* object, std::size_t, void* program) {
        for (const auto& part : std::span(object->dlpi_phdr, object->dlpi_phnum)) {
          if (part.p_type != PT_LOAD || (part.p_flags & PF_X) == 0) continue;
          const std::uint64_t begin = object->dlpi_addr + part.p_vaddr;
          const std::uint64_t end = begin + part.p_memsz;
          auto& steps = *static_cast<std::vector<sock_filter>*>(program);
          if (begin >> 32U == end >> 32U) {
            allow_code(steps, begin, end);
          } else {
            const std::uint64_t border = end >> 32U << 32U;
            allow_code(steps, begin, border - 1);
            allow_code(steps, border, end);
          }
        }
        return 0;
      },
      &out);
  out.push_back(answer(SECCOMP_RET_KILL_PROCESS));
  return out;
}

FilterProgram filter_for_libraries() {
  return whole(kForLibraries);
}
FilterProgram filter_for_programs() {
  return whole(kForPrograms);
}
FilterProgram filter_for_computing() {
  return whole(kForComputing);
}

bool filters_offered() {
  return kAuditArch != 0 && ::prctl(PR_SET_SECCOMP, SECCOMP_MODE_FILTER, nullptr, 0, 0) != 0 &&
         errno == EFAULT;
}

bool install_filter(FilterProgram program, bool all_threads) noexcept {
  if (kAuditArch == 0) return false;
  const sock_fprog filter{.len = static_cast<unsigned short>(program.size()),
                          .filter = const_cast<sock_filter*>(program.data())};
  const unsigned flags = all_threads ? SECCOMP_FILTER_FLAG_TSYNC : 0U;
  // Turns off a mitigation that makes filtered processes slower and only matters between programs
  // in one process.
  if (::syscall(SYS_seccomp, SECCOMP_SET_MODE_FILTER, flags | SECCOMP_FILTER_FLAG_SPEC_ALLOW,
                &filter) == 0)
    return true;
  if (::syscall(SYS_seccomp, SECCOMP_SET_MODE_FILTER, flags, &filter) == 0) return true;
  return !all_threads && ::prctl(PR_SET_SECCOMP, SECCOMP_MODE_FILTER, &filter, 0, 0) == 0;
}

}  // namespace warpath
