#pragma once

// The harness's kernels, run as text on the CPU.

#include <doctest/doctest.h>

#include <algorithm>
#include <cstring>
#include <span>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "runners/cuda/measure/harness.h"
#include "runners/host/compile/compile.h"
#include "runners/host/execute/worker_client.h"
#include "runners/host/options.h"

namespace harness_test {

using namespace warpath;
using namespace warpath::cuda;

template <class T>
T record_of(std::span<const std::byte> bytes) {
  T out;
  REQUIRE(bytes.size() == sizeof out);
  std::memcpy(&out, bytes.data(), sizeof out);
  return out;
}

/// Runs the harness's own text on the CPU.
class CpuBench {
 public:
  using Bytes = std::vector<std::byte>;

  CpuBench() : compiler_(options()), worker_("/proc/self/exe", options()) {
    host::CompileJob job;
    job.source = std::string(portable_device_code());
    for (const std::string_view name : harness_kernels()) {
      if (name != "harness_spin" && name != "harness_noise" && name != "harness_stir")
        job.kernels.emplace_back(name);
    }
    compiled_ = compiler_.compile(job);
    INFO(compiled_.log);
    REQUIRE(compiled_.status == Status::ok);
    kernels_ = job.kernels;
  }

  CpuBench& in(std::span<const std::byte> bytes) { return tensor(ArgRole::input, bytes); }
  CpuBench& inout(std::span<const std::byte> bytes) { return tensor(ArgRole::inout, bytes); }
  CpuBench& out(std::size_t size_bytes) {
    tensor(ArgRole::output, {});
    arguments_.back().size_bytes = size_bytes;
    return *this;
  }
  template <class T>
  CpuBench& scalar(const T& value) {
    host::BoundArgument a;
    const auto bytes = std::as_bytes(std::span(&value, 1));
    a.role = ArgRole::scalar;
    a.bytes.assign(bytes.begin(), bytes.end());
    a.size_bytes = sizeof value;
    arguments_.push_back(a);
    return *this;
  }

  /// One launch of 256-thread blocks; what output and inout tensors hold then.
  std::vector<Bytes> run(const std::string& kernel,
                         std::int64_t blocks,
                         std::int64_t shared = 0,
                         host::Placement placement = host::Placement::canaries) {
    CAPTURE(kernel);
    const auto arguments = std::exchange(arguments_, {});
    const auto it = std::find(kernels_.begin(), kernels_.end(), kernel);
    REQUIRE(it != kernels_.end());
    const host::WorkerClient::Limit limit(60);
    const auto loaded = worker_.load(compiled_.object_path,
                                     static_cast<std::size_t>(it - kernels_.begin()), limit, {});
    REQUIRE_FALSE(loaded.loss);
    REQUIRE(loaded.reply.parameters.size() == arguments.size());
    REQUIRE_FALSE(worker_.bind(arguments, limit, {}));
    host::LaunchCommand command;
    command.numbers.grid = {blocks, 1, 1};
    command.numbers.block = {256, 1, 1};
    command.numbers.dynamic_smem_bytes = shared;
    command.schedule = host::Schedule::random;
    command.placement = placement;
    command.seed = 3;
    auto answer = worker_.launch(command, limit, {});
    REQUIRE_FALSE(answer.loss);
    INFO(answer.reply.detail);
    REQUIRE(answer.reply.end == host::BlockEnd::done);
    CHECK(answer.reply.guard_violation == "");
    CHECK(answer.reply.mutated_argument == -1);
    return std::move(answer.reply.outputs);
  }

  Comparison compare(const Tensor& output,
                     const Tensor& reference,
                     const Tolerance& tolerance,
                     const MaskKey& key,
                     std::int64_t blocks = 3) {
    const Bytes masked = key.low == 0 ? reference.bytes
                                      : inout(reference.bytes)
                                            .scalar(std::uint64_t{reference.bytes.size()})
                                            .scalar(key)
                                            .run("harness_mask", 2)[0];
    CompareRule rule{};
    rule.nonce = 99;
    rule.elements = static_cast<std::uint64_t>(output.elements());
    rule.key = key;
    rule.atol = tolerance.atol;
    rule.rtol = tolerance.rtol;
    rule.exact = tolerance.exact;
    rule.output = output.dtype;
    rule.reference = reference.dtype;
    const std::size_t parts_bytes = static_cast<std::size_t>(blocks) * sizeof(DeviceComparison);
    const Bytes parts =
        in(output.bytes).in(masked).scalar(rule).out(parts_bytes).run("harness_compare", blocks)[0];
    const auto record = record_of<DeviceComparison>(in(output.bytes)
                                                        .in(masked)
                                                        .scalar(rule)
                                                        .in(parts)
                                                        .scalar(static_cast<std::uint32_t>(blocks))
                                                        .out(sizeof(DeviceComparison))
                                                        .run("harness_compare_finish", 1)[0]);
    return finish(record, tolerance, output.shape, rule.nonce);
  }

  DeviceDigest digest(std::span<const std::byte> data, std::uint64_t seed, std::int64_t blocks) {
    const std::uint64_t size = data.size();
    const std::size_t parts_bytes = static_cast<std::size_t>(blocks) * sizeof(DeviceDigest);
    const Bytes parts =
        in(data).scalar(size).scalar(seed).out(parts_bytes).run("harness_digest", blocks)[0];
    return record_of<DeviceDigest>(in(parts)
                                       .scalar(static_cast<std::uint32_t>(blocks))
                                       .scalar(size)
                                       .scalar(std::uint64_t{5})
                                       .out(sizeof(DeviceDigest))
                                       .run("harness_digest_finish", 1)[0]);
  }

  DeviceGuard guard_check(std::span<const std::byte> zone, std::uint64_t seed) {
    const std::uint64_t size = zone.size();
    const Bytes parts = in(zone)
                            .scalar(size)
                            .scalar(seed)
                            .out(2 * sizeof(DeviceGuard))
                            .run("harness_guard_check", 2)[0];
    return record_of<DeviceGuard>(in(parts)
                                      .scalar(std::uint32_t{2})
                                      .scalar(size)
                                      .scalar(std::uint64_t{5})
                                      .out(sizeof(DeviceGuard))
                                      .run("harness_guard_finish", 1)[0]);
  }

 private:
  static HostOptions options() {
    HostOptions out;
    out.threads = 1;
    return out;
  }
  CpuBench& tensor(ArgRole role, std::span<const std::byte> bytes) {
    host::BoundArgument a;
    a.is_tensor = true;
    a.role = role;
    a.alignment_bytes = 16;
    a.bytes.assign(bytes.begin(), bytes.end());
    a.size_bytes = bytes.size();
    arguments_.push_back(a);
    return *this;
  }

  host::Compiler compiler_;
  host::WorkerClient worker_;
  host::Compiled compiled_;
  std::vector<std::string> kernels_;
  std::vector<host::BoundArgument> arguments_;
};

}  // namespace harness_test
