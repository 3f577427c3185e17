#include "runners/cuda/lanes/lane_setups.h"

#include <doctest/doctest.h>

#include <filesystem>
#include <fstream>

#include "engine/base/error.h"
#include "runners/cuda/options.h"
#include "tests/support/temporary_folder.h"

using namespace warpath;
using namespace warpath::cuda;
using warpath::test::TemporaryFolder;

TEST_SUITE("lane_setups") {
  TEST_CASE("indices name devices of this machine") {
    CudaOptions options;
    options.gpus = "0,3";
    const auto setups = lane_setups(options, "/bin/warpath", "{}");
    REQUIRE(setups.size() == 2);
    CHECK(setups[1].label == "GPU 3");
    CHECK(setups[1].argv ==
          std::vector<std::string>{"/bin/warpath", "worker", "device", "--gpu", "3"});
    CHECK(setups[1].is_local);
  }

  TEST_CASE("without isolation the worker is a thread") {
    CudaOptions options;
    options.gpus = "1";
    options.isolation = "none";
    const auto setups = lane_setups(options, "/bin/warpath", "{}");
    REQUIRE(setups.size() == 1);
    CHECK(setups[0].argv.empty());
  }

  TEST_CASE("a file lists workers, one command line each; comments and empty lines do not count") {
    const TemporaryFolder folder;
    const std::string path = (folder.path() / "workers").string();
    std::ofstream(path) << "# two\n\nssh one warpath worker device --gpu 0\nssh two warpath worker "
                           "device --gpu 1\n";
    CudaOptions options;
    options.gpus = path;
    const auto setups = lane_setups(options, "/bin/warpath", "{}");
    REQUIRE(setups.size() == 2);
    CHECK(setups[1].argv.size() == 7);
    CHECK(setups[1].argv[1] == "two");
    CHECK_FALSE(setups[1].is_local);
  }

  TEST_CASE("what is neither is refused with the flag") {
    CudaOptions options;
    for (const char* const gpus : {"", "/no/such/file", "0,,1", "99999"}) {
      CAPTURE(gpus);
      options.gpus = gpus;
      CHECK_THROWS_WITH_AS(lane_setups(options, "", "{}"), doctest::Contains("--gpus"), Error);
    }
  }
}
