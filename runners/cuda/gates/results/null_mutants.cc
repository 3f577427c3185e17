#include <algorithm>
#include <optional>

#include "runners/cuda/gates/device_gate.h"

namespace warpath::cuda {
namespace {

/// Checks the comparison itself, once per task: it must fail for zeros, one value everywhere, a
/// copy of an input, another set's results, a missing tile or a missing last element in place of
/// the results. Otherwise a pass would mean nothing.
class NullMutants final : public DeviceGate {
 public:
  NullMutants()
      : DeviceGate({.name = "null_mutants",
                    .phase = GatePhase::device,
                    .help = "the task refuses outputs that are no results",
                    .former = "d3_null_mutants"}) {}
  [[nodiscard]] GateResult judge(Trial& trial) const override {
    auto& findings = trial.problem().task_findings;
    const auto known = findings.find(declared().name);
    const std::string finding = known != findings.end() ? known->second : examine(trial);
    findings.emplace(declared().name, finding);
    return finding.empty() ? pass() : fail(finding);
  }

 private:
  static std::string examine(Trial& trial) {
    for (std::size_t w = 0; w < trial.workloads(); ++w) {
      const auto& tensors = trial.at(w).tensors;
      for (std::size_t t = 0; t < tensors.size(); ++t) {
        if (!tensors[t].is_written() || tensors[t].elements < 2) continue;
        trial.launch_fresh(w, 0, trial.declared_set(w, 0), 2 * trial.bench().secret());
        const Right right = keep(trial, w, t);
        for (int mutant = 0; mutant < kMutants; ++mutant) {
          if (std::string problem = survives(trial, w, t, right, mutant); !problem.empty())
            return problem;
        }
      }
    }
    return "";
  }

  /// The results of one launch, kept because a copy costs less than a launch.
  struct Right {
    DeviceMemory copy;  ///< of the output that mutates
    Hash128 fingerprint;
  };

  static Right keep(Trial& trial, std::size_t w, std::size_t t) {
    const DriverApi& api = trial.bench().api();
    const std::size_t bytes = trial.at(w).tensors[t].size_bytes;
    Right right{allocate(api, bytes), trial.fingerprint(w, 0, "a launch")};
    require(api,
            api.cuMemcpyDtoDAsync(right.copy.get(), trial.at(w).slots[0].tensors[t], bytes,
                                  trial.bench().stream()),
            "cannot copy results");
    return right;
  }

  /// Not empty if the comparison takes mutant number `mutant` of output `t` for a result.
  static std::string survives(
      Trial& trial, std::size_t w, std::size_t t, const Right& right, int mutant) {
    const DriverApi& api = trial.bench().api();
    const CUstream stream = trial.bench().stream();
    const TensorPlace& tensor = trial.at(w).tensors[t];
    const InputSet& set = trial.declared_set(w, 0);
    const CUdeviceptr out = trial.at(w).slots[0].tensors[t];
    const std::size_t width = info(tensor.dtype).size_bytes;
    CUresult result = api.cuMemcpyDtoDAsync(out, right.copy.get(), tensor.size_bytes, stream);
    require(api, result, "cannot copy results");
    switch (mutant) {
      case 0:
        result = api.cuMemsetD8Async(out, 0, tensor.size_bytes, stream);
        break;
      case 1:  // doubles what is equal, until the first value is everywhere
        for (std::size_t done = width; done < tensor.size_bytes && result == CUDA_SUCCESS;
             done *= 2) {
          result = api.cuMemcpyDtoDAsync(out + done, out, std::min(done, tensor.size_bytes - done),
                                         stream);
        }
        break;
      case 2: {
        const auto source = input_like(trial, w, tensor);
        if (!source) return "";
        result = api.cuMemcpyDtoDAsync(out, *source, tensor.size_bytes, stream);
        break;
      }
      case 3: {
        const InputSet& other = trial.declared_set(w, 1);
        trial.launch_fresh(w, 1, other, 2 * trial.bench().secret());
        result =
            api.cuMemcpyDtoDAsync(out, trial.at(w).slots[1].tensors[t], tensor.size_bytes, stream);
        break;
      }
      case 4:
        trial.bench().harness().poison(stream, out + tensor.elements / 2 * width,
                                       std::max<std::uint64_t>(1, tensor.elements / 64),
                                       tensor.dtype, 0);
        break;
      default:
        trial.bench().harness().poison(stream, out + (tensor.elements - 1) * width, 1, tensor.dtype,
                                       0);
    }
    require(api, result, "cannot make a mutant");
    // this mutant is the result
    if (trial.fingerprint(w, 0, "a mutant") == right.fingerprint) return "";
    if (!trial.compare(w, 0, set, "a mutant").passed) return "";
    return "workload " + trial.at(w).workload->name + ": " + tensor.arg->name + " passes with " +
           kNames[mutant] + ": the task or its tolerance decides nothing";
  }

  /// An input of the output's size.
  static std::optional<CUdeviceptr> input_like(Trial& trial,
                                               std::size_t w,
                                               const TensorPlace& output) {
    const auto& tensors = trial.at(w).tensors;
    for (std::size_t t = 0; t < tensors.size(); ++t) {
      if (tensors[t].role == ArgRole::input && tensors[t].dtype == output.dtype &&
          tensors[t].size_bytes == output.size_bytes) {
        return trial.at(w).slots[0].tensors[t];
      }
    }
    return std::nullopt;
  }

  static constexpr int kMutants = 6;
  static constexpr const char* kNames[kMutants] = {"zeros",
                                                   "its first value everywhere",
                                                   "a copy of an input",
                                                   "the results of other inputs",
                                                   "one tile missing",
                                                   "its last element missing"};
};

}  // namespace

void register_gate_null_mutants(GateTable& table) {
  table.add(std::make_unique<NullMutants>());
}

}  // namespace warpath::cuda
