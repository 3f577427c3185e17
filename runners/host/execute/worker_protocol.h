#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <variant>
#include <vector>

#include "engine/base/dtype.h"
#include "engine/spec/launch.h"
#include "engine/spec/parameters.h"
#include "engine/spec/spec.h"
#include "runners/host/execute/block.h"
#include "runners/host/execute/buffer.h"
#include "runners/host/execute/fault.h"

namespace warpath::host {

// Messages between the runner and its worker processes, one frame each (runners/worker/frames.h).

/// The first request: seals the worker.
struct StartCommand {
  int threads = 1;
};
struct Hello {
  int landlock = 0;
  bool seccomp = false;
};

/// Sent with the object file's descriptor.
struct LoadCommand {
  std::string path;
  std::uint64_t kernel = 0;  ///< index of the entry to launch
  std::uint64_t steps = 0;   ///< number of entries after it that are kernels of steps
};

struct LoadReply {
  std::string problem;  ///< empty: loaded
  std::vector<WarpathParameter> parameters;
  std::uint64_t static_shared_bytes = 0;               ///< maximum over the entries
  std::vector<std::vector<WarpathParameter>> steps{};  ///< parameters of the kernels of steps
};

/// One kernel argument: a tensor's bytes (empty for outputs) or a scalar's value.
struct BoundArgument {
  bool is_tensor = false;
  ArgRole role = ArgRole::input;
  DType dtype = DType::f32;
  std::uint64_t size_bytes = 0;
  std::uint64_t alignment_bytes = 16;
  std::vector<std::byte> bytes;
};

struct BindCommand {
  std::vector<BoundArgument> arguments;
  /// how the main kernel takes them, if in structs; empty: each is a parameter
  std::vector<ParameterLayout> parameters{};
};
/// Reply to BindCommand.
struct Bound {
  std::uint64_t arguments = 0;
};

/// An operation before or after the main launch.
struct StepCommand {
  bool zero = false;         ///< true: sets `arguments` to zero bytes; false: launches
  std::uint32_t kernel = 0;  ///< index among the kernels of steps
  LaunchNumbers numbers;
  std::vector<std::uint32_t> arguments;  ///< bound arguments, followed by the scratch buffers
};

/// Words that fill shared memory, which has no contents that a kernel may rely on; nullopt: what
/// the block before left, as on a device.
inline constexpr std::array<std::optional<std::uint32_t>, 8> kSharedContents{
    UINT32_MAX, 0, std::nullopt, 1, 0x7f7f7f7f, 2, std::nullopt, 0x3f800000};

struct LaunchCommand {
  LaunchNumbers numbers;
  Schedule schedule = Schedule::forward;
  Placement placement = Placement::canaries;
  std::uint64_t seed = 0;  ///< of the schedule, the canaries and the poison
  /// of every four elements of the outputs about two keep what the previous launch wrote, one
  /// nearly
  bool over_results = false;
  /// threads of a block switch at accesses to memory, of code that was compiled for it
  bool interleaved = false;
  /// of such code, whose blocks run one after another: stores are looked for that nothing orders
  bool orders_stores = false;
  Rounding rounding = Rounding::nearest;
  /// What shared memory has before each block: 0: bytes that follow from the schedule; k:
  /// kSharedContents[k - 1].
  std::uint8_t shared_contents = 0;
  /// 0: NaNs around the tensors; k: portable::constant_guard(k - 1).
  std::uint8_t guards = 0;
  /// Two bound tensors that share the buffer of the larger one, with the contents of the first,
  /// which is only read. Equal: none.
  std::array<std::uint32_t, 2> shared{};
  std::vector<std::uint64_t> scratch_bytes{};  ///< passed to the kernel after the bound arguments
  std::vector<StepCommand> before{}, after{};
};

/// Timed launches: warm-up, then samples until `seconds` have passed, within the bounds on their
/// number.
struct TimeCommand {
  LaunchCommand launch;
  double seconds = 0;
  std::int32_t min_samples = 1, max_samples = 1;
};

struct LaunchReply {
  BlockEnd end = BlockEnd::done;
  std::string detail;
  std::string guard_violation;       ///< empty: none; otherwise where, without the tensor's name
  std::int32_t guard_argument = -1;  ///< with a violation: shared memory's
  bool guard_access = false;  ///< code that tells of its accesses made one there, a read perhaps
  /// the tensor that two threads stored different values to, in no order; behind the arguments:
  /// scratch
  std::int32_t unordered_argument = -1;
  std::string unordered_detail;           ///< where, and by whom
  std::int32_t mutated_argument = -1;     ///< first input whose bytes changed
  std::uint64_t state_bytes_changed = 0;  ///< of the module's globals and function statics
  bool fibers = false;
  std::vector<double> samples_ns;               ///< of TimeCommand; one for LaunchCommand
  std::vector<std::vector<std::byte>> outputs;  ///< of output and inout tensors, in argument order
};

/// Fills an output before a launch: NaNs for floating types, noise for integers, as a function of
/// the byte's offset.
void fill_poison(std::byte* begin, std::size_t size_bytes, DType dtype, std::uint64_t seed);
/// Puts about 15 of every 16 elements of `results` at their places from `begin`, three of them
/// nearly: with other low bits, or a small number in place of 0.
void leave_results(std::byte* begin,
                   std::span<const std::byte> results,
                   DType dtype,
                   std::uint64_t seed);

/// What a worker sends in place of a reply when a signal ends it.
struct LastWords {
  std::vector<std::byte> record = std::vector<std::byte>(sizeof(FaultRecord));
  /// nullopt if the record is invalid: a candidate may have overwritten anything.
  [[nodiscard]] std::optional<FaultRecord> fault() const;
};

using Request = std::variant<StartCommand, LoadCommand, BindCommand, LaunchCommand, TimeCommand>;
using Reply = std::variant<Hello, LoadReply, Bound, LaunchReply, LastWords>;

[[nodiscard]] std::string encode(const StartCommand& command);
[[nodiscard]] std::string encode(const LoadCommand& command);
[[nodiscard]] std::string encode(const BindCommand& command);
[[nodiscard]] std::string encode(const LaunchCommand& command);
[[nodiscard]] std::string encode(const TimeCommand& command);
[[nodiscard]] std::string encode(const Reply& reply);

// Returns false unless the frame is one well-formed message.
[[nodiscard]] bool decode(std::string_view frame, Request& request);
[[nodiscard]] bool decode(std::string_view frame, Reply& reply);

}  // namespace warpath::host
