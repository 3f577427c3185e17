#pragma once

#include <vector>

#include "experiments/agent/asking.h"
#include "experiments/agent/mcp_server.h"

namespace warpath {

/// ask, diagnose, inspect, status and tell on a recorded run, which must outlive them.
[[nodiscard]] std::vector<McpTool> mcp_tools(const Asking& asking);

/// The instructions that an agent receives first.
[[nodiscard]] std::string mcp_instructions();

}  // namespace warpath
