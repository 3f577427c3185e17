#include "priors/tactics/tactic_graph.h"

#include <algorithm>
#include <nlohmann/json.hpp>

#include "engine/json/json_reader.h"
#include "engine/json/json_record.h"
#include "priors/evidence/roofline.h"

namespace warpath {
namespace {

using nlohmann::json;

constexpr double kLeastGain = -1.5, kMostGain = 3;
/// Trials that a level's own evidence must outweigh to be believed more than the level above.
constexpr double kPriorTrials = 4;
/// Most that other kernels may say at one level: there are many trials of few kernels, and kernels
/// differ.
constexpr double kMostTransferred = 16;
/// Before anything is known: of ten moves one improves, by a tenth.
constexpr double kUsualChance = 0.1, kUsualImprovement = 0.1, kUsualSpread = 0.25;

}  // namespace

void TacticStats::add(bool ok, double log_gain) {
  tried += 1;
  if (!ok) {
    failed += 1;
    return;
  }
  const double x = std::clamp(log_gain, kLeastGain, kMostGain);
  gain += x;
  gain_squares += x * x;
  if (x < kImproved) return;
  improved += 1;
  improvement += x;
  improvement_squares += x * x;
}

void TacticStats::add(const TacticStats& other, double weight) {
  tried += weight * other.tried;
  failed += weight * other.failed;
  improved += weight * other.improved;
  gain += weight * other.gain;
  gain_squares += weight * other.gain_squares;
  improvement += weight * other.improvement;
  improvement_squares += weight * other.improvement_squares;
}

std::vector<std::string> TacticGraph::levels(const Edge& edge) {
  const auto last = edge.context.rfind('/');
  const std::string of_class = edge.context.substr(0, last == std::string::npos ? 0 : last);
  const std::string device = edge.context.substr(0, edge.context.find('/'));
  const char* const kind = MethodRegistry::built_in().structural(edge.to) ? "\n\n\n\n\nstructural"
                                                                          : "\n\n\n\n\nadjusting";
  return {device,
          device + kind,
          device + "\n" + edge.to,
          of_class + "\n\n" + edge.to,
          edge.context + "\n\n\n" + edge.to,
          edge.context + "\n" + edge.from + "\n\n\n" + edge.to};
}

void TacticGraph::add(const Edge& edge, bool ok, double log_gain) {
  TacticStats one;
  one.add(ok, log_gain);
  edges_[edge].add(one);
  for (const std::string& level : levels(edge)) sums_[level].add(one);
}

TacticBelief TacticGraph::believe(const Edge& at, const TacticGraph& own) const {
  double chance = kUsualChance, improvement = kUsualImprovement, gain = 0,
         spread = kUsualSpread * kUsualSpread;
  TacticBelief out;
  for (const std::string& level : levels(at)) {
    TacticStats seen;
    if (const auto it = own.sums_.find(level); it != own.sums_.end()) seen.add(it->second);
    if (const auto it = sums_.find(level); it != sums_.end())
      seen.add(it->second, std::min(1.0, kMostTransferred / it->second.tried));
    out.improves = {kPriorTrials * chance + seen.improved,
                    kPriorTrials * (1 - chance) + seen.tried - seen.improved};
    chance = out.improves.mean();
    // one improvement of the level above
    improvement = (improvement + seen.improvement) / (1 + seen.improved);
    const double timed = seen.tried - seen.failed, before = gain;
    gain = (kPriorTrials * gain + seen.gain) / (kPriorTrials + timed);
    const double deviations = seen.gain_squares - 2 * gain * seen.gain + timed * gain * gain +
                              kPriorTrials * (before - gain) * (before - gain);
    spread = (kPriorTrials * spread + std::max(0.0, deviations)) / (kPriorTrials + timed);
    out.gain = {gain, spread / (kPriorTrials + timed), spread};
  }
  out.expected = chance * improvement;
  return out;
}

std::string TacticGraph::text() const {
  std::string out = "{\"format\": \"warpath-tactics\", \"version\": 1, \"edges\": [";
  const char* separator = "\n";
  for (const auto& [edge, s] : edges_) {
    const json row{{"context", edge.context},
                   {"from", edge.from},
                   {"to", edge.to},
                   {"tried", s.tried},
                   {"failed", s.failed},
                   {"improved", s.improved},
                   {"gain", s.gain},
                   {"gain_squares", s.gain_squares},
                   {"improvement", s.improvement},
                   {"improvement_squares", s.improvement_squares}};
    out += separator + row.dump();
    separator = ",\n";
  }
  return out + "\n]}\n";
}

TacticGraph TacticGraph::parse(const std::string& text, const std::string& place) {
  const json document = parse_json(text, place);
  const JsonCursor root(document, place);
  require_only(root, {"format", "version", "edges"});
  if (root.at("format").text() != "warpath-tactics") root.at("format").fail("warpath-tactics");
  if (root.at("version").unsigned_integer() != 1) root.at("version").fail("1");
  TacticGraph out;
  const JsonCursor edges = root.at("edges");
  edges.require_array();
  for (std::size_t i = 0; i < edges.size(); ++i) {
    const JsonCursor c = edges.element(i);
    require_only(c, {"context", "from", "to", "tried", "failed", "improved", "gain", "gain_squares",
                     "improvement", "improvement_squares"});
    const auto count = [&](const char* key) {
      const double x = c.at(key).number();
      if (x < 0) c.at(key).fail("at least 0");
      return x;
    };
    const TacticStats stats{.tried = count("tried"),
                            .failed = count("failed"),
                            .improved = count("improved"),
                            .gain = c.at("gain").number(),
                            .gain_squares = count("gain_squares"),
                            .improvement = count("improvement"),
                            .improvement_squares = count("improvement_squares")};
    if (stats.failed + stats.improved > stats.tried)
      c.at("tried").fail("at least failed and improved together");
    const Edge edge{c.at("context").text(), c.at("from").text(), c.at("to").text()};
    if (!out.edges_.emplace(edge, stats).second) c.fail("each transition once");
    for (const std::string& level : levels(edge)) out.sums_[level].add(stats);
  }
  return out;
}

}  // namespace warpath
