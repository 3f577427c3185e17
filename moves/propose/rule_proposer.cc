#include "moves/propose/rule_proposer.h"

#include <algorithm>
#include <atomic>
#include <future>
#include <map>
#include <string>
#include <thread>
#include <unordered_set>

#include "moves/model/facts.h"
#include "moves/model/kernel_model.h"

namespace warpath {
namespace {

/// The first two instances of every structural move come before the first of any other.
constexpr double kStructural = 8;
constexpr std::size_t kMostThreads = 8;

}  // namespace

std::optional<Made> try_move(const Move& move,
                             const MoveContext& at,
                             const MoveInstance& instance) {
  std::string why;
  const std::optional<Variant> next = move.apply(at, instance, why);
  if (!next || !satisfies_constraints(at.spec, *next, why)) return std::nullopt;
  return Made{.key = variant_key(*next), .edit = edit_between(at.variant, *next)};
}

std::vector<MoveOffer> offers(const Move& move, const MoveContext& at) {
  if (const auto* const offering = dynamic_cast<const OfferingMove*>(&move))
    return offering->offers(at);
  std::vector<MoveOffer> out;
  for (MoveInstance& instance : move.enumerate(at)) {
    if (std::optional<Made> made = try_move(move, at, instance))
      out.push_back({std::move(instance), std::move(*made)});
  }
  return out;
}

RuleProposer::RuleProposer(const MoveRegistry& registry) {
  for (const auto& [name, entry] : registry.entries()) {
    auto move = entry.make();
    if (!move->polishes()) moves_.push_back(std::move(move));
  }
}

RuleProposer::~RuleProposer() = default;

/// Moves are independent of each other, and a node has a hundred variants to write, parse and hash:
/// 34 to 130 ms on one core, as long as a GPU takes for ten of them.
std::vector<std::vector<MoveOffer>> RuleProposer::all_offers(const MoveContext& at) const {
  std::vector<std::vector<MoveOffer>> out(moves_.size());
  std::atomic<std::size_t> next = 0;
  const auto work = [&] {
    const model::ModelScope models(at.spec);
    for (std::size_t i = next++; i < moves_.size(); i = next++) out[i] = offers(*moves_[i], at);
  };
  std::vector<std::future<void>> helpers;
  const std::size_t cores = std::max(1U, std::thread::hardware_concurrency());
  for (std::size_t i = 1; i < std::min({cores, kMostThreads, moves_.size()}); ++i)
    helpers.push_back(std::async(std::launch::async, work));
  work();
  for (auto& helper : helpers) helper.get();
  return out;
}

std::vector<Proposal> RuleProposer::propose(const ProposalContext& context, Rng& rng) {
  std::vector<std::vector<MoveOffer>> offered = all_offers(context.at);
  std::vector<Proposal> found;
  std::unordered_set<Hash128> keys{variant_key(context.at.variant)};
  for (std::size_t m = 0; m < moves_.size(); ++m) {
    const std::size_t first = found.size();
    std::map<std::string, std::uint32_t, std::less<>> site_of;  // name to number
    std::vector<int> ranks;                                     // instances so far, by site
    // site and rank within it, by proposal
    std::vector<std::pair<std::uint32_t, int>> place;
    for (MoveOffer& offer : offered[m]) {
      if (!keys.insert(offer.made.key).second) continue;
      const std::uint32_t site =
          site_of.try_emplace(offer.instance.site, static_cast<std::uint32_t>(site_of.size()))
              .first->second;
      ranks.resize(site_of.size());
      place.emplace_back(site, ranks[site]++);
      Proposal& proposal = found.emplace_back();
      proposal.instance = std::move(offer.instance);
      proposal.made = std::make_shared<const Made>(std::move(offer.made));
    }
    const double weight = moves_[m]->structural() ? kStructural : 1;
    const auto turn = rng.permutation(static_cast<std::uint32_t>(site_of.size()));
    for (std::size_t i = first; i < found.size(); ++i) {
      const auto [site, k] = place[i - first];
      found[i].weight = weight / ((turn[site] + 1.0) * (k + 1.0) * (k + 1.0));
    }
  }
  // Shuffled first, then sorted stably: equal weights keep the drawn order.
  std::vector<Proposal> out;
  out.reserve(found.size());
  for (const std::uint32_t i : rng.permutation(static_cast<std::uint32_t>(found.size())))
    out.push_back(std::move(found[i]));
  std::stable_sort(out.begin(), out.end(),
                   [](const Proposal& a, const Proposal& b) { return a.weight > b.weight; });
  return out;
}

}  // namespace warpath
