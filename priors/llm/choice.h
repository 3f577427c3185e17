#pragma once

#include <map>
#include <nlohmann/json_fwd.hpp>
#include <optional>
#include <span>
#include <string>
#include <vector>

#include "engine/plugin/proposal.h"

namespace warpath::llm {

/// Prefix of the name of a move requested as source: "by_hand:tile_and_block".
inline constexpr std::string_view kByHand = "by_hand:";
/// A move that is not in the catalogue.
inline constexpr std::string_view kOther = "other";

/// The schema of an answer at a node, which admits only what is legal there. Restricted to the
/// common subset of strict schemas: every object closed, every key required, no bounds.
[[nodiscard]] nlohmann::json choice_schema(std::span<const Proposal> legal,
                                           std::span<const std::string> by_hand);

/// One choice of a model.
struct Choice {
  std::string move;  ///< as in the schema: an instance's text, or kByHand and a name
  std::optional<MoveInstance> instance;  ///< absent: by hand
  double gain_lo = 0, gain_hi = 0;       ///< predicted speed-up over the parent, 1.1 for 10 %
  double confidence = 0;                 ///< 0 to 1
  std::string why;
};
struct Chosen {
  std::vector<Choice> choices;  ///< best first, no move twice
  std::string bottleneck;
  bool stop = false;                   ///< the model sees nothing worth trying
  std::map<std::string, int> dropped;  ///< ignored choices, by reason
};

/// Interprets an answer, without relying on the server to enforce the schema: choices of unknown
/// moves, with numbers out of range or repeated are dropped and counted. nullopt with one line in
/// `why` if the object does not have the schema's shape at all.
[[nodiscard]] std::optional<Chosen> read_choices(const nlohmann::json& answer,
                                                 std::span<const Proposal> legal,
                                                 std::span<const std::string> by_hand,
                                                 std::string& why);

}  // namespace warpath::llm
