#pragma once

#include <cstdint>
#include <map>
#include <memory>
#include <optional>
#include <string>
#include <variant>
#include <vector>

#include "engine/base/dtype.h"
#include "engine/spec/expression.h"
#include "engine/spec/launch.h"
#include "engine/spec/tensor.h"

namespace warpath {

/// How a tensor is filled. Counter-based: element i depends only on (seed, i), so that every device
/// and the host runner produce the same values (engine/spec/tensor_init.h).
struct InitRule {
  enum class Kind : std::uint8_t {
    /// integer randn = full-range randint; arange tiles the last dimension
    randn,
    uniform,
    zeros,
    ones,
    full,
    arange,
    randint,  ///< uniform integers in [low, high)
    /// of 0..last dimension-1, an independent one per row
    permutation,
    /// length rows+1, mean row length `mean`, tail by `skew`
    csr_row_pointers,
    /// sorted within a row, in [0, high); rows as in `row_pointers`
    csr_column_indices,
  };
  Kind kind = Kind::randn;
  std::uint64_t seed = 0;
  double mean = 0, std = 1;  ///< randn; csr_row_pointers: mean row length
  /// uniform and randint: [low, high); csr_column_indices: high
  std::optional<Expression> low, high;
  double low_value = 0, high_value = 1;  ///< uniform with non-integer bounds
  double fill_value = 0;                 ///< full
  double start = 0, step = 1;            ///< arange
  /// randint: share of the mass on one value; csr: long-tail strength, in [0, 1]
  double skew = 0;
  std::string row_pointers;  ///< csr_column_indices: name of the row-pointer tensor
};

/// Values given in the spec.
struct EmbeddedData {
  Tensor tensor;
};

struct TensorSpec {
  std::vector<Expression> shape;
  DType dtype = DType::f32;
  /// monostate: uninitialised (runners fill it with poison)
  std::variant<std::monostate, InitRule, EmbeddedData> content;
  /// Name of the tensor argument whose first dimension (or, for flat use, element count) this
  /// integer tensor indexes; empty if none. Values outside it make the spec invalid.
  std::string indexes;
  std::int64_t alignment_bytes = 16;  ///< of the base address; moves may rely on it
};

enum class ArgType : std::uint8_t { tensor, integer, floating, string, boolean };
enum class ArgRole : std::uint8_t { input, output, inout, scalar };

struct ArgSpec {
  std::string name;
  ArgType type = ArgType::tensor;
  ArgRole role = ArgRole::input;
  /// of a scalar passed to the kernel (int -> int32 unless "dtype" says otherwise)
  DType dtype = DType::i32;
  std::variant<std::monostate, std::int64_t, double, bool, std::string> value;  ///< scalars only
  /// compile-time only (macro or template argument), not passed to the kernel
  bool is_meta = false;
  /// with is_meta: no macro either; a size that the spec's expressions alone use
  bool is_size = false;
  /// Name of the parameter, a struct passed by value, that this is a member of; empty: the argument
  /// is a parameter itself. The members of one struct follow one another, in the order of its text.
  std::string member_of;
  std::optional<TensorSpec> tensor;
};

/// The arguments of the kernel in order, its launch plan and permitted aliasing.
struct IOContract {
  std::vector<ArgSpec> args;
  LaunchPlan launch;
  /// groups of tensors that may share a buffer; default: none
  std::vector<std::vector<std::string>> may_alias;

  [[nodiscard]] const ArgSpec* find(std::string_view name) const;  ///< nullptr if absent
};

/// Pass if |out - ref| <= atol + rtol*|ref| for every element and ||out - ref||_2 <= norm *
/// ||ref||_2. A non-finite element must match in class and sign. `exact` requires equal bytes.
struct Tolerance {
  double atol = 1e-5;
  double rtol = 1e-5;
  double norm = 1e-5;
  bool exact = false;
};

/// The reference is independent of the candidate: exactly one of these.
struct ReferenceKernel {  ///< a second, naive kernel (fp64 accumulation), launched by the harness
  std::string source;
  std::string source_file;  ///< as written; empty if inline
  std::string kernel_name;
  LaunchPlan launch;
};
/// a built-in fp64 host operation; `operands`: its parameter -> argument name or literal
struct ReferenceHostOp {
  std::string op;
  std::map<std::string, std::string> operands;
};
/// external program; reads DIR/<arg>.npy and DIR/scalars.json, writes DIR/<output>.npy
struct ReferenceCommand {
  std::vector<std::string> argv;  ///< "{dir}" is replaced by the exchange folder
  double timeout_s = 60;
};
/// accepted so that specs of other systems load; no runner can use it
struct ReferencePython {
  std::string module, function;
  double rtol = 1e-3, atol = 1e-3;
};
/// Outputs that were computed elsewhere, for the inputs of the spec alone: workload -> output ->
/// values
struct ReferenceOutputs {
  std::map<std::string, std::map<std::string, EmbeddedData>> of_workload;
};
using Reference = std::variant<std::monostate,
                               ReferenceKernel,
                               ReferenceHostOp,
                               ReferenceCommand,
                               ReferenceOutputs,
                               ReferencePython>;

/// counted | correctness only | must not get slower
enum class WorkloadRole : std::uint8_t { score, regress, guard };
enum class WorkloadTarget : std::uint8_t { any, gpu, host };  ///< which runners use it

/// State of the level-2 cache for timed launches: `hot` holds what the previous launch touched,
/// `cold` was flushed. `both`: hot is scored, cold is also reported.
enum class L2Timing : std::uint8_t { hot, cold, both };

struct Workload {
  std::string name;
  WorkloadRole role = WorkloadRole::score;
  WorkloadTarget target = WorkloadTarget::any;
  double weight = 1;
  /// overrides by argument name
  std::map<std::string, std::variant<std::int64_t, double, bool>, std::less<>> scalars;
  /// overrides by tensor name
  std::map<std::string, InitRule, std::less<>> init;
  /// complete overrides by tensor name; `init` is applied on top
  std::map<std::string, TensorSpec, std::less<>> tensors;
  /// overrides the baseline plan
  std::optional<LaunchPlan> launch;
  double min_speedup = 0;      ///< guard: floor on baseline/candidate (0: the run's option)
  std::optional<L2Timing> l2;  ///< of runners with such a cache; none: the runner's option
};

/// An integer that moves may change: a macro defined by -D<name>=<value>, and a name in
/// expressions.
struct Tunable {
  std::string name;
  std::vector<std::int64_t> values;  ///< ascending, distinct, not empty
  std::int64_t default_value = 0;    ///< one of `values`
  std::string help;
};

enum class Objective : std::uint8_t { geomean, weighted, worst };

/// Compulsory work of one launch, for the roofline. Expressions over the scalars.
struct WorkBound {
  std::optional<Expression> bytes;
  /// by type: float64 float32 float16 bfloat16 tf32 int8 sfu int32
  std::map<std::string, Expression> flops;
};

enum class KernelType : std::uint8_t { cuda, triton, ptx, multi_kernel };

struct DeviceProfile {  ///< as given in a spec; runners measure instead of trusting it
  std::string gpu_name, arch;
  std::int64_t sms = 0, regs_per_sm = 0, smem_per_sm = 0;
  double hbm_bw_gbps = 0;
};

/// What compiles the kernel for a GPU.
enum class DeviceCompiler : std::uint8_t {
  nvrtc,
  nvcc,  ///< for text that NVRTC refuses: host code, headers of the C++ library, CUB's device part
};

/// Who decides on grid, block, cluster and dynamic shared memory.
enum class LaunchOwner : std::uint8_t {
  search,  ///< moves may change them
  caller,  ///< every variant is launched as the spec's own kernel is
};

/// A header of a library, as kernels name it: "cub/cub.cuh".
struct SystemHeader {
  std::string name;
  std::string text;
};
/// Headers that a kernel includes from folders of libraries, with all that they include.
struct SystemHeaders {
  std::vector<SystemHeader> files;  ///< by name
  std::string key;                  ///< hash of names and texts; empty if there are none
};

/// A line `#include "x.h"` whose file was found neither beside the file that has it nor in an
/// include folder.
struct MissingHeader {
  std::string name;   ///< as written
  std::string place;  ///< "FILE:LINE" of the line
  bool operator==(const MissingHeader&) const = default;
};

/// A part of a spec that `warpath init` guessed. No meaning but for people.
struct Guess {
  std::string path;  ///< JSON pointer within the spec
  std::string why;   ///< one line
};

/// What is optimised and how it is judged. Loaded by engine/spec/spec_load.h; docs/spec.md
/// describes the JSON.
struct KernelSpec {
  std::string name;
  std::string origin;  ///< file and JSON pointer it was read from, for messages
  std::string description;
  KernelType kernel_type = KernelType::cuda;
  std::string source;
  std::string source_file;  ///< as written; empty if inline
  std::string kernel_name;
  std::vector<std::string> compiler_options;
  /// template instantiation to launch, e.g. "row_sum<float, 4>"
  std::vector<std::string> name_expressions;
  DeviceCompiler compiler = DeviceCompiler::nvrtc;
  /// of the project: what `#include "x.h"` finds there becomes part of the source; empty once read
  std::vector<std::string> include_folders;
  /// of libraries: their headers stay headers
  std::vector<std::string> system_include_folders;
  /// Found there. Shared since a spec is copied and these are megabytes; null: none.
  std::shared_ptr<const SystemHeaders> system_headers;
  /// Left in the source, since they were not found.
  std::vector<MissingHeader> missing_headers;
  LaunchOwner launch_owner = LaunchOwner::search;
  IOContract io;
  /// never empty after loading: one named "default" if the spec lists none
  std::vector<Workload> workloads;
  std::vector<Tunable> tunables;
  /// over scalars and tunables; all must be non-zero for a variant
  std::vector<Expression> constraints;
  Reference reference;
  std::map<std::string, Tolerance, std::less<>> tolerance;  ///< by output; "" is the default
  Objective objective = Objective::geomean;
  WorkBound bound;
  std::optional<DeviceProfile> device_profile;
  std::vector<Guess> guessed;

  /// "FILE:/json/pointer" of `pointer` within this spec, for messages.
  [[nodiscard]] std::string place(std::string_view pointer) const;
  /// place() of the tensor_spec of `arg` under `workload`, with the workload's name.
  [[nodiscard]] std::string place_of(const ArgSpec& arg, const Workload& workload) const;

  /// Scalar arguments of `workload` and `tunables`, for evaluating expressions. Booleans are 0 and
  /// 1; floats are omitted.
  [[nodiscard]] Bindings bindings(
      const Workload& workload,
      const std::map<std::string, std::int64_t, std::less<>>& tunable_values) const;
  /// Every tunable at its default.
  [[nodiscard]] std::map<std::string, std::int64_t, std::less<>> default_tunables() const;
  [[nodiscard]] const Tolerance& tolerance_of(std::string_view output) const;
  /// `arg`'s tensor under `workload`: the workload's `tensors` entry if any, otherwise the
  /// argument's own, with the workload's `init` override on top. `arg` must be a tensor.
  [[nodiscard]] TensorSpec tensor_of(const ArgSpec& arg, const Workload& workload) const;
  /// Extents of `arg`'s tensor under `workload`. Throws Error(bad_input) if an expression cannot be
  /// evaluated.
  [[nodiscard]] std::vector<std::int64_t> shape_of(const ArgSpec& arg,
                                                   const Workload& workload) const;
  /// The initial plan for `workload`: its own if any, otherwise that of the io contract.
  [[nodiscard]] const LaunchPlan& launch_of(const Workload& workload) const;
};

}  // namespace warpath
