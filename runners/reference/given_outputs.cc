#include "runners/reference/given_outputs.h"

#include "engine/base/error.h"
#include "engine/spec/tensor_init.h"

namespace warpath {
namespace {

class GivenOutputs final : public ReferenceSource {
 public:
  GivenOutputs(const KernelSpec& spec, ReferenceOutputs outputs)
      : place_(spec.place("/reference/outputs")), outputs_(std::move(outputs)) {}

  TensorMap compute(const ReferenceInput& input) override {
    const auto given = outputs_.of_workload.find(input.workload.name);
    if (given == outputs_.of_workload.end())
      throw bad_input(place_, "no " + input.workload.name, "the outputs of every workload");
    for (const auto& [name, tensor] : input.tensors) {
      const ArgSpec& arg = *input.spec.io.find(name);
      if (materialize(input.spec, arg, input.workload).bytes != tensor.bytes)
        throw bad_input(place_ + "/" + input.workload.name, "other values of " + name,
                        "the spec's own inputs, of which these are the outputs");
    }
    TensorMap out;
    for (const auto& [name, data] : given->second) out.emplace(name, data.tensor);
    return out;
  }

 private:
  std::string place_;
  ReferenceOutputs outputs_;
};

}  // namespace

std::unique_ptr<ReferenceSource> make_given_outputs(const KernelSpec& spec,
                                                    const ReferenceOutputs& outputs) {
  return std::make_unique<GivenOutputs>(spec, outputs);
}

}  // namespace warpath
