#pragma once

#include <functional>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "engine/plugin/move.h"
#include "moves/model/facts.h"
#include "moves/syntax/unit.h"

namespace warpath::model {

/// Unit, kernel and facts of a variant together; the starting point of most moves.
struct KernelModel {
  Unit unit;
  const Function* kernel = nullptr;
  KernelFacts facts;
};
/// Null with one line in `why` if the kernel is not found, the text is ambiguous or an opaque span
/// is in the kernel. On the heap, since the facts point into the unit; spec and variant must
/// outlive it.
[[nodiscard]] std::shared_ptr<const KernelModel> model_kernel(const KernelSpec& spec,
                                                              const Variant& variant,
                                                              std::string& why);

/// During its lifetime model_kernel() on this thread caches the latest models of variants of
/// `spec`, which must not change: proposing all moves at a node asks for the same two or three
/// models hundreds of times. Scopes nest; the innermost one is used.
class ModelScope {
 public:
  explicit ModelScope(const KernelSpec& spec);
  ~ModelScope();
  ModelScope(const ModelScope&) = delete;
  ModelScope& operator=(const ModelScope&) = delete;

 private:
  friend std::shared_ptr<const KernelModel> model_kernel(const KernelSpec&,
                                                         const Variant&,
                                                         std::string&);
  friend std::optional<Variant> remembered(const MoveContext&,
                                           std::string_view,
                                           const std::function<std::optional<Variant>()>&);
  friend std::shared_ptr<const void> kept_with(const MoveContext&,
                                               const KernelModel&,
                                               std::string_view,
                                               const std::function<std::shared_ptr<const void>()>&);
  struct Known;
  [[nodiscard]] std::shared_ptr<Known> find(const Variant& variant);

  const KernelSpec& spec_;
  ModelScope* const outer_;
  std::vector<std::shared_ptr<Known>> known_;  // latest first
};

/// What `make` makes of the context alone, under a name of its own: kept as long as the innermost
/// ModelScope of the spec keeps the model of the variant.
[[nodiscard]] std::optional<Variant> remembered(
    const MoveContext& context,
    std::string_view name,
    const std::function<std::optional<Variant>()>& make);

/// What found_in() keeps, without its type.
[[nodiscard]] std::shared_ptr<const void> kept_with(
    const MoveContext& context,
    const KernelModel& model,
    std::string_view name,
    const std::function<std::shared_ptr<const void>()>& make);

/// What `find` finds in the model of the context's variant, and why there is no more; it may point
/// into the model. Kept under a name of its own with the model, if a ModelScope keeps that very
/// object: another model of the same text has other addresses, and is searched anew.
template <class Found>
[[nodiscard]] std::shared_ptr<const std::pair<Found, std::string>> found_in(
    const MoveContext& context,
    const KernelModel& model,
    std::string_view name,
    const std::function<Found(std::string& why)>& find) {
  using Kept = std::pair<Found, std::string>;
  return std::static_pointer_cast<const Kept>(kept_with(context, model, name, [&] {
    auto out = std::make_shared<Kept>();
    out->first = find(out->second);
    return out;
  }));
}

}  // namespace warpath::model
