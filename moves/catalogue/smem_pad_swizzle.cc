#include <algorithm>

#include "engine/text/source_edit.h"
#include "moves/edit/span_rewrite.h"
#include "moves/model/facts.h"
#include "register_moves.h"

namespace warpath {
namespace {

using namespace model;

constexpr std::string_view kSharedPrefix = "shared:";

std::vector<std::int64_t> pads() {
  return {1, 2, 4, 8};
}

/// Lengthens the rows of an array in shared memory, so that elements of one column lie in different
/// banks.
class SmemPadSwizzle final : public Move {
 public:
  [[nodiscard]] std::string_view name() const override { return "smem_pad_swizzle"; }

  [[nodiscard]] std::vector<MoveInstance> enumerate(const MoveContext& context) const override {
    std::vector<MoveInstance> out;
    std::string why;
    const auto kernel = model_kernel(context.spec, context.variant, why);
    if (kernel == nullptr) return out;
    for (const Array& array : kernel->facts.arrays) {
      if (array.space != Space::shared) continue;
      for (const std::int64_t pad : {1, 4}) {
        if (padded(context, *kernel, array, pad, why))
          out.push_back(
              {std::string(name()), std::string(kSharedPrefix) + array.name, {{"pad", pad}}});
      }
    }
    return out;
  }

  [[nodiscard]] std::vector<Tunable> domain(const MoveContext&,
                                            std::string_view site) const override {
    if (!site.starts_with(kSharedPrefix)) return {};
    return {Tunable{"pad", pads(), 1, "elements more a row"}};
  }

  [[nodiscard]] std::optional<Variant> apply(const MoveContext& context,
                                             const MoveInstance& wanted,
                                             std::string& why) const override {
    const auto pad = wanted.parameters.find("pad");
    const std::vector<std::int64_t> legal = pads();
    if (pad == wanted.parameters.end() || wanted.parameters.size() != 1 ||
        !std::binary_search(legal.begin(), legal.end(), pad->second)) {
      return why = "smem_pad_swizzle takes one parameter, pad: 1, 2, 4 or 8", std::nullopt;
    }
    const auto kernel = model_kernel(context.spec, context.variant, why);
    if (kernel == nullptr) return std::nullopt;
    for (const Array& array : kernel->facts.arrays) {
      if (array.space == Space::shared && wanted.site == std::string(kSharedPrefix) + array.name)
        return padded(context, *kernel, array, pad->second, why);
    }
    return why = "no array in shared memory at " + wanted.site, std::nullopt;
  }

 private:
  static std::optional<Variant> padded(const MoveContext& context,
                                       const KernelModel& kernel,
                                       const Array& array,
                                       std::int64_t pad,
                                       std::string& why) {
    const KernelFacts& facts = kernel.facts;
    const auto none = [&](const char* text) { return why = text, std::nullopt; };
    if (array.dynamic_shared || array.escapes || array.declarator == nullptr || facts.has_assembly)
      return none("the array's layout is used beyond its subscripts");
    const Declarator& d = *array.declarator;
    if (d.extents.size() < 2 || d.extents.back() == nullptr || !d.init.empty())
      return none("the array has no rows");
    std::int64_t bytes = static_cast<std::int64_t>(array.element_bytes);
    for (std::size_t i = 0; i < d.extents.size(); ++i) {
      const auto extent =
          d.extents[i] == nullptr ? std::nullopt : constant_value(kernel.unit, *d.extents[i]);
      if (!extent) return none("the array's extents are no constants");
      if (i + 1 == d.extents.size() && *extent % 2 != 0)
        return none("its rows do not start in the same bank");
      bytes *= i + 1 == d.extents.size() ? *extent + pad : *extent;
    }
    if (bytes + static_smem_bytes(facts, &array) > kStaticSmemBytes)
      return none("shared memory would be too small");
    bool whole = false;
    walk_expressions(*kernel.kernel->body, [&](const Expr& e) {
      if (!e.is_name(array.name)) return true;
      std::size_t depth = 0;
      const Expr* at = &e;
      while (at->parent != nullptr && at->parent->is(ExprKind::subscript) &&
             &at->parent->arg(0) == at)
        at = at->parent, ++depth;
      whole = whole || depth != d.extents.size();
      // a wide access needs rows of its alignment
      for (const Expr* up = at->parent; up != nullptr; up = up->parent) {
        if (up->is(ExprKind::cast) &&
            kernel.unit.text(up->type).find('*') != std::string_view::npos &&
            pad * static_cast<std::int64_t>(array.element_bytes) % 16 != 0)
          whole = true;
      }
      return true;
    });
    if (whole) return none("the array's layout is used beyond its subscripts");
    const Span last =
        d.extents.back()->outer.empty() ? d.extents.back()->span : d.extents.back()->outer;
    const std::string text = kernel.unit.plain_text(last);
    Variant out = context.variant;
    out.source =
        edited(kernel.unit.source(), {{last.begin, last.end, text + " + " + std::to_string(pad)}});
    return out;
  }
};

}  // namespace

void register_move_smem_pad_swizzle(MoveRegistry& registry) {
  registry.add("smem_pad_swizzle", "lengthen rows in shared memory against bank conflicts",
               [] { return std::make_unique<SmemPadSwizzle>(); });
}

}  // namespace warpath
