#include "experiments/ship/kernel_in_place.h"

#include <optional>

#include "engine/base/diff.h"
#include "engine/base/error.h"
#include "engine/json/json_reader.h"
#include "moves/contract/contract_text.h"
#include "moves/patch/patch.h"
#include "moves/triton/python_text.h"

namespace warpath {
namespace {

constexpr std::string_view kUseExport =
    "a \"patch\" that makes the application call the launcher of an \"export_folder\"";

/// Throws if the application cannot launch the best kernel as it launches the original.
void require_same_call(const Project& project, const Shipment& shipment) {
  const ShippedKernel &best = shipment.best(), &original = shipment.original();
  const std::string place = project.at(project.target_file).string();
  if (shipment.has_versions())
    throw bad_input(place, "a best kernel with versions for several sizes", kUseExport);
  if (best.variant.launch != original.variant.launch || best.variant.has_extras())
    throw bad_input(place, "a best kernel with a launch of its own", kUseExport);
  if (best.variant.tunables != original.variant.tunables)
    throw bad_input(place, "a best kernel with tunables of its own", kUseExport);
  if (best.variant.compiler_options != original.variant.compiler_options)
    throw bad_input(place, "a best kernel with compiler options of its own", kUseExport);
  if (best.contract.narrowed && !project.accept_contract)
    throw bad_input(place, "a best kernel that holds for less: " + contract_summary(best.contract),
                    "\"accept_contract\": true, or " + std::string(kUseExport));
}

/// The lines of the function of this name and its decorators in a Python text; nullopt if there is
/// not one, or the text is not read.
std::optional<python::Span> function_lines(const std::string& source, const std::string& name) {
  const python::Text text(source);
  const auto& statements = text.statements();
  std::optional<python::Span> out;
  for (std::size_t i = 0; i < statements.size(); ++i) {
    const python::Statement& one = statements[i];
    if (one.kind != python::StatementKind::function || one.targets.empty() ||
        one.targets[0] != name)
      continue;
    if (out || one.parent != python::Statement::kNone) return std::nullopt;
    std::size_t first = i, last = i;
    while (first > 0 && statements[first - 1].kind == python::StatementKind::decorator) --first;
    while (last + 1 < statements.size() && text.is_within(last + 1, i)) ++last;
    const std::size_t end = source.find('\n', statements[last].span.end);
    if (end == std::string::npos) return std::nullopt;
    out = python::Span{statements[first].line, end + 1};
  }
  return out;
}

/// The lines of a function in two texts that differ in nothing else.
struct FunctionChange {
  std::string before, after;
};
std::optional<FunctionChange> function_change(const std::string& from,
                                              const std::string& to,
                                              const std::string& name) {
  const auto old = function_lines(from, name), now = function_lines(to, name);
  if (!old || !now) return std::nullopt;
  FunctionChange out{from.substr(old->begin, old->end - old->begin),
                     to.substr(now->begin, now->end - now->begin)};
  if (from.substr(0, old->begin) + out.after + from.substr(old->end) != to) return std::nullopt;
  return out;
}

/// `text` with the function changed, where its lines stand once; nullopt with one line in `why`
/// otherwise. The rest of the text is not read.
std::optional<std::string> with_function(const std::string& text,
                                         const FunctionChange& change,
                                         std::string& why) {
  const std::size_t at = text.find(change.before), behind = at + change.before.size();
  const bool once = at != std::string::npos &&
                    text.find(change.before, at + 1) == std::string::npos &&
                    (at == 0 || text[at - 1] == '\n');
  const std::size_t next = once ? text.find_first_not_of('\n', behind) : std::string::npos;
  const bool goes_on = next != std::string::npos && (text[next] == ' ' || text[next] == '\t');
  if (once && !goes_on) return text.substr(0, at) + change.after + text.substr(behind);
  why = once ? "the kernel's function goes on" : "its lines are there not once";
  return std::nullopt;
}

}  // namespace

std::string with_best_kernel(const Project& project,
                             const Shipment& shipment,
                             const std::string& before) {
  const std::string place = project.at(project.target_file).string();
  const bool own_patch = !project.patch.empty();
  std::string patch;
  std::optional<FunctionChange> function;
  if (own_patch) {
    const std::string file = project.at(project.patch).string();
    patch = read_text_file(file, kMaxPatchBytes, file);
    if (patch_form(patch) == PatchForm::whole)
      throw bad_input(file, "", "a unified diff or SEARCH/REPLACE blocks");
  } else {
    require_same_call(project, shipment);
    const std::string &original = shipment.spec().source, &best = shipment.best().variant.source;
    if (before == original) return shipment.best().source;
    if (shipment.spec().kernel_type == KernelType::triton)
      function = function_change(original, best, shipment.spec().kernel_name);
    patch = unified_diff(original, best, "original", "best");
  }
  std::string why;
  const auto after =
      function ? with_function(before, *function, why) : apply_patch(before, patch, why);
  if (!after)
    throw bad_input(place, why,
                    own_patch ? "a file that the patch applies to"
                              : "the kernel as the run began with it, which the change of the "
                                "search applies to");
  return *after;
}

}  // namespace warpath
