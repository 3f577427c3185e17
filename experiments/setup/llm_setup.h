#pragma once

#include <filesystem>
#include <memory>
#include <optional>
#include <string>

#include "engine/plugin/move.h"
#include "engine/plugin/options.h"
#include "engine/spec/spec.h"
#include "priors/llm/budget.h"
#include "priors/llm/cassette.h"
#include "priors/llm/client.h"
#include "priors/llm/llm_proposer.h"
#include "priors/llm/options.h"
#include "priors/llm/profile.h"

namespace warpath {

/// The model selected by the options: profile with base URL and model resolved, and its key.
/// nullopt with one line in `why` if none is selected or there is no key. Throws Error(bad_input)
/// for an invalid profile, mode or key file, or a limit on money without prices.
struct LlmAccess {
  llm::Profile profile;
  std::string key;
  /// the variable that may have held it; pass to llm::forget_key once all accesses are made
  std::string key_variable;
};
[[nodiscard]] std::optional<LlmAccess> llm_access(const LlmOptions& options, std::string& why);

/// Every registered move with its help.
[[nodiscard]] std::vector<llm::MoveCard> move_cards(const MoveRegistry& moves);

/// Everything between a campaign and a model's server. Calls on the run folder's own cassette count
/// as spent from the start.
class LlmStack {
 public:
  LlmStack(const LlmAccess& access,
           const KernelSpec& spec,
           const DeviceFacts& device,
           const MoveRegistry& moves,
           const Options& options,
           const std::filesystem::path& folder);
  [[nodiscard]] llm::LlmProposer& proposer() { return *proposer_; }
  /// Writes llm_summary.json: questions, cost and gains.
  void write_summary(const std::filesystem::path& folder) const;
  /// A summary in one line.
  [[nodiscard]] std::string summary() const;

 private:
  llm::Profile profile_;
  llm::Budget budget_;
  std::unique_ptr<llm::Transport> transport_;
  std::unique_ptr<llm::Cassette> cassette_;
  std::unique_ptr<llm::Client> client_;
  std::unique_ptr<llm::LlmProposer> proposer_;
};

}  // namespace warpath
