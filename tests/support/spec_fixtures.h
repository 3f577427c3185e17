#pragma once

#include <string>
#include <string_view>

#include "engine/base/error.h"
#include "engine/spec/spec.h"

namespace warpath::test {

/// A valid spec as JSON text: gathers x by idx, scaled by s; tunable BLOCK, host reference, two
/// workloads.
[[nodiscard]] std::string gather_spec_text();
[[nodiscard]] KernelSpec gather_spec();

/// A spec in the grammar of other systems, Triton, with representative shapes and every optional
/// key.
[[nodiscard]] std::string foreign_spec_text();

/// The message of the bad-input Error that `work` throws; empty if it throws none or an environment
/// Error.
template <class F>
[[nodiscard]] std::string message_of(F&& work) {
  try {
    work();
  } catch (const Error& error) {
    return error.code() == ErrorCode::bad_input ? error.what() : "";
  }
  return "";
}

}  // namespace warpath::test
