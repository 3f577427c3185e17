#pragma once

#include <doctest/doctest.h>

#include <algorithm>
#include <array>
#include <cstring>
#include <fstream>
#include <map>
#include <set>
#include <sstream>
#include <string>
#include <utility>
#include <vector>

#include "runners/host/compile/compile.h"
#include "runners/host/execute/worker_client.h"
#include "runners/host/options.h"

namespace warpath::host {

/// `count` values, of each index one.
template <class T, class F>
std::vector<T> filled(int count, F value) {
  std::vector<T> out;
  for (int i = 0; i < count; ++i) out.push_back(static_cast<T>(value(i)));
  return out;
}

/// Runs kernels of tests/data/host on the executor, past the runner: one compile a file, one
/// worker.
class HostBench {
 public:
  explicit HostBench(HostOptions options = default_options())
      : options_(options), compiler_(options), worker_("/proc/self/exe", options) {}

  static HostOptions default_options() {
    HostOptions options;
    options.threads = 2;
    options.launch_seconds = 3;
    return options;
  }

  /// Compiles `file` with all `kernels`; later calls of `arguments` name one of them.
  void open(const std::string& file,
            const std::vector<std::string>& kernels,
            std::map<std::string, std::string, std::less<>> macros = {}) {
    std::ifstream stream(std::string(WARPATH_SOURCE_ROOT) + "/tests/data/host/" + file);
    std::ostringstream text;
    text << stream.rdbuf();
    REQUIRE_FALSE(text.str().empty());
    CompileJob job;
    job.source = text.str();
    job.kernels = kernels;
    job.macros = std::move(macros);
    compiled_ = compiler_.compile(job);
    INFO(compiled_.log);
    REQUIRE(compiled_.status == Status::ok);
    kernels_ = kernels;
  }

  template <class T>
  HostBench& in(const std::vector<T>& values) {
    return tensor(ArgRole::input, values);
  }
  template <class T>
  HostBench& inout(const std::vector<T>& values) {
    return tensor(ArgRole::inout, values);
  }
  template <class T>
  HostBench& out(std::size_t count) {
    BoundArgument a;
    a.is_tensor = true;
    a.role = ArgRole::output;
    a.dtype = std::is_floating_point_v<T> ? DType::f32 : DType::i32;
    a.size_bytes = count * sizeof(T);
    arguments_.push_back(a);
    return *this;
  }
  template <class T>
  HostBench& scalar(T value) {
    BoundArgument a;
    a.role = ArgRole::scalar;
    a.bytes.resize(sizeof value);
    std::memcpy(a.bytes.data(), &value, sizeof value);
    a.size_bytes = sizeof value;
    arguments_.push_back(a);
    return *this;
  }

  /// One launch with the arguments given since the last one.
  Answer<LaunchReply> launch(const std::string& kernel,
                             std::array<std::int64_t, 3> grid,
                             std::array<std::int64_t, 3> block,
                             std::int64_t shared = 0,
                             Schedule schedule = Schedule::forward,
                             Placement placement = Placement::canaries,
                             Rounding rounding = Rounding::nearest) {
    const auto arguments = std::exchange(arguments_, {});
    const auto it = std::find(kernels_.begin(), kernels_.end(), kernel);
    REQUIRE(it != kernels_.end());
    const WorkerClient::Limit limit(options_.launch_seconds);
    const auto loaded = worker_.load(compiled_.object_path,
                                     static_cast<std::size_t>(it - kernels_.begin()), limit, {});
    REQUIRE_FALSE(loaded.loss);
    REQUIRE(loaded.reply.problem == "");
    REQUIRE(loaded.reply.parameters.size() == arguments.size());
    REQUIRE_FALSE(worker_.bind(arguments, limit, {}));
    LaunchCommand command;
    command.numbers.grid = grid;
    command.numbers.block = block;
    command.numbers.dynamic_smem_bytes = shared;
    command.schedule = schedule;
    command.placement = placement;
    command.rounding = rounding;
    command.seed = 7;
    return worker_.launch(command, limit, {});
  }

  /// Different kernels that `agree` accepted so far.
  [[nodiscard]] std::size_t agreed() const { return agreed_.size(); }

  /// Launches under every schedule, against canaries and fences; all must agree bit for bit. The
  /// output tensors.
  std::vector<std::vector<std::byte>> agree(const std::string& kernel,
                                            std::array<std::int64_t, 3> grid,
                                            std::array<std::int64_t, 3> block,
                                            std::int64_t shared = 0) {
    CAPTURE(kernel);
    const auto arguments = arguments_;
    std::vector<std::vector<std::byte>> first;
    for (const Schedule schedule : {Schedule::forward, Schedule::reverse, Schedule::random}) {
      arguments_ = arguments;
      const auto placement = schedule == Schedule::reverse ? Placement::fence : Placement::canaries;
      const auto answer = launch(kernel, grid, block, shared, schedule, placement);
      if (answer.loss) {
        const auto& fault = answer.loss->fault;
        FAIL("lost with code ", answer.loss->code, ", fault at ",
             fault ? static_cast<int>(fault->where) : -1, " of tensor ",
             fault ? fault->tensor : -1);
      }
      INFO(answer.reply.detail);
      REQUIRE(answer.reply.end == BlockEnd::done);
      CHECK(answer.reply.guard_argument == -1);
      CHECK(answer.reply.mutated_argument == -1);
      CHECK(answer.reply.state_bytes_changed == 0);
      if (schedule == Schedule::forward) first = answer.reply.outputs;
      CHECK(answer.reply.outputs == first);
    }
    agreed_.insert(kernel);
    return first;
  }
  /// The only output, as values.
  template <class T>
  std::vector<T> values(const std::string& kernel,
                        std::array<std::int64_t, 3> grid,
                        std::array<std::int64_t, 3> block,
                        std::int64_t shared = 0) {
    const auto outputs = agree(kernel, grid, block, shared);
    REQUIRE(outputs.size() == 1);
    return as<T>(outputs[0]);
  }
  template <class T>
  static std::vector<T> as(const std::vector<std::byte>& bytes) {
    std::vector<T> out(bytes.size() / sizeof(T));
    std::memcpy(out.data(), bytes.data(), out.size() * sizeof(T));
    return out;
  }
  [[nodiscard]] const WorkerClient& worker() const { return worker_; }

 private:
  template <class T>
  HostBench& tensor(ArgRole role, const std::vector<T>& values) {
    BoundArgument a;
    a.is_tensor = true;
    a.role = role;
    const auto bytes = std::as_bytes(std::span(values));
    a.bytes.assign(bytes.begin(), bytes.end());
    a.size_bytes = bytes.size();
    arguments_.push_back(a);
    return *this;
  }

  HostOptions options_;
  Compiler compiler_;
  WorkerClient worker_;
  Compiled compiled_;
  std::vector<std::string> kernels_;
  std::vector<BoundArgument> arguments_;
  std::set<std::string> agreed_;
};

}  // namespace warpath::host
