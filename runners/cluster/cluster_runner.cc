#include "runners/cluster/cluster_runner.h"

#include <nlohmann/json.hpp>
#include <optional>

#include "engine/plugin/options_io.h"
#include "engine/plugin/variant_io.h"
#include "engine/spec/spec_load.h"
#include "runners/cluster/options.h"

namespace warpath {
namespace {

using namespace cluster;

/// Options as a member takes them: it has no cluster of its own.
std::string options_for_members(const Options& options) {
  nlohmann::json all = to_json(options);
  all.erase(std::string(ClusterOptions::kGroup));
  return all.dump();
}

class ClusterRunner final : public Runner {
 public:
  ClusterRunner(std::shared_ptr<Cluster> members,
                const std::string& name,
                const std::string& argument,
                const Options& options,
                std::unique_ptr<Runner> model)
      : members_(std::move(members)),
        wish_{.runner = name, .argument = argument, .options = options_for_members(options)},
        model_(std::move(model)) {}

  [[nodiscard]] std::string_view name() const override { return wish_.runner; }
  [[nodiscard]] DeviceFacts device() const override {
    return model_ ? model_->device() : opened().facts;
  }
  [[nodiscard]] std::string platform() const override { return prepared_.platform; }
  [[nodiscard]] std::string platform_kind() const override { return prepared_.kind; }
  [[nodiscard]] int lanes() const override {
    static_cast<void>(opened());
    return members_->width();
  }
  [[nodiscard]] int useful_lanes() const override { return members_->useful(); }
  [[nodiscard]] std::optional<KernelSpec> substitute(const KernelSpec& spec) const override {
    return model_ ? model_->substitute(spec) : std::nullopt;
  }
  [[nodiscard]] bool refuses(const Variant& variant) const override {
    return model_ && model_->refuses(variant);
  }
  [[nodiscard]] bool only_tunables() const override { return model_ && model_->only_tunables(); }
  [[nodiscard]] bool drafts() const override { return opened().drafts; }

  [[nodiscard]] std::shared_ptr<const Diagnosis> draft(const KernelSpec&,
                                                       const Variant& variant,
                                                       std::stop_token stop) override {
    RunVariant request;
    request.draft = true;
    request.variant = to_json(variant).dump();
    std::optional<Outcome> outcome = members_->run(std::move(request), stop);
    if (!outcome || !outcome->diagnosis) return nullptr;
    return std::make_shared<const Diagnosis>(std::move(*outcome->diagnosis));
  }

  void prepare(const KernelSpec& spec) override {
    static_cast<void>(opened());
    prepared_ = members_->prepare(to_json(spec).dump());
  }

  [[nodiscard]] Outcome run(const RunRequest& request, std::stop_token stop) override {
    RunVariant message;
    message.variant = to_json(request.variant).dump();
    message.key = request.key;
    message.seed = request.seed;
    message.incumbent_ns = request.incumbent_ns;
    message.stage = request.stage;
    message.searched_ns = request.searched_ns;
    if (request.against != nullptr) message.against = to_json(*request.against).dump();
    message.seconds_left = request.seconds_left;
    std::optional<Outcome> outcome = members_->run(std::move(message), stop, request.withdrawn);
    if (outcome) return std::move(*outcome);
    Outcome none;
    none.status = Status::not_measured;
    return none;
  }

  [[nodiscard]] std::map<std::string, double> figures() const override {
    return members_->figures();
  }

 private:
  /// Asks for members when something has to be known of one.
  const RunnerOpened& opened() const {
    if (!opened_) opened_ = members_->open(wish_);
    return *opened_;
  }

  const std::shared_ptr<Cluster> members_;
  const OpenRunner wish_;
  const std::unique_ptr<Runner> model_;
  mutable std::optional<RunnerOpened> opened_;
  SpecPrepared prepared_;
};

}  // namespace

std::unique_ptr<Runner> cluster_runner(std::shared_ptr<Cluster> members,
                                       const std::string& name,
                                       const std::string& argument,
                                       const Options& options,
                                       std::unique_ptr<Runner> model) {
  return std::make_unique<ClusterRunner>(std::move(members), name, argument, options,
                                         std::move(model));
}

}  // namespace warpath
