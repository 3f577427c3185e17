#pragma once

#include <optional>
#include <string>
#include <string_view>
#include <variant>
#include <vector>

#include "engine/plugin/outcome.h"
#include "engine/plugin/runner.h"
#include "runners/cuda/driver/candidate.h"
#include "runners/cuda/driver/occupancy.h"

/// Messages between the engine and a device worker: one frame each (runners/worker/frames.h). Every
/// decoder returns false unless the message is well-formed.
namespace warpath::cuda {

/// Opens the worker's device; the reply is DeviceHello.
struct OpenDevice {
  std::string options;  ///< CudaOptions as JSON
};
struct DeviceHello {
  std::string problem;  ///< not empty: the device does not exist, and the worker has ended
  DeviceFacts facts;
  DeviceLimits limits;
  std::string uuid;
  int driver_version = 0;
  std::uint64_t free_bytes = 0;  ///< free device memory
};

/// Machine code of the trusted kernels; the reply is Done.
struct DeviceTools {
  std::string harness_cubin;
  std::string peaks_cubin;
};
/// Reply to a request that only succeeds or fails.
struct Done {
  std::string problem;
};

/// Places a spec on the device; the reply is Done.
struct PrepareProblem {
  std::string spec;  ///< JSON (engine/spec/spec_load.h: to_json)
  std::vector<std::string> workloads;
  std::optional<Candidate> reference;
  Candidate baseline;
  std::uint64_t seed = 0;
  bool exact_memory = false;  ///< see make_exact_slot()
};

/// One evaluation; the reply is TrialReply.
struct Evaluate {
  Candidate candidate;
  Stage stage = Stage::screening;
  std::uint64_t seed = 0;
  double incumbent_ns = 0;
  bool profile = false;
  std::optional<Candidate> rival;  ///< the incumbent, if it is not the worker's own
  double searched_ns = 0;          ///< as in RunRequest
  double pairs_seconds = 0;        ///< as in TrialRequest
  /// `rival` is for this evaluation only, and the pairs are reported against it instead of the
  /// baseline
  bool versus = false;
  bool untimed = false;  ///< launches are judged by gates of screening alone and not timed
};

struct TrialReply {
  Status status = Status::crashed;
  std::vector<GateResult> gates;  ///< of the gates that launch, in running order
  std::vector<WorkloadTiming> timings;
  Diagnosis diagnosis;
  std::string log;
  double seconds = 0;             ///< time the device lane was busy
  double objective_ns = 0;        ///< 0: not timed
  bool confirmed_faster = false;  ///< than the rival
  bool poisoned = false;          ///< this worker can no longer be used
  std::string trouble;            ///< not empty: not the candidate's fault
};

using DeviceRequest = std::variant<OpenDevice, DeviceTools, PrepareProblem, Evaluate>;

[[nodiscard]] std::string encode(const OpenDevice& message);
[[nodiscard]] std::string encode(const DeviceTools& message);
[[nodiscard]] std::string encode(const PrepareProblem& message);
[[nodiscard]] std::string encode(const Evaluate& message);
[[nodiscard]] std::string encode(const DeviceHello& message);
[[nodiscard]] std::string encode(const Done& message);
[[nodiscard]] std::string encode(const TrialReply& message);

[[nodiscard]] bool decode(std::string_view frame, DeviceRequest& message);
[[nodiscard]] bool decode(std::string_view frame, DeviceHello& message);
[[nodiscard]] bool decode(std::string_view frame, Done& message);
[[nodiscard]] bool decode(std::string_view frame, TrialReply& message);

}  // namespace warpath::cuda
