#pragma once

#include <cstdint>
#include <cstdio>

namespace warpath::testing {

/// Puts a figure into the test log; tests/measure foundation adds up those of one name.
inline void report_figure(const char* name, std::uint64_t value) {
  std::printf("figure %s %llu\n", name, static_cast<unsigned long long>(value));
}

}  // namespace warpath::testing
