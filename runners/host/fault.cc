#include "runners/host/fault.h"

#include <signal.h>
#include <sys/mman.h>
#include <unistd.h>

#include <array>
#include <cstring>

#include "runners/host/object_file.h"

namespace warpath::host {
namespace {

constexpr std::size_t kHandlerStack = 64 << 10;

// A signal handler can reach nothing but globals; set once, before any kernel runs.
int reply_descriptor = -1;
std::uint8_t reply_kind = 0;
LocateFault locate_fault = nullptr;

extern "C" void handle_fault(int signal, siginfo_t* info, void* context) {
  if (signal == SIGSYS && answer_loader(*info, context)) return;
  FaultRecord record{};
  record.signal = signal;
  if (signal == SIGSEGV || signal == SIGBUS) {
    record.address = reinterpret_cast<std::uintptr_t>(info->si_addr);
    locate_fault(info->si_addr, record);
  }
  std::array<std::byte, sizeof(std::uint64_t) + 1 + sizeof record> message{};
  const std::uint64_t length = 1 + sizeof record;
  std::memcpy(message.data(), &length, sizeof length);
  message[sizeof length] = static_cast<std::byte>(reply_kind);
  std::memcpy(message.data() + sizeof length + 1, &record, sizeof record);
  [[maybe_unused]] const auto written = ::write(reply_descriptor, message.data(), message.size());
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

void install_fault_handlers(int descriptor, std::uint8_t message_kind, LocateFault locate) {
  reply_descriptor = descriptor;
  reply_kind = message_kind;
  locate_fault = locate;
  struct sigaction action{};
  action.sa_sigaction = &handle_fault;
  action.sa_flags = SA_SIGINFO | SA_ONSTACK;
  sigfillset(&action.sa_mask);
  for (const int signal : {SIGSEGV, SIGBUS, SIGFPE, SIGILL, SIGABRT, SIGTRAP, SIGSYS})
    ::sigaction(signal, &action, nullptr);
}

}  // namespace warpath::host
