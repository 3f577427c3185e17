#pragma once

#include <cstdint>
#include <functional>
#include <map>
#include <memory>
#include <nlohmann/json_fwd.hpp>
#include <optional>
#include <set>
#include <string>
#include <vector>

#include "engine/plugin/late_proposer.h"
#include "engine/plugin/options.h"
#include "priors/llm/client.h"
#include "priors/llm/options.h"
#include "priors/llm/prompt.h"

namespace warpath::llm {

/// Applies `text` (a whole source or blocks) to `source`; nullopt with one line in `why`.
using PatchFunction = std::function<std::optional<std::string>(
    const std::string& source, const std::string& text, std::string& why)>;

/// Ideas and implementations are counted separately: a badly written idea is not a bad idea.
struct ProposerFigures {
  std::int64_t asked = 0;    ///< nodes
  std::int64_t choices = 0;  ///< accepted as proposals or requested as source
  std::int64_t proposals = 0;
  std::int64_t written = 0;  ///< sources received, including repairs
  std::int64_t repairs = 0;
  std::int64_t improved = 0;  ///< evaluated proposals faster than their parent
  std::int64_t evaluated = 0;
  std::int64_t failed = 0;                      ///< evaluated but not ok
  std::map<std::string, std::int64_t> dropped;  ///< answers and choices, by reason
};

/// Asks a language model in two steps: which moves at a node, then (for moves that no rule can make
/// there) one of them as source, with repairs. A reply is data: it becomes a proposal like any
/// other, or is dropped and counted. Never blocks; the client works on its own thread.
class LlmProposer final : public LateProposer {
 public:
  struct Parts {  ///< referenced objects must outlive the proposer
    const KernelSpec& spec;
    DeviceFacts device;
    std::vector<MoveCard> catalogue;
    const LlmOptions& options;
    Client& client;
    Profile profile;
    PatchFunction patch;
    std::uint64_t seed = 1;
  };
  explicit LlmProposer(Parts parts);
  ~LlmProposer() override;

  [[nodiscard]] std::string_view name() const override { return "llm"; }
  void offer(const Offer& offer) override;
  void learn(const Lesson& lesson) override;
  [[nodiscard]] std::vector<Arrival> take() override;
  [[nodiscard]] bool waiting() override;
  void close() override;

  [[nodiscard]] const ProposerFigures& figures() const { return figures_; }

 private:
  struct Node;
  struct Job;

  void pump();
  void ask(const std::shared_ptr<Node>& node, std::size_t memory_lines, bool again);
  [[nodiscard]] ModelRequest choose_request(const Node& node, bool again) const;
  void write(Job job);
  void handle(const Reply& reply);
  void choose(const Job& job, const Reply& reply);
  void take_source(const Job& job, const Reply& reply);
  void repair(const Job& job, const std::string& reply_text, const std::string& wrong);
  void submit(Job job, ModelRequest request);
  void arrive(const std::shared_ptr<Node>& node, int place, std::vector<Proposal> proposals);
  /// Marks one open item of the node as finished.
  void close_one(const std::shared_ptr<Node>& node);
  [[nodiscard]] static Proposal proposal(const Choice& choice, const MoveInstance& instance);
  [[nodiscard]] std::string nonce(const Node& node, const std::string& move, int round) const;

  Parts parts_;
  PromptBuilder prompts_;
  Memory memory_;
  ProposerFigures figures_;
  std::vector<std::shared_ptr<Node>> queue_;  // shared: jobs of a node may outlive its entry here
  std::map<std::uint64_t, Job> jobs_;         // by call
  std::map<Hash128, Job> written_;            // by variant, until evaluated
  // by variant, for unsolicited sources: what is wrong with it; empty: nothing
  std::map<Hash128, std::string> evaluated_;
  std::set<Hash128> asked_;
  struct Ready;
  // by node, an order that is the same in every session
  std::map<Hash128, Ready> ready_;
  bool closed_ = false;
};

}  // namespace warpath::llm
