#include "engine/search/strategy_state.h"

#include <bit>

#include "engine/base/error.h"

namespace warpath {

void StrategyState::fail() const {
  throw bad_input(place_, "the strategy's state", "one that this strategy wrote for this graph");
}

// Seven bits a byte, the lowest first; the highest bit says that more follow.
void StrategyState::put(std::uint64_t x) {
  for (; x >= 0x80; x >>= 7U) written_ += static_cast<char>(x | 0x80U);
  written_ += static_cast<char>(x);
}

std::uint64_t StrategyState::get() {
  std::uint64_t out = 0;
  for (unsigned shift = 0;; shift += 7) {
    if (left_.empty() || shift > 63) fail();
    const auto byte = static_cast<unsigned char>(left_.front());
    left_.remove_prefix(1);
    out |= std::uint64_t{byte & 0x7FU} << shift;
    if (byte < 0x80) return out;
  }
}

std::size_t StrategyState::size(std::size_t now) {
  std::uint64_t count = now;
  keep(count);
  if (reads_ && count > left_.size()) fail();
  return count;
}

void StrategyState::keep(double& x) {
  // the bytes reversed: round numbers end in zeros
  auto bits = __builtin_bswap64(std::bit_cast<std::uint64_t>(x));
  keep(bits);
  x = std::bit_cast<double>(__builtin_bswap64(bits));
}

void StrategyState::keep(float& x) {
  auto wide = static_cast<double>(x);
  keep(wide);
  x = static_cast<float>(wide);
}

void StrategyState::keep(std::string& text) {
  const std::size_t count = size(text.size());
  if (!reads_) {
    written_ += text;
    return;
  }
  text = left_.substr(0, count);
  left_.remove_prefix(count);
}

void StrategyState::keep(NodeId& node) {
  std::uint32_t number = index(node) + 1;  // kNoNode is 0
  keep(number);
  if (reads_ && number > nodes_) fail();
  node = NodeId{number - 1};
}

void StrategyState::keep(Rng& rng) {
  Rng::State state = rng.state();
  for (std::uint64_t& word : state) keep(word);
  rng = Rng(state);
}

}  // namespace warpath
