#include <algorithm>
#include <numeric>

#include "engine/text/source_edit.h"
#include "moves/edit/kernel_move.h"
#include "moves/edit/span_rewrite.h"
#include "moves/model/facts.h"
#include "moves/model/kernel_model.h"
#include "moves/syntax/syntax_query.h"
#include "register_moves.h"

namespace warpath {
namespace {

using namespace model;

constexpr std::string_view kSharedPrefix = "shared:";

constexpr std::int64_t kBankBytes = 4;
constexpr std::int64_t kBanksBytes = 128;  // after so many the banks begin again

/// Lengthens the rows of an array in shared memory, so that elements of one column lie in different
/// banks. An array without rows gets them where threads touch it in strides: element i moves to
/// i + i / 32.
class SmemPadSwizzle final : public KernelMove {
 public:
  [[nodiscard]] std::string_view name() const override { return "smem_pad_swizzle"; }

  [[nodiscard]] std::vector<Tunable> domain(const MoveContext&,
                                            std::string_view site) const override {
    if (!site.starts_with(kSharedPrefix)) return {};
    return {Tunable{"pad", {1, 2, 4, 8}, 1, "elements more a row"}};
  }

 private:
  [[nodiscard]] std::vector<MoveInstance> candidates(const MoveContext&,
                                                     const KernelModel& kernel) const override {
    std::vector<MoveInstance> out;
    for (const Array& array : kernel.facts.arrays) {
      if (array.space == Space::shared)
        add(out, std::string(kSharedPrefix) + array.name, "pad", {1, 4});
    }
    return out;
  }

  [[nodiscard]] std::optional<Variant> rewritten(const MoveContext& context,
                                                 const KernelModel& kernel,
                                                 const MoveInstance& wanted,
                                                 std::string& why) const override {
    for (const Array& array : kernel.facts.arrays) {
      if (array.space == Space::shared && wanted.site == std::string(kSharedPrefix) + array.name)
        return padded(context, kernel, array, wanted.parameters.at("pad"), why);
    }
    return why = "no array in shared memory at " + wanted.site, std::nullopt;
  }

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
    if (d.extents.size() == 1) return spread(context, kernel, array, pad, why);
    if (d.extents.size() < 2 || d.extents.back() == nullptr || !d.init.empty())
      return none("the array has no rows");
    const auto element = static_cast<std::int64_t>(array.element_bytes);
    std::int64_t bytes = element;
    for (std::size_t i = 0; i < d.extents.size(); ++i) {
      const auto extent =
          d.extents[i] == nullptr ? std::nullopt : constant_value(kernel.unit, *d.extents[i]);
      if (!extent) return none("the array's extents are no constants");
      // the rows begin at multiples of this, modulo the banks
      const auto apart = [&](std::int64_t length) {
        return std::max(std::gcd(length * element, kBanksBytes), kBankBytes);
      };
      if (i + 1 == d.extents.size() && apart(*extent + pad) >= apart(*extent))
        return none("its rows would begin in no more banks than they do");
      bytes *= i + 1 == d.extents.size() ? *extent + pad : *extent;
    }
    if (bytes + static_smem_bytes(facts, &array) > kStaticSmemBytes)
      return none("shared memory would be too small");
    bool whole = false;
    walk_expressions(*kernel.kernel->body, [&](const Expr& e) {
      if (!e.is_name(array.name)) return true;
      std::size_t depth = 0;
      const Expr* const at = &subscripted(e, depth);
      whole = whole || depth != d.extents.size();
      // a wide access needs rows of its alignment
      for (const Expr* up = at->parent; up != nullptr; up = up->parent) {
        if (up->is(ExprKind::cast) &&
            kernel.unit.text(up->type).find('*') != std::string_view::npos &&
            pad * element % 16 != 0)
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

  /// The threads' indices are a distance apart that is no odd number known beforehand: those of a
  /// warp may meet in a bank.
  static bool is_strided(const KernelFacts& facts, const Access& access) {
    const std::string thread = "threadIdx.x";
    if (facts.uniformity(access.index) != Uniformity::thread) return false;
    if (!access.index.affine_in(thread)) return true;
    const auto stride = facts.resolved(access.index.coefficient_of(thread)).constant();
    return !stride || *stride % 2 == 0;
  }

  static std::optional<Variant> spread(const MoveContext& context,
                                       const KernelModel& kernel,
                                       const Array& array,
                                       std::int64_t pad,
                                       std::string& why) {
    const KernelFacts& facts = kernel.facts;
    const Unit& unit = kernel.unit;
    const auto none = [&](const char* text) { return why = text, std::nullopt; };
    const Declarator& d = *array.declarator;
    if (pad != 1) return none("an array without rows takes one element more for each 32");
    const auto extent =
        d.extents[0] == nullptr ? std::nullopt : constant_value(unit, *d.extents[0]);
    if (!extent || !d.init.empty()) return none("the array's extents are no constants");
    const auto row =
        kBanksBytes / static_cast<std::int64_t>(std::max<std::size_t>(array.element_bytes, 1));
    if (row < 2 || *extent < 2 * row) return none("the array has no rows");
    const auto bytes = (*extent + *extent / row) * static_cast<std::int64_t>(array.element_bytes);
    if (bytes + static_smem_bytes(facts, &array) > kStaticSmemBytes)
      return none("shared memory would be too small");
    const auto accesses = facts.accesses_to(static_cast<int>(&array - facts.arrays.data()));
    if (std::ranges::none_of(accesses, [&](const Access* a) { return is_strided(facts, *a); }))
      return none("threads touch neighbouring elements of the array");
    std::vector<Edit> edits{{d.extents[0]->outer.begin, d.extents[0]->outer.end,
                             std::to_string(*extent + *extent / row)}};
    bool whole = false;
    walk_expressions(*kernel.kernel->body, [&](const Expr& e) {
      if (!e.is_name(array.name)) return true;
      const Expr* at = e.parent;
      const bool element = at != nullptr && at->is(ExprKind::subscript) && &at->arg(0) == &e &&
                           is_pure(unit, at->arg(1)) && !mentions(at->arg(1), array.name);
      const bool address =
          element && at->parent != nullptr && at->parent->is_op(ExprKind::unary, "&") &&
          (at->parent->parent == nullptr || !callee(*at->parent->parent).starts_with("atomic"));
      if (!element || address) return whole = true, true;
      const Expr& index = at->arg(1);
      const std::string text = factor_of(unit, index), plain = unit.plain_text(index.outer);
      const bool sum = index.is(ExprKind::binary) &&
                       std::string_view("+-*/%").find(index.op) != std::string_view::npos;
      edits.push_back({index.outer.begin, index.outer.end,
                       (sum ? plain : text) + " + " + text + " / " + std::to_string(row)});
      return true;
    });
    if (whole) return none("the array's layout is used beyond its subscripts");
    Variant out = context.variant;
    out.source = edited(unit.source(), std::move(edits));
    return out;
  }
};

}  // namespace

void register_move_smem_pad_swizzle(MoveRegistry& registry) {
  registry.add("smem_pad_swizzle", "lengthen rows in shared memory against bank conflicts",
               [] { return std::make_unique<SmemPadSwizzle>(); });
}

}  // namespace warpath
