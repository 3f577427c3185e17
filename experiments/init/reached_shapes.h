#pragma once

#include <optional>
#include <string>
#include <vector>

#include "engine/spec/spec.h"
#include "experiments/init/spec_draft.h"

namespace warpath {

/// The specs of a draft whose texts are not written yet. `file`: where the spec will be. Throws
/// Error(bad_input).
[[nodiscard]] std::vector<KernelSpec> specs_of(const SpecDraft& draft, const std::string& file);

/// What is wrong with the draft, in one line; empty if nothing is.
[[nodiscard]] std::string draft_problem(const SpecDraft& draft, const std::string& file);

/// Launches the kernel once on the host (runners/host/judge/trial.h) and makes the tensors that it
/// reaches beyond larger, by a whole factor of their first extent: indices that could not be
/// followed, or a grid or size that was guessed. Where no launch ends well and
/// an enumeration or an integer tensor was guessed, other values of it are tried. The guesses say
/// so. nullopt where no launch ends well. `program`: the executable that starts workers.
[[nodiscard]] std::optional<std::string> with_reached_shapes(const SpecDraft& draft,
                                                             const std::string& file,
                                                             const std::string& program);

}  // namespace warpath
