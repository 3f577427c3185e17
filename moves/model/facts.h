#pragma once

#include <array>
#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "engine/spec/launch.h"
#include "engine/spec/spec.h"
#include "engine/spec/variant.h"
#include "moves/model/affine.h"
#include "moves/model/kernel_parts.h"
#include "moves/syntax/unit.h"

namespace warpath::model {

/// The facts of one kernel. Pointers into it and into the Unit are valid while both exist.
class KernelFacts {
 public:
  KernelFacts(const KernelFacts&) = delete;
  KernelFacts& operator=(const KernelFacts&) = delete;
  KernelFacts(KernelFacts&&) noexcept;
  KernelFacts& operator=(KernelFacts&&) noexcept;
  ~KernelFacts();

  const Unit* unit = nullptr;
  const Function* kernel = nullptr;
  std::vector<Array> arrays;
  std::vector<Access> accesses;              ///< in source order
  std::vector<std::unique_ptr<Loop>> loops;  ///< in source order
  std::vector<std::unique_ptr<Guard>> guards;
  std::vector<ThreadIndex> thread_indices;
  bool has_barrier = false;   ///< __syncthreads and the like
  bool has_warp_ops = false;  ///< shuffles, votes, __syncwarp
  bool has_assembly = false;
  bool has_opaque = false;         ///< opaque spans or unresolved conditionals in the kernel
  bool has_unknown_calls = false;  ///< calls that may write memory the model does not follow
  std::vector<std::string> unknown_calls;
  /// One line on why moves that restructure the kernel must refuse it; empty if nothing prevents
  /// them.
  std::string veto;

  /// `veto`, or why a move that arranges the threads of a block anew must refuse it: they work
  /// together already.
  [[nodiscard]] std::string threads_veto() const;
  /// The same for moves that change only `stmt`: effects on memory elsewhere are ignored.
  [[nodiscard]] std::string veto_at(const Stmt& stmt) const;

  [[nodiscard]] const Array* array(std::string_view name) const;
  [[nodiscard]] int array_index(std::string_view name) const;  ///< -1 if there is none
  [[nodiscard]] const Loop* loop_of(const Stmt& stmt) const;   ///< the loop that `stmt` is
  [[nodiscard]] std::vector<const Access*> accesses_in(const Stmt& stmt) const;
  [[nodiscard]] std::vector<const Access*> accesses_to(int array) const;
  [[nodiscard]] const Access* access_of(const Expr& subscript) const;
  /// Guards that hold at the start of `stmt`, outermost first.
  [[nodiscard]] std::vector<const Guard*> guards_at(const Stmt& stmt) const;
  [[nodiscard]] const ThreadIndex* thread_index(std::string_view name) const;

  /// `expr` as a polynomial with all locals folded in, at its place in the code.
  [[nodiscard]] Polynomial polynomial(const Expr& expr) const;
  /// With integer locals that are assigned once kept as names.
  [[nodiscard]] Polynomial source_polynomial(const Expr& expr) const;
  /// Substitutes tunables, macros and the launch's constant block extents (blockDim.x).
  [[nodiscard]] Polynomial resolved(const Polynomial& value) const;
  /// Values of names under `workload`: scalars under the kernel's parameter names, tunables,
  /// constants, blockDim and gridDim.
  [[nodiscard]] Bindings values(const Workload& workload) const;
  /// Sizes that the spec's constraints make multiples (`C % 4 == 0`), under parameter names.
  [[nodiscard]] Bindings multiples() const;
  /// True if value >= 0 follows from guards, loop ranges and non-negative sizes (parameters that
  /// bound a loop or a guard).
  [[nodiscard]] bool provably_nonnegative(const Polynomial& value,
                                          const std::vector<const Guard*>& guards,
                                          const std::vector<const Loop*>& loops) const;

  [[nodiscard]] Uniformity uniformity(const Expr& expr) const;
  [[nodiscard]] Uniformity uniformity(const Polynomial& value) const;
  /// True if all threads of a block reach `stmt` together: no divergent guard or loop around it, no
  /// divergent exit before it.
  [[nodiscard]] bool uniformly_reached(const Stmt& stmt) const;

  /// Whether two arrays may overlap: different declared arrays never; parameters according to the
  /// spec (without one: yes, unless one is __restrict__ or both are read-only).
  [[nodiscard]] bool may_alias(int a, int b) const;
  /// True if no access conflicts with one in another iteration, the condition for a parallel loop,
  /// for any set of accesses. False with one line in `why`.
  [[nodiscard]] bool independent_over(const Loop& loop, std::string& why) const;

  /// Names declared in the kernel (locals, parameters) that `stmt` reads or writes.
  [[nodiscard]] std::vector<std::string> names_read(const Stmt& stmt) const;
  [[nodiscard]] std::vector<std::string> names_written(const Stmt& stmt) const;

  [[nodiscard]] WorkEstimate estimate(const Workload& workload) const;

  struct State;
  KernelFacts();
  std::unique_ptr<State> state;  ///< symbolic values by place; used only by facts.cc
};

/// Inputs of the analysis besides the text. Null parts are unknown.
struct FactSources {
  const KernelSpec* spec = nullptr;
  const Variant* variant = nullptr;
  /// without a spec: no two parameters share memory, as most specs say
  bool parameters_apart = false;
};

/// Facts of a kernel (or of any function with a body). Both must outlive the result.
[[nodiscard]] KernelFacts analyse(const Unit& unit,
                                  const Function& kernel,
                                  const FactSources& sources = {});

/// The type of an expression in words ("float", "int", "float*"), following promotions and CUDA
/// builtins; empty if unknown.
[[nodiscard]] std::string type_of(const KernelFacts& facts, const Expr& expr);

}  // namespace warpath::model
