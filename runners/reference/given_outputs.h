#pragma once

#include <memory>

#include "runners/reference/reference.h"

namespace warpath {

/// The outputs that the spec gives as values. They are those of its own inputs: for others it
/// throws Error(bad_input).
[[nodiscard]] std::unique_ptr<ReferenceSource> make_given_outputs(const KernelSpec& spec,
                                                                  const ReferenceOutputs& outputs);

}  // namespace warpath
