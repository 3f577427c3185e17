#include "engine/run/attribution.h"

#include <algorithm>
#include <cmath>
#include <nlohmann/json.hpp>

#include "engine/base/format.h"
#include "engine/json/json_record.h"

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

// ---- JSON ----

json interval_json(const Interval& interval) {
  return json::array({number_to_json(interval.low), number_to_json(interval.high)});
}

Interval interval_from(const JsonCursor& view) {
  if (view.size() != 2) view.fail("two numbers");
  return {any_number(view.element(0)), any_number(view.element(1))};
}

json ablation_json(const Ablation& ablation) {
  json out{{"evaluations", ablation.evaluations},
           {"paired", ablation.paired},
           {"why", valid_utf8(ablation.why)}};
  for (const std::string& move : ablation.also_without)
    out["also_without"].push_back(valid_utf8(move));
  if (ablation.key) out["key"] = ablation.key->hex();
  if (ablation.status) out["status"] = name(*ablation.status);
  if (ablation.measured()) {
    out["speedup"] = number_to_json(ablation.speedup);
    out["interval"] = interval_json(ablation.interval);
  }
  return out;
}

template <std::size_t N>
std::size_t word_index(const JsonCursor& view, const std::array<std::string_view, N>& words) {
  const std::string text = view.text();
  const auto it = std::ranges::find(words, text);
  if (it != words.end()) return static_cast<std::size_t>(it - words.begin());
  std::string expected = "one of";
  for (const auto word : words) expected += " " + std::string(word);
  view.fail(expected);
}

Ablation ablation_from(const JsonCursor& view) {
  Ablation out{.evaluations = static_cast<int>(view.at("evaluations").integer()),
               .paired = view.at("paired").boolean(),
               .why = view.at("why").text()};
  if (const auto key = view.find("key")) out.key = hash_from_json(*key);
  if (const auto status = view.find("status"))
    out.status = static_cast<Status>(word_index(*status, kStatusNames));
  if (const auto others = view.find("also_without")) {
    others->require_array();
    for (std::size_t i = 0; i < others->size(); ++i)
      out.also_without.push_back(others->element(i).text());
  }
  if (out.measured()) {
    out.speedup = any_number(view.at("speedup"));
    out.interval = interval_from(view.at("interval"));
  }
  return out;
}

json evidence_json(const CodeEvidence& code) {
  json readings = json::array();
  for (const FeatureReading& r : code.readings) {
    readings.push_back({{"feature", r.feature},
                        {"form", r.form},
                        {"before", r.before},
                        {"after", r.after},
                        {"before_in_loops", r.before_in_loops},
                        {"after_in_loops", r.after_in_loops},
                        {"shows", r.shows}});
  }
  json difference = json::object();
  for (const auto& [opcode, counts] : code.difference)
    difference[valid_utf8(opcode)] = json::array({counts.first, counts.second});
  return {{"realised", code.realised ? json(*code.realised) : json()},
          {"why", valid_utf8(code.why)},
          {"arch", code.arch},
          {"tool", code.tool},
          {"readings", std::move(readings)},
          {"difference", std::move(difference)}};
}

CodeEvidence evidence_from(const JsonCursor& view) {
  CodeEvidence out{.realised = std::nullopt,
                   .why = view.at("why").text(),
                   .arch = view.at("arch").text(),
                   .tool = view.at("tool").text(),
                   .readings = {},
                   .difference = {}};
  if (const auto realised = view.find("realised")) out.realised = realised->boolean();
  const JsonCursor readings = view.at("readings");
  for (std::size_t i = 0; i < readings.size(); ++i) {
    const JsonCursor r = readings.element(i);
    out.readings.push_back({.feature = r.at("feature").text(),
                            .form = r.at("form").text(),
                            .before = r.at("before").number(),
                            .after = r.at("after").number(),
                            .before_in_loops = r.at("before_in_loops").number(),
                            .after_in_loops = r.at("after_in_loops").number(),
                            .shows = r.at("shows").boolean()});
  }
  const JsonCursor difference = view.at("difference");
  difference.require_object();
  for (const auto& [opcode, unused] : difference.value().items()) {
    const JsonCursor pair = difference.at(opcode);
    if (pair.size() != 2) pair.fail("two counts");
    out.difference[opcode] = {pair.element(0).integer(), pair.element(1).integer()};
  }
  return out;
}

json move_json(const MoveAttribution& move) {
  json out{{"move", valid_utf8(move.move)},         {"proposer", valid_utf8(move.proposer)},
           {"parent", move.parent.hex()},           {"child", move.child.hex()},
           {"verdict", name(move.verdict)},         {"why", valid_utf8(move.why)},
           {"without", ablation_json(move.without)}};
  if (!move.reverse_move.empty()) {
    out["reverse_move"] = valid_utf8(move.reverse_move);
    out["reverse"] = ablation_json(move.reverse);
  }
  if (move.code) out["code"] = evidence_json(*move.code);
  return out;
}

MoveAttribution move_from(const JsonCursor& view) {
  MoveAttribution out{
      .move = view.at("move").text(),
      .proposer = view.at("proposer").text(),
      .parent = hash_from_json(view.at("parent")),
      .child = hash_from_json(view.at("child")),
      .verdict = static_cast<Contribution>(word_index(view.at("verdict"), kContributionNames)),
      .why = view.at("why").text(),
      .without = ablation_from(view.at("without")),
      .reverse_move = {},
      .reverse = {},
      .code = std::nullopt};
  if (const auto reverse = view.find("reverse_move")) {
    out.reverse_move = reverse->text();
    out.reverse = ablation_from(view.at("reverse"));
  }
  if (const auto code = view.find("code")) out.code = evidence_from(*code);
  return out;
}

}  // namespace

void judge(Attribution& attribution) {
  attribution.least_gain = std::max(kLeastGain, control_gain(attribution.control));
  for (MoveAttribution& move : attribution.moves)
    judge(move, attribution.least_gain, attribution.code_decides);
}

json to_json(const Attribution& attribution) {
  json moves = json::array();
  for (const MoveAttribution& move : attribution.moves) moves.push_back(move_json(move));
  return {{"name", attribution.name},
          {"runner", attribution.runner},
          {"device", valid_utf8(attribution.device)},
          {"best", attribution.best.hex()},
          {"repeat", attribution.repeat},
          {"stage", attribution.stage},
          {"control", ablation_json(attribution.control)},
          {"whole", ablation_json(attribution.whole)},
          {"least_gain", number_to_json(attribution.least_gain)},
          {"code_arch", attribution.code_arch},
          {"code_why", valid_utf8(attribution.code_why)},
          {"code_decides", attribution.code_decides},
          {"moves", std::move(moves)}};
}

Attribution attribution_from_json(const json& value, const std::string& file) {
  const JsonCursor view(value, file);
  Attribution out{.name = view.at("name").text(),
                  .runner = view.at("runner").text(),
                  .device = view.at("device").text(),
                  .best = hash_from_json(view.at("best")),
                  .repeat = static_cast<int>(view.at("repeat").integer()),
                  .stage = view.at("stage").text(),
                  .control = ablation_from(view.at("control")),
                  .whole = ablation_from(view.at("whole")),
                  .least_gain = any_number(view.at("least_gain")),
                  .code_arch = view.at("code_arch").text(),
                  .code_why = view.at("code_why").text(),
                  .code_decides = view.at("code_decides").boolean(),
                  .moves = {}};
  const JsonCursor moves = view.at("moves");
  for (std::size_t i = 0; i < moves.size(); ++i) out.moves.push_back(move_from(moves.element(i)));
  return out;
}

}  // namespace warpath
