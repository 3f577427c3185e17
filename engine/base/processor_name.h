#pragma once

#include <string>

namespace warpath {

/// The CPU's model as the system names it; its architecture if it does not.
[[nodiscard]] std::string processor_name();

}  // namespace warpath
