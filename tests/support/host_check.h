#pragma once

#include <doctest/doctest.h>

#include "tests/support/host_runs.h"

namespace warpath::test {

/// Runs variants of one spec on the host and compares with its reference.
class HostCheck : public HostRuns {
 public:
  using HostRuns::HostRuns;

  /// Fails the test unless the variant's results are the reference's.
  void passes(const Variant& variant) const {
    const Outcome outcome = run(variant);
    CAPTURE(variant.source);
    CAPTURE(outcome.log);
    CAPTURE(outcome.verdict.summary());
    CHECK(name(outcome.status) == "ok");
  }
};

}  // namespace warpath::test
