#pragma once

#include <vector>

#include "experiments/agent/asking.h"
#include "experiments/agent/mcp_server.h"

namespace warpath {

/// ask, diagnose, inspect, status and tell on a recorded run, which outlives them.
[[nodiscard]] std::vector<McpTool> mcp_tools(const Asking& asking);

/// What an agent is told of the run before anything else.
[[nodiscard]] std::string mcp_instructions();

}  // namespace warpath
