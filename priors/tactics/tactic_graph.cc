#include "priors/tactics/tactic_graph.h"

#include <algorithm>
#include <nlohmann/json.hpp>

#include "engine/json/record_codec.h"
#include "priors/evidence/roofline.h"

namespace warpath {
namespace {

constexpr double kLeastGain = -1.5, kMostGain = 3;
/// Trials that a level's own evidence must outweigh to be believed more than the level above.
constexpr double kPriorTrials = 4;
/// Most that other kernels may say at one level: there are many trials of few kernels, and kernels
/// differ.
constexpr double kMostTransferred = 16;
/// Before anything is known: of ten moves one improves, by a tenth.
constexpr double kUsualChance = 0.1, kUsualImprovement = 0.1, kUsualSpread = 0.25;

/// An edge as it stands in the file.
struct EdgeLine : TacticGraph::Edge, TacticStats {};
struct TacticFile {
  std::vector<EdgeLine> edges;
};

}  // namespace

template <>
struct Description<EdgeLine>
    : Record<Kept<"context", &EdgeLine::context>,
             Kept<"from", &EdgeLine::from>,
             Kept<"to", &EdgeLine::to>,
             Kept<"tried", &EdgeLine::tried, NotNegative>,
             Kept<"failed", &EdgeLine::failed, NotNegative>,
             Kept<"improved", &EdgeLine::improved, NotNegative>,
             Kept<"gain", &EdgeLine::gain>,
             Kept<"gain_squares", &EdgeLine::gain_squares, NotNegative>,
             Kept<"improvement", &EdgeLine::improvement>,
             Kept<"improvement_squares", &EdgeLine::improvement_squares, NotNegative>> {};
template <>
struct Description<TacticFile> : Record<Always<"format", "warpath-tactics">,
                                        AlwaysNumber<"version", 1>,
                                        Kept<"edges", &TacticFile::edges>> {};

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
  for (const auto& [edge, stats] : edges_) {
    out += separator + Codec<EdgeLine>::write({edge, stats}).dump();
    separator = ",\n";
  }
  return out + "\n]}\n";
}

TacticGraph TacticGraph::parse(const std::string& text, const std::string& place) {
  const nlohmann::json document = parse_json(text, place);
  TacticFile file;
  Codec<TacticFile>::read(JsonCursor(document, place), file);
  TacticGraph out;
  for (std::size_t i = 0; i < file.edges.size(); ++i) {
    const EdgeLine& line = file.edges[i];
    const JsonCursor at = JsonCursor(document, place).at("edges").element(i);
    if (line.failed + line.improved > line.tried)
      at.at("tried").fail("at least failed and improved together");
    if (!out.edges_.emplace(line, line).second) at.fail("each transition once");
    for (const std::string& level : levels(line)) out.sums_[level].add(line);
  }
  return out;
}

}  // namespace warpath
