#include <doctest/doctest.h>

#include <map>
#include <nlohmann/json.hpp>

#include "priors/llm/codec.h"
#include "priors/llm/probe.h"
#include "tests/support/http_server.h"

using namespace warpath;
using namespace warpath::llm;
using namespace warpath::test;
using nlohmann::json;

namespace {

const std::string kKey = "sk-probe-0123456789";

/// What the server of a test can do.
struct Skills {
  bool schema = true, stream = true, usage = true;
};

bool wants_schema(const json& body) {
  return body.contains("response_format") || body.contains("output_config") ||
         (body.contains("text") && body["text"].contains("format"));
}

ServerReply serve(const std::string& codec, const Skills& skills, const ReceivedRequest& r) {
  const json body = json::parse(r.body);
  const Said said{
      .text = wants_schema(body) && skills.schema ? R"({"colour": "green"})" : "Green, as a rule.",
      .input = skills.usage ? 12 : -1,
      .output = 3};
  if (body.value("stream", false) && skills.stream) return stream_reply(codec, said);
  const std::string whole = codec == "chat"        ? chat_whole(said)
                            : codec == "responses" ? responses_whole(said)
                                                   : anthropic_whole(said);
  return {.headers = {{"Content-Type", "application/json"}}, .pieces = {whole}};
}

ServerReply refusal(int status, const std::string& message, const std::string& param = "") {
  return {.status = status,
          .pieces = {json{{"error", {{"message", message}, {"param", param}}}}.dump()}};
}

struct Probe {
  ProbeReport report;
  std::map<std::string, Probed> lines;
  Spent spent;
  [[nodiscard]] Probed::State state(const std::string& what) const {
    CAPTURE(what);
    REQUIRE(lines.contains(what));
    return lines.at(what).state;
  }
  [[nodiscard]] bool all(Probed::State wanted) const {
    return std::ranges::all_of(report.lines,
                               [&](const Probed& line) { return line.state == wanted; });
  }
};

Profile profile_at(const std::string& url, const std::string& codec) {
  Profile p = builtin_profiles()
                  .find(codec == "anthropic"   ? "anthropic"
                        : codec == "responses" ? "openai-responses"
                                               : "openai")
                  ->second;
  p.base_url = url;
  p.model = "test-model";
  p.prices = Prices{.input = 1, .cached = 1, .cache_write = 1, .output = 10};
  p.limits.first_byte = std::chrono::milliseconds(300);
  p.limits.idle = std::chrono::milliseconds(300);
  return p;
}

Probe probed(const Profile& profile, std::int64_t calls = 20) {
  Redactor redactor;
  redactor.add(kKey);
  Budget budget({.calls = calls,
                 .input_tokens = 1'000'000,
                 .output_tokens = 1'000'000,
                 .money = 1000,
                 .seconds = 0});
  const auto transport = make_curl_transport();
  Probe out{.report = probe(profile, kKey, *transport, budget, redactor),
            .lines = {},
            .spent = budget.spent()};
  for (const Probed& line : out.report.lines) {
    CHECK_MESSAGE(out.lines.emplace(line.what, line).second, "twice: " << line.what);
    CHECK(line.detail.find(kKey) == std::string::npos);
    CHECK(line.detail.find('\n') == std::string::npos);
    CHECK_FALSE(line.detail.empty());
  }
  CHECK(budget.reserved().calls == 0);
  return out;
}

}  // namespace

TEST_SUITE_BEGIN("llm_probe");

TEST_CASE("a server that can do everything is seen to, by three calls, in every format") {
  for (const std::string_view name : codec_names()) {
    const std::string codec(name);
    CAPTURE(codec);
    HttpServer server([&](const ReceivedRequest& r) { return serve(codec, {}, r); });
    const Probe seen = probed(profile_at(server.url(), codec));
    CHECK(seen.report.usable);
    CHECK(seen.all(Probed::State::yes));
    CHECK(seen.report.lines.size() == 7);
    CHECK(seen.spent.calls == 3);
    CHECK(seen.spent.input_tokens == 36);
    CHECK(seen.report.capabilities.contains("json_schema"));
    CHECK(seen.report.capabilities.contains("stream"));
    CHECK(seen.lines.at("usage counts").detail.find("12 tokens in, 3 out") != std::string::npos);
  }
}

TEST_CASE("what a server leaves out is missing, one by one") {
  for (const int missing : {0, 1, 2}) {
    CAPTURE(missing);
    const Skills skills{.schema = missing != 0, .stream = missing != 1, .usage = missing != 2};
    HttpServer server([&](const ReceivedRequest& r) { return serve("chat", skills, r); });
    const Probe seen = probed(profile_at(server.url(), "chat"));
    using enum Probed::State;
    CHECK(seen.report.usable);
    CHECK(seen.state("structured output") == (skills.schema ? yes : no));
    CHECK(seen.state("streaming") == (skills.stream ? yes : no));
    CHECK(seen.state("usage counts") == (skills.usage ? yes : no));
    CHECK(seen.state("usage in streams") == (!skills.stream ? untried : skills.usage ? yes : no));
    CHECK(seen.report.capabilities.contains("json_schema") == skills.schema);
    CHECK(seen.report.capabilities.contains("stream") == skills.stream);
    // what nobody counted is charged in full
    if (!skills.usage) CHECK(seen.spent.output_tokens >= 3 * 100);
  }
}

TEST_CASE("options that a server refuses by name are left out, and said") {
  HttpServer server([&](const ReceivedRequest& r) {
    const json body = json::parse(r.body);
    if (body.contains("reasoning_effort"))
      return refusal(400, "Unknown parameter.", "reasoning_effort");
    if (body.contains("response_format"))
      return refusal(400, "Unknown parameter.", "response_format");
    if (body.contains("stream_options"))
      return refusal(400, "Unknown parameter.", "stream_options");
    return serve("chat", {.schema = true, .stream = true, .usage = false}, r);
  });
  Profile profile = profile_at(server.url(), "chat");
  profile.effort = "low";
  const Probe seen = probed(profile);
  using enum Probed::State;
  CHECK(seen.report.usable);
  CHECK(seen.state("option reasoning_effort") == no);
  CHECK(seen.state("structured output") == no);
  CHECK(seen.state("streaming") == yes);
  CHECK(seen.state("usage in streams") == no);
  for (const char* gone : {"reasoning_effort", "json_schema", "stream_usage"}) {
    CAPTURE(gone);
    CHECK_FALSE(seen.report.capabilities.contains(gone));
  }
  CHECK(seen.report.capabilities.contains("stream"));
  CHECK(seen.spent.calls == 5);  // effort; without; schema; stream; without usage
}

TEST_CASE(
    "a key that is refused, a server that is down or says nothing, and a model that is not there "
    "are named, and nothing more is asked") {
  using enum Probed::State;
  {
    HttpServer server([&](const ReceivedRequest&) {
      return refusal(401, "Incorrect API key provided: " + kKey);
    });
    const Probe seen = probed(profile_at(server.url(), "chat"));
    CHECK_FALSE(seen.report.usable);
    CHECK(seen.state("reachable") == yes);
    CHECK(seen.state("key") == broken);
    CHECK(seen.lines.at("key").detail.find("[redacted]") != std::string::npos);
    CHECK(server.requests().size() == 1);
  }
  {
    HttpServer server(
        [&](const ReceivedRequest&) { return refusal(404, "The model does not exist"); });
    const Probe seen = probed(profile_at(server.url(), "chat"));
    CHECK(seen.state("key") == untried);
    CHECK(seen.state("answers") == broken);
    CHECK(seen.lines.at("answers").detail.find("does not exist") != std::string::npos);
    CHECK(server.requests().size() == 1);
  }
  {
    HttpServer server([&](const ReceivedRequest&) {
      return ServerReply{.end = ServerReply::End::stall, .silent = true};
    });
    const Probe seen = probed(profile_at(server.url(), "chat"));
    CHECK(seen.state("reachable") == broken);
    CHECK(seen.state("streaming") == untried);
    CHECK(server.requests().size() == 1);
  }
  std::string gone;
  {
    HttpServer server([](const ReceivedRequest&) { return ServerReply{}; });
    gone = server.url();
  }
  CHECK(probed(profile_at(gone, "chat")).state("reachable") == broken);
  // plain http beyond this machine
  CHECK(probed(profile_at("http://192.0.2.1/v1", "chat")).state("reachable") == broken);
}

TEST_CASE("what the budget does not allow is not asked") {
  for (const int calls : {0, 1, 2}) {
    CAPTURE(calls);
    HttpServer server([&](const ReceivedRequest& r) { return serve("chat", {}, r); });
    const Probe seen = probed(profile_at(server.url(), "chat"), calls);
    CHECK(server.requests().size() == static_cast<std::size_t>(calls));
    CHECK(seen.spent.calls == calls);
    CHECK(seen.state("answers") == (calls > 0 ? Probed::State::yes : Probed::State::untried));
    CHECK(seen.state("structured output") ==
          (calls > 1 ? Probed::State::yes : Probed::State::untried));
    CHECK(seen.state("streaming") == Probed::State::untried);
    CHECK(seen.lines.at("streaming").detail.find(calls > 0 ? "budget" : "no answer") !=
          std::string::npos);
  }
}

TEST_SUITE_END();
