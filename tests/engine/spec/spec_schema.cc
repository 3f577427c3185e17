#include "engine/spec/spec_schema.h"

#include <doctest/doctest.h>

#include <cstdlib>
#include <fstream>
#include <functional>
#include <iterator>
#include <nlohmann/json.hpp>
#include <set>
#include <string>
#include <vector>

#include "engine/json/json_reader.h"
#include "engine/spec/spec_load.h"
#include "tests/support/spec_fixtures.h"

using namespace warpath;
using nlohmann::json;

namespace {

bool has_type(const json& value, const std::string& type) {
  if (type == "null") return value.is_null();
  if (type == "boolean") return value.is_boolean();
  if (type == "integer") return value.is_number_integer();
  if (type == "number") return value.is_number();
  if (type == "string") return value.is_string();
  if (type == "array") return value.is_array();
  return value.is_object();
}

/// The part of JSON Schema that the generated schema uses.
bool valid(const json& root, const json& schema, const json& value) {
  if (schema.contains("$ref"))
    return valid(root, root[json::json_pointer(schema["$ref"].get<std::string>().substr(1))],
                 value);
  if (schema.contains("anyOf")) {
    for (const json& one : schema["anyOf"]) {
      if (valid(root, one, value)) return true;
    }
    return false;
  }
  if (schema.contains("enum") &&
      std::find(schema["enum"].begin(), schema["enum"].end(), value) == schema["enum"].end())
    return false;
  if (schema.contains("type")) {
    const json& type = schema["type"];
    bool fits = false;
    for (const json& one : type.is_array() ? type : json::array({type}))
      fits = fits || has_type(value, one.get<std::string>());
    if (!fits) return false;
  }
  if (schema.contains("minimum") && value.is_number() && value < schema["minimum"]) return false;
  if (value.is_array() && schema.contains("items")) {
    for (const json& element : value) {
      if (!valid(root, schema["items"], element)) return false;
    }
  }
  if (!value.is_object()) return true;
  for (const json& key : schema.value("required", json::array())) {
    if (!value.contains(key)) return false;
  }
  for (const auto& [key, element] : value.items()) {
    const json properties = schema.value("properties", json::object());
    if (properties.contains(key)) {
      if (!valid(root, properties[key], element)) return false;
    } else if (schema.contains("additionalProperties")) {
      const json& others = schema["additionalProperties"];
      if (others == false || !valid(root, others, element)) return false;
    }
  }
  return true;
}

std::string content(const std::string& path) {
  std::ifstream in(path, std::ios::binary);
  return {std::istreambuf_iterator<char>(in), {}};
}

}  // namespace

TEST_SUITE_BEGIN("spec_schema");

TEST_CASE("specs/schema.json is the generated schema (WARPATH_ACCEPT=1 rewrites it)") {
  const std::string path = std::string(WARPATH_SOURCE_ROOT) + "/specs/schema.json";
  if (std::getenv("WARPATH_ACCEPT") != nullptr)
    std::ofstream(path, std::ios::binary) << spec_schema_text();
  CHECK(content(path) == spec_schema_text());
}

TEST_CASE("the schema accepts what the loader accepts and refuses unknown keys and wrong types") {
  const json schema = json::parse(spec_schema_text());
  const json good = json::parse(test::gather_spec_text());
  CHECK(valid(schema, schema, good));
  CHECK(valid(schema, schema, json::parse(test::foreign_spec_text())));
  for (const auto& [pointer, value] : std::initializer_list<std::pair<const char*, json>>{
           {"/nmae", 1},
           {"/name", 1},
           {"/kernel/io/args/1/type", "pointer"},
           {"/kernel/io/args/1/tensor_spec/init/sigma", 1},
           {"/kernel/io/launch/grid/w", 1},
           {"/tolerance/o/abs", 1},
           {"/tunables", 3},
           {"/kernel/io/launch/num_warps", 0}}) {
    json wrong = good;
    wrong[json::json_pointer(pointer)] = value;
    CAPTURE(pointer);
    CHECK_FALSE(valid(schema, schema, wrong));
  }
}

TEST_CASE("every spec of specs/ loads and is valid by the schema") {
  const json schema = json::parse(spec_schema_text());
  const std::vector<std::string> files = spec_files(std::string(WARPATH_SOURCE_ROOT) + "/specs");
  CHECK(files.size() >= 12);
  for (const std::string& file : files) {
    CAPTURE(file);
    CHECK(valid(schema, schema, read_json_file(file)));
    for (const KernelSpec& spec : load_specs(file)) CHECK(valid(schema, schema, to_json(spec)));
  }
}

TEST_CASE("docs/spec.md explains every key of the schema, and its example is a valid spec") {
  const std::string page = content(std::string(WARPATH_SOURCE_ROOT) + "/docs/spec.md");
  const json schema = json::parse(spec_schema_text());
  std::set<std::string> keys;
  const std::function<void(const json&)> collect = [&](const json& node) {
    if (!node.is_structured()) return;
    for (const json& child : node) collect(child);
    if (!node.is_object() || !node.contains("properties")) return;
    for (const auto& [key, ignored] : node["properties"].items()) keys.insert(key);
  };
  collect(schema);
  CHECK(keys.size() > 70);
  for (const std::string& key : keys) {
    CAPTURE(key);
    CHECK(page.find("`" + key + "`") != std::string::npos);
  }
  const auto begin = page.find("```json\n") + 8;
  CHECK(valid(schema, schema, json::parse(page.substr(begin, page.find("```", begin) - begin))));
}

TEST_SUITE_END();
