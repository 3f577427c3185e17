#include <algorithm>
#include <set>

#include "moves/edit/span_rewrite.h"
#include "moves/triton/triton_bounds.h"
#include "moves/triton/triton_move.h"
#include "moves/triton/triton_shapes.h"
#include "register_moves.h"

namespace warpath {
namespace {

using python::Node;
using python::NodeKind;
using python::Statement;
using python::StatementKind;

constexpr std::string_view kMasksSite = "masks";
/// Position behind mask and other value of a load, value and mask of a store.
constexpr std::size_t kBehindMask = 3;

/// Masks, or conditions of them, that hold for all elements of all programs are dropped: with the
/// sizes of the workloads the grid and the tiles divide what they cover. An assertion at the head
/// of the kernel says what of the tunables that relies on, so that other values do not compile.
class TritonMaskOff final : public Move {
 public:
  [[nodiscard]] std::string_view name() const override { return "triton_mask_off"; }
  [[nodiscard]] bool reads_source() const override { return false; }

  [[nodiscard]] std::vector<MoveInstance> enumerate(const MoveContext& context) const override {
    const MoveInstance instance{std::string(name()), std::string(kMasksSite), {}};
    std::string why;
    return apply(context, instance, why) ? std::vector{instance} : std::vector<MoveInstance>{};
  }

  [[nodiscard]] std::optional<Variant> apply(const MoveContext& context,
                                             const MoveInstance& wanted,
                                             std::string& why) const override {
    if (!takes(wanted, {}, why)) return std::nullopt;
    if (wanted.site != kMasksSite) return why = "triton_mask_off applies to masks", std::nullopt;
    why = not_triton(context.spec);
    if (!why.empty()) return std::nullopt;
    const TritonKernel kernel(context);
    if (!kernel.problem().empty()) return why = kernel.problem(), std::nullopt;
    std::vector<Edit> edits;
    std::set<std::string> conditions;
    for (const TritonAccess& access : kernel.accesses()) {
      const Node* mask = access.call->argument(std::string_view("mask"));
      if (mask == nullptr)
        mask = access.call->argument(access.store ? std::size_t{2} : std::size_t{1});
      if (mask == nullptr) continue;
      const Node* other = access.call->argument(std::string_view("other"));
      if (other == nullptr && !access.store) other = access.call->argument(std::size_t{2});
      // what is loaded there is an access of its own
      if (loads(kernel, *mask) || (other != nullptr && loads(kernel, *other))) continue;
      // what stands behind them by position would move to their places
      if (access.call->argument(kBehindMask) != nullptr) continue;
      if (!access.store && !keeps_shape(kernel, access, *mask, other)) continue;
      std::vector<const Node*> left;
      const bool named = mask->is(NodeKind::name);
      const Node& whole = named ? defined(kernel, *mask) : *mask;
      std::set<std::string> own;
      const bool some = check(context, kernel, whole, left, own);
      if (left.empty() || (some && !named)) conditions.merge(own);
      if (left.empty()) {
        if (!drop(kernel, access, *mask, other, edits))
          return why = "a comment stands in a mask", std::nullopt;
      } else if (some && !named) {
        std::string text;
        for (const Node* const one : left)
          text += (text.empty() ? "" : " & ") + std::string(kernel.text().text(one->outer));
        edits.push_back({mask->outer.begin, mask->outer.end, text});
      }
    }
    if (edits.empty()) return why = "no mask is known to hold everywhere", std::nullopt;
    std::string lines;
    for (const std::string& condition : conditions) {
      const std::string line = kernel.of_language("static_assert") + "(" + condition + ")\n";
      if (context.variant.source.find(line) == std::string::npos)
        lines += kernel.indentation() + line;
    }
    if (!lines.empty()) edits.push_back({kernel.head(), kernel.head(), lines});
    Variant out = context.variant;
    out.source = edited(out.source, std::move(edits));
    return out;
  }

 private:
  static bool loads(const TritonKernel& kernel, const Node& node) {
    bool found = false;
    python::walk(node, [&](const Node& one) { found = found || kernel.calls(one, "load"); });
    return found;
  }

  /// What is loaded has the shape of its addresses: mask and other value give it no more elements.
  static bool keeps_shape(const TritonKernel& kernel,
                          const TritonAccess& access,
                          const Node& mask,
                          const Node* other) {
    if (access.address == nullptr) return false;
    TritonShapes shapes(kernel);
    const auto address = shapes.of(*access.address);
    auto whole = broadcast(address, shapes.of(mask));
    if (other != nullptr) whole = broadcast(whole, shapes.of(*other));
    return whole && whole == address;
  }

  /// The value of a name that has one; the name itself otherwise.
  static const Node& defined(const TritonKernel& kernel, const Node& name) {
    const auto at = kernel.definition(name.text);
    if (!at) return name;
    const Statement& statement = kernel.statement(*at);
    const bool plain = statement.kind == StatementKind::assign && statement.understood &&
                       statement.targets.size() == 1;
    return plain ? *statement.value : name;
  }

  /// Appends the conditions that are not known to hold. True if some are, which rely on
  /// `conditions`.
  static bool check(const MoveContext& context,
                    const TritonKernel& kernel,
                    const Node& mask,
                    std::vector<const Node*>& left,
                    std::set<std::string>& conditions) {
    if (mask.is(NodeKind::binary) && mask.text == "&") {
      const bool first = check(context, kernel, *mask.children[0], left, conditions);
      return check(context, kernel, *mask.children[1], left, conditions) || first;
    }
    std::set<std::string> own;
    for (const Workload* const workload : workloads_of(context)) {
      TritonBounds bounds(kernel, context, *workload);
      if (!bounds.holds(mask)) return left.push_back(&mask), false;
      own.insert(bounds.conditions().begin(), bounds.conditions().end());
    }
    conditions.merge(own);
    return true;
  }

  /// The mask, and the values in the place of what it leaves out.
  static bool drop(const TritonKernel& kernel,
                   const TritonAccess& access,
                   const Node& mask,
                   const Node* other,
                   std::vector<Edit>& edits) {
    const Node& call = *access.call;
    return drop_argument(kernel.text(), call, mask, edits) &&
           (other == nullptr || drop_argument(kernel.text(), call, *other, edits));
  }
};

}  // namespace

void register_move_triton_mask_off(MoveRegistry& registry) {
  registry.add("triton_mask_off", "masks in Triton that hold everywhere for the sizes are dropped",
               [] { return std::make_unique<TritonMaskOff>(); });
}

}  // namespace warpath
