#include "runners/cuda/counters/ncu.h"

#include <doctest/doctest.h>
#include <sys/stat.h>

#include <algorithm>
#include <fstream>

#include "engine/base/error.h"
#include "engine/base/temporary_folder.h"

using warpath::Error;
using warpath::cuda::Ncu;
using warpath::cuda::ncu_arguments;
using warpath::cuda::NcuLaunch;
using warpath::cuda::parse_ncu_csv;

namespace {

// As Nsight Compute prints it: messages, the program's own output, header, units, one line a
// launch.
const std::string kReport =
    "==PROF== Connected to process 42 (/tmp/one_launch)\n"
    "some output of the program, with, commas\n"
    "==PROF== Profiling \"row_sum\": 0%....50%....100% - 3 passes\n"
    "==PROF== Disconnected from process 42\n"
    "\"ID\",\"Process ID\",\"Process Name\",\"Kernel Name\",\"Block "
    "Size\",\"dram__bytes_read.sum\",\"gpu__time_duration.sum\","
    "\"sm__throughput.avg.pct_of_peak_sustained_elapsed\",\"smsp__inst_executed.sum\"\n"
    "\"\",\"\",\"\",\"\",\"\",\"Mbyte\",\"us\",\"%\",\"inst\"\n"
    "\"0\",\"42\",\"one_launch\",\"row_sum(const float *, float *)\",\"(256, 1, "
    "1)\",\"1.5\",\"12.25\",\"81.5\",\"1,234,567\"\n"
    "\"1\",\"42\",\"one_launch\",\"said \"\"twice\"\"\",\"(256, 1, "
    "1)\",\"2\",\"3\",\"n/a\",\"5\"\n";

/// An executable shell script that plays Nsight Compute; gone afterwards.
class Script {
 public:
  explicit Script(const std::string& body) {
    std::ofstream(path()) << "#!/bin/sh\nif [ \"$1\" = --version ]; then echo 'Version 2025.3.1.0 "
                             "(build 1)'; exit 0; fi\n"
                          << body;
    ::chmod(path().c_str(), 0755);
  }
  [[nodiscard]] std::string path() const { return (folder_ / "ncu").string(); }

 private:
  warpath::TemporaryFolder folder_;
};

std::string printing(const std::string& report) {
  return "cat <<'REPORT'\n" + report + "REPORT\n";
}

}  // namespace

TEST_SUITE_BEGIN("ncu");

TEST_CASE("a report becomes launches with counters in base units") {
  const auto launches = parse_ncu_csv(kReport, "report");
  REQUIRE(launches.size() == 2);
  CHECK(launches[0].kernel == "row_sum(const float *, float *)");
  CHECK(launches[0].counters.at("dram__bytes_read.sum") == doctest::Approx(1.5e6));
  CHECK(launches[0].counters.at("gpu__time_duration.sum") == doctest::Approx(12250));
  CHECK(launches[0].counters.at("smsp__inst_executed.sum") == 1234567);
  CHECK(launches[0].counters.size() == 4);
  CHECK(launches[1].kernel == "said \"twice\"");
  CHECK(!launches[1].counters.contains("sm__throughput.avg.pct_of_peak_sustained_elapsed"));
}

TEST_CASE("a launch gives our metrics") {
  const auto values = metric_values(parse_ncu_csv(kReport, "report")[0]);
  CHECK(values.at("dram_read_bytes") == doctest::Approx(1.5e6));
  CHECK(values.at("profiled_time") == doctest::Approx(12250));
  CHECK(values.at("sm_throughput") == doctest::Approx(0.815));
  CHECK(!values.contains("ipc"));
}

TEST_CASE("a report without header, without launches or with a torn line is refused by place") {
  CHECK_THROWS_WITH_AS(static_cast<void>(parse_ncu_csv("", "r.csv")), doctest::Contains("r.csv"),
                       Error);
  CHECK_THROWS_WITH_AS(static_cast<void>(parse_ncu_csv("==ERROR== no permission\n", "r.csv")),
                       doctest::Contains("header"), Error);
  const std::size_t first = kReport.find("\"0\",");
  CHECK_THROWS_WITH_AS(static_cast<void>(parse_ncu_csv(kReport.substr(0, first), "r.csv")),
                       doctest::Contains("launch"), Error);
  CHECK_THROWS_WITH_AS(static_cast<void>(parse_ncu_csv(kReport.substr(0, first + 20), "r.csv")),
                       doctest::Contains("r.csv:7"), Error);
}

TEST_CASE("a report cut anywhere is read or refused") {
  for (std::size_t cut = 0; cut < kReport.size(); ++cut) {
    CAPTURE(cut);
    std::size_t launches = 1;
    try {
      launches = parse_ncu_csv(kReport.substr(0, cut), "r.csv").size();
    } catch (const Error& error) {
      CHECK(std::string(error.what()).find("r.csv") == 0);
    }
    CHECK(launches >= 1);
  }
}

TEST_CASE("the profiler is asked for every source of a metric, one launch and unchanged clocks") {
  const auto arguments = ncu_arguments("k", warpath::cuda::metrics());
  const std::string& list = arguments.back();
  CHECK(list.find("dram__bytes_read.sum") != std::string::npos);
  CHECK(list.find("dram__bytes_op_read.sum") != std::string::npos);
  CHECK(list.find(",,") == std::string::npos);
  CHECK(std::ranges::find(arguments, "--clock-control") != arguments.end());
}

TEST_CASE("a child process that prints a report gives metrics") {
  const Script script(printing(kReport));
  std::string why;
  const auto ncu = Ncu::open(script.path(), why);
  REQUIRE_MESSAGE(ncu, why);
  CHECK(ncu->version() == "2025.3.1.0");
  const auto values = ncu->collect({"one_launch"}, "row_sum", 10, why);
  REQUIRE_MESSAGE(values, why);
  CHECK(values->at("dram_read_bytes") == doctest::Approx(1.5e6));
  CHECK(!ncu->collect({"one_launch"}, "other", 10, why));
  CHECK(why.find("no launch of other") != std::string::npos);
}

TEST_CASE("a profiler that is absent, refuses or hangs gives one line") {
  std::string why;
  CHECK(!Ncu::open("/no/such/ncu", why));
  CHECK(why.find("/no/such/ncu") != std::string::npos);
  {
    const Script script(
        "echo '==PROF== hello'; echo '==ERROR== ERR_NVGPUCTRPERM'; echo bye; exit 1\n");
    const auto ncu = Ncu::open(script.path(), why);
    REQUIRE(ncu);
    CHECK(!ncu->collect({"x"}, "k", 10, why));
    CHECK(why.find("ERR_NVGPUCTRPERM") != std::string::npos);
    CHECK(why.find('\n') == std::string::npos);
  }
  const Script script("exec sleep 100\n");
  const auto ncu = Ncu::open(script.path(), why);
  REQUIRE(ncu);
  CHECK(!ncu->collect({"x"}, "k", 0.2, why));
  CHECK(why.find("too long") != std::string::npos);
}
TEST_SUITE_END();
