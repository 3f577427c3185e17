#include "runners/cuda/lanes/outcome_cache.h"

#include <doctest/doctest.h>

#include <filesystem>
#include <fstream>
#include <limits>
#include <set>

#include "tests/support/temporary_folder.h"

namespace fs = std::filesystem;
using warpath::GateResult;
using warpath::Hash128;
using warpath::Outcome;
using warpath::Status;
using warpath::cuda::MeasurementSetup;
using warpath::cuda::OutcomeCache;
using warpath::test::TemporaryFolder;

namespace {

const MeasurementSetup kSetup{
    .program = "program", .options = "{}", .spec = "spec", .devices = {"H 1 580", "H 2 580"}};

Outcome measured(std::string binary_key = "code", Status status = Status::ok) {
  Outcome outcome;
  outcome.status = status;
  outcome.binary_key = std::move(binary_key);
  outcome.timings = {{.workload = "w",
                      .samples_ns = {1.5, std::numeric_limits<double>::infinity()},
                      .launch = {},
                      .cache = "hot",
                      .baseline_samples_ns = {3}}};
  outcome.verdict.gates = {{"d1_all_elements", GateResult::Answer::pass, "0"}};
  outcome.run_seconds = 0.25;
  return outcome;
}

}  // namespace

TEST_SUITE_BEGIN("outcome_cache");

TEST_CASE(
    "another program, option, spec, device or driver is another setup; the order of the devices is "
    "not") {
  std::set<std::string> identities{OutcomeCache::identity(kSetup).hex()};
  MeasurementSetup other = kSetup;
  std::swap(other.devices[0], other.devices[1]);
  identities.insert(OutcomeCache::identity(other).hex());
  CHECK(identities.size() == 1);
  for (std::string MeasurementSetup::* const part :
       {&MeasurementSetup::program, &MeasurementSetup::options, &MeasurementSetup::spec}) {
    other = kSetup;
    other.*part += " ";
    identities.insert(OutcomeCache::identity(other).hex());
  }
  other = kSetup;
  other.devices[1] = "H 2 590";
  identities.insert(OutcomeCache::identity(other).hex());
  other.devices.pop_back();
  identities.insert(OutcomeCache::identity(other).hex());
  CHECK(identities.size() == 6);
}

TEST_CASE("a later process finds the whole outcome, under its setup and code alone") {
  const TemporaryFolder folder;
  const Hash128 setup = OutcomeCache::identity(kSetup);
  OutcomeCache(folder.path(), 1 << 20).store(setup, measured());
  OutcomeCache cache(folder.path(), 1 << 20);
  CHECK(cache.find(setup, "code") == measured());
  CHECK_FALSE(cache.find(setup, "other code"));
  CHECK_FALSE(cache.find({1, 2}, "code"));
  CHECK(cache.counts().hits == 1);
}

TEST_CASE("what may be the machine's fault, or has no identity, is not kept") {
  const TemporaryFolder folder;
  const Hash128 setup = OutcomeCache::identity(kSetup);
  OutcomeCache cache(folder.path(), 1 << 20);
  for (const Status status : {Status::crashed, Status::timed_out, Status::limits_exceeded,
                              Status::launch_error, Status::compile_error}) {
    cache.store(setup, measured("bad", status));
    CHECK_FALSE(cache.find(setup, "bad"));
  }
  cache.store(setup, measured(""));
  CHECK_FALSE(cache.find(setup, ""));
  for (const Status status : {Status::wrong_result, Status::rejected}) {
    cache.store(setup, measured("judged", status));
    CHECK(cache.find(setup, "judged") == measured("judged", status));
  }
}

TEST_CASE("an entry that is damaged, or that another version wrote, is dropped") {
  const TemporaryFolder folder;
  const Hash128 setup = OutcomeCache::identity(kSetup);
  OutcomeCache cache(folder.path(), 1 << 20);
  cache.store(setup, measured());
  for (const auto& entry : fs::recursive_directory_iterator(folder.path())) {
    if (entry.is_regular_file()) fs::resize_file(entry.path(), fs::file_size(entry.path()) - 1);
  }
  CHECK_FALSE(cache.find(setup, "code"));
  CHECK(cache.counts().corrupt == 1);
  cache.store(setup, measured());
  CHECK(cache.find(setup, "code") == measured());
}

TEST_SUITE_END();
