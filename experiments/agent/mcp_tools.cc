#include "experiments/agent/mcp_tools.h"

#include "engine/json/json_record.h"

namespace warpath {
namespace {

using nlohmann::json;

json text_schema(const std::string& description) {
  return {{"type", "string"}, {"description", description}};
}

json object_schema(json properties, json required) {
  return {{"type", "object"},
          {"properties", std::move(properties)},
          {"required", std::move(required)},
          {"additionalProperties", false}};
}

json node_schema(const std::string& without) {
  return text_schema("start of a node's key, \"best\" or \"baseline\"" +
                     (without.empty() ? "" : "; without it " + without));
}

std::string text_or(const JsonCursor& arguments,
                    std::string_view key,
                    const std::string& otherwise) {
  const auto member = arguments.find(key);
  return member ? member->text() : otherwise;
}

McpTool ask_tool(const Asking& asking) {
  return {
      .name = "ask",
      .title = "Next node to work on",
      .description =
          "A node of the search that is worth another attempt: its key, speed-up over the "
          "baseline, source, launch plan, the moves that the engine can make there, "
          "the moves that it wants written out by hand, and the prompt (system: contract and what "
          "is refused; user: measurements and what was tried before).",
      .input = object_schema({{"node", node_schema("the best of those that were worked on least")}},
                             json::array()),
      .call = [&asking](const JsonCursor& arguments, const std::stop_token&) {
        require_only(arguments, {"node"});
        const auto node = arguments.find("node");
        return asking.ask(node ? std::optional(node->text()) : std::nullopt);
      }};
}

McpTool tell_tool(const Asking& asking) {
  return {
      .name = "tell",
      .title = "Evaluate a candidate",
      .description =
          "Builds, judges and times one candidate derived from a node, and records it. It passes "
          "the same gates as any other: a status other than \"ok\" says why not. "
          "Takes seconds, on a busy machine minutes. A candidate that is known is not evaluated "
          "again.",
      .input = object_schema(
          {{"node", node_schema("")},
           {"move", text_schema("what it does: one of the legal moves as `ask` writes them, or a "
                                "word of your own with a source (other)")},
           {"source", text_schema("a whole CUDA source, SEARCH/REPLACE blocks or a unified diff "
                                  "against the node's; without it the engine makes the move")},
           {"launch",
            {{"type", "object"},
             {"description", "the whole launch plan as `ask` writes it, where it changes"}}}},
          json::array({"node"})),
      .changes = true,
      .call = [&asking](const JsonCursor& arguments, const std::stop_token& stop) {
        require_only(arguments, {"node", "move", "source", "launch"});
        ToldCandidate told{.node = arguments.at("node").text(),
                           .move = text_or(arguments, "move", "other"),
                           .text = text_or(arguments, "source", ""),
                           .launch = "",
                           .place = "tell"};
        if (const auto launch = arguments.find("launch")) {
          launch->require_object();
          told.launch = launch->value().dump();
        }
        return asking.tell(told, stop, stop);
      }};
}

McpTool inspect_tool(const Asking& asking) {
  return {.name = "inspect",
          .title = "One node",
          .description =
              "A node as it was recorded: status, speed-up over the baseline, verdict of every "
              "gate, compiler log, the path of moves from the baseline, diagnosis and source.",
          .input = object_schema({{"node", node_schema("the best")}}, json::array()),
          .call = [&asking](const JsonCursor& arguments, const std::stop_token&) {
            require_only(arguments, {"node"});
            return asking.inspect(text_or(arguments, "node", "best"));
          }};
}

McpTool diagnose_tool(const Asking& asking) {
  return {
      .name = "diagnose",
      .title = "Why a node is slow",
      .description =
          "What bounds a node: the time that each resource needs at least, facts with their source "
          "(measured, static or assumed), the rules that fire with the moves that they raise, "
          "and what could not be judged.",
      .input = object_schema({{"node", node_schema("the best")}}, json::array()),
      .call = [&asking](const JsonCursor& arguments, const std::stop_token&) {
        require_only(arguments, {"node"});
        return asking.diagnose(text_or(arguments, "node", "best"));
      }};
}

McpTool status_tool(const Asking& asking) {
  return {.name = "status",
          .title = "How the run stands",
          .description =
              "The kernel's name, what it is measured on, how many nodes there are by status, and "
              "the best of them.",
          .input = object_schema(json::object(), json::array()),
          .call = [&asking](const JsonCursor& arguments, const std::stop_token&) {
            require_only(arguments, {});
            return asking.status();
          }};
}

}  // namespace

std::vector<McpTool> mcp_tools(const Asking& asking) {
  std::vector<McpTool> tools;
  for (const auto make : {ask_tool, diagnose_tool, inspect_tool, status_tool, tell_tool})
    tools.push_back(make(asking));
  return tools;
}

std::string mcp_instructions() {
  return "A search for faster versions of one GPU kernel. Call ask for a node to work on, change "
         "its source, call tell with the result, and go on from what it says. Only candidates that "
         "compute what the reference computes count; the gates refuse everything else, and what "
         "they compare with is not to be had. One change at a time: a node keeps what was gained.";
}

}  // namespace warpath
