#include "experiments/propose/move_workers.h"

#include <doctest/doctest.h>

#include <atomic>
#include <chrono>
#include <csignal>
#include <filesystem>
#include <map>
#include <set>
#include <thread>

#include "engine/base/error.h"
#include "engine/spec/spec_load.h"
#include "experiments/evaluate/batch.h"
#include "moves/propose/rule_proposer.h"
#include "register_moves.h"
#include "runners/cuda/options.h"
#include "tests/experiments/program.h"
#include "tests/experiments/propose/faulty_moves.h"

using namespace warpath;
using namespace warpath::testing;

TEST_SUITE_BEGIN("move_workers");

namespace {

std::string this_program() {
  return std::filesystem::read_symlink("/proc/self/exe").string();
}

MoveWorkersSetup faulty_setup(int workers) {
  return {.argv = {this_program(), "worker", "moves"},
          .workers = workers,
          .memory_bytes = 512ULL << 20U,
          .seconds = 0.3};
}

const KernelSpec& softmax() {
  static const KernelSpec spec =
      load_specs((source_root() / "specs/softmax_scaled.json").string()).front();
  return spec;
}

MoveRegistry faulty_moves() {
  MoveRegistry out = registered_moves();
  register_faulty_moves(out);
  return out;
}

DeviceFacts gpu() {
  return {.runner = "cuda",
          .name = "test",
          .arch = "sm_90a",
          .multiprocessors = 132,
          .max_smem_per_block_bytes = 227 << 10,
          .is_gpu = true};
}

std::vector<Proposal> proposals(const MoveRegistry& moves,
                                const KernelSpec& spec,
                                const Variant& variant) {
  const DeviceFacts device = gpu();
  Rng rng(1, "test");
  return RuleProposer(moves).propose(
      {.at = {spec, variant, device}, .node_key = variant_key(variant)}, rng);
}

std::vector<std::string> labels(const std::vector<Proposal>& all) {
  std::vector<std::string> out;
  for (const Proposal& p : all) out.push_back(p.instance.text() + " " + std::to_string(p.weight));
  return out;
}

/// Of "fault": how each instance failed.
std::map<std::string, std::string> reasons(const MoveWorkers& workers) {
  std::map<std::string, std::string> out;
  for (const MoveFailure& f : workers.failures())
    out[f.question + " " + f.instance.text()] = f.reason;
  return out;
}

}  // namespace

TEST_CASE("moves in workers offer, make, undo and range over exactly what they do in the process") {
  const MoveRegistry& own = registered_moves();
  const MoveWorkers workers(own, faulty_setup(2));
  const DeviceFacts device = gpu();
  Variant variant = baseline_variant(softmax());
  for (int step = 0; step < 2; ++step) {
    const std::vector<Proposal> here = proposals(own, softmax(), variant),
                                there = proposals(workers.moves(), softmax(), variant);
    REQUIRE_FALSE(here.empty());
    CHECK(labels(here) == labels(there));
    for (std::size_t i = 0; i < here.size(); ++i) CHECK(*here[i].made == *there[i].made);
    const MoveContext at{softmax(), variant, device};
    std::optional<Variant> next;
    for (std::size_t i = 0; i < here.size(); i += 7) {
      const MoveInstance& instance = here[i].instance;
      CAPTURE(instance.text());
      const auto move = own.create("", instance.move),
                 guarded = workers.moves().create("", instance.move);
      std::string why, guarded_why;
      const auto made = move->apply(at, instance, why);
      CHECK(made == guarded->apply(at, instance, guarded_why));
      CHECK(made == edited(variant, here[i].made->edit));
      CHECK(move->inverse(at, instance) == guarded->inverse(at, instance));
      CHECK(move->structural() == guarded->structural());
      CHECK(move->enumerate(at) == guarded->enumerate(at));
      const auto domain = move->domain(at, instance.site),
                 guarded_domain = guarded->domain(at, instance.site);
      REQUIRE(domain.size() == guarded_domain.size());
      for (std::size_t k = 0; k < domain.size(); ++k)
        CHECK((domain[k].name == guarded_domain[k].name &&
               domain[k].values == guarded_domain[k].values));
      MoveInstance nowhere = instance;
      nowhere.site = "nowhere";
      CHECK_FALSE(move->apply(at, nowhere, why).has_value());
      CHECK_FALSE(guarded->apply(at, nowhere, guarded_why).has_value());
      CHECK(why == guarded_why);
      if (!next) next = made;
    }
    REQUIRE(next.has_value());
    variant = *next;
  }
  CHECK(workers.failures().empty());
}

TEST_CASE(
    "a move that crashes, fails a check, throws, does not end, eats memory or its stack costs the "
    "instances where it does") {
  const MoveRegistry faulty = faulty_moves();
  const MoveWorkers workers(faulty, faulty_setup(2));
  const Variant variant = baseline_variant(softmax());
  std::set<std::string> offered;
  for (const Proposal& p : proposals(workers.moves(), softmax(), variant))
    offered.insert(p.instance.text());
  CHECK(offered.contains("fault@good:1"));
  CHECK(offered.contains("fault@good:2"));
  for (const std::string& text : offered) CHECK(text.find("fault:") == std::string::npos);

  const MoveRegistry& own = registered_moves();
  const std::vector<Proposal> without = proposals(own, softmax(), variant);
  CHECK(offered.size() == without.size() + 2);
  for (const Proposal& p : without) CHECK(offered.contains(p.instance.text()));

  const auto why = reasons(workers);
  CHECK(why.size() == 8);
  CHECK(why.at("enumerate fault_everywhere").starts_with("it crashed: Segmentation fault"));
  CHECK(why.at("apply fault@fault:null").starts_with("it crashed: Segmentation fault"));
  CHECK(why.at("apply fault@fault:stack").starts_with("it crashed: Segmentation fault"));
  CHECK(why.at("apply fault@fault:check").find("check failed: way.empty()") != std::string::npos);
  CHECK(why.at("apply fault@fault:throw") == "it threw: no such place");
  CHECK(why.at("apply fault@fault:endless") == "it did not end within 0.3 s of the processor");
  CHECK(why.at("apply fault@fault:memory") == "it used up its memory");
  CHECK(why.at("apply fault@fault:exit") == "its worker ended with exit status 7");
}

TEST_CASE("applying and asking for a domain fail alone, and what failed is not tried again") {
  const MoveRegistry faulty = faulty_moves();
  const TemporaryFolder folder;
  MoveWorkersSetup setup = faulty_setup(1);
  setup.record = folder.path() / "run" / "move_failures.jsonl";
  const DeviceFacts device = gpu();
  const Variant variant = baseline_variant(softmax());
  const MoveContext at{softmax(), variant, device};
  const MoveInstance bad{.move = "fault", .site = "fault:null", .parameters = {}},
      good{.move = "fault", .site = "good:1", .parameters = {}};
  std::string why;
  {
    const MoveWorkers workers(faulty, setup);
    const auto move = workers.moves().create("", "fault");
    CHECK_FALSE(move->apply(at, bad, why).has_value());
    CHECK(why == "the move failed: it crashed: Segmentation fault");
    CHECK(workers.deaths() == 2);  // asked once more
    CHECK_FALSE(move->apply(at, bad, why).has_value());
    CHECK(move->domain(at, "fault:null").empty());
    CHECK(workers.deaths() == 4);
    CHECK(workers.failures().size() == 2);
    CHECK(move->apply(at, good, why).has_value());
  }
  const std::vector<std::string> lines = lines_of(read_file(setup.record));
  REQUIRE(lines.size() == 2);
  CHECK(lines[0].find("fault:null") != std::string::npos);
  CHECK(lines[0].find("softmax") != std::string::npos);  // the kernel

  write_file(setup.record, read_file(setup.record) + "{\"key\":\"torn");
  const MoveWorkers resumed(faulty, setup);
  const auto move = resumed.moves().create("", "fault");
  CHECK_FALSE(move->apply(at, bad, why).has_value());
  CHECK(resumed.deaths() == 0);
  CHECK(resumed.failures().empty());
  CHECK_FALSE(
      move->apply(at, {.move = "fault", .site = "fault:exit", .parameters = {}}, why).has_value());
  CHECK(lines_of(read_file(setup.record)).size() == 3);
  CHECK(read_file(setup.record).find("torn") == std::string::npos);

  write_file(setup.record, "{\n" + read_file(setup.record));
  CHECK_THROWS_WITH_AS(MoveWorkers(faulty, setup), doctest::Contains("move_failures.jsonl:1"),
                       Error);
}

TEST_CASE("without workers a throw is still one failure, and the rest is as in the process") {
  const MoveRegistry faulty = faulty_moves();
  const MoveWorkers none(faulty, faulty_setup(0));
  const DeviceFacts device = gpu();
  const Variant variant = baseline_variant(softmax());
  std::string why;
  const auto move = none.moves().create("", "fault");
  CHECK_FALSE(move->apply({softmax(), variant, device},
                          {.move = "fault", .site = "fault:throw", .parameters = {}}, why)
                  .has_value());
  CHECK(why == "the move failed: it threw: no such place");
  CHECK(none.pids().empty());
  CHECK(none.failures().size() == 1);
}

TEST_CASE("kill -9 of workers at any time loses nothing") {
  const MoveRegistry& own = registered_moves();
  const MoveWorkers workers(own, faulty_setup(2));
  const Variant variant = baseline_variant(softmax());
  const std::vector<std::string> expected = labels(proposals(own, softmax(), variant));
  std::atomic<bool> done = false;
  std::thread killer([&] {
    Rng rng(1, "killer");
    while (!done) {
      std::this_thread::sleep_for(std::chrono::milliseconds(30 + rng.below(60)));
      const std::vector<int> pids = workers.pids();
      if (!pids.empty()) ::kill(pids[rng.below(pids.size())], SIGKILL);
    }
  });
  for (int i = 0; i < 60 && (i < 3 || workers.deaths() < 5); ++i)
    CHECK(labels(proposals(workers.moves(), softmax(), variant)) == expected);
  done = true;
  killer.join();
  CHECK(workers.deaths() >= 5);
  CHECK(workers.failures().empty());
}

TEST_CASE("a program that is no worker is an environment error, not a failure of moves") {
  const MoveRegistry& own = registered_moves();
  MoveWorkersSetup setup = faulty_setup(1);
  setup.argv = {"/bin/false"};
  const MoveWorkers workers(own, setup);
  CHECK_THROWS_WITH_AS(
      static_cast<void>(proposals(workers.moves(), softmax(), baseline_variant(softmax()))),
      doctest::Contains("/bin/false"), Error);
}

namespace {

/// All moves count, and a variant's key alone decides its time.
class AnyMoveRunner final : public Runner {
 public:
  [[nodiscard]] std::string_view name() const override { return "any_move"; }
  [[nodiscard]] DeviceFacts device() const override { return gpu(); }
  void prepare(const KernelSpec& spec) override { workloads_ = spec.workloads; }
  [[nodiscard]] Outcome run(const RunRequest& request, std::stop_token) override {
    Outcome out;
    out.status = Status::ok;
    Rng rng(1, "time", request.key.low);
    const double ns = 1000 * (1 + rng.uniform());
    for (const Workload& workload : workloads_)
      out.timings.push_back({.workload = workload.name,
                             .samples_ns = {ns, ns, ns},
                             .launch = {},
                             .cache = "pretended"});
    return out;
  }

 private:
  std::vector<Workload> workloads_;
};

SessionResult searched(const std::filesystem::path& folder,
                       const char* isolation,
                       int builds,
                       bool resume,
                       bool faulty) {
  Plugins plugins;
  if (faulty) register_faulty_moves(plugins.moves);
  plugins.runners.add("any_move", "test",
                      [](const RunnerConfig&) { return std::make_unique<AnyMoveRunner>(); }, {},
                      {.timings = "pretended timings", .evaluates = false});
  KernelRun planned{.spec = softmax(),
                    .options = {},
                    .runner = {.name = "any_move", .argument = ""},
                    .folder = folder};
  planned.options.of<CudaOptions>().isolation = isolation;
  planned.options.run.budget_builds = builds;
  planned.options.run.finalists = 0;
  planned.options.search.deterministic = true;
  planned.options.search.window = 1;  // what is selected does not depend on where a budget ended
  SessionObserver silent;
  return run_kernel(planned, resume, plugins, {.path = this_program(), .words = {}}, silent, {},
                    {});
}

}  // namespace

TEST_CASE("a search is the same, bit for bit, whether its moves run in workers or in the process") {
  const TemporaryFolder folder;
  const SessionResult apart = searched(folder.path() / "a/kernels/k", "process", 40, false, false),
                      together = searched(folder.path() / "b/kernels/k", "none", 40, false, false);
  CHECK(apart.builds == 40);
  CHECK(apart.fingerprint == together.fingerprint);
  CHECK(apart.best_key == together.best_key);
}

TEST_CASE(
    "a search with moves that crash goes on to its end, says what failed, and resumes to the same "
    "graph") {
  const TemporaryFolder folder;
  const SessionResult whole = searched(folder.path() / "a/kernels/k", "process", 30, false, true);
  CHECK(whole.builds == 30);
  const std::string failures = read_file(folder.path() / "a/kernels/k/move_failures.jsonl");
  CHECK(failures.find("fault:endless") != std::string::npos);
  CHECK(failures.find("check failed: way.empty()") != std::string::npos);

  searched(folder.path() / "b/kernels/k", "process", 12, false, true);
  const SessionResult resumed = searched(folder.path() / "b/kernels/k", "process", 30, true, true);
  CHECK(resumed.fingerprint == whole.fingerprint);
}

TEST_SUITE_END();
