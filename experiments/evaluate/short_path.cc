#include "experiments/evaluate/short_path.h"

#include <algorithm>
#include <set>

#include "engine/base/rng.h"

namespace warpath {
namespace {

bool gains_nothing(const MoveAttribution& move) {
  return move.verdict == Contribution::neutral || move.verdict == Contribution::harmful ||
         move.verdict == Contribution::not_realised;
}

}  // namespace

std::optional<ShortPath> shorten_path(const AttributionSetup& setup,
                                      const Attribution& attribution,
                                      const MoveTable& moves,
                                      Runner& runner,
                                      const std::function<void(const EvaluationFigures&)>& on_tick,
                                      const std::stop_token& stop,
                                      const std::stop_token& abandon,
                                      Variant* variant) {
  const KernelSpec& spec = setup.run.spec();
  const DeviceFacts device = runner.device();
  const MovePath path = recorded_path(setup.run, setup.node, spec, device, moves);
  std::set<std::size_t> idle;
  for (std::size_t step = 0; step < path.size(); ++step) {
    if (gains_nothing(attribution.moves[step])) idle.insert(step);
  }
  if (idle.empty()) return std::nullopt;
  const LeftOut rest = path.without(idle);
  if (!rest.variant || *rest.variant == path.before(0)) return std::nullopt;

  ShortPath out;
  out.key = variant_key(*rest.variant);
  for (std::size_t step = 0; step < path.size(); ++step) {
    const std::string move = path.instance(step).text();
    const bool gone =
        idle.contains(step) || std::ranges::find(rest.needing, move) != rest.needing.end();
    (gone ? out.left_out : out.moves).push_back(move);
  }
  const std::vector<Candidate> candidates{
      {.name = out.key.hex(), .variant = *rest.variant, .expectation = {}}};
  Outcome kernel;
  std::vector<Outcome> outcomes;
  const EvaluationPlan plan{.spec = spec,
                            .candidates = candidates,
                            .repeat = setup.repeat,
                            .stage = Stage::final,
                            .seed = Rng(setup.options.run.seed, "short path").next(),
                            .min_speedup = setup.options.run.min_speedup,
                            .against = &path.kernel()};
  const EvaluationFigures figures = evaluate_candidates(
      plan, runner,
      [&](const Evaluated& result) {
        if (result.candidate == nullptr)
          kernel = result.outcome;
        else
          outcomes.push_back(result.outcome);
      },
      on_tick, stop, abandon);
  if (figures.interrupted || outcomes.empty()) return std::nullopt;
  out.ablation = ablation_of(spec, device, kernel, outcomes, setup.options.run.seed);
  out.ablation.key = out.key;
  out.verdict = outcomes.front().verdict.summary();
  out.as_good = out.ablation.measured() && (out.ablation.interval.low <= 1 ||
                                            out.ablation.speedup < 1 + attribution.least_gain);
  if (variant != nullptr) *variant = *rest.variant;
  return out;
}

}  // namespace warpath
