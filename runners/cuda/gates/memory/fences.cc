#include <map>
#include <ranges>
#include <utility>

#include "runners/cuda/driver/fenced_memory.h"
#include "runners/cuda/gates/device_gate.h"

namespace warpath::cuda {
namespace {

/// Every tensor and scratch buffer ends, then begins, at addresses that nothing is mapped to: a
/// load outside faults, which a pattern cannot see. So it is where integers may be places at an end
/// of a tensor, or say that there is none.
class Fences final : public DeviceGate {
 public:
  Fences()
      : DeviceGate(
            {.name = "fences",
             .phase = GatePhase::device,
             .stage = Stage::confirmation,
             .help = "nothing is read or written outside the tensors, where addresses are unmapped",
             .former = "d7b_fences"}) {}
  [[nodiscard]] GateResult judge(Trial& trial) const override {
    for (std::size_t w = 0; w < trial.workloads(); ++w) {
      const InputSet& set = trial.declared_set(w, 0);
      for (const auto align : {FencedMemory::Align::right, FencedMemory::Align::left}) {
        const Comparison result = run(trial, w, set, align);
        const std::string side = align == FencedMemory::Align::right ? "end" : "begin";
        if (!result.passed)
          return fail(where(trial, w, set) + "tensors that " + side +
                      " at unmapped addresses: " + result.detail);
      }
      for (const InputSet* const ends : with_places_at_ends(trial, w)) {
        for (const auto align : {FencedMemory::Align::right, FencedMemory::Align::left})
          static_cast<void>(run(trial, w, *ends, align));  // it must not fault
      }
    }
    return pass("begin and end");
  }

 private:
  /// The first set of each kind.
  static std::vector<const InputSet*> with_places_at_ends(Trial& trial, std::size_t w) {
    std::map<std::pair<InputFamily, PlacesAt>, const InputSet*> out;
    for (const auto& set : trial.problem().family_sets(w)) {
      const PlacesAt places = places_at(set->family, set->form);
      if (places != PlacesAt::anywhere) out.try_emplace({set->family, places}, set.get());
    }
    const auto sets = out | std::views::values;
    return {sets.begin(), sets.end()};
  }

  static Comparison run(Trial& trial,
                        std::size_t w,
                        const InputSet& set,
                        FencedMemory::Align align) {
    Bench& bench = trial.bench();
    const auto& tensors = trial.at(w).tensors;
    std::vector<FencedMemory> memory;
    std::vector<CUdeviceptr> addresses;
    for (std::size_t t = 0; t < tensors.size(); ++t) {
      const TensorPlace& tensor = tensors[t];
      memory.emplace_back(bench.api(), bench.device().handle(), tensor.size_bytes, align,
                          tensor.alignment_bytes);
      const FencedMemory& at = memory.back();
      // Reads of the slack beside the tensor get NaNs.
      bench.harness().poison(bench.stream(), at.mapped(), at.mapped_bytes() / 4, DType::f32, 0);
      addresses.push_back(at.buffer());
      if (!tensor.is_read() || tensor.size_bytes == 0) continue;
      require(bench.api(),
              bench.api().cuMemcpyDtoDAsync(at.buffer(), set.pristine[t].get(), tensor.size_bytes,
                                            bench.stream()),
              "cannot copy inputs");
    }
    std::vector<CUdeviceptr> scratch;
    const ExtraNumbers* const extra = trial.extra(w);
    for (std::size_t i = 0; extra != nullptr && i < extra->scratch_bytes.size(); ++i) {
      const auto bytes = static_cast<std::size_t>(extra->scratch_bytes[i]);
      memory.emplace_back(bench.api(), bench.device().handle(), bytes, align, kScratchAlignment);
      bench.harness().poison(bench.stream(), memory.back().mapped(), memory.back().mapped_bytes(),
                             DType::u8, bench.secret());
      scratch.push_back(memory.back().buffer());
    }
    trial.launch_at(w, addresses, scratch, bench.stream());
    return trial.compare_at(w, addresses, set, "a launch between unmapped addresses");
  }
};

}  // namespace

void register_gate_fences(GateTable& table) {
  table.add(std::make_unique<Fences>());
}

}  // namespace warpath::cuda
