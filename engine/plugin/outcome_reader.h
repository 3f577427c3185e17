#pragma once

#include <functional>
#include <string>

#include "engine/plugin/outcome.h"

namespace warpath {

/// Lines for people about an outcome, each with its line end. A pure function, thread-safe.
using OutcomeReader = std::function<std::string(const Outcome&)>;

}  // namespace warpath
