#include <algorithm>
#include <array>

#include "moves/edit/kernel_move.h"
#include "moves/edit/known_shape.h"
#include "moves/edit/loop_site.h"
#include "moves/edit/span_rewrite.h"
#include "moves/model/kernel_model.h"
#include "moves/rows/keep_row.h"
#include "moves/rows/lanes.h"
#include "moves/rows/row_statistics.h"
#include "moves/rows/row_sweeps.h"
#include "register_moves.h"

namespace warpath {
namespace {

constexpr std::array<std::int64_t, 4> kExponentialVectors{1, 2, 4, 8};

enum Form : std::int64_t { registers, shared, one_pass, online, recompute, reverse, form_count };

/// Makes fewer passes over memory where several loops sweep the same row, whatever they compute:
/// softmax, norms, losses. The row stays in registers or in shared memory, statistics that need
/// each other are taken in one sweep, values are computed again rather than stored and loaded, or a
/// later sweep runs backwards to meet what is still in the cache.
class SoftmaxMathFusion final : public ParameterMove {
 public:
  [[nodiscard]] std::string_view name() const override { return "softmax_math_fusion"; }

  [[nodiscard]] std::vector<MoveInstance> enumerate(const MoveContext& context) const override {
    std::string why;
    const auto model = model_of(context, why);
    if (!model) return {};
    std::vector<MoveInstance> out;
    for (const RowSweeps& sweeps : find_row_sweeps(context, *model)) {
      std::vector<std::array<std::int64_t, 2>> wanted;
      const std::int64_t widest = widest_pack(*model, sweeps);
      wanted.push_back({registers, widest});
      if (widest > 1) wanted.push_back({registers, 1});
      for (const std::int64_t form : {shared, one_pass, recompute, online, reverse})
        wanted.push_back({form, 1});
      for (const auto& [form, vector] : wanted) {
        if (rewritten(context, *model, sweeps, form, vector, why))
          out.push_back(made(site_of(sweeps), form, vector));
      }
    }
    return out;
  }

  [[nodiscard]] std::vector<Tunable> domain(const MoveContext&,
                                            std::string_view site) const override {
    if (!is_loop_site(site)) return {};
    std::vector<std::int64_t> forms;
    for (std::int64_t f = 0; f < form_count; ++f) forms.push_back(f);
    return {Tunable{"form", forms, registers,
                    "0: row in registers, 1: row in shared memory, 2: mean and variance in one "
                    "sweep, 3: maximum and sum in one sweep, "
                    "4: compute again instead of store and load, 5: every second sweep backwards"},
            Tunable{"vector",
                    {kExponentialVectors.begin(), kExponentialVectors.end()},
                    1,
                    "elements a load or store takes at once; form 0 only"}};
  }

  [[nodiscard]] std::optional<Variant> applied(const MoveContext& context,
                                               const MoveInstance& wanted,
                                               std::string& why) const override {
    const auto model = model_of(context, why);
    if (!model) return std::nullopt;
    for (const RowSweeps& sweeps : find_row_sweeps(context, *model)) {
      if (site_of(sweeps) == wanted.site)
        return rewritten(context, *model, sweeps, wanted.parameters.at("form"),
                         wanted.parameters.at("vector"), why);
    }
    return why = "no loops sweep a row at " + (wanted.site.empty() ? "the kernel" : wanted.site),
           std::nullopt;
  }

 private:
  static std::string site_of(const RowSweeps& sweeps) { return loop_site(sweeps.ordinal); }

  static MoveInstance made(const std::string& site, std::int64_t form, std::int64_t vector) {
    return {"softmax_math_fusion", site, {{"form", form}, {"vector", vector}}};
  }

  static std::shared_ptr<const model::KernelModel> model_of(const MoveContext& context,
                                                            std::string& why) {
    auto model = model::model_kernel(context.spec, context.variant, why);
    if (!model) return nullptr;
    if (const std::string call = unknown_call(*model); !call.empty())
      return why = "the kernel calls " + call + ", which may write memory", nullptr;
    if (has_own_plans(context.spec))
      return why = "workloads have launch plans of their own", nullptr;
    return model;
  }

  static std::optional<Variant> rewritten(const MoveContext& context,
                                          const model::KernelModel& model,
                                          const RowSweeps& sweeps,
                                          std::int64_t form,
                                          std::int64_t vector,
                                          std::string& why) {
    const bool packs = form == registers
                           ? std::find(kExponentialVectors.begin(), kExponentialVectors.end(),
                                       vector) != kExponentialVectors.end()
                           : vector == 1;
    if (!packs) return why = std::to_string(vector) + " is no vector for this form", std::nullopt;
    switch (form) {
      case registers:
        return keep_in_registers(context, model, sweeps, vector, why);
      case shared:
        return keep_in_shared(context, model, sweeps, why);
      case one_pass:
        return fuse_statistics(context, model, sweeps, why);
      case online:
        return fuse_maximum(context, model, sweeps, why);
      case recompute:
        return recompute_stored(context, model, sweeps, why);
      case reverse:
        return reverse_sweeps(context, model, sweeps, why);
      default:
        return why = std::to_string(form) + " is no form of softmax_math_fusion", std::nullopt;
    }
  }
};

}  // namespace

void register_move_softmax_math_fusion(MoveRegistry& registry) {
  registry.add(
      "softmax_math_fusion",
      "fewer passes over a row: it stays on chip, statistics are fused, results computed again",
      [] { return on_known_shape(std::make_unique<SoftmaxMathFusion>()); });
}

}  // namespace warpath
