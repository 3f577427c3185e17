#include "engine/run/attribution.h"

#include <algorithm>
#include <cmath>
#include <nlohmann/json.hpp>

#include "engine/base/format.h"
#include "engine/plugin/objective.h"
#include "engine/plugin/outcome_fields.h"

namespace warpath {
namespace {

using nlohmann::json;

/// How far equal kernels may seem apart, as a gain.
double control_gain(const Ablation& control) {
  if (!control.measured()) return 0;
  return std::expm1(std::max(std::abs(std::log(control.interval.low)),
                             std::abs(std::log(control.interval.high))));
}

/// A kernel that is refused: not one that could not be tried.
bool refused(const Ablation& ablation) {
  return ablation.status && !ablation.measured() && *ablation.status != Status::not_applicable &&
         *ablation.status != Status::timed_out;
}

std::string reason(const Ablation& ablation) {
  if (!ablation.status) return ablation.why;
  return std::string(name(*ablation.status)) + (ablation.why.empty() ? "" : ": " + ablation.why);
}

Contribution timed_verdict(const Ablation& ablation, double least_gain) {
  if (ablation.interval.low > 1 && ablation.speedup >= 1 + least_gain)
    return Contribution::effective;
  if (ablation.interval.high < 1 && ablation.speedup <= 1 / (1 + least_gain))
    return Contribution::harmful;
  return Contribution::neutral;
}

std::string joined(const std::vector<std::string>& words) {
  std::string out;
  for (const std::string& word : words) out += (out.empty() ? "" : ", ") + word;
  return out;
}

void judge(MoveAttribution& move, double least_gain, bool code_decides) {
  const bool undone =
      (!move.without.measured() || !move.without.also_without.empty()) && move.reverse.measured();
  const Ablation& counts = undone ? move.reverse : move.without;
  if (code_decides && move.code && move.code->realised == false) {
    move.verdict = Contribution::not_realised;
    move.why = move.code->why;
  } else if (counts.measured()) {
    move.verdict = timed_verdict(counts, least_gain);
    move.why = ratio_text(counts.speedup, counts.interval) +
               (undone ? " over the kernel with the move undone" : " over the kernel without it");
    if (!counts.also_without.empty())
      move.why += ", and without what needs it: " + joined(counts.also_without);
    if (!counts.why.empty()) move.why = counts.why;
  } else if (refused(move.without)) {
    move.verdict = Contribution::invalid;
    move.why = "without it: " + reason(move.without);
  } else {
    move.verdict = Contribution::unmeasured;
    move.why = reason(move.without);
  }
}

}  // namespace

namespace attribution_fields {

/// [low, high]
struct Ends {
  static void read(const JsonCursor& cursor, Interval& out) {
    std::vector<double> ends;
    AnyNumber::read(cursor, ends);
    if (ends.size() != 2) cursor.fail("two numbers");
    out = {ends[0], ends[1]};
  }
  static json write(const Interval& interval) {
    return AnyNumber::write(std::vector{interval.low, interval.high});
  }
};

}  // namespace attribution_fields

template <>
struct EnumWords<Contribution> {
  static constexpr auto rows = rows_of<Contribution>(kContributionNames);
};
template <>
struct Description<Ablation>
    : Record<Sparse<"key", &Ablation::key>,
             Sparse<"status", &Ablation::status>,
             Sparse<"speedup", &Ablation::speedup, AnyNumber>,
             Sparse<"interval", &Ablation::interval, attribution_fields::Ends>,
             Kept<"evaluations", &Ablation::evaluations>,
             Kept<"paired", &Ablation::paired>,
             Kept<"why", &Ablation::why, ValidText>,
             Sparse<"also_without", &Ablation::also_without, Each<ValidText>>> {};
template <>
struct Description<FeatureReading>
    : Record<Kept<"feature", &FeatureReading::feature>,
             Kept<"form", &FeatureReading::form>,
             Kept<"before", &FeatureReading::before>,
             Kept<"after", &FeatureReading::after>,
             Kept<"before_in_loops", &FeatureReading::before_in_loops>,
             Kept<"after_in_loops", &FeatureReading::after_in_loops>,
             Kept<"shows", &FeatureReading::shows>> {};
template <>
struct Description<CodeEvidence> : Record<Kept<"realised", &CodeEvidence::realised>,
                                          Kept<"why", &CodeEvidence::why, ValidText>,
                                          Kept<"arch", &CodeEvidence::arch>,
                                          Kept<"tool", &CodeEvidence::tool>,
                                          Kept<"readings", &CodeEvidence::readings>,
                                          Kept<"difference", &CodeEvidence::difference>> {};
template <>
struct Description<MoveAttribution>
    : Record<Kept<"move", &MoveAttribution::move, ValidText>,
             Kept<"proposer", &MoveAttribution::proposer, ValidText>,
             Kept<"parent", &MoveAttribution::parent>,
             Kept<"child", &MoveAttribution::child>,
             Kept<"verdict", &MoveAttribution::verdict>,
             Kept<"why", &MoveAttribution::why, ValidText>,
             Kept<"without", &MoveAttribution::without>,
             Sparse<"reverse_move", &MoveAttribution::reverse_move, ValidText>,
             Sparse<"reverse", &MoveAttribution::reverse>,
             Sparse<"code", &MoveAttribution::code>> {};
template <>
struct Description<ShortPath> : Record<Kept<"key", &ShortPath::key>,
                                       Kept<"moves", &ShortPath::moves, Each<ValidText>>,
                                       Kept<"left_out", &ShortPath::left_out, Each<ValidText>>,
                                       Kept<"ablation", &ShortPath::ablation>,
                                       Kept<"verdict", &ShortPath::verdict, ValidText>,
                                       Kept<"as_good", &ShortPath::as_good>> {};
template <>
struct Description<Attribution> : Record<Kept<"name", &Attribution::name>,
                                         Kept<"runner", &Attribution::runner>,
                                         Kept<"device", &Attribution::device, ValidText>,
                                         Kept<"best", &Attribution::best>,
                                         Kept<"repeat", &Attribution::repeat>,
                                         Kept<"stage", &Attribution::stage>,
                                         Kept<"control", &Attribution::control>,
                                         Kept<"whole", &Attribution::whole>,
                                         Kept<"least_gain", &Attribution::least_gain, AnyNumber>,
                                         Kept<"code_arch", &Attribution::code_arch>,
                                         Kept<"code_why", &Attribution::code_why, ValidText>,
                                         Kept<"code_decides", &Attribution::code_decides>,
                                         Kept<"moves", &Attribution::moves>,
                                         Sparse<"short_path", &Attribution::short_path>> {};

void judge(Attribution& attribution) {
  attribution.least_gain = std::max(kLeastGain, control_gain(attribution.control));
  for (MoveAttribution& move : attribution.moves)
    judge(move, attribution.least_gain, attribution.code_decides);
}

json to_json(const Attribution& attribution) {
  return Codec<Attribution>::write(attribution);
}

Attribution attribution_from_json(const json& value, const std::string& file) {
  Attribution out;
  Codec<Attribution>::read(JsonCursor(value, file), out);
  return out;
}

}  // namespace warpath
