#pragma once

// The fields of an outcome, described once for JSON and for messages between processes. Include
// only from .cc files.

#include "engine/json/record_codec.h"
#include "engine/plugin/outcome.h"

namespace warpath {

template <>
struct EnumWords<Status> {
  static constexpr auto rows = rows_of<Status>(kStatusNames);
};
template <>
struct EnumWords<GateResult::Answer> {
  static constexpr auto rows =
      rows_of<GateResult::Answer>(std::array<std::string_view, 3>{"pass", "fail", "not_run"});
};
template <>
struct EnumWords<FactSource> {
  static constexpr auto rows =
      rows_of<FactSource>(std::array<std::string_view, 3>{"measured", "static", "assumed"});
};

template <>
struct Description<LaunchNumbers>
    : Record<Kept<"grid", &LaunchNumbers::grid>,
             Kept<"block", &LaunchNumbers::block>,
             Kept<"cluster", &LaunchNumbers::cluster>,
             Kept<"dynamic_smem_bytes", &LaunchNumbers::dynamic_smem_bytes>> {};
template <>
struct Description<GateResult> : Record<Kept<"gate", &GateResult::gate>,
                                        Kept<"answer", &GateResult::answer>,
                                        Kept<"detail", &GateResult::detail>,
                                        Sparse<"seconds", &GateResult::seconds, AnyNumber>> {};
template <>
struct Codec<Verdict> {
  static void read(const JsonCursor& at, Verdict& out) {
    Codec<std::vector<GateResult>>::read(at, out.gates);
  }
  static nlohmann::json write(const Verdict& verdict) {
    return Codec<std::vector<GateResult>>::write(verdict.gates);
  }
};
template <>
struct Description<WorkloadTiming>
    : Record<Kept<"workload", &WorkloadTiming::workload>,
             Kept<"cache", &WorkloadTiming::cache>,
             Kept<"samples_ns", &WorkloadTiming::samples_ns, AnyNumber>,
             Sparse<"baseline_samples_ns", &WorkloadTiming::baseline_samples_ns, AnyNumber>,
             Kept<"launch", &WorkloadTiming::launch>> {};
template <>
struct Description<Fact>
    : Record<Kept<"value", &Fact::value, AnyNumber>, Kept<"source", &Fact::source>> {};
template <>
struct Description<Diagnosis>
    : Record<Kept<"time_bound_ns", &Diagnosis::time_bound_ns>, Kept<"facts", &Diagnosis::facts>> {};
template <>
struct Description<Outcome> : Record<Kept<"status", &Outcome::status>,
                                     Kept<"timings", &Outcome::timings>,
                                     Kept<"verdict", &Outcome::verdict>,
                                     Kept<"log", &Outcome::log>,
                                     Kept<"compile_seconds", &Outcome::compile_seconds, AnyNumber>,
                                     Kept<"run_seconds", &Outcome::run_seconds, AnyNumber>,
                                     Kept<"binary_key", &Outcome::binary_key>,
                                     Sparse<"diagnosis", &Outcome::diagnosis>> {};

}  // namespace warpath
