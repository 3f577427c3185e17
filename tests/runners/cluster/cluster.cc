#include "runners/cluster/cluster.h"

#include <doctest/doctest.h>

#include <condition_variable>
#include <limits>
#include <nlohmann/json.hpp>
#include <set>

#include "engine/plugin/variant_io.h"
#include "engine/spec/spec_load.h"
#include "runners/cluster/access_key.h"
#include "runners/cluster/cluster_runner.h"
#include "tests/runners/cluster/scripted_members.h"
#include "tests/support/campaign_bench.h"

using namespace warpath;
using namespace warpath::test;
using namespace std::chrono_literals;

namespace {

ScriptedMember answering(std::function<Outcome(const RunRequest&, std::stop_token)> body) {
  ScriptedMember script;
  script.body = std::move(body);
  return script;
}

ScriptedMember seconds_are_seeds() {
  return answering([](const RunRequest& request, std::stop_token) {
    return good_outcome(static_cast<double>(request.seed));
  });
}

cluster::OpenRunner runner_named(const std::string& name) {
  cluster::OpenRunner out;
  out.runner = name;
  return out;
}

void prepare(ScriptedCluster& cluster) {
  static_cast<void>(cluster.members.open(runner_named("scripted")));
  static_cast<void>(cluster.members.prepare(to_json(storing_spec()).dump()));
}

cluster::RunVariant request_with(std::uint64_t seed) {
  cluster::RunVariant out;
  out.variant = to_json(Variant{}).dump();
  out.seed = seed;
  return out;
}

/// Within half a minute.
template <class Holds>
bool becomes(const Holds& holds) {
  for (int i = 0; i < 3000 && !holds(); ++i) std::this_thread::sleep_for(10ms);
  return holds();
}

double figure(const ScriptedCluster& cluster, const char* name) {
  return cluster.members.figures().at(name);
}

/// Joins with the key, and from then on does only what a test says.
class HandMadeMember {
 public:
  explicit HandMadeMember(const ScriptedCluster& cluster)
      : socket(cluster::Socket::connect("localhost", cluster.port(), 5s)) {
    cluster::Join join;
    join.key = cluster::read_key(cluster.key_file());
    join.version = "one";
    join.host = "by hand";
    REQUIRE(socket.write(encode(cluster::MemberMessage(join))));
  }
  /// The next message that is a `T`.
  template <class T>
  T next() {
    while (true) {
      std::string frame;
      cluster::EngineMessage message;
      REQUIRE(socket.read(frame) == FrameStatus::done);
      REQUIRE(decode(frame, message));
      if (const T* const one = std::get_if<T>(&message)) return *one;
    }
  }
  void answer(const cluster::MemberMessage& message) { REQUIRE(socket.write(encode(message))); }
  /// Answers everything up to the first evaluation.
  void get_ready() {
    cluster::RunnerOpened opened;
    opened.turn = next<cluster::OpenRunner>().turn;
    opened.facts = {.runner = "scripted", .name = "a device", .arch = ""};
    opened.lanes = 1;
    answer(opened);
    cluster::SpecPrepared prepared;
    prepared.turn = next<cluster::PrepareSpec>().turn;
    prepared.kind = "driver 1";
    answer(prepared);
  }
  cluster::Socket socket;
};

}  // namespace

TEST_SUITE_BEGIN("cluster");

TEST_CASE("work begins with the first member that joins, and late ones are added") {
  ScriptedCluster cluster(3);
  cluster.join(seconds_are_seeds());
  prepare(cluster);
  CHECK(becomes([&] { return cluster.facts.asked == 3; }));
  CHECK(cluster.members.width() == 3);
  CHECK(cluster.members.useful() == 1);
  CHECK(cluster.members.run(request_with(7), {})->run_seconds == 7);
  cluster.join(seconds_are_seeds());
  CHECK(becomes([&] { return cluster.members.useful() == 2; }));
}

TEST_CASE(
    "a member that joins while specs are prepared is welcomed first, and then given each once") {
  ScriptedCluster cluster(64);
  cluster.join(seconds_are_seeds());
  prepare(cluster);
  const std::jthread busy([&](const std::stop_token& stop) {
    while (!stop.stop_requested())
      static_cast<void>(cluster.members.prepare(to_json(storing_spec()).dump()));
  });
  for (int i = 0; i < 300; ++i) {
    HandMadeMember member(cluster);
    std::string frame;
    cluster::EngineMessage message;
    REQUIRE(member.socket.read(frame) == FrameStatus::done);
    REQUIRE(decode(frame, message));
    CHECK(std::holds_alternative<cluster::Welcome>(message));
    std::uint64_t last = member.next<cluster::OpenRunner>().turn;
    for (int specs = 0; specs < 3; ++specs) {
      const std::uint64_t turn = member.next<cluster::PrepareSpec>().turn;
      CHECK(turn > last);
      last = turn;
    }
  }
}

TEST_CASE("evaluations spread over the lanes of all members, and each comes back with its own") {
  ScriptedCluster cluster(2);
  std::mutex mutex;
  std::condition_variable changed;
  int running = 0;
  ScriptedMember script = answering([&](const RunRequest& request, std::stop_token) {
    std::unique_lock lock(mutex);
    ++running;
    changed.notify_all();
    changed.wait(lock, [&] { return running >= 4; });  // two members of two lanes: all at once
    return good_outcome(static_cast<double>(request.seed));
  });
  script.lanes = 2;
  cluster.join(script);
  cluster.join(script);
  prepare(cluster);
  REQUIRE(becomes([&] { return cluster.members.useful() == 4; }));
  std::vector<std::jthread> threads;
  std::atomic<int> right = 0;
  for (std::uint64_t i = 0; i < 4; ++i) {
    threads.emplace_back([&, i] {
      const auto outcome = cluster.members.run(request_with(i), {});
      right += outcome && outcome->run_seconds == static_cast<double>(i) ? 1 : 0;
    });
  }
  threads.clear();
  CHECK(right == 4);
}

TEST_CASE("an outcome arrives as it was made, whatever its numbers and texts") {
  Outcome made = good_outcome(std::numeric_limits<double>::infinity());
  made.log = std::string("a\0b\xff", 4);
  made.binary_key = "key";
  made.verdict.gates = {{.gate = "reference", .answer = GateResult::Answer::pass, .detail = "x"}};
  made.timings = {{.workload = "w",
                   .samples_ns = {1.5, 0.1},
                   .launch = {.grid = {7, 1, 1}},
                   .cache = "hot",
                   .baseline_samples_ns = {3}}};
  made.diagnosis.emplace().facts["registers"] = {32, FactSource::static_analysis};
  ScriptedCluster cluster(1);
  cluster.join(answering([&](const RunRequest&, std::stop_token) { return made; }));
  prepare(cluster);
  CHECK(cluster.members.run(request_with(1), {}) == made);
}

TEST_CASE("a member gets the spec, the variant and all of the request that the runner was given") {
  const KernelSpec spec = storing_spec();
  Variant variant, other;
  variant.source = "one\n";
  variant.tunables["BLOCK"] = 64;
  other.source = "other";
  ScriptedCluster cluster(1);
  bool same = false;
  cluster.join(answering([&](const RunRequest& request, std::stop_token) {
    same = to_json(request.spec) == to_json(spec) && request.variant == variant &&
           request.key == hash128("key") && request.seed == 11 && request.incumbent_ns == 2.5 &&
           request.stage == Stage::final && request.searched_ns == 3.5 &&
           request.against != nullptr && *request.against == other && request.seconds_left == 9;
    return good_outcome();
  }));
  // The cluster is the test's own: the runner only refers to it.
  const std::shared_ptr<cluster::Cluster> members(&cluster.members, [](cluster::Cluster*) {});
  const Options options;
  const auto runner = cluster_runner(members, "scripted", "", options, nullptr);
  CHECK(runner->device().name == "a device");
  runner->prepare(spec);
  CHECK(runner->platform_kind() == "driver 1");
  const Outcome outcome = runner->run({.spec = spec,
                                       .variant = variant,
                                       .key = hash128("key"),
                                       .seed = 11,
                                       .incumbent_ns = 2.5,
                                       .stage = Stage::final,
                                       .searched_ns = 3.5,
                                       .against = &other,
                                       .seconds_left = 9},
                                      {});
  CHECK(outcome.status == Status::ok);
  CHECK(same);
  REQUIRE(runner->drafts());
  CHECK(runner->draft(spec, variant, {})->facts.at("registers").value == 4);
  CHECK(runner->draft(spec, Variant{}, {}) == nullptr);
}

TEST_CASE("what a lost member was doing is evaluated elsewhere") {
  ScriptedCluster cluster(2);
  std::jthread by_hand([&] {
    HandMadeMember member(cluster);
    member.get_ready();
    static_cast<void>(member.next<cluster::RunVariant>());
    cluster.join(seconds_are_seeds());
    member.socket.shut_down();
  });
  prepare(cluster);
  CHECK(cluster.members.run(request_with(5), {})->run_seconds == 5);
  CHECK(figure(cluster, "members_lost") == 1);
  CHECK(figure(cluster, "evaluated_again") == 1);
}

TEST_CASE("a variant that three members were lost over counts as crashed") {
  ScriptedCluster cluster(3);
  std::jthread by_hand([&] {
    for (int i = 0; i < 3; ++i) {
      HandMadeMember member(cluster);
      member.get_ready();
      static_cast<void>(member.next<cluster::RunVariant>());
    }
  });
  prepare(cluster);
  const auto outcome = cluster.members.run(request_with(5), {});
  REQUIRE(outcome.has_value());
  CHECK(outcome->status == Status::crashed);
  CHECK(figure(cluster, "members_lost") == 3);
}

TEST_CASE("a member whose runner is broken is let go, and the evaluation goes elsewhere") {
  ScriptedCluster cluster(2);
  cluster.join(answering([&](const RunRequest&, std::stop_token) -> Outcome {
    cluster.join(seconds_are_seeds());
    throw environment_error("the device is gone");
  }));
  prepare(cluster);
  CHECK(cluster.members.run(request_with(3), {})->run_seconds == 3);
  CHECK(figure(cluster, "members_lost") == 1);
}

TEST_CASE("an exception of the runner is the candidate's fault, as on one machine") {
  ScriptedCluster cluster(1);
  cluster.join(answering([](const RunRequest&, std::stop_token) -> Outcome {
    throw std::runtime_error("what a kernel did");
  }));
  prepare(cluster);
  const auto outcome = cluster.members.run(request_with(3), {});
  CHECK(outcome->status == Status::crashed);
  CHECK(outcome->log == "runner scripted failed: what a kernel did");
}

TEST_CASE("a member that answers nothing is lost after the time of silence") {
  ScriptedCluster cluster(2, 1);
  std::jthread by_hand([&] {
    HandMadeMember member(cluster);
    member.get_ready();
    static_cast<void>(member.next<cluster::RunVariant>());
    static_cast<void>(member.next<cluster::Ping>());
    cluster.join(seconds_are_seeds());
    std::string frame;
    while (member.socket.read(frame) == FrameStatus::done) {
    }
  });
  prepare(cluster);
  CHECK(cluster.members.run(request_with(5), {})->run_seconds == 5);
}

TEST_CASE("a member that is busy answers for itself, however long an evaluation takes") {
  ScriptedCluster cluster(1, 1);
  cluster.join(answering([](const RunRequest&, std::stop_token) {
    std::this_thread::sleep_for(3s);
    return good_outcome();
  }));
  prepare(cluster);
  CHECK(cluster.members.run(request_with(5), {})->status == Status::ok);
  CHECK(figure(cluster, "members_lost") == 0);
}

TEST_CASE("a stop abandons the evaluation here and there") {
  ScriptedCluster cluster(1);
  std::atomic<bool> stopped = false;
  std::stop_source stop;
  cluster.join(answering([&](const RunRequest&, std::stop_token token) {
    stop.request_stop();
    stopped = becomes([&] { return token.stop_requested(); });
    return good_outcome();
  }));
  prepare(cluster);
  CHECK_FALSE(cluster.members.run(request_with(5), stop.get_token()).has_value());
  CHECK(becomes([&] { return stopped.load(); }));
}

TEST_CASE("what waits at a member, or for one, is withdrawn; what is measured is not") {
  ScriptedCluster cluster(1);
  std::stop_source once, again;
  cluster.join(answering([&](const RunRequest& request, std::stop_token) {
    (request.seed == 5 ? once : again).request_stop();
    const bool told = becomes([&] { return request.withdrawn.stop_requested(); });
    Outcome outcome = good_outcome();
    if (told && request.seed == 5) outcome.status = Status::not_measured;
    return outcome;
  }));
  prepare(cluster);
  const auto waiting = cluster.members.run(request_with(5), {}, once.get_token());
  CHECK(waiting->status == Status::not_measured);
  const auto measured = cluster.members.run(request_with(6), {}, again.get_token());
  CHECK(measured->status == Status::ok);
  CHECK_FALSE(cluster.members.run(request_with(7), {}, again.get_token()).has_value());
}

TEST_CASE("who has not the key gets no answer; who is of another revision is told") {
  ScriptedCluster cluster(1);
  std::jthread opening([&] { prepare(cluster); });
  cluster::Join join;
  join.version = "one";
  for (const std::string& key : {std::string(), std::string(64, '0')}) {
    cluster::Socket stranger = cluster::Socket::connect("localhost", cluster.port(), 5s);
    join.key = key;
    REQUIRE(stranger.write(encode(cluster::MemberMessage(join))));
    std::string frame;
    CHECK(stranger.read(frame) == FrameStatus::closed);
  }
  for (const std::string& bytes :
       {std::string("GET / HTTP/1.1\r\n\r\n"), encode(cluster::MemberMessage(cluster::Pong{})),
        std::string("WPf1\xff\xff\xff\xff\xff\xff\xff\x7f", 12)}) {
    cluster::Socket stranger = cluster::Socket::connect("localhost", cluster.port(), 5s);
    REQUIRE(stranger.write(bytes));
    std::string frame;
    CHECK(stranger.read(frame) != FrameStatus::done);
  }
  cluster.join(seconds_are_seeds(), "two");
  CHECK(becomes([&] { return cluster.exit_code == 3; }));
  CHECK(figure(cluster, "members_lost") == 1);
  cluster.join(seconds_are_seeds());
  opening.join();
  CHECK(cluster.members.run(request_with(4), {})->run_seconds == 4);
}

TEST_CASE("members with another device or platform than the first are refused") {
  ScriptedCluster cluster(3);
  cluster.join(seconds_are_seeds());
  prepare(cluster);
  ScriptedMember other = seconds_are_seeds();
  other.device = "another device";
  cluster.join(other);
  CHECK(becomes([&] { return figure(cluster, "members_lost") == 1; }));
  other = seconds_are_seeds();
  other.kind = "driver 2";
  cluster.join(other);
  CHECK(becomes([&] { return figure(cluster, "members_lost") == 2; }));
  CHECK(figure(cluster, "members") == 1);
}

TEST_CASE("a wrong spec or runner is refused with the member's words, as on one machine") {
  ScriptedCluster cluster(1);
  ScriptedMember script = seconds_are_seeds();
  script.prepare = [](const KernelSpec&) { throw bad_input("/reference", "x", "another"); };
  cluster.join(script);
  const auto bad = [](const auto& call) {
    try {
      call();
    } catch (const Error& error) {
      return error.code() == ErrorCode::bad_input ? std::string(error.what()) : "other";
    }
    return std::string("none");
  };
  CHECK(bad([&] { prepare(cluster); }) == "/reference: got x, expected another");
  cluster.join(seconds_are_seeds());
  CHECK(bad([&] { static_cast<void>(cluster.members.open(runner_named("other"))); }) ==
        "--runner: got other, expected scripted");
}

TEST_CASE("without a member that works the reason of the last one ends the wait") {
  ScriptedCluster cluster(1);
  ScriptedMember script = seconds_are_seeds();
  script.prepare = [&](const KernelSpec&) {
    --cluster.facts.alive;
    throw environment_error("there is no GPU");
  };
  std::jthread joining([&] {
    for (int i = 0; i < 3; ++i) {
      REQUIRE(becomes([&] { return cluster.facts.asked > i; }));
      cluster.join(script);
      const double lost = i + 1;
      REQUIRE(becomes([&] { return figure(cluster, "members_lost") == lost; }));
    }
  });
  CHECK_THROWS_WITH_AS(prepare(cluster), doctest::Contains("there is no GPU"), Error);
  CHECK(cluster.facts.asked == 3);
}

TEST_CASE("what ends before it joins is asked for again only so often") {
  ScriptedCluster cluster(2);
  cluster.facts.words = "warpath: no such file";
  std::jthread ending([&](const std::stop_token& stop) {
    while (!stop.stop_requested()) {
      cluster.facts.alive = 0;
      std::this_thread::sleep_for(10ms);
    }
  });
  CHECK_THROWS_WITH_AS(prepare(cluster), doctest::Contains("no such file"), Error);
  CHECK(cluster.facts.asked == 4);
}

TEST_CASE("another runner and another spec take the place of the first on the same members") {
  ScriptedCluster cluster(1);
  std::vector<std::string> prepared;
  ScriptedMember script = seconds_are_seeds();
  script.prepare = [&](const KernelSpec& spec) { prepared.push_back(spec.name); };
  cluster.join(script);
  KernelSpec spec = storing_spec();
  for (const char* const name : {"first", "second"}) {
    spec.name = name;
    static_cast<void>(cluster.members.open(runner_named("scripted")));
    static_cast<void>(cluster.members.prepare(to_json(spec).dump()));
    CHECK(cluster.members.run(request_with(2), {})->run_seconds == 2);
  }
  CHECK(prepared == std::vector<std::string>{"first", "second"});
  CHECK(figure(cluster, "members_lost") == 0);
}

TEST_SUITE_END();
