#include "experiments/init/analysis_text.h"

#include <algorithm>
#include <nlohmann/json.hpp>
#include <optional>
#include <utility>
#include <vector>

#include "engine/base/error.h"
#include "engine/spec/spec_load.h"
#include "engine/text/source_edit.h"
#include "moves/edit/known_shape.h"
#include "moves/syntax/syntax_query.h"
#include "moves/syntax/words.h"

namespace warpath {

using model::Access;

namespace {

/// A spec that is good enough for the normal form of the kernel: nothing in it is evaluated.
std::optional<KernelSpec> rough_spec(const std::string& source,
                                     const std::string& kernel,
                                     const std::string& instance,
                                     const std::vector<KernelParameter>& parameters) {
  nlohmann::json args = nlohmann::json::array();
  for (const KernelParameter& p : parameters) {
    const std::string_view dtype = info(p.dtype).name;
    if (p.pointer) {
      args.push_back({{"name", p.name},
                      {"type", "tensor"},
                      {"role", p.is_const ? "input" : "inout"},
                      {"tensor_spec", {{"shape", {1 << 20}}, {"dtype", dtype}}}});
    } else if (info(p.dtype).is_float) {
      args.push_back({{"name", p.name}, {"type", "float"}, {"dtype", dtype}, {"value", 1}});
    } else if (p.dtype == DType::boolean) {
      args.push_back({{"name", p.name}, {"type", "bool"}, {"value", true}});
    } else {
      args.push_back({{"name", p.name}, {"type", "int"}, {"dtype", dtype}, {"value", 1024}});
    }
  }
  nlohmann::json metadata = {{"kernel_name", kernel}};
  if (instance != kernel) metadata["name_expressions"] = {instance};
  const nlohmann::json launch = {{"grid", {{"x", 1024}}}, {"block", {{"x", 256}}}};
  try {
    return spec_from_json({{"name", "rough"},
                           {"kernel",
                            {{"source_code", source},
                             {"metadata", metadata},
                             {"io", {{"args", args}, {"launch", launch}}}}}},
                          "rough");
  } catch (const Error&) {
    return std::nullopt;
  }
}

}  // namespace

std::string normal_text(const std::string& source,
                        const std::string& kernel,
                        const std::string& instance,
                        const std::vector<KernelParameter>& parameters) {
  const auto spec = rough_spec(source, kernel, instance, parameters);
  if (!spec) return source;
  const Variant variant = baseline_variant(*spec);
  DeviceFacts device;
  device.is_gpu = true;
  const auto normal = with_normal_form({*spec, variant, device});
  return normal ? normal->source : source;
}

bool becomes_integer(const model::Unit& unit, const Access& access) {
  const auto is_integer = [&](model::Span type) {
    const auto dtype = model::dtype_of_type(unit.resolved_type(unit.plain_text(type)));
    return dtype && !info(*dtype).is_float && *dtype != DType::boolean;
  };
  const model::Expr* at = access.expr;
  for (; at != nullptr && at->parent != nullptr && at->parent->is(model::ExprKind::cast);
       at = at->parent) {
    if (is_integer(at->parent->type)) return true;
  }
  if (at == nullptr || at->parent != nullptr || access.in_helper || access.stmt == nullptr)
    return false;
  return std::ranges::any_of(access.stmt->declarators, [&](const model::Declarator* declared) {
    return declared->value() == at && !declared->is_pointer() && is_integer(declared->type);
  });
}

std::string with_integer_contents(const model::KernelFacts& facts) {
  const model::Unit& unit = *facts.unit;
  std::vector<Edit> edits;
  for (const model::Declarator* const parameter : facts.kernel->parameters) {
    const int array = facts.array_index(parameter->name);
    if (array < 0 || facts.arrays[static_cast<std::size_t>(array)].escapes) continue;
    const auto dtype = facts.arrays[static_cast<std::size_t>(array)].dtype;
    const auto accesses = facts.accesses_to(array);
    const bool only = !accesses.empty() && std::ranges::all_of(accesses, [&](const Access* access) {
      return !access->writes() && becomes_integer(unit, *access);
    });
    if (dtype && info(*dtype).is_float && only)
      edits.push_back({parameter->type.begin, parameter->type.end, "int"});
  }
  return edited(unit.source(), std::move(edits));
}

bool keeps_from_barriers(const model::Function& kernel, std::string_view size) {
  bool out = false;
  const auto leaves = [](const model::Stmt& body) {
    bool found = false;
    model::walk(body, [&](const model::Stmt& stmt) {
      found = found || stmt.kind == model::StmtKind::return_;
      return !found;
    });
    model::walk_expressions(body, [&](const model::Expr& e) {
      found = found || model::callee(e) == "__syncthreads";
      return !found;
    });
    return found;
  };
  model::walk(*kernel.body, [&](const model::Stmt& stmt) {
    out = out || (stmt.kind == model::StmtKind::if_ && stmt.expr != nullptr &&
                  model::mentions(*stmt.expr, size) && leaves(*stmt.body));
    return !out;
  });
  return out;
}

}  // namespace warpath
