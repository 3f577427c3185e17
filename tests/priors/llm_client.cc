#include <doctest/doctest.h>

#include <atomic>
#include <fstream>
#include <nlohmann/json.hpp>
#include <set>
#include <sstream>

#include "engine/base/error.h"
#include "engine/base/rng.h"
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

std::string contents(const std::filesystem::path& file) {
  std::ifstream in(file, std::ios::binary);
  std::ostringstream out;
  out << in.rdbuf();
  return out.str();
}

/// A server that does `first` once, then answers well.
HttpServer::Handler once(ServerReply first, const std::string& codec = "chat") {
  return [first = std::move(first), codec](const ReceivedRequest& r) {
    return r.number == 0 ? first : stream_reply(codec, {.text = "fine"});
  };
}

}  // namespace

TEST_SUITE_BEGIN("llm_client");

TEST_CASE("every codec is answered over a real connection, in pieces of any size") {
  for (const std::string_view name : codec_names()) {
    CAPTURE(name);
    const std::string codec(name);
    for (const std::size_t size : {std::size_t{1}, std::size_t{7}, std::size_t{100000}}) {
      HttpServer server([&](const ReceivedRequest&) {
        ServerReply reply = stream_reply(codec, {.text = "gr\xC3\xBC\xC3\x9F \xF0\x9F\x98\x80"});
        const std::string body = reply.pieces[0];
        reply.pieces.clear();
        for (std::size_t at = 0; at < body.size(); at += size)
          reply.pieces.push_back(body.substr(at, size));
        return reply;
      });
      TestClient client({.url = server.url(), .codec = codec});
      const Reply reply = client.ask("hello");
      CAPTURE(reply.reason);
      REQUIRE(reply.end == Reply::End::answered);
      CHECK(reply.answer.text == "gr\xC3\xBC\xC3\x9F \xF0\x9F\x98\x80");
      const ReceivedRequest got = server.requests().at(0);
      CHECK(got.target == "/v1" + std::string(find_codec(name)->path()));
      CHECK(got.header(codec == "anthropic" ? "x-api-key" : "authorization")
                .ends_with("sk-secret-0123456789"));
      CHECK(prompt_of(got.body) == "You are asked.\nhello\n");
      CHECK(got.header("expect").empty());
    }
  }
}

TEST_CASE(
    "what may go better is tried again, what may not is not, and every way to fail has a name") {
  struct Case {
    const char* name;
    ServerReply first;
    bool recovers;
    const char* reason;
  };
  const std::string whole = chat_stream({.text = "half a stream"});
  const std::string error_inside =
      "data: {\"choices\":[{\"delta\":{\"content\":\"a\"}}]}\n\ndata: "
      "{\"error\":{\"message\":\"overloaded\"}}\n\n";
  const std::vector<Case> cases{
      {"500", error_reply(500, "broken"), true, "http_500"},
      {"429 without a hint", error_reply(429, "slow"), true, "http_429"},
      {"429 in milliseconds", error_reply(429, "slow", {{"retry-after-ms", "5"}}), true,
       "http_429"},
      {"429 in seconds", error_reply(429, "slow", {{"Retry-After", "0"}}), true, "http_429"},
      {"429 until a date",
       error_reply(429, "slow", {{"Retry-After", "Thu, 01 Jan 1970 00:00:00 GMT"}}), true,
       "http_429"},
      {"429 for too long", error_reply(429, "slow", {{"Retry-After", "3600"}}), false, "http_429"},
      {"503 not to be repeated", error_reply(503, "gone", {{"x-should-retry", "false"}}), false,
       "http_503"},
      {"quota",
       {.status = 429, .pieces = {R"({"error":{"code":"insufficient_quota","message":"pay"}})"}},
       false,
       "http_429"},
      {"401", error_reply(401, "who"), false, "http_401"},
      {"404", error_reply(404, "what"), false, "http_404"},
      {"a redirect",
       {.status = 307, .headers = {{"Location", "http://127.0.0.1:9/elsewhere"}}},
       false,
       "http_307"},
      {"cut in mid-stream",
       {.pieces = {whole.substr(0, whole.size() / 2)}, .end = ServerReply::End::cut},
       true,
       "transfer"},
      {"ended in mid-stream", {.pieces = {whole.substr(0, whole.size() / 2)}}, true, "truncated"},
      {"an error in mid-stream", {.pieces = {error_inside}}, true, "stream_error"},
      {"an empty body", {.pieces = {}}, true, "truncated"},
      {"no JSON", {.pieces = {"<html>oops</html>"}}, true, "truncated"},
      {"half a JSON", {.pieces = {R"({"choices":[{"message":)"}}, true, "truncated"},
      {"no response at all", {.end = ServerReply::End::close, .silent = true}, true, "transfer"},
      {"silence", {.end = ServerReply::End::stall, .silent = true}, true, "timed_out"},
      {"a stall in mid-stream",
       {.pieces = {whole.substr(0, whole.size() / 2)}, .end = ServerReply::End::stall},
       true,
       "timed_out"},
      {"too much", {.pieces = {std::string(300'000, ' ')}}, false, "too_large"},
  };
  for (const Case& c : cases) {
    CAPTURE(c.name);
    HttpServer server(once(c.first));
    TestClient client({.url = server.url(),
                       .http = {.connect = 2s,
                                .first_byte = 300ms,
                                .idle = 300ms,
                                .total = 5s,
                                .max_response_bytes = 200'000}});
    const Reply reply = client.ask("hello");
    CAPTURE(reply.reason);
    CHECK((reply.end == Reply::End::answered) == c.recovers);
    CHECK(server.requests().size() == (c.recovers ? 2U : 1U));
    CHECK(client.client->figures().reasons.contains(c.reason));
    if (!c.recovers) CHECK(reply.reason.starts_with(c.reason));
    CHECK(client.budget.reserved().calls == 0);
  }
}

TEST_CASE(
    "an answer counts though the stream lacks its last line, usage, or its end; a server that goes "
    "on talking is left") {
  const std::string whole = chat_stream({.text = "enough"});
  const std::string without_done = whole.substr(0, whole.find("data: [DONE]"));
  const auto answer = [](ServerReply reply) {
    HttpServer server([&](const ReceivedRequest&) { return reply; });
    TestClient client(
        {.url = server.url(), .http = {.connect = 2s, .first_byte = 2s, .idle = 2s, .total = 5s}});
    const Reply out = client.ask("hello");
    CHECK(out.end == Reply::End::answered);
    CHECK(out.answer.text == "enough");
    return out;
  };
  CHECK(answer({.pieces = {without_done}}).usage.input == 100);
  const Reply estimated = answer({.pieces = {chat_stream({.text = "enough", .input = -1})}});
  CHECK_FALSE(estimated.answer.usage.known);
  CHECK(estimated.usage.input > 0);
  CHECK(estimated.cost > 0);
  const auto begin = std::chrono::steady_clock::now();
  answer({.pieces = {whole}, .end = ServerReply::End::stall});
  CHECK(std::chrono::steady_clock::now() - begin < 2s);
  // a stream was asked for, a document came
  answer({.pieces = {chat_whole({.text = "enough"})}, .chunked = false});
}

TEST_CASE("refusals and cut answers are answers, and are not asked for again") {
  for (const auto& [body, end] : std::vector<std::pair<std::string, ModelAnswer::End>>{
           {R"({"choices":[{"message":{"refusal":"no"},"finish_reason":"stop"}]})",
            ModelAnswer::End::refusal},
           {chat_stream({.text = "half", .finish = "length"}), ModelAnswer::End::length},
           {chat_stream({.text = "", .finish = "content_filter"}), ModelAnswer::End::filtered}}) {
    HttpServer server([&](const ReceivedRequest&) { return ServerReply{.pieces = {body}}; });
    TestClient client({.url = server.url()});
    const Reply reply = client.ask("hello");
    CHECK(reply.end == Reply::End::answered);
    CHECK(reply.answer.end == end);
    CHECK(server.requests().size() == 1);
  }
}

TEST_CASE("an option that the server does not know is left out from then on") {
  HttpServer server([](const ReceivedRequest& r) {
    if (r.body.find("stream_options") == std::string::npos)
      return stream_reply("chat", {.text = "fine"});
    return ServerReply{
        .status = 400,
        .pieces = {R"({"error":{"message":"Unknown parameter","param":"stream_options"}})"}};
  });
  TestClient client({.url = server.url()});
  CHECK(client.ask("one").end == Reply::End::answered);
  CHECK(client.ask("two").end == Reply::End::answered);
  CHECK(server.requests().size() == 3);
}

TEST_CASE("a server that refuses the key is not asked again, and nobody is told the key") {
  const TemporaryFolder folder;
  const std::filesystem::path file = folder.path() / "llm.jsonl";
  const std::string key = "sk-secret-0123456789";
  {
    HttpServer server([&](const ReceivedRequest& r) {
      return ServerReply{
          .status = 401,
          .headers = {{"x-request-id", key}},
          .pieces = {
              json{{"error", {{"message", "bad key " + r.header("authorization")}}}}.dump()}};
    });
    TestClient client(
        {.url = server.url(), .key = key, .cassette = file, .mode = Cassette::Mode::record});
    const Reply first = client.ask("with " + key + " in the prompt");
    CHECK(first.end == Reply::End::disabled);
    CHECK(first.reason.find(key) == std::string::npos);
    CHECK(first.reason.find("[redacted]") != std::string::npos);
    CHECK(client.ask("two").end == Reply::End::disabled);
    CHECK(server.requests().size() == 1);
    CHECK_FALSE(client.client->accepting());
    CHECK(client.client->disabled().find(key) == std::string::npos);
  }
  CHECK(contents(file).find(key) == std::string::npos);
  CHECK(contents(file).find("[redacted]") != std::string::npos);
}

TEST_CASE("plain http beyond this machine is not spoken") {
  TestClient client({.url = "http://192.0.2.1/v1"});
  const Reply reply = client.ask("hello");
  CHECK(reply.end == Reply::End::disabled);
  CHECK(reply.reason.find("https") != std::string::npos);
  CHECK(client.budget.spent().input_tokens == 0);
}

TEST_CASE(
    "requests run side by side up to the limit, and the breaker stops asking a server that is "
    "down") {
  HttpServer busy([](const ReceivedRequest&) { return stream_reply("chat", {.text = "fine"}); });
  TestClient client({.url = busy.url(), .in_flight = 3});
  for (int i = 0; i < 40; ++i) client.client->submit(TestClient::question("q" + std::to_string(i)));
  const std::vector<Reply> replies = client.all();
  CHECK(replies.size() == 40);
  CHECK(busy.most_at_once() <= 3);
  for (const Reply& r : replies) CHECK(r.end == Reply::End::answered);

  std::atomic<bool> down{true};
  HttpServer server([&](const ReceivedRequest&) {
    return down ? error_reply(500, "down") : stream_reply("chat", {.text = "fine"});
  });
  TestClient careful(
      {.url = server.url(),
       .retry = {.attempts = 1000, .base_s = 0.001, .cap_s = 0.001, .hint_cap_s = 1, .total_s = 30},
       .breaker_failures = 3,
       .breaker_open_s = 0.1});
  careful.client->submit(TestClient::question("hello"));
  const auto end = std::chrono::steady_clock::now() + 10s;
  while (careful.client->accepting() && std::chrono::steady_clock::now() < end)
    std::this_thread::yield();
  CHECK_FALSE(careful.client->accepting());
  CHECK(server.requests().size() <= 5);
  down = false;
  CHECK(careful.all().at(0).end == Reply::End::answered);
  CHECK(careful.client->accepting());
}

TEST_SUITE_END();
