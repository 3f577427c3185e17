#include "runners/cuda/lanes/device_lane.h"

#include <doctest/doctest.h>

#include "engine/base/error.h"

using namespace warpath;
using namespace warpath::cuda;

namespace {

LaneSetup lane(std::vector<std::string> argv) {
  LaneSetup setup;
  setup.label = "GPU 7";
  setup.argv = std::move(argv);
  setup.options = "{}";
  return setup;
}

}  // namespace

TEST_SUITE("device_lane") {
  TEST_CASE("a device that is not there is one line with its name") {
    const char* const program = std::getenv("WARPATH_PROGRAM");
    REQUIRE(program != nullptr);
    DeviceLane there_is_none(lane({program, "worker", "device", "--gpu", "4711"}));
    CHECK_THROWS_WITH_AS(there_is_none.open(), doctest::Contains("GPU 7: "), Error);
  }

  TEST_CASE(
      "a worker that ends, or says nothing that can be read, is trouble of the device, and after "
      "three times it is out") {
    for (const char* const program : {"/bin/true", "/bin/cat"}) {
      CAPTURE(program);
      DeviceLane broken(lane({program}));
      const Evaluate request;
      for (int attempt = 0; attempt < 2; ++attempt) {
        const TrialReply reply = broken.evaluate(request, {});
        CHECK(reply.trouble.starts_with("GPU 7: "));
        CHECK_FALSE(broken.failed());
      }
      CHECK_THROWS_WITH_AS(static_cast<void>(broken.evaluate(request, {})),
                           doctest::Contains("three times in a row"), Error);
      CHECK(broken.failed());
    }
  }

  TEST_CASE("a program that cannot be started is named") {
    DeviceLane absent(lane({"/no/such/worker"}));
    CHECK_THROWS_AS(absent.open(), Error);
  }
}
