#include <algorithm>
#include <numeric>
#include <optional>

#include "moves/edit/sites.h"
#include "moves/edit/span_rewrite.h"
#include "moves/triton/triton_move.h"
#include "register_moves.h"

namespace warpath {
namespace {

using python::Node;
using python::NodeKind;

constexpr std::string_view kMultipleOf = "multiple";
/// Of multiples of these Triton's launcher tells the compiler.
constexpr std::int64_t kKnownMultiple = 16;

/// A size that is a multiple of 8, 4 or 2 in all workloads, and none of 16, is written as one: n as
/// n // 8 * 8. From that the compiler sees that rows begin, and masks end, at whole vectors.
/// tl.multiple_of() of a parameter says nothing to it.
class TritonSizeMultiple final : public TritonMove {
 public:
  [[nodiscard]] std::string_view name() const override { return "triton_size_multiple"; }

 private:
  [[nodiscard]] std::vector<Tunable> parameters(std::string_view site) const override {
    if (!site.starts_with(kArgumentPrefix)) return {};
    return {Tunable{std::string(kMultipleOf), {2, 4, 8}, 8, "what the size is a multiple of"}};
  }

  [[nodiscard]] std::vector<MoveInstance> candidates(const MoveContext& context,
                                                     const TritonKernel&) const override {
    std::vector<MoveInstance> out;
    for (const ArgSpec& arg : context.spec.io.args) {
      if (arg.type != ArgType::integer || arg.is_meta) continue;
      for (const std::int64_t multiple : {8, 4, 2})
        out.push_back({std::string(name()),
                       std::string(kArgumentPrefix) + arg.name,
                       {{std::string(kMultipleOf), multiple}}});
    }
    return out;
  }

  [[nodiscard]] std::vector<Edit> edits(const MoveContext& context,
                                        const TritonKernel& kernel,
                                        const MoveInstance& wanted,
                                        std::string& why) const override {
    const std::string_view size = parameter_of(kernel, wanted.site);
    if (size.empty()) return why = "no size is passed at " + wanted.site, std::vector<Edit>{};
    if (!kernel.is_kept(size)) return why = "the kernel changes it", std::vector<Edit>{};
    const std::int64_t greatest = divisor_of(context, *kernel.argument(size)),
                       multiple = wanted.parameters.find(kMultipleOf)->second;
    if (greatest == 0) return why = "its values are not known", std::vector<Edit>{};
    if (greatest == kKnownMultiple)
      return why = "Triton knows what it is a multiple of", std::vector<Edit>{};
    if (greatest != multiple)
      return why = "it is not a multiple of that, or of more, at all sizes", std::vector<Edit>{};
    if (!is_of_addresses(kernel, size))
      return why = "no address or mask depends on it", std::vector<Edit>{};
    const std::string name = kernel.fresh(std::string(size) + "_multiple"),
                      factor = std::to_string(multiple);
    std::vector<Edit> out{{kernel.head(), kernel.head(),
                           kernel.indentation() + name + " = " + std::string(size) + " // " +
                               factor + " * " + factor + "\n"}};
    for (std::size_t i = kernel.first(); i < kernel.last(); ++i) {
      if (kernel.statement(i).value == nullptr || kernel.statement(i).line < kernel.head())
        continue;
      const Node& value = *kernel.statement(i).value;
      if (is_multiple(value, size))
        return why = "it is written as one already", std::vector<Edit>{};
      python::walk(value, [&](const Node& node) {
        if (reads(node, size))
          out.push_back({node.span.begin, node.span.begin + size.size(), name});
      });
    }
    return out;
  }

  /// The parameter of the integer that the site names; empty if there is none.
  static std::string_view parameter_of(const TritonKernel& kernel, std::string_view site) {
    for (const python::Parameter& one : kernel.statement(kernel.first() - 1).parameters) {
      const ArgSpec* const argument = kernel.argument(one.name);
      if (argument != nullptr && argument->type == ArgType::integer &&
          std::string(kArgumentPrefix) + argument->name == site)
        return one.name;
    }
    return {};
  }

  /// The greatest number that divides its values in all workloads; 0 where one is not known.
  static std::int64_t divisor_of(const MoveContext& context, const ArgSpec& argument) {
    std::int64_t out = 0;
    for (const Workload* const workload : workloads_of(context)) {
      const Bindings values = context.spec.bindings(*workload, context.variant.tunables);
      const auto value = values.find(argument.name);
      if (value == values.end() || value->second <= 0) return 0;
      out = std::gcd(out, value->second);
    }
    // the power of two in it
    return std::min(out & -out, kKnownMultiple);
  }

  /// The node itself does: "n", "n.to()".
  static bool reads(const Node& node, std::string_view size) {
    return (node.is(NodeKind::name) || node.is(NodeKind::call)) &&
           node.text.substr(0, node.text.find('.')) == size;
  }

  /// It is in the address or the mask of a block.
  static bool is_of_addresses(const TritonKernel& kernel, std::string_view size) {
    const auto is_size = [&](const Node& node) { return reads(node, size); };
    return std::ranges::any_of(kernel.accesses(), [&](const TritonAccess& access) {
      const Node* mask = access.call->argument(std::string_view("mask"));
      if (mask == nullptr)
        mask = access.call->argument(access.store ? std::size_t{2} : std::size_t{1});
      const bool is_block =
          access.address != nullptr && kernel.reaches(*access.address, [&](const Node& node) {
            return kernel.calls(node, "arange");
          });
      return is_block && (kernel.reaches(*access.address, is_size) ||
                          (mask != nullptr && kernel.reaches(*mask, is_size)));
    });
  }

  /// size // K * K
  static bool is_multiple(const Node& node, std::string_view size) {
    if (!node.is(NodeKind::binary) || node.text != "*") return false;
    const Node& quotient = *node.children[0];
    return quotient.is(NodeKind::binary) && quotient.text == "//" &&
           quotient.children[0]->is(NodeKind::name) && quotient.children[0]->text == size;
  }
};

}  // namespace

void register_move_triton_size_multiple(MoveRegistry& registry) {
  registry.add("triton_size_multiple", "a size in Triton as the multiple that it is",
               [] { return std::make_unique<TritonSizeMultiple>(); });
}

}  // namespace warpath
