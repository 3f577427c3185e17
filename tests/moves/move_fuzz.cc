#include <doctest/doctest.h>

#include <cstdlib>
#include <string>

#include "register_moves.h"
#include "tests/support/kernel_variations.h"
#include "tests/support/move_fuzz.h"

using namespace warpath;

TEST_SUITE_BEGIN("move_fuzz");

namespace {

/// A number of the environment; tests/measure moves_fuzzed runs 100,000 mutants.
std::uint64_t wanted(const char* name, std::uint64_t otherwise) {
  const char* const text = std::getenv(name);
  return text == nullptr ? otherwise : std::strtoull(text, nullptr, 10);
}

}  // namespace

TEST_CASE(
    "varied kernels go through every move without a crash, and what comes out is still "
    "understood") {
  const std::vector<KernelSpec> kernels = test::kernels_to_vary(WARPATH_SOURCE_ROOT);
  const MoveRegistry& moves = registered_moves();
  const std::uint64_t first = wanted("WARPATH_SEED", 1),
                      count = std::getenv("WARPATH_SEED") != nullptr
                                  ? 1
                                  : wanted("WARPATH_MUTANTS", 250);
  test::MoveFuzzFigures figures;
  for (std::uint64_t seed = first; seed < first + count; ++seed) {
    CAPTURE(seed);
    Rng rng(seed, "move_fuzz");
    test::fuzz_moves_once(kernels, moves, 10, rng, figures, [&](const test::MadeKernel& made) {
      CAPTURE(made.instance.text());
      CAPTURE(made.before.source);
      CAPTURE(made.after.source);
      CHECK(made.problem == "");
    });
  }
  CHECK(figures.mutants == count);
  if (count > 100) CHECK(figures.applied > count / 10);
}

TEST_SUITE_END();
