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

/// What a move on the path to a kernel turned out to be worth.
enum class Contribution : std::uint8_t {
  effective,     ///< without it the kernel is slower
  neutral,       ///< no difference that can be told from none
  harmful,       ///< without it the kernel is faster
  not_realised,  ///< the code does not show what the move says that it does
  /// without it the rest is no correct kernel: it is needed, and has no speed-up of its own
  invalid,
  unmeasured,  ///< there is no kernel without it, or no time of one
};
inline constexpr std::array<std::string_view, 6> kContributionNames{
    "effective", "neutral", "harmful", "not_realised", "invalid", "unmeasured"};
[[nodiscard]] constexpr std::string_view name(Contribution contribution) {
  return kContributionNames[static_cast<std::size_t>(contribution)];
}

/// The best kernel compared with another one, in turn.
struct Ablation {
  std::optional<Hash128> key{};    ///< of the other one; none: it could not be made
  std::optional<Status> status{};  ///< of its evaluations; none: there were none
  /// time of the other one / time of the best; 0 unless `status` is ok
  double speedup = 0;
  Interval interval{};  ///< 95 %
  int evaluations = 0;
  bool paired = false;  ///< launches of both in turn; false: one after the other
  std::string why;      ///< where there is no speed-up, or nothing had to be measured
  /// later moves that do not apply where it is left out: what is compared is worth all of them
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
  Ablation without;  ///< the path with this move left out
  /// the move that undoes it on the best kernel; empty: there is none
  std::string reverse_move;
  Ablation reverse;  ///< the best kernel after that move
  std::optional<CodeEvidence> code{};
};

/// What each move of the path to one kernel is worth. attribution.json holds exactly this.
struct Attribution {
  std::string name, runner, device;
  Hash128 best;
  int repeat = 0;  ///< evaluations of each variant
  std::string stage;
  Ablation control;       ///< the best kernel against itself
  Ablation whole;         ///< the baseline: what all moves together are worth
  double least_gain = 0;  ///< a speed-up below 1 + this is no difference
  /// of the code that was looked at; empty: none, `code_why` says why
  std::string code_arch;
  std::string code_why{};
  bool code_decides = false;           ///< a move that the code does not show is not_realised
  std::vector<MoveAttribution> moves;  ///< in the order of the path
};

/// The smallest gain that counts whatever the control says.
inline constexpr double kLeastGain = 0.005;

/// Sets `least_gain` from the control (how far the interval of equal kernels reaches from 1,
/// kLeastGain at least) and every verdict with its reason:
///
///   not_realised   where the code decides and does not show the move
///   unmeasured     where there is neither time nor refusal, with the reason; also where an
///   evaluation took too long invalid        where all that leave it out are refused effective
///   lower end of the interval above 1, and speed-up >= 1 + least_gain harmful        upper end
///   below 1, and speed-up <= 1 / (1 + least_gain) neutral        otherwise
///
/// The variant with the move left out counts; where it has no time, or lacks other moves too, the
/// one with the move undone, if that has a time.
void judge(Attribution& attribution);

[[nodiscard]] nlohmann::json to_json(const Attribution& attribution);
/// Throws Error(bad_input) with place and value.
[[nodiscard]] Attribution attribution_from_json(const nlohmann::json& json,
                                                const std::string& file);

}  // namespace warpath
