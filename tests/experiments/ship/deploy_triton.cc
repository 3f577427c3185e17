#include <doctest/doctest.h>

#include <filesystem>
#include <nlohmann/json.hpp>
#include <string>

#include "engine/spec/spec_load.h"
#include "tests/experiments/program.h"
#include "tests/support/recorded_gpu_run.h"

using namespace warpath;
using namespace warpath::testing;
using nlohmann::json;
namespace fs = std::filesystem;

namespace {

KernelSpec softmax() {
  return load_specs((source_root() / "specs/triton/softmax.json").string()).front();
}

std::string replaced(std::string text, const std::string& from, const std::string& to) {
  const std::size_t at = text.find(from);
  REQUIRE(at != std::string::npos);
  return text.replace(at, from.size(), to);
}

/// The spec's kernel with `from` replaced.
Variant edited(const std::string& from, const std::string& to) {
  Variant out = baseline_variant(softmax());
  out.source = replaced(out.source, from, to);
  return out;
}

const std::string kLoad = "other=float(\"-inf\"))",
                  kHinted = "other=float(\"-inf\"), eviction_policy=\"evict_first\")";

/// A file of an application: the kernel among other things, which use what the search does not
/// read.
std::string application(const std::string& source) {
  return "import sys\n\n" + source +
         "\n\ndef softmax_of(x, n, c):\n\tprint(f\"{n} rows\")\n"
         "\tsoftmax[(n,)](x, x, 1.5, n, c, COLUMNS=2048, ROWS=1, num_warps=4)\n";
}

/// An application in Python that is faster where its file has a hint, with its project file.
class App {
 public:
  explicit App(const std::string& text, const json& more = json::object()) {
    fs::create_directory(folder_ / "app");
    write_file(target(), text);
    json project{
        {"root", "app"},
        {"target_file", "softmax.py"},
        {"build_command",
         "python3 -c 'compile(open(\"softmax.py\").read(), \"softmax.py\", \"exec\")'"},
        {"test_command", "grep -q num_warps=4 softmax.py"},
        {"benchmark_command",
         "if grep -q evict_first softmax.py; then echo took 1 ms; else echo took 2 ms; fi"},
        {"timing_mode", "printed"},
        {"timing_pattern", "took ([0-9.]+) ms"},
        {"pairs", 5},
        {"accept_contract", true}};
    project.update(more);
    write_file(folder_ / "project.json", project.dump());
  }
  [[nodiscard]] std::string target() const { return folder_ / "app/softmax.py"; }
  [[nodiscard]] fs::path root() const { return folder_ / "app"; }
  /// Deploys the run whose best kernel is `best`.
  [[nodiscard]] ProgramResult deploy(const Variant& best) const {
    test::record_gpu_run(folder_ / "run", softmax(), best);
    return run_program(
        {"deploy", folder_ / "run", "--project", folder_ / "project.json", "--arch", "none"});
  }
  [[nodiscard]] ProgramResult revert() const {
    return run_program({"deploy", "--revert", "--project", folder_ / "project.json"});
  }

 private:
  TemporaryFolder folder_;
};

void must_be_refused(const App& app, const Variant& best, const std::string& part) {
  const std::string before = read_file(app.target());
  const ProgramResult done = app.deploy(best);
  CAPTURE(done.err);
  CHECK(done.code == 64);
  CHECK(lines_of(done.err).size() == 1);
  CHECK(done.err.find(part) != std::string::npos);
  CHECK(read_file(app.target()) == before);
  CHECK_FALSE(fs::exists(app.root() / ".warpath-deploy"));
}

}  // namespace

TEST_SUITE_BEGIN("deploy_triton");

TEST_CASE("the function of a kernel in Triton is replaced, the rest of its file stays") {
  const std::string before = application(softmax().source);
  const App app(before);
  const ProgramResult done = app.deploy(edited(kLoad, kHinted));
  REQUIRE_MESSAGE(done.code == 0, done.err);
  CHECK(done.out.find("2.000x [2.000, 2.000] over 5 pairs: deployed") != std::string::npos);
  CHECK(read_file(app.target()) == replaced(before, kLoad, kHinted));
  CHECK(app.revert().code == 0);
  CHECK(read_file(app.target()) == before);
}

TEST_CASE("the function may stand elsewhere than in the spec's file, but as it stands there") {
  // other imports and comments in front of it
  const std::string source = softmax().source;
  const std::string alone = source.substr(source.find("@triton.jit"));
  const App moved(application("from triton import jit, language as tl\nimport triton\n" + alone));
  CHECK(moved.deploy(edited(kLoad, kHinted)).code == 0);
  // a body that goes on is another function, and so is one of other names
  must_be_refused(App(application(source + "\n    tl.debug_barrier()\n")), edited(kLoad, kHinted),
                  "the kernel as the run began with it");
  must_be_refused(App(application(replaced(source, "inside = ", "within = "))),
                  edited("values = s * tl.load", "values = s * 1 * tl.load"),
                  "the kernel as the run began with it");
  must_be_refused(App(application(alone + "\n" + alone)), edited(kLoad, kHinted),
                  "the kernel as the run began with it");
}

TEST_CASE("helpers and imports that are new come as the search's change") {
  const std::string source = softmax().source;
  Variant best = edited("import triton.language as tl\n",
                        "import triton.language as tl\nfrom triton.language import exp2\n");
  best.source = replaced(best.source, kLoad, kHinted);
  const App app(application(source));
  const ProgramResult done = app.deploy(best);
  CHECK_MESSAGE(done.code == 0, done.err);
  CHECK(read_file(app.target()) == application(best.source));
}

TEST_CASE("what the caller passes is not changed: other tunables need a patch") {
  Variant best = baseline_variant(softmax());
  best.tunables["num_warps"] = 8;
  const std::string before = application(softmax().source);
  must_be_refused(App(before), best, "a best kernel with tunables of its own");
  must_be_refused(App(before, {{"accept_contract", false}}), edited(kLoad, kHinted),
                  "accept_contract");
}

TEST_CASE("a patch makes the caller use the exported module") {
  const std::string before = application(softmax().source);
  const App app(before, {{"patch", "use.patch"},
                         {"export_folder", "kernels"},
                         {"test_command", "test ! -e kernels || grep -q kernels softmax.py"},
                         {"benchmark_command",
                          "if [ -e kernels/triton_softmax.py ]; then echo took 1 ms; else echo "
                          "took 2 ms; fi"}});
  write_file(app.root() / "use.patch",
             "<<<<<<< SEARCH\nimport sys\n=======\nimport sys\nfrom kernels import "
             "triton_softmax\n>>>>>>> REPLACE\n");
  Variant best = baseline_variant(softmax());
  best.tunables["num_warps"] = 8;
  const ProgramResult done = app.deploy(best);
  REQUIRE_MESSAGE(done.code == 0, done.err);
  CHECK(fs::exists(app.root() / "kernels/triton_softmax.py"));
  CHECK(app.revert().code == 0);
  CHECK(read_file(app.target()) == before);
  CHECK_FALSE(fs::exists(app.root() / "kernels"));
}

TEST_SUITE_END();
