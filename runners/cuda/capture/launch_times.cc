#include "runners/cuda/capture/launch_times.h"

namespace warpath::capture {
namespace {

constexpr std::size_t kMostPending = 256;

CUresult record(CUevent event, StreamName stream) {
  const auto plain = WARPATH_DRIVER(cuEventRecord);
  const auto of_thread = WARPATH_DRIVER(cuEventRecord_ptsz);
  const auto real = stream.of_thread && of_thread != nullptr ? of_thread : plain;
  return real == nullptr ? CUDA_ERROR_NOT_FOUND : real(event, stream.handle);
}

/// An event recorded in the stream; null if the driver refuses.
CUevent recorded(StreamName stream) {
  const auto create = WARPATH_DRIVER(cuEventCreate);
  CUevent event = nullptr;
  if (create == nullptr || create(&event, CU_EVENT_DEFAULT) != CUDA_SUCCESS) return nullptr;
  if (record(event, stream) == CUDA_SUCCESS) return event;
  LaunchTimes::drop(event);
  return nullptr;
}

}  // namespace

RelaxedCapture::RelaxedCapture() {
  const auto exchange = WARPATH_DRIVER(cuThreadExchangeStreamCaptureMode);
  if (exchange != nullptr) static_cast<void>(exchange(&mode_));
}

RelaxedCapture::~RelaxedCapture() {
  const auto exchange = WARPATH_DRIVER(cuThreadExchangeStreamCaptureMode);
  if (exchange != nullptr) static_cast<void>(exchange(&mode_));
}

bool is_capturing(StreamName stream) {
  const auto plain = WARPATH_DRIVER(cuStreamIsCapturing);
  const auto of_thread = WARPATH_DRIVER(cuStreamIsCapturing_ptsz);
  const auto real = stream.of_thread && of_thread != nullptr ? of_thread : plain;
  CUstreamCaptureStatus status = CU_STREAM_CAPTURE_STATUS_NONE;
  if (real == nullptr) return false;
  return real(stream.handle, &status) != CUDA_SUCCESS || status != CU_STREAM_CAPTURE_STATUS_NONE;
}

bool LaunchTimes::is_sample(std::uint64_t number) {
  return number <= 10 || number % 1000 == 0 || (number & (number - 1)) == 0;
}

CUevent LaunchTimes::begin(StreamName stream) {
  if (pending_.size() >= kMostPending || is_capturing(stream)) return nullptr;
  const RelaxedCapture relaxed;
  return recorded(stream);
}

void LaunchTimes::end(CUevent begun, StreamName stream, std::uint32_t shape) {
  if (begun == nullptr) return;
  const RelaxedCapture relaxed;
  CUevent const ended = recorded(stream);
  if (ended == nullptr) return drop(begun);
  pending_.push_back({.begin = begun, .end = ended, .shape = shape});
}

void LaunchTimes::drop(CUevent event) {
  const auto destroy = WARPATH_DRIVER(cuEventDestroy_v2);
  if (destroy != nullptr && event != nullptr) static_cast<void>(destroy(event));
}

void LaunchTimes::collect(const std::function<void(std::uint32_t, double)>& report) {
  if (pending_.empty()) return;
  const auto query = WARPATH_DRIVER(cuEventQuery);
  const auto elapsed = WARPATH_DRIVER(cuEventElapsedTime);
  if (query == nullptr || elapsed == nullptr) return;
  constexpr double kNanoseconds = 1e6;  // of a millisecond
  const RelaxedCapture relaxed;
  for (; !pending_.empty(); pending_.pop_front()) {
    const Pair& pair = pending_.front();
    const CUresult state = query(pair.end);
    if (state == CUDA_ERROR_NOT_READY) return;
    float milliseconds = 0;
    if (state == CUDA_SUCCESS && elapsed(&milliseconds, pair.begin, pair.end) == CUDA_SUCCESS)
      report(pair.shape, kNanoseconds * static_cast<double>(milliseconds));
    drop(pair.begin);
    drop(pair.end);
  }
}

}  // namespace warpath::capture
