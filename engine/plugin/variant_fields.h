#pragma once

// How variants, moves and proposals stand in records, described once. Texts in any encoding are
// kept; expressions are texts. Include only from .cc files.

#include "engine/json/record_codec.h"
#include "engine/plugin/proposal.h"
#include "engine/spec/variant_patch.h"

namespace warpath {

struct ExpressionText {
  static void read(const JsonCursor& cursor, Expression& out) {
    out = Expression::parse(cursor.text(), cursor.place());
  }
  static void read(const JsonCursor& cursor, std::array<Expression, 3>& out) {
    if (cursor.size() != 3) cursor.fail("three expressions");
    for (std::size_t i = 0; i < 3; ++i) read(cursor.element(i), out[i]);
  }
  [[nodiscard]] static nlohmann::json write(const Expression& value) { return value.text(); }
  [[nodiscard]] static nlohmann::json write(const std::array<Expression, 3>& axes) {
    return {axes[0].text(), axes[1].text(), axes[2].text()};
  }
};
using LaunchText =
    RecordOf<LaunchPlan,
             Kept<"grid", &LaunchPlan::grid, ExpressionText>,
             Kept<"block", &LaunchPlan::block, ExpressionText>,
             Kept<"cluster", &LaunchPlan::cluster, ExpressionText>,
             Kept<"dynamic_smem_bytes", &LaunchPlan::dynamic_smem_bytes, ExpressionText>>;

template <>
struct Codec<ScratchBuffer>
    : RecordOf<ScratchBuffer,
               Kept<"name", &ScratchBuffer::name, AnyText>,
               Kept<"size_bytes", &ScratchBuffer::size_bytes, ExpressionText>> {};

/// {"zero": [names]}, or a launch of another kernel.
template <>
struct Codec<LaunchStep> {
  using Zero = RecordOf<LaunchStep, Kept<"zero", &LaunchStep::arguments, Each<AnyText>>>;
  using Kernel = RecordOf<LaunchStep,
                          Kept<"kernel", &LaunchStep::kernel_name, AnyText>,
                          Kept<"launch", &LaunchStep::launch, LaunchText>,
                          Kept<"arguments", &LaunchStep::arguments, Each<AnyText>>>;
  static void read(const JsonCursor& cursor, LaunchStep& out) {
    const bool zero = cursor.find("zero").has_value();
    out.kind = zero ? LaunchStep::Kind::zero : LaunchStep::Kind::kernel;
    zero ? Zero::read(cursor, out) : Kernel::read(cursor, out);
  }
  [[nodiscard]] static nlohmann::json write(const LaunchStep& step) {
    return step.kind == LaunchStep::Kind::zero ? Zero::write(step) : Kernel::write(step);
  }
};

/// The versions of a variant or a patch, each as one.
template <class T>
struct VersionRecords {
  static void read(const JsonCursor& cursor, T& out) { Codec<T>::read(cursor, out); }
  [[nodiscard]] static nlohmann::json write(const T& value) { return Codec<T>::write(value); }
};

template <>
struct Codec<VariantPatch>
    : RecordOf<
          VariantPatch,
          Sparse<"source", &VariantPatch::source, Maybe<AnyText>>,
          Sparse<"kernel_name", &VariantPatch::kernel_name, Maybe<AnyText>>,
          Sparse<"launch", &VariantPatch::launch, Maybe<LaunchText>>,
          Sparse<"compiler_options", &VariantPatch::compiler_options, Maybe<Each<AnyText>>>,
          Sparse<"tunables", &VariantPatch::tunables>,
          Sparse<"scratch", &VariantPatch::scratch>,
          Sparse<"before", &VariantPatch::before>,
          Sparse<"after", &VariantPatch::after>,
          Sparse<"when", &VariantPatch::when>,
          Sparse<"versions", &VariantPatch::versions, Maybe<Each<VersionRecords<VariantPatch>>>>> {
};
template <>
struct Codec<Variant>
    : RecordOf<Variant,
               Kept<"source", &Variant::source, AnyText>,
               Kept<"kernel_name", &Variant::kernel_name, AnyText>,
               Kept<"launch", &Variant::launch, LaunchText>,
               Kept<"compiler_options", &Variant::compiler_options, Each<AnyText>>,
               Kept<"tunables", &Variant::tunables>,
               Sparse<"scratch", &Variant::scratch>,
               Sparse<"before", &Variant::before>,
               Sparse<"after", &Variant::after>,
               Sparse<"when", &Variant::when>,
               Sparse<"versions", &Variant::versions, Each<VersionRecords<Variant>>>> {};
template <>
struct Codec<MoveInstance> : RecordOf<MoveInstance,
                                      Kept<"move", &MoveInstance::move>,
                                      Kept<"site", &MoveInstance::site>,
                                      Kept<"parameters", &MoveInstance::parameters>> {};
template <>
struct Codec<Proposal>
    : RecordOf<Proposal,
               Kept<"instance", &Proposal::instance>,
               Kept<"weight", &Proposal::weight, AnyNumber>,
               Kept<"source", &Proposal::source>,
               Kept<"predicted_log_gain", &Proposal::predicted_log_gain, AnyNumber>,
               Kept<"why", &Proposal::why, AnyText>,
               Sparse<"variant", &Proposal::variant>> {};

}  // namespace warpath
