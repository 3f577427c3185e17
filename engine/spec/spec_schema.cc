#include "engine/spec/spec_schema.h"

#include "engine/spec/spec_fields.h"

namespace warpath {

std::string spec_schema_text() {
  SchemaDefs defs;
  const nlohmann::json spec = Codec<KernelSpec>::schema(defs);
  nlohmann::json schema{
      {"$schema", "https://json-schema.org/draft/2020-12/schema"},
      {"title", "Warpath kernel specs"},
      {"description", "One spec or a list of specs; docs/spec.md explains every key."},
      {"anyOf", {spec, {{"type", "array"}, {"items", spec}, {"minItems", 1}}}},
      {"$defs", defs}};
  return schema.dump(2) + "\n";
}

}  // namespace warpath
