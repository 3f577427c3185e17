#include "runners/host/execute/object_file.h"

#include <fcntl.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <ucontext.h>
#include <unistd.h>

#include <atomic>
#include <cerrno>
#include <cstdint>
#include <cstring>

namespace warpath::host {
namespace {

constexpr int kOfFilter = 1;  // SYS_SECCOMP

// A signal handler can reach nothing but globals.
std::atomic<const char*> offered_path{nullptr};
std::atomic<int> offered_descriptor{-1};

/// A system call that was stopped: its arguments, and where its result belongs.
struct StoppedCall {
#if defined(__x86_64__)
  explicit StoppedCall(ucontext_t& context) : registers(context.uc_mcontext.gregs) {}
  [[nodiscard]] std::uintptr_t argument(int i) const {
    constexpr int kPlaces[] = {REG_RDI, REG_RSI, REG_RDX, REG_R10};
    return static_cast<std::uintptr_t>(registers[kPlaces[i]]);
  }
  void answer(long value) { registers[REG_RAX] = value; }
  greg_t* registers;
#elif defined(__aarch64__)
  explicit StoppedCall(ucontext_t& context) : registers(context.uc_mcontext.regs) {}
  [[nodiscard]] std::uintptr_t argument(int i) const { return registers[i]; }
  void answer(long value) { registers[0] = static_cast<unsigned long long>(value); }
  unsigned long long* registers;
#else
  explicit StoppedCall(ucontext_t&) {}
  [[nodiscard]] std::uintptr_t argument(int) const { return 0; }
  void answer(long) {}
#endif
};

long open_offered(const char* path) {
  const char* const offered = offered_path;
  if (offered == nullptr || path == nullptr || std::strcmp(path, offered) != 0) return -EACCES;
  const int copy = ::dup(offered_descriptor);
  if (copy < 0) return -EACCES;
  ::lseek(copy, 0, SEEK_SET);
  return copy;
}

/// What C libraries ask for where they mean fstat.
long status_of_open(int descriptor, const char* path, std::uintptr_t buffer, int flags) {
  if (path == nullptr || *path != '\0' || (flags & AT_EMPTY_PATH) == 0) return -EACCES;
  return ::syscall(SYS_fstat, descriptor, buffer) == 0 ? 0 : -errno;
}

}  // namespace

OfferedObject::OfferedObject(const char* path, int descriptor) {
  offered_descriptor = descriptor;
  offered_path = path;
}
OfferedObject::~OfferedObject() {
  offered_path = nullptr;
  offered_descriptor = -1;
}

bool answer_loader(const siginfo_t& info, void* context) {
  if (info.si_code != kOfFilter) return false;
  const int saved = errno;
  StoppedCall call(*static_cast<ucontext_t*>(context));
  // NOLINTNEXTLINE(performance-no-int-to-ptr): a register of the call
  const auto* const path = reinterpret_cast<const char*>(call.argument(1));
  long answer = -EACCES;
  if (info.si_syscall == SYS_openat) answer = open_offered(path);
#ifdef SYS_newfstatat
  if (info.si_syscall == SYS_newfstatat)
    answer = status_of_open(static_cast<int>(call.argument(0)), path, call.argument(2),
                            static_cast<int>(call.argument(3)));
#endif
  call.answer(answer);
  errno = saved;
  return true;
}

}  // namespace warpath::host
