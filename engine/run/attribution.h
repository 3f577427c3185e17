#pragma once

#include <array>
#include <nlohmann/json_fwd.hpp>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "engine/base/hash.h"
#include "engine/base/statistics.h"
#include "engine/plugin/outcome.h"
#include "engine/text/code_counts.h"

namespace warpath {

/// The value of a move on the path to a kernel.
enum class Contribution : std::uint8_t {
  effective,     ///< without it the kernel is slower
  neutral,       ///< no significant difference
  harmful,       ///< without it the kernel is faster
  not_realised,  ///< the code does not show the effect that the move declares
  /// without it the rest is not a correct kernel: it is required, and has no speed-up of its own
  invalid,
  unmeasured,  ///< there is no kernel without it, or no time for one
};
inline constexpr std::array<std::string_view, 6> kContributionNames{
    "effective", "neutral", "harmful", "not_realised", "invalid", "unmeasured"};
[[nodiscard]] constexpr std::string_view name(Contribution contribution) {
  return kContributionNames[static_cast<std::size_t>(contribution)];
}

/// The best kernel compared with another one, timed alternately.
struct Ablation {
  std::optional<Hash128> key{};    ///< of the other one; absent: it could not be made
  std::optional<Status> status{};  ///< of its evaluations; absent: there were none
  /// time of the other one / time of the best; 0 unless `status` is ok
  double speedup = 0;
  Interval interval{};  ///< 95 %
  int evaluations = 0;
  bool paired = false;  ///< launches of both alternate; false: one after the other
  std::string why;      ///< why there is no speed-up, or no measurement was needed
  /// later moves that do not apply without it: the comparison covers all of them
  std::vector<std::string> also_without = {};
  [[nodiscard]] bool measured() const { return status == Status::ok; }
};

/// One move of the path.
struct MoveAttribution {
  std::string move;  ///< MoveInstance::text()
  std::string proposer;
  Hash128 parent, child;  ///< keys of the variants on the path before and after it
  Contribution verdict = Contribution::unmeasured;
  std::string why;   ///< one line
  Ablation without;  ///< the path without this move
  /// the move that undoes it on the best kernel; empty: none
  std::string reverse_move;
  Ablation reverse;  ///< the best kernel after that move
  std::optional<CodeEvidence> code{};
};

/// The path without the moves that gain nothing, judged anew as a finalist is.
struct ShortPath {
  Hash128 key;                               ///< of the kernel at its end
  std::vector<std::string> moves, left_out;  ///< MoveInstance::text(), in the order of the path
  Ablation ablation;                         ///< the best over it
  std::string verdict;                       ///< of the gates, in one line
  bool as_good = false;                      ///< right, and not slower beyond the noise
};

/// The value of each move of the path to one kernel. The contents of attribution.json.
struct Attribution {
  std::string name, runner, device;
  Hash128 best;
  int repeat = 0;  ///< number of evaluations of each variant
  std::string stage;
  Ablation control;       ///< the best kernel against itself
  Ablation whole;         ///< against the baseline: the value of all moves together
  double least_gain = 0;  ///< a speed-up below 1 + this is insignificant
  /// of the code inspected; empty: none, for the reason in `code_why`
  std::string code_arch;
  std::string code_why{};
  bool code_decides = false;           ///< a move that the code does not show is not_realised
  std::vector<MoveAttribution> moves;  ///< in the order of the path
  /// absent: every move counts, or it was not looked for
  std::optional<ShortPath> short_path{};
};

/// Lower limit of `least_gain`, whatever the control.
inline constexpr double kLeastGain = 0.005;

/// Sets `least_gain` from the control (distance from 1 of the interval for equal kernels, at least
/// kLeastGain) and every verdict with its reason:
///
///   not_realised  if the code decides and does not show the move
///   unmeasured    if there is neither a time nor a refusal, with the reason; also after a time-out
///   invalid       if all variants without it are refused
///   effective     if the interval is above 1 and the speed-up >= 1 + least_gain
///   harmful       if the interval is below 1 and the speed-up <= 1 / (1 + least_gain)
///   neutral       otherwise
///
/// Based on the variant without the move; if that has no time, or lacks other moves too, on the one
/// with the move undone if it has a time.
void judge(Attribution& attribution);

[[nodiscard]] nlohmann::json to_json(const Attribution& attribution);
/// Throws Error(bad_input) with place and value.
[[nodiscard]] Attribution attribution_from_json(const nlohmann::json& json,
                                                const std::string& file);

}  // namespace warpath
