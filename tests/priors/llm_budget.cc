#include <doctest/doctest.h>

#include <condition_variable>
#include <fstream>
#include <map>
#include <mutex>
#include <nlohmann/json.hpp>
#include <sstream>

#include "engine/base/error.h"
#include "engine/base/rng.h"
#include "engine/json/json_reader.h"
#include "priors/llm/codec.h"
#include "tests/support/http_server.h"
#include "tests/support/llm_client.h"
#include "tests/support/temporary_folder.h"

using namespace warpath;
using namespace warpath::llm;
using namespace warpath::test;
using nlohmann::json;
using namespace std::chrono_literals;

namespace {

/// Hands requests to the test, which says when and how they end. The client's thread waits in
/// `send` while the gate is closed.
class HeldTransport final : public Transport {
 public:
  void send(HttpRequest request, std::function<void(HttpResult)> done) override {
    std::unique_lock lock(mutex_);
    sent_.emplace(request.id, std::move(done));
    changed_.notify_all();
    changed_.wait(lock, [&] { return open_ || request.id != held_; });
  }
  void cancel(std::uint64_t id) override {
    const std::lock_guard lock(mutex_);
    cancelled_.insert(id);
    changed_.notify_all();
  }
  /// Request `id` stays in `send` until `release`.
  void hold(std::uint64_t id) { held_ = id, open_ = false; }
  void release() {
    const std::lock_guard lock(mutex_);
    open_ = true;
    changed_.notify_all();
  }
  void wait_until_sent(std::uint64_t id) {
    std::unique_lock lock(mutex_);
    changed_.wait(lock, [&] { return sent_.contains(id); });
  }
  void wait_until_cancelled(std::uint64_t id) {
    std::unique_lock lock(mutex_);
    changed_.wait(lock, [&] { return cancelled_.contains(id); });
  }
  void end(HttpResult result) { sent_.at(result.id)(std::move(result)); }

 private:
  std::mutex mutex_;
  std::condition_variable changed_;
  std::map<std::uint64_t, std::function<void(HttpResult)>> sent_;  // guarded by mutex_
  std::set<std::uint64_t> cancelled_;                              // guarded by mutex_
  std::uint64_t held_ = 0;
  bool open_ = true;
};

HttpResult answered(std::uint64_t id) {
  return {.id = id, .sent = true, .status = 200, .body = chat_whole({.text = "fine"})};
}

double money_of(const std::vector<Cassette::Past>& past) {
  double out = 0;
  for (const Cassette::Past& p : past) out += p.cost;
  return out;
}

}  // namespace

TEST_SUITE_BEGIN("llm_budget");

TEST_CASE("whatever the server does, no limit of the budget is passed") {
  for (std::uint64_t seed = 1; seed <= 6; ++seed) {
    CAPTURE(seed);
    HttpServer server([&](const ReceivedRequest& r) {
      Rng rng(seed, "script", r.number);
      const std::string whole = chat_stream({.text = std::string(50, 'x'),
                                             .input = static_cast<std::int64_t>(r.body.size() / 4),
                                             .output = 100});
      switch (rng.below(8)) {
        case 0:
          return error_reply(500, "broken");
        case 1:
          return error_reply(429, "slow", {{"retry-after-ms", "1"}});
        case 2:
          return ServerReply{.pieces = {whole.substr(0, whole.size() / 2)},
                             .end = ServerReply::End::cut};
        case 3:
          return ServerReply{.pieces = {chat_stream({.text = "no usage", .input = -1})}};
        case 4:
          return ServerReply{.end = ServerReply::End::close, .silent = true};
        default:
          return ServerReply{.pieces = {whole}};
      }
    });
    BudgetLimits limits{.calls = 60,
                        .input_tokens = 1'000'000,
                        .output_tokens = 1'000'000,
                        .money = 1e6,
                        .seconds = 0};
    if (seed % 4 == 1) limits.input_tokens = 3000;
    if (seed % 4 == 2) limits.output_tokens = 1500;
    if (seed % 4 == 3) limits.money = 0.01;
    TestClient client({.url = server.url(), .limits = limits});
    for (int i = 0; i < 60; ++i)
      client.client->submit(TestClient::question("q" + std::to_string(i)));
    const std::vector<Reply> replies = client.all(60);
    CHECK(replies.size() == 60);
    const Spent spent = client.budget.spent();
    CHECK(spent.calls <= limits.calls);
    CHECK(spent.input_tokens <= limits.input_tokens);
    CHECK(spent.output_tokens <= limits.output_tokens);
    CHECK(spent.money <= limits.money * (1 + 1e-9));
    CHECK(spent.calls == static_cast<std::int64_t>(server.requests().size()));
    CHECK(client.budget.reserved().calls == 0);
    double cost = 0;
    for (const Reply& r : replies) cost += r.cost;
    CHECK(cost == doctest::Approx(spent.money));
  }
}

TEST_CASE(
    "a recorded session replays without its server, failures included, and an unknown call is an "
    "error") {
  const TemporaryFolder folder;
  const std::filesystem::path file = folder.path() / "llm.jsonl";
  std::vector<Reply> live;
  {
    HttpServer server([](const ReceivedRequest& r) {
      return r.number % 3 == 0 ? error_reply(500, "broken")
                               : stream_reply("chat", {.text = "answer " + prompt_of(r.body)});
    });
    TestClient client(
        {.url = server.url(), .cassette = file, .mode = Cassette::Mode::record, .in_flight = 1});
    for (int i = 0; i < 5; ++i) live.push_back(client.ask("q" + std::to_string(i % 3)));
  }
  TestClient client(
      {.url = "http://127.0.0.1:9/v1", .cassette = file, .mode = Cassette::Mode::replay});
  for (int i = 0; i < 5; ++i) {
    CAPTURE(i);
    const Reply replayed = client.ask("q" + std::to_string(i % 3));
    const Reply& was = live[static_cast<std::size_t>(i)];
    CHECK(replayed.end == Reply::End::answered);
    CHECK(replayed.replayed);
    CHECK(replayed.answer.text == was.answer.text);
    CHECK(replayed.attempts == was.attempts);
    CHECK(replayed.cost == was.cost);
  }
  CHECK(client.ask("never asked").end == Reply::End::unknown);
  CHECK(client.ask("q2").end == Reply::End::unknown);  // once more than was recorded
}

TEST_CASE(
    "a call that a killed session sent is charged and never sent again; what it heard is free") {
  const TemporaryFolder folder;
  const std::filesystem::path file = folder.path() / "llm.jsonl";
  HttpServer server([](const ReceivedRequest&) { return stream_reply("chat", {.text = "fine"}); });
  {
    TestClient client({.url = server.url(), .cassette = file, .mode = Cassette::Mode::record});
    CHECK(client.ask("heard").end == Reply::End::answered);
    CHECK(client.ask("lost").end == Reply::End::answered);
  }
  // As a kill after the request was sent leaves it: the last line is missing, and half of another
  // is there.
  std::string text = read_text_file(file, std::size_t{1} << 24U, "cassette");
  text.resize(text.rfind("{\"at\""));
  std::ofstream(file, std::ios::binary) << text << "{\"type\":\"ca";
  TestClient client(
      {.url = server.url(), .cassette = file, .mode = Cassette::Mode::replay_or_live});
  CHECK(client.ask("heard").replayed);
  CHECK(client.ask("lost").end == Reply::End::lost);
  CHECK(server.requests().size() == 2);
  CHECK(client.ask("new").end == Reply::End::answered);
  CHECK(server.requests().size() == 3);
  const Cassette past(file, Cassette::Mode::replay, {});
  CHECK(past.past().size() == 3);
  std::ofstream(file, std::ios::binary | std::ios::app) << "damage\n";
  CHECK_THROWS_WITH_AS(Cassette(file, Cassette::Mode::replay, {}), doctest::Contains("llm.jsonl:"),
                       Error);
}

TEST_CASE(
    "an answer that comes as the end does is one end: what else is under way is still waited for") {
  HeldTransport transport;
  TestClient client({.url = "http://127.0.0.1:1", .transport = &transport});
  transport.hold(2);
  client.client->submit(TestClient::question("first"));
  client.client->submit(TestClient::question("second"));
  // the client's thread stands in send(): what happens now it sees at once
  transport.wait_until_sent(2);
  transport.end(answered(1));
  client.client->cancel();
  transport.release();
  transport.wait_until_cancelled(2);
  CHECK(client.client->under_way() == 1);
  transport.end({.id = 2, .failure = HttpFailure::cancelled, .detail = "cancelled", .sent = true});
  client.client->settle();
  CHECK(client.client->under_way() == 0);
  const std::vector<Reply> replies = client.client->take();
  REQUIRE(replies.size() == 2);
  CHECK(replies[0].end == Reply::End::answered);
  CHECK(replies[1].end == Reply::End::cancelled);
}

TEST_CASE("budget and cassette agree on a call that the end cancels, whatever of it was there") {
  const std::string body = chat_whole({.text = "fine"});
  const std::vector<HttpResult> ends{
      {.id = 2, .failure = HttpFailure::cancelled, .sent = false},
      {.id = 2, .failure = HttpFailure::cancelled, .sent = true},
      {.id = 2, .failure = HttpFailure::cancelled, .sent = true, .status = 500},
      {.id = 2,
       .failure = HttpFailure::cancelled,
       .sent = true,
       .status = 200,
       .body = body.substr(0, body.size() / 2)},
      {.id = 2, .failure = HttpFailure::cancelled, .sent = true, .status = 200, .body = body}};
  for (const HttpResult& end : ends) {
    CAPTURE(end.status);
    const TemporaryFolder folder;
    const std::filesystem::path file = folder.path() / "llm.jsonl";
    HeldTransport transport;
    Spent spent;
    {
      TestClient client({.url = "http://127.0.0.1:1",
                         .cassette = file,
                         .mode = Cassette::Mode::record,
                         .transport = &transport});
      client.client->submit(TestClient::question("first"));
      client.client->submit(TestClient::question("second"));
      transport.wait_until_sent(1);
      transport.end(answered(1));
      transport.wait_until_sent(2);
      client.client->cancel();
      transport.wait_until_cancelled(2);
      const Spent under_way = client.budget.charged();
      transport.end(end);
      client.client->settle();
      spent = client.budget.spent();
      CHECK(client.budget.reserved().calls == 0);
      CHECK(spent.calls == 2);
      CHECK(under_way.calls == spent.calls);  // also while its end is not heard
      CHECK(under_way.money == doctest::Approx(spent.money));
    }
    const std::vector<Cassette::Past> past = Cassette(file, Cassette::Mode::replay, {}).past();
    CHECK(past.size() == 2);
    CHECK(money_of(past) == doctest::Approx(spent.money));
  }
}

TEST_SUITE_END();
