#include "engine/spec/spec_load.h"

#include <algorithm>
#include <filesystem>
#include <set>

#include "engine/base/base64.h"
#include "engine/base/compression.h"
#include "engine/base/error.h"
#include "engine/spec/local_headers.h"
#include "engine/spec/npy.h"
#include "engine/spec/spec_check.h"
#include "engine/spec/spec_fields.h"
#include "engine/spec/system_headers.h"
#include "engine/text/source_text.h"

namespace warpath {

using nlohmann::json;

namespace {

constexpr std::int64_t kMaxEmbeddedElements = std::int64_t{1} << 28U;

/// `path` as the spec wrote it, relative to the spec's folder.
std::string resolve(const std::string& folder, const std::string& path) {
  return (std::filesystem::path(folder) / path).lexically_normal().string();
}

/// A folder that a spec names, as an absolute path.
std::string existing_folder(const std::string& folder,
                            const std::string& path,
                            const std::string& place) {
  std::error_code error;
  const auto whole = std::filesystem::absolute(resolve(folder, path), error).lexically_normal();
  if (error || !std::filesystem::is_directory(whole, error))
    throw bad_input(place, path, "a folder that exists, relative to the spec");
  return whole.string();
}

void read_source(std::string& source,
                 const std::string& source_file,
                 const std::string& folder,
                 const std::string& place) {
  if (!source.empty()) return;
  if (source_file.empty()) throw bad_input(place, "neither", "source_code or source_file");
  source =
      read_source_file(resolve(folder, source_file), kMaxSourceFileBytes, place + "/source_file")
          .text;
  if (source.empty())
    throw bad_input(place + "/source_file", source_file, "a file that is not empty");
}

/// The headers that the texts of `spec` name: those of the project go into the texts, those of
/// libraries beside them.
void read_headers(KernelSpec& spec, const std::string& folder) {
  const auto make_whole = [&](std::vector<std::string>& folders, const std::string& key) {
    for (std::size_t i = 0; i < folders.size(); ++i)
      folders[i] = existing_folder(folder, folders[i], spec.place(key + std::to_string(i)));
  };
  make_whole(spec.include_folders, "/kernel/include_folders/");
  make_whole(spec.system_include_folders, "/kernel/system_include_folders/");
  const auto flatten = [&](std::string& source, const std::string& file) {
    FlatSource flat = flat_source(source, resolve(folder, file.empty() ? "source_code" : file),
                                  spec.include_folders);
    source = std::move(flat.text);
    for (MissingHeader& header : flat.missing) spec.missing_headers.push_back(std::move(header));
  };
  flatten(spec.source, spec.source_file);
  if (auto* const reference = std::get_if<ReferenceKernel>(&spec.reference))
    flatten(reference->source, reference->source_file);
  spec.include_folders.clear();  // what they gave is in the texts
  read_system_headers(spec);
}

/// A guess about a part that is no longer there would mislead.
void require_guessed_paths(const JsonCursor& at, const KernelSpec& spec) {
  for (std::size_t i = 0; i < spec.guessed.size(); ++i) {
    const std::string& path = spec.guessed[i].path;
    bool found = false;
    try {
      found = at.value().contains(json::json_pointer(path));
    } catch (const json::exception&) {  // it is no pointer
    }
    if (!found)
      at.at("guessed").element(i).at("path").fail("a JSON pointer to a part of this spec");
  }
}

KernelSpec read_spec(const JsonCursor& at) {
  KernelSpec spec;
  Codec<KernelSpec>::read(at, spec);
  require_guessed_paths(at, spec);
  spec.origin = at.place();
  if (spec.workloads.empty()) spec.workloads.emplace_back().name = "default";
  return spec;
}

void read_sources(KernelSpec& spec, const std::string& folder) {
  read_source(spec.source, spec.source_file, folder, spec.place("/kernel"));
  if (auto* kernel = std::get_if<ReferenceKernel>(&spec.reference)) {
    read_source(kernel->source, kernel->source_file, folder, spec.place("/reference/kernel"));
  }
}

void require_unique_names(const std::vector<KernelSpec>& specs) {
  std::map<std::string, std::string> seen;
  for (const KernelSpec& spec : specs) {
    const auto [it, added] = seen.emplace(spec.name, spec.origin);
    if (!added)
      throw bad_input(spec.origin, spec.name,
                      "a name that no other spec has; " + it->second + " has it");
  }
}

bool same_tensor(const TensorSpec& a, const TensorSpec& b) {
  return Codec<TensorSpec>::write(a) == Codec<TensorSpec>::write(b);
}

/// What differs from the spec's own contract becomes the workload's overrides.
void take_contract(Workload& workload,
                   const IOContract& base,
                   const IOContract& own,
                   const JsonCursor& at) {
  if (own.args.size() != base.args.size()) at.fail("the arguments of the kernel's own io");
  for (std::size_t i = 0; i < base.args.size(); ++i) {
    const ArgSpec& theirs = own.args[i];
    const JsonCursor arg = at.at("args").element(i);
    if (theirs.name != base.args[i].name || theirs.type != base.args[i].type ||
        theirs.is_meta != base.args[i].is_meta) {
      arg.fail("argument " + base.args[i].name + " as in the kernel's own io");
    }
    if (theirs.tensor &&
        !(base.args[i].tensor && same_tensor(*theirs.tensor, *base.args[i].tensor))) {
      workload.tensors[theirs.name] = *theirs.tensor;
    }
    if (theirs.value == base.args[i].value) continue;
    std::visit(
        [&](const auto& x) {
          using X = std::decay_t<decltype(x)>;
          if constexpr (std::is_same_v<X, std::string>) {
            arg.fail("the same text in every workload");
          } else if constexpr (!std::is_same_v<X, std::monostate>) {
            workload.scalars[theirs.name] = x;
          }
        },
        theirs.value);
  }
  if (!(own.launch == base.launch)) workload.launch = own.launch;
}

}  // namespace

void WorkloadsField::read(const JsonCursor& at, KernelSpec& out) {
  at.require_array();
  if (at.size() == 0) at.fail("at least one workload");
  for (std::size_t i = 0; i < at.size(); ++i) {
    Workload workload;
    workload.launch = out.io.launch;  // parts left out come from it
    const JsonCursor element = at.element(i);
    Codec<Workload>::read(element, workload);
    if (!element.find("launch")) workload.launch.reset();
    for (auto& [name, value] : workload.scalars) {  // 2 is a number of a float argument too
      const ArgSpec* arg = out.io.find(name);
      const auto* integer = std::get_if<std::int64_t>(&value);
      if (arg != nullptr && arg->type == ArgType::floating && integer != nullptr)
        value = static_cast<double>(*integer);
    }
    out.workloads.push_back(std::move(workload));
  }
}

void RepresentativeShapesField::read(const JsonCursor& at, KernelSpec& out) {
  at.require_array();
  if (!out.workloads.empty()) at.fail("either workloads or representative_shapes");
  for (std::size_t i = 0; i < at.size(); ++i) {
    const JsonCursor element = at.element(i);
    RepresentativeShape shape;
    Codec<RepresentativeShape>::read(element, shape);
    Workload workload;
    workload.name = shape.name;
    workload.weight = shape.weight;
    if (shape.io) take_contract(workload, out.io, *shape.io, element.at("io"));
    if (const auto update = element.find("launch_update")) {
      LaunchPlan plan = workload.launch.value_or(out.io.launch);
      Codec<LaunchPlan>::read(*update, plan);
      workload.launch = plan;
    }
    out.workloads.push_back(std::move(workload));
  }
}

void PythonReferenceField::read(const JsonCursor& at, KernelSpec& out) {
  ReferencePython python;
  Codec<ReferencePython>::read(at, python);
  out.tolerance[""] = Tolerance{
      .atol = python.atol, .rtol = python.rtol, .norm = std::max(python.rtol, python.atol)};
  out.reference = std::move(python);
}

namespace {

/// A norm that is not given is no stricter than what is given.
void read_tolerance(const JsonCursor& at, Tolerance& out) {
  Codec<Tolerance>::read(at, out);
  if (!at.find("norm")) out.norm = std::max({out.norm, out.atol, out.rtol});
}

/// A stricter norm is written also where it is the default of the struct.
json written_tolerance(const Tolerance& tolerance) {
  json out = Codec<Tolerance>::write(tolerance);
  if (tolerance.norm < std::max(tolerance.atol, tolerance.rtol)) out["norm"] = tolerance.norm;
  return out;
}

}  // namespace

void ToleranceField::read(const JsonCursor& at, KernelSpec& out) {
  at.require_object();
  out.tolerance.clear();
  const bool by_output = std::any_of(at.value().begin(), at.value().end(),
                                     [](const json& x) { return x.is_object(); });
  if (!by_output) return read_tolerance(at, out.tolerance[""]);
  for (const auto& [key, value] : at.value().items()) {
    read_tolerance(JsonCursor(value, at.file(), at.pointer_to(key)),
                   out.tolerance[key == "default" ? "" : key]);
  }
}

json ToleranceField::write(const KernelSpec& spec) {
  json out;
  for (const auto& [output, tolerance] : spec.tolerance)
    out[output.empty() ? "default" : output] = written_tolerance(tolerance);
  return out;
}

json ToleranceField::schema(SchemaDefs& defs) {
  const json one = Codec<Tolerance>::schema(defs);
  return {{"anyOf", {one, {{"type", "object"}, {"additionalProperties", one}}}}};
}

void Codec<EmbeddedData>::read(const JsonCursor& at, EmbeddedData& out) {
  at.require_object();
  if (at.find("file")) {
    DataFile fields;
    Codec<DataFile>::read(at, fields);
    const auto folder = std::filesystem::path(at.file()).parent_path();
    out.tensor = read_npy(resolve(folder.string(), fields.file), fields.dtype);
    return;
  }
  EmbeddedFields fields;
  Codec<EmbeddedFields>::read(at, fields);
  std::int64_t elements = 1;
  for (std::size_t i = 0; i < fields.shape.size(); ++i) {
    const std::int64_t extent = fields.shape[i];
    if (extent < 1 || extent > kMaxEmbeddedElements / elements) {
      at.at("shape").element(i).fail("positive extents of at most " +
                                     std::to_string(kMaxEmbeddedElements) + " elements");
    }
    elements *= extent;
  }
  const std::size_t size_bytes = static_cast<std::size_t>(elements) * info(fields.dtype).size_bytes;
  auto bytes = base64_decode(fields.data_b64);
  if (!bytes) at.at("data_b64").fail("base64 with padding and without line breaks");
  if (fields.compress == Compression::zlib) {
    bytes = zlib_inflate(*bytes, size_bytes);
    if (!bytes)
      at.at("data_b64").fail("a zlib stream of exactly " + std::to_string(size_bytes) + " bytes");
  }
  if (bytes->size() != size_bytes) {
    throw bad_input(at.place() + "/data_b64", std::to_string(bytes->size()) + " bytes",
                    std::to_string(size_bytes) + " bytes, as shape and dtype say");
  }
  out.tensor = Tensor{.dtype = fields.dtype, .shape = fields.shape, .bytes = std::move(*bytes)};
}

json Codec<EmbeddedData>::write(const EmbeddedData& value) {
  return Codec<EmbeddedFields>::write({.data_b64 = base64_encode(value.tensor.bytes),
                                       .dtype = value.tensor.dtype,
                                       .shape = value.tensor.shape,
                                       .compress = Compression::none});
}

json Codec<EmbeddedData>::schema(SchemaDefs& defs) {
  return {{"anyOf", {Codec<EmbeddedFields>::schema(defs), Codec<DataFile>::schema(defs)}}};
}

std::vector<std::string> spec_files(const std::string& path) {
  namespace fs = std::filesystem;
  std::error_code error;
  if (!fs::exists(path, error))
    throw bad_input(path, "", "a spec file or a folder of them (it does not exist)");
  if (!fs::is_directory(path, error)) return {path};
  std::vector<std::string> out;
  for (fs::directory_iterator it(path, error), end; !error && it != end; it.increment(error)) {
    if (it->path().extension() == ".json" && it->path().filename() != "schema.json")
      out.push_back(it->path().string());
  }
  if (error) throw bad_input(path, "", "a readable folder (" + error.message() + ")");
  if (out.empty()) throw bad_input(path, "a folder without *.json", "at least one spec");
  std::sort(out.begin(), out.end());
  return out;
}

std::vector<KernelSpec> parse_specs(std::string_view text,
                                    const std::string& file,
                                    const std::string& folder,
                                    bool check) {
  const json document = parse_json(text, file);
  const JsonCursor root(document, file);
  std::vector<KernelSpec> specs;
  if (document.is_array()) {
    if (document.empty()) root.fail("at least one spec");
    for (std::size_t i = 0; i < root.size(); ++i) specs.push_back(read_spec(root.element(i)));
  } else {
    if (!document.is_object()) root.fail("a spec (object) or a list of specs");
    specs.push_back(read_spec(root));
  }
  for (KernelSpec& spec : specs) {
    read_sources(spec, folder);
    read_headers(spec, folder);
    if (check) check_spec(spec);
  }
  require_unique_names(specs);
  return specs;
}

std::vector<KernelSpec> load_specs(const std::string& path) {
  return load_specs(std::vector<std::string>{path});
}

std::vector<KernelSpec> load_specs(const std::vector<std::string>& paths) {
  std::vector<KernelSpec> specs;
  for (const std::string& path : paths) {
    for (const std::string& file : spec_files(path)) {
      const std::string text = read_text_file(file, kMaxJsonBytes, file);
      for (KernelSpec& spec :
           parse_specs(text, file, std::filesystem::path(file).parent_path().string())) {
        specs.push_back(std::move(spec));
      }
    }
  }
  require_unique_names(specs);
  return specs;
}

json to_json(const KernelSpec& spec) {
  return Codec<KernelSpec>::write(spec);
}

KernelSpec spec_from_json(const json& document, const std::string& place) {
  KernelSpec spec = read_spec(JsonCursor(document, place));
  read_sources(spec, "");
  return spec;
}

}  // namespace warpath
