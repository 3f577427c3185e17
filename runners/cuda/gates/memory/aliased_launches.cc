#include <optional>

#include "engine/base/error.h"
#include "runners/cuda/gates/device_gate.h"
#include "runners/inputs/input_choices.h"

namespace warpath::cuda {
namespace {

/// Two tensors that the spec allows to be one buffer.
struct Pair {
  std::size_t first, second;  ///< indices of tensors; `second` is written if one is
};

std::vector<Pair> pairs_of(const KernelSpec& spec, const std::vector<TensorPlace>& tensors) {
  const auto index_of = [&](const std::string& name) -> std::optional<std::size_t> {
    for (std::size_t t = 0; t < tensors.size(); ++t) {
      if (tensors[t].arg->name == name && tensors[t].size_bytes > 0) return t;
    }
    return std::nullopt;
  };
  std::vector<Pair> pairs;
  for (const auto& group : spec.io.may_alias) {
    for (std::size_t i = 0; i < group.size(); ++i) {
      for (std::size_t k = i + 1; k < group.size(); ++k) {
        auto a = index_of(group[i]), b = index_of(group[k]);
        if (!a || !b) continue;
        if (tensors[*a].is_written()) std::swap(a, b);
        // two results in one place: which one remains is unspecified
        if (tensors[*a].is_written()) continue;
        // Contents that are read under both names must be the same.
        const bool both_read = tensors[*b].is_read();
        if (both_read && (tensors[*a].size_bytes != tensors[*b].size_bytes ||
                          tensors[*a].dtype != tensors[*b].dtype))
          continue;
        pairs.push_back({*a, *b});
      }
    }
  }
  return pairs;
}

/// A spec with `may_alias` may be called in place, so the candidate is launched that way, once for
/// each pair, and must give the results of separate buffers. If the baseline does not, the spec
/// promises too much and nothing is judged.
class AliasedLaunches final : public DeviceGate {
 public:
  AliasedLaunches()
      : DeviceGate({.name = "aliased_launches",
                    .phase = GatePhase::device,
                    .stage = Stage::confirmation,
                    .help = "results are right where tensors that may be one buffer are",
                    .failure = Status::wrong_result}) {}
  [[nodiscard]] GateResult judge(Trial& trial) const override {
    if (const std::string why = no_other_inputs(trial.problem().spec()); !why.empty())
      return not_run(why);
    if (trial.problem().spec().io.may_alias.empty())
      return not_run("the spec lets no tensors be one buffer");
    std::size_t judged = 0;
    for (std::size_t w = 0; w < trial.workloads(); ++w) {
      for (const Pair& pair : pairs_of(trial.problem().spec(), trial.at(w).tensors)) {
        const std::string names = trial.at(w).tensors[pair.first].arg->name + " and " +
                                  trial.at(w).tensors[pair.second].arg->name;
        const bool both_read = trial.at(w).tensors[pair.second].is_read();
        std::unique_ptr<InputSet> equal;
        if (both_read)
          equal = trial.problem().inputs().with_equal(trial.at(w), pair.first, pair.second);
        const InputSet& set = equal ? *equal : trial.declared_set(w, 0);
        if (!baseline_passes(trial, w, pair, set)) continue;
        const Comparison result = launch(trial, w, pair, set);
        if (!result.passed)
          return fail(where(trial, w, set) + names + " in one buffer: " + result.detail);
        ++judged;
      }
    }
    return judged == 0 ? not_run("the baseline is not right either where tensors share a buffer")
                       : pass(std::to_string(judged) + " pairs");
  }

 private:
  static bool baseline_passes(Trial& trial, std::size_t w, const Pair& pair, const InputSet& set) {
    auto& findings = trial.problem().task_findings;
    const std::string key = "aliased_launches " + std::to_string(w) + " " +
                            std::to_string(pair.first) + " " + std::to_string(pair.second);
    auto known = findings.find(key);
    if (known == findings.end()) {
      const TrialRequest request{.candidate = trial.problem().setup().baseline};
      Trial baseline(trial.bench(), trial.problem(), request);
      known = findings.emplace(key, launch(baseline, w, pair, set).passed ? "" : "fails").first;
    }
    return known->second.empty();
  }

  /// One launch on the first slot, both tensors where the larger one is. The slot holds its
  /// declared set afterwards.
  static Comparison launch(Trial& trial, std::size_t w, const Pair& pair, const InputSet& set) {
    const PlacedWorkload& placed = trial.at(w);
    const DriverApi& api = trial.bench().api();
    std::vector<CUdeviceptr> addresses = placed.slots[0].tensors;
    const TensorPlace& read = placed.tensors[pair.first];
    const bool first_is_larger = read.size_bytes >= placed.tensors[pair.second].size_bytes;
    const CUdeviceptr shared = addresses[first_is_larger ? pair.first : pair.second];
    addresses[pair.first] = addresses[pair.second] = shared;
    trial.restore(w, 0, set);
    trial.problem().restore(w, 0, set);
    trial.problem().poison(w, 0, 2 * trial.bench().secret());
    require(api,
            api.cuMemcpyDtoDAsync(shared, set.pristine[pair.first].get(), read.size_bytes,
                                  trial.bench().stream()),
            "cannot copy inputs");
    trial.launch_at(w, addresses, trial.bench().stream());
    const Comparison result = trial.compare_at(w, addresses, set, "a launch on one buffer");
    trial.restore(w, 0, trial.declared_set(w, 0));
    trial.problem().restore(w, 0, trial.declared_set(w, 0));
    return result;
  }
};

}  // namespace

void register_gate_aliased_launches(GateTable& table) {
  table.add(std::make_unique<AliasedLaunches>());
}

}  // namespace warpath::cuda
