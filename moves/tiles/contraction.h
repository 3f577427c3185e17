#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "engine/plugin/move.h"
#include "engine/spec/expression.h"

namespace warpath {

/// An index of the output that the launch distributes over blocks and threads, or over blocks alone
/// (a batch).
struct ContractionAxis {
  /// the kernel's variable, e.g. "row"; empty: there is no such axis
  std::string name;
  std::string type = "int";     ///< as declared
  std::size_t launch_axis = 0;  ///< 0, 1, 2: the grid axis that distributes it
  bool threaded = false;        ///< blockIdx * blockDim + threadIdx; false: blockIdx alone
  /// its exclusive end from the guard, C text: "M", "off[G]"; empty without a guard
  std::string extent;
  /// the end over names of the launch plan: "M", "ROWS"; never empty
  std::string launch_extent;
  /// value of `extent` (without a guard: of launch_extent) if it is the same for every launch
  std::optional<std::int64_t> size;
};

/// One statement before the reduction loop, in order, except guards and statements that define the
/// axes.
struct ContractionStatement {
  std::string text;                  ///< as written, without indentation of its first line
  std::vector<std::string> defines;  ///< names it declares or writes
  std::vector<std::string> uses;     ///< names it reads
  bool on_m = false;                 ///< depends on the m axis, directly or not
  bool on_n = false;
};

/// One of the two factors. All text is C in the kernel's names and is valid wherever the axes, `k`
/// and the prologue's names are declared with the wanted values, so that a tile's loader can
/// declare `int row = ..., k = ...;` and insert it.
struct ContractionOperand {
  std::string pointer;   ///< the kernel's parameter, e.g. "A"
  std::string argument;  ///< the spec's name for it
  /// pointee type, without const: "float", "__nv_bfloat16", "signed char"
  std::string element;
  std::size_t element_bytes = 0;
  /// "A[(b * K + k) * M + m]": in terms of the parameter, aliases resolved
  std::string load;
  std::string index;  ///< the text in its brackets
  /// the whole factor: "__bfloat162float(A[...])"; equal to `load` without conversion
  std::string value;
  std::string value_type;    ///< type of `value`: "float"
  std::string value_prefix;  ///< text before and after the load in `value`
  std::string value_suffix;
  /// the index grows by 1 with k ("row-major A", "column-major B")
  bool k_contiguous = false;
  bool outer_contiguous = false;  ///< the index grows by 1 with m (or n)
  /// C text of the growth with k and with m (or n); "1" where contiguous
  std::string k_stride;
  std::string outer_stride;
  std::optional<std::int64_t> k_stride_size;  ///< where it is a constant
  std::optional<std::int64_t> outer_stride_size;
  /// Elements (a power of two, at most 16 bytes) that one access can move along the contiguous
  /// index, if that index is at a multiple of it: base, all other terms and the extent along that
  /// index are multiples. 1: nothing is known.
  int vector = 1;
};

/// Rows of the output in groups: group g has the rows [offsets[g], offsets[g + 1]), and `group` is
/// found by a search in the prologue.
struct ContractionGroups {
  std::string offsets;       ///< the kernel's parameter, "off"
  std::string group;         ///< the variable, "g"
  std::string count;         ///< C text of the number of groups: "G"
  std::string launch_count;  ///< the same over names of the launch plan
};

/// Output[m, n, batch] = epilogue(sum over k of a(m, k) * b(n, k)), with one thread per output, as
/// recognised in the kernel of a variant.
///
///     parameters { definitions of the axes; guards; prologue; T acc = init; for (k) acc += a * b;
///     epilogue }
///
/// m and n are named such that the output is contiguous in n if it is contiguous at all.
struct Contraction {
  /// batch: another grid axis, defined in the prologue
  ContractionAxis m, n, batch;
  std::string k;  ///< the loop's variable
  std::string k_type = "int";
  std::string k_extent;  ///< C text; the loop runs over [0, k_extent)
  std::optional<std::int64_t> k_size;
  ContractionOperand a, b;  ///< a depends on m, b on n
  /// text added to the accumulator with the factors as "$a" and "$b": "$a * $b"
  std::string product;
  std::string accumulator;       ///< accumulator's name, "sum"
  std::string accumulator_type;  ///< "float", "int", "double"
  std::string initial;           ///< C text of its initial value: "0.0f"
  /// statements that add what the sum of an output starts from, where that depends on the output
  /// ("val += bias[o];"); part of the epilogue
  std::string start;
  std::vector<ContractionStatement> prologue;
  /// conditions that must hold besides m < m.extent and n < n.extent
  std::vector<std::string> guards;
  /// statements after the loop, as written, first line unindented
  std::string epilogue;
  /// pointer that the epilogue stores to; empty if the epilogue is not a single store
  std::string output;
  std::string output_element;
  std::string output_index;   ///< text in the brackets
  std::string output_value;   ///< text on the right of "="
  std::string output_before;  ///< statements of the epilogue before the store
  bool output_n_contiguous = false;
  int output_vector = 1;  ///< as ContractionOperand::vector, along n
  std::optional<ContractionGroups> groups;

  /// Grid axes for the tiles of m and n: a new launch distributes them over these (two of 0, 1, 2;
  /// the batch keeps its own).
  std::size_t m_grid_axis = 1, n_grid_axis = 0;

  /// Byte ranges of the source: the kernel's body without braces, and its parameter list with
  /// parentheses.
  std::size_t body_begin = 0, body_end = 0;
  std::size_t parameters_begin = 0, parameters_end = 0;

  /// Prologue statements needed by `text`, in order, one per line, indented by `indent`. Assumes
  /// axes, k and the accumulator to be declared. Omits the search for a ragged group: declare the
  /// group's variable first.
  [[nodiscard]] std::string prologue_for(std::string_view text, std::string_view indent) const;
  /// The prologue's statements that are independent of m and n (constants, batch index and batch
  /// offsets), in order, indented by `indent`, to be put once at the top of a new body.
  /// prologue_for omits them.
  [[nodiscard]] std::string uniform_prologue(std::string_view indent) const;
};

/// Recognises the contraction in the variant's kernel; nullopt with one line in `why` if it is not
/// provably of this form.
[[nodiscard]] std::optional<Contraction> find_contraction(const MoveContext& context,
                                                          std::string& why);

/// True if the identifier `name` occurs in the C text (not as a member).
[[nodiscard]] bool mentions_name(std::string_view text, std::string_view name);

/// `text` with every occurrence of the identifier `name` replaced by `by` (members and literals are
/// left alone).
[[nodiscard]] std::string replace_name(std::string_view text,
                                       std::string_view name,
                                       std::string_view by);

}  // namespace warpath
