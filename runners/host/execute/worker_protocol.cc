#include "runners/host/execute/worker_protocol.h"

#include <algorithm>
#include <cmath>
#include <cstring>

#include "engine/base/rng.h"
#include "engine/plugin/outcome_fields.h"
#include "runners/worker/wire.h"

namespace warpath {

using namespace host;

template <>
struct LastOf<ArgRole> {
  static constexpr auto value = ArgRole::scalar;
};
template <>
struct LastOf<DType> {
  static constexpr auto value = kDTypes.back().dtype;
};
template <>
struct LastOf<Rounding> {
  static constexpr auto value = Rounding::downward;
};
template <>
struct LastOf<Schedule> {
  static constexpr auto value = Schedule::random;
};
template <>
struct LastOf<Placement> {
  static constexpr auto value = Placement::fence_before;
};
template <>
struct LastOf<BlockEnd> {
  static constexpr auto value = BlockEnd::fault;
};
template <>
struct LastOf<WarpathParameterKind> {
  static constexpr auto value = kWarpathOther;
};

template <>
struct Description<StartCommand> : Unnamed<&StartCommand::threads> {};
template <>
struct Description<Hello> : Unnamed<&Hello::landlock, &Hello::seccomp> {};
template <>
struct Description<LoadCommand>
    : Unnamed<&LoadCommand::path, &LoadCommand::kernel, &LoadCommand::steps> {};
template <>
struct Description<WarpathParameter> : Unnamed<&WarpathParameter::kind,
                                               &WarpathParameter::size_bytes,
                                               &WarpathParameter::pointee_bytes,
                                               &WarpathParameter::pointee_is_const> {};
template <>
struct Description<LoadReply> : Unnamed<&LoadReply::problem,
                                        &LoadReply::parameters,
                                        &LoadReply::static_shared_bytes,
                                        &LoadReply::steps> {};
template <>
struct Description<BoundArgument> : Unnamed<&BoundArgument::is_tensor,
                                            &BoundArgument::role,
                                            &BoundArgument::dtype,
                                            &BoundArgument::size_bytes,
                                            &BoundArgument::alignment_bytes,
                                            &BoundArgument::bytes> {};
template <>
struct Description<ParameterLayout> : Unnamed<&ParameterLayout::struct_name,
                                              &ParameterLayout::members,
                                              &ParameterLayout::offsets,
                                              &ParameterLayout::sizes,
                                              &ParameterLayout::size_bytes,
                                              &ParameterLayout::alignment_bytes> {};
template <>
struct Description<BindCommand> : Unnamed<&BindCommand::arguments, &BindCommand::parameters> {};
template <>
struct Description<Bound> : Unnamed<&Bound::arguments> {};
template <>
struct Description<StepCommand> : Unnamed<&StepCommand::zero,
                                          &StepCommand::kernel,
                                          &StepCommand::numbers,
                                          &StepCommand::arguments> {};
template <>
struct Description<LaunchCommand> : Unnamed<&LaunchCommand::numbers,
                                            &LaunchCommand::schedule,
                                            &LaunchCommand::placement,
                                            &LaunchCommand::seed,
                                            &LaunchCommand::over_results,
                                            &LaunchCommand::interleaved,
                                            &LaunchCommand::orders_stores,
                                            &LaunchCommand::rounding,
                                            &LaunchCommand::shared_contents,
                                            &LaunchCommand::guards,
                                            &LaunchCommand::shared,
                                            &LaunchCommand::scratch_bytes,
                                            &LaunchCommand::before,
                                            &LaunchCommand::after> {};
template <>
struct Description<TimeCommand> : Unnamed<&TimeCommand::launch,
                                          &TimeCommand::seconds,
                                          &TimeCommand::min_samples,
                                          &TimeCommand::max_samples> {};
template <>
struct Description<LaunchReply> : Unnamed<&LaunchReply::end,
                                          &LaunchReply::detail,
                                          &LaunchReply::guard_violation,
                                          &LaunchReply::guard_argument,
                                          &LaunchReply::guard_access,
                                          &LaunchReply::unordered_argument,
                                          &LaunchReply::unordered_detail,
                                          &LaunchReply::mutated_argument,
                                          &LaunchReply::state_bytes_changed,
                                          &LaunchReply::fibers,
                                          &LaunchReply::samples_ns,
                                          &LaunchReply::outputs> {};
template <>
struct Description<LastWords> : Unnamed<&LastWords::record> {};

}  // namespace warpath

namespace warpath::host {
namespace {

void shorten(std::string& text) {
  constexpr std::size_t kMost = 4096;
  if (text.size() > kMost) text.resize(kMost);
}

/// Exponent and first mantissa bit of a NaN in each element of 8 bytes; the other bits stay noise.
constexpr std::uint64_t quiet_nan_bits(DType dtype) {
  switch (dtype) {
    case DType::f64:
      return 0x7ff8'0000'0000'0000ULL;
    case DType::f32:
      return 0x7fc0'0000'7fc0'0000ULL;
    case DType::f16:
      return 0x7e00'7e00'7e00'7e00ULL;
    case DType::bf16:
      return 0x7fc0'7fc0'7fc0'7fc0ULL;
    default:
      return 0;
  }
}

}  // namespace

void fill_poison(std::byte* begin, std::size_t size_bytes, DType dtype, std::uint64_t seed) {
  const std::uint64_t nan_bits = quiet_nan_bits(dtype);
  for (std::size_t i = 0; i < size_bytes; i += sizeof(std::uint64_t)) {
    const std::uint64_t word = mix64(seed + i) | nan_bits;
    std::memcpy(begin + i, &word, std::min(sizeof word, size_bytes - i));
  }
}

namespace {

/// 2^-7, which is near 0.
std::uint64_t small_bits(DType dtype) {
  return dtype == DType::f64   ? 0x3f80000000000000ULL
         : dtype == DType::f32 ? 0x3c000000
         : dtype == DType::f16 ? 0x2000
                               : 0x3c00;
}

}  // namespace

void leave_results(std::byte* begin,
                   std::span<const std::byte> results,
                   DType dtype,
                   std::uint64_t seed) {
  const std::size_t width = info(dtype).size_bytes;
  // of what changes a number by 2^-11 of itself, and by 2^-6
  const unsigned low_bits = dtype == DType::f64 ? 41 : dtype == DType::f32 ? 12 : 3;
  const unsigned more_bits = low_bits + (width > 2 && info(dtype).is_float ? 5 : 2);
  for (std::size_t at = 0; at + width <= results.size(); at += width) {
    const std::uint64_t random = mix64(seed + at);
    if (random % 16 == 0) continue;
    std::uint64_t word = 0;
    std::memcpy(&word, &results[at], width);
    const bool nearly = random % 16 < 4;
    if (nearly && word == 0 && info(dtype).is_float)
      word = small_bits(dtype);
    else if (nearly)
      word ^= random >> (64 - (random % 16 == 1 ? low_bits : more_bits)) | 1U;
    std::memcpy(begin + at, &word, width);
  }
}

std::optional<FaultRecord> LastWords::fault() const {
  FaultRecord out;
  if (record.size() != sizeof out) return std::nullopt;
  std::memcpy(static_cast<void*>(&out), record.data(), sizeof out);
  return out.where <= FaultRecord::Where::tensor ? std::optional(out) : std::nullopt;
}

std::string encode(const StartCommand& command) {
  return encode_frame_as<Request>(command);
}
std::string encode(const LoadCommand& command) {
  return encode_frame_as<Request>(command);
}
std::string encode(const BindCommand& command) {
  return encode_frame_as<Request>(command);
}
std::string encode(const LaunchCommand& command) {
  return encode_frame_as<Request>(command);
}
std::string encode(const TimeCommand& command) {
  return encode_frame_as<Request>(command);
}
std::string encode(const Reply& reply) {
  return encode_frame(reply);
}

bool decode(std::string_view frame, Request& request) {
  return decode_frame(frame, request);
}

bool decode(std::string_view frame, Reply& reply) {
  if (!decode_frame(frame, reply)) return false;
  if (auto* const load = std::get_if<LoadReply>(&reply)) shorten(load->problem);
  auto* const launch = std::get_if<LaunchReply>(&reply);
  if (launch == nullptr) return true;
  shorten(launch->detail);
  shorten(launch->guard_violation);
  return std::ranges::all_of(launch->samples_ns,
                             [](double ns) { return std::isfinite(ns) && ns >= 0; });
}

}  // namespace warpath::host
