#include "experiments/ship/kernel_in_place.h"

#include "engine/base/diff.h"
#include "engine/base/error.h"
#include "engine/json/json_reader.h"
#include "moves/contract/contract_text.h"
#include "moves/patch/patch.h"

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

}  // namespace

std::string with_best_kernel(const Project& project,
                             const Shipment& shipment,
                             const std::string& before) {
  const std::string place = project.at(project.target_file).string();
  const bool own_patch = !project.patch.empty();
  std::string patch;
  if (own_patch) {
    const std::string file = project.at(project.patch).string();
    patch = read_text_file(file, kMaxPatchBytes, file);
    if (patch_form(patch) == PatchForm::whole)
      throw bad_input(file, "", "a unified diff or SEARCH/REPLACE blocks");
  } else {
    require_same_call(project, shipment);
    if (before == shipment.spec().source) return shipment.best().source;
    patch =
        unified_diff(shipment.spec().source, shipment.best().variant.source, "original", "best");
  }
  std::string why;
  const auto after = apply_patch(before, patch, why);
  if (!after)
    throw bad_input(place, why,
                    own_patch ? "a file that the patch applies to"
                              : "the kernel as the run began with it, which the change of the "
                                "search applies to");
  return *after;
}

}  // namespace warpath
