#include "moves/blocks/block_value.h"
#include "moves/model/reduce_op.h"

#include <algorithm>
#include <array>
#include <limits>
#include <utility>

namespace warpath {
namespace {

using ValueKind = BlockValue::Kind;
using model::ReduceOp;
using Maybe = std::optional<BlockValue>;

constexpr auto kOperators =
    std::to_array<std::string_view>({"+", "-", "*", "/", "%", "<<", ">>", "&", "|", "^", "<",
                                     "<=", ">", ">=", "==", "!=", "min", "max"});

/// The operator that combines data.
std::optional<ReduceOp> reduction(BlockOp op) {
  switch (op) {
    case BlockOp::add:
      return ReduceOp::add;
    case BlockOp::multiply:
      return ReduceOp::multiply;
    case BlockOp::bit_and:
      return ReduceOp::bit_and;
    case BlockOp::bit_or:
      return ReduceOp::bit_or;
    case BlockOp::bit_xor:
      return ReduceOp::bit_xor;
    case BlockOp::minimum:
      return ReduceOp::minimum;
    case BlockOp::maximum:
      return ReduceOp::maximum;
    default:
      return std::nullopt;
  }
}

/// No index is larger, and sums of such numbers stay within 64 bits.
constexpr std::int64_t kLargest = std::int64_t{1} << 40;

bool takes_overlap(ReduceOp op) {
  return op == ReduceOp::minimum || op == ReduceOp::maximum || op == ReduceOp::bit_and ||
         op == ReduceOp::bit_or;
}

/// A number of its own for each value that is unknown at the start: sums of them say which values
/// were combined, and how often each.
std::uint64_t tag(int array, std::int64_t at) {
  std::uint64_t x = (static_cast<std::uint64_t>(array) << 32U) + static_cast<std::uint64_t>(at) + 1;
  for (int round = 0; round < 3; ++round) {
    x += 0x9e3779b97f4a7c15U;
    x = (x ^ (x >> 30U)) * 0xbf58476d1ce4e5b9U;
    x = (x ^ (x >> 27U)) * 0x94d049bb133111ebU;
    x ^= x >> 31U;
  }
  return x;
}

/// Values unknown at the start. The same ones once more change an idempotent operator's nothing.
Maybe gathered(const BlockValue& a, const BlockValue& b, ReduceOp op) {
  if (!a.is(ValueKind::several)) return is_identity(a, op, b.type) ? Maybe(b) : std::nullopt;
  if (!b.is(ValueKind::several)) return is_identity(b, op, a.type) ? Maybe(a) : std::nullopt;
  const auto fits = [&](const BlockValue& v) { return v.at == 1 || v.op == op; };
  if (a.array != b.array || a.type != b.type || !fits(a) || !fits(b)) return std::nullopt;
  if (a.at == b.at && a.end == b.end && takes_overlap(op)) return a;
  BlockValue out = a;
  out.op = op, out.at = a.at + b.at;
  out.end = static_cast<std::int64_t>(static_cast<std::uint64_t>(a.end) +
                                      static_cast<std::uint64_t>(b.end));
  return out;
}

/// What is left of a sum without its first or last elements.
Maybe without(const BlockValue& all, const BlockValue& part) {
  const bool sums = (all.elements() == 1 || all.op == ReduceOp::add) &&
                    (part.elements() == 1 || part.op == ReduceOp::add);
  if (!sums || all.array != part.array || all.per_block != part.per_block ||
      all.type != part.type || part.at < all.at || part.end > all.end)
    return std::nullopt;
  if (all.at == part.at && all.end == part.end) return BlockValue::integer(0);
  BlockValue out = all;
  if (part.end == all.end) return out.end = part.at, out;
  if (part.at == all.at) return out.at = part.end, out;
  return std::nullopt;
}

Maybe whole_numbers(BlockOp op, std::int64_t a, std::int64_t b) {
  const auto truth = [](bool value) { return BlockValue::integer(value ? 1 : 0); };
  constexpr std::int64_t kBits = 31;
  const bool shifts = a >= 0 && b >= 0 && b <= kBits;
  switch (op) {
    case BlockOp::divide:
      return b == 0 ? std::nullopt : Maybe(BlockValue::integer(a / b));
    case BlockOp::modulo:
      return b == 0 ? std::nullopt : Maybe(BlockValue::integer(a % b));
    case BlockOp::shift_left:
      return shifts && a <= kLargest >> b ? Maybe(BlockValue::integer(a << b)) : std::nullopt;
    case BlockOp::shift_right:
      return shifts ? Maybe(BlockValue::integer(a >> b)) : std::nullopt;
    case BlockOp::bit_and:
      return BlockValue::integer(a & b);
    case BlockOp::bit_or:
      return BlockValue::integer(a | b);
    case BlockOp::bit_xor:
      return BlockValue::integer(a ^ b);
    case BlockOp::minimum:
      return BlockValue::integer(std::min(a, b));
    case BlockOp::maximum:
      return BlockValue::integer(std::max(a, b));
    case BlockOp::less:
      return truth(a < b);
    case BlockOp::less_equal:
      return truth(a <= b);
    case BlockOp::greater:
      return truth(a > b);
    case BlockOp::greater_equal:
      return truth(a >= b);
    case BlockOp::equal:
      return truth(a == b);
    case BlockOp::not_equal:
      return truth(a != b);
    default:
      return std::nullopt;
  }
}

/// A comparison that grows or falls with the block, decided by the first and the last one.
Maybe in_all_blocks(BlockOp op, const BlockValue& a, const BlockValue& b, std::int64_t blocks) {
  const std::int64_t first = a.at - b.at, last = first + (a.per_block - b.per_block) * (blocks - 1);
  switch (op) {
    case BlockOp::equal:
    case BlockOp::not_equal:
      // It may hold somewhere between the ends.
      if (first != last && (first >= 0) != (last > 0) && (first > 0) != (last >= 0))
        return std::nullopt;
      [[fallthrough]];
    case BlockOp::less:
    case BlockOp::less_equal:
    case BlockOp::greater:
    case BlockOp::greater_equal: {
      const Maybe out = whole_numbers(op, first, 0);
      return out == whole_numbers(op, last, 0) ? out : std::nullopt;
    }
    default:
      return std::nullopt;
  }
}

Maybe integers(BlockOp op, const BlockValue& a, const BlockValue& b, std::int64_t blocks) {
  constexpr std::int64_t kFactor = std::int64_t{1} << 31;
  BlockValue out = BlockValue::integer(0);
  switch (op) {
    case BlockOp::add:
      out.at = a.at + b.at, out.per_block = a.per_block + b.per_block;
      break;
    case BlockOp::subtract:
      out.at = a.at - b.at, out.per_block = a.per_block - b.per_block;
      break;
    case BlockOp::multiply:
      if ((a.per_block != 0 && b.per_block != 0) ||
          std::max({a.at, a.per_block, b.at, b.per_block}) > kFactor ||
          std::min({a.at, a.per_block, b.at, b.per_block}) < -kFactor)
        return std::nullopt;
      out.at = a.at * b.at, out.per_block = a.per_block * b.at + a.at * b.per_block;
      break;
    default:
      return a.per_block == 0 && b.per_block == 0 ? whole_numbers(op, a.at, b.at)
                                                  : in_all_blocks(op, a, b, blocks);
  }
  const bool small = std::abs(out.at) < kLargest && std::abs(out.per_block) < kLargest;
  return small ? Maybe(out) : std::nullopt;
}

}  // namespace

BlockValue BlockValue::integer(std::int64_t value, std::int64_t per_block) {
  BlockValue out;
  out.kind = ValueKind::integer, out.at = value, out.per_block = per_block;
  return out;
}

BlockValue BlockValue::unknown(int array, std::int64_t at, DType type) {
  BlockValue out;
  out.kind = Kind::several, out.array = array, out.type = type;
  out.at = 1, out.end = static_cast<std::int64_t>(tag(array, at));
  return out;
}

BlockValue BlockValue::all_of(int array,
                              const std::vector<std::int64_t>& at,
                              ReduceOp op,
                              DType type) {
  BlockValue out = unknown(array, at.front(), type);
  std::uint64_t sum = 0;
  for (const std::int64_t k : at) sum += tag(array, k);
  out.op = op, out.at = static_cast<std::int64_t>(at.size());
  out.end = static_cast<std::int64_t>(sum);
  return out;
}

bool is_identity(const BlockValue& value, ReduceOp op, DType type) {
  if (value.is(ValueKind::infinite)) {
    return info(type).is_float &&
           ((op == ReduceOp::maximum && value.at < 0) || (op == ReduceOp::minimum && value.at > 0));
  }
  if (!value.is_number()) return false;
  switch (op) {
    case ReduceOp::add:
    case ReduceOp::bit_or:
    case ReduceOp::bit_xor:
      return value.at == 0;
    case ReduceOp::multiply:
      return value.at == 1;
    case ReduceOp::bit_and:
      return value.at == -1;
    case ReduceOp::maximum:
      return type == DType::i32 && value.at == std::numeric_limits<std::int32_t>::min();
    case ReduceOp::minimum:
      return type == DType::i32 && value.at == std::numeric_limits<std::int32_t>::max();
    default:
      return false;
  }
}

Maybe combined(const BlockValue& a, const BlockValue& b, ReduceOp op) {
  if (a.is(ValueKind::several) || b.is(ValueKind::several)) return gathered(a, b, op);
  if (!a.is(ValueKind::data)) {
    return b.is(ValueKind::data) && is_identity(a, op, b.type) ? Maybe(b) : std::nullopt;
  }
  if (!b.is(ValueKind::data)) return is_identity(b, op, a.type) ? Maybe(a) : std::nullopt;
  const auto fits = [&](const BlockValue& v) { return v.elements() == 1 || v.op == op; };
  if (a.array != b.array || a.per_block != b.per_block || a.type != b.type || !fits(a) || !fits(b))
    return std::nullopt;
  const bool adjacent = a.end == b.at || b.end == a.at;
  if (!adjacent && !(takes_overlap(op) && a.at <= b.end && b.at <= a.end)) return std::nullopt;
  BlockValue out = a;
  out.op = op, out.at = std::min(a.at, b.at), out.end = std::max(a.end, b.end);
  return out;
}

std::optional<BlockOp> block_op(std::string_view text) {
  const auto found = std::find(kOperators.begin(), kOperators.end(), text);
  if (found == kOperators.end()) return std::nullopt;
  return static_cast<BlockOp>(found - kOperators.begin());
}

Maybe binary(BlockOp op, const BlockValue& a, const BlockValue& b, std::int64_t blocks) {
  if (a.is(ValueKind::integer) && b.is(ValueKind::integer)) return integers(op, a, b, blocks);
  // Where nothing was assigned, nothing may be used: what is computed from it is no data, either.
  if (a.is(ValueKind::undefined) || b.is(ValueKind::undefined)) return BlockValue{};
  if (a.is(ValueKind::pointer) || b.is(ValueKind::pointer)) {
    const bool left = a.is(ValueKind::pointer);
    const BlockValue &base = left ? a : b, &step = left ? b : a;
    if (!step.is(ValueKind::integer) || !(op == BlockOp::add || (op == BlockOp::subtract && left)))
      return std::nullopt;
    const Maybe place = integers(op, BlockValue::integer(base.at, base.per_block), step, blocks);
    if (!place) return place;
    BlockValue out = base;
    out.at = place->at, out.per_block = place->per_block;
    return out;
  }
  if (op == BlockOp::subtract) {
    if (a.is(ValueKind::data) && b.is(ValueKind::data)) return without(a, b);
    return a.is(ValueKind::data) && is_identity(b, ReduceOp::add, a.type) ? Maybe(a) : std::nullopt;
  }
  const auto reduce = reduction(op);
  return reduce ? combined(a, b, *reduce) : std::nullopt;
}

Maybe converted(BlockValue value, DType type, std::int64_t blocks) {
  const DTypeInfo& to = info(type);
  if (value.is(ValueKind::integer)) {
    if (to.is_float) return value.is_number() ? Maybe(value) : std::nullopt;
    if (to.dtype == DType::boolean) {
      return value.is_number() ? Maybe(BlockValue::integer(value.at != 0 ? 1 : 0)) : std::nullopt;
    }
    if (to.is_signed && to.size_bytes == 8) return value;
    const int bits = static_cast<int>(to.size_bytes) * 8 - (to.is_signed ? 1 : 0);
    constexpr int kWidest = 62;
    const std::int64_t limit = std::int64_t{1} << std::min(bits, kWidest);
    for (const std::int64_t v : {value.at, value.at + value.per_block * (blocks - 1)}) {
      if (v >= limit || v < (to.is_signed ? -limit : 0)) return std::nullopt;
    }
    return value;
  }
  const bool several = value.is(ValueKind::several);
  if (!(several || value.is(ValueKind::data)) || value.type == type) return value;
  const DTypeInfo& from = info(value.type);
  const bool widens = from.is_float == to.is_float
                          ? to.size_bytes > from.size_bytes && (to.is_signed || !from.is_signed)
                          : to.dtype == DType::f64 && from.size_bytes <= 4;
  if ((several ? value.at : value.elements()) != 1 || !widens) return std::nullopt;
  value.type = type;
  return value;
}

}  // namespace warpath
