#include "priors/evidence/diagnosis_view.h"

#include <algorithm>
#include <array>
#include <cmath>

#include "engine/base/statistics.h"

namespace warpath {
namespace {

using Value = std::optional<Fact>;
constexpr double kSectorBytes = 32;
constexpr double kFullWarp = 32;

constexpr std::array<std::string_view, 5> kArithmetic{"tensor", "fp32", "fp64", "int32", "sfu"};
constexpr std::array<std::string_view, 1> kDram{"dram"};
constexpr std::array<std::string_view, 7> kAll{"tensor", "fp32", "fp64", "int32",
                                               "sfu",    "l2",   "dram"};

Value first_of(Value a, Value b) {
  return a ? a : b;
}

/// `f` of two facts; nothing if one is missing or the result is not finite.
template <class F>
Value combine(Value a, Value b, F&& f) {
  if (!a || !b) return std::nullopt;
  const double value = f(a->value, b->value);
  if (!std::isfinite(value)) return std::nullopt;
  return Fact{value, weaker(a->source, b->source)};
}

Value ratio(Value a, Value b) {
  if (b && b->value <= 0) return std::nullopt;
  return combine(a, b, [](double x, double y) { return x / y; });
}

Value difference(Value a, Value b) {
  return combine(a, b, [](double x, double y) { return x - y; });
}

Value sum_of_known(Value a, Value b) {
  if (!a || !b) return first_of(a, b);
  return combine(a, b, [](double x, double y) { return x + y; });
}

Value larger(Value a, Value b) {
  if (!a || !b) return first_of(a, b);
  return a->value >= b->value ? a : b;
}

Value dram_utilisation(const DiagnosisView& v) {
  return first_of(v.recorded("dram_throughput"), v.bound_share(kDram));
}
Value sm_utilisation(const DiagnosisView& v) {
  return first_of(v.recorded("sm_throughput"), v.bound_share(kArithmetic));
}

Value dram_bytes(const DiagnosisView& v) {
  const Value measured =
      sum_of_known(v.recorded("dram_read_bytes"), v.recorded("dram_written_bytes"));
  return first_of(first_of(measured, v.recorded("dram_total_bytes")),
                  v.recorded("compulsory_bytes"));
}

Value occupancy_now(const DiagnosisView& v) {
  return first_of(v.recorded("achieved_occupancy"), v.recorded("occupancy"));
}

/// 1 where registers bind before everything else, 0 where another limit is recorded.
Value register_limited(const DiagnosisView& v) {
  if (const Value yes = v.recorded("occupancy_limit_registers")) return yes;
  for (const char* other :
       {"occupancy_limit_threads", "occupancy_limit_blocks", "occupancy_limit_smem"}) {
    if (const Value found = v.recorded(other)) return Fact{0, found->source};
  }
  return std::nullopt;
}

/// Bytes a thread moves by one global load or store, on average over the instructions as written.
Value access_bytes(const DiagnosisView& v, const char* bytes, const char* count) {
  return ratio(v.recorded(bytes), v.recorded(count));
}

/// Sectors a request over those that contiguous lanes would touch: one a byte and thread (32 lanes,
/// 32-byte sectors).
Value sector_excess(const DiagnosisView& v) {
  const auto one = [&](const char* sectors, const char* bytes, const char* count) {
    return ratio(v.recorded(sectors), access_bytes(v, bytes, count));
  };
  const Value measured =
      larger(one("load_sectors_per_request", "ptx_global_load_bytes", "ptx_load_global"),
             one("store_sectors_per_request", "ptx_global_store_bytes", "ptx_store_global"));
  return first_of(measured, v.recorded("static_sector_excess"));
}

Value store_bytes_per_sector(const DiagnosisView& v) {
  const Value bytes = access_bytes(v, "ptx_global_store_bytes", "ptx_store_global");
  const Value share = ratio(bytes, v.recorded("store_sectors_per_request"));
  if (!share) return std::nullopt;
  return Fact{std::min(kSectorBytes, share->value * kFullWarp), share->source};
}

/// Share of the passes over the banks that conflicts add.
Value bank_conflicts(const DiagnosisView& v) {
  const Value extra =
      sum_of_known(v.recorded("shared_load_conflicts"), v.recorded("shared_store_conflicts"));
  if (const Value measured = ratio(extra, v.recorded("shared_wavefronts"))) return measured;
  if (extra && extra->value <= 0) return extra;
  const Value ways = v.recorded("static_bank_ways");
  if (!ways || ways->value < 1) return std::nullopt;
  return Fact{1 - 1 / ways->value, ways->source};
}

/// Against the declared traffic where there is one: caches that work lower the measured traffic,
/// caches that fail raise it.
Value global_reuse(const DiagnosisView& v) {
  return ratio(v.recorded("work_global_bytes"),
               first_of(v.recorded("compulsory_bytes"), dram_bytes(v)));
}

/// Share of the time that no resource's bound explains.
Value latency_headroom(const DiagnosisView& v) {
  Value used = v.bound_share(kAll);
  used = larger(used, v.recorded("dram_throughput"));
  used = larger(used, v.recorded("sm_throughput"));
  if (!used) return std::nullopt;
  return Fact{std::max(0.0, 1 - used->value), used->source};
}

Value best_utilisation(const DiagnosisView& v) {
  const Value gap = latency_headroom(v);
  if (!gap) return std::nullopt;
  return Fact{1 - gap->value, gap->source};
}

Value last_wave_fill(const DiagnosisView& v) {
  return v.recorded("tail_fraction");
}

Value occupancy_kept(const DiagnosisView& v) {
  return ratio(v.recorded("achieved_occupancy"), v.recorded("occupancy"));
}

Value local_traffic(const DiagnosisView& v) {
  const Value measured =
      sum_of_known(v.recorded("local_load_sectors"), v.recorded("local_store_sectors"));
  const Value spilled =
      sum_of_known(v.recorded("spill_load_bytes"), v.recorded("spill_store_bytes"));
  return first_of(measured, sum_of_known(spilled, v.recorded("local_bytes")));
}

/// 1 where the declared work holds products of types that tensor cores take.
Value tensor_shaped(const DiagnosisView& v) {
  if (const Value found = v.bound("tensor")) return Fact{1, found->source};
  const auto& others = v.diagnosis().time_bound_ns;
  if (others.empty()) return std::nullopt;
  return Fact{0, others.begin()->second.source};
}

Value tensor_use(const DiagnosisView& v) {
  const Value measured = v.recorded("tensor_pipe"), total = v.recorded("ptx_instructions"),
              written = v.recorded("ptx_tensor");
  if (measured || !total) return measured;
  return Fact{written && written->value > 0 ? 1.0 : 0.0, total->source};
}

/// 1 where double precision is written and the declared work has none.
Value unasked_fp64(const DiagnosisView& v) {
  const Value total = v.recorded("ptx_instructions"), written = v.recorded("ptx_fp64"),
              declared = v.bound("fp64");
  if (!total) return std::nullopt;
  return Fact{written && written->value > 0 && !declared ? written->value : 0.0, total->source};
}

Value idle_lanes(const DiagnosisView& v) {
  const Value threads = v.recorded("threads_per_instruction");
  if (!threads) return std::nullopt;
  return Fact{std::max(0.0, 1 - threads->value / kFullWarp), threads->source};
}

Value dram_over_sm(const DiagnosisView& v) {
  return difference(dram_utilisation(v), sm_utilisation(v));
}
Value sm_over_dram(const DiagnosisView& v) {
  return difference(sm_utilisation(v), dram_utilisation(v));
}

struct Derivation {
  DerivedFact fact;
  Value (*compute)(const DiagnosisView&);
};

constexpr std::array kDerivations{
    Derivation{{"dram_utilisation",
                "share of device-memory bandwidth: counter, else the traffic bound over the time"},
               dram_utilisation},
    Derivation{
        {"sm_utilisation",
         "share of the busiest arithmetic pipe or issue port: counter, else bounds over the time"},
        sm_utilisation},
    Derivation{{"dram_over_sm", "dram_utilisation minus sm_utilisation"}, dram_over_sm},
    Derivation{{"sm_over_dram", "sm_utilisation minus dram_utilisation"}, sm_over_dram},
    Derivation{
        {"dram_bytes", "bytes of device memory a launch: counters, else the declared traffic"},
        dram_bytes},
    Derivation{{"occupancy_now", "resident warps over those that fit: counter, else by resources"},
               occupancy_now},
    Derivation{{"occupancy_kept", "achieved over possible occupancy"}, occupancy_kept},
    Derivation{{"register_limited", "1 where registers bind occupancy first"}, register_limited},
    Derivation{{"sector_excess",
                "32-byte sectors a request over those of contiguous lanes: counters, else from "
                "address forms"},
               sector_excess},
    Derivation{{"store_bytes_per_sector", "bytes that a stored sector holds, of 32"},
               store_bytes_per_sector},
    Derivation{{"bank_conflicts",
                "share of the passes over the banks that conflicts add: counters, else from "
                "address forms"},
               bank_conflicts},
    Derivation{{"global_reuse",
                "bytes that threads ask of global memory over the declared traffic, else over "
                "bytes of device memory"},
               global_reuse},
    Derivation{
        {"latency_headroom", "share of the time that no resource's bound or throughput explains"},
        latency_headroom},
    Derivation{
        {"best_utilisation", "1 - latency_headroom: how near the binding resource is to its peak"},
        best_utilisation},
    Derivation{{"last_wave_fill", "share of the last wave that is filled"}, last_wave_fill},
    Derivation{
        {"local_traffic", "local-memory sectors a launch, else spilled and stack bytes a thread"},
        local_traffic},
    Derivation{{"tensor_shaped", "1 where the declared work has products of tensor-core types"},
               tensor_shaped},
    Derivation{
        {"tensor_use", "share of the tensor pipe, else 1 where tensor instructions are written"},
        tensor_use},
    Derivation{{"unasked_fp64", "double-precision instructions where the declared work has none"},
               unasked_fp64},
    Derivation{{"idle_lanes", "share of the lanes that are inactive in an average instruction"},
               idle_lanes},
};
constexpr auto kNames = [] {
  std::array<DerivedFact, kDerivations.size()> names{};
  for (std::size_t i = 0; i < names.size(); ++i) names[i] = kDerivations[i].fact;
  return names;
}();

}  // namespace

std::span<const DerivedFact> derived_facts() {
  return kNames;
}

std::optional<Fact> DiagnosisView::recorded(std::string_view name) const {
  if (asked_ != nullptr) asked_->emplace(name);
  const auto it = diagnosis_.facts.find(name);
  if (it == diagnosis_.facts.end() || !std::isfinite(it->second.value)) return std::nullopt;
  return it->second;
}

std::optional<Fact> DiagnosisView::bound(std::string_view resource) const {
  if (asked_ != nullptr) asked_->insert("bound " + std::string(resource));
  const auto it = diagnosis_.time_bound_ns.find(resource);
  if (it == diagnosis_.time_bound_ns.end() || !std::isfinite(it->second.value)) return std::nullopt;
  return it->second;
}

std::optional<Fact> DiagnosisView::bound_share(std::span<const std::string_view> resources) const {
  std::optional<Fact> largest;
  for (const std::string_view resource : resources) largest = larger(bound(resource), largest);
  if (!largest || time_ns_ <= 0) return std::nullopt;
  return Fact{std::min(1.0, largest->value / time_ns_), largest->source};
}

std::optional<Fact> DiagnosisView::get(std::string_view name) const {
  const auto found =
      std::ranges::find_if(kDerivations, [&](const Derivation& d) { return d.fact.name == name; });
  return found == kDerivations.end() ? recorded(name) : found->compute(*this);
}

/// With nothing known no lookup ends the search for another: derivations look up all their inputs
/// before they give up.
DiagnosisView::Asked fact_inputs(std::string_view name) {
  const Diagnosis nothing;
  DiagnosisView::Asked asked;
  static_cast<void>(DiagnosisView(nothing, 0, &asked).get(name));
  return asked;
}

double measured_time_ns(const Outcome& outcome) {
  for (const WorkloadTiming& timing : outcome.timings) {
    if (!timing.samples_ns.empty()) return median(timing.samples_ns);
  }
  return 0;
}

std::string_view name(FactSource source) {
  switch (source) {
    case FactSource::measured:
      return "measured";
    case FactSource::static_analysis:
      return "static";
    case FactSource::assumed:
      break;
  }
  return "assumed";
}

double confidence(FactSource source) {
  switch (source) {
    case FactSource::measured:
      return 1;
    case FactSource::static_analysis:
      return 0.7;
    case FactSource::assumed:
      break;
  }
  return 0.4;
}

FactSource weaker(FactSource a, FactSource b) {
  return std::max(a, b);
}

}  // namespace warpath
