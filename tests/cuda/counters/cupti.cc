#include "runners/cuda/counters/cupti.h"

#include <doctest/doctest.h>

#include <algorithm>

#include "runners/cuda/counters/metrics.h"

using warpath::cuda::counter_names;
using warpath::cuda::CuptiApi;
using warpath::cuda::CuptiHost;
using warpath::cuda::load_any_cupti;
using warpath::cuda::load_cupti;
using warpath::cuda::metrics;
using warpath::cuda::resolve_metrics;

namespace {

/// CUPTI of this machine; its host part needs no GPU. nullptr, and a line that says why, where
/// there is none.
const CuptiApi* cupti() {
  static std::string why;
  static const auto api = load_any_cupti("", why);
  if (!api) MESSAGE("skipped: ", why);
  return api ? &*api : nullptr;
}

}  // namespace

TEST_SUITE_BEGIN("cupti");

TEST_CASE("a library that is missing or is not CUPTI gives one line") {
  std::string why;
  CHECK(!load_cupti("libno_such_cupti.so.13", why));
  CHECK(why.find("libno_such_cupti.so.13") != std::string::npos);
  CHECK(!load_cupti("libm.so.6", why));
  CHECK(why.find("libm.so.6 lacks cupti") != std::string::npos);
  CHECK(why.find('\n') == std::string::npos);
}

TEST_CASE("an unknown chip gives one line with the call and its code") {
  const CuptiApi* const api = cupti();
  if (api == nullptr) return;
  std::string why;
  CHECK(!CuptiHost::open(*api, "XX000", {}, why));
  CHECK(why.find("cuptiProfilerHostInitialize") != std::string::npos);
  CHECK(why.find("XX000") != std::string::npos);
}

TEST_CASE("every metric is found on the data-centre chips, in few passes") {
  const CuptiApi* const api = cupti();
  if (api == nullptr) return;
  const auto chips = supported_chips(*api);
  for (const char* const chip : {"GA100", "GH100", "GB100"}) {
    if (std::ranges::find(chips, chip) == chips.end()) continue;  // an older library
    CAPTURE(chip);
    std::string why;
    const auto host = CuptiHost::open(*api, chip, {}, why);
    REQUIRE_MESSAGE(host, why);
    const auto resolved =
        resolve_metrics(metrics(), [&](std::string_view name) { return host->offers(name); });
    CHECK(resolved.size() == metrics().size());
    const auto names = counter_names(resolved);
    std::vector<const char*> pointers;
    for (const std::string& name : names) pointers.push_back(name.c_str());
    auto schedule = host->schedule(pointers, why);
    REQUIRE_MESSAGE(schedule, why);
    const std::size_t passes = host->passes(*schedule);
    CHECK(passes >= 1);
    CHECK(passes <= 20);
  }
}

TEST_CASE("a counter is offered with a sub-metric that it has and not otherwise") {
  const CuptiApi* const api = cupti();
  if (api == nullptr) return;
  std::string why;
  const auto host = CuptiHost::open(*api, "GA100", {}, why);
  REQUIRE_MESSAGE(host, why);
  CHECK(host->offers("dram__bytes_read.sum"));
  CHECK(host->offers("sm__throughput.avg.pct_of_peak_sustained_elapsed"));
  CHECK(!host->offers("dram__bytes_read"));
  CHECK(!host->offers("dram__bytes_read.ratio"));
  CHECK(!host->offers("dram__no_such.sum"));
}
TEST_SUITE_END();
