#include "engine/search/strategy_state.h"

#include <bit>

#include "engine/base/error.h"

namespace warpath {
namespace {

constexpr std::size_t kPiece = std::size_t{1} << 18U;

}  // namespace

void StrategyState::fail() const {
  throw bad_input(place_, "the strategy's state", "one that this strategy wrote for this graph");
}

// Seven bits a byte, the lowest first; the highest bit says that more follow.
void StrategyState::put(std::uint64_t x) {
  for (; x >= 0x80; x >>= 7U) written_ += static_cast<char>(x | 0x80U);
  written_ += static_cast<char>(x);
  if (written_.size() >= kPiece && sink_) pass_on();
}

void StrategyState::pass_on() {
  sink_(written_);
  written_.clear();
}

void StrategyState::refill() {
  if (to_come_ == 0) fail();
  left_ = source_();
  if (left_.empty() || left_.size() > to_come_) fail();
  to_come_ -= left_.size();
}

std::uint64_t StrategyState::get() {
  std::uint64_t out = 0;
  for (unsigned shift = 0;; shift += 7) {
    if (shift > 63) fail();
    if (left_.empty()) refill();
    const auto byte = static_cast<unsigned char>(left_.front());
    left_.remove_prefix(1);
    out |= std::uint64_t{byte & 0x7FU} << shift;
    if (byte < 0x80) return out;
  }
}

std::size_t StrategyState::size(std::size_t now) {
  std::uint64_t count = now;
  keep(count);
  if (reads_ && count > left_.size() + to_come_) fail();
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
    if (text.size() >= kPiece && sink_) {
      pass_on();
      sink_(text);
    } else {
      written_ += text;
    }
    return;
  }
  text.clear();
  while (text.size() < count) {
    if (left_.empty()) refill();
    const std::string_view part = left_.substr(0, count - text.size());
    text += part;
    left_.remove_prefix(part.size());
  }
}

void StrategyState::keep(NodeId& node) {
  std::uint32_t number = index(node) + 1;  // kNoNode is 0
  keep(number);
  if (reads_ && number > nodes_) fail();
  node = NodeId{number - 1};
}

void StrategyState::keep(KeyTable& all) {
  const std::size_t count = size(all.size());
  if (reads_) all = {};
  for (std::uint32_t i = 0; i < count; ++i) {
    Hash128 key = reads_ ? Hash128() : all[i];
    keep(key);
    if (reads_ && !all.insert(key).created) fail();
  }
}

void StrategyState::keep(Rng& rng) {
  Rng::State state = rng.state();
  for (std::uint64_t& word : state) keep(word);
  rng = Rng(state);
}

}  // namespace warpath
