#include "runners/reference/host_op_reference.h"

#include "register_host_ops.h"
#include "runners/reference/host_op.h"

namespace warpath {
namespace {

/// Numeric scalars of `workload`, its overrides applied.
ScalarMap scalars_of(const KernelSpec& spec, const Workload& workload) {
  ScalarMap out;
  for (const ArgSpec& arg : spec.io.args) {
    if (const auto* value = std::get_if<std::int64_t>(&arg.value)) out[arg.name] = *value;
    if (const auto* value = std::get_if<double>(&arg.value)) out[arg.name] = *value;
    if (const auto* value = std::get_if<bool>(&arg.value)) out[arg.name] = *value;
  }
  for (const auto& [name, value] : workload.scalars) out[name] = value;
  return out;
}

class HostOpReference final : public ReferenceSource {
 public:
  HostOpReference(const KernelSpec& spec, const ReferenceHostOp& use) : use_(use) {
    const HostOpRegistry& registry = registered_host_ops();
    op_ = registry.create(spec.origin + ": reference, host_op", use.op);
    for (const Workload& workload : spec.workloads)
      op_->check({*op_, use_, spec, workload, scalars_of(spec, workload)});
  }

  TensorMap compute(const ReferenceInput& input) override {
    OpCall call(*op_, use_, input.spec, input.workload, input.scalars);
    op_->check(call);
    call.attach(input.tensors);
    op_->run(call);
    return call.take_outputs();
  }

 private:
  ReferenceHostOp use_;
  std::unique_ptr<HostOp> op_;
};

}  // namespace

std::unique_ptr<ReferenceSource> make_host_op_reference(const KernelSpec& spec,
                                                        const ReferenceHostOp& use) {
  return std::make_unique<HostOpReference>(spec, use);
}

}  // namespace warpath
