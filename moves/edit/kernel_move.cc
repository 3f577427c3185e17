#include "moves/edit/kernel_move.h"
#include "moves/model/kernel_model.h"

#include <algorithm>

namespace warpath {

bool ParameterMove::in_domain(const MoveContext& context,
                              const MoveInstance& wanted,
                              std::string& why) const {
  const std::vector<Tunable> known = domain(context, wanted.site);
  const std::string name(this->name());
  if (known.empty())
    return why = name + " does not apply to " +
                 (wanted.site.empty() ? "the whole kernel" : wanted.site),
           false;
  std::string names;
  bool same = known.size() == wanted.parameters.size();
  for (const Tunable& tunable : known) {
    names += (names.empty() ? "" : ", ") + tunable.name;
    same = same && wanted.parameters.contains(tunable.name);
  }
  if (!same) return why = name + " takes " + names, false;
  for (const Tunable& tunable : known) {
    const std::int64_t value = wanted.parameters.at(tunable.name);
    if (std::ranges::find(tunable.values, value) == tunable.values.end())
      return why = std::to_string(value) + " is no value of " + tunable.name, false;
  }
  return true;
}

std::optional<Variant> ParameterMove::apply(const MoveContext& context,
                                            const MoveInstance& wanted,
                                            std::string& why) const {
  return in_domain(context, wanted, why) ? applied(context, wanted, why) : std::nullopt;
}

void KernelMove::add(std::vector<MoveInstance>& candidates,
                     const std::string& site,
                     const std::string& parameter,
                     std::initializer_list<std::int64_t> values) const {
  for (const std::int64_t value : values)
    candidates.push_back({std::string(name()), site, {{parameter, value}}});
}

std::vector<MoveInstance> KernelMove::enumerate(const MoveContext& context) const {
  std::vector<MoveInstance> out;
  std::string why;
  const auto model = model::model_kernel(context.spec, context.variant, why);
  if (model == nullptr) return out;
  for (MoveInstance& instance : candidates(context, *model)) {
    if (in_domain(context, instance, why) && rewritten(context, *model, instance, why))
      out.push_back(std::move(instance));
  }
  return out;
}

std::optional<Variant> KernelMove::applied(const MoveContext& context,
                                           const MoveInstance& wanted,
                                           std::string& why) const {
  const auto model = model::model_kernel(context.spec, context.variant, why);
  return model == nullptr ? std::nullopt : rewritten(context, *model, wanted, why);
}

}  // namespace warpath
