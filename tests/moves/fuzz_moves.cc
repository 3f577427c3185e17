// Puts varied kernels through every move, in worker processes as a search does: fuzz_moves COUNT
// FIRST_SEED [WORKERS]. Mutant n is that of tests/moves/move_fuzz.cc with seed n. Failures and what
// is wrong with results go to stderr, the figures as JSON to stdout. Exit status 1 if there were
// any.

#include <unistd.h>
#include <algorithm>
#include <atomic>
#include <cstdio>
#include <cstdlib>
#include <filesystem>
#include <map>
#include <mutex>
#include <string>
#include <string_view>
#include <thread>
#include <vector>

#include "experiments/propose/move_service.h"
#include "experiments/propose/move_workers.h"
#include "register_moves.h"
#include "tests/support/kernel_variations.h"
#include "tests/support/move_fuzz.h"

using namespace warpath;

int main(int count, char** words) {
  const MoveRegistry& moves = registered_moves();
  if (count > 2 && std::string_view(words[1]) == "worker")
    return move_worker_main(STDIN_FILENO, STDOUT_FILENO, moves, kMoveSeconds);
  if (count < 3) {
    std::fprintf(stderr, "usage: fuzz_moves COUNT FIRST_SEED [WORKERS]\n");
    return 64;
  }
  const std::uint64_t mutants = std::strtoull(words[1], nullptr, 10),
                      first = std::strtoull(words[2], nullptr, 10);
  const int workers = count > 3
                          ? std::atoi(words[3])
                          : static_cast<int>(std::max(1U, std::thread::hardware_concurrency()));
  const std::vector<KernelSpec> kernels = test::kernels_to_vary(WARPATH_SOURCE_ROOT);
  std::vector<test::MoveFuzzFigures> figures(static_cast<std::size_t>(workers));
  std::mutex reporting;
  std::map<std::string, std::uint64_t> reasons;
  std::uint64_t failures = 0, deaths = 0;
  std::atomic<std::uint64_t> next = first;
  {
    std::vector<std::jthread> threads;
    for (int i = 0; i < workers; ++i) {
      threads.emplace_back([&, i] {
        MoveWorkers pool(moves, {.argv = {std::filesystem::read_symlink("/proc/self/exe").string(),
                                          "worker", "moves"},
                                 .workers = 1});
        std::size_t told = 0;
        for (std::uint64_t seed = next++; seed < first + mutants; seed = next++) {
          Rng rng(seed, "move_fuzz");
          test::fuzz_moves_once(
              kernels, pool.moves(), 10, rng, figures[static_cast<std::size_t>(i)],
              [&](const test::MadeKernel& made) {
                if (made.problem.empty()) return;
                const std::lock_guard lock(reporting);
                std::fprintf(stderr, "seed %llu: %s at %s: %s\n",
                             static_cast<unsigned long long>(seed), made.instance.text().c_str(),
                             made.spec.name.c_str(), made.problem.c_str());
              });
          const std::vector<MoveFailure> all = pool.failures();
          const std::lock_guard lock(reporting);
          for (; told < all.size(); ++told) {
            ++failures;
            ++reasons[all[told].reason];
            std::fprintf(stderr, "seed %llu: %s (%s): %s\n", static_cast<unsigned long long>(seed),
                         all[told].instance.text().c_str(), all[told].question.c_str(),
                         all[told].reason.c_str());
          }
        }
        const std::lock_guard lock(reporting);
        deaths += pool.deaths();
      });
    }
  }
  test::MoveFuzzFigures sum;
  for (const test::MoveFuzzFigures& f : figures) {
    sum.mutants += f.mutants;
    sum.seen_through += f.seen_through;
    sum.offered += f.offered;
    sum.applied += f.applied;
    sum.bent += f.bent;
  }
  const auto number = [](std::uint64_t n) { return static_cast<unsigned long long>(n); };
  std::printf(
      "{\"mutants\": %llu, \"mutants_with_offers\": %llu, \"offered\": %llu, \"applied\": %llu, "
      "\"results_understood_less\": %llu, \"failures_contained\": %llu, "
      "\"worker_deaths\": %llu, \"engine_deaths\": 0}\n",
      number(sum.mutants), number(sum.seen_through), number(sum.offered), number(sum.applied),
      number(sum.bent), number(failures), number(deaths));
  return failures == 0 && sum.bent == 0 ? 0 : 1;
}
