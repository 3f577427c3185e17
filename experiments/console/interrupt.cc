#include "experiments/console/interrupt.h"

#include <array>
#include <atomic>
#include <chrono>
#include <csignal>
#include <cstdio>
#include <utility>

namespace warpath {
namespace {

constexpr std::array kSignals{SIGINT, SIGTERM, SIGHUP};
constexpr std::chrono::milliseconds kPoll{20};

// A handler can reach nothing but globals: this is the only one of the program.
std::atomic<int> signals_seen{0};
static_assert(std::atomic<int>::is_always_lock_free);

extern "C" void note_signal(int number) {
  if (signals_seen.fetch_add(1) < 2) return;
  std::signal(number, SIG_DFL);
  std::raise(number);
}

}  // namespace

InterruptWatch::InterruptWatch(std::string first) : first_(std::move(first)) {
  signals_seen = 0;
  struct sigaction action{};
  action.sa_handler = note_signal;
  action.sa_flags = SA_RESTART;
  for (const int number : kSignals) {
    struct sigaction former{};
    sigaction(number, nullptr, &former);
    // nohup: the run outlives its terminal
    if (number == SIGHUP && former.sa_handler == SIG_IGN) continue;
    sigaction(number, &action, nullptr);
  }
  thread_ = std::jthread([this](const std::stop_token& done) { watch(done); });
}

InterruptWatch::~InterruptWatch() {
  thread_.request_stop();
  thread_.join();
  for (const int number : kSignals) {
    struct sigaction present{};
    sigaction(number, nullptr, &present);
    if (present.sa_handler == note_signal) std::signal(number, SIG_DFL);
  }
}

void InterruptWatch::watch(const std::stop_token& done) {
  while (!done.stop_requested()) {
    const int seen = signals_seen;
    if (seen >= 1 && stop_.request_stop() && !first_.empty())
      std::fprintf(stderr, "\nwarpath: %s\n", first_.c_str());
    if (seen >= 2 && abandon_.request_stop())
      std::fputs("warpath: abandoning what is being evaluated\n", stderr);
    std::this_thread::sleep_for(kPoll);
  }
}

}  // namespace warpath
