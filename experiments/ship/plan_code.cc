#include "experiments/ship/plan_code.h"

#include <algorithm>

#include "engine/base/dtype.h"
#include "engine/base/error.h"
#include "engine/spec/parameters.h"
#include "experiments/ship/c_arguments.h"
#include "experiments/ship/expression_code.h"
#include "moves/contract/contract_text.h"

namespace warpath {
namespace {

/// Scalar arguments as members of `a`, tunables as their values.
NameInC names_in(const KernelSpec& spec, const TunableValues& tunables) {
  return [&spec, &tunables](const std::string& name) {
    if (const auto it = tunables.find(name); it != tunables.end())
      return std::to_string(it->second);
    const ArgSpec* const arg = spec.io.find(name);
    WARPATH_CHECK(arg != nullptr);
    const bool wide = arg->is_meta || (info(arg->dtype).is_signed && !info(arg->dtype).is_float);
    return (wide ? "" : "(long long)") + ("a->" + c_name(*arg));
  };
}

bool is_tensor(const ArgSpec* arg) {
  return arg->type == ArgType::tensor;
}

/// The arguments named here are what `workload` passes.
std::string passes(const std::vector<const ArgSpec*>& args, const Workload& workload) {
  std::string out;
  for (const ArgSpec* const arg : args)
    out += (out.empty() ? "a->" : " && a->") + c_name(*arg) + " == " + c_constant(*arg, workload);
  return out;
}

/// Writes the functions of one kernel.
class PlanWriter {
 public:
  PlanWriter(const Shipment& shipment, const ShippedKernel& kernel, std::int64_t more_smem_bytes)
      : shipment_(shipment),
        spec_(shipment.spec()),
        kernel_(kernel),
        more_smem_bytes_(more_smem_bytes),
        which_(kernel.name),
        names_(names_in(spec_, kernel_.variant.tunables)) {}

  std::string text() {
    const Variant& v = kernel_.variant;
    geometry(v.launch);
    for (const auto* const steps : {&v.before, &v.after}) {
      for (const LaunchStep& step : *steps) {
        if (step.kind == LaunchStep::Kind::kernel) geometry(step.launch);
      }
    }
    if (!v.scratch.empty()) scratch_sizes();
    refusals();
    run();
    return out_;
  }

 private:
  void line(const std::string& text) { out_ += text + "\n"; }

  void assign(const LaunchPlan& plan, const std::string& indent) {
    const auto triple = [&](const char* member, const std::array<Expression, 3>& of) {
      for (int i = 0; i < 3; ++i)
        line(indent + "g->" + member + "[" + std::to_string(i) +
             "] = " + c_expression(of[static_cast<std::size_t>(i)], names_) + ";");
    };
    triple("grid", plan.grid);
    triple("block", plan.block);
    triple("cluster", plan.cluster);
    const std::string bytes = c_expression(plan.dynamic_smem_bytes, names_);
    line(indent + "g->dynamic_smem_bytes = " +
         (more_smem_bytes_ == 0
              ? bytes
              : "add(" + bytes + ", " + std::to_string(more_smem_bytes_) + ", &bad)") +
         ";");
  }

  /// The plans that workloads give of their own hold where the kernel keeps the spec's.
  std::vector<const Workload*> own_plans(const LaunchPlan& plan) const {
    std::vector<const Workload*> out;
    if (geometries_ != 0 || plan != spec_.io.launch) return out;
    for (const Workload* const w : shipment_.workloads()) {
      if (w->launch && *w->launch != plan) out.push_back(w);
    }
    return out;
  }

  void geometry(const LaunchPlan& plan) {
    const auto text = [](const std::array<Expression, 3>& of) {
      return "(" + of[0].text() + ", " + of[1].text() + ", " + of[2].text() + ")";
    };
    line("// Grid " + text(plan.grid) + ", block " + text(plan.block) + ", cluster " +
         text(plan.cluster) + ", dynamic shared memory " + plan.dynamic_smem_bytes.text() + ".");
    line("PLAN_FUNCTION int " + which_ + "_geometry_" + std::to_string(geometries_) +
         "(const struct arguments* a, struct geometry* g) {");
    line("  int bad = 0;");
    std::vector<const ArgSpec*> sizes;
    for (const ArgSpec* const arg : launcher_arguments(spec_)) {
      if (!is_tensor(arg) && arg->type != ArgType::floating) sizes.push_back(arg);
    }
    for (const Workload* const w : own_plans(plan)) {
      line("  if (" + passes(sizes, *w) + ") {");
      assign(*w->launch, "    ");
      line("    return !bad && within_limits(g);");
      line("  }");
    }
    assign(plan, "  ");
    line("  (void)a;");
    line("  return !bad && within_limits(g);");
    line("}\n");
    ++geometries_;
  }

  void scratch_sizes() {
    line(
        "// Places of the scratch buffers in one allocation; its size last. 0 if they cannot be "
        "computed.");
    line("PLAN_FUNCTION int " + which_ +
         "_scratch(const struct arguments* a, long long* places) {");
    line("  int bad = 0;");
    line("  (void)a;");
    line("  places[0] = 0;");
    const auto& scratch = kernel_.variant.scratch;
    for (std::size_t i = 0; i < scratch.size(); ++i) {
      const std::string bytes = c_expression(scratch[i].size_bytes, names_);
      line("  if (" + bytes + " < 0) bad = 1;");
      line("  places[" + std::to_string(i + 1) + "] = add(places[" + std::to_string(i) +
           "], align_up(" + bytes + ", 256, &bad), &bad);");
    }
    line("  return !bad;");
    line("}\n");
  }

  void refuse(const std::string& condition, const std::string& why) {
    line("  if (" + condition + ") return " + c_literal(why) + ";");
  }

  void refuse_sizes() {
    // a combination that was verified, not any of the values
    std::vector<const ArgSpec*> fixed;
    std::string names;
    for (const SourceContract::Fixed& f : kernel_.contract.sizes) {
      fixed.push_back(spec_.io.find(f.argument));
      names += (names.empty() ? "" : ", ") + f.argument;
    }
    std::vector<std::string> known;
    for (const Workload* const w : shipment_.workloads()) {
      const std::string one = passes(fixed, *w);
      if (std::ranges::find(known, one) == known.end()) known.push_back(one);
    }
    std::string condition;
    for (const std::string& one : known) condition += (condition.empty() ? "!((" : ") || (") + one;
    if (!fixed.empty()) refuse(condition + "))", names + ": the kernel is made for other values");
    for (const auto& [name, value] : kernel_.compiled_in)
      refuse("a->" + c_name(*spec_.io.find(name)) + " != " + std::to_string(value) + "LL",
             name + ": the kernel is compiled for another value");
    for (const std::string& name : kernel_.multiples_of_16)
      refuse("a->" + c_name(*spec_.io.find(name)) + " % 16 != 0",
             name + ": the kernel is compiled for multiples of 16");
    for (const Expression& constraint : spec_.constraints)
      refuse("!(" + c_expression(constraint, names_) + ") || bad",
             "a constraint does not hold: " + constraint.text());
  }

  void refuse_pointers() {
    for (const SourceContract::Pointer& p : kernel_.contract.pointers) {
      const ArgSpec& arg = *spec_.io.find(p.argument);
      const std::string name = "a->" + c_name(arg);
      if (p.alignment_bytes > 1)
        refuse("!aligned(" + name + ", " + std::to_string(p.alignment_bytes) + ")",
               arg.name + " is not aligned to " + std::to_string(p.alignment_bytes) + " bytes");
      if (&kernel_ == &shipment_.original() || !p.apart) continue;
      for (const ArgSpec& other : spec_.io.args) {
        if (other.type != ArgType::tensor || &other == &arg) continue;
        if (!is_written(arg) && !is_written(other)) continue;
        refuse("overlap(" + name + ", bytes_" + c_name(arg) + "(a, &bad), a->" + c_name(other) +
                   ", bytes_" + c_name(other) + "(a, &bad)) || bad",
               arg.name + " and " + other.name + " overlap");
      }
    }
  }

  void refusals() {
    line("// Null, or what of the arguments is outside the contract of the " + which_ + " kernel.");
    line("PLAN_FUNCTION const char* " + which_ + "_refuses(const struct arguments* a) {");
    line("  struct geometry g;");
    line("  int bad = 0;");
    line("  (void)bad;");
    refuse_sizes();
    refuse_pointers();
    for (int i = 0; i < geometries_; ++i)
      refuse("!" + which_ + "_geometry_" + std::to_string(i) + "(a, &g)",
             "the sizes give no launch that CUDA permits");
    if (const std::size_t count = kernel_.variant.scratch.size(); count > 0) {
      line("  long long places[" + std::to_string(count + 1) + "];");
      refuse("!" + which_ + "_scratch(a, places)", "the sizes give no size of scratch memory");
    }
    line("  return NULL;");
    line("}\n");
  }

  /// The address that a step or launch passes for a name.
  std::string address(const std::string& name) const {
    const ArgSpec* const arg = spec_.io.find(name);
    return arg == nullptr ? "scratch_" + name : "a->" + c_name(*arg);
  }

  void launch(int geometry, std::size_t kernel, const std::vector<std::string>& addresses) {
    std::string list;
    for (const std::string& one : addresses)
      list += (list.empty() ? "(void*)&" : ", (void*)&") + one;
    const std::string number = std::to_string(geometry);
    line("  if (failure == NULL) {");
    line("    void* parameters[] = {" + list + "};");
    line("    failure = " + which_ + "_geometry_" + number + "(a, &g) ? launch_one(kernels[" +
         std::to_string(kernel) + "], &g, parameters, stream) : \"no launch\";");
    line("  }");
  }

  void step(const LaunchStep& step) {
    if (step.kind == LaunchStep::Kind::kernel) {
      const auto& all = kernel_.kernels;
      const auto at = std::ranges::find(all, step.kernel_name) - all.begin();
      std::vector<std::string> addresses;
      for (const std::string& name : step.arguments) addresses.push_back(address(name));
      launch(++launched_, static_cast<std::size_t>(at), addresses);
      return;
    }
    const auto& scratch = kernel_.variant.scratch;
    for (const std::string& name : step.arguments) {
      const auto buffer = std::ranges::find(scratch, name, &ScratchBuffer::name);
      const ArgSpec* const arg = spec_.io.find(name);
      const std::string bytes = buffer != scratch.end() ? c_expression(buffer->size_bytes, names_)
                                                        : "bytes_" + c_name(*arg) + "(a, &bad)";
      line("  if (failure == NULL) failure = clear(" + address(name) + ", " + bytes + ", stream);");
    }
  }

  /// What the entry gets: arguments, and structs of them, which are declared here.
  std::vector<std::string> parameters() {
    std::vector<const ArgSpec*> passed;
    for (const ArgSpec* const arg : launcher_arguments(spec_)) {
      if (!arg->is_meta) passed.push_back(arg);
    }
    std::vector<std::string> out;
    for (const ParameterLayout& layout : parameter_layouts(spec_)) {
      if (layout.struct_name.empty()) {
        out.push_back("a->" + c_name(*passed[layout.members.front()]));
        continue;
      }
      std::string members, values;
      for (const std::size_t member : layout.members) {
        const ArgSpec& arg = *passed[member];
        members += c_type(arg) + " " + c_name(arg) + "; ";
        values += (values.empty() ? "a->" : ", a->") + c_name(arg);
      }
      out.push_back("struct_" + layout.struct_name);
      line("  struct { " + members + "} " + out.back() + " = {" + values + "};");
    }
    return out;
  }

  void run() {
    const Variant& v = kernel_.variant;
    line("// Null, or the name of the error.");
    line("PLAN_FUNCTION const char* run_" + which_ +
         "(const kernel_t* kernels, const struct arguments* a, stream_t stream) {");
    line("  struct geometry g;");
    line("  const char* failure = NULL;");
    line("  int bad = 0;");
    line("  (void)bad;");
    if (!v.scratch.empty()) {
      const std::string count = std::to_string(v.scratch.size());
      line("  long long places[" + count + " + 1];");
      line("  void* scratch = NULL;");
      line("  if (!" + which_ + "_scratch(a, places)) return \"no size of scratch memory\";");
      line("  failure = allocate(&scratch, places[" + count + "], stream);");
      line("  if (failure != NULL) return failure;");
      for (std::size_t i = 0; i < v.scratch.size(); ++i)
        line("  void* scratch_" + v.scratch[i].name + " = (char*)scratch + places[" +
             std::to_string(i) + "];");
    }
    for (const LaunchStep& one : v.before) step(one);
    std::vector<std::string> addresses = parameters();
    for (const ScratchBuffer& buffer : v.scratch) addresses.push_back("scratch_" + buffer.name);
    launch(0, 0, addresses);
    for (const LaunchStep& one : v.after) step(one);
    if (!v.scratch.empty()) {
      line("  const char* const left = release(scratch, stream);");
      line("  if (failure == NULL) failure = left;");
    }
    line("  return failure;");
    line("}\n");
  }

  const Shipment& shipment_;
  const KernelSpec& spec_;
  const ShippedKernel& kernel_;
  const std::int64_t more_smem_bytes_;
  const std::string& which_;
  const NameInC names_;
  std::string out_;
  int geometries_ = 0;  // written so far; the entry's is the first
  int launched_ = 0;    // steps so far, in the order of their geometries
};

}  // namespace

std::string argument_fields(const KernelSpec& spec) {
  std::string out;
  for (const ArgSpec* const arg : launcher_arguments(spec))
    out += (out.empty() ? "  " : "\n  ") + c_type(*arg) + " " + c_name(*arg) + ";";
  return out;
}

std::string tensor_sizes(const KernelSpec& spec) {
  const TunableValues none;
  const NameInC names = names_in(spec, none);
  std::string out;
  for (const ArgSpec& arg : spec.io.args) {
    if (arg.type != ArgType::tensor) continue;
    std::string bytes = std::to_string(info(arg.tensor->dtype).size_bytes);
    std::string shape;
    for (const Expression& extent : arg.tensor->shape) {
      bytes = "mul(" + bytes + ", " + c_expression(extent, names) + ", &bad)";
      shape += (shape.empty() ? "" : ", ") + extent.text();
    }
    out += "// " + arg.name + ": " + std::string(info(arg.tensor->dtype).name) + " [" + shape +
           "]\nPLAN_FUNCTION long long bytes_" + c_name(arg) +
           "(const struct arguments* a, int* out_bad) {\n  int bad = 0;\n  (void)a;\n  const long "
           "long out = " +
           bytes + ";\n  if (bad || out < 0) *out_bad = 1;\n  return out;\n}\n";
  }
  return out;
}

std::string kernel_plan(const Shipment& shipment,
                        const ShippedKernel& kernel,
                        std::int64_t more_smem_bytes) {
  return PlanWriter(shipment, kernel, more_smem_bytes).text();
}

std::vector<std::string> contract_lines(const ShippedKernel& kernel) {
  std::vector<std::string> out = contract_lines(kernel.contract);
  for (const auto& [name, value] : kernel.compiled_in)
    out.push_back(name + " = " + std::to_string(value) + ", compiled in");
  for (const std::string& name : kernel.multiples_of_16)
    out.push_back(name + " a multiple of 16, in the machine code");
  return out;
}

}  // namespace warpath
