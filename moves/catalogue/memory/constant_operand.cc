#include <algorithm>

#include "engine/base/error.h"
#include "moves/edit/code_writer.h"
#include "moves/edit/hinted_access.h"
#include "moves/edit/kernel_move.h"
#include "moves/edit/sites.h"
#include "moves/edit/span_rewrite.h"
#include "moves/model/facts.h"
#include "moves/model/kernel_model.h"
#include "moves/model/moved_pointers.h"
#include "moves/syntax/syntax_query.h"
#include "register_moves.h"

namespace warpath {
namespace {

using namespace model;

constexpr std::int64_t kRegisters = 0, kShared = 1;
constexpr std::int64_t kMostRegisters = 32, kMostShared = 4096;

/// A small input of fixed size.
struct Operand {
  const Array* array = nullptr;
  std::int64_t size = 0;
  std::vector<const Access*> loads;
  /// every index is a constant once the loops around it are unrolled
  bool unrollable = true;
};

/// Elements of an argument, of the kernel's type, that has as many in every workload of the device.
std::optional<std::int64_t> fixed_size(const MoveContext& context, const Array& array) {
  const ArgSpec* arg = context.spec.io.find(array.spec_name);
  if (arg == nullptr || !arg->tensor || array.element_bytes == 0) return std::nullopt;
  std::optional<std::int64_t> size;
  for (const Workload* workload : workloads_of(context)) {
    std::int64_t elements = 1;
    for (const std::int64_t extent : context.spec.shape_of(*arg, *workload)) {
      if (extent < 1 || extent > kMostShared) return std::nullopt;
      elements = std::min(elements * extent, kMostShared + 1);
    }
    if (size && *size != elements) return std::nullopt;
    size = elements;
  }
  if (!size) return size;
  const auto bytes = *size * static_cast<std::int64_t>(info(arg->tensor->dtype).size_bytes),
             each = static_cast<std::int64_t>(array.element_bytes);
  return bytes % each == 0 ? std::optional(bytes / each) : std::nullopt;
}

/// The load's value goes to an array of a thread or a block and nowhere else, as it does where this
/// move has been.
bool is_copied_already(const KernelFacts& facts, const Access& load) {
  const Expr* const value = replaceable(load);
  const Expr* const assign = value == nullptr ? nullptr : value->parent;
  if (assign == nullptr || !assign->is_op(ExprKind::assign, "=") || assign->parent != nullptr ||
      &assign->arg(1) != value)
    return false;
  const Access* const target = facts.access_of(assign->arg(0));
  if (target == nullptr) return false;
  const Space space = facts.arrays[static_cast<std::size_t>(target->array)].space;
  return space == Space::local || space == Space::shared;
}

std::vector<Operand> find_operands(const MoveContext& context, const KernelModel& kernel) {
  std::vector<Operand> out;
  const KernelFacts& facts = kernel.facts;
  if (!facts.veto.empty() || facts.has_assembly) return out;
  for (std::size_t i = 0; i < facts.arrays.size(); ++i) {
    const Array& array = facts.arrays[i];
    const auto size = fixed_size(context, array);
    if (array.space != Space::global || !array.is_parameter || array.written || array.escapes ||
        is_moved(facts, array) || !size || *size < 1 || *size > kMostShared)
      continue;
    Operand operand{&array, *size, facts.accesses_to(static_cast<int>(i)), true};
    bool plain = !std::ranges::all_of(
        operand.loads, [&](const Access* load) { return is_copied_already(facts, *load); });
    for (const Access* load : operand.loads) {
      plain = plain && load->expr->is(ExprKind::subscript) &&
              load->expr->arg(0).is_name(array.name) && replaceable(*load) != nullptr &&
              load->vector_width == 1;
      if (!load->index.is_known()) {  // of what the loop carries, as the place before this one
        operand.unrollable = false;
        plain = plain && load->expr->args.size() == 2 &&
                facts.uniformity(load->expr->arg(1)) != Uniformity::thread;
        continue;
      }
      Polynomial rest = load->index;
      for (const Loop* loop : load->loops) {
        if (!rest.mentions(loop->variable)) continue;
        if (!loop->trip_count || !loop->first.constant() || *loop->trip_count > kMostRegisters)
          operand.unrollable = false;
        const bool same_range =
            loop->trip_count ||
            (loop->counted && facts.uniformity(loop->first) != Uniformity::thread &&
             facts.uniformity(loop->end) != Uniformity::thread);
        if (rest.affine_in(loop->variable) && same_range) rest = rest.without(loop->variable);
      }
      plain = plain && facts.uniformity(rest) != Uniformity::thread;
      if (!facts.resolved(rest).constant()) operand.unrollable = false;
    }
    for (std::size_t other = 0; other < facts.arrays.size(); ++other) {
      if (facts.arrays[other].written &&
          facts.may_alias(static_cast<int>(i), static_cast<int>(other)))
        plain = false;
    }
    if (plain) out.push_back(std::move(operand));
  }
  return out;
}

/// Copies a small input that all threads read alike to registers or shared memory once, at the
/// kernel's start.
class ConstantOperand final : public ParameterMove {
 public:
  [[nodiscard]] std::string_view name() const override { return "constant_operand"; }

  [[nodiscard]] std::vector<MoveInstance> enumerate(const MoveContext& context) const override {
    std::vector<MoveInstance> out;
    std::string why;
    const auto kernel = model_kernel(context.spec, context.variant, why);
    if (kernel == nullptr) return out;
    for (const Operand& operand : find_operands(context, *kernel)) {
      for (const std::int64_t form : {kRegisters, kShared}) {
        MoveInstance instance{std::string(name()),
                              std::string(kArgumentPrefix) + operand.array->spec_name,
                              {{"form", form}}};
        if (copied(context, *kernel, operand, form, why)) out.push_back(std::move(instance));
      }
    }
    return out;
  }

  [[nodiscard]] std::vector<Tunable> domain(const MoveContext&,
                                            std::string_view site) const override {
    if (!site.starts_with(kArgumentPrefix)) return {};
    return {Tunable{"form",
                    {kRegisters, kShared},
                    kRegisters,
                    "0: registers, loops unrolled; 1: shared memory"}};
  }

  [[nodiscard]] std::optional<Variant> applied(const MoveContext& context,
                                               const MoveInstance& wanted,
                                               std::string& why) const override {
    const auto kernel = model_kernel(context.spec, context.variant, why);
    if (kernel == nullptr) return std::nullopt;
    for (const Operand& operand : find_operands(context, *kernel)) {
      if (wanted.site == std::string(kArgumentPrefix) + operand.array->spec_name)
        return copied(context, *kernel, operand, wanted.parameters.at("form"), why);
    }
    return why = "no small input that is only read at " + wanted.site, std::nullopt;
  }

 private:
  static std::optional<Variant> copied(const MoveContext& context,
                                       const KernelModel& kernel,
                                       const Operand& operand,
                                       std::int64_t form,
                                       std::string& why) {
    if (form == kRegisters && (!operand.unrollable || operand.size > kMostRegisters))
      return why = "its indices do not become constants", std::nullopt;
    const std::int64_t bytes =
        operand.size * static_cast<std::int64_t>(operand.array->element_bytes) +
        static_smem_bytes(kernel.facts);
    if (form == kShared && bytes > kStaticSmemBytes)
      return why = "shared memory would be too small", std::nullopt;
    const Unit& unit = kernel.unit;
    std::set<std::string, std::less<>> taken;
    const auto fresh = [&](const std::string& wish) { return fresh_name(unit, wish, &taken); };
    const std::string& source_name = operand.array->name;
    const std::string name = fresh(source_name + (form == kRegisters ? "_value" : "_shared")),
                      i = fresh("i");
    const std::string size = std::to_string(operand.size);
    CodeWriter w(indent_unit(unit));
    w.line("// " + source_name + " is small and the same for all threads: copied once.");
    if (form == kRegisters) {
      w.line(operand.array->type + " " + name + "[" + size + "];").line("#pragma unroll");
      w.line("for (int " + i + " = 0; " + i + " < " + size + "; " + i + "++) " + name + "[" + i +
             "] = " + source_name + "[" + i + "];");
    } else {
      const auto& block = context.variant.launch.block;
      const bool flat = block[1] == Expression(1) && block[2] == Expression(1);
      const std::string first =
          flat ? "threadIdx.x"
               : "threadIdx.x + blockDim.x * (threadIdx.y + blockDim.y * threadIdx.z)";
      const std::string step = flat ? "blockDim.x" : "blockDim.x * blockDim.y * blockDim.z";
      w.line("alignas(16) __shared__ " + operand.array->type + " " + name + "[" + size + "];");
      w.line("for (int " + i + " = " + first + "; " + i + " < " + size + "; " + i + " += " + step +
             ") " + name + "[" + i + "] = " + source_name + "[" + i + "];");
      w.line("__syncthreads();");
    }
    const std::size_t top = kernel.kernel->body->span.begin + 1;
    std::vector<Edit> edits{{top, top, "\n" + w.text().substr(0, w.text().size() - 1)}};
    std::set<const Stmt*> unrolled;
    for (const Access* load : operand.loads) {
      const Span base = load->expr->arg(0).span;
      const Span value = replaceable(*load)->span, element = load->expr->span;
      edits.push_back({base.begin, base.end, name});
      if (value.begin < element.begin) {  // a cache hint is of global memory
        edits.push_back({value.begin, element.begin, ""});
        edits.push_back({element.end, value.end, ""});
      }
      for (const Loop* loop : load->loops) {
        if (form != kRegisters || loop->stmt->pragma != nullptr ||
            !mentions(*load->expr, loop->variable) || !unrolled.insert(loop->stmt).second)
          continue;
        edits.push_back({loop->stmt->span.begin, loop->stmt->span.begin,
                         "#pragma unroll\n" + indentation(unit, loop->stmt->span.begin)});
      }
    }
    Variant out = context.variant;
    out.source = edited(unit.source(), std::move(edits));
    return out;
  }
};

}  // namespace

void register_move_constant_operand(MoveRegistry& registry) {
  registry.add("constant_operand", "copy a small input to registers or shared memory at the start",
               [] { return std::make_unique<ConstantOperand>(); });
}

}  // namespace warpath
