#include "runners/cuda/measure/messages.h"

#include "runners/worker/wire.h"

namespace warpath::cuda {
namespace {

WireWriter request(DeviceMessage kind) {
  WireWriter to;
  to.u8(static_cast<std::uint8_t>(kind));
  return to;
}

void put_optional(WireWriter& to, const std::optional<Candidate>& candidate) {
  to.u8(candidate ? 1 : 0);
  if (candidate) put(to, *candidate);
}
std::optional<Candidate> get_optional(WireReader& from) {
  if (from.u8() == 0) return std::nullopt;
  return get_candidate(from);
}

void put(WireWriter& to, const std::vector<double>& values) {
  to.u32(static_cast<std::uint32_t>(values.size()));
  for (const double value : values) to.f64(value);
}
std::vector<double> get_numbers(WireReader& from) {
  std::vector<double> values;
  for (std::uint32_t n = from.u32(); n > 0 && from.ok(); --n) values.push_back(from.f64());
  return values;
}

using Facts = std::map<std::string, Fact, std::less<>>;
void put(WireWriter& to, const Facts& facts) {
  to.u32(static_cast<std::uint32_t>(facts.size()));
  for (const auto& [name, fact] : facts) {
    to.text(name).f64(fact.value).u8(static_cast<std::uint8_t>(fact.source));
  }
}
Facts get_facts(WireReader& from) {
  Facts facts;
  for (std::uint32_t n = from.u32(); n > 0 && from.ok(); --n) {
    const std::string name = from.text();
    const double value = from.f64();
    facts[name] = {value, static_cast<FactSource>(from.u8())};
  }
  return facts;
}

// Every member of DeviceLimits, once.
template <class Limits, class Visit>
void each_limit(Limits& limits, Visit&& visit) {
  visit(limits.compute_major);
  visit(limits.compute_minor);
  visit(limits.multiprocessors);
  visit(limits.threads_per_sm);
  visit(limits.blocks_per_sm);
  visit(limits.registers_per_sm);
  visit(limits.registers_per_block);
  visit(limits.threads_per_block);
  visit(limits.smem_per_sm_bytes);
  visit(limits.smem_per_block_bytes);
  visit(limits.reserved_smem_bytes);
}

}  // namespace

std::string encode(const OpenDevice& message) {
  return request(DeviceMessage::open).text(message.options).bytes();
}
bool decode(std::string_view bytes, OpenDevice& message) {
  WireReader from(bytes);
  message.options = from.text();
  return from.complete();
}

std::string encode(const DeviceHello& message) {
  WireWriter to;
  to.text(message.problem).text(message.facts.name).text(message.facts.arch).text(message.uuid);
  to.u32(static_cast<std::uint32_t>(message.driver_version)).u64(message.free_bytes);
  each_limit(message.limits, [&](auto value) { to.u64(static_cast<std::uint64_t>(value)); });
  return to.bytes();
}
bool decode(std::string_view bytes, DeviceHello& message) {
  WireReader from(bytes);
  message.problem = from.text();
  message.facts.runner = "cuda";
  message.facts.is_gpu = true;
  message.facts.name = from.text();
  message.facts.arch = from.text();
  message.uuid = from.text();
  message.driver_version = static_cast<int>(from.u32());
  message.free_bytes = from.u64();
  each_limit(message.limits, [&](auto& value) {
    value = static_cast<std::remove_reference_t<decltype(value)>>(from.u64());
  });
  message.facts.multiprocessors = message.limits.multiprocessors;
  message.facts.max_threads_per_block = message.limits.threads_per_block;
  message.facts.max_smem_per_block_bytes = message.limits.smem_per_block_bytes;
  return from.complete();
}

std::string encode(const DeviceTools& message) {
  return request(DeviceMessage::tools)
      .text(message.harness_cubin)
      .text(message.peaks_cubin)
      .bytes();
}
bool decode(std::string_view bytes, DeviceTools& message) {
  WireReader from(bytes);
  message.harness_cubin = from.text();
  message.peaks_cubin = from.text();
  return from.complete();
}

std::string encode(const Done& message) {
  return WireWriter().text(message.problem).bytes();
}
bool decode(std::string_view bytes, Done& message) {
  WireReader from(bytes);
  message.problem = from.text();
  return from.complete();
}

std::string encode(const PrepareProblem& message) {
  WireWriter to = request(DeviceMessage::prepare);
  to.text(message.spec).texts(message.workloads);
  put_optional(to, message.reference);
  put(to, message.baseline);
  return to.u64(message.seed).u8(message.exact_memory ? 1 : 0).bytes();
}
bool decode(std::string_view bytes, PrepareProblem& message) {
  WireReader from(bytes);
  message.spec = from.text();
  message.workloads = from.texts();
  message.reference = get_optional(from);
  message.baseline = get_candidate(from);
  message.seed = from.u64();
  message.exact_memory = from.u8() != 0;
  return from.complete();
}

std::string encode(const Evaluate& message) {
  WireWriter to = request(DeviceMessage::evaluate);
  put(to, message.candidate);
  to.u8(static_cast<std::uint8_t>(message.stage)).u64(message.seed).f64(message.incumbent_ns);
  to.u8(message.profile ? 1 : 0);
  put_optional(to, message.rival);
  to.u8(message.versus ? 1 : 0).f64(message.searched_ns);
  return to.bytes();
}
bool decode(std::string_view bytes, Evaluate& message) {
  WireReader from(bytes);
  message.candidate = get_candidate(from);
  message.stage = static_cast<Stage>(from.u8());
  message.seed = from.u64();
  message.incumbent_ns = from.f64();
  message.profile = from.u8() != 0;
  message.rival = get_optional(from);
  message.versus = from.u8() != 0;
  message.searched_ns = from.f64();
  return from.complete() && (message.rival || !message.versus) &&
         static_cast<std::size_t>(message.stage) < kStageNames.size();
}

std::string encode(const TrialReply& message) {
  WireWriter to;
  to.u8(static_cast<std::uint8_t>(message.status));
  to.u32(static_cast<std::uint32_t>(message.gates.size()));
  for (const GateResult& gate : message.gates) {
    to.text(gate.gate).u8(static_cast<std::uint8_t>(gate.answer)).text(gate.detail);
  }
  to.u32(static_cast<std::uint32_t>(message.timings.size()));
  for (const WorkloadTiming& timing : message.timings) {
    to.text(timing.workload).text(timing.cache);
    put(to, timing.samples_ns);
    put(to, timing.baseline_samples_ns);
    put(to, timing.launch);
  }
  put(to, message.diagnosis.time_bound_ns);
  put(to, message.diagnosis.facts);
  to.text(message.log).f64(message.seconds).f64(message.objective_ns);
  to.u8(message.confirmed_faster ? 1 : 0).u8(message.poisoned ? 1 : 0).text(message.trouble);
  return to.bytes();
}
bool decode(std::string_view bytes, TrialReply& message) {
  WireReader from(bytes);
  message.status = static_cast<Status>(from.u8());
  for (std::uint32_t n = from.u32(); n > 0 && from.ok(); --n) {
    GateResult gate;
    gate.gate = from.text();
    gate.answer = static_cast<GateResult::Answer>(from.u8());
    gate.detail = from.text();
    message.gates.push_back(std::move(gate));
  }
  for (std::uint32_t n = from.u32(); n > 0 && from.ok(); --n) {
    WorkloadTiming timing;
    timing.workload = from.text();
    timing.cache = from.text();
    timing.samples_ns = get_numbers(from);
    timing.baseline_samples_ns = get_numbers(from);
    timing.launch = get_launch(from);
    message.timings.push_back(std::move(timing));
  }
  message.diagnosis.time_bound_ns = get_facts(from);
  message.diagnosis.facts = get_facts(from);
  message.log = from.text();
  message.seconds = from.f64();
  message.objective_ns = from.f64();
  message.confirmed_faster = from.u8() != 0;
  message.poisoned = from.u8() != 0;
  message.trouble = from.text();
  return from.complete() && static_cast<std::size_t>(message.status) < kStatusNames.size();
}

}  // namespace warpath::cuda
