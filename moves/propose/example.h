#pragma once

#include <span>
#include <string>
#include <string_view>

#include "engine/plugin/device_facts.h"
#include "engine/plugin/move_instance.h"
#include "moves/propose/move_script.h"

namespace warpath {

/// The effect of a move on one small kernel. Format of moves/examples/<move>.txt, described in
/// docs/moves.md:
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
///   (source, and after "--- terms" the changes of the launch, the options and the tunables)
struct MoveExample {
  MoveInstance step;                ///< as written; site and parameters may be left out
  std::vector<MoveInstance> given;  ///< applied first, for a move that builds on others
  KernelSpec spec;                  ///< `source` is the text before
  std::string after;
  std::string terms;    ///< changed lines of terms_text, each with "-" or "+"; empty: none
  std::string heading;  ///< everything above "--- after", as written
};

/// Throws Error(bad_input) naming `place` and the line.
[[nodiscard]] MoveExample parse_example(std::string_view text, const std::string& place);

/// A GPU with every instruction that a move may require, for carrying out examples.
[[nodiscard]] DeviceFacts example_device();

/// The result of an example's move: source and changed terms. Throws Error(bad_input) with the
/// move's reason if it refuses.
struct ExampleResult {
  MoveInstance instance;        ///< complete
  Variant before, after;        ///< input and output of the step
  std::string terms;            ///< changed lines of terms_text
  std::vector<Tunable> domain;  ///< Move::domain there
};
[[nodiscard]] ExampleResult run_example(const MoveExample& example, const MoveTable& moves);

/// An example built into the program.
struct EmbeddedExample {
  std::string_view move;
  std::string_view text;
};
[[nodiscard]] std::span<const EmbeddedExample> embedded_examples();

}  // namespace warpath
