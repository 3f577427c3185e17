#include <doctest/doctest.h>
#include <fcntl.h>
#include <poll.h>
#include <spawn.h>
#include <sys/wait.h>
#include <unistd.h>

#include <algorithm>
#include <atomic>
#include <chrono>
#include <condition_variable>
#include <csignal>
#include <cstdlib>
#include <deque>
#include <mutex>
#include <nlohmann/json.hpp>
#include <optional>

#include "experiments/agent/mcp_server.h"
#include "tests/experiments/program.h"

using namespace warpath::testing;
using nlohmann::json;
using warpath::McpServer;
using warpath::McpTool;

namespace {

std::string axpy(const std::string& file) {
  return (source_root() / "tests" / "data" / "integrity" / "axpy" / file).string();
}

/// A recorded run of two builds on this machine's processor.
std::string small_run(const TemporaryFolder& out) {
  const ProgramResult searched =
      run_program({"run", "--input", axpy("spec.json"), "--runner", "host", "--outdir", out / "out",
                   "--seed", "3", "--budget-builds", "2", "--finalists", "0", "--set",
                   "host.timing_seconds=0.005", "--set", "record.sync=never"});
  CAPTURE(searched.err);
  REQUIRE((searched.code == 0 || searched.code == 2));
  return out / "out/kernels/axpy";
}

/// The other side of `warpath mcp RUN`: two pipes, a message a line.
class Agent {
 public:
  explicit Agent(const std::string& run) {
    const char* const program = std::getenv("WARPATH_PROGRAM");
    REQUIRE_MESSAGE(program != nullptr,
                    "WARPATH_PROGRAM is not set: run these tests through meson");
    int to[2], from[2];
    REQUIRE(pipe2(to, O_CLOEXEC) == 0);
    REQUIRE(pipe2(from, O_CLOEXEC) == 0);
    std::string words[] = {"warpath", "mcp", run};
    char* argv[] = {words[0].data(), words[1].data(), words[2].data(), nullptr};
    posix_spawn_file_actions_t actions;
    posix_spawn_file_actions_init(&actions);
    posix_spawn_file_actions_adddup2(&actions, to[0], STDIN_FILENO);
    posix_spawn_file_actions_adddup2(&actions, from[1], STDOUT_FILENO);
    const int error = posix_spawn(&pid_, program, &actions, nullptr, argv, environ);
    posix_spawn_file_actions_destroy(&actions);
    REQUIRE(error == 0);
    close(to[0]);
    close(from[1]);
    to_ = to[1];
    from_ = from[0];
  }
  ~Agent() {
    if (to_ >= 0) close(to_);
    close(from_);
    if (pid_ < 0) return;
    kill(pid_, SIGKILL);
    waitpid(pid_, nullptr, 0);
  }
  Agent(const Agent&) = delete;
  Agent& operator=(const Agent&) = delete;

  void line(const std::string& text) const {
    const std::string whole = text + "\n";
    REQUIRE(::write(to_, whole.data(), whole.size()) == static_cast<ssize_t>(whole.size()));
  }
  /// The id of the request.
  int request(const std::string& method, const json& params = json::object()) {
    line(json{{"jsonrpc", "2.0"}, {"id", ++last_}, {"method", method}, {"params", params}}.dump());
    return last_;
  }
  void notify(const std::string& method) const {
    line(json{{"jsonrpc", "2.0"}, {"method", method}}.dump());
  }

  /// The next message; nothing but messages may come.
  json next(double seconds = 120) {
    const auto end = std::chrono::steady_clock::now() + std::chrono::duration<double>(seconds);
    for (;;) {
      if (const std::size_t at = read_.find('\n'); at != std::string::npos) {
        const json message = json::parse(read_.substr(0, at), nullptr, false);
        CHECK_MESSAGE(!message.is_discarded(), "not a message: " << read_.substr(0, at));
        read_.erase(0, at + 1);
        CHECK(message["jsonrpc"] == "2.0");
        return message;
      }
      pollfd wanted{.fd = from_, .events = POLLIN, .revents = 0};
      const auto left = std::chrono::duration_cast<std::chrono::milliseconds>(
                            end - std::chrono::steady_clock::now())
                            .count();
      REQUIRE_MESSAGE((left > 0 && poll(&wanted, 1, static_cast<int>(left)) > 0),
                      "no message came");
      char piece[4096];
      const ssize_t n = ::read(from_, piece, sizeof piece);
      REQUIRE_MESSAGE(n > 0, "the server went away");
      read_.append(piece, static_cast<std::size_t>(n));
    }
  }
  json result(const std::string& method, const json& params = json::object()) {
    const int id = request(method, params);
    const json message = next();
    CAPTURE(message.dump());
    REQUIRE(message["id"] == id);
    REQUIRE(message.contains("result"));
    return message["result"];
  }
  int error(const std::string& method, const json& params = json::object()) {
    const int id = request(method, params);
    const json message = next();
    CAPTURE(message.dump());
    CHECK(message["id"] == id);
    REQUIRE(message.contains("error"));
    CHECK_FALSE(message["error"]["message"].get<std::string>().empty());
    return message["error"]["code"];
  }
  json initialize(const std::string& version) {
    const json out = result("initialize", {{"protocolVersion", version},
                                           {"capabilities", json::object()},
                                           {"clientInfo", {{"name", "test"}, {"version", "1"}}}});
    notify("notifications/initialized");
    return out;
  }
  /// What a tool says; `fails`: it says what is wrong.
  json tool(const std::string& name, const json& arguments = json::object()) {
    const json out = result("tools/call", {{"name", name}, {"arguments", arguments}});
    CAPTURE(out.dump());
    CHECK(out["isError"] == false);
    CHECK(json::parse(out["content"][0]["text"].get<std::string>()) == out["structuredContent"]);
    return out["structuredContent"];
  }
  std::string refusal(const std::string& name, const json& arguments) {
    const json out = result("tools/call", {{"name", name}, {"arguments", arguments}});
    CHECK(out["isError"] == true);
    return out["content"][0]["text"];
  }

  /// Closes this side; the server's exit code.
  int leave() {
    close(to_);
    to_ = -1;
    char byte = 0;
    CHECK(::read(from_, &byte, 1) == 0);
    int status = 0;
    CHECK(waitpid(pid_, &status, 0) == pid_);
    pid_ = -1;
    return WIFEXITED(status) ? WEXITSTATUS(status) : 128 + WTERMSIG(status);
  }

 private:
  pid_t pid_ = -1;
  int to_ = -1, from_ = -1;
  int last_ = 0;
  std::string read_;
};

/// A server in this process, what it sent, and a tool "wait" that ends when it is stopped or let
/// go.
struct Scene {
  Scene()
      : server("instructions",
               "1",
               {{.name = "wait",
                 .title = "Wait",
                 .description = "",
                 .input = {{"type", "object"}},
                 .call = [this](const warpath::JsonCursor&,
                                const std::stop_token& stop) { return wait(stop); }},
                {.name = "break",
                 .title = "Break",
                 .description = "",
                 .input = {{"type", "object"}},
                 .call = [](const warpath::JsonCursor&, const std::stop_token&) -> json {
                   throw std::runtime_error("broken");
                 }}},
               [this](const std::string& message) {
                 const std::lock_guard lock(mutex);
                 sent.push_back(json::parse(message));
               }) {
    say({{"id", 0}, {"method", "initialize"}, {"params", {{"protocolVersion", "2025-06-18"}}}});
    static_cast<void>(take());
  }
  void say(json message) {
    message["jsonrpc"] = "2.0";
    server.receive(message.dump());
  }
  void call(const json& id, const std::string& tool) {
    say({{"id", id}, {"method", "tools/call"}, {"params", {{"name", tool}}}});
  }
  std::vector<json> take() {
    const std::lock_guard lock(mutex);
    return std::exchange(sent, {});
  }
  json wait(const std::stop_token& stop) {
    std::unique_lock lock(mutex);
    ++begun;
    changed.notify_all();
    const bool let = changed.wait(lock, stop, [&] { return let_go; });
    return {{"let_go", let}};
  }
  void until_begun(int calls) {
    std::unique_lock lock(mutex);
    REQUIRE(changed.wait_for(lock, std::chrono::seconds(30), [&] { return begun >= calls; }));
  }
  void release() {
    const std::lock_guard lock(mutex);
    let_go = true;
    changed.notify_all();
  }

  std::mutex mutex;
  std::condition_variable_any changed;
  std::vector<json> sent;
  int begun = 0;
  bool let_go = false;
  McpServer server;  // goes first
};

}  // namespace

TEST_SUITE_BEGIN("mcp");

TEST_CASE(
    "an agent drives a recorded run through a pipe: it is told what there is, asks, tells, "
    "inspects and diagnoses") {
  const TemporaryFolder out;
  const std::string run = small_run(out);
  Agent agent(run);
  const json greeting = agent.initialize("2025-06-18");
  CHECK(greeting["protocolVersion"] == "2025-06-18");
  CHECK(greeting["serverInfo"]["name"] == "warpath");
  CHECK(greeting["capabilities"].contains("tools"));
  CHECK(agent.result("ping").empty());

  std::vector<std::string> names;
  const json listed = agent.result("tools/list");
  for (const json& tool : listed["tools"]) {
    names.push_back(tool["name"]);
    CHECK(tool["inputSchema"]["type"] == "object");
    CHECK_FALSE(tool["description"].get<std::string>().empty());
    CHECK(tool["annotations"]["readOnlyHint"] == (tool["name"] != "tell"));
  }
  CHECK(names == std::vector<std::string>{"ask", "diagnose", "inspect", "status", "tell"});

  const json question = agent.tool("ask", {{"node", "baseline"}});
  CHECK(question["source"] == read_file(axpy("axpy.cu")));
  CHECK(question["legal"].size() > 1);
  CHECK(agent.tool("ask").contains("prompt"));

  const json better{{"node", question["node"]},
                    {"move", "stride"},
                    {"source", read_file(axpy("honest_grid_stride.cu"))}};
  const json told = agent.tool("tell", better);
  CHECK(told["evaluated"] == true);
  CHECK(told["status"] == "ok");
  CHECK(agent.tool("tell", better)["evaluated"] == false);
  const json cheat = agent.tool(
      "tell",
      {{"node", question["node"]}, {"move", "cheat"}, {"source", read_file(axpy("zeros.cu"))}});
  CHECK(cheat["status"] == "wrong_result");
  CHECK(cheat["verdict"].get<std::string>().starts_with("refused by gate "));
  // figures of a gate are not told
  CHECK(cheat["verdict"].get<std::string>().find_first_of(":.") == std::string::npos);
  CHECK(cheat["log"] == "");
  const json typo = agent.tool("tell", {{"node", question["node"]},
                                        {"source",
                                         "extern \"C\" __global__ void axpy(const float* x, const "
                                         "float* y, float* out, float a, int n) { x(; }\n"}});
  CHECK(typo["status"] == "compile_error");
  CHECK(typo["log"].get<std::string>().find("error") != std::string::npos);

  const json node = agent.tool("inspect", {{"node", told["key"]}});
  CHECK(node["source"] == better["source"]);
  CHECK(node["path"].size() == 2);
  CHECK(node["status"] == "ok");
  const json why = agent.tool("diagnose", {{"node", told["key"]}});
  CHECK(why["key"] == told["key"]);
  CHECK(why["findings"].is_array());
  const json status = agent.tool("status");
  CHECK(status["name"] == "axpy");
  CHECK(status["by_status"]["wrong_result"].get<int>() >= 1);
  CHECK(agent.leave() == 0);

  // The same node as the command shows it.
  const ProgramResult shown = run_program({"inspect", run, told["key"].get<std::string>()});
  CHECK(shown.code == 0);
  CHECK(shown.out.find("proposer  tell") != std::string::npos);
}

TEST_CASE(
    "what an agent gets wrong is an error of the protocol or an answer that says so, and the "
    "session goes on") {
  const TemporaryFolder out;
  const std::string run = small_run(out);
  const std::string before = read_file(run + "/events.jsonl");
  Agent agent(run);
  CHECK(agent.error("tools/list") == -32600);  // before initialize
  CHECK(agent.error("server/discover") == -32601);
  CHECK(agent.result("ping").empty());
  CHECK(agent.error("initialize") == -32602);
  CHECK(agent.initialize("1999-01-01")["protocolVersion"] ==
        std::string(McpServer::versions().front()));
  CHECK(agent.error("initialize", {{"protocolVersion", "2025-06-18"}}) == -32600);
  CHECK(agent.error("resources/list") == -32601);
  CHECK(agent.error("tools/call") == -32602);
  CHECK(agent.error("tools/call", {{"name", "shell"}}) == -32602);
  CHECK(agent.error("tools/call", {{"name", "ask"}, {"arguments", json::array()}}) == -32602);
  CHECK(agent.error("tools/list", {{"cursor", "x"}}) == -32602);

  for (const auto& [text, code] : std::vector<std::pair<std::string, int>>{
           {"{\"jsonrpc\": ", -32700},
           {"\xff\xfe", -32700},
           {std::string(1000, '['), -32700},
           {"[]", -32600},
           {"7", -32600},
           {R"({"id": 1, "method": "ping"})", -32600},
           {R"({"jsonrpc": "2.0", "id": null, "method": "ping"})", -32600},
           {R"({"jsonrpc": "2.0", "id": 1.5, "method": "ping"})", -32600},
           {R"({"jsonrpc": "2.0", "id": 1})", -32600},
           {R"({"jsonrpc": "2.0", "id": 1, "method": 2})", -32600},
           {R"({"jsonrpc": "2.0", "id": 1, "method": "ping", "params": 3})", -32602}}) {
    CAPTURE(text);
    agent.line(text);
    CHECK(agent.next()["error"]["code"] == code);
  }
  // These are not answered: the ping's answer is the next message.
  agent.line("");
  agent.line(R"({"jsonrpc": "2.0", "id": 99, "result": {}})");
  agent.line(R"({"jsonrpc": "2.0", "method": "notifications/of_another_time"})");
  agent.line(
      R"({"jsonrpc": "2.0", "method": "notifications/cancelled", "params": {"requestId": 4711}})");
  CHECK(agent.result("ping").empty());

  CHECK(agent.refusal("inspect", {{"node", "zzz"}}).find("zzz") != std::string::npos);
  CHECK(agent.refusal("inspect", {{"nodes", "best"}}).find("nodes") != std::string::npos);
  CHECK(agent.refusal("inspect", {{"node", 7}}).find("inspect:/node") != std::string::npos);
  CHECK(agent.refusal("tell", json::object()).find("node") != std::string::npos);
  CHECK(agent.refusal("tell", {{"node", "baseline"}, {"move", "no_such_move"}})
            .find("no_such_move") != std::string::npos);
  CHECK(agent
            .refusal("tell", {{"node", "baseline"},
                              {"source", read_file(axpy("honest_grid_stride.cu"))},
                              {"launch", {{"grid", 7}}}})
            .find("grid") != std::string::npos);
  CHECK(agent.leave() == 0);
  CHECK(read_file(run + "/events.jsonl") == before);
}

TEST_CASE(
    "a call that takes long holds up no other message, and one that is cancelled is not answered") {
  Scene scene;
  scene.call("slow", "wait");
  scene.until_begun(1);
  scene.call(2, "wait");
  scene.call(3, "wait");
  scene.say({{"id", 4}, {"method", "ping"}});
  auto sent = scene.take();
  REQUIRE(sent.size() == 1);
  CHECK(sent[0]["id"] == 4);

  scene.say({{"method", "notifications/cancelled"}, {"params", {{"requestId", 2}}}});       // waits
  scene.say({{"method", "notifications/cancelled"}, {"params", {{"requestId", "slow"}}}});  // runs
  scene.until_begun(2);
  scene.release();
  scene.server.finish();
  sent = scene.take();
  REQUIRE(sent.size() == 1);
  CHECK(sent[0]["id"] == 3);
  CHECK(sent[0]["result"]["structuredContent"]["let_go"] == true);
  CHECK(scene.begun == 2);

  scene.call(5, "break");
  scene.server.finish();
  sent = scene.take();
  REQUIRE(sent.size() == 1);
  CHECK(sent[0]["error"]["code"] == -32603);
}

TEST_CASE("a server that goes away stops what runs") {
  Scene scene;
  scene.call(1, "wait");
  scene.until_begun(1);
  scene.call(2, "wait");
}

TEST_SUITE_END();
