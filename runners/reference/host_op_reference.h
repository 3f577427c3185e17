#pragma once

#include <memory>

#include "engine/spec/spec.h"
#include "runners/reference/reference.h"

namespace warpath {

/// A reference that is a host operation. Throws as make_reference.
[[nodiscard]] std::unique_ptr<ReferenceSource> make_host_op_reference(const KernelSpec& spec,
                                                                      const ReferenceHostOp& use);

}  // namespace warpath
