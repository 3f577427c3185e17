#pragma once

#include <condition_variable>
#include <deque>
#include <functional>
#include <mutex>
#include <nlohmann/json.hpp>
#include <optional>
#include <span>
#include <stop_token>
#include <string>
#include <string_view>
#include <thread>
#include <vector>

#include "engine/json/json_reader.h"

namespace warpath {

/// An operation that an agent may call.
struct McpTool {
  std::string name;         ///< "tell"
  std::string title;        ///< for people
  std::string description;  ///< for models
  nlohmann::json input;     ///< JSON schema of the arguments
  bool changes = false;     ///< evaluates and records something
  /// Called on the server's thread, one call at a time. Must return soon after a stop is requested;
  /// the result is then discarded. Throws Error for mistakes of the caller and trouble with the
  /// machine: its message is the reply.
  std::function<nlohmann::json(const JsonCursor& arguments, const std::stop_token& stop)> call;
};

/// A server of the Model Context Protocol (modelcontextprotocol.io) that offers only tools:
/// JSON-RPC 2.0, one message a line. Tool calls are executed one after the other, in order;
/// everything else is answered at once. Supports the protocol's versions except the one with
/// batches.
class McpServer {
 public:
  /// Newest first. The first is offered to a client that requests an unsupported one.
  [[nodiscard]] static std::span<const std::string_view> versions();

  /// `send` receives one message without its line feed; never called concurrently.
  McpServer(std::string instructions,
            std::string program_version,
            std::vector<McpTool> tools,
            std::function<void(const std::string&)> send);
  ~McpServer();  ///< stops the running call and drops waiting ones
  McpServer(const McpServer&) = delete;
  McpServer& operator=(const McpServer&) = delete;

  /// Processes one line from the client, whatever it contains; does not throw. Not thread-safe.
  void receive(std::string_view line);
  /// Waits until every call so far has been executed.
  void finish();

 private:
  struct Job {
    nlohmann::json id;
    const McpTool* tool;
    nlohmann::json arguments;
  };
  void notified(const std::string& method, const nlohmann::json& params);
  void requested(const nlohmann::json& id, const std::string& method, const nlohmann::json& params);
  void initialize(const nlohmann::json& id, const nlohmann::json& params);
  void list(const nlohmann::json& id, const nlohmann::json& params);
  void call(const nlohmann::json& id, const nlohmann::json& params);
  void cancel(const nlohmann::json& id);
  void answer(const nlohmann::json& id, const nlohmann::json& result);
  void refuse(const nlohmann::json& id, int code, const std::string& message);
  void send(const nlohmann::json& message);
  void work(const std::stop_token& over);
  void carry_out(const Job& job, const std::stop_token& stop);

  const std::string instructions_;
  const std::string program_version_;
  const std::vector<McpTool> tools_;
  const std::function<void(const std::string&)> send_;
  std::mutex send_mutex_;
  bool initialized_ = false;  // used by the receiving thread

  std::mutex mutex_;
  std::condition_variable_any wake_, idle_;
  std::deque<Job> jobs_;                   // guarded by mutex_, as all below
  std::optional<nlohmann::json> running_;  // its id
  std::stop_source stop_;                  // for the running call
  std::jthread thread_;
};

}  // namespace warpath
