#include <doctest/doctest.h>

#include <chrono>
#include <nlohmann/json.hpp>
#include <thread>

#include "engine/spec/spec_load.h"
#include "moves/patch/patch.h"
#include "moves/propose/file_proposer.h"
#include "priors/llm/llm_proposer.h"
#include "priors/llm/options.h"
#include "register_moves.h"
#include "tests/support/http_server.h"
#include "tests/support/llm_client.h"
#include "tests/support/temporary_folder.h"

using namespace warpath;
using namespace warpath::llm;
using namespace warpath::test;
using nlohmann::json;

namespace {

const std::string kSource =
    "extern \"C\" __global__ void k(float* x, int n) {\n  int i = blockIdx.x * blockDim.x + "
    "threadIdx.x;\n  if (i < n) x[i] *= 2.0f;\n}\n";

KernelSpec small_spec() {
  KernelSpec spec;
  spec.name = "twice";
  spec.source = kSource;
  spec.kernel_name = "k";
  spec.workloads.emplace_back().name = "default";
  return spec;
}

MoveInstance legal_move() {
  return {.move = "unroll_loops", .site = "loop:0", .parameters = {{"factor", 4}}};
}

std::string choices(const std::vector<std::string>& moves) {
  json list = json::array();
  for (const std::string& m : moves) {
    list.push_back({{"move", m},
                    {"params", json::array()},
                    {"gain_lo", 1.1},
                    {"gain_hi", 1.5},
                    {"confidence", 0.7},
                    {"novelty", "safe"},
                    {"why", "because"}});
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
  return "Here it is.\n===KERNEL BEGIN " + id + "===\n```cuda\n" + source + "```\n===KERNEL END " +
         id + "===\nCLAIM precision=unchanged\n";
}

/// Offers the root of `small_spec`, and collects what comes.
struct Scene {
  explicit Scene(HttpServer::Handler handler)
      : Scene(std::make_shared<HttpServer>(std::move(handler)), {}) {}
  /// A session over the cassette of the ones before.
  Scene(std::shared_ptr<HttpServer> same_server, const std::filesystem::path& cassette)
      : server(std::move(same_server)),
        client({.url = server->url(),
                .cassette = cassette,
                .mode = cassette.empty() ? Cassette::Mode::live : Cassette::Mode::replay_or_live}),
        proposer(
            {.spec = spec,
             .device = device,
             .catalogue = {{"unroll_loops", "unrolls"}, {"tile_and_block", "tiles"}},
             .options = options,
             .client = *client.client,
             .profile = builtin_profiles().find("openai")->second,
             .patch = [](const std::string& source, const std::string& text, std::string& why) {
               return apply_patch(source, text, why);
             }}) {}

  void offer(std::uint64_t builds = 10) {
    const ProposalContext context{.at = {spec, variant, device}, .node_key = variant_key(variant)};
    const std::vector<Proposal> legal{{.instance = legal_move(),
                                       .weight = 1,
                                       .source = "rules",
                                       .variant = std::nullopt,
                                       .why = ""}};
    proposer.offer({.context = context,
                    .legal = legal,
                    .speedup = 1,
                    .best_speedup = 1,
                    .remaining_builds = builds});
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
  std::shared_ptr<HttpServer> server;
  TestClient client;
  LlmProposer proposer;
};

}  // namespace

TEST_SUITE_BEGIN("llm_proposer");

TEST_CASE("a model chooses among what is legal, and writes out what no rule can make") {
  const std::string better =
      "extern \"C\" __global__ void k(float* x, int n) {\n  int i = blockIdx.x * blockDim.x + "
      "threadIdx.x;\n  if (i < n) x[i] += x[i];\n}\n";
  Scene scene([&](const ReceivedRequest& r) {
    const std::string prompt = prompt_of(r.body);
    if (prompt.find("KERNEL BEGIN") != std::string::npos)
      return stream_reply("chat", {.text = written(prompt, better)});
    return stream_reply("chat", {.text = choices({legal_move().text(), "by_hand:tile_and_block",
                                                  "cuda_magic", legal_move().text()})});
  });
  scene.offer();
  const std::vector<Arrival> arrivals = scene.all();
  REQUIRE(arrivals.size() == 1);
  REQUIRE(arrivals[0].proposals.size() == 2);
  CHECK(arrivals[0].proposals[0].instance == legal_move());
  CHECK_FALSE(arrivals[0].proposals[0].variant);
  CHECK(arrivals[0].more);  // the source may have to be mended
  const Proposal& p = arrivals[0].proposals[1];
  CHECK(p.instance.move == "tile_and_block");
  CHECK(p.instance.parameters.at("text") == text_parameter(*p.variant));
  CHECK(p.variant->source == better);
  CHECK(p.predicted_log_gain > 0);
  CHECK(scene.proposer.figures().dropped.at("choice_unknown_move") == 1);
  CHECK(scene.proposer.figures().dropped.at("choice_repeated") == 1);
  const auto requests = scene.server->requests();
  REQUIRE(requests.size() == 2);
  const json first = json::parse(requests[0].body);
  CHECK(first["response_format"]["json_schema"]["schema"]["properties"]["choices"]["items"]
             ["properties"]["move"]["enum"][0] == legal_move().text());
  // the prefix that providers keep
  CHECK(first["messages"][0] == json::parse(requests[1].body)["messages"][0]);
  CHECK(requests[0].body.find("twice") != std::string::npos);
  scene.offer();  // asked once
  CHECK(scene.all().empty());
  CHECK(scene.server->requests().size() == 2);
}

TEST_CASE("garbage of every kind ends without a proposal, in few calls") {
  for (const std::string& text :
       {std::string("I cannot help."), std::string("{}"), std::string("{\"choices\": 7}"),
        choices({"no", "such"}), std::string(20000, '{'), std::string("\xFF\xFE")}) {
    CAPTURE(text.substr(0, 40));
    Scene scene([&](const ReceivedRequest&) {
      return ServerReply{.pieces = {chat_stream({.text = text[0] == '\xFF' ? "?" : text})}};
    });
    scene.offer();
    const std::vector<Arrival> arrivals = scene.all();
    REQUIRE(arrivals.size() == 1);  // the node was asked about
    CHECK(arrivals[0].proposals.empty());
    CHECK_FALSE(arrivals[0].more);
    CHECK(scene.server->requests().size() <= 2);
  }
}

TEST_CASE(
    "a source that does not apply, and one that fails, are mended a few times by the same move; a "
    "gate's figures are not told") {
  int sources = 0;
  Scene scene([&](const ReceivedRequest& r) {
    const std::string prompt = prompt_of(r.body);
    if (prompt.find("KERNEL BEGIN") == std::string::npos)
      return stream_reply("chat", {.text = choices({"by_hand:other"})});
    ++sources;
    if (sources == 1) return stream_reply("chat", {.text = "no sentinels"});
    return stream_reply(
        "chat", {.text = written(prompt, "extern \"C\" __global__ void k(float* x, int n) { x[" +
                                             std::to_string(sources) + "] = 0; }\n")});
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
    wrong.verdict.gates = {{.gate = "reference",
                            .answer = GateResult::Answer::fail,
                            .detail = "error 0.5 above 1e-5 with seed 777"}};
    scene.proposer.learn({.parent_key = variant_key(scene.variant),
                          .key = variant_key(*proposals[0].variant),
                          .instance = proposals[0].instance,
                          .source = "llm",
                          .variant = *proposals[0].variant,
                          .outcome = wrong,
                          .parent_speedup = 1});
  }
  CHECK(sources == 1 + scene.options.repairs);
  for (const ReceivedRequest& r : scene.server->requests()) {
    CHECK(r.body.find("12345") == std::string::npos);
    CHECK(r.body.find("777") == std::string::npos);
  }
  CHECK(scene.server->requests().back().body.find("refused by gate reference") !=
        std::string::npos);
  CHECK(scene.proposer.figures().failed == 3);
}

TEST_CASE(
    "a session that follows a killed one takes what was paid for, though its prompts tell more, "
    "and goes on from there") {
  const TemporaryFolder folder;
  const auto cassette = folder / "llm.jsonl";
  int sources = 0;
  const auto server = std::make_shared<HttpServer>([&](const ReceivedRequest& r) {
    const std::string prompt = prompt_of(r.body);
    if (prompt.find("KERNEL BEGIN") == std::string::npos)
      return stream_reply("chat", {.text = choices({"by_hand:other", legal_move().text()})});
    return stream_reply(
        "chat", {.text = written(prompt, "extern \"C\" __global__ void k(float* x, int n) { x[" +
                                             std::to_string(++sources) + "] = 0; }\n")});
  });
  const auto only = [](const std::vector<Arrival>& arrivals) {
    REQUIRE(arrivals.size() == 1);
    return arrivals[0].proposals;
  };
  const Variant root = baseline_variant(small_spec());
  const auto fails = [&](LlmProposer& proposer, const Proposal& p) {
    Outcome wrong;
    wrong.status = Status::wrong_result;
    proposer.learn({.parent_key = variant_key(root),
                    .key = variant_key(*p.variant),
                    .instance = p.instance,
                    .source = "llm",
                    .variant = *p.variant,
                    .outcome = wrong,
                    .parent_speedup = 1});
  };
  std::vector<Proposal> told;
  {
    Scene first(server, cassette);
    first.offer();
    told = only(first.all());
    REQUIRE(told.size() == 2);
    fails(first.proposer, told[1]);
    const auto mended = only(first.all());  // asked for, answered, and lost with the process
    REQUIRE(mended.size() == 1);
  }
  CHECK(server->requests().size() == 3);
  Scene second(server, cassette);
  fails(second.proposer, told[1]);
  Outcome slow;
  second.proposer.learn({.parent_key = Hash128{1, 2},
                         .key = Hash128{3, 4},
                         .instance = legal_move(),
                         .source = "rules",
                         .variant = root,
                         .outcome = slow,
                         .speedup = 0.5,
                         .parent_speedup = 1});
  second.offer();
  const auto again = only(second.all());
  CHECK(server->requests().size() == 3);
  REQUIRE(again.size() == 2);  // the move, and the mended source
  CHECK(again[0].instance == legal_move());
  CHECK(again[1].variant->source.find("x[2]") != std::string::npos);
  fails(second.proposer, again[1]);
  CHECK(only(second.all()).size() == 1);  // and now it is paid for again
  CHECK(server->requests().size() == 4);
}

TEST_CASE(
    "nodes far behind the best, and answers that could not be tried any more, are not paid for") {
  Scene scene([](const ReceivedRequest&) { return stream_reply("chat", {.text = "{}"}); });
  scene.offer(0);
  CHECK(scene.all().empty());
  CHECK(scene.server->requests().empty());
}

TEST_CASE(
    "proposals of a file: sources and blocks become variants, moves stay moves, and what does not "
    "apply is named") {
  KernelSpec spec = small_spec();
  spec.tunables.push_back({.name = "BLOCK", .values = {64, 128}, .default_value = 64, .help = ""});
  const Variant root = baseline_variant(spec);
  const DeviceFacts device;
  const MoveRegistry& registry = registered_moves();
  const MoveTable moves(registry);
  const auto line = [](json j) { return foreign_proposal(j.dump(), "p.jsonl:1", ""); };
  const auto made = [&](json j) {
    return made_for(line(std::move(j)), {spec, root, device}, moves);
  };
  const MadeProposal blocks = made({{"move", "add"},
                                    {"blocks",
                                     "<<<<<<< SEARCH\n  if (i < n) x[i] *= 2.0f;\n=======\n  if (i "
                                     "< n) x[i] += x[i];\n>>>>>>> REPLACE\n"},
                                    {"gain", 2}});
  REQUIRE(blocks.proposal.variant);
  CHECK(*blocks.proposal.variant == blocks.variant);
  CHECK(blocks.variant.source.find("+= x[i]") != std::string::npos);
  CHECK(blocks.proposal.instance.parameters.at("text") == text_parameter(blocks.variant));
  const MadeProposal move = made({{"move", "set_tunable"}});
  CHECK_FALSE(move.proposal.variant);
  CHECK(move.proposal.instance.move == "set_tunable");
  CHECK(move.variant.tunables.at("BLOCK") == 128);
  for (const json& useless : {json{{"move", "x"}, {"source", "no kernel"}}, json{{"move", "x"}},
                              json{{"move", "unroll_loops"}, {"site", "loop:7"}},
                              json{{"move", "x"}, {"source", kSource}}}) {
    CAPTURE(useless.dump());
    CHECK_THROWS_WITH_AS(static_cast<void>(made(useless)), doctest::Contains("p.jsonl:1"), Error);
  }
  for (const json& bad :
       {json{{"source", "x"}}, json{{"move", "a"}, {"source", "x"}, {"blocks", "y"}},
        json{{"move", "a"}, {"unknown", 1}}, json{{"move", "a"}, {"source", ""}},
        json{{"move", "a"}, {"source_file", "no_such.cu"}}, json{{"move", "a"}, {"at", "best"}},
        json{{"move", "a"}, {"gain", 0}}, json{{"move", "a"}, {"parameters", {{"x", 1.5}}}},
        json{{"move", "a"}, {"launch", {{"grid", 1}}}}}) {
    CAPTURE(bad.dump());
    CHECK_THROWS_AS(static_cast<void>(line(bad)), Error);
  }
}

TEST_SUITE_END();
