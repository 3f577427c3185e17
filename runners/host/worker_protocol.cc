#include "runners/host/worker_protocol.h"

#include <algorithm>

#include "engine/base/rng.h"

namespace warpath::host {
namespace {

constexpr std::uint64_t kMaxEntries = 1 << 20;  // of any list; more is a damaged message

std::uint64_t count(Unpacker& from) {
  return std::min(from.get<std::uint64_t>(), kMaxEntries);
}

void put(Packer& to, const std::vector<StepCommand>& steps) {
  to.put(static_cast<std::uint64_t>(steps.size()));
  for (const auto& step : steps) {
    to.put(step.zero).put(step.kernel).put(step.numbers);
    to.put_bytes(std::as_bytes(std::span(step.arguments)));
  }
}

void put(Packer& to, const LaunchCommand& command) {
  to.put(command.numbers)
      .put(command.schedule)
      .put(command.placement)
      .put(command.seed)
      .put(command.over_results)
      .put(command.guards)
      .put(command.shared);
  to.put_bytes(std::as_bytes(std::span(command.scratch_bytes)));
  put(to, command.before);
  put(to, command.after);
}

template <class T>
std::vector<T> get_values(Unpacker& from) {
  const auto bytes = from.get_bytes();
  std::vector<T> values(bytes.size() / sizeof(T));
  if (!values.empty()) std::memcpy(values.data(), bytes.data(), values.size() * sizeof(T));
  return values;
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

std::vector<std::byte> pack_load(const std::string& path,
                                 std::uint64_t kernel,
                                 std::uint64_t steps) {
  return Packer().put(Message::load).put(kernel).put(steps).put_text(path).bytes();
}

std::vector<std::byte> pack_bind(const std::vector<BoundArgument>& arguments) {
  Packer to;
  to.put(Message::bind).put(static_cast<std::uint64_t>(arguments.size()));
  for (const auto& a : arguments) {
    to.put(a.is_tensor)
        .put(a.role)
        .put(a.dtype)
        .put(a.size_bytes)
        .put(a.alignment_bytes)
        .put_bytes(a.bytes);
  }
  return to.bytes();
}

std::vector<BoundArgument> unpack_bind(Unpacker& from) {
  std::vector<BoundArgument> out;
  for (std::uint64_t i = count(from); i > 0 && from.ok(); --i) {
    BoundArgument a;
    a.is_tensor = from.get<bool>();
    a.role = from.get<ArgRole>();
    a.dtype = from.get<DType>();
    a.size_bytes = from.get<std::uint64_t>();
    a.alignment_bytes = from.get<std::uint64_t>();
    const auto bytes = from.get_bytes();
    a.bytes.assign(bytes.begin(), bytes.end());
    out.push_back(std::move(a));
  }
  return out;
}

std::vector<std::byte> pack(const LaunchCommand& command) {
  Packer to;
  to.put(Message::launch);
  put(to, command);
  return to.bytes();
}

namespace {

std::vector<StepCommand> unpack_steps(Unpacker& from) {
  std::vector<StepCommand> out;
  for (std::uint64_t i = count(from); i > 0 && from.ok(); --i) {
    StepCommand step;
    step.zero = from.get<bool>();
    step.kernel = from.get<std::uint32_t>();
    step.numbers = from.get<LaunchNumbers>();
    step.arguments = get_values<std::uint32_t>(from);
    out.push_back(std::move(step));
  }
  return out;
}

}  // namespace

LaunchCommand unpack_launch(Unpacker& from) {
  LaunchCommand command;
  command.numbers = from.get<LaunchNumbers>();
  command.schedule = from.get<Schedule>();
  command.placement = from.get<Placement>();
  command.seed = from.get<std::uint64_t>();
  command.over_results = from.get<bool>();
  command.guards = from.get<std::uint8_t>();
  command.shared = from.get<std::array<std::uint32_t, 2>>();
  command.scratch_bytes = get_values<std::uint64_t>(from);
  command.before = unpack_steps(from);
  command.after = unpack_steps(from);
  return command;
}

std::vector<std::byte> pack(const TimeCommand& command) {
  Packer to;
  to.put(Message::time);
  put(to, command.launch);
  return to.put(command.seconds).put(command.min_samples).put(command.max_samples).bytes();
}

TimeCommand unpack_time(Unpacker& from) {
  TimeCommand command;
  command.launch = unpack_launch(from);
  command.seconds = from.get<double>();
  command.min_samples = from.get<std::int32_t>();
  command.max_samples = from.get<std::int32_t>();
  return command;
}

std::vector<std::byte> pack(const LoadReply& reply) {
  Packer to;
  to.put(Message::reply).put_text(reply.problem).put(reply.static_shared_bytes);
  to.put(static_cast<std::uint64_t>(reply.parameters.size()));
  for (const auto& parameter : reply.parameters) to.put(parameter);
  to.put(static_cast<std::uint64_t>(reply.steps.size()));
  for (const auto& step : reply.steps) to.put_bytes(std::as_bytes(std::span(step)));
  return to.bytes();
}

LoadReply unpack_load_reply(Unpacker& from) {
  LoadReply reply;
  reply.problem = from.get_text();
  reply.static_shared_bytes = from.get<std::uint64_t>();
  for (std::uint64_t i = count(from); i > 0 && from.ok(); --i)
    reply.parameters.push_back(from.get<WarpathParameter>());
  for (std::uint64_t i = count(from); i > 0 && from.ok(); --i)
    reply.steps.push_back(get_values<WarpathParameter>(from));
  return reply;
}

std::vector<std::byte> pack(const LaunchReply& reply) {
  Packer to;
  to.put(Message::reply)
      .put(reply.end)
      .put_text(reply.detail)
      .put_text(reply.guard_violation)
      .put(reply.guard_argument);
  to.put(reply.mutated_argument).put(reply.state_bytes_changed).put(reply.fibers);
  to.put_bytes(std::as_bytes(std::span(reply.samples_ns)));
  to.put(static_cast<std::uint64_t>(reply.outputs.size()));
  for (const auto& output : reply.outputs) to.put_bytes(output);
  return to.bytes();
}

LaunchReply unpack_launch_reply(Unpacker& from) {
  LaunchReply reply;
  reply.end = from.get<BlockEnd>();
  reply.detail = from.get_text();
  reply.guard_violation = from.get_text();
  reply.guard_argument = from.get<std::int32_t>();
  reply.mutated_argument = from.get<std::int32_t>();
  reply.state_bytes_changed = from.get<std::uint64_t>();
  reply.fibers = from.get<bool>();
  reply.samples_ns = get_values<double>(from);
  for (std::uint64_t i = count(from); i > 0 && from.ok(); --i) {
    const auto bytes = from.get_bytes();
    reply.outputs.emplace_back(bytes.begin(), bytes.end());
  }
  return reply;
}

}  // namespace warpath::host
