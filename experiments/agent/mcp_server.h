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

/// Something that an agent may call.
struct McpTool {
  std::string name;         ///< "tell"
  std::string title;        ///< for people
  std::string description;  ///< for models
  nlohmann::json input;     ///< JSON schema of the arguments
  bool changes = false;     ///< it evaluates and records something
  /// On the server's thread, one call at a time. Ends soon after a stop is requested; nobody hears
  /// the answer then. Throws Error where the caller can mend something or the machine is in
  /// trouble: the message is its answer.
  std::function<nlohmann::json(const JsonCursor& arguments, const std::stop_token& stop)> call;
};

/// A server of the Model Context Protocol (modelcontextprotocol.io) with tools alone: JSON-RPC 2.0,
/// one message a line. Everything but the tools themselves is answered at once; their calls are
/// carried out one after the other, in order. Of the protocol's versions it leaves out the one that
/// had batches.
class McpServer {
 public:
  /// Newest first: what a client that asks for another one is offered is the first.
  [[nodiscard]] static std::span<const std::string_view> versions();

  /// `send` gets one message without its line feed; never called by two threads at once.
  McpServer(std::string instructions,
            std::string program_version,
            std::vector<McpTool> tools,
            std::function<void(const std::string&)> send);
  ~McpServer();  ///< stops what runs and drops what waits
  McpServer(const McpServer&) = delete;
  McpServer& operator=(const McpServer&) = delete;

  /// One line from the client, whatever it holds; nothing is thrown. One thread only.
  void receive(std::string_view line);
  /// Waits until every call so far has been carried out.
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
  bool initialized_ = false;  // of the receiving thread

  std::mutex mutex_;
  std::condition_variable_any wake_, idle_;
  std::deque<Job> jobs_;                   // guarded by mutex_, as all below
  std::optional<nlohmann::json> running_;  // its id
  std::stop_source stop_;                  // of what runs
  std::jthread thread_;
};

}  // namespace warpath
