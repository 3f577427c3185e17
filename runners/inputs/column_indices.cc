#include "runners/inputs/column_indices.h"

#include <tbb/parallel_for.h>

#include <algorithm>
#include <variant>

#include "engine/spec/tensor_init.h"

namespace warpath {
namespace {

/// The row pointers under `rule`, which depend on no values of their own.
Tensor arranged(const KernelSpec& spec,
                const ArgSpec& arg,
                const Workload& workload,
                const FamilyRule& rule) {
  Tensor out = make_tensor(arg.tensor->dtype, spec.shape_of(arg, workload));
  apply_family(out, rule);
  return out;
}

Tensor columns(const KernelSpec& spec,
               const ArgSpec& arg,
               const Workload& workload,
               const Tensor& pointers,
               std::uint64_t high,
               std::uint64_t seed) {
  Tensor out = make_tensor(arg.tensor->dtype, spec.shape_of(arg, workload));
  tbb::parallel_for(std::int64_t{0}, pointers.elements() - 1, [&](std::int64_t row) {
    const auto begin = static_cast<std::int64_t>(pointers.at(row));
    const auto end = std::min(static_cast<std::int64_t>(pointers.at(row + 1)), out.elements());
    for (std::int64_t i = begin; i < end; ++i)
      out.set(i, static_cast<double>(csr_column(seed, static_cast<std::uint64_t>(i),
                                                static_cast<std::uint64_t>(i - begin),
                                                static_cast<std::uint64_t>(end - begin), high)));
  });
  return out;
}

}  // namespace

std::optional<std::int64_t> number_of_columns(const KernelSpec& spec,
                                              const ArgSpec& arg,
                                              const Workload& workload,
                                              std::string_view row_pointers) {
  if (arg.type != ArgType::tensor) return std::nullopt;
  const TensorSpec content = spec.tensor_of(arg, workload);
  const auto* const rule = std::get_if<InitRule>(&content.content);
  if (rule == nullptr || rule->kind != InitRule::Kind::csr_column_indices ||
      rule->row_pointers != row_pointers)
    return std::nullopt;
  return rule->high->evaluate(spec.bindings(workload, spec.default_tunables()),
                              spec.place_of(arg, workload) + "/high");
}

std::map<std::string, Tensor, std::less<>> columns_of_arranged_rows(const KernelSpec& spec,
                                                                    const Workload& workload,
                                                                    const FamilyChoice& choice,
                                                                    std::uint64_t seed) {
  std::map<std::string, Tensor, std::less<>> out;
  for (const auto& [arg, rule] : family_rules(spec, workload, choice, seed)) {
    if (rule.arrangement != Arrangement::offsets || !applies(rule)) continue;
    for (const ArgSpec& of : spec.io.args) {
      if (const auto high = number_of_columns(spec, of, workload, arg->name))
        out.emplace(of.name, columns(spec, of, workload, arranged(spec, *arg, workload, rule),
                                     static_cast<std::uint64_t>(*high), seed));
    }
  }
  return out;
}

}  // namespace warpath
