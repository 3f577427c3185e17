// Machine code as a hostile candidate would bring it, past every gate on text: what the gates let through must do no harm. One entry; the first
// argument says which attack, the second what there is to attack (a line each), the third takes the answer: 0 or more where the attack reached
// what it wanted, the error's number below zero where it was refused. None harms the machine where nothing refuses it. Attacks take no time and leave the process usable, but for the last ones.
#include <errno.h>
#include <fcntl.h>
#include <linux/aio_abi.h>
#include <linux/bpf.h>
#include <linux/perf_event.h>
#include <netinet/in.h>
#include <poll.h>
#include <pthread.h>
#include <sched.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/prctl.h>
#include <sys/ptrace.h>
#include <sys/resource.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <sys/uio.h>
#include <sys/un.h>
#include <time.h>
#include <unistd.h>

#include <dlfcn.h>

#include "warpath_abi.h"

namespace {

struct Facts {
  char victim[512] = {};   // a file that must not be read, written or removed
  char folder[512] = {};   // that it lies in
  char stream[128] = {};   // of a listening Unix socket
  char abstract[64] = {};  // name of one without a file
  int tcp = 0, udp = 0;    // ports on the loopback device
  int parent = 0, other = 0;  // processes
};

long own_call(long number) {
#if defined(__x86_64__)
  long got = number;
  __asm__ volatile("syscall" : "+a"(got) : : "rcx", "r11", "memory");
  return got;
#elif defined(__aarch64__)
  register long call __asm__("x8") = number;
  register long got __asm__("x0") = 0;
  __asm__ volatile("svc 0" : "+r"(got) : "r"(call) : "memory");
  return got;
#endif
}
long tell(long result) { return result < 0 ? -errno : result; }
/// To whoever listens.
void say(const char* bytes, size_t size) {
  for (int fd = 3; fd < 256; ++fd)
    if (write(fd, bytes, size) < 0) continue;
}
const char* in_folder(const Facts& f, const char* name) {
  static char path[600];
  snprintf(path, sizeof path, "%s/%s", f.folder, name);
  return path;
}
/// One that the process has anyway is not loaded by asking for it.
bool loads(const char* library) { return dlopen(library, RTLD_NOW | RTLD_NOLOAD) == nullptr && dlopen(library, RTLD_NOW) != nullptr; }
const char* of_process(int pid, const char* name) {
  static char path[64];
  snprintf(path, sizeof path, "/proc/%d/%s", pid, name);
  return path;
}
long open_for(const char* path, int flags) { return tell(syscall(SYS_openat, AT_FDCWD, path, flags, 0600)); }

sockaddr_in loopback(int port) {
  sockaddr_in to{};
  to.sin_family = AF_INET;
  to.sin_port = htons(static_cast<unsigned short>(port));
  to.sin_addr.s_addr = htonl(INADDR_LOOPBACK);
  return to;
}
long connected(int domain, int type, const void* to, unsigned size) {
  const long s = syscall(SYS_socket, domain, type, 0);
  if (s < 0) return -errno;
  if (syscall(SYS_connect, s, to, size) < 0) return -errno;
  return tell(syscall(SYS_write, s, "stolen", 6));
}
/// To whatever descriptor is open already.
long connect_any(const void* to, unsigned size) {
  long best = -EBADF;
  for (int fd = 0; fd < 128; ++fd) {
    const long got = tell(syscall(SYS_connect, fd, to, size));
    if (got >= 0) return got;
    if (got != -EBADF) best = got;
  }
  return best;
}
long clone_as(unsigned long flags) {
  const long child = syscall(SYS_clone, flags, 0, 0, 0, 0);
  if (child == 0) syscall(SYS_exit_group, 0);
  return tell(child);
}
/// Raises a signal at whoever owns a descriptor, when it is written to.
long own_by(const Facts& f) {
  long best = -EBADF;
  for (int fd = 0; fd < 128; ++fd) {
    const long got = tell(syscall(SYS_fcntl, fd, F_SETOWN, f.other));
    if (got >= 0) return got;
    if (got != -EBADF) best = got;
  }
  return best;
}
void* idle(void*) { return nullptr; }

struct Attack {
  const char* name;
  long (*run)(const Facts&);
};
const Attack kAttacks[] = {
    // Files
    {"read a file", [](const Facts& f) { return open_for(f.victim, O_RDONLY); }},
    {"write a file", [](const Facts& f) { return open_for(f.victim, O_WRONLY | O_TRUNC); }},
    {"make a file", [](const Facts& f) { return open_for(in_folder(f, "made"), O_CREAT | O_WRONLY); }},
    {"make a file without a name", [](const Facts& f) { return open_for(f.folder, O_TMPFILE | O_RDWR); }},
    {"open a place only", [](const Facts& f) { return open_for(f.folder, O_PATH); }},
    {"open by openat2", [](const Facts& f) { unsigned long how[3] = {}; return tell(syscall(437, AT_FDCWD, f.victim, how, sizeof how)); }},
    {"read a folder", [](const Facts& f) { return open_for(f.folder, O_RDONLY | O_DIRECTORY); }},
    {"ask for a file's size", [](const Facts& f) { struct stat s; return tell(syscall(SYS_newfstatat, AT_FDCWD, f.victim, &s, 0)); }},
    {"ask for a file's size by a flag", [](const Facts& f) { struct stat s; return tell(syscall(SYS_newfstatat, AT_FDCWD, f.victim, &s, AT_EMPTY_PATH)); }},
    {"ask by statx", [](const Facts& f) { char s[256]; return tell(syscall(SYS_statx, AT_FDCWD, f.victim, 0, 0xfff, s)); }},
    {"probe a file", [](const Facts& f) { return tell(syscall(SYS_faccessat, AT_FDCWD, f.victim, R_OK)); }},
    {"read a link", [](const Facts&) { char to[64]; return tell(syscall(SYS_readlinkat, AT_FDCWD, "/proc/self/exe", to, sizeof to)); }},
    {"remove a file", [](const Facts& f) { return tell(syscall(SYS_unlinkat, AT_FDCWD, f.victim, 0)); }},
    {"rename a file", [](const Facts& f) { return tell(syscall(SYS_renameat2, AT_FDCWD, f.victim, AT_FDCWD, in_folder(f, "gone"), 0)); }},
    {"truncate a file", [](const Facts& f) { return tell(syscall(SYS_truncate, f.victim, 0)); }},
    {"change a file's mode", [](const Facts& f) { return tell(syscall(SYS_fchmodat, AT_FDCWD, f.victim, 0777)); }},
    {"change a file's owner", [](const Facts& f) { return tell(syscall(SYS_fchownat, AT_FDCWD, f.victim, 1, 1, 0)); }},
    {"change a file's times", [](const Facts& f) { return tell(syscall(SYS_utimensat, AT_FDCWD, f.victim, nullptr, 0)); }},
    {"mark a file", [](const Facts& f) { return tell(syscall(SYS_setxattr, f.victim, "user.x", "1", 1, 0)); }},
    {"link a file", [](const Facts& f) { return tell(syscall(SYS_linkat, AT_FDCWD, f.victim, AT_FDCWD, in_folder(f, "hard"), 0)); }},
    {"make a symbolic link", [](const Facts& f) { return tell(syscall(SYS_symlinkat, f.victim, AT_FDCWD, in_folder(f, "soft"))); }},
    {"make a folder", [](const Facts& f) { return tell(syscall(SYS_mkdirat, AT_FDCWD, in_folder(f, "sub"), 0700)); }},
    {"make a pipe with a name", [](const Facts& f) { return tell(syscall(SYS_mknodat, AT_FDCWD, in_folder(f, "pipe"), S_IFIFO | 0600, 0)); }},
    {"leave the folder", [](const Facts& f) { return tell(syscall(SYS_chdir, f.folder)); }},
    {"change the root", [](const Facts& f) { return tell(syscall(SYS_chroot, f.folder)); }},
    {"open by handle", [](const Facts&) { long h[16] = {8}; return tell(syscall(SYS_open_by_handle_at, AT_FDCWD, h, O_RDONLY)); }},
    {"watch a file", [](const Facts&) { return tell(syscall(SYS_inotify_init1, 0)); }},
    {"load another library", [](const Facts&) { return loads("libcurl.so.4") || loads("libthread_db.so.1") ? 0L : -long{EACCES}; }},
    {"open through the C library", [](const Facts& f) { FILE* const file = fopen(f.victim, "r"); return file != nullptr ? 0L : -long{errno}; }},
    {"shared memory with a name", [](const Facts&) { return open_for("/dev/shm/warpath-hostile", O_CREAT | O_RDWR); }},
    // Secrets of processes
    {"own environment", [](const Facts&) { return open_for("/proc/self/environ", O_RDONLY); }},
    {"the parent's environment", [](const Facts& f) { return open_for(of_process(f.parent, "environ"), O_RDONLY); }},
    {"the parent's memory", [](const Facts& f) { return open_for(of_process(f.parent, "mem"), O_RDWR); }},
    {"the parent's maps", [](const Facts& f) { return open_for(of_process(f.parent, "maps"), O_RDONLY); }},
    {"the parent's command", [](const Facts& f) { return open_for(of_process(f.parent, "cmdline"), O_RDONLY); }},
    {"a variable", [](const Facts&) { for (char** v = ::environ; v != nullptr && *v != nullptr; ++v) if (strstr(*v, "CANARY") != nullptr) return 0L; return -long{ENOENT}; }},
    {"read another's memory", [](const Facts& f) { char to[8]; iovec a{to, 8}, b{reinterpret_cast<void*>(0x400000), 8}; return tell(syscall(SYS_process_vm_readv, f.parent, &a, 1, &b, 1, 0)); }},
    {"write another's memory", [](const Facts& f) { char to[8] = {}; iovec a{to, 8}, b{reinterpret_cast<void*>(0x400000), 8}; return tell(syscall(SYS_process_vm_writev, f.parent, &a, 1, &b, 1, 0)); }},
    {"trace a process", [](const Facts& f) { return tell(syscall(SYS_ptrace, PTRACE_ATTACH, f.other, 0, 0)); }},
    {"seize the parent", [](const Facts& f) { return tell(syscall(SYS_ptrace, 0x4206, f.parent, 0, 0)); }},
    {"compare processes", [](const Facts& f) { return tell(syscall(SYS_kcmp, f.parent, f.other, 1, 0, 0)); }},
    {"take another's descriptor", [](const Facts& f) { const long fd = syscall(434, f.parent, 0); return fd < 0 ? -long{errno} : tell(syscall(438, fd, 0, 0)); }},
    // Network
    {"TCP", [](const Facts& f) { const sockaddr_in to = loopback(f.tcp); return connected(AF_INET, SOCK_STREAM, &to, sizeof to); }},
    {"UDP", [](const Facts& f) { const sockaddr_in to = loopback(f.udp); return connected(AF_INET, SOCK_DGRAM, &to, sizeof to); }},
    {"a Unix socket", [](const Facts& f) { sockaddr_un to{}; to.sun_family = AF_UNIX; strncpy(to.sun_path, f.stream, sizeof to.sun_path - 1); return connected(AF_UNIX, SOCK_STREAM, &to, sizeof to); }},
    {"an abstract socket", [](const Facts& f) { sockaddr_un to{}; to.sun_family = AF_UNIX; strncpy(to.sun_path + 1, f.abstract, sizeof to.sun_path - 2); return connected(AF_UNIX, SOCK_STREAM, &to, static_cast<unsigned>(sizeof(sa_family_t) + 1 + strlen(f.abstract))); }},
    {"an open descriptor connected anew", [](const Facts& f) { const sockaddr_in to = loopback(f.tcp); return connect_any(&to, sizeof to); }},
    {"netlink", [](const Facts&) { return tell(syscall(SYS_socket, AF_NETLINK, SOCK_RAW, 0)); }},
    {"packets", [](const Facts&) { return tell(syscall(SYS_socket, AF_INET, SOCK_RAW, 1)); }},
    {"a pair of sockets", [](const Facts&) { int ends[2]; return tell(syscall(SYS_socketpair, AF_UNIX, SOCK_STREAM, 0, ends)); }},
    {"a descriptor sent to the parent", [](const Facts&) {
       char byte = 0; iovec part{&byte, 1}; alignas(cmsghdr) char room[CMSG_SPACE(sizeof(int))] = {}; msghdr m{}; m.msg_iov = &part; m.msg_iovlen = 1; m.msg_control = room; m.msg_controllen = sizeof room;
       cmsghdr* const c = CMSG_FIRSTHDR(&m); c->cmsg_level = SOL_SOCKET; c->cmsg_type = SCM_RIGHTS; c->cmsg_len = CMSG_LEN(sizeof(int)); return tell(syscall(SYS_sendmsg, 64, &m, 0)); }},
    // Processes
    {"fork", [](const Facts&) { return clone_as(SIGCHLD); }},
    {"vfork", [](const Facts&) { return clone_as(CLONE_VFORK | SIGCHLD); }},
    {"a process that looks like a thread", [](const Facts&) { return clone_as(CLONE_VM | CLONE_SIGHAND | SIGCHLD); }},
    {"clone3", [](const Facts&) { unsigned long a[11] = {}; a[4] = SIGCHLD; const long child = syscall(SYS_clone3, a, sizeof a); if (child == 0) syscall(SYS_exit_group, 0); return tell(child); }},
    {"a thread", [](const Facts&) { pthread_t t; const int got = pthread_create(&t, nullptr, idle, nullptr); return got == 0 ? 0L : -long{got}; }},
    {"a program", [](const Facts&) { const char* argv[] = {"/bin/true", nullptr}; return tell(syscall(SYS_execve, "/bin/true", argv, nullptr)); }},
    {"a program by descriptor", [](const Facts&) { const char* argv[] = {"x", nullptr}; return tell(syscall(SYS_execveat, 2, "", argv, nullptr, AT_EMPTY_PATH)); }},
    {"a program in memory", [](const Facts&) { return tell(syscall(SYS_memfd_create, "x", 0)); }},
    {"a shell", [](const Facts&) { const int got = system("true"); return got == 0 ? 0L : -long{ECHILD}; }},
    {"a pipe to a shell", [](const Facts&) { FILE* const p = popen("true", "r"); return p != nullptr ? 0L : -long{errno}; }},
    {"kill the parent", [](const Facts& f) { return tell(syscall(SYS_kill, f.parent, 0)); }},
    {"kill another", [](const Facts& f) { return tell(syscall(SYS_kill, f.other, SIGKILL)); }},
    {"kill the group", [](const Facts& f) { return tell(syscall(SYS_kill, -f.other, SIGTERM)); }},
    {"kill everything", [](const Facts&) { return tell(syscall(SYS_kill, -1, 0)); }},
    {"kill by thread", [](const Facts& f) { return tell(syscall(SYS_tgkill, f.other, f.other, SIGKILL)); }},
    {"kill by any thread", [](const Facts& f) { return tell(syscall(SYS_tkill, f.other, SIGKILL)); }},
    {"queue a signal", [](const Facts& f) { siginfo_t i{}; i.si_code = SI_QUEUE; return tell(syscall(SYS_rt_sigqueueinfo, f.other, SIGTERM, &i)); }},
    {"signal by descriptor", [](const Facts& f) { const long fd = syscall(434, f.other, 0); return fd < 0 ? -long{errno} : tell(syscall(424, fd, SIGKILL, nullptr, 0)); }},
    {"signal by owning a descriptor", own_by},
    {"signal by a device call", [](const Facts& f) { int to = f.other; return tell(syscall(SYS_ioctl, 64, 0x8901, &to)); }},
    {"signal by a timer", [](const Facts&) { sigevent e{}; int timer = 0; e.sigev_notify = SIGEV_SIGNAL; e.sigev_signo = SIGKILL; return tell(syscall(SYS_timer_create, CLOCK_MONOTONIC, &e, &timer)); }},
    {"limits of the parent", [](const Facts& f) { rlimit now{}; return tell(syscall(SYS_prlimit64, f.parent, RLIMIT_NOFILE, nullptr, &now)); }},
    {"own limits", [](const Facts&) { const rlimit none{0, 0}; return tell(syscall(SYS_prlimit64, 0, RLIMIT_FSIZE, &none, nullptr)); }},
    {"priority of the parent", [](const Facts& f) { return tell(syscall(SYS_setpriority, PRIO_PROCESS, f.parent, 10)); }},
    {"cores of the parent", [](const Facts& f) { unsigned long mask = 1; return tell(syscall(SYS_sched_setaffinity, f.parent, sizeof mask, &mask)); }},
    {"outlive the parent", [](const Facts&) { return tell(syscall(SYS_prctl, PR_SET_PDEATHSIG, 0)); }},
    {"leave the group", [](const Facts&) { return tell(syscall(SYS_setpgid, 0, 0)); }},
    {"a session", [](const Facts&) { return tell(syscall(SYS_setsid)); }},
    // The kernel
    {"io_uring", [](const Facts&) { char p[256] = {}; return tell(syscall(425, 8, p)); }},
    {"asynchronous files", [](const Facts&) { aio_context_t c = 0; return tell(syscall(SYS_io_setup, 1, &c)); }},
    {"faults in user space", [](const Facts&) { return tell(syscall(SYS_userfaultfd, 1)); }},
    {"shared memory", [](const Facts&) { return tell(syscall(SYS_shmget, 77, 4096, 01600)); }},
    {"a message queue", [](const Facts&) { return tell(syscall(SYS_msgget, 77, 01600)); }},
    {"semaphores", [](const Facts&) { return tell(syscall(SYS_semget, 77, 1, 01600)); }},
    {"a queue with a name", [](const Facts&) { return tell(syscall(SYS_mq_open, "warpath", O_CREAT | O_RDWR, 0600, nullptr)); }},
    {"a user namespace", [](const Facts&) { return tell(syscall(SYS_unshare, CLONE_NEWUSER)); }},
    {"another's namespace", [](const Facts&) { return tell(syscall(SYS_setns, 0, 0)); }},
    {"counters", [](const Facts&) { perf_event_attr a{}; a.size = sizeof a; return tell(syscall(SYS_perf_event_open, &a, 0, -1, -1, 0)); }},
    {"a program of the kernel", [](const Facts&) { bpf_attr a{}; return tell(syscall(SYS_bpf, 0, &a, sizeof a)); }},
    {"keys", [](const Facts&) { return tell(syscall(SYS_add_key, "user", "x", "y", 1, -1)); }},
    {"the kernel's log", [](const Facts&) { return tell(syscall(SYS_syslog, 10, nullptr, 0)); }},
    {"another filter", [](const Facts&) { return tell(syscall(SYS_prctl, PR_SET_SECCOMP, 2, nullptr)); }},
    {"dumpable again", [](const Facts&) { return tell(syscall(SYS_prctl, PR_SET_DUMPABLE, 1)); }},
    {"another user", [](const Facts&) { return tell(syscall(SYS_setuid, 0)); }},
#if defined(__x86_64__)
    {"the numbers of x32", [](const Facts& f) { return tell(syscall(0x40000000 + SYS_openat, AT_FDCWD, f.victim, O_RDONLY)); }},
#endif
    // Those that end the process, or must be ended. `kEnding` counts them.
    {"code made at run time", [](const Facts& f) {
       void* const page = mmap(nullptr, 4096, PROT_READ | PROT_WRITE | PROT_EXEC, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
       if (page == MAP_FAILED) return -long{errno};
#if defined(__x86_64__)
       const unsigned char unlink_it[] = {0xb8, SYS_unlink, 0, 0, 0, 0x0f, 0x05, 0xc3};
       memcpy(page, unlink_it, sizeof unlink_it);
       return reinterpret_cast<long (*)(const char*)>(page)(f.victim);
#else
       return -long{EACCES};
#endif
     }},
    {"a system call of its own code", [](const Facts&) { return own_call(SYS_getpid); }},
#if defined(__x86_64__)
    {"the gate of 32-bit programs", [](const Facts&) { long got = 0; __asm__ volatile("int $0x80" : "=a"(got) : "a"(20) : "memory"); return got; }},
#else
    {"another one", [](const Facts&) { return own_call(SYS_gettid); }},
#endif
    {"a raised limit of memory", [](const Facts&) { long sum = 0; for (int i = 0; i < 1 << 20; ++i) { char* const p = static_cast<char*>(malloc(1 << 20)); if (p == nullptr) return -long{ENOMEM}; memset(p, 1, 4096); sum += p[0]; } return sum; }},
    {"a signal handler that stays", [](const Facts&) { struct sigaction a{}; a.sa_handler = [](int) {}; sigaction(SIGSEGV, &a, nullptr); *reinterpret_cast<volatile int*>(8) = 1; return 0L; }},
    {"a smashed stack", [](const Facts&) { volatile char here[16]; for (long i = 0; i < 1L << 28; ++i) here[i] = 0x41; return 0L; }},
    {"frames of its own in the pipe", [](const Facts&) { char junk[4096]; memset(junk, 4, sizeof junk); for (int fd = 3; fd < 256; ++fd) if (write(fd, junk, sizeof junk) < 0) continue; return -long{EPIPE}; }},
    {"a frame of a size beyond all", [](const Facts&) { say("WPf1\0\0\0\0\0\0\0\1", 12); return -long{EPIPE}; }},
    {"a message nested without end", [](const Facts&) { static char deep[1 << 20]; memset(deep, 0x81, sizeof deep); memcpy(deep, "WPf1\0\0\x10\0\0\0\0\0", 12); say(deep, sizeof deep); return -long{EPIPE}; }},
    {"a reply to another request", [](const Facts&) { say("WPf1\4\0\0\0\0\0\0\0\x82\2\x81\0", 16); return -long{EPIPE}; }},
    {"a closed pipe", [](const Facts&) { for (int fd = 0; fd < 256; ++fd) close(fd); return -long{EPIPE}; }},
    {"exit", [](const Facts&) { exit(0); return 0L; }},
    {"abort", [](const Facts&) { abort(); return 0L; }},
    {"an endless loop", [](const Facts&) { for (volatile int i = 0;; i = i + 1) {} return 0L; }},
    {"an endless sleep with all signals blocked", [](const Facts&) { sigset_t all; sigfillset(&all); sigprocmask(SIG_SETMASK, &all, nullptr); for (;;) sleep(1000); return 0L; }},
};
constexpr int kEnding = 15;
constexpr int kCount = sizeof kAttacks / sizeof kAttacks[0];

Facts read_facts(const char* text) {
  Facts f;
  sscanf(text, "%511[^\n]\n%511[^\n]\n%127[^\n]\n%63[^\n]\n%d %d %d %d", f.victim, f.folder, f.stream, f.abstract, &f.tcp, &f.udp, &f.parent, &f.other);
  return f;
}

/// Below zero: how many attacks there are, and how many of them end the process.
void thread(void* const* arguments) {
  const int which = *static_cast<const int*>(arguments[0]);
  const char* const facts = *static_cast<const char* const*>(arguments[1]);
  long* const answer = *static_cast<long* const*>(arguments[2]);
  char* const name = reinterpret_cast<char*>(answer + 1);
  if (which < 0) {
    answer[0] = kCount;
    answer[1] = kEnding;
    return;
  }
  strncpy(name, kAttacks[which].name, 63);
  errno = 0;
  answer[0] = kAttacks[which].run(read_facts(facts));
}
void threads(void* const* arguments, const WarpathIndex* indices, unsigned) {
  warpath_thread.thread_index = indices[0];
  thread(arguments);
}

constexpr WarpathParameter kParameters[] = {{kWarpathSigned, 4, 0, 0}, {kWarpathPointer, 8, 4, 1}, {kWarpathPointer, 8, 4, 0}};
constexpr WarpathEntry kEntry{3, kParameters, &thread, &threads};

}  // namespace

extern "C" __attribute__((visibility("default"), used)) const WarpathEntry* const warpath_entries[] = {&kEntry, nullptr};
