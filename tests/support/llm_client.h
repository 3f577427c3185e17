#pragma once

#include <chrono>
#include <filesystem>
#include <memory>
#include <string>
#include <thread>
#include <vector>

#include "priors/llm/client.h"

namespace warpath::test {

/// A client with a cassette, a budget and a real transport, quick to retry.
class TestClient {
 public:
  struct Wish {
    std::string url;
    std::string codec = "chat";
    std::string key = "sk-secret-0123456789";
    std::filesystem::path cassette = {};
    llm::Cassette::Mode mode = llm::Cassette::Mode::live;
    llm::BudgetLimits limits = {.calls = 1000,
                                .input_tokens = 100'000'000,
                                .output_tokens = 100'000'000,
                                .money = 1e6,
                                .seconds = 0};
    llm::HttpLimits http = {};
    llm::RetryPolicy retry = {
        .attempts = 4, .base_s = 0.001, .cap_s = 0.01, .hint_cap_s = 120, .total_s = 60};
    int in_flight = 8;
    int breaker_failures = 1000;
    double breaker_open_s = 0.05;
    llm::Transport* transport = nullptr;  ///< null: over libcurl
  };
  explicit TestClient(const Wish& wish)
      : budget(wish.limits),
        transport_(wish.transport == nullptr ? llm::make_curl_transport() : nullptr) {
    llm::Redactor redactor;
    redactor.add(wish.key);
    cassette_ = std::make_unique<llm::Cassette>(wish.cassette, wish.mode, redactor);
    llm::Profile profile = llm::builtin_profiles()
                               .find(wish.codec == "anthropic"   ? "anthropic"
                                     : wish.codec == "responses" ? "openai-responses"
                                                                 : "openai")
                               ->second;
    profile.base_url = wish.url;
    profile.model = "test-model";
    profile.prices = llm::Prices{.input = 1, .cached = 0.5, .cache_write = 1.25, .output = 10};
    profile.limits = wish.http;
    client = std::make_unique<llm::Client>(
        llm::Client::Setup{.profile = profile,
                           .key = wish.key,
                           .transport = wish.transport == nullptr ? *transport_ : *wish.transport,
                           .cassette = *cassette_,
                           .budget = budget,
                           .redactor = redactor,
                           .in_flight = wish.in_flight,
                           .retry = wish.retry,
                           .breaker_failures = wish.breaker_failures,
                           .breaker_open_s = wish.breaker_open_s});
  }

  [[nodiscard]] static llm::ModelRequest question(const std::string& text) {
    llm::ModelRequest out;
    out.messages = {{llm::Message::Role::system, "You are asked."},
                    {llm::Message::Role::user, text}};
    out.max_output_tokens = 100;
    return out;
  }

  /// Replies to all that is under way.
  [[nodiscard]] std::vector<llm::Reply> all(double seconds = 30) {
    std::vector<llm::Reply> out;
    const auto end = std::chrono::steady_clock::now() + std::chrono::duration<double>(seconds);
    while (std::chrono::steady_clock::now() < end) {
      const bool busy = client->under_way() > 0;
      for (llm::Reply& r : client->take()) out.push_back(std::move(r));
      if (!busy) break;
      std::this_thread::sleep_for(std::chrono::milliseconds(1));
    }
    return out;
  }
  [[nodiscard]] llm::Reply ask(const std::string& text, double seconds = 30) {
    client->submit(question(text));
    std::vector<llm::Reply> replies = all(seconds);
    return replies.empty() ? llm::Reply() : replies.front();
  }

  llm::Budget budget;

 private:
  std::unique_ptr<llm::Transport> transport_;
  std::unique_ptr<llm::Cassette> cassette_;

 public:
  std::unique_ptr<llm::Client> client;  // goes first
};

}  // namespace warpath::test
