#include "moves/triton/triton_elements.h"

#include <algorithm>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "engine/text/source_edit.h"
#include "moves/edit/span_rewrite.h"
#include "moves/triton/triton_bounds.h"
#include "moves/triton/triton_loop_body.h"
#include "moves/triton/triton_shapes.h"

namespace warpath {
namespace {

using python::Node;
using python::NodeKind;
using python::Statement;
using python::StatementKind;

constexpr int kMostAddressTerms = 100;
constexpr int kOwnAxis = -1;

/// A term of an address: the loop's variable, or the numbers 0, 1, ... below `extent`, times
/// `factor`, along an axis.
struct AddressTerm {
  const Node* extent = nullptr;  ///< null: the variable
  const Node* factor = nullptr;  ///< null: 1
  int axis = kOwnAxis;           ///< kOwnAxis: of a block of one axis
};

/// A sum of such terms and of scalars that stay in the loop.
struct AddressSum {
  std::vector<AddressTerm> terms;
  std::vector<const Node*> scalars;  ///< those with no factor that are added
  bool subtracts = false;            ///< others are subtracted
};

/// Reads such sums.
class SumReader {
 public:
  SumReader(const TritonKernel& kernel, std::size_t loop) : kernel_(kernel), loop_(loop) {}

  std::optional<AddressSum> sum(const Node& node) {
    AddressSum out;
    if (!read(node, {}, out)) return std::nullopt;
    return out;
  }

  /// What a name stands for in the loop; null for what the loop does not change, and is no name for
  /// something else.
  [[nodiscard]] const Node* value_of(std::string_view name) const {
    std::vector<std::size_t> own;
    for (const std::size_t at : kernel_.definitions(name)) {
      if (kernel_.text().is_within(at, loop_)) own.push_back(at);
    }
    const auto only = own.empty() ? kernel_.definition(name)
                                  : (own.size() == 1 ? std::optional(own[0]) : std::nullopt);
    if (!only) return nullptr;
    const Statement& one = kernel_.statement(*only);
    const bool plain = one.kind == StatementKind::assign && one.understood &&
                       one.targets.size() == 1 && one.value != nullptr;
    // before the loop, its names had other values
    return plain && (!own.empty() || !changes(*one.value)) ? one.value.get() : nullptr;
  }

  /// The axis along which x[:, None] or x[None, :] lays a block of one axis.
  static std::optional<int> axis_of(const Node& node) {
    if (!node.is(NodeKind::subscript) || node.children.size() != 3) return std::nullopt;
    for (int axis = 0; axis < 2; ++axis) {
      const Node &kept = *node.children[1 + static_cast<std::size_t>(axis)],
                 &added = *node.children[2 - static_cast<std::size_t>(axis)];
      if (kept.is(NodeKind::slice) && kept.children.empty() && added.is(NodeKind::name) &&
          added.text == "None")
        return axis;
    }
    return std::nullopt;
  }

 private:
  bool read(const Node& node, const AddressTerm& place, AddressSum& out) {
    if (++steps_ > kMostAddressTerms) return false;
    if (node.is(NodeKind::binary) && node.text == "+")
      return read(*node.children[0], place, out) && read(*node.children[1], place, out);
    if (node.is(NodeKind::binary) && node.text == "-")
      return out.subtracts = true, read(*node.children[0], place, out) && stays(*node.children[1]);
    if (stays(node)) {
      if (place.factor == nullptr) out.scalars.push_back(&node);
      return true;
    }
    if (node.is(NodeKind::binary) && node.text == "*" && place.factor == nullptr) {
      for (const std::size_t i : {std::size_t{0}, std::size_t{1}}) {
        if (!stays(*node.children[1 - i])) continue;
        AddressTerm scaled = place;
        scaled.factor = node.children[1 - i].get();
        if (!is_fixed(*scaled.factor)) return false;
        return read(*node.children[i], scaled, out);
      }
      return false;
    }
    if (const auto axis = axis_of(node)) {
      AddressTerm along = place;
      if (place.axis != kOwnAxis) return false;
      along.axis = *axis;
      return read(*node.children[0], along, out);
    }
    if (kernel_.calls(node, "arange")) {
      const Node* const begin = node.argument(std::size_t{0});
      const Node* const end = node.argument(std::size_t{1});
      if (begin == nullptr || end == nullptr || number_of(*begin) != 0 || !is_fixed(*end))
        return false;
      out.terms.push_back({end, place.factor, place.axis});
      return true;
    }
    if (node.is(NodeKind::name)) {
      if (node.text == kernel_.statement(loop_).targets.front()) {
        out.terms.push_back({nullptr, place.factor, place.axis});
        return true;
      }
      if (const Node* const value = value_of(node.text)) return read(*value, place, out);
    }
    return false;
  }

  /// The loop gives a name in it a value.
  [[nodiscard]] bool changes(const Node& node) const {
    bool found = false;
    visit_names(node, [&](std::string_view name) {
      for (const std::size_t at : kernel_.definitions(name))
        found = found || at == loop_ || kernel_.text().is_within(at, loop_);
    });
    return found;
  }

  /// Its names have one value each in all of the kernel.
  [[nodiscard]] bool is_fixed(const Node& node) const {
    bool fixed = true;
    visit_names(node, [&](std::string_view name) {
      const std::size_t given = kernel_.definitions(name).size();
      fixed = fixed && given <= (kernel_.is_parameter(name) ? 0U : 1U);
    });
    return fixed;
  }

  /// A scalar that is the same in all iterations.
  [[nodiscard]] bool stays(const Node& node) const {
    if (changes(node)) return false;
    TritonShapes shapes(kernel_);
    const auto shape = shapes.of(node);
    return shape && shape->empty();
  }

  const TritonKernel& kernel_;
  const std::size_t loop_;
  int steps_ = 0;
};

/// Conditions of a mask that are joined by "&", through names.
void conditions_of(const SumReader& reader, const Node& mask, std::vector<const Node*>& out) {
  if (mask.is(NodeKind::binary) && mask.text == "&") {
    for (const auto& child : mask.children) conditions_of(reader, *child, out);
    return;
  }
  const Node* const value = mask.is(NodeKind::name) ? reader.value_of(mask.text) : nullptr;
  if (value != nullptr) return conditions_of(reader, *value, out);
  out.push_back(&mask);
}

/// Proofs for one access.
class OwnElements {
 public:
  OwnElements(const MoveContext& context,
              const TritonKernel& kernel,
              const TritonAccess& access,
              std::size_t loop,
              std::string_view step)
      : context_(context), kernel_(kernel), access_(access), loop_(loop), step_(step) {}

  [[nodiscard]] bool proven() const {
    if (access_.address == nullptr) return false;
    const auto sum = SumReader(kernel_, loop_).sum(*access_.address);
    if (!sum) return false;
    const auto is_variable = [](const AddressTerm& term) { return term.extent == nullptr; };
    if (std::ranges::count_if(sum->terms, is_variable) != 1) return false;
    const AddressTerm& variable = *std::ranges::find_if(sum->terms, is_variable);
    // what is counted together with the variable, and what is not
    std::vector<AddressTerm> own, other;
    for (const AddressTerm& term : sum->terms)
      (same(term.factor, variable.factor) ? own : other).push_back(term);
    if (own.size() > 2 || other.size() > 1 || !is_stepped_over(own)) return false;
    if (other.empty()) return is_positive(variable.factor);
    // a row's index times its length, and an index within the row
    const bool is_row = variable.factor != nullptr;
    if (is_row == (other[0].factor != nullptr)) return false;
    const Node& length = is_row ? *variable.factor : *other[0].factor;
    if (is_row && fits(*other[0].extent, kernel_.text().text(length.span))) return true;
    return is_below(is_row ? other : own, length);
  }

 private:
  [[nodiscard]] bool same(const Node* a, const Node* b) const {
    if (a == nullptr || b == nullptr) return a == b;
    return kernel_.text().text(a->span) == kernel_.text().text(b->span);
  }

  /// 0, 1, ... below `extent` are fewer than `length`, or as many.
  [[nodiscard]] bool fits(const Node& extent, std::string_view length) const {
    if (kernel_.text().text(extent.span) == length) return true;
    const auto count = number_of(extent), most = integer_value(length);
    return count && most && *count <= *most;
  }
  /// The numbers beside the variable are no more than its steps.
  [[nodiscard]] bool is_stepped_over(const std::vector<AddressTerm>& terms) const {
    return std::ranges::all_of(terms, [&](const AddressTerm& term) {
      return term.extent == nullptr || fits(*term.extent, step_);
    });
  }

  [[nodiscard]] bool holds_everywhere(const auto& condition) const {
    return std::ranges::all_of(workloads_of(context_), [&](const Workload* workload) {
      TritonBounds bounds(kernel_, context_, *workload);
      return condition(bounds) && bounds.conditions().empty();
    });
  }

  static bool is_from(TritonBounds& bounds, const Node& node, std::int64_t least) {
    const auto value = bounds.of(node);
    return value && bounds.is_at_least(value->least, least);
  }
  [[nodiscard]] bool is_positive(const Node* factor) const {
    return factor == nullptr ||
           holds_everywhere([&](TritonBounds& bounds) { return is_from(bounds, *factor, 1); });
  }
  /// The loop's variable is not negative.
  [[nodiscard]] bool is_from_zero(TritonBounds& bounds) const {
    const Node& range = *kernel_.statement(loop_).value;
    const Node* const step = range.argument(std::size_t{2});
    if (step != nullptr && step->is(NodeKind::unary))
      return is_from(bounds, *range.argument(std::size_t{1}), -1);
    return range.argument(std::size_t{1}) == nullptr ||
           is_from(bounds, *range.argument(std::size_t{0}), 0);
  }

  /// The mask says that the sum of these terms, and of a scalar, is in [0, length).
  [[nodiscard]] bool is_below(const std::vector<AddressTerm>& terms, const Node& length) const {
    const Node* mask = access_.call->argument(std::string_view("mask"));
    if (mask == nullptr)
      mask = access_.call->argument(access_.store ? std::size_t{2} : std::size_t{1});
    if (mask == nullptr) return false;
    std::vector<const Node*> conditions;
    conditions_of(SumReader(kernel_, loop_), *mask, conditions);
    return std::ranges::any_of(conditions, [&](const Node* condition) {
      int axis = kOwnAxis;
      if (condition->is(NodeKind::subscript)) {
        const auto laid = SumReader::axis_of(*condition);
        if (!laid) return false;
        axis = *laid;
        condition = condition->children[0].get();
      }
      if (!condition->is(NodeKind::comparison) || condition->text != "<") return false;
      const Node &index = *condition->children[0], &bound = *condition->children[1];
      const auto found = SumReader(kernel_, loop_).sum(index);
      if (!found || found->subtracts || found->terms.size() != terms.size()) return false;
      const bool equal = std::ranges::all_of(found->terms, [&](AddressTerm term) {
        if (axis != kOwnAxis && term.axis == kOwnAxis) term.axis = axis;
        return std::ranges::any_of(terms, [&](const AddressTerm& one) {
          return same(one.extent, term.extent) && same(one.factor, term.factor) &&
                 (one.axis == term.axis || one.extent == nullptr);
        });
      });
      return equal && holds_everywhere([&](TritonBounds& bounds) {
               for (const Node* const scalar : found->scalars) {
                 if (!is_from(bounds, *scalar, 0)) return false;
               }
               if (!is_from_zero(bounds)) return false;
               if (same(&bound, &length)) return true;
               const auto most = bounds.of(bound), row = bounds.of(length);
               return most && row && !most->greatest.varies && !row->least.varies &&
                      most->greatest.value <= row->least.value;
             });
    });
  }

  const MoveContext& context_;
  const TritonKernel& kernel_;
  const TritonAccess& access_;
  const std::size_t loop_;
  const std::string_view step_;
};

}  // namespace

bool has_own_elements(const MoveContext& context,
                      const TritonKernel& kernel,
                      const TritonAccess& access,
                      std::size_t loop,
                      std::string_view step) {
  return OwnElements(context, kernel, access, loop, step).proven();
}

}  // namespace warpath
