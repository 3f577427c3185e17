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
    const std::size_t first = found.size();
    std::map<std::string, std::uint32_t, std::less<>> site_of;  // name to number
    std::vector<int> ranks;                                     // instances so far, by site
    std::vector<std::pair<std::uint32_t, int>> place;           // site and rank within it, by proposal
    for (MoveInstance& instance : move->enumerate(at)) {
      const std::optional<Variant> next = move->apply(at, instance, why);
      if (!next || !satisfies_constraints(at.spec, *next, why) || !keys.insert(variant_key(*next)).second) continue;
      const std::uint32_t site = site_of.try_emplace(instance.site, static_cast<std::uint32_t>(site_of.size())).first->second;
      ranks.resize(site_of.size());
      place.emplace_back(site, ranks[site]++);
      found.push_back({.instance = std::move(instance)});
    }
    const auto turn = rng.permutation(static_cast<std::uint32_t>(site_of.size()));
    for (std::size_t i = first; i < found.size(); ++i) {
      const auto [site, k] = place[i - first];
      found[i].weight = 1.0 / ((turn[site] + 1.0) * (k + 1.0) * (k + 1.0));
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
