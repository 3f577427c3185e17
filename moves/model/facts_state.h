#pragma once

#include <map>
#include <set>
#include <string>
#include <string_view>
#include <unordered_map>
#include <utility>
#include <vector>

#include "moves/model/facts.h"

namespace warpath::model {

/// Value of an expression at a place: an integer, or a pointer into an array.
struct Value {
  Polynomial full = Polynomial::unknown();
  Polynomial source = Polynomial::unknown();
  int array = -1;  ///< >= 0: a pointer; full and source are its offset in elements of the array
  /// Elements of the array that one step of the pointer covers (float4* into float: 4). 0: a part
  /// of one, or what no size is known of; where it points to is unknown then, whatever follows.
  int width = 1;
  int dimensions = 0;  ///< dimensions already consumed by subscripts of a multi-dimensional array
  std::vector<Polynomial> subscripts;
  [[nodiscard]] bool is_pointer() const { return array >= 0; }
};

/// One modification of a variable.
struct Write {
  const Declarator* variable = nullptr;
  const Expr* node = nullptr;  ///< the assignment, ++, call, ...; null for an asm output
  const Expr* name = nullptr;  ///< the variable's name in it
  const Stmt* stmt = nullptr;
  bool partial = false;  ///< v.x = e
  bool escapes = false;  ///< &v, v passed by reference
};

/// One use of a variable's value.
struct Read {
  const Declarator* variable = nullptr;
  const Expr* name = nullptr;
};

/// A call or assembly with effects unknown to the model.
struct UnknownEffect {
  std::string what;  ///< its name in the veto; empty: assembly
  Span span;
  /// its effects are local, on memory and its operands: not a jump, not an arbitrary macro
  bool stays = false;
};

struct KernelFacts::State {
  FactSources sources;
  std::unordered_map<const Expr*, const Declarator*> declared;  ///< by name expression
  /// The only variable of a name that the kernel uses; null where there are more.
  std::unordered_map<std::string_view, const Declarator*> by_name;
  std::vector<Write> writes;  ///< in source order
  std::vector<Read> reads;
  std::map<const Declarator*, int> write_counts;
  std::unordered_map<const Expr*, Value> values;  ///< of names at their places
  /// Names of the kernel used in the expression of a macro: by call, then by the name in the
  /// expression.
  std::map<const Expr*, std::vector<std::pair<const Expr*, const Declarator*>>> macro_names;
  std::map<std::pair<const Expr*, const Expr*>, Value> macro_values;
  /// What a macro's parameter stands for, by the name in the macro, where it was read last.
  std::unordered_map<const Expr*, const Expr*> macro_arguments;
  std::unordered_map<const Stmt*, std::vector<const Guard*>> guards;
  std::unordered_map<const Stmt*, const Loop*> loops;
  std::map<const Declarator*, int> arrays;
  std::map<const Expr*, int> versions;  ///< of expressions that are atoms of their own
  std::map<const Expr*, int> access_of;
  std::set<const Declarator*> written_arrays;  ///< so far, or from a first walk
  std::set<const Declarator*> trusted_arrays;  ///< taken for unwritten where something relies on it
  std::vector<UnknownEffect> unknown_effects;  ///< in source order
  std::map<const Declarator*, Uniformity> levels;
  std::map<std::string, Uniformity, std::less<>>
      name_levels;  ///< the widest of all variables of a name
  int next_version = 1;
  int expansions = 0;  ///< of helper functions, bounded by kMaxExpansions
  static constexpr int kMaxExpansions = 2000;
  Bindings launch_constants;  ///< blockDim.x ... if fixed by the plan
};

/// Resolves names, and finds all reads and writes of variables.
void resolve_names(KernelFacts& facts);
/// Walks the kernel in order: arrays, accesses, guards, loops with their ranges, values of names.
void walk_kernel(KernelFacts& facts);
/// Classifies the loops.
void classify_loops(KernelFacts& facts);
/// Determines the uniformity of variables.
void find_uniformity(KernelFacts& facts);
/// KernelFacts::veto.
[[nodiscard]] std::string find_veto(const KernelFacts& facts);
/// The array named by `declarator`, created on first use.
int array_of(KernelFacts& facts, const Declarator& declarator);
/// Writes to variables within `span`.
[[nodiscard]] std::vector<const Write*> writes_in(const KernelFacts& facts, Span span);
/// A new name atom, different from all others, printed as `text`.
[[nodiscard]] Polynomial fresh_atom(KernelFacts::State& state, std::string_view text);
/// True if control never continues after the statement.
[[nodiscard]] bool leaves(const Stmt& stmt);
/// The variables of a loop that keep a greatest or least value and where it was found.
[[nodiscard]] std::vector<Extremum> extrema_of(const KernelFacts& facts, const Loop& loop);
/// Recognises `v op= e` in any spelling; nullopt otherwise.
[[nodiscard]] std::optional<Reduction> reduction_of(const KernelFacts& facts, const Write& write);
/// The same for a write to memory: `y[i] += e`.
[[nodiscard]] std::optional<Reduction> reduction_of(const KernelFacts& facts, const Access& access);

}  // namespace warpath::model
