#include <doctest/doctest.h>

#include <algorithm>
#include <cstdio>
#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <map>
#include <nlohmann/json.hpp>
#include <string>
#include <vector>

#include "engine/base/hash.h"
#include "moves/propose/rule_proposer.h"
#include "register_moves.h"
#include "register_priors.h"
#include "runners/replay/virtual_lab.h"
#include "tests/support/campaign_bench.h"
#include "tests/support/kernel_variations.h"
#include "tests/support/temporary_folder.h"

using namespace warpath;
namespace fs = std::filesystem;

namespace {

const fs::path kFile = fs::path(WARPATH_SOURCE_ROOT) / "tests/golden/signatures.json";

/// Compares with the file, or writes it where WARPATH_GOLDEN=write asks for it. A commit that
/// changes a signature says the old one, the new one and why.
void check_signature(const std::string& name, const nlohmann::ordered_json& now) {
  nlohmann::ordered_json signatures =
      nlohmann::ordered_json::parse(std::ifstream(kFile), nullptr, false);
  if (signatures.is_discarded()) signatures = nlohmann::ordered_json::object();
  const char* const mode = std::getenv("WARPATH_GOLDEN");
  if (mode != nullptr && std::string_view(mode) == "write") {
    signatures[name] = now;
    std::ofstream(kFile) << signatures.dump(2) << '\n';
    return;
  }
  INFO("a change on purpose: WARPATH_GOLDEN=write, and the commit says why");
  const nlohmann::ordered_json before = signatures.value(name, nlohmann::ordered_json());
  if (!now.is_object() || !before.is_object()) {
    CHECK_MESSAGE(before == now, name, " is ", now.dump(), ", was ", before.dump());
    return;
  }
  for (const auto& [part, value] : now.items())
    CHECK_MESSAGE(before.value(part, "") == value, name, " of ", part, " is ", value.dump(),
                  ", was ", before.value(part, "nothing"));
  for (const auto& [part, value] : before.items())
    CHECK_MESSAGE(now.contains(part), name, " of ", part, " was ", value.dump(), ", is nothing");
}

/// Everything that one move makes of one kernel; empty where it makes nothing.
std::string made_of(const Move& move, const MoveContext& context) {
  Hasher hasher;
  const std::vector<MoveOffer> made = offers(move, context);
  for (const MoveOffer& offer : made) {
    hasher.add(offer.instance.text())
        .add(edited(context.variant, offer.made.edit).source + offer.made.key.hex());
  }
  return made.empty() ? "" : hasher.digest().short_hex();
}

}  // namespace

TEST_SUITE("golden") {
  TEST_CASE("a search of the synthetic landscape builds the same graph in the same order") {
    Hasher hasher;
    for (const char* const strategy : {"mcgs", "beam", "best_first"}) {
      test::TemporaryFolder folder;
      Options options = test::small_options(40);
      options.search.strategy = strategy;
      const SessionResult result = test::CampaignBench(options).run(folder.path() / "run");
      hasher.add(strategy).add(result.fingerprint);
    }
    check_signature("synthetic_search", hasher.digest().hex());
  }

  TEST_CASE("a campaign over recorded kernels finds the same variants after the same evaluations") {
    const PriorRegistry& priors = registered_priors();
    std::vector<fs::path> graphs;
    for (const auto& entry :
         fs::directory_iterator(fs::path(WARPATH_SOURCE_ROOT) / "experiments/graphs")) {
      if (entry.path().extension() == ".gz") graphs.push_back(entry.path());
    }
    std::ranges::sort(graphs);
    CHECK(graphs.size() == 6);
    const MoveRegistry& moves = registered_moves();
    Recording::Steps steps;
    for (const auto& [name, entry] : moves.entries()) {
      if (entry.make()->structural()) steps.structural.insert(name);
    }
    Hasher hasher;
    for (const fs::path& graph : graphs) {
      const auto recording = load_recording(graph);
      const Options options;
      const auto prior = priors.create("run.prior", options.run.prior, {.options = &options});
      steps.prior = prior.get();
      const LabRun run = run_lab(*recording, options, {.seed = 1, .budget = 50}, steps);
      hasher.add(recording->name()).add(run.evaluations).add(run.failed);
      for (const LabRun::Improvement& one : run.improvements)
        hasher.add(one.evaluation).add(one.time_ns);
    }
    check_signature("recorded_search", hasher.digest().hex());
  }

  TEST_CASE("moves offer the same instances and write the same text") {
    const DeviceFacts device{.runner = "cuda",
                             .name = "golden",
                             .arch = "sm_90a",
                             .multiprocessors = 132,
                             .max_smem_per_block_bytes = 227 << 10,
                             .is_gpu = true};
    const MoveRegistry& moves = registered_moves();
    const std::vector<KernelSpec> kernels = test::kernels_to_vary(WARPATH_SOURCE_ROOT);
    for (const auto& [name, entry] : moves.entries()) {
      // Of each kernel, so that another kernel adds a line and changes none.
      std::map<std::string, std::string> signatures;
      const auto move = entry.make();
      for (const KernelSpec& spec : kernels) {
        const Variant variant = baseline_variant(spec);
        const std::string signature = made_of(*move, {spec, variant, device});
        const std::string text = Hasher().add(spec.source).digest().short_hex();
        if (!signature.empty()) signatures[spec.name + " " + text.substr(0, 4)] += signature;
      }
      check_signature("move " + name, signatures);
    }
  }
}
