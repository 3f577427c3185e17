#include <doctest/doctest.h>
#include <sys/stat.h>

#include <cstdlib>
#include <fstream>
#include <nlohmann/json.hpp>

#include "engine/base/base64.h"
#include "engine/base/error.h"
#include "priors/llm/codec.h"
#include "priors/llm/extract.h"
#include "priors/llm/profile.h"
#include "priors/llm/redact.h"
#include "priors/llm/retry.h"
#include "priors/llm/sse.h"
#include "tests/support/http_server.h"
#include "tests/support/temporary_folder.h"

using namespace warpath;
using namespace warpath::llm;
using nlohmann::json;
namespace test = warpath::test;

namespace {

std::vector<SseEvent> decode(const std::vector<std::string>& pieces) {
  SseDecoder sse;
  std::vector<SseEvent> out;
  for (const std::string& piece : pieces) {
    for (SseEvent& e : sse.feed(piece)) out.push_back(std::move(e));
  }
  return out;
}

std::string text_of_events(const std::vector<SseEvent>& events) {
  std::string out;
  for (const SseEvent& e : events) out += "[" + e.event + "|" + e.data + "|" + e.id + "]";
  return out;
}

std::string with_line_ends(const std::string& text, const std::string& end) {
  std::string out;
  for (const char c : text) out += c == '\n' ? end : std::string(1, c);
  return out;
}

const std::string kStream =
    "\xEF\xBB\xBF: a comment\n\nevent: greeting\ndata: hello\ndata:  world\nid: 7\n\n"
    "data:\n\ndata\n\nretry: 10\nnonsense\n: again\n\ndata: gr\xC3\xBC\xC3\x9F dich "
    "\xF0\x9F\x98\x80\n\nevent: lost\ndata: cut short\n";
const std::string kEvents =
    "[greeting|hello\n world|7][||7][||7][|gr\xC3\xBC\xC3\x9F dich \xF0\x9F\x98\x80|7]";

HttpResult response(int status, HttpHeaders headers = {}) {
  HttpResult out;
  out.sent = true;
  out.status = status;
  out.headers = std::move(headers);
  return out;
}

}  // namespace

TEST_SUITE_BEGIN("llm_wire");

TEST_CASE("a stream of events reads alike wherever it is cut and however its lines end") {
  for (const std::string end : {"\n", "\r", "\r\n"}) {
    const std::string stream = with_line_ends(kStream, end);
    CHECK(text_of_events(decode({stream})) == kEvents);
    std::vector<std::string> bytes;
    for (const char c : stream) bytes.emplace_back(1, c);
    CHECK(text_of_events(decode(bytes)) == kEvents);
    for (std::size_t cut = 0; cut <= stream.size(); ++cut) {
      CAPTURE(cut);
      REQUIRE(text_of_events(decode({stream.substr(0, cut), stream.substr(cut)})) == kEvents);
    }
  }
}

TEST_CASE("every codec reads back what its format says, whole and as a stream") {
  for (const std::string_view name : codec_names()) {
    CAPTURE(name);
    const Codec& codec = *find_codec(name);
    const test::Said said{
        .text =
            "Gr\xC3\xBC\xC3\x9F \"dich\"\nand more than one delta of it, \xF0\x9F\x98\x80 included",
        .input = 123,
        .output = 45};
    const std::string whole = name == "chat"        ? test::chat_whole(said)
                              : name == "responses" ? test::responses_whole(said)
                                                    : test::anthropic_whole(said);
    for (const std::string& body : {test::stream_body(std::string(name), said), whole}) {
      const ModelAnswer answer = decode_body(codec, body);
      CHECK(answer.end == ModelAnswer::End::complete);
      CHECK(answer.text == said.text);
      CHECK(answer.usage.known);
      CHECK(answer.usage.input == 123);
      CHECK(answer.usage.output == 45);
      CHECK(answer.model == "test-model");
    }
    const std::string cut_word = name == "chat"        ? "length"
                                 : name == "responses" ? "max_output_tokens"
                                                       : "max_tokens";
    CHECK(decode_body(codec,
                      test::stream_body(std::string(name), {.text = "half", .finish = cut_word}))
              .end == ModelAnswer::End::length);
    // Any cut before the last event that matters leaves the answer unfinished, or complete without
    // a lie about the text.
    const std::string stream = test::stream_body(std::string(name), said);
    for (std::size_t cut = 0; cut < stream.size(); ++cut) {
      const ModelAnswer answer = decode_body(codec, stream.substr(0, cut));
      if (answer.end != ModelAnswer::End::unfinished) CHECK(answer.text == said.text);
    }
  }
}

TEST_CASE("refusals, errors within a stream, reasoning and unknown events are told apart") {
  const Codec& chat = *find_codec("chat");
  CHECK(
      decode_body(
          chat,
          R"({"choices":[{"message":{"content":null,"refusal":"I will not"},"finish_reason":"stop"}]})")
          .end == ModelAnswer::End::refusal);
  CHECK(decode_body(chat,
                    "data: {\"choices\":[{\"delta\":{\"refusal\":\"no\"}}]}\n\ndata: "
                    "{\"choices\":[{\"delta\":{},\"finish_reason\":\"stop\"}]}\n\n")
            .end == ModelAnswer::End::refusal);
  const ModelAnswer error =
      decode_body(chat,
                  "data: {\"choices\":[{\"delta\":{\"content\":\"a\"}}]}\n\ndata: "
                  "{\"error\":{\"message\":\"overloaded\",\"type\":\"server_error\"}}\n\n");
  CHECK(error.end == ModelAnswer::End::error);
  CHECK(error.error_message == "overloaded");
  const ModelAnswer thinking = decode_body(
      chat,
      R"({"choices":[{"message":{"content":"answer","reasoning_content":"secret thoughts"},"finish_reason":"stop"}]})");
  CHECK(thinking.text == "answer");
  const Codec& responses = *find_codec("responses");
  const std::string unknown =
      "data: {\"type\":\"response.something_new\",\"x\":1}\n\ndata: not json\n\n";
  CHECK(decode_body(responses, unknown + test::responses_stream({.text = "fine"})).text == "fine");
  CHECK(decode_body(responses,
                    "data: "
                    "{\"type\":\"response.failed\",\"response\":{\"status\":\"failed\",\"error\":{"
                    "\"code\":\"x\",\"message\":\"broke\"}}}\n\n")
            .error_message == "broke");
  CHECK(
      decode_body(
          responses,
          R"({"status":"incomplete","incomplete_details":{"reason":"content_filter"},"output":[]})")
          .end == ModelAnswer::End::filtered);
  CHECK(
      decode_body(
          *find_codec("anthropic"),
          "event: error\ndata: "
          "{\"type\":\"error\",\"error\":{\"type\":\"overloaded_error\",\"message\":\"busy\"}}\n\n")
          .end == ModelAnswer::End::error);
  for (const std::string_view name : codec_names()) {
    for (const char* body :
         {"", "  ", "{", "[]", "null", "{}", "<html>", "data: \n\n", "{\"choices\":7}",
          "{\"output\":[1,{\"content\":[2]}]}", "{\"content\":[null]}"}) {
      CAPTURE(name);
      CAPTURE(body);
      const ModelAnswer answer = decode_body(*find_codec(name), body);
      CHECK(answer.end == ModelAnswer::End::unfinished);
      CHECK_FALSE(answer.error_message.empty());
    }
  }
}

TEST_CASE("request bodies carry what the profile allows and nothing else") {
  ModelRequest request;
  request.messages = {{Message::Role::system, "rules"}, {Message::Role::user, "question"}};
  request.schema = json{{"type", "object"}};
  request.temperature = 0.2;
  request.effort = "low";
  for (const std::string_view name : codec_names()) {
    CAPTURE(name);
    Profile profile = builtin_profiles().find("custom")->second;
    profile.codec = name;
    profile.model = "m";
    profile.capabilities.clear();
    const std::string plain = find_codec(name)->body(profile, request).dump();
    for (const char* word : {"schema", "temperature", "stream", "effort", "store", "cache_control"})
      CHECK(plain.find(word) == std::string::npos);
    CHECK(test::prompt_of(plain) == "rules\nquestion\n");
    for (const std::string_view capability : kCapabilities)
      profile.capabilities.emplace(capability);
    const std::string full = find_codec(name)->body(profile, request).dump();
    for (const char* word : {"schema", "temperature", "stream"})
      CHECK(full.find(word) != std::string::npos);
  }
}

TEST_CASE(
    "the object of an answer is found through talk, fences and thinking, and only where it is "
    "one") {
  std::string why;
  const auto found = [&](const std::string& text) {
    const auto out = extract_object(text, why);
    return out ? out->object.dump() : "none";
  };
  CHECK(found(R"({"a":1})") == R"({"a":1})");
  CHECK(extract_object(R"( {"a":1} )", why)->how == Extraction::strict);
  CHECK(found("Sure! ```json\n{\"a\": \"} {\"}\n``` and more {\"b\":2}") == R"({"a":"} {"})");
  CHECK(found("<think>{\"no\":0}</think>{\"a\":1}") == R"({"a":1})");
  CHECK(found("{ not json } {\"a\":{\"b\":[1]}}") == R"({"a":{"b":[1]}})");
  CHECK(found("no object") == "none");
  CHECK(found("{\"a\":1") == "none");
  CHECK(why.find("never closes") != std::string::npos);
  CHECK(found("[1,2]") == "none");
  CHECK(found("{\"a\":1,\"a\":2}") == "none");
  CHECK(found(std::string(300000, '{')) == "none");
  CHECK(without_thinking("text <think>kept</think>") == "text <think>kept</think>");
}

TEST_CASE("secrets are found in every form in which a server may echo them") {
  const std::string key = "sk-\"quote\\ed+/=";
  Redactor redactor;
  redactor.add(key);
  redactor.add("abc");  // too short to be a secret
  const std::string base64 = base64_encode(std::as_bytes(std::span(key)));
  for (const std::string& text :
       {key, json(key).dump(), base64, std::string("sk-%22quote%5Ced%2B%2F%3D"), key + key}) {
    CAPTURE(text);
    const std::string out = redactor("before " + text + " after");
    CHECK(out.find("quote") == std::string::npos);
    CHECK(out.find(base64) == std::string::npos);
    CHECK(out.find("[redacted]") != std::string::npos);
    CHECK(out.starts_with("before "));
  }
  CHECK(redactor("abc") == "abc");
  CHECK(redactor.within(json{{key, {1, key}}}).dump().find("quote") == std::string::npos);
}

TEST_CASE(
    "keys come from a variable or a private file, and bad ones are refused without being shown") {
  const test::TemporaryFolder folder;
  const std::string file = (folder.path() / "key").string();
  const auto write = [&](const std::string& text, unsigned mode) {
    std::ofstream(file) << text;
    REQUIRE(::chmod(file.c_str(), mode) == 0);
  };
  write("sk-file\n", 0600);
  CHECK(read_key("WARPATH_NO_SUCH_KEY", file) == "sk-file");
  CHECK(read_key("", "").empty());
  ::setenv("WARPATH_TEST_KEY", "sk-variable", 1);
  CHECK(read_key("WARPATH_TEST_KEY", file) == "sk-variable");
  ::unsetenv("WARPATH_TEST_KEY");
  write("sk-file", 0644);
  CHECK_THROWS_WITH_AS(static_cast<void>(read_key("", file)), doctest::Contains("600"), Error);
  write("sk secret\nX-Evil: 1", 0600);
  try {
    static_cast<void>(read_key("", file));
    FAIL("accepted");
  } catch (const Error& e) {
    CHECK(std::string(e.what()).find("secret") == std::string::npos);
  }
}

TEST_CASE("responses are judged by status, headers and what the error says") {
  Profile profile = builtin_profiles().find("openai")->second;
  using Next = Judgement::Next;
  const auto next = [&](const HttpResult& r, const std::string& body) {
    return judge(r, decode_body(*find_codec("chat"), body), profile, 1000);
  };
  const auto error = [](const std::string& code, const std::string& message,
                        const std::string& param = "") {
    return json{{"error", {{"code", code}, {"message", message}, {"param", param}}}}.dump();
  };
  CHECK(next(response(200), test::chat_whole({.text = "a"})).next == Next::take);
  for (const int status : {408, 409, 429, 500, 502, 503, 529})
    CHECK(next(response(status), error("", "busy")).next == Next::retry);
  for (const int status : {301, 307, 400, 404, 422})
    CHECK(next(response(status), error("", "wrong")).next == Next::give_up);
  for (const int status : {401, 403})
    CHECK(next(response(status), error("", "who are you")).next == Next::disable);
  CHECK(next(response(429), error("insufficient_quota", "pay")).next == Next::disable);
  CHECK(next(response(503, {{"x-should-retry", "false"}}), error("", "busy")).next ==
        Next::give_up);
  CHECK(next(response(404, {{"x-should-retry", "true"}}), error("", "busy")).next == Next::retry);
  CHECK(next(response(413), error("", "big")).next == Next::shrink);
  CHECK(next(response(400), error("context_length_exceeded", "big")).next == Next::shrink);
  CHECK(next(response(400), error("", "no", "temperature")).option == "temperature");
  CHECK(next(response(400), error("", "Unknown parameter: 'stream_options'")).option ==
        "stream_usage");
  profile.capabilities.erase("temperature");
  // it was not sent
  CHECK(next(response(400), error("", "no", "temperature")).next == Next::give_up);
  CHECK(next(response(200), "data: {\"choices\":[]}\n\n").next == Next::retry);
  CHECK(*retry_after(response(429, {{"retry-after-ms", "1500"}, {"retry-after", "9"}}), 0) == 1.5);
  CHECK(*retry_after(response(429, {{"retry-after", "2"}}), 0) == 2);
  CHECK(*retry_after(response(429, {{"retry-after", "Thu, 01 Jan 1970 00:01:40 GMT"}}), 40) == 60);
  CHECK(*retry_after(response(429, {{"retry-after", "Thu, 01 Jan 1970 00:00:10 GMT"}}), 40) == 0);
  CHECK_FALSE(retry_after(response(429, {{"retry-after", "soon"}}), 0));
  CHECK(*go_duration("6m0s") == 360);
  CHECK(*go_duration("20ms") == doctest::Approx(0.02));
  CHECK(*go_duration("1h2m3.5s") == 3723.5);
  for (const char* bad : {"", "5", "s", "1x", "-1s"}) CHECK_FALSE(go_duration(bad));
}

TEST_CASE("rates hold a request back until its tokens are there, and headers lower them") {
  using Clock = RateLimit::Clock;
  const Clock::time_point begin{};
  const auto later = [&](double s) {
    return begin + std::chrono::duration_cast<Clock::duration>(std::chrono::duration<double>(s));
  };
  RateLimit rate(60, 6000, begin);
  CHECK(rate.wait(6000, begin) == 0);
  rate.take(6000, begin);
  CHECK(rate.wait(100, begin) == doctest::Approx(1));
  CHECK(rate.wait(100, later(1)) == doctest::Approx(0));
  rate.correct(6000, 3000);
  CHECK(rate.wait(3000, later(1)) == doctest::Approx(0));
  rate.hear(response(429, {{"x-ratelimit-remaining-requests", "0"},
                           {"x-ratelimit-reset-requests", "30s"}}),
            later(1));
  CHECK(rate.wait(1, later(1)) == doctest::Approx(30));
  CHECK(rate.wait(1, later(31)) == doctest::Approx(0));
  RateLimit unlimited(0, 0, begin);
  for (int i = 0; i < 1000; ++i) unlimited.take(1000, begin);
  CHECK(unlimited.wait(100000, begin) == 0);
}

TEST_CASE("profiles: built-in ones are sound, files overlay them and are checked") {
  for (const auto& [name, profile] : builtin_profiles()) {
    CAPTURE(name);
    CHECK(find_codec(profile.codec) != nullptr);
    CHECK((profile.base_url.empty() || profile.base_url.starts_with("https://") ||
           profile.base_url.starts_with("http://127.0.0.1")));
    CHECK(((profile.auth == Profile::Auth::none) == profile.key_env.empty()));
  }
  const Profile p = profile_from_json(
      json::parse(
          R"({"like":"vllm","model":"m","prices":{"input":2,"output":8},"capabilities":{"stream":false}})"),
      "p.json");
  CHECK(p.base_url == "http://127.0.0.1:8000/v1");
  CHECK_FALSE(p.can("stream"));
  CHECK(p.cost({.input = 1'000'000, .cached = 500'000, .output = 100'000, .known = true}) ==
        doctest::Approx(2.8));
  for (const char* bad :
       {R"({"codec":"x"})", R"({"like":"x"})", R"({"unknown":1})",
        R"({"prices":{"input":-1,"output":1}})", R"({"capabilities":{"fly":true}})",
        R"({"headers":{"A":"x\ny"}})", R"({"auth":"basic"})", R"({"limits":{"total":0}})"}) {
    CAPTURE(bad);
    CHECK_THROWS_AS(static_cast<void>(profile_from_json(json::parse(bad), "p.json")), Error);
  }
  CHECK_THROWS_WITH_AS(static_cast<void>(load_profile("opnai")), doctest::Contains("openai"),
                       Error);
}

TEST_SUITE_END();
