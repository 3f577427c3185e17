#pragma once

#include <cstdint>
#include <optional>
#include <span>
#include <string>
#include <vector>

#include "engine/plugin/device_facts.h"
#include "engine/plugin/late_proposer.h"
#include "engine/plugin/proposal.h"
#include "priors/llm/choice.h"
#include "priors/llm/model_call.h"

namespace warpath::llm {

/// A line of the catalogue.
struct MoveCard {
  std::string name, help;
};

/// What was tried, one line each; bounded.
class Memory {
 public:
  void add(const Lesson& lesson);
  /// Two lists, "worked" and "did not", newest last, at most `lines` each. If too many failed, the
  /// oldest of the most frequent kind are dropped first.
  [[nodiscard]] std::string table(std::size_t lines) const;
  [[nodiscard]] bool tried(const Hash128& parent, const MoveInstance& instance) const;

 private:
  struct Line {
    Hash128 parent;
    std::string move, kind, text;
  };
  std::vector<Line> good_, bad_;
};

/// A node that a model is asked about, kept until it is finished.
struct Asked {
  Variant variant;
  Hash128 key;
  std::optional<Outcome> outcome;
  double speedup = 1;
  double best_speedup = 1;
  std::vector<Proposal> legal;  ///< those listed
};

/// Builds prompts. The first message is identical, byte for byte, in all requests of a campaign,
/// since providers cache long prefixes.
class PromptBuilder {
 public:
  PromptBuilder(const KernelSpec& spec,
                const DeviceFacts& device,
                const std::vector<MoveCard>& catalogue);
  [[nodiscard]] const std::string& prefix() const { return prefix_; }
  /// moves that may be requested as source
  [[nodiscard]] const std::vector<std::string>& by_hand() const { return by_hand_; }
  /// Step 1: which moves. `memory_lines`: fewer make a shorter prompt.
  [[nodiscard]] std::vector<Message> choose(const Asked& node,
                                            const Memory& memory,
                                            std::size_t memory_lines,
                                            int moves) const;
  /// Step 2: one of them as source. `blocks`: as SEARCH/REPLACE blocks, otherwise whole.
  [[nodiscard]] std::vector<Message> write(const Asked& node,
                                           const Choice& choice,
                                           const std::string& nonce,
                                           bool blocks) const;
  /// Step 3: repair of the source in `reply`, whose problem is `wrong`; the move stays.
  [[nodiscard]] std::vector<Message> repair(std::vector<Message> asked,
                                            const std::string& reply,
                                            const std::string& wrong,
                                            const std::string& nonce) const;

 private:
  [[nodiscard]] std::string node_text(const Asked& node) const;
  const KernelSpec& spec_;
  std::string prefix_;
  std::vector<std::string> by_hand_;
};

/// The part of a verdict that proposers of candidates may see: the name of the first failing gate,
/// or that none failed. Never a gate's figures: inputs, shapes and thresholds of a check must not
/// reach those it checks.
[[nodiscard]] std::string verdict_text(const Outcome& outcome);
/// The part of its log: the compiler's first lines if the source did not compile, otherwise
/// nothing.
[[nodiscard]] std::string diagnostics_text(const Outcome& outcome);
/// The text for a repair: status and both of these.
[[nodiscard]] std::string repair_text(const Outcome& outcome);

}  // namespace warpath::llm
