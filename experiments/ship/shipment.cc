#include "experiments/ship/shipment.h"

#include <algorithm>
#include <nlohmann/json.hpp>

#include "engine/base/ascii.h"
#include "engine/base/error.h"
#include "engine/base/format.h"
#include "engine/json/json_reader.h"
#include "engine/json/json_record.h"
#include "engine/spec/parameters.h"
#include "engine/text/function_text.h"
#include "experiments/setup/best_summary.h"
#include "experiments/setup/portfolio_record.h"
#include "experiments/setup/revision.h"
#include "experiments/setup/runner_choice.h"
#include "runners/cuda/compile/compile_service.h"
#include "runners/inputs/arguments.h"

namespace warpath {
namespace {

namespace fs = std::filesystem;
using nlohmann::json;

std::string identifier(const std::string& text) {
  std::string out;
  for (const char c : text) out += is_word(c) ? c : '_';
  if (out.empty() || !is_word_start(out.front()) || is_keyword(out)) out = "k_" + out;
  return out;
}

/// Names of the `__global__` functions that `source` defines or declares, without repetition.
std::vector<std::string> kernels_defined(std::string_view source) {
  const CodeText code(source);
  std::vector<std::string> names;
  for (std::size_t i = 0; i < code.tokens.size(); ++i) {
    if (!code.is(i, "__global__")) continue;
    // void __launch_bounds__(256, 2) NAME(
    for (std::size_t at = i + 1; at + 1 < code.tokens.size(); ++at) {
      if (code.is(at, ";") || code.is(at, "{")) break;
      if (!code.is(at + 1, "(") || !code.is_name(at)) continue;
      if (code.text[at].starts_with("__")) {
        at = code.match[at + 1];
        continue;
      }
      const std::string name(code.text[at]);
      if (std::ranges::find(names, name) == names.end()) names.push_back(name);
      break;
    }
  }
  return names;
}

bool names_word(std::string_view source, const std::string& word) {
  const CodeText code(source);
  for (const Token& token : code.tokens) {
    const std::string_view text = source.substr(token.begin, token.size());
    const bool directive = token.kind == TokenKind::directive && text.find(word) != text.npos;
    if (directive || (token.kind == TokenKind::identifier && text == word)) return true;
  }
  return false;
}

}  // namespace

Shipment::Shipment(const fs::path& folder, Of of)
    : folder_(folder), run_(folder, RecordedRun::For::building) {
  const std::string& runner = run_.run().runner;
  if (!launches_kernels(runner))
    throw bad_input(folder.string(), "a run of the " + runner + " runner",
                    "a run whose kernels were built and launched (runner cuda or host)");
  auto summary = read_best_summary(folder);
  if (!summary)
    throw bad_input(folder.string(), "a run without best_summary.json",
                    "a finished run: warpath run --resume --outdir continues it");
  summary_ = *std::move(summary);
  node_ = run_.find("best");
  const RecordedNode& node = run_.nodes()[node_];
  workloads_ = workloads_for(spec(), device());
  if (workloads_.empty()) throw bad_input(folder.string(), "", "a run with workloads");
  const auto scored = std::ranges::find(workloads_, WorkloadRole::score, &Workload::role);
  primary_ = scored == workloads_.end() ? workloads_.front() : *scored;
  name_ = identifier(spec().name);
  if (node_ == 0 || !summary_.improved) {
    refusal_ = "the best kernel is not faster than the original";
    return;
  }
  if (summary_.best_key != node.key)
    throw bad_input(
        (folder / "best_summary.json").string(), summary_.best_key.short_hex(),
        "the best of the log, " + node.key.short_hex() + ": warpath run --resume finishes the run");
  speedup_ = summary_.speedup;
  interval_ = summary_.speedup_interval;
  const std::optional<Outcome>& outcome = node.timed_again ? node.final_outcome : node.outcome;
  if (!outcome || outcome->status != Status::ok || !outcome->verdict.passed()) {
    refusal_ = "the best kernel was not verified: " +
               (outcome ? outcome->verdict.summary() : std::string("no outcome"));
    return;
  }
  has_versions_ = !run_.variant(node_).versions.empty();
  if (of == Of::portfolio) add_portfolio();
  if (kernels_.empty()) add_best();
  for (std::size_t i = 0; i < kernels_.size(); ++i)
    kernels_[i].name = i == 0 ? "best" : "best_" + std::to_string(i);
  kernels_.push_back(shipped(baseline_variant(spec()), 0, *primary_));
  kernels_.back().name = "original";
}

void Shipment::add_best() {
  const Variant whole = run_.variant(node_);
  const Variant& serving = version_for(spec(), whole, *primary_);
  kernels_.push_back(shipped(alone(serving), node_, *primary_));
  kernels_.back().compiled_in.insert(serving.when.begin(), serving.when.end());
}

void Shipment::add_portfolio() {
  const auto portfolio = read_portfolio(folder_);
  if (!portfolio) return;
  const auto not_of_the_log = [&](const PortfolioRecord::Kernel& kernel) {
    return bad_input((folder_ / "portfolio.json").string(), kernel.decision,
                     "kernels of the log: warpath run --resume finishes the run");
  };
  for (std::size_t k = 0; k < portfolio->kernels.size(); ++k) {
    const PortfolioRecord::Kernel& kernel = portfolio->kernels[k];
    if (kernel.is_spec_kernel) continue;
    const auto served = std::ranges::find(portfolio->sizes, k, &PortfolioRecord::Size::kernel);
    if (served == portfolio->sizes.end()) continue;
    const auto workload = std::ranges::find(workloads_, served->workload, &Workload::name);
    if (workload == workloads_.end()) throw not_of_the_log(kernel);
    const std::size_t node = run_.find(kernel.key.hex());
    const Variant whole = run_.variant(node);
    const auto kernels = kernels_of(whole);
    const auto serving = std::ranges::find_if(kernels, [&](const Variant* one) {
      return kernels.size() == 1 || one->when == kernel.when;
    });
    if (serving == kernels.end()) throw not_of_the_log(kernel);
    kernels_.push_back(shipped(alone(**serving), node, **workload));
    kernels_.back().compiled_in.insert(kernel.when.begin(), kernel.when.end());
  }
  if (kernels_.empty()) return;
  of_portfolio_ = true;
  speedup_ = portfolio->speedup;
  interval_.reset();
}

ShippedKernel Shipment::shipped(Variant variant, std::size_t node, const Workload& workload) const {
  ShippedKernel out;
  out.key = run_.nodes()[node].key;
  out.by_finals = run_.nodes()[node].timed_again;
  out.workload = &workload;
  out.contract = source_contract(spec(), device(), variant);
  out.source = shipped_source(spec(), variant, out.contract);
  out.kernels = {variant.kernel_name};
  for (std::string& step : step_kernels(variant)) out.kernels.push_back(std::move(step));
  const bool is_cuda = spec().kernel_type == KernelType::cuda;
  if (is_cuda)
    out.defined = kernels_defined(variant.source);
  else
    add_assumptions(workload, variant, out);
  const auto values = scalar_values(spec(), workload);
  for (const ArgSpec& arg : spec().io.args) {
    if (!arg.is_meta || arg.is_size) continue;
    if (is_cuda && !names_word(variant.source, arg.name)) continue;
    if (arg.type != ArgType::integer && arg.type != ArgType::boolean) continue;
    const ScalarValue& value = values.at(arg.name);
    out.compiled_in[arg.name] = std::holds_alternative<bool>(value)
                                    ? std::int64_t{std::get<bool>(value)}
                                    : std::get<std::int64_t>(value);
  }
  out.options = split_options(variant.compiler_options).others;
  out.variant = std::move(variant);
  return out;
}

/// What compilers of other languages are told of arguments, beside what the text relies on: the
/// alignment of the spec's tensors and, but for the original, multiples of 16.
void Shipment::add_assumptions(const Workload& workload,
                               const Variant& variant,
                               ShippedKernel& out) const {
  out.contract.pointers.clear();
  for (const ArgSpec& arg : spec().io.args) {
    if (arg.type != ArgType::tensor) continue;
    out.contract.pointers.push_back(
        {.argument = arg.name,
         .alignment_bytes = std::min(arg.tensor->alignment_bytes, SourceContract::kMostAlignment)});
  }
  if (spec().kernel_type != KernelType::triton || alone(variant) == baseline_variant(spec()))
    return;
  const cuda::CompileRequest request = cuda::request_for(spec(), variant, workload, device().arch);
  const std::vector<const ArgSpec*> passed = parameter_arguments(spec());
  for (std::size_t i = 0; i < passed.size(); ++i) {
    if (passed[i] != nullptr && passed[i]->type == ArgType::integer &&
        request.parameters[i].ends_with(":16"))
      out.multiples_of_16.push_back(passed[i]->name);
  }
}

std::string Shipment::provenance_json() const {
  const json summary = to_json(summary_);
  const RunEvent& run = run_.run();
  json environment = json::object();
  std::error_code absent;
  const fs::path file = folder_ / "environment.json";
  if (fs::exists(file, absent)) environment = read_json_file(file.string());
  json path = json::array();
  for (const std::size_t i : run_.path(node_)) {
    if (i != 0) path.push_back(run_.nodes()[i].move);
  }
  const auto of = [](const json& object, const char* key) { return object.value(key, json()); };
  json out{{"schema", 1},
           {"name", spec().name},
           {"spec_hash", run.spec.hex()},
           {"run_id", run.run_id},
           {"seed", run.seed},
           {"runner", run.runner},
           {"key", run_.nodes()[node_].key.hex()},
           {"path", path},
           {"device", device().name},
           {"architecture", device().arch},
           {"platform", of(environment, "platform")},
           {"revision", of(environment, "revision")},
           {"exported_by", std::string(revision())}};
  for (const char* const key : {"speedup", "speedup_interval", "baseline_ms", "best_ms", "builds",
                                "finalists", "verdict", "contract", "sizes"})
    out[key] = of(summary, key);
  for (const ShippedKernel& kernel : kernels_) {
    if (&kernel == &original()) continue;
    json one{{"name", kernel.name}, {"key", kernel.key.hex()}, {"by_finals", kernel.by_finals}};
    one["compiled_in"] = json::object();
    for (const auto& [name, value] : kernel.compiled_in) one["compiled_in"][name] = value;
    out["kernels"].push_back(one);
  }
  if (of_portfolio_) out["portfolio_speedup"] = speedup_;
  return json_text(out, 2);
}

}  // namespace warpath
