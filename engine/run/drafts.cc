#include "engine/run/drafts.h"

#include <future>
#include <utility>

#include "engine/run/kernel_space.h"

namespace warpath {

Drafter drafter_of(Runner& runner, const KernelSpec& spec, std::stop_token stop) {
  if (!runner.drafts()) return {};
  return [&runner, &spec, stop = std::move(stop)](const std::vector<Variant>& variants) {
    std::vector<std::future<std::shared_ptr<const Diagnosis>>> begun;
    for (const Variant& variant : variants)
      begun.push_back(std::async(std::launch::async, [&runner, &spec, &variant, stop] {
        return runner.draft(spec, variant, stop);
      }));
    std::vector<std::shared_ptr<const Diagnosis>> out;
    for (auto& one : begun) out.push_back(one.get());
    return out;
  };
}

std::vector<std::shared_ptr<const Diagnosis>> KernelSpace::drafts(
    NodeId node, std::span<const Proposal* const> proposals) const {
  std::vector<std::shared_ptr<const Diagnosis>> out(proposals.size());
  std::vector<Variant> variants;
  std::vector<std::size_t> places;
  for (std::size_t i = 0; i < proposals.size(); ++i) {
    const std::shared_ptr<const Made> made = this->made(node, *proposals[i]);
    if (!made || refused(node, *made)) continue;
    variants.push_back(edited(content(node)->variant, made->edit));
    places.push_back(i);
  }
  const auto told = parts_.draft(variants);
  for (std::size_t i = 0; i < places.size(); ++i) out[places[i]] = told[i];
  return out;
}

}  // namespace warpath
