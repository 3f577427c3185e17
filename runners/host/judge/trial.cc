#include "runners/host/judge/trial.h"

#include <algorithm>
#include <chrono>
#include <vector>

#include "engine/base/dtype.h"
#include "engine/base/error.h"
#include "engine/base/round_up.h"
#include "engine/base/stopwatch.h"
#include "engine/spec/launch.h"
#include "runners/host/compile/compile.h"
#include "runners/host/execute/worker_client.h"
#include "runners/host/judge/inputs.h"

namespace warpath::host {
namespace {

constexpr std::uint64_t kMostBytes = 256ULL << 20U;  // of all tensors
constexpr double kMostSeconds = 20;

/// Launches with tensors that grow.
class Trial {
 public:
  Trial(const KernelSpec& spec,
        const Workload& workload,
        const HostOptions& options,
        const std::string& program)
      : spec_(spec), options_(options), compiler_(options), worker_(program, options) {
    const InputSet inputs = make_inputs(spec, workload, 0);
    arguments_ = bound_arguments(spec, workload, inputs);
    kernel_ = baseline_variant(spec);
    command_.numbers = evaluate(launch_for(spec, kernel_, workload),
                                spec.bindings(workload, kernel_.tunables), spec.origin);
    command_.placement = Placement::fence;
    const Macros macros = macros_for(spec, workload, kernel_.tunables, kernel_.compiler_options);
    const Compiled compiled = compiler_.compile({.source = kernel_.source,
                                                 .kernels = {kernel_.kernel_name},
                                                 .macros = macros.text,
                                                 .integers = macros.integers});
    if (compiled.status == Status::ok) object_ = compiled.object_path;
  }

  /// Whether a launch ended well; arguments then have the sizes that it needs.
  bool run() {
    if (object_.empty() || !launch_problem(command_.numbers).empty()) return false;
    const Stopwatch watch;
    const WorkerClient::Limit limit(options_.launch_seconds);
    while (watch.seconds() < kMostSeconds) {
      const auto loaded = worker_.load(object_, 0, limit, {});
      if (loaded.loss || !loaded.reply.problem.empty()) return false;
      if (worker_.bind(arguments_, limit, {}, struct_parameters(spec_))) return false;
      const auto answer = worker_.launch(command_, limit, {});
      if (!answer.loss) return answer.reply.end == BlockEnd::done;
      if (!answer.loss->fault || !grow(*answer.loss->fault)) return false;
    }
    return false;
  }

  [[nodiscard]] std::map<std::string, std::int64_t> elements() const {
    std::map<std::string, std::int64_t> out;
    std::size_t i = 0;
    for (const ArgSpec* const arg : kernel_arguments(spec_)) {
      const BoundArgument& bound = arguments_[i++];
      if (bound.is_tensor)
        out[arg->name] = static_cast<std::int64_t>(bound.size_bytes / info(bound.dtype).size_bytes);
    }
    return out;
  }

 private:
  /// The tensor that an access went beyond; all of them where none is named: an access far beyond
  /// one is in no fence.
  bool grow(const FaultRecord& fault) {
    const bool named = fault.where == FaultRecord::Where::tensor;
    if (!named && fault.where != FaultRecord::Where::elsewhere) return false;
    std::uint64_t total = 0;
    for (std::size_t i = 0; i < arguments_.size(); ++i) {
      BoundArgument& bound = arguments_[i];
      if (!bound.is_tensor) continue;
      if (!named) enlarge(bound, 2 * bound.size_bytes);
      if (named && static_cast<std::size_t>(fault.tensor) == i) {
        if (fault.offset < static_cast<std::int64_t>(bound.size_bytes)) return false;
        enlarge(bound, std::max(static_cast<std::uint64_t>(fault.offset) + 1,
                                bound.size_bytes + bound.size_bytes / 4));
      }
      total += bound.size_bytes;
    }
    return total <= kMostBytes;
  }

  static void enlarge(BoundArgument& bound, std::uint64_t bytes) {
    bound.size_bytes = round_up(bytes, std::uint64_t{16});
    const std::size_t known = bound.bytes.size();
    if (known == 0) return;
    bound.bytes.reserve(bound.size_bytes);
    for (std::size_t i = 0; bound.bytes.size() < bound.size_bytes; ++i)
      bound.bytes.push_back(bound.bytes[i % known]);
  }

  const KernelSpec& spec_;
  const HostOptions options_;
  const Compiler compiler_;
  WorkerClient worker_;
  Variant kernel_;
  std::vector<BoundArgument> arguments_;
  LaunchCommand command_;
  std::string object_;
};

}  // namespace

std::optional<std::map<std::string, std::int64_t>> reached_elements(const KernelSpec& spec,
                                                                    const Workload& workload,
                                                                    const HostOptions& options,
                                                                    const std::string& program) {
  try {
    Trial trial(spec, workload, options, program);
    if (!trial.run()) return std::nullopt;
    return trial.elements();
  } catch (const Error&) {
    return std::nullopt;
  }
}

}  // namespace warpath::host
