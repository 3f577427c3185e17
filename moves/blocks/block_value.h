#pragma once

#include <cstdint>
#include <optional>
#include <string_view>
#include <vector>

#include "engine/base/dtype.h"
#include "moves/model/facts.h"
#include "moves/model/reduce_op.h"

namespace warpath {

/// What a variable of a thread or an element of memory holds while a block runs on symbols
/// (block_run.h). Numbers, places and data may depend on the block: `per_block` times blockIdx.x is
/// added to them.
struct BlockValue {
  enum class Kind : std::uint8_t {
    undefined,  ///< nothing was assigned yet
    integer,    ///< `at`
    infinite,   ///< an infinity with the sign of `at`
    data,       ///< elements [at, end) of `array` under `op`, which counts from two elements on
    pointer,    ///< to element `at` of memory `array`
    several,  ///< `at` values unknown at the start, of source `array` under `op`; `end` says which
  };
  Kind kind = Kind::undefined;
  model::ReduceOp op = model::ReduceOp::add;
  DType type = DType::i32;  ///< of data
  std::int32_t array = 0;
  std::int64_t at = 0, end = 0, per_block = 0;

  [[nodiscard]] static BlockValue integer(std::int64_t value, std::int64_t per_block = 0);
  [[nodiscard]] bool is(Kind k) const { return kind == k; }
  /// What thread or element `at` of source `array` holds before anything runs.
  [[nodiscard]] static BlockValue unknown(int array, std::int64_t at, DType type);
  /// All of the values that `at` lists, under `op`.
  [[nodiscard]] static BlockValue all_of(int array,
                                         const std::vector<std::int64_t>& at,
                                         model::ReduceOp op,
                                         DType type);
  /// An integer that is the same in every block.
  [[nodiscard]] bool is_number() const { return kind == Kind::integer && per_block == 0; }
  [[nodiscard]] std::int64_t elements() const { return end - at; }
  bool operator==(const BlockValue&) const = default;
};

enum class BlockOp : std::uint8_t {
  add,
  subtract,
  multiply,
  divide,
  modulo,
  shift_left,
  shift_right,
  bit_and,
  bit_or,
  bit_xor,
  less,
  less_equal,
  greater,
  greater_equal,
  equal,
  not_equal,
  minimum,
  maximum,
};
/// Of a binary operator as written, "min" or "max"; nullopt for others.
[[nodiscard]] std::optional<BlockOp> block_op(std::string_view text);

/// True if `value` is the operator's neutral element among data of `type`.
[[nodiscard]] bool is_identity(const BlockValue& value, model::ReduceOp op, DType type);

/// Values unknown at the start combined with others of their source, whichever they are, or data
/// combined with data next to them in memory (of idempotent operators: or overlapping), or with the
/// neutral element. nullopt for everything else.
[[nodiscard]] std::optional<BlockValue> combined(const BlockValue& a,
                                                 const BlockValue& b,
                                                 model::ReduceOp op);

/// `a` op `b` as C computes it, for integers, pointers and data; comparisons must have the same
/// result in all `blocks`. nullopt where that is unknown.
[[nodiscard]] std::optional<BlockValue> binary(BlockOp op,
                                               const BlockValue& a,
                                               const BlockValue& b,
                                               std::int64_t blocks);

/// The value after a conversion to `type`; nullopt if it might change: sums of a narrower type stay
/// what they are.
[[nodiscard]] std::optional<BlockValue> converted(BlockValue value,
                                                  DType type,
                                                  std::int64_t blocks);

}  // namespace warpath
