#include <doctest/doctest.h>

#include <algorithm>
#include <cstdlib>
#include <filesystem>

#include "runners/worker/process.h"
#include "tests/experiments/program.h"

using namespace warpath::testing;
namespace fs = std::filesystem;

namespace {

/// Runs a program of a bundle with nothing in its environment but `environment`.
warpath::ProcessResult run_bare(const std::vector<std::string>& argv,
                                const std::vector<std::string>& environment = {}) {
  warpath::ProcessSpec command;
  command.argv = argv;
  command.environment = environment;
  command.directory = "/";
  return warpath::run_process(command, std::chrono::seconds(60), 1 << 20);
}

}  // namespace

TEST_SUITE_BEGIN("bundle");

TEST_CASE(
    "a bundle runs from wherever it is moved, with its own libraries and an empty environment") {
  const TemporaryFolder folder;
  const ProgramResult made = run_program({"bundle", folder / "made"});
  CAPTURE(made.err);
  REQUIRE(made.code == 0);
  CHECK(lines_of(made.out).size() == 1);
  fs::rename(folder / "made", folder / "moved here");
  const fs::path bundle = fs::canonical(folder / "moved here");
  const std::string program = (bundle / "bin/warpath").string();

  const auto checked =
      run_bare({(bundle / "warpath").string(), "validate", (bundle / "specs").string()},
               {"PATH=/usr/bin:/bin"});
  CAPTURE(checked.output);
  CHECK(checked.code == 0);
  CHECK(lines_of(checked.output).size() >= 12);

  // How the program starts its workers: by its own path, with no environment at all.
  const auto worker = run_bare({program, "worker", "compile"});
  CAPTURE(worker.output);
  CHECK(worker.end == warpath::ProcessEnd::exited);
  CHECK((worker.code == 0 || worker.code == 3));  // 3: built without the CUDA headers

  const auto loaded = run_bare({program}, {"LD_TRACE_LOADED_OBJECTS=1"});
  CAPTURE(loaded.output);
  std::size_t own = 0;
  for (const auto& library : fs::directory_iterator(bundle / "lib")) {
    const std::string name = library.path().filename().string();
    CAPTURE(name);
    if (name == "libwarpath_capture.so") continue;  // of applications
    CHECK(loaded.output.find(name + " => " + bundle.string()) != std::string::npos);
    ++own;
  }
  CHECK(own >= 3);
  CHECK(loaded.output.find("libtbb.so.12 => " + bundle.string()) != std::string::npos);
  CHECK(loaded.output.find("not found") == std::string::npos);
}

TEST_CASE("a bundle can be made from a bundle") {
  const TemporaryFolder folder;
  REQUIRE(run_program({"bundle", folder / "first"}).code == 0);
  const auto again =
      run_bare({folder / "first/warpath", "bundle", folder / "second"}, {"PATH=/usr/bin:/bin"});
  CAPTURE(again.output);
  CHECK(again.code == 0);
  const auto names = [](const fs::path& root) {
    std::vector<std::string> files;
    for (const auto& entry : fs::recursive_directory_iterator(root))
      files.push_back(fs::relative(entry.path(), root).string());
    std::sort(files.begin(), files.end());
    return files;
  };
  CHECK(names(folder / "first") == names(folder / "second"));
}

TEST_SUITE_END();
