#include "engine/run/node_content.h"

#include <nlohmann/json.hpp>

#include "engine/json/json_reader.h"
#include "engine/plugin/variant_io.h"
#include "engine/search/strategy_state.h"

namespace warpath {
namespace {

/// A VariantEdit whose less frequent members are JSON.
struct PackedEdit {
  std::size_t begin = 0, removed = 0;
  std::string inserted, rest;
  bool has_versions = false;
  std::vector<PackedEdit> versions;
  void keep(StrategyState& state) { state(begin, removed, inserted, rest, has_versions, versions); }
};

PackedEdit packed(const VariantEdit& edit) {
  PackedEdit out{.begin = edit.begin,
                 .removed = edit.removed,
                 .inserted = edit.inserted,
                 .rest = edit.rest == VariantPatch{} ? "" : to_json(edit.rest).dump(),
                 .has_versions = edit.versions.has_value(),
                 .versions = {}};
  if (edit.versions) {
    for (const VariantEdit& version : *edit.versions) out.versions.push_back(packed(version));
  }
  return out;
}

VariantEdit unpacked(PackedEdit edit, const std::string& place) {
  VariantEdit out{.begin = edit.begin,
                  .removed = edit.removed,
                  .inserted = std::move(edit.inserted),
                  .rest = edit.rest.empty() ? VariantPatch{}
                                            : patch_from_json(parse_json(edit.rest, place), place)};
  if (edit.has_versions) {
    out.versions.emplace();
    for (PackedEdit& version : edit.versions)
      out.versions->push_back(unpacked(std::move(version), place));
  }
  return out;
}

}  // namespace

std::string packed(const NodeContent& content) {
  StrategyState state;
  std::string instance = content.instance.text();
  PackedEdit edit = packed(content.edit);
  state(instance, edit);
  return state.take();
}

NodeContent unpacked(std::string_view bytes, const std::string& place) {
  StrategyState state(bytes, 0, place);
  std::string instance;
  PackedEdit edit;
  state(instance, edit);
  state.require_end();
  return {.instance = MoveInstance::parse(instance, place),
          .edit = unpacked(std::move(edit), place)};
}

}  // namespace warpath
