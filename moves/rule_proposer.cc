#include "moves/rule_proposer.h"

#include <algorithm>
#include <map>
#include <numeric>
#include <string>
#include <unordered_set>

namespace warpath {

RuleProposer::RuleProposer(const MoveRegistry& registry) {
  for (const auto& [name, entry] : registry.entries()) moves_.push_back(entry.make());
}

std::vector<Proposal> RuleProposer::propose(const ProposalContext& context, Rng& rng) {
  const MoveContext& at = context.at;
  std::vector<Proposal> found;
  std::unordered_set<Hash128> keys{variant_key(at.variant)};
  std::string why;
  for (const auto& move : moves_) {
    std::map<std::string, int, std::less<>> rank;  // by site
    for (MoveInstance& instance : move->enumerate(at)) {
      const std::optional<Variant> next = move->apply(at, instance, why);
      if (!next || !satisfies_constraints(at.spec, *next, why) || !keys.insert(variant_key(*next)).second) continue;
      const int k = rank[instance.site]++;
      Proposal proposal;
      proposal.instance = std::move(instance);
      proposal.weight = 1.0 / ((k + 1.0) * (k + 1.0));
      found.push_back(std::move(proposal));
    }
  }
  // Shuffled first, then sorted stably: equal weights keep the drawn order.
  std::vector<Proposal> out;
  out.reserve(found.size());
  for (const std::uint32_t i : rng.permutation(static_cast<std::uint32_t>(found.size()))) out.push_back(std::move(found[i]));
  std::stable_sort(out.begin(), out.end(), [](const Proposal& a, const Proposal& b) { return a.weight > b.weight; });
  return out;
}

}  // namespace warpath
