#pragma once

#include <array>
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "engine/base/dtype.h"
#include "moves/model/affine.h"
#include "moves/model/reduce_op.h"
#include "moves/syntax/syntax.h"

/// What the facts of a kernel consist of: arrays, guards, accesses, loops, thread indices.
namespace warpath::model {

enum class Space : std::uint8_t { global, shared, local, constant };

/// A pointer parameter or an array that the kernel subscripts. Pointer aliases are resolved to it.
struct Array {
  std::string name;       ///< in the source
  std::string spec_name;  ///< the spec's argument; empty: none
  const Declarator* declarator = nullptr;
  Space space = Space::global;
  std::string type;  ///< element type's words without const: "float", "T" resolved if the kernel
                     ///< name binds it
  std::optional<DType> dtype;       ///< nullopt for vectors and unknown types
  std::size_t element_bytes = 0;    ///< 0: unknown
  std::vector<Polynomial> extents;  ///< of an array with known dimensions, outermost first
  bool is_parameter = false;
  bool is_const = false;  ///< pointee const
  bool is_restrict = false;
  bool dynamic_shared = false;                         ///< extern __shared__
  bool read = false, written = false, atomic = false;  ///< by any access
  bool escapes = false;  ///< its address is used in a way that the model does not follow: a veto
  std::int64_t alignment_bytes = 0;  ///< guaranteed for element 0; 0: unknown
};

enum class AccessKind : std::uint8_t { read, write, read_write, atomic };

struct Loop;

/// A condition that holds where it is listed.
struct Guard {
  const Expr* condition = nullptr;
  bool negated = false;        ///< holds when the condition is false (early return, else branch)
  bool early_exit = false;     ///< from `if (c) return;`: holds for the rest of the body
  const Stmt* stmt = nullptr;  ///< the if
  bool exits_loop = false;     ///< the early exit is continue or break, not return
  /// The condition as integer expressions, each >= 0: `i < N` gives N - i - 1. Empty if it has no
  /// such form.
  std::vector<Polynomial> nonnegative;
  bool complete = false;  ///< `nonnegative` is equivalent to the condition
};

/// One subscript (or dereference) of an array.
struct Access {
  int array = 0;  ///< into KernelFacts::arrays
  AccessKind kind = AccessKind::read;
  std::string atomic_op;       ///< "atomicAdd", ...
  const Expr* expr = nullptr;  ///< the subscript x[i] or *p
  const Stmt* stmt = nullptr;
  /// Flat element index over thread and block indices, loop variables, sizes and loads; all locals
  /// are folded in.
  Polynomial index;
  /// The same with only pointers folded in: integer locals assigned once remain by name, so that
  /// text() compiles there.
  Polynomial source_index;
  std::vector<Polynomial>
      subscripts;  ///< one a dimension for a multi-dimensional array, outermost first
  int vector_width =
      1;  ///< elements a reinterpret_cast<float4*> takes at once; `index` counts elements
  std::vector<const Loop*> loops;    ///< enclosing, outermost first
  std::vector<const Guard*> guards;  ///< that hold here, outermost first
  /// In an expanded helper function, and `expr` is that of the call; or by a view whose elements
  /// are none of the array's (char* into float). The text of `expr` is no element then.
  bool in_helper = false;
  [[nodiscard]] bool reads() const { return kind != AccessKind::write; }
  [[nodiscard]] bool writes() const { return kind != AccessKind::read; }
};

enum class LoopClass : std::uint8_t {
  parallel,   ///< iterations are independent: they may run in any order or concurrently
  reduction,  ///< parallel except for accumulators combined by associative operators
  scan,       ///< an accumulator whose every prefix is used (stored) in its iteration
  serial,     ///< a dependence that the model does not understand, or opaque code
};

/// `target op= value` in a loop, in any spelling.
struct Reduction {
  ReduceOp op = ReduceOp::add;
  std::string accumulator;  ///< the variable's name; for an element in memory its text, "y[row]"
  const Expr* target = nullptr;    ///< the accumulator as written
  const Expr* value = nullptr;     ///< what is combined: e in s += e; for fma the call
  const Expr* factor_a = nullptr;  ///< of fma(a, b, s); then value is null
  const Expr* factor_b = nullptr;
  bool negated = false;                    ///< s -= e
  const Stmt* stmt = nullptr;              ///< the update (the if for `if (e > s) s = e;`)
  const Declarator* declarator = nullptr;  ///< of the variable; null for memory
  std::string type;                        ///< of the accumulator
  bool is_float = false;                   ///< reordering rounds differently
  int access = -1;                         ///< into KernelFacts::accesses for an element in memory
  bool prefix_used = false;  ///< the running value is read elsewhere in the loop (scan)
};

/// `if (e > best) { best = e; at = j; }` in a loop: the greatest or the least value, and what is
/// kept of the first iteration that has it.
struct Extremum {
  const Stmt* stmt = nullptr;                ///< the if
  std::vector<const Declarator*> variables;  ///< the value's, then the others
  bool greatest = true;
  std::size_t order = 0;  ///< of the variables the one that tells which iteration came first
  bool ascends = true;    ///< it grows from iteration to iteration
};

/// A counted loop, or any other (`counted` false).
struct Loop {
  const Stmt* stmt = nullptr;
  const Loop* parent = nullptr;
  std::vector<const Loop*> children;
  int depth = 0;
  bool counted = false;  ///< the members down to `trips` are valid
  std::string variable;
  const Declarator* declarator = nullptr;  ///< of the variable
  bool declared_inside = false;            ///< for (int j ...): the variable is dead after the loop
  bool descending = false;                 ///< counts down: `first` is the largest value, step < 0
  const Expr* first_expr = nullptr;        ///< as written; null if it starts from an earlier value
  const Expr* bound_expr = nullptr;        ///< the other side of the comparison, as written
  Polynomial first;                        ///< first value
  Polynomial end;  ///< exclusive bound: upper if ascending, lower if descending
  Polynomial source_first, source_end;  ///< with integer locals under their names
  Polynomial step;                      ///< added each time; negative if descending
  bool inclusive = false;               ///< written with <= or >=
  std::optional<Polynomial> trips;      ///< ceil((end - first) / step) if polynomial, not below 0
  std::optional<std::int64_t> trip_count;  ///< if constant in the source
  /// 0..2: strided over the block's threads on this axis (`j = threadIdx.x; j < C; j +=
  /// blockDim.x`); 3..5: over the grid.
  int thread_axis = -1;
  bool uniform = false;      ///< bounds equal for all threads of a block
  bool exits_early = false;  ///< break, return, goto out of it
  bool has_barrier = false;
  LoopClass kind = LoopClass::serial;
  std::string reason;  ///< why it is serial
  std::vector<Reduction> reductions;
  /// Of a serial loop whose iterations are independent but for these and `reductions`.
  std::vector<Extremum> extrema;
  std::vector<std::string>
      assigned;  ///< variables declared outside that the loop changes, accumulators included
  std::vector<std::string> inductions;  ///< of those, bumped by the same amount each time (`A +=
                                        ///< BK`): folded into indices
  std::vector<std::string>
      private_scalars;  ///< of those, set before use in each iteration (and so no dependence)
};

/// A variable that identifies the thread: i = blockIdx.x * blockDim.x + threadIdx.x.
struct ThreadIndex {
  std::string name;  ///< the local's name; empty if written out at its uses
  const Declarator* declarator = nullptr;
  int axis = 0;  ///< of the launch: 0 = x
  enum class Form : std::uint8_t { global, thread, block, other } form = Form::other;
  Polynomial value;
  /// Exclusive bound from the first `if` on it (`if (i < N)`, `if (i >= N) return;`) that covers
  /// the whole kernel: all stores to global memory, and accesses to it that depend on the index,
  /// are under it or under an equivalent one.
  std::optional<Polynomial> bound;
  const Guard* guard = nullptr;  ///< null without a bound; its `stmt` is an `if_` with an `expr`
  /// A guard that would bound it, if the launch had a thread for every value below: what it leaves
  /// undone a larger launch would do.
  bool beyond_launch = false;
};

/// The largest set of threads for which a value is the same.
enum class Uniformity : std::uint8_t { constant, grid, block, thread };

/// Estimate for one launch. Loads and stores are summed over threads in requested bytes; the
/// footprint is the data that must move.
struct WorkEstimate {
  double loaded_bytes = 0, stored_bytes = 0;  ///< summed over threads, global memory
  double footprint_bytes = 0;  ///< distinct elements times size, bounded by the spec's shapes
  double flops = 0;
  double threads = 0;
  bool exact_trips = true;  ///< false: a loop's trip count was guessed
};

[[nodiscard]] std::string_view name(LoopClass kind);
[[nodiscard]] std::string_view name(AccessKind kind);
[[nodiscard]] std::string_view name(Uniformity uniformity);

}  // namespace warpath::model
