#include "engine/plugin/variant_io.h"

#include <nlohmann/json.hpp>

#include "engine/plugin/variant_fields.h"

namespace warpath {
namespace {

using nlohmann::json;

template <class T, class C = Codec<T>>
T recorded(const json& j, std::string_view place) {
  T out;
  C::read(JsonCursor(j, std::string(place)), out);
  return out;
}

}  // namespace

json to_json(const LaunchPlan& plan) {
  return LaunchText::write(plan);
}
LaunchPlan launch_from_json(const json& j, std::string_view place) {
  return recorded<LaunchPlan, LaunchText>(j, place);
}

json to_json(const VariantPatch& patch) {
  return Codec<VariantPatch>::write(patch);
}
VariantPatch patch_from_json(const json& j, std::string_view place) {
  return recorded<VariantPatch>(j, place);
}

json to_json(const Variant& variant) {
  return Codec<Variant>::write(variant);
}
Variant variant_from_json(const json& j, std::string_view place) {
  return recorded<Variant>(j, place);
}

json to_json(const MoveInstance& instance) {
  return Codec<MoveInstance>::write(instance);
}
MoveInstance instance_from_json(const json& j, std::string_view place) {
  return recorded<MoveInstance>(j, place);
}

json to_json(const Proposal& proposal) {
  return Codec<Proposal>::write(proposal);
}
Proposal proposal_from_json(const json& j, std::string_view place) {
  return recorded<Proposal>(j, place);
}

}  // namespace warpath
