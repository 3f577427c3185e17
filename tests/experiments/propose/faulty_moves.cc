#include "tests/experiments/propose/faulty_moves.h"

#include <unistd.h>

#include <cstdlib>
#include <memory>
#include <stdexcept>
#include <string>
#include <vector>

#include "engine/base/error.h"
#include "experiments/propose/move_service.h"
#include "register_moves.h"

namespace warpath::testing {
namespace {

constexpr double kSeconds = 0.3;

/// Too deep for any stack, and nothing that a compiler turns into a loop.
[[gnu::noinline]] int dive(int depth) {
  volatile char here[256];
  here[0] = static_cast<char>(depth);
  return (depth >= 0 ? dive(depth + 1) : 0) + here[0];
}

void fail(std::string_view way) {
  if (way == "null") *static_cast<volatile int*>(nullptr) = 1;
  if (way == "check") WARPATH_CHECK(way.empty());
  if (way == "throw") throw std::runtime_error("no such place");
  if (way == "exit") ::_exit(7);
  if (way == "stack") static_cast<void>(dive(0));
  if (way == "endless") {
    volatile bool goes_on = true;
    while (goes_on) continue;
  }
  if (way == "memory") {
    std::vector<std::unique_ptr<char[]>> held;
    while (true) {
      held.push_back(std::make_unique_for_overwrite<char[]>(1U << 24U));
      held.back()[0] = 1;
    }
  }
}

class Fault final : public Move {
 public:
  [[nodiscard]] std::string_view name() const override { return "fault"; }
  [[nodiscard]] std::vector<MoveInstance> enumerate(const MoveContext&) const override {
    std::vector<MoveInstance> out;
    for (const char* const site :
         {"good:1", "fault:null", "fault:check", "fault:throw", "fault:endless", "fault:memory",
          "fault:stack", "fault:exit", "good:2"}) {
      out.push_back({.move = "fault", .site = site, .parameters = {}});
    }
    return out;
  }
  [[nodiscard]] std::vector<Tunable> domain(const MoveContext&,
                                            std::string_view site) const override {
    if (site.starts_with("fault:")) fail(site.substr(6));
    return {};
  }
  [[nodiscard]] std::optional<Variant> apply(const MoveContext& at,
                                             const MoveInstance& instance,
                                             std::string& why) const override {
    if (instance.site.starts_with("fault:")) fail(std::string_view(instance.site).substr(6));
    Variant out = at.variant;
    const std::size_t body = out.source.find('{');
    if (body == std::string::npos) return why = "no body", std::nullopt;
    out.source.insert(body + 1, "\n  const int " + std::string("made") +
                                    std::to_string(out.source.size()) + " = " +
                                    (instance.site == "good:1" ? "1" : "2") + ";");
    return out;
  }
};

class FaultEverywhere final : public Move {
 public:
  [[nodiscard]] std::string_view name() const override { return "fault_everywhere"; }
  [[nodiscard]] std::vector<MoveInstance> enumerate(const MoveContext&) const override {
    fail("null");
    return {};
  }
  [[nodiscard]] std::optional<Variant> apply(const MoveContext&,
                                             const MoveInstance&,
                                             std::string&) const override {
    return std::nullopt;
  }
};

}  // namespace

void register_faulty_moves(MoveRegistry& registry) {
  registry.add("fault", "fails at some sites", [] { return std::make_unique<Fault>(); });
  registry.add("fault_everywhere", "fails while it enumerates",
               [] { return std::make_unique<FaultEverywhere>(); });
}

int faulty_worker_main() {
  MoveRegistry moves("move");
  register_moves(moves);
  register_faulty_moves(moves);
  return move_worker_main(STDIN_FILENO, STDOUT_FILENO, moves, kSeconds);
}

}  // namespace warpath::testing
