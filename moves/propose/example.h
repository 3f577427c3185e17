#pragma once

#include <span>
#include <string>
#include <string_view>

#include "engine/plugin/move.h"
#include "moves/propose/move_script.h"

namespace warpath {

/// What a move does, shown on one small kernel. moves/examples/<move>.txt, which docs/moves.md
/// describes:
///
///   step: unroll_loops(factor=4)
///   input: float32 x[n]
///   output: float32 y[n]
///   scalar: int32 n = 1000
///   grid: ceil_div(n, 256)
///   block: 256
///   --- before
///   (source)
///   --- after
///   (source, and behind "--- terms" what changes in the launch, the options and the tunables)
struct MoveExample {
  MoveInstance step;                ///< as written; site and parameters may be left out
  std::vector<MoveInstance> given;  ///< carried out first: a move that works on what others made
  KernelSpec spec;                  ///< `source` is the text before
  std::string after;
  std::string terms;    ///< changed lines of terms_text, each with "-" or "+"; empty: none
  std::string heading;  ///< everything above "--- after", as written
};

/// Throws Error(bad_input) naming `place` and the line.
[[nodiscard]] MoveExample parse_example(std::string_view text, const std::string& place);

/// A GPU with every instruction that a move may ask for: examples are carried out for it.
[[nodiscard]] DeviceFacts example_device();

/// The move carried out on the example: source and changed terms. Throws Error(bad_input) with the
/// move's reason where it refuses.
struct ExampleResult {
  MoveInstance instance;        ///< in full
  Variant before, after;        ///< what the step was carried out on, what it made
  std::string terms;            ///< changed lines of terms_text
  std::vector<Tunable> domain;  ///< Move::domain there
};
[[nodiscard]] ExampleResult run_example(const MoveExample& example, const MoveTable& moves);

/// The examples that this program carries.
struct EmbeddedExample {
  std::string_view move;
  std::string_view text;
};
[[nodiscard]] std::span<const EmbeddedExample> embedded_examples();

}  // namespace warpath
