#include "moves/model/kernel_model.h"

#include <algorithm>
#include <utility>

#include "moves/syntax/syntax_query.h"

namespace warpath::model {
namespace {

std::unique_ptr<const KernelModel> made_model(const KernelSpec& spec,
                                              const Variant& variant,
                                              std::string& why) {
  if (spec.kernel_type != KernelType::cuda)
    return why = "the kernel is in another language than CUDA C++", nullptr;
  Unit unit = parse(spec, variant);
  const Function* kernel = unit.find_kernel(variant.kernel_name);
  if (kernel == nullptr || !kernel->is_global) {
    why = "the source has no single kernel " + variant.kernel_name;
    const std::vector<HiddenKernel> hidden = hidden_kernels(unit);
    const auto it = std::find_if(hidden.begin(), hidden.end(), [&](const HiddenKernel& h) {
      return h.name == variant.kernel_name;
    });
    if (it != hidden.end())
      why += ": the condition of line " + std::to_string(line_of(unit, it->condition.begin)) +
             " leaves it out";
    return nullptr;
  }
  if (unit.ambiguous()) return why = "compilers disagree on the tokens of the source", nullptr;
  if (!kernel->opaque.empty() || kernel->unresolved_conditionals) {
    const bool text = !kernel->opaque.empty();
    why = text ? "line " + std::to_string(line_of(unit, kernel->opaque[0].begin)) +
                     " is not understood"
               : "a preprocessor condition in the kernel is open";
    return nullptr;
  }
  KernelFacts facts = analyse(unit, *kernel, {&spec, &variant});
  auto out = std::make_unique<KernelModel>(KernelModel{std::move(unit), kernel, std::move(facts)});
  out->facts.unit = &out->unit;
  return out;
}

thread_local ModelScope* innermost_scope = nullptr;

}  // namespace

/// A variant of its own, for the model points into it.
struct ModelScope::Known {
  struct Derived {
    std::string name;
    DeviceFacts device;
    std::optional<Variant> variant;
  };
  struct Finding {
    std::string name;
    DeviceFacts device;
    std::shared_ptr<const void> found;
  };
  Variant variant;
  bool modelled = false;
  std::unique_ptr<const KernelModel> model;
  std::string why;  // there is none
  std::vector<Derived> derived;
  std::vector<Finding> findings;  // in the model, into which they may point
};

ModelScope::ModelScope(const KernelSpec& spec)
    : spec_(spec), outer_(std::exchange(innermost_scope, this)) {}

ModelScope::~ModelScope() {
  innermost_scope = outer_;
}

std::shared_ptr<ModelScope::Known> ModelScope::find(const Variant& variant) {
  // The kernel, its normal form and this with a guard, each with its sizes known and without; and
  // of short texts what moves try on the way.
  constexpr std::size_t kLeast = 8, kMost = 48, kMostBytes = 1 << 20;
  // Variants differ near the end of a text more often than near its beginning.
  const auto tail = [](const Variant& of) {
    constexpr std::size_t kTail = 4096;
    const std::string_view text = of.source;
    return text.substr(text.size() - std::min(text.size(), kTail));
  };
  auto it = std::ranges::find_if(known_, [&](const auto& one) {
    return tail(one->variant) == tail(variant) && one->variant == variant;
  });
  if (it == known_.end()) {
    auto known = std::make_shared<Known>();
    known->variant = variant;
    std::size_t bytes = variant.source.size();
    for (const auto& one : known_) bytes += one->variant.source.size();
    for (; known_.size() >= kLeast && (known_.size() >= kMost || bytes > kMostBytes);
         known_.pop_back())
      bytes -= known_.back()->variant.source.size();
    known_.insert(known_.begin(), std::move(known));
  } else {
    std::rotate(known_.begin(), it, it + 1);
  }
  return known_.front();
}

std::shared_ptr<const KernelModel> model_kernel(const KernelSpec& spec,
                                                const Variant& variant,
                                                std::string& why) {
  ModelScope* const scope = innermost_scope;
  if (scope == nullptr || &scope->spec_ != &spec) return made_model(spec, variant, why);
  const auto known = scope->find(variant);
  if (!std::exchange(known->modelled, true))
    known->model = made_model(spec, known->variant, known->why);
  if (known->model == nullptr) return why = known->why, nullptr;
  return {known, known->model.get()};
}

std::optional<Variant> remembered(const MoveContext& context,
                                  std::string_view name,
                                  const std::function<std::optional<Variant>()>& make) {
  ModelScope* const scope = innermost_scope;
  if (scope == nullptr || &scope->spec_ != &context.spec) return make();
  const auto known = scope->find(context.variant);
  const auto it = std::ranges::find_if(
      known->derived, [&](const auto& d) { return d.name == name && d.device == context.device; });
  if (it != known->derived.end()) return it->variant;
  auto made = make();
  known->derived.push_back({std::string(name), context.device, made});
  return made;
}

std::shared_ptr<const void> kept_with(const MoveContext& context,
                                      const KernelModel& model,
                                      std::string_view name,
                                      const std::function<std::shared_ptr<const void>()>& make) {
  ModelScope* const scope = innermost_scope;
  if (scope == nullptr || &scope->spec_ != &context.spec) return make();
  const auto of = std::ranges::find_if(scope->known_,
                                       [&](const auto& one) { return one->model.get() == &model; });
  if (of == scope->known_.end()) return make();
  const auto known = *of;  // making it may ask for other models, and this one may be forgotten
  const auto it = std::ranges::find_if(
      known->findings, [&](const auto& f) { return f.name == name && f.device == context.device; });
  if (it != known->findings.end()) return {known, it->found.get()};
  auto made = make();
  known->findings.push_back({std::string(name), context.device, made});
  return {known, made.get()};
}

}  // namespace warpath::model
