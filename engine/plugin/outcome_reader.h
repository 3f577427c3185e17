#pragma once

#include <functional>
#include <string>

#include "engine/plugin/outcome.h"

namespace warpath {

/// Describes an outcome in lines of text, each with its line end. Pure; thread-safe.
using OutcomeReader = std::function<std::string(const Outcome&)>;

}  // namespace warpath
