#include "moves/contract/kernel_contract.h"

#include <algorithm>
#include <optional>

#include "engine/base/error.h"
#include "engine/spec/parameters.h"
#include "engine/text/one_kernel.h"
#include "moves/model/facts.h"
#include "moves/syntax/syntax_query.h"
#include "moves/syntax/words.h"

namespace warpath {
namespace {

using model::Declarator;
using model::Function;
using model::Span;
using model::Unit;

bool is_floating(DType dtype) {
  return dtype == DType::f64 || dtype == DType::f32 || dtype == DType::f16 || dtype == DType::bf16;
}

/// The kernel may take a tensor of `tensor` by a pointer to `element`: equal types, raw bytes, and
/// unsigned integers for the bits of anything as wide.
bool points_to(DType element, DType tensor) {
  const std::size_t size = info(element).size_bytes;
  if (element == tensor || (size == 1 && !is_floating(element))) return true;
  if (size != info(tensor).size_bytes || is_floating(element)) return false;
  return !info(element).is_signed || !is_floating(tensor);
}

bool holds(DType parameter, const ArgSpec& argument) {
  const std::size_t size = info(parameter).size_bytes;
  if (argument.type == ArgType::boolean) return size == 1;
  if (argument.type == ArgType::floating) return parameter == argument.dtype;
  return !is_floating(parameter) && size == info(argument.dtype).size_bytes;
}

std::string list_of(const std::vector<std::string>& names) {
  std::string out;
  for (const std::string& name : names)
    out += (out.empty() ? "" : ", ") + (name.empty() ? "?" : name);
  return out;
}

/// Integers that the compiler gets by -D: compile-time arguments under the first workload.
/// (Tunables and options are the variant's own.)
void bind_meta(const KernelSpec& spec, Variant& variant) {
  for (const ArgSpec& argument : spec.io.args) {
    if (!argument.is_meta || argument.is_size || variant.tunables.contains(argument.name)) continue;
    const Bindings values = spec.bindings(spec.workloads.front(), {});
    if (const auto value = values.find(argument.name); value != values.end())
      variant.tunables.emplace(argument.name, value->second);
  }
}

/// One kernel of a spec: the kernel itself or its reference kernel.
class Contract {
 public:
  Contract(const KernelSpec& spec,
           Variant variant,
           bool is_reference,
           std::vector<std::string>& problems)
      : spec_(spec),
        variant_(std::move(variant)),
        is_reference_(is_reference),
        problems_(problems),
        unit_(model::parse(spec, variant_)),
        layouts_(parameter_layouts(spec)) {
    const std::vector<const ArgSpec*> passed = parameter_arguments(spec);
    for (std::size_t i = 0; i < passed.size(); ++i) {
      const auto is_it = [&](const ArgSpec& argument) { return &argument == passed[i]; };
      const auto at = std::ranges::find_if(spec.io.args, is_it) - spec.io.args.begin();
      passed_.push_back(static_cast<std::size_t>(at));
    }
  }

  void check() {
    if (unit_.ambiguous() || spec_.kernel_type != KernelType::cuda) return;
    kernel_ = unit_.find_kernel(variant_.kernel_name);
    if (kernel_ == nullptr || !kernel_->is_global) return missing();
    if (!parameters_known()) return;
    if (kernel_->parameters.size() != passed_.size()) return wrong_number();
    const std::size_t before = problems_.size();
    check_order();
    if (problems_.size() > before) return;
    for (std::size_t i = 0; i < passed_.size(); ++i) {
      if (is_struct(i)) {
        check_struct(i);
      } else {
        check_type(i);
      }
    }
    if (problems_.size() == before) check_roles();
  }

 private:
  [[nodiscard]] bool is_struct(std::size_t i) const { return !layouts_[i].struct_name.empty(); }
  /// Parameter `i` is no struct.
  [[nodiscard]] const ArgSpec& argument(std::size_t i) const { return spec_.io.args[passed_[i]]; }
  [[nodiscard]] std::string place_of(std::size_t i, const std::string& key) const {
    return spec_.place(is_reference_ ? "/reference/kernel"
                                     : "/kernel/io/args/" + std::to_string(passed_[i]) + key);
  }
  void complain(const std::string& place, std::string_view value, const std::string& expected) {
    problems_.emplace_back(bad_input(place, value, expected).what());
  }

  void missing() {
    const std::string_view wanted = plain_kernel_name(variant_.kernel_name);
    std::vector<std::string> kernels;
    bool other = false;
    for (const Function* function : unit_.functions()) {
      if (function->is_global && function->body != nullptr) kernels.emplace_back(function->name);
      other = other || function->name == wanted;
    }
    const std::string place = spec_.place(is_reference_ ? "/reference/kernel/kernel_name"
                                                        : "/kernel/metadata/kernel_name");
    std::ranges::sort(kernels);
    kernels.erase(std::unique(kernels.begin(), kernels.end()), kernels.end());
    // several of the name: the compiler knows which
    if (std::ranges::find(kernels, wanted) != kernels.end()) return;
    if (other)
      return complain(
          place, variant_.kernel_name,
          "a kernel (__global__)" + (kernels.empty() ? "" : ": one of " + list_of(kernels)));
    // A macro may make the name.
    if (unit_.identifiers().contains(wanted) || unit_.source().find("##") != std::string_view::npos)
      return;
    complain(place, variant_.kernel_name,
             kernels.empty()
                 ? "the name of a kernel (__global__) that the source holds; it holds none"
                 : "one of the kernels of the source: " + list_of(kernels));
  }

  [[nodiscard]] bool parameters_known() const {
    const std::string_view text = unit_.text(kernel_->parameters_span);
    if (text.find('#') != std::string_view::npos || text.find("...") != std::string_view::npos)
      return false;
    const bool opaque = std::ranges::any_of(
        kernel_->opaque, [&](Span span) { return span.overlaps(kernel_->parameters_span); });
    const bool macro = std::ranges::any_of(unit_.macros(), [&](const model::Macro& m) {
      return m.function_like && text.find(m.name) != std::string_view::npos;
    });
    const bool object_macro = std::ranges::any_of(unit_.macros(), [&](const model::Macro& m) {
      return !m.function_like && m.body.find_first_of(",(") != std::string::npos &&
             text.find(m.name) != std::string_view::npos;
    });
    return !opaque && !macro && !object_macro;
  }

  [[nodiscard]] std::vector<std::string> parameter_names() const {
    std::vector<std::string> out;
    for (const Declarator* p : kernel_->parameters) out.emplace_back(p->name);
    return out;
  }
  [[nodiscard]] std::vector<std::string> argument_names() const {
    std::vector<std::string> out;
    for (std::size_t i = 0; i < passed_.size(); ++i)
      out.push_back(is_struct(i) ? layouts_[i].struct_name : argument(i).name);
    return out;
  }

  void wrong_number() {
    const std::string place = spec_.place(is_reference_ ? "/reference/kernel" : "/kernel/io/args");
    const std::string takes =
        std::to_string(kernel_->parameters.size()) + " (" + list_of(parameter_names()) + ")";
    const std::string gives =
        std::to_string(passed_.size()) + " (" + list_of(argument_names()) + ")";
    const std::string kernel(kernel_->name);
    if (is_reference_)
      return complain(place, kernel + " with " + takes + " parameters",
                      "one that takes the spec's arguments, " + gives);
    complain(place, gives + " arguments", "one for each parameter of " + kernel + ": " + takes);
  }

  /// Arguments named like parameters stand in the parameters' order. A name that happens to occur
  /// is no evidence: places must be exchanged.
  void check_order() {
    const std::vector<std::string> parameters = parameter_names(), arguments = argument_names();
    const auto contains = [](const std::vector<std::string>& names, const std::string& name) {
      return std::ranges::count(names, name) == 1;
    };
    for (std::size_t i = 0; i < arguments.size(); ++i) {
      if (arguments[i] == parameters[i] || !contains(parameters, arguments[i]) ||
          !contains(arguments, parameters[i]))
        continue;
      const std::string kernel(kernel_->name);
      if (is_reference_) {
        complain(place_of(i, ""), kernel + "(" + list_of(parameters) + ")",
                 "the spec's arguments in their order: " + list_of(arguments));
      } else {
        complain(place_of(i, "/name"), arguments[i],
                 parameters[i] + ", in the order of the parameters: " + kernel + "(" +
                     list_of(parameters) + ")");
      }
      return;
    }
  }

  [[nodiscard]] std::string text_of(const Declarator& p) const {
    const Span whole{p.specifiers.begin,
                     std::max({p.specifiers.end, p.span.end, p.pointer_span.end, p.name_span.end})};
    return unit_.plain_text(whole);
  }

  void check_type(std::size_t i) {
    const Declarator& p = *kernel_->parameters[i];
    const ArgSpec& a = argument(i);
    const bool pointer = p.is_pointer() || p.is_array();
    const std::string type = unit_.resolved_type(unit_.plain_text(p.type));
    if (p.reference || p.is_function_pointer || p.pointer_depth > 1 ||
        type.find('*') != std::string::npos)
      return;
    const auto dtype = model::dtype_of_type(type);
    const std::string parameter = "parameter " + std::to_string(i + 1) + " of " +
                                  std::string(kernel_->name) + ", `" + text_of(p) + "`";
    const bool tensor = a.type == ArgType::tensor;
    const auto differ = [&](const std::string& key, std::string_view value,
                            const std::string& expected) {
      if (is_reference_)
        return complain(place_of(i, key), parameter,
                        "what the spec's " + a.name + " is: " + std::string(value));
      complain(place_of(i, key), value, expected + ", as " + parameter + " says");
    };
    if (tensor != pointer) {
      if (!tensor || dtype)
        differ("/type", tensor ? "tensor" : "a scalar", tensor ? "a scalar" : "tensor");
      return;  // a class may hold a pointer
    }
    if (!dtype) return;
    if (tensor && !points_to(*dtype, a.tensor->dtype))
      differ("/tensor_spec/dtype", info(a.tensor->dtype).name, std::string(info(*dtype).name));
    if (!tensor && !holds(*dtype, a)) {
      const std::string_view own = a.type == ArgType::boolean ? "bool" : info(a.dtype).name;
      differ(is_floating(*dtype) == (a.type == ArgType::floating) && a.type != ArgType::boolean
                 ? "/dtype"
                 : "/type",
             own, std::string(info(*dtype).name));
    }
  }

  /// The compilers compare sizes; here, a number or a pointer is no struct.
  void check_struct(std::size_t i) {
    const Declarator& p = *kernel_->parameters[i];
    const std::string type = unit_.resolved_type(unit_.plain_text(p.type));
    if (!p.is_pointer() && !p.is_array() && !model::dtype_of_type(type)) return;
    complain(spec_.place(is_reference_ ? "/reference/kernel" : "/kernel/io/args"),
             "struct " + layouts_[i].struct_name + " " + layout_text(spec_, layouts_[i]),
             "what parameter " + std::to_string(i + 1) + " of " + std::string(kernel_->name) +
                 " is: `" + text_of(p) + "`");
  }

  /// Written by the kernel's own text through the parameter's own name.
  [[nodiscard]] const model::Access* write_to(const model::KernelFacts& facts,
                                              std::string_view name) const {
    for (const model::Access& access : facts.accesses) {
      if (!access.writes() || access.in_helper || access.expr == nullptr ||
          access.expr->args.empty())
        continue;
      const model::Array& array = facts.arrays[static_cast<std::size_t>(access.array)];
      if (array.is_parameter && array.name == name && access.expr->arg(0).is_name(name))
        return &access;
    }
    return nullptr;
  }

  void check_roles() {
    if (kernel_->unresolved_conditionals || !kernel_->opaque.empty() || kernel_->body == nullptr)
      return;
    const model::KernelFacts facts = model::analyse(unit_, *kernel_, {&spec_, &variant_});
    for (std::size_t i = 0; i < passed_.size(); ++i) {
      if (is_struct(i)) continue;
      const ArgSpec& a = argument(i);
      const std::string name(kernel_->parameters[i]->name);
      if (a.type != ArgType::tensor) continue;
      const std::string kernel(kernel_->name);
      if (a.role == ArgRole::input) {
        const model::Access* const write = name.empty() ? nullptr : write_to(facts, name);
        if (write == nullptr) continue;
        const std::string where = "line " +
                                  std::to_string(model::line_of(unit_, write->expr->span.begin)) +
                                  " of " + (is_reference_ ? "the reference" : "the source");
        if (is_reference_) {
          complain(place_of(i, ""),
                   kernel + ", which writes the input " + a.name + " (" + where + ")",
                   "a reference that leaves inputs alone");
        } else {
          complain(place_of(i, "/role"), "input",
                   "output or inout: " + kernel + " writes " + name + " (" + where + ")");
        }
      } else if (a.role == ArgRole::output &&
                 never_written(facts, name)) {  // an inout may stay as it was
        if (is_reference_) {
          complain(place_of(i, ""), kernel + ", which never writes " + a.name,
                   "a reference that writes every output");
        } else {
          complain(place_of(i, "/role"), "output",
                   "input: " + kernel + " never writes " + (name.empty() ? a.name : name));
        }
      }
    }
  }

  [[nodiscard]] bool never_written(const model::KernelFacts& facts, const std::string& name) const {
    // an empty body is a placeholder for a kernel that is not shown
    if (!facts.veto.empty() || kernel_->body->children.empty()) return false;
    if (name.empty()) return true;
    const bool in_macro = std::ranges::any_of(unit_.macros(), [&](const model::Macro& m) {
      return m.body.find(name) != std::string::npos;
    });
    if (in_macro) return false;
    const model::Array* const array = facts.array(name);
    if (array == nullptr) return !model::mentions(*kernel_->body, name);
    return array->is_parameter && !array->written && !array->atomic && !array->escapes;
  }

  const KernelSpec& spec_;
  const Variant variant_;
  const bool is_reference_;
  std::vector<std::string>& problems_;
  const Unit unit_;
  const std::vector<ParameterLayout> layouts_;
  std::vector<std::size_t> passed_;  // by parameter: into the spec's arguments; a struct: the end
  const Function* kernel_ = nullptr;
};

}  // namespace

std::vector<std::string> contract_problems(const KernelSpec& spec) {
  std::vector<std::string> problems;
  if (spec.kernel_type != KernelType::cuda || spec.workloads.empty()) return problems;
  Variant own = baseline_variant(spec);
  bind_meta(spec, own);
  Contract(spec, own, false, problems).check();
  if (const auto* const kernel = std::get_if<ReferenceKernel>(&spec.reference)) {
    Variant reference = own;
    reference.source = kernel->source;
    reference.kernel_name = kernel->kernel_name;
    reference.launch = kernel->launch;
    Contract(spec, std::move(reference), true, problems).check();
  }
  return problems;
}

}  // namespace warpath
