#include "priors/llm/choice.h"

#include <algorithm>
#include <charconv>
#include <cmath>
#include <nlohmann/json.hpp>
#include <set>

#include "engine/plugin/late_proposer.h"
#include "priors/llm/codec.h"

namespace warpath::llm {
namespace {

using nlohmann::json;

constexpr double kMostGain = 1000;
constexpr std::size_t kMostWhy = 300;

json closed(json properties) {
  json required = json::array();
  for (const auto& [key, value] : properties.items()) required.push_back(key);
  return {{"type", "object"},
          {"properties", std::move(properties)},
          {"required", std::move(required)},
          {"additionalProperties", false}};
}

json text_schema() {
  return {{"type", "string"}};
}
json number_schema() {
  return {{"type", "number"}};
}

std::optional<double> number_of(const json& object, std::string_view key) {
  const json& value = member(object, key);
  if (!value.is_number()) return std::nullopt;
  const double x = value.get<double>();
  return std::isfinite(x) ? std::optional<double>(x) : std::nullopt;
}

/// Parameters that a choice changes in the instance that it names. False: one that the instance
/// lacks, or no integer.
bool overlay(const json& params, MoveInstance& instance) {
  if (params.is_null()) return true;
  if (!params.is_array()) return false;
  for (const json& p : params) {
    const auto it = instance.parameters.find(text_of(p, "name"));
    if (it == instance.parameters.end()) return false;
    const std::string value = text_of(p, "value");
    std::int64_t number = 0;
    const auto [end, error] = std::from_chars(value.data(), value.data() + value.size(), number);
    if (error != std::errc() || end != value.data() + value.size()) return false;
    it->second = number;
  }
  return true;
}

/// The reason for leaving it out, or empty.
std::string read_choice(const json& said,
                        std::span<const Proposal> legal,
                        std::span<const std::string> by_hand,
                        Choice& out) {
  if (!said.is_object()) return "shape";
  out.move = text_of(said, "move");
  if (out.move.starts_with(kByHand)) {
    if (std::ranges::find(by_hand, out.move.substr(kByHand.size())) == by_hand.end())
      return "unknown_move";
  } else {
    const auto it = std::ranges::find_if(
        legal, [&](const Proposal& p) { return p.instance.text() == out.move; });
    if (it == legal.end()) return "unknown_move";
    out.instance = it->instance;
    if (!overlay(member(said, "params"), *out.instance)) return "parameters";
  }
  const auto lo = number_of(said, "gain_lo"), hi = number_of(said, "gain_hi"),
             confidence = number_of(said, "confidence");
  if (!lo || !hi || !confidence) return "numbers";
  if (*lo <= 0 || *hi > kMostGain || *lo > *hi || *confidence < 0 || *confidence > 1)
    return "range";
  out.gain_lo = *lo;
  out.gain_hi = *hi;
  out.confidence = *confidence;
  out.why = text_of(said, "why").substr(0, kMostWhy);
  return "";
}

}  // namespace

json choice_schema(std::span<const Proposal> legal, std::span<const std::string> by_hand) {
  json moves = json::array();
  for (const Proposal& p : legal) moves.push_back(p.instance.text());
  for (const std::string& name : by_hand) moves.push_back(std::string(kByHand) + name);
  const json choice =
      closed({{"move", {{"type", "string"}, {"enum", std::move(moves)}}},
              {"params",
               {{"type", "array"},
                {"items", closed({{"name", text_schema()}, {"value", text_schema()}})}}},
              {"gain_lo", number_schema()},
              {"gain_hi", number_schema()},
              {"confidence", number_schema()},
              {"novelty", {{"type", "string"}, {"enum", {"safe", "bold"}}}},
              {"why", text_schema()}});
  return closed(
      {{"bottleneck",
        {{"type", "string"},
         {"enum", {"memory", "compute", "latency", "occupancy", "sync", "launch", "unknown"}}}},
       {"choices", {{"type", "array"}, {"items", choice}}},
       {"stop", {{"type", "boolean"}}}});
}

std::optional<Chosen> read_choices(const json& answer,
                                   std::span<const Proposal> legal,
                                   std::span<const std::string> by_hand,
                                   std::string& why) {
  const json& list = member(answer, "choices");
  if (!list.is_array()) return why = "no array 'choices' in the answer", std::nullopt;
  Chosen out;
  out.bottleneck = text_of(answer, "bottleneck");
  const json& stop = member(answer, "stop");
  out.stop = stop.is_boolean() && stop.get<bool>();
  std::set<std::string> seen;
  for (const json& said : list) {
    Choice choice;
    std::string reason = read_choice(said, legal, by_hand, choice);
    if (reason.empty() &&
        !seen.insert(choice.instance ? choice.instance->text() : choice.move).second)
      reason = "repeated";
    reason.empty() ? out.choices.push_back(std::move(choice))
                   : static_cast<void>(++out.dropped[reason]);
  }
  // By what is expected of it: the middle of the range in logarithms, weighed with the confidence.
  const auto worth = [](const Choice& c) {
    return c.confidence * (std::log(c.gain_lo) + std::log(c.gain_hi)) / 2;
  };
  std::ranges::stable_sort(out.choices,
                           [&](const Choice& a, const Choice& b) { return worth(a) > worth(b); });
  return out;
}

}  // namespace warpath::llm
