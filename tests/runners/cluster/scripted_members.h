#pragma once

#include <atomic>
#include <functional>
#include <list>
#include <memory>
#include <mutex>
#include <string>
#include <thread>

#include "engine/base/error.h"
#include "runners/cluster/cluster.h"
#include "runners/cluster/member_worker.h"

namespace warpath::test {

/// Starts nothing: members join when a test says so. Counts what it is asked for.
struct CountingPlacement final : cluster::Placement {
  struct Facts {
    std::atomic<int> size{1}, asked{0}, alive{0};
    cluster::MemberCommand command;
    std::filesystem::path folder;
    std::string words;
  };
  explicit CountingPlacement(Facts& all) : facts(all) {}
  [[nodiscard]] int size() const override { return facts.size; }
  void start(int count) override {
    facts.asked += count;
    facts.alive += count;
  }
  [[nodiscard]] int alive() override { return facts.alive; }
  [[nodiscard]] std::string last_words() const override { return facts.words; }
  [[nodiscard]] std::string text() const override { return "test"; }
  Facts& facts;
};

/// What an evaluation answers; a member is one runner of this kind.
struct ScriptedMember {
  std::function<Outcome(const RunRequest&, std::stop_token)> body;
  std::string device = "a device";
  std::string kind = "driver 1";
  int lanes = 1;
  std::function<void(const KernelSpec&)> prepare = [](const KernelSpec&) {};
};

class ScriptedMemberRunner final : public Runner {
 public:
  explicit ScriptedMemberRunner(ScriptedMember script) : script_(std::move(script)) {}
  [[nodiscard]] std::string_view name() const override { return "scripted"; }
  [[nodiscard]] DeviceFacts device() const override {
    return {.runner = "scripted", .name = script_.device, .arch = ""};
  }
  [[nodiscard]] std::string platform_kind() const override { return script_.kind; }
  [[nodiscard]] int lanes() const override { return script_.lanes; }
  [[nodiscard]] bool drafts() const override { return true; }
  [[nodiscard]] std::shared_ptr<const Diagnosis> draft(const KernelSpec&,
                                                       const Variant& variant,
                                                       std::stop_token) override {
    if (variant.source.empty()) return nullptr;
    Diagnosis diagnosis;
    diagnosis.facts["registers"] = {static_cast<double>(variant.source.size()),
                                    FactSource::static_analysis};
    return std::make_shared<const Diagnosis>(std::move(diagnosis));
  }
  void prepare(const KernelSpec& spec) override { script_.prepare(spec); }
  [[nodiscard]] Outcome run(const RunRequest& request, std::stop_token stop) override {
    return script_.body(request, std::move(stop));
  }

 private:
  ScriptedMember script_;
};

/// A cluster whose members are threads of this process.
class ScriptedCluster {
 public:
  explicit ScriptedCluster(int size, double silence_seconds = 60)
      : members(setup(silence_seconds),
                [this, size](const cluster::MemberCommand& command,
                             const std::filesystem::path& folder) {
                  facts.size = size;
                  facts.command = command;
                  facts.folder = folder;
                  return std::make_unique<CountingPlacement>(facts);
                }) {}

  /// A member with runners of this kind joins.
  void join(const ScriptedMember& script, const std::string& version = "one") {
    const std::lock_guard lock(mutex_);
    threads_.emplace_back([this, script, version] {
      const cluster::MakeRunner make = [&](const cluster::OpenRunner& wish) {
        if (wish.runner != "scripted") throw bad_input("--runner", wish.runner, "scripted");
        return cluster::MadeRunner{std::make_unique<const Options>(),
                                   std::make_unique<ScriptedMemberRunner>(script)};
      };
      try {
        exit_code = cluster::member_worker_main({.host = "localhost",
                                                 .port = port(),
                                                 .key = key_file(),
                                                 .version = version,
                                                 .program = ""},
                                                make);
      } catch (const Error& error) {  // the cluster ended first
        exit_code = static_cast<int>(error.code());
      }
    });
  }
  /// As placements give it: [..., "--connect", HOST:PORT, "--key", FILE].
  [[nodiscard]] int port() const {
    const std::string& address = facts.command.at(4);
    return std::stoi(address.substr(address.rfind(':') + 1));
  }
  [[nodiscard]] std::string key_file() const { return facts.command.at(6); }

  CountingPlacement::Facts facts;
  std::atomic<int> exit_code{-1};  ///< of the last member that ended

 private:
  static cluster::ClusterSetup setup(double silence_seconds) {
    cluster::ClusterSetup out;
    out.options.address = "localhost";
    out.options.silence_seconds = silence_seconds;
    out.program = "warpath";
    out.version = "one";
    return out;
  }

  std::mutex mutex_;                 // of the next
  std::list<std::jthread> threads_;  // they end once the cluster does

 public:
  cluster::Cluster members;
};

inline Outcome good_outcome(double seconds = 0) {
  Outcome outcome;
  outcome.status = Status::ok;
  outcome.run_seconds = seconds;
  return outcome;
}

}  // namespace warpath::test
