#pragma once

#include "engine/spec/spec.h"

namespace warpath {

/// True if the text of the spec's kernel does nothing with the elements of `arg`, an inout tensor,
/// but add to them or combine them with something (a maximum, bits), and never looks at them: it
/// then does the same whatever they hold at first. A counter that decides what threads do (a
/// ticket, a lock, the next free place) is none. In doubt false.
[[nodiscard]] bool only_accumulates(const KernelSpec& spec, const ArgSpec& arg);

/// True if the text of the spec's kernel does nothing with the elements of `arg` but store to them.
/// In doubt false.
[[nodiscard]] bool only_stores(const KernelSpec& spec, const ArgSpec& arg);

/// True if the text of the spec's kernel does nothing with `arg`: a workspace for others, whose
/// contents are as declared. In doubt false.
[[nodiscard]] bool is_untouched(const KernelSpec& spec, const ArgSpec& arg);

}  // namespace warpath
