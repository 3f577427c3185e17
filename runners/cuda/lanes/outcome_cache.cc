#include "runners/cuda/lanes/outcome_cache.h"

#include <algorithm>
#include <nlohmann/json.hpp>

#include "engine/base/error.h"
#include "engine/plugin/outcome_io.h"

namespace warpath::cuda {
namespace {

Hash128 entry_key(const Hash128& setup, std::string_view binary_key) {
  return Hasher().add("outcome").add(setup).add(binary_key).digest();
}

}  // namespace

Hash128 OutcomeCache::identity(const MeasurementSetup& setup) {
  std::vector<std::string> devices = setup.devices;
  std::ranges::sort(devices);
  Hasher hasher;
  hasher.add("setup").add(setup.program).add(setup.options).add(setup.spec);
  for (const std::string& device : devices) hasher.add(device);
  return hasher.digest();
}

std::optional<Outcome> OutcomeCache::find(const Hash128& setup, std::string_view binary_key) {
  const Hash128 key = entry_key(setup, binary_key);
  const auto text = entries_.find(key);
  if (!text) return std::nullopt;
  try {
    return outcome_from_json(nlohmann::json::parse(*text), "cache");
  } catch (const std::exception&) {  // of another version
    entries_.drop(key);
    return std::nullopt;
  }
}

void OutcomeCache::store(const Hash128& setup, const Outcome& outcome) {
  const bool lasting = outcome.status == Status::ok || outcome.status == Status::wrong_result ||
                       outcome.status == Status::rejected;
  if (lasting && !outcome.binary_key.empty())
    entries_.store(entry_key(setup, outcome.binary_key), to_json(recordable(outcome)).dump());
}

}  // namespace warpath::cuda
