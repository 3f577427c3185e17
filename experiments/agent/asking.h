#pragma once

#include <filesystem>
#include <nlohmann/json_fwd.hpp>
#include <optional>
#include <stop_token>
#include <string>
#include <vector>

#include "experiments/evaluate/batch.h"
#include "experiments/setup/recorded_run.h"
#include "moves/propose/file_proposer.h"
#include "priors/llm/prompt.h"

namespace warpath {

/// An agent's candidate at a node.
struct ToldCandidate {
  std::string node;  ///< as for inspect
  /// MoveInstance::text(); applied by the engine if there is neither a text nor a launch plan
  std::string move = "other";
  /// a whole source, SEARCH/REPLACE blocks or a unified diff; empty: none
  std::string text;
  std::string launch;  ///< JSON of the whole launch plan; empty: the node's
  std::string place;   ///< origin, for error messages
};

/// A recorded run for an external agent: the contents of a node, the legal moves there, and the
/// evaluation of told candidates. Keeps nothing open between calls, so that a search may continue
/// in between.
class Asking {
 public:
  /// Throws Error(bad_input) if `folder` contains no run.
  Asking(std::filesystem::path folder, const Plugins& plugins, const Program& program);

  /// The node's prompt as given to a model (step 1). `node`: as for inspect.
  [[nodiscard]] std::vector<llm::Message> prompt(const std::string& node) const;
  /// {"node", "speedup", "best_speedup", "source", "launch", "legal": [{"move", "weight"}],
  /// "by_hand", "prompt": {"system", "user"}}. Without a node: the best node that has fewer than
  /// `kMostTold` told candidates below it.
  [[nodiscard]] nlohmann::json ask(const std::optional<std::string>& node) const;
  /// Evaluates one candidate at `node` and records it, regardless of the run's limits:
  /// {"evaluated", "key", "status", "speedup", "parent_speedup", "verdict", "log"}; "evaluated":
  /// false with "why" if it is known. Throws Error(bad_input) with the reason if it does not apply.
  /// `stop` and `abandon`: as for run_session; the next call repeats an abandoned evaluation.
  [[nodiscard]] nlohmann::json tell(const ToldCandidate& told,
                                    const std::stop_token& stop,
                                    const std::stop_token& abandon) const;
  /// {"name", "runner", "nodes", "by_status", "best": {"key", "speedup", "move"}}
  [[nodiscard]] nlohmann::json status() const;
  /// {"key", "path", "status", "speedup", "verdict", "diagnosis", "source"}
  [[nodiscard]] nlohmann::json inspect(const std::string& node) const;
  /// Why the node takes its time: {"key", "status", "findings": [line], "unavailable": [line],
  /// "bounds_ns", "facts"}, the last two {name: {"value", "source"}}.
  [[nodiscard]] nlohmann::json diagnose(const std::string& node) const;

 private:
  static constexpr std::size_t kMostTold = 8;
  [[nodiscard]] llm::Asked asked(const RecordedRun& run,
                                 std::size_t node,
                                 const DeviceFacts& device) const;
  [[nodiscard]] std::size_t next(const RecordedRun& run) const;
  [[nodiscard]] DeviceFacts device() const;
  [[nodiscard]] llm::Memory memory(const RecordedRun& run) const;

  std::filesystem::path folder_;
  const Plugins& plugins_;
  const Program& program_;
};

}  // namespace warpath
