#include "experiments/agent/mcp_server.h"

#include <algorithm>
#include <array>

#include "engine/base/error.h"
#include "engine/json/json_record.h"

namespace warpath {
namespace {

using nlohmann::json;

constexpr std::array<std::string_view, 3> kVersions{"2025-11-25", "2025-06-18", "2024-11-05"};

// JSON-RPC 2.0, section 5.1.
constexpr int kParseError = -32700;
constexpr int kInvalidRequest = -32600;
constexpr int kMethodNotFound = -32601;
constexpr int kInvalidParams = -32602;
constexpr int kInternalError = -32603;

bool is_id(const json& id) {
  return id.is_string() || id.is_number_integer();
}

json text_result(const std::string& text, bool is_error) {
  return {{"content", json::array({{{"type", "text"}, {"text", text}}})}, {"isError", is_error}};
}

std::string text_of(const json& value) {
  return json_text(value);
}

}  // namespace

std::span<const std::string_view> McpServer::versions() {
  return kVersions;
}

McpServer::McpServer(std::string instructions,
                     std::string program_version,
                     std::vector<McpTool> tools,
                     std::function<void(const std::string&)> send)
    : instructions_(std::move(instructions)),
      program_version_(std::move(program_version)),
      tools_(std::move(tools)),
      send_(std::move(send)),
      thread_([this](const std::stop_token& over) { work(over); }) {}

McpServer::~McpServer() {
  {
    const std::lock_guard lock(mutex_);
    jobs_.clear();
    stop_.request_stop();
  }
  thread_.request_stop();
  thread_.join();
}

void McpServer::receive(std::string_view line) {
  json message;
  try {
    message = parse_json(line, "message");
  } catch (const Error& e) {
    return refuse(nullptr, kParseError, e.what());
  }
  if (!message.is_object()) return refuse(nullptr, kInvalidRequest, "one JSON-RPC object a line");
  const bool has_id = message.contains("id");
  const json id = has_id ? message["id"] : json();
  if (has_id && !is_id(id)) return refuse(nullptr, kInvalidRequest, "id: a text or an integer");
  if (message.value("jsonrpc", json()) != "2.0")
    return refuse(id, kInvalidRequest, "jsonrpc: \"2.0\"");
  if (!message.contains("method")) {
    // nothing was asked of the client
    if (message.contains("result") || message.contains("error")) return;
    return refuse(id, kInvalidRequest, "a method");
  }
  if (!message["method"].is_string()) return refuse(id, kInvalidRequest, "method: a text");
  const auto method = message["method"].get<std::string>();
  const json params = message.value("params", json::object());
  if (!params.is_object()) return has_id ? refuse(id, kInvalidParams, "params: an object") : void();
  has_id ? requested(id, method, params) : notified(method, params);
}

void McpServer::finish() {
  std::unique_lock lock(mutex_);
  idle_.wait(lock, [&] { return jobs_.empty() && !running_; });
}

void McpServer::notified(const std::string& method, const json& params) {
  if (method == "notifications/cancelled" && params.contains("requestId"))
    cancel(params["requestId"]);
}

void McpServer::requested(const json& id, const std::string& method, const json& params) {
  if (method == "ping") return answer(id, json::object());
  if (method == "initialize") return initialize(id, params);
  // Newer clients first try what older servers do not know, and go by this code.
  if (method != "tools/list" && method != "tools/call")
    return refuse(id, kMethodNotFound, "no method " + method);
  if (!initialized_) return refuse(id, kInvalidRequest, method + " before initialize");
  method == "tools/list" ? list(id, params) : call(id, params);
}

void McpServer::initialize(const json& id, const json& params) {
  const json asked = params.value("protocolVersion", json());
  if (!asked.is_string()) return refuse(id, kInvalidParams, "protocolVersion: a text");
  if (initialized_) return refuse(id, kInvalidRequest, "initialize again");
  initialized_ = true;
  const auto* known = std::ranges::find(kVersions, asked.get<std::string>());
  answer(id, {{"protocolVersion", known == kVersions.end() ? kVersions.front() : *known},
              {"capabilities", {{"tools", {{"listChanged", false}}}}},
              {"serverInfo",
               {{"name", "warpath"}, {"title", "Warpath"}, {"version", program_version_}}},
              {"instructions", instructions_}});
}

void McpServer::list(const json& id, const json& params) {
  if (params.contains("cursor")) return refuse(id, kInvalidParams, "cursor: there is one page");
  json tools = json::array();
  for (const McpTool& tool : tools_) {
    tools.push_back({{"name", tool.name},
                     {"title", tool.title},
                     {"description", tool.description},
                     {"inputSchema", tool.input},
                     {"annotations",
                      {{"title", tool.title},
                       {"readOnlyHint", !tool.changes},
                       {"destructiveHint", false},
                       {"idempotentHint", true},
                       {"openWorldHint", false}}}});
  }
  answer(id, {{"tools", std::move(tools)}});
}

void McpServer::call(const json& id, const json& params) {
  const json name = params.value("name", json());
  if (!name.is_string()) return refuse(id, kInvalidParams, "name: a text");
  const auto tool = std::ranges::find(tools_, name.get<std::string>(), &McpTool::name);
  if (tool == tools_.end()) return refuse(id, kInvalidParams, "no tool " + name.get<std::string>());
  json arguments = params.value("arguments", json::object());
  if (arguments.is_null()) arguments = json::object();
  if (!arguments.is_object()) return refuse(id, kInvalidParams, "arguments: an object");
  const std::lock_guard lock(mutex_);
  jobs_.push_back({.id = id, .tool = &*tool, .arguments = std::move(arguments)});
  wake_.notify_all();
}

/// What has ended by then is not undone.
void McpServer::cancel(const json& id) {
  const std::lock_guard lock(mutex_);
  std::erase_if(jobs_, [&](const Job& job) { return job.id == id; });
  if (running_ && *running_ == id) stop_.request_stop();
}

void McpServer::answer(const json& id, const json& result) {
  send({{"jsonrpc", "2.0"}, {"id", id}, {"result", result}});
}

void McpServer::refuse(const json& id, int code, const std::string& message) {
  send({{"jsonrpc", "2.0"}, {"id", id}, {"error", {{"code", code}, {"message", message}}}});
}

void McpServer::send(const json& message) {
  const std::lock_guard lock(send_mutex_);
  send_(text_of(message));
}

void McpServer::work(const std::stop_token& over) {
  std::unique_lock lock(mutex_);
  while (wake_.wait(lock, over, [&] { return !jobs_.empty(); })) {
    const Job job = std::move(jobs_.front());
    jobs_.pop_front();
    running_ = job.id;
    stop_ = std::stop_source();
    const std::stop_token stop = stop_.get_token();
    lock.unlock();
    carry_out(job, stop);
    lock.lock();
    running_.reset();
    idle_.notify_all();
  }
}

void McpServer::carry_out(const Job& job, const std::stop_token& stop) {
  json result;
  try {
    const json out = job.tool->call(JsonCursor(job.arguments, job.tool->name), stop);
    result = text_result(text_of(out), false);
    result["structuredContent"] = out;
  } catch (const Error& e) {
    result = text_result(e.what(), true);
  } catch (const std::exception& e) {
    if (!stop.stop_requested()) refuse(job.id, kInternalError, e.what());
    return;
  }
  if (!stop.stop_requested()) answer(job.id, result);
}

}  // namespace warpath
