#include "runners/cuda/measure/messages.h"

#include "engine/plugin/device_fields.h"
#include "engine/plugin/outcome_fields.h"
#include "engine/plugin/stage_fields.h"
#include "runners/worker/wire.h"

namespace warpath {

using namespace cuda;

template <>
struct LastOf<LaunchStep::Kind> {
  static constexpr auto value = LaunchStep::Kind::kernel;
};

template <>
struct Description<StepNumbers> : Unnamed<&StepNumbers::kind,
                                          &StepNumbers::kernel_name,
                                          &StepNumbers::launch,
                                          &StepNumbers::arguments> {};
template <>
struct Description<ExtraNumbers>
    : Unnamed<&ExtraNumbers::scratch_bytes, &ExtraNumbers::before, &ExtraNumbers::after> {};
template <>
struct Description<CandidateCode> : Unnamed<&CandidateCode::cubin,
                                            &CandidateCode::entry,
                                            &CandidateCode::globals,
                                            &CandidateCode::ptx,
                                            &CandidateCode::has_atomics,
                                            &CandidateCode::step_entries> {};
template <>
struct Description<Candidate> : Unnamed<&Candidate::key,
                                        &Candidate::codes,
                                        &Candidate::code_of,
                                        &Candidate::numbers,
                                        &Candidate::extras> {};
template <>
struct Description<DeviceLimits> : Unnamed<&DeviceLimits::compute_major,
                                           &DeviceLimits::compute_minor,
                                           &DeviceLimits::multiprocessors,
                                           &DeviceLimits::threads_per_sm,
                                           &DeviceLimits::blocks_per_sm,
                                           &DeviceLimits::registers_per_sm,
                                           &DeviceLimits::registers_per_block,
                                           &DeviceLimits::threads_per_block,
                                           &DeviceLimits::smem_per_sm_bytes,
                                           &DeviceLimits::smem_per_block_bytes,
                                           &DeviceLimits::reserved_smem_bytes> {};
template <>
struct Description<OpenDevice> : Unnamed<&OpenDevice::options> {};
template <>
struct Description<DeviceHello> : Unnamed<&DeviceHello::problem,
                                          &DeviceHello::facts,
                                          &DeviceHello::limits,
                                          &DeviceHello::uuid,
                                          &DeviceHello::driver_version,
                                          &DeviceHello::free_bytes> {};
template <>
struct Description<DeviceTools> : Unnamed<&DeviceTools::harness_cubin, &DeviceTools::peaks_cubin> {
};
template <>
struct Description<Done> : Unnamed<&Done::problem> {};
template <>
struct Description<PrepareProblem> : Unnamed<&PrepareProblem::spec,
                                             &PrepareProblem::workloads,
                                             &PrepareProblem::reference,
                                             &PrepareProblem::baseline,
                                             &PrepareProblem::seed,
                                             &PrepareProblem::exact_memory> {};
template <>
struct Description<Evaluate> : Unnamed<&Evaluate::candidate,
                                       &Evaluate::stage,
                                       &Evaluate::seed,
                                       &Evaluate::incumbent_ns,
                                       &Evaluate::profile,
                                       &Evaluate::rival,
                                       &Evaluate::searched_ns,
                                       &Evaluate::pairs_seconds,
                                       &Evaluate::versus,
                                       &Evaluate::untimed> {};
template <>
struct Description<TrialReply> : Unnamed<&TrialReply::status,
                                         &TrialReply::gates,
                                         &TrialReply::timings,
                                         &TrialReply::diagnosis,
                                         &TrialReply::log,
                                         &TrialReply::seconds,
                                         &TrialReply::objective_ns,
                                         &TrialReply::confirmed_faster,
                                         &TrialReply::poisoned,
                                         &TrialReply::trouble> {};

}  // namespace warpath

namespace warpath::cuda {

std::string encode(const OpenDevice& message) {
  return encode_frame_as<DeviceRequest>(message);
}
std::string encode(const DeviceTools& message) {
  return encode_frame_as<DeviceRequest>(message);
}
std::string encode(const PrepareProblem& message) {
  return encode_frame_as<DeviceRequest>(message);
}
std::string encode(const Evaluate& message) {
  return encode_frame_as<DeviceRequest>(message);
}
std::string encode(const DeviceHello& message) {
  return encode_frame(message);
}
std::string encode(const Done& message) {
  return encode_frame(message);
}
std::string encode(const TrialReply& message) {
  return encode_frame(message);
}

bool decode(std::string_view frame, DeviceRequest& message) {
  if (!decode_frame(frame, message)) return false;
  const auto* const evaluate = std::get_if<Evaluate>(&message);
  return evaluate == nullptr || evaluate->rival || !evaluate->versus;
}
bool decode(std::string_view frame, DeviceHello& message) {
  return decode_frame(frame, message);
}
bool decode(std::string_view frame, Done& message) {
  return decode_frame(frame, message);
}
bool decode(std::string_view frame, TrialReply& message) {
  return decode_frame(frame, message);
}

}  // namespace warpath::cuda
