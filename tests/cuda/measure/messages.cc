#include "runners/cuda/measure/messages.h"

#include <doctest/doctest.h>

#include "engine/base/rng.h"

using namespace warpath;
using namespace warpath::cuda;

namespace {

Candidate candidate() {
  Candidate c;
  c.key = "0123";
  c.codes = {{std::string("\x7f"
                          "ELF\0code",
                          9),
              "_Z4copyPf",
              {"table", "counter"},
              ".version 9.0",
              true,
              {"second"}}};
  c.code_of = {0, 0};
  c.numbers.resize(2);
  c.numbers[1] = {
      .grid = {4, 5, 6}, .block = {32, 2, 1}, .cluster = {2, 1, 1}, .dynamic_smem_bytes = 70000};
  c.extras.resize(2);
  c.extras[1].scratch_bytes = {4096, 1};
  c.extras[1].before = {
      {.kind = LaunchStep::Kind::zero, .kernel_name = "", .launch = {}, .arguments = {3, 1}}};
  c.extras[1].after = {{.kind = LaunchStep::Kind::kernel,
                        .kernel_name = "second",
                        .launch = c.numbers[1],
                        .arguments = {0}}};
  return c;
}

TrialReply reply() {
  TrialReply r;
  r.status = Status::wrong_result;
  r.gates = {{"reference", GateResult::Answer::fail, "worst 3.5"},
             {"shapes", GateResult::Answer::not_run, ""}};
  WorkloadTiming timing;
  timing.workload = "gpu";
  timing.cache = "hot";
  timing.samples_ns = {1.5, 2.5};
  timing.baseline_samples_ns = {9};
  timing.launch.grid = {7, 1, 1};
  r.timings = {timing};
  r.diagnosis.facts["occupancy"] = {0.5, FactSource::static_analysis};
  r.diagnosis.time_bound_ns["dram"] = {12, FactSource::measured};
  r.log = "log";
  r.seconds = 0.25;
  r.objective_ns = 2;
  r.poisoned = true;
  return r;
}

}  // namespace

TEST_SUITE("messages") {
  TEST_CASE("an evaluation survives the way to a worker") {
    Evaluate sent;
    sent.candidate = candidate();
    sent.stage = Stage::confirmation;
    sent.seed = 0xfeedfacecafebeefULL;
    sent.incumbent_ns = 1234.5;
    sent.rival = candidate();
    sent.versus = true;
    DeviceRequest request;
    REQUIRE(decode(encode(sent), request));
    const Evaluate got = std::get<Evaluate>(request);
    CHECK(got.candidate == sent.candidate);
    CHECK(got.rival == sent.rival);
    CHECK(got.versus);
    sent.rival.reset();  // versus whom?
    CHECK_FALSE(decode(encode(sent), request));
    CHECK(got.stage == sent.stage);
    CHECK(got.seed == sent.seed);
    CHECK(got.incumbent_ns == sent.incumbent_ns);
  }

  TEST_CASE("a reply survives the way back") {
    const TrialReply sent = reply();
    TrialReply got;
    REQUIRE(decode(encode(sent), got));
    CHECK(got.status == sent.status);
    CHECK(got.gates == sent.gates);
    CHECK(got.timings == sent.timings);
    CHECK(got.diagnosis == sent.diagnosis);
    CHECK(got.log == sent.log);
    CHECK(got.poisoned);
    CHECK_FALSE(got.confirmed_faster);
  }

  TEST_CASE("what a device says of itself, and what it is told, arrive whole") {
    const DeviceHello sent{
        .problem = "",
        .facts = {.runner = "cuda", .name = "GPU", .arch = "sm_90a", .is_gpu = true},
        .limits = {.compute_major = 9, .reserved_smem_bytes = 1024},
        .uuid = "00ff",
        .driver_version = 13000,
        .free_bytes = std::uint64_t{80} << 30U};
    DeviceHello got;
    REQUIRE(decode(encode(sent), got));
    CHECK(got.facts.name == "GPU");
    CHECK(got.facts.is_gpu);
    CHECK(got.limits.compute_major == 9);
    CHECK(got.limits.reserved_smem_bytes == 1024);
    CHECK(got.driver_version == 13000);
    CHECK(got.free_bytes == sent.free_bytes);
    DeviceRequest request;
    REQUIRE(decode(encode(DeviceTools{.harness_cubin = std::string(3, '\0'), .peaks_cubin = "p"}),
                   request));
    CHECK(std::get<DeviceTools>(request).harness_cubin == std::string(3, '\0'));
    REQUIRE(decode(encode(OpenDevice{.options = "{}"}), request));
    CHECK(std::get<OpenDevice>(request).options == "{}");
    Done done;
    REQUIRE(decode(encode(Done{.problem = "no memory"}), done));
    CHECK(done.problem == "no memory");
  }

  TEST_CASE("a message that is cut anywhere, or has a byte too many, is refused") {
    PrepareProblem problem;
    problem.spec = "{}";
    problem.workloads = {"gpu", "odd"};
    problem.reference = candidate();
    problem.baseline = candidate();
    const std::string texts[] = {encode(reply()), encode(problem)};
    for (std::size_t kind = 0; kind < 2; ++kind) {
      const auto whole = [&](std::string_view bytes) {
        TrialReply a;
        DeviceRequest b;
        return kind == 0 ? decode(bytes, a) : decode(bytes, b);
      };
      REQUIRE(whole(texts[kind]));
      for (std::size_t size = 0; size < texts[kind].size(); ++size)
        CHECK_FALSE(whole(std::string_view(texts[kind]).substr(0, size)));
      CHECK_FALSE(whole(texts[kind] + "x"));
    }
  }

  TEST_CASE("any bytes are safe to decode") {
    Rng rng(7, "messages");
    for (int i = 0; i < 2000; ++i) {
      std::string bytes = encode(reply());
      for (int flips = 0; flips < 4; ++flips)
        bytes[rng.below(bytes.size())] = static_cast<char>(rng.below(256));
      TrialReply got;
      static_cast<void>(decode(bytes, got));
      DeviceRequest other;
      static_cast<void>(decode(bytes, other));
    }
  }
}
