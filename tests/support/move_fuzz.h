#pragma once

#include <cstdint>
#include <functional>
#include <string>
#include <vector>

#include "engine/base/rng.h"
#include "engine/plugin/move.h"

namespace warpath::test {

struct MoveFuzzFigures {
  std::uint64_t mutants = 0;
  std::uint64_t seen_through = 0;  ///< mutants that some move offers something for
  std::uint64_t offered = 0;       ///< instances that apply
  std::uint64_t applied = 0;       ///< of those, carried out once more and looked at
  /// results that the parser understands less of than of what they were made of
  std::uint64_t bent = 0;
};

/// A kernel that a move made, with what is wrong with it.
struct MadeKernel {
  const KernelSpec& spec;
  const Variant& before;
  const MoveInstance& instance;
  const Variant& after;
  std::string problem;  ///< empty: none
};

/// Puts one mutant through every move: what each offers, and up to `most` of the instances that
/// apply, drawn by `rng`, carried out. The mutant is a spec's kernel after up to three drawn moves,
/// varied nine times in ten. Every result is handed to `on_made`.
void fuzz_moves_once(const std::vector<KernelSpec>& kernels,
                     const MoveRegistry& moves,
                     std::size_t most,
                     Rng& rng,
                     MoveFuzzFigures& figures,
                     const std::function<void(const MadeKernel&)>& on_made);

}  // namespace warpath::test
