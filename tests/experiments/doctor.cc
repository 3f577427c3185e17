#include <doctest/doctest.h>

#include <cstdlib>
#include <nlohmann/json.hpp>

#include "tests/experiments/program.h"
#include "tests/support/http_server.h"

using namespace warpath::testing;
using namespace warpath::test;
using nlohmann::json;
using Words = std::vector<std::string>;

namespace {

constexpr const char* kVariable = "WARPATH_TEST_DOCTOR_KEY";
const std::string kKey = "sk-doctor-0123456789";

ProgramResult doctor(const std::string& url, const Words& more = {}) {
  setenv(kVariable, kKey.c_str(), 1);
  Words words{"doctor",         "--llm", "--llm-model",   "test-model", "--llm-profile", "custom",
              "--llm-base-url", url,     "--llm-key-env", kVariable,    "--llm-unpriced"};
  words.insert(words.end(), more.begin(), more.end());
  ProgramResult out = run_program(words);
  unsetenv(kVariable);
  CHECK((out.out + out.err).find(kKey) == std::string::npos);
  return out;
}

ServerReply serve(const ReceivedRequest& r) {
  const json body = json::parse(r.body);
  if (body.value("stream", false)) return stream_reply("chat", {.text = "one two"});
  return {.pieces = {chat_whole({.text = body.contains("response_format")
                                             ? R"({"colour": "green"})"
                                             : "ready " + r.header("authorization")})}};
}

}  // namespace

TEST_SUITE_BEGIN("doctor");

TEST_CASE(
    "doctor --llm says a line for each thing that a server can do, and what the profile should "
    "say") {
  HttpServer server(serve);
  const ProgramResult fine = doctor(server.url());
  CAPTURE(fine.out);
  CAPTURE(fine.err);
  CHECK(fine.code == 0);
  for (const char* line :
       {"ok  reachable", "ok  key", "ok  answers", "ok  usage counts", "ok  structured output",
        "ok  streaming", "ok  usage in streams", "3 calls"}) {
    CAPTURE(line);
    CHECK(fine.out.find(line) != std::string::npos);
  }
  CHECK(fine.out.find(R"("json_schema":true)") != std::string::npos);  // custom does not claim it
  CHECK(fine.out.find("[redacted]") != std::string::npos);
  CHECK(server.requests().at(0).header("authorization") == "Bearer " + kKey);

  const ProgramResult poor = doctor(server.url(), {"--llm-calls", "1"});
  CHECK(poor.code == 0);
  CHECK(poor.out.find("-   streaming") != std::string::npos);
  CHECK(server.requests().size() == 4);
}

TEST_CASE(
    "doctor --llm exits with 3 where nothing can be asked, and with 64 where no model is named") {
  HttpServer server([](const ReceivedRequest&) {
    return ServerReply{.status = 401, .pieces = {R"({"error": {"message": "no"}})"}};
  });
  const ProgramResult refused = doctor(server.url());
  CHECK(refused.code == 3);
  CHECK(refused.out.find("BROKEN  key") != std::string::npos);

  const ProgramResult keyless = run_program(
      {"doctor", "--llm", "--llm-model", "m", "--llm-profile", "custom", "--llm-base-url",
       server.url(), "--llm-key-env", "WARPATH_NO_SUCH_KEY", "--llm-unpriced"});
  CHECK(keyless.code == 3);
  CHECK(keyless.out.find("WARPATH_NO_SUCH_KEY") != std::string::npos);
  CHECK(server.requests().size() == 1);

  const ProgramResult nameless = run_program({"doctor", "--llm"});
  CHECK(nameless.code == 64);
  CHECK(nameless.err.find("--llm-model") != std::string::npos);
}

TEST_SUITE_END();
