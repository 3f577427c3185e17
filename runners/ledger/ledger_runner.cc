#include "runners/ledger/ledger_runner.h"

#include <nlohmann/json.hpp>

#include "engine/base/error.h"
#include "engine/json/json_reader.h"
#include "engine/plugin/options_io.h"
#include "engine/spec/spec_load.h"

namespace warpath {
namespace {

using nlohmann::json;
using Mode = EvaluationLedger::Mode;

Hash128 spec_hash(const KernelSpec& spec) {
  return hash128(to_json(spec).dump());
}

class LedgerRunner final : public Runner {
 public:
  LedgerRunner(std::unique_ptr<Runner> inner,
               std::unique_ptr<EvaluationLedger> ledger,
               const std::string& runner_text,
               const KernelSpec& spec,
               const Options& options)
      : inner_(std::move(inner)),
        ledger_(std::move(ledger)),
        name_(runner_text.substr(0, runner_text.find(':'))) {
    if (!inner_) {
      scene_ = ledger_->scene(spec_hash(spec), runner_text, evaluation_settings(options));
      id_ = scene_.id();
      if (!scene_.substitute.empty())
        substitute_ = spec_from_json(parse_json(scene_.substitute, ledger_->file().string()),
                                     ledger_->file().string());
      if (substitute_) substitute_->origin = spec.origin;
      return;
    }
    substitute_ = inner_->substitute(spec);
    scene_ = {.runner = runner_text,
              .settings = evaluation_settings(options),
              .loaded = spec_hash(spec),
              .searched = substitute_ ? spec_hash(*substitute_) : spec_hash(spec),
              .substitute = substitute_ ? to_json(*substitute_).dump() : "",
              .device = inner_->device(),
              .platform = "",
              .lanes = inner_->lanes(),
              .only_tunables = inner_->only_tunables()};
    id_ = scene_.id();
  }

  [[nodiscard]] std::string_view name() const override { return name_; }
  [[nodiscard]] DeviceFacts device() const override { return scene_.device; }
  [[nodiscard]] int lanes() const override { return scene_.lanes; }
  [[nodiscard]] int useful_lanes() const override {
    return inner_ ? inner_->useful_lanes() : scene_.lanes;
  }
  [[nodiscard]] std::optional<KernelSpec> substitute(const KernelSpec&) const override {
    return substitute_;
  }
  [[nodiscard]] bool only_tunables() const override { return scene_.only_tunables; }
  [[nodiscard]] std::string platform() const override { return scene_.platform; }
  [[nodiscard]] std::map<std::string, double> figures() const override {
    return inner_ ? inner_->figures() : std::map<std::string, double>();
  }

  [[nodiscard]] bool refuses(const Variant& variant) const override {
    if (!inner_) return ledger_->refused(id_, variant_key(variant));
    const bool refused = inner_->refuses(variant);
    if (refused) ledger_->refuse(scene_, variant_key(variant));
    return refused;
  }

  [[nodiscard]] bool drafts() const override { return inner_ && inner_->drafts(); }
  [[nodiscard]] std::shared_ptr<const Diagnosis> draft(const KernelSpec& spec,
                                                       const Variant& variant,
                                                       std::stop_token stop) override {
    return inner_ ? inner_->draft(spec, variant, std::move(stop)) : nullptr;
  }

  void prepare(const KernelSpec& spec) override {
    if (!inner_) return;
    ledger_->open();
    inner_->prepare(spec);
    scene_.platform = inner_->platform();  // devices are known by now
    id_ = scene_.id();
  }

  [[nodiscard]] Outcome run(const RunRequest& request, std::stop_token stop) override {
    // a comparison of two variants is not an evaluation and is not recorded
    const bool of_campaign = request.against == nullptr;
    if (!of_campaign && inner_) return inner_->run(request, stop);
    if (ledger_->mode() != Mode::record && of_campaign) {
      std::optional<Outcome> known = ledger_->find(id_, request);
      if (known && (!inner_ || (known->status == Status::ok && request.stage != Stage::final)))
        return std::move(*known);
    }
    if (!inner_) {
      throw bad_input(ledger_->file().string(),
                      std::string(warpath::name(request.stage)) + " of " + request.key.short_hex() +
                          " with seed " + std::to_string(request.seed),
                      "a recorded evaluation; " + ledger_->nearest(id_, request));
    }
    Outcome outcome = inner_->run(request, stop);
    if (!stop.stop_requested() && !was_withdrawn(request, outcome))  // else it is discarded
      ledger_->add(scene_, request, outcome);
    return outcome;
  }

 private:
  std::unique_ptr<Runner> inner_;  // null: replayed
  std::unique_ptr<EvaluationLedger> ledger_;
  std::string name_;
  std::optional<KernelSpec> substitute_;
  EvaluationScene scene_;
  Hash128 id_;
};

}  // namespace

std::string evaluation_settings(const Options& options) {
  const Options defaults = options.defaults();
  json usual = to_json(defaults);
  json out{{"seed", options.run.seed}};
  options.for_each([&](const OptionGroupKind& kind, const void* group) {
    if (kind.of != OptionsOf::runner) return;
    const std::string name(kind.name);
    json now = kind.to_json(group);
    for (const OptionRow& row : kind.rows()) {
      if (!row.shapes) now.erase(row.key);
    }
    for (const auto& [key, value] : now.items()) {
      if (usual[name][key] != value) out[name + "." + key] = value;
    }
  });
  return out.dump();
}

std::unique_ptr<Runner> ledger_runner(std::unique_ptr<Runner> inner,
                                      std::unique_ptr<EvaluationLedger> ledger,
                                      const std::string& runner_text,
                                      const KernelSpec& spec,
                                      const Options& options) {
  return std::make_unique<LedgerRunner>(std::move(inner), std::move(ledger), runner_text, spec,
                                        options);
}

}  // namespace warpath
