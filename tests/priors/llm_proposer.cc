#include <doctest/doctest.h>

#include <chrono>
#include <nlohmann/json.hpp>
#include <thread>

#include "engine/spec_load.h"
#include "moves/file_proposer.h"
#include "moves/patch.h"
#include "priors/llm/llm_proposer.h"
#include "tests/support/http_server.h"
#include "tests/support/llm_client.h"

using namespace warpath;
using namespace warpath::llm;
using namespace warpath::test;
using nlohmann::json;

namespace {

const std::string kSource = "extern \"C\" __global__ void k(float* x, int n) {\n  int i = blockIdx.x * blockDim.x + threadIdx.x;\n  if (i < n) x[i] *= 2.0f;\n}\n";

KernelSpec small_spec() {
  KernelSpec spec;
  spec.name = "twice";
  spec.source = kSource;
  spec.kernel_name = "k";
  spec.workloads.push_back({.name = "default"});
  return spec;
}

MoveInstance legal_move() { return {.move = "unroll_loops", .site = "loop:0", .parameters = {{"factor", 4}}}; }

std::string choices(const std::vector<std::string>& moves) {
  json list = json::array();
  for (const std::string& m : moves) {
    list.push_back({{"move", m}, {"params", json::array()}, {"gain_lo", 1.1}, {"gain_hi", 1.5}, {"confidence", 0.7}, {"novelty", "safe"}, {"why", "because"}});
  }
  return json{{"bottleneck", "memory"}, {"choices", list}, {"stop", false}}.dump();
}

/// The nonce that the last request of a source names.
std::string nonce_in(const std::string& prompt) {
  const std::size_t at = prompt.rfind("===KERNEL BEGIN ") + 16;
  return prompt.substr(at, prompt.find("===", at) - at);
}

std::string written(const std::string& prompt, const std::string& source) {
  const std::string id = nonce_in(prompt);
  return "Here it is.\n===KERNEL BEGIN " + id + "===\n```cuda\n" + source + "```\n===KERNEL END " + id + "===\nCLAIM precision=unchanged\n";
}

/// Offers the root of `small_spec`, and collects what comes.
struct Scene {
  explicit Scene(HttpServer::Handler handler)
      : server(std::move(handler)),
        client({.url = server.url()}),
        proposer({.spec = spec,
                  .device = device,
                  .catalogue = {{"unroll_loops", "unrolls"}, {"tile_and_block", "tiles"}},
                  .options = options,
                  .client = *client.client,
                  .profile = builtin_profiles().find("openai")->second,
                  .patch = [](const std::string& source, const std::string& text, std::string& why) { return apply_patch(source, text, why); }}) {}

  void offer(std::uint64_t builds = 10) {
    const ProposalContext context{.at = {spec, variant, device}, .node_key = variant_key(variant)};
    const std::vector<Proposal> legal{{.instance = legal_move(), .weight = 1, .source = "rules", .variant = std::nullopt, .why = ""}};
    proposer.offer({.context = context, .legal = legal, .speedup = 1, .best_speedup = 1, .remaining_builds = builds});
  }
  std::vector<Arrival> all() {
    const auto end = std::chrono::steady_clock::now() + std::chrono::seconds(30);
    while (proposer.waiting() && std::chrono::steady_clock::now() < end) std::this_thread::yield();
    CHECK_FALSE(proposer.waiting());
    return proposer.take();
  }

  KernelSpec spec = small_spec();
  DeviceFacts device;
  LlmOptions options;
  Variant variant = baseline_variant(spec);
  HttpServer server;
  TestClient client;
  LlmProposer proposer;
};

}  // namespace

TEST_SUITE_BEGIN("llm_proposer");

TEST_CASE("a model chooses among what is legal, and writes out what no rule can make") {
  const std::string better = "extern \"C\" __global__ void k(float* x, int n) {\n  int i = blockIdx.x * blockDim.x + threadIdx.x;\n  if (i < n) x[i] += x[i];\n}\n";
  Scene scene([&](const ReceivedRequest& r) {
    const std::string prompt = prompt_of(r.body);
    if (prompt.find("KERNEL BEGIN") != std::string::npos) return stream_reply("chat", {.text = written(prompt, better)});
    return stream_reply("chat", {.text = choices({legal_move().text(), "by_hand:tile_and_block", "cuda_magic", legal_move().text()})});
  });
  scene.offer();
  const std::vector<Arrival> arrivals = scene.all();
  REQUIRE(arrivals.size() == 2);
  REQUIRE(arrivals[0].proposals.size() == 1);
  CHECK(arrivals[0].proposals[0].instance == legal_move());
  CHECK_FALSE(arrivals[0].proposals[0].variant);
  REQUIRE(arrivals[1].proposals.size() == 1);
  const Proposal& p = arrivals[1].proposals[0];
  CHECK(p.instance.move == "tile_and_block");
  CHECK(p.instance.parameters.at("text") == text_parameter(*p.variant));
  CHECK(p.variant->source == better);
  CHECK(p.predicted_log_gain > 0);
  CHECK(scene.proposer.figures().dropped.at("choice_unknown_move") == 1);
  CHECK(scene.proposer.figures().dropped.at("choice_repeated") == 1);
  const auto requests = scene.server.requests();
  REQUIRE(requests.size() == 2);
  const json first = json::parse(requests[0].body);
  CHECK(first["response_format"]["json_schema"]["schema"]["properties"]["choices"]["items"]["properties"]["move"]["enum"][0] == legal_move().text());
  CHECK(first["messages"][0] == json::parse(requests[1].body)["messages"][0]);  // the prefix that providers keep
  CHECK(requests[0].body.find("twice") != std::string::npos);
  scene.offer();  // asked once
  CHECK(scene.all().empty());
  CHECK(scene.server.requests().size() == 2);
}

TEST_CASE("garbage of every kind ends without a proposal, in few calls") {
  for (const std::string& text : {std::string("I cannot help."), std::string("{}"), std::string("{\"choices\": 7}"), choices({"no", "such"}), std::string(20000, '{'), std::string("\xFF\xFE")}) {
    CAPTURE(text.substr(0, 40));
    Scene scene([&](const ReceivedRequest&) { return ServerReply{.pieces = {chat_stream({.text = text[0] == '\xFF' ? "?" : text})}}; });
    scene.offer();
    std::size_t proposals = 0;
    for (const Arrival& a : scene.all()) proposals += a.proposals.size();
    CHECK(proposals == 0);
    CHECK(scene.server.requests().size() <= 2);
  }
}

TEST_CASE("a source that does not apply, and one that fails, are mended a few times by the same move; a gate's figures are not told") {
  int sources = 0;
  Scene scene([&](const ReceivedRequest& r) {
    const std::string prompt = prompt_of(r.body);
    if (prompt.find("KERNEL BEGIN") == std::string::npos) return stream_reply("chat", {.text = choices({"by_hand:other"})});
    ++sources;
    if (sources == 1) return stream_reply("chat", {.text = "no sentinels"});
    return stream_reply("chat", {.text = written(prompt, "extern \"C\" __global__ void k(float* x, int n) { x[" + std::to_string(sources) + "] = 0; }\n")});
  });
  scene.offer();
  for (int round = 1; round <= 5; ++round) {
    std::vector<Proposal> proposals;
    for (Arrival& a : scene.all()) {
      for (Proposal& p : a.proposals) proposals.push_back(std::move(p));
    }
    if (proposals.empty()) break;
    REQUIRE(proposals.size() == 1);
    Outcome wrong;
    wrong.status = Status::wrong_result;
    wrong.log = "element 12345 of a secret shape";
    wrong.verdict.gates = {{.gate = "d2", .answer = GateResult::Answer::fail, .detail = "error 0.5 above 1e-5 with seed 777"}};
    scene.proposer.learn({.parent_key = variant_key(scene.variant),
                          .key = variant_key(*proposals[0].variant),
                          .instance = proposals[0].instance,
                          .source = "llm",
                          .variant = *proposals[0].variant,
                          .outcome = wrong,
                          .parent_speedup = 1});
  }
  CHECK(sources == 1 + scene.options.repairs);
  for (const ReceivedRequest& r : scene.server.requests()) {
    CHECK(r.body.find("12345") == std::string::npos);
    CHECK(r.body.find("777") == std::string::npos);
  }
  CHECK(scene.server.requests().back().body.find("refused by gate d2") != std::string::npos);
  CHECK(scene.proposer.figures().failed == 3);
}

TEST_CASE("nodes far behind the best, and answers that could not be tried any more, are not paid for") {
  Scene scene([](const ReceivedRequest&) { return stream_reply("chat", {.text = "{}"}); });
  scene.offer(0);
  CHECK(scene.all().empty());
  CHECK(scene.server.requests().empty());
}

TEST_CASE("proposals of a file: sources and blocks become variants, moves stay moves, and what does not apply is named") {
  const KernelSpec spec = small_spec();
  const Variant root = baseline_variant(spec);
  const auto line = [](json j) { return foreign_proposal(j.dump(), "p.jsonl:1"); };
  const Proposal blocks = made_for(line({{"move", "add"}, {"blocks", "<<<<<<< SEARCH\n  if (i < n) x[i] *= 2.0f;\n=======\n  if (i < n) x[i] += x[i];\n>>>>>>> REPLACE\n"}, {"gain", 2}}), root);
  REQUIRE(blocks.variant);
  CHECK(blocks.variant->source.find("+= x[i]") != std::string::npos);
  CHECK(blocks.instance.parameters.contains("text"));
  CHECK_FALSE(made_for(line({{"move", "unroll_loops"}, {"site", "loop:0"}, {"parameters", {{"factor", 2}}}}), root).variant);
  CHECK_THROWS_WITH_AS(static_cast<void>(made_for(line({{"move", "x"}, {"source", "no kernel"}}), root)), doctest::Contains("p.jsonl:1"), Error);
  for (const json& bad : {json{{"source", "x"}}, json{{"move", "a"}, {"source", "x"}, {"blocks", "y"}}, json{{"move", "a"}, {"unknown", 1}}, json{{"move", "a"}, {"at", "best"}},
                          json{{"move", "a"}, {"gain", 0}}, json{{"move", "a"}, {"parameters", {{"x", 1.5}}}}, json{{"move", "a"}, {"launch", {{"grid", 1}}}}}) {
    CAPTURE(bad.dump());
    CHECK_THROWS_AS(static_cast<void>(line(bad)), Error);
  }
}

TEST_SUITE_END();
