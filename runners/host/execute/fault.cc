#include "runners/host/execute/fault.h"

#include <signal.h>
#include <sys/mman.h>
#include <unistd.h>

#include <cstring>
#include <utility>

#include "runners/host/execute/object_file.h"

namespace warpath::host {
namespace {

constexpr std::size_t kHandlerStack = 64 << 10;

// A signal handler can reach nothing but globals; set once, before any kernel runs.
int reply_descriptor = -1;
char* reply_frame = nullptr;
std::size_t reply_size = 0;
LocateFault locate_fault = nullptr;

extern "C" void handle_fault(int signal, siginfo_t* info, void* context) {
  if (signal == SIGSYS && answer_loader(*info, context)) return;
  FaultRecord record{};
  record.signal = signal;
  if (signal == SIGSEGV || signal == SIGBUS) {
    record.address = reinterpret_cast<std::uintptr_t>(info->si_addr);
    locate_fault(info->si_addr, record);
  }
  std::memcpy(reply_frame + reply_size - sizeof record, &record, sizeof record);
  [[maybe_unused]] const auto written = ::write(reply_descriptor, reply_frame, reply_size);
  ::_exit(70);
}

}  // namespace

void install_fault_stack() {
  void* const memory =
      ::mmap(nullptr, kHandlerStack, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
  if (memory == MAP_FAILED) return;  // then a stack overflow ends the process without a record
  stack_t stack{};
  stack.ss_sp = memory;
  stack.ss_size = kHandlerStack;
  ::sigaltstack(&stack, nullptr);
}

void install_fault_handlers(int descriptor, std::string frame, LocateFault locate) {
  static std::string kept;
  kept = std::move(frame);
  reply_descriptor = descriptor;
  reply_frame = kept.data();
  reply_size = kept.size();
  locate_fault = locate;
  struct sigaction action{};
  action.sa_sigaction = &handle_fault;
  action.sa_flags = SA_SIGINFO | SA_ONSTACK;
  sigfillset(&action.sa_mask);
  for (const int signal : {SIGSEGV, SIGBUS, SIGFPE, SIGILL, SIGABRT, SIGTRAP, SIGSYS})
    ::sigaction(signal, &action, nullptr);
}

}  // namespace warpath::host
