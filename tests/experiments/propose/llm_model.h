#pragma once

// A model behind a loopback server, for runs with a language model.

#include <chrono>
#include <functional>
#include <nlohmann/json.hpp>
#include <string>
#include <thread>
#include <vector>

#include "engine/base/hash.h"
#include "engine/base/rng.h"
#include "tests/support/http_server.h"

namespace warpath::test {

/// What the schema of a request, wherever its format puts it, lets a choice's move be.
inline std::vector<std::string> legal_moves(const nlohmann::json& value) {
  if (value.is_object() && value.contains("move") && value["move"].is_object() &&
      value["move"].contains("enum"))
    return value["move"]["enum"].get<std::vector<std::string>>();
  if (!value.is_structured()) return {};
  for (const nlohmann::json& member : value) {
    if (auto found = legal_moves(member); !found.empty()) return found;
  }
  return {};
}

inline std::string chosen(const std::vector<std::string>& moves) {
  nlohmann::json list = nlohmann::json::array();
  for (const std::string& m : moves)
    list.push_back({{"move", m},
                    {"params", nlohmann::json::array()},
                    {"gain_lo", 1.05},
                    {"gain_hi", 1.4},
                    {"confidence", 0.6},
                    {"novelty", "safe"},
                    {"why", "tried elsewhere"}});
  return nlohmann::json{{"bottleneck", "memory"}, {"choices", list}, {"stop", false}}.dump();
}

inline std::string written(const std::string& prompt, const std::string& source) {
  const std::size_t at = prompt.rfind("===KERNEL BEGIN ") + 16;
  const std::string nonce = prompt.substr(at, prompt.find("===", at) - at);
  return "===KERNEL BEGIN " + nonce + "===\n" + source + "===KERNEL END " + nonce +
         "===\nCLAIM precision=unchanged\n";
}

/// A model that takes some of the moves it may take, by the text of the question alone, and writes
/// the same sources again and again; its server fails as often as it is told.
struct Model {
  std::string codec = "chat";
  double failures = 0;
  std::chrono::milliseconds takes{0};  ///< to answer
  std::vector<std::string> sources{};
  std::function<std::string(const std::string&)> garbage{};  ///< says everything, if set

  [[nodiscard]] std::string says(const ReceivedRequest& r) const {
    const std::string prompt = prompt_of(r.body);
    if (garbage) return garbage(prompt);
    warpath::Rng rng(warpath::hash128(prompt).low, "model");
    if (prompt.find("===KERNEL BEGIN ") != std::string::npos)
      return written(prompt, sources.empty() ? "nothing" : sources[rng.below(sources.size())]);
    std::vector<std::string> moves = legal_moves(nlohmann::json::parse(r.body));
    std::erase_if(
        moves, [&](const std::string& m) { return m.starts_with("by_hand:") && sources.empty(); });
    std::vector<std::string> out;
    for (int i = 0; i < 3 && !moves.empty(); ++i) out.push_back(moves[rng.below(moves.size())]);
    if (!sources.empty()) out.insert(out.begin(), "by_hand:other");
    return chosen(out);
  }

  ServerReply operator()(const ReceivedRequest& r) const {
    std::this_thread::sleep_for(takes);
    ServerReply fine = stream_reply(codec, {.text = says(r), .input = 2000, .output = 200});
    warpath::Rng rng(r.number, "failures");
    if (rng.uniform() >= failures) return fine;
    switch (rng.below(5)) {
      case 0:
        return {.status = 500, .pieces = {R"({"error": {"message": "overloaded"}})"}};
      case 1:
        return {.status = 429,
                .headers = {{"Retry-After", "0"}},
                .pieces = {R"({"error": {"message": "slow down"}})"}};
      case 2:
        return {.pieces = {"<html>not json"}};
      case 3:
        return {.end = ServerReply::End::cut, .silent = true};
      default:
        fine.pieces = {fine.pieces.front().substr(0, fine.pieces.front().size() / 2)};
        fine.end = ServerReply::End::cut;
        return fine;
    }
  }
};

}  // namespace warpath::test
