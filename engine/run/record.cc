#include "engine/run/record.h"

#include <algorithm>
#include <fstream>
#include <nlohmann/json.hpp>
#include <span>

#include "engine/base/diff.h"
#include "engine/base/error.h"
#include "engine/plugin/outcome_io.h"

namespace warpath {
namespace {

void append_file(const std::filesystem::path& path, const std::string& text) {
  std::ofstream file(path, std::ios::binary | std::ios::app);
  file << text;
  file.flush();
  if (!file) throw environment_error(path.string() + ": cannot be appended to");
}

std::string plan_text(const LaunchPlan& plan) {
  const auto axes = [](const std::array<Expression, 3>& a) {
    return a[0].text() + ", " + a[1].text() + ", " + a[2].text() + "\n";
  };
  return "grid " + axes(plan.grid) + "block " + axes(plan.block) + "cluster " + axes(plan.cluster) +
         "dynamic_smem_bytes " + plan.dynamic_smem_bytes.text() + "\n";
}

std::string step_text(const LaunchStep& step) {
  std::string arguments;
  for (const std::string& name : step.arguments)
    arguments += (arguments.empty() ? "" : ", ") + name;
  if (step.kind == LaunchStep::Kind::zero) return "zero " + arguments + "\n";
  return "kernel " + step.kernel_name + "(" + arguments + ")\n" + plan_text(step.launch);
}

/// Of one kernel.
std::string kernel_terms(const Variant& variant) {
  std::string out = "kernel " + variant.kernel_name + "\n" + plan_text(variant.launch);
  for (const ScratchBuffer& buffer : variant.scratch)
    out += "scratch " + buffer.name + ": " + buffer.size_bytes.text() + " bytes\n";
  for (const LaunchStep& step : variant.before) out += "before: " + step_text(step);
  for (const LaunchStep& step : variant.after) out += "after: " + step_text(step);
  for (const std::string& option : variant.compiler_options) out += "option " + option + "\n";
  for (const auto& [name, value] : variant.tunables)
    out += "tunable " + name + " = " + std::to_string(value) + "\n";
  return out;
}

/// The sources of a variant as files, by name.
std::vector<std::pair<std::string, std::string>> source_files(const Variant& variant) {
  std::vector<std::pair<std::string, std::string>> out;
  const std::vector<const Variant*> kernels = kernels_of(variant);
  for (std::size_t i = 0; i < kernels.size(); ++i)
    out.emplace_back(version_file("source", i), kernels[i]->source);
  return out;
}

}  // namespace

std::string version_file(std::string_view stem, std::size_t version) {
  return std::string(stem) + (version == 0 ? "" : "_" + std::to_string(version)) + ".cu";
}

std::string terms_text(const Variant& variant) {
  std::string out;
  const std::vector<const Variant*> kernels = kernels_of(variant);
  if (kernels.size() == 1) return kernel_terms(variant);
  for (std::size_t i = 0; i < kernels.size(); ++i)
    out += (i == 0 ? "" : "\n") + version_file("source", i) + " for " +
           condition_text(kernels[i]->when) + "\n" + kernel_terms(*kernels[i]);
  return out;
}

std::string source_diff(const Variant& parent,
                        const Variant& child,
                        std::string_view parent_stem,
                        std::string_view child_stem) {
  std::string out;
  const std::vector<const Variant*> before = kernels_of(parent), after = kernels_of(child);
  for (std::size_t i = 0; i < after.size(); ++i) {
    const Variant& from = before.size() == after.size() ? *before[i] : parent;
    out += unified_diff(from.source, after[i]->source, version_file(parent_stem, i),
                        version_file(child_stem, i));
  }
  return out;
}

std::string variant_diff(const Variant& parent, const Variant& child) {
  return unified_diff(terms_text(parent), terms_text(child), "terms", "terms") +
         source_diff(parent, child, "source", "source");
}

RunRecord::RunRecord(const RunFolder& folder,
                     const Campaign& campaign,
                     RecordNames names,
                     const Options& options)
    : folder_(folder),
      campaign_(campaign),
      names_(std::move(names)),
      options_(options),
      trace_(trace_title(names_, options.run.seed)),
      ledger_(ledger_header()) {}

void RunRecord::write(const std::string& trace, const std::string& ledger) {
  if (!published_) {
    trace_ += trace;
    ledger_ += ledger;
    return;
  }
  append_file(folder_.file("trace.md"), trace);
  if (!ledger.empty()) append_file(folder_.file("ledger.csv"), ledger);
  extent_.trace_bytes += trace.size();
  extent_.ledger_bytes += ledger.size();
}

void RunRecord::add(const SessionEvent& event) {
  write(trace_session(++session_, event.at), "");
}

void RunRecord::add(const BaselineEvent& event) {
  write(trace_baseline(campaign_, names_, event),
        ledger_rows(campaign_, names_,
                    {.session = session_,
                     .at = event.at,
                     .sequence = "baseline",
                     .node = NodeId{0},
                     .outcome = event.outcome,
                     .baseline = nullptr,
                     .speedup = campaign_.speedup(NodeId{0})}));
  if (!published_) return;
  if (campaign_.begun()) write_node(NodeId{0});
  point_best();
}

void RunRecord::add(const DispatchEvent& event) {
  paths_[event.sequence] = event.path;
}

void RunRecord::add(const OutcomeEvent& event, const Campaign::Applied& applied) {
  const auto path = paths_.extract(event.sequence);
  write(trace_outcome(campaign_, names_, event, applied, path.mapped()),
        ledger_rows(campaign_, names_,
                    {.session = session_,
                     .at = event.at,
                     .sequence = std::to_string(event.sequence),
                     .node = applied.node,
                     .outcome = event.outcome,
                     .baseline = campaign_.space().outcome(NodeId{0}).get(),
                     .speedup = applied.speedup}));
  if (!published_) return;
  if (campaign_.evaluated().size() <= most_folders()) write_node(applied.node);
  point_best();
}

template <class E>
void RunRecord::add_final(const E& event,
                          const std::string& sequence,
                          const Finals::Applied& applied) {
  const Outcome* const again = campaign_.finals().baseline();
  const std::shared_ptr<const Outcome> searched = campaign_.space().outcome(NodeId{0});
  write(trace_final(campaign_, event, applied),
        ledger_rows(campaign_, names_,
                    {.session = session_,
                     .at = event.at,
                     .sequence = sequence,
                     .node = event.node,
                     .outcome = event.outcome,
                     .baseline = again != nullptr ? again : searched.get(),
                     .speedup = applied.speedup}));
  if (published_) point_best();
}

void RunRecord::add(const FinalEvent& event, const Finals::Applied& applied) {
  add_final(event, "final", applied);
}

void RunRecord::add(const HeatEvent& event, const Finals::Applied& applied) {
  add_final(event, "heat", applied);
}

void RunRecord::point_best() {
  if (!campaign_.begun()) return;
  const NodeId best = campaign_.standing().node;
  if (best == pointed_) return;
  write_node(best);  // whether or not other variants are kept
  background_.add([&folder = folder_, target = folder_of(best)] { folder.point_best(target); });
  pointed_ = best;
}

std::string RunRecord::folder_of(NodeId node) const {
  return node == NodeId{0} ? "baseline" : "variants/" + campaign_.space().key(node).hex();
}

std::size_t RunRecord::most_folders() const {
  return options_.record.keep_variants ? static_cast<std::size_t>(options_.record.most_variants)
                                       : 0;
}

void RunRecord::write_node(NodeId node) {
  const VariantSpace& space = campaign_.space();
  const std::string target = folder_of(node);
  std::error_code error;
  if (std::filesystem::exists(folder_.file(target), error)) return;
  const std::shared_ptr<const Outcome> outcome = space.outcome(node);
  const Variant variant = space.variant(node);
  const bool sync = options_.record.sync == "always";
  std::vector<std::pair<std::string, std::string>> files = source_files(variant);
  files.emplace_back("terms", terms_text(variant));
  if (node != NodeId{0})
    files.emplace_back("diff", variant_diff(space.variant(space.parent(node)), variant));
  files.emplace_back("outcome.json", to_json(*outcome).dump(2) + "\n");
  background_.add([&folder = folder_, target, files = std::move(files), sync] {
    folder.write_folder(target, files, sync);
  });
}

/// The file as it was, up to `kept`, and `text` after that.
void RunRecord::publish_file(const char* name, std::uint64_t kept, const std::string& text) const {
  const std::filesystem::path path = folder_.file(name);
  if (kept == 0) return write_file_atomically(path, text, options_.record.sync != "never");
  std::error_code error;
  std::filesystem::resize_file(path, kept, error);
  if (error) throw environment_error(path.string() + ": cannot be cut: " + error.message());
  append_file(path, text);
}

RunRecord::Extent RunRecord::extent(bool sync) const {
  WARPATH_CHECK(published_);
  for (const char* name : {"trace.md", "ledger.csv"}) {
    if (sync) sync_file(folder_.file(name));
  }
  return extent_;
}

void RunRecord::require(const Extent& extent) const {
  const auto check = [&](const char* name, std::uint64_t bytes) {
    const std::filesystem::path path = folder_.file(name);
    std::error_code error;
    if (std::filesystem::file_size(path, error) < bytes || error)
      throw bad_input(path.string(), "", std::to_string(bytes) + " bytes or more");
  };
  check("trace.md", extent.trace_bytes);
  check("ledger.csv", extent.ledger_bytes);
}

void RunRecord::keep(StrategyState& state) {
  state(session_, paths_);
}

void RunRecord::continue_from(const Extent& extent) {
  before_ = extent;
  trace_.clear();
  ledger_.clear();
}

void RunRecord::publish() {
  publish_file("trace.md", before_.trace_bytes, trace_);
  publish_file("ledger.csv", before_.ledger_bytes, ledger_);
  extent_ = {.trace_bytes = before_.trace_bytes + trace_.size(),
             .ledger_bytes = before_.ledger_bytes + ledger_.size()};
  if (campaign_.begun()) write_node(NodeId{0});
  const std::span<const NodeId> evaluated = campaign_.evaluated();
  for (std::size_t i = 0; i < std::min(evaluated.size(), most_folders()); ++i)
    write_node(evaluated[i]);
  point_best();
  published_ = true;
  trace_.clear();
  ledger_.clear();
}

}  // namespace warpath
