#include "runners/host/execute/warp_operation.h"

#include <algorithm>
#include <bit>
#include <cstdint>

#include "runners/host/shim/warpath_abi.h"

namespace warpath::host {
namespace {

template <class Visit>
void each(unsigned mask, Visit visit) {
  for (; mask != 0; mask &= mask - 1) visit(static_cast<unsigned>(std::countr_zero(mask)));
}

/// Source lane as in the PTX manual (shfl.sync): within segments of `width` lanes; out of range =
/// own value.
unsigned long long shuffle(
    int op, const WarpOperands& operands, unsigned lane, int argument, int width) {
  const bool valid_width =
      width == 1 || width == 2 || width == 4 || width == 8 || width == 16 || width == 32;
  if (!valid_width) return ~0ULL;
  const int own = static_cast<int>(lane), first = own & ~(width - 1);
  int source = own;
  switch (op) {
    case kWarpathShuffleIndex:
      source = first + (argument & (width - 1));
      break;
    case kWarpathShuffleUp:
      source = static_cast<unsigned>(argument) > static_cast<unsigned>(own - first)
                   ? own
                   : own - argument;
      break;
    case kWarpathShuffleDown:
      source = static_cast<unsigned>(argument) >= static_cast<unsigned>(first + width - own)
                   ? own
                   : own + argument;
      break;
    case kWarpathShuffleXor:
      source = own ^ (argument & 31);
      if (source >= first + width) source = own;
      break;
    default:
      break;
  }
  return (operands.active >> source & 1U) != 0 ? operands.value[source] : operands.absent;
}

template <class T, class Combine>
unsigned long long reduce(const WarpOperands& operands, Combine combine) {
  bool first = true;
  T total{};
  each(operands.active, [&](unsigned i) {
    const T value = static_cast<T>(static_cast<std::uint32_t>(operands.value[i]));
    total = first ? value : combine(total, value);
    first = false;
  });
  return static_cast<std::uint32_t>(total);
}

unsigned matching(const WarpOperands& operands, unsigned long long value) {
  unsigned mask = 0;
  each(operands.active, [&](unsigned i) { mask |= operands.value[i] == value ? 1U << i : 0U; });
  return mask;
}

}  // namespace

unsigned long long warp_result(
    int op, const WarpOperands& operands, unsigned lane, int argument, int width) {
  const auto ballot = [&] { return operands.active & ~matching(operands, 0); };
  using U = std::uint32_t;
  using S = std::int32_t;
  switch (op) {
    case kWarpathShuffleIndex:
    case kWarpathShuffleUp:
    case kWarpathShuffleDown:
    case kWarpathShuffleXor:
      return shuffle(op, operands, lane, argument, width);
    case kWarpathAny:
      return ballot() != 0 ? 1 : 0;
    case kWarpathAll:
      return ballot() == operands.active ? 1 : 0;
    case kWarpathBallot:
      return ballot();
    case kWarpathMatchAny:
      return matching(operands, operands.value[lane]);
    case kWarpathMatchAll: {
      const unsigned same = matching(operands, operands.value[lane]);
      return same == operands.active ? same : 0;
    }
    case kWarpathReduceAdd:
      return reduce<U>(operands, [](U a, U b) { return a + b; });
    case kWarpathReduceMinSigned:
      return reduce<S>(operands, [](S a, S b) { return std::min(a, b); });
    case kWarpathReduceMaxSigned:
      return reduce<S>(operands, [](S a, S b) { return std::max(a, b); });
    case kWarpathReduceMinUnsigned:
      return reduce<U>(operands, [](U a, U b) { return std::min(a, b); });
    case kWarpathReduceMaxUnsigned:
      return reduce<U>(operands, [](U a, U b) { return std::max(a, b); });
    case kWarpathReduceAnd:
      return reduce<U>(operands, [](U a, U b) { return a & b; });
    case kWarpathReduceOr:
      return reduce<U>(operands, [](U a, U b) { return a | b; });
    case kWarpathReduceXor:
      return reduce<U>(operands, [](U a, U b) { return a ^ b; });
    default:
      return 0;
  }
}

}  // namespace warpath::host
