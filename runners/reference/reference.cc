#include "runners/reference/reference.h"

#include "runners/reference/command_reference.h"
#include "runners/reference/given_outputs.h"
#include "runners/reference/host_op.h"
#include "runners/reference/host_op_reference.h"

namespace warpath {

std::unique_ptr<ReferenceSource> make_reference(const KernelSpec& spec,
                                                const ReferenceConfig& config) {
  if (const auto* use = std::get_if<ReferenceHostOp>(&spec.reference))
    return make_host_op_reference(spec, *use);
  if (const auto* command = std::get_if<ReferenceCommand>(&spec.reference)) {
    return make_command_reference(spec, *command, config);
  }
  if (const auto* outputs = std::get_if<ReferenceOutputs>(&spec.reference))
    return make_given_outputs(spec, *outputs);
  return nullptr;
}

}  // namespace warpath
