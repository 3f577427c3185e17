#include "runners/reference/reference.h"

#include "runners/reference/command_reference.h"
#include "runners/reference/host_op.h"

namespace warpath {

std::unique_ptr<ReferenceSource> make_reference(const KernelSpec& spec,
                                                const ReferenceConfig& config) {
  if (const auto* use = std::get_if<ReferenceHostOp>(&spec.reference))
    return make_host_op_reference(spec, *use);
  if (const auto* command = std::get_if<ReferenceCommand>(&spec.reference)) {
    return make_command_reference(spec, *command, config);
  }
  return nullptr;
}

}  // namespace warpath
