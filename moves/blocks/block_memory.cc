#include "moves/blocks/block_memory.h"

#include <algorithm>

namespace warpath {
namespace {

constexpr int kThreadsOfWarp = 32;
/// Elements of a shared array whose size the launch sets.
constexpr std::int64_t kMostShared = std::int64_t{1} << 16;

BlockValue element_of(const BlockMemory& memory, BlockMemory::Element element) {
  BlockValue out;
  out.kind = BlockValue::Kind::data, out.type = memory.type, out.array = memory.array;
  out.at = element.at, out.end = element.at + 1, out.per_block = element.per_block;
  return out;
}

}  // namespace

void BlockMemory::Visit::add(int by, const Clock& now) {
  const int of = by / kThreadsOfWarp;
  const std::int32_t time = now.warps[static_cast<std::size_t>(of)];
  // An earlier visit by this warp, before the warp's last barrier, need not be kept: what races
  // with it races with the new one, too.
  const bool again = block_time == now.block && (warp != of || warp_time == time);
  thread = again && thread != by ? kSeveral : by;
  warp = again && warp != of ? kSeveral : of;
  block_time = now.block, warp_time = time;
}

/// True if a barrier lies between the visit and now, or if it was the same thread.
bool BlockMemory::Visit::is_apart(int from, const Clock& now) const {
  if (block_time != now.block || thread == from) return true;
  const int of = from / kThreadsOfWarp;
  return warp == of && warp_time != now.warps[static_cast<std::size_t>(of)];
}

BlockMemory::Cell* BlockMemory::cell(Element element, std::string& why) {
  if (element.at < 0 || (size > 0 && element.at >= size)) {
    return why = "an element outside of " + name + " is used", nullptr;
  }
  if (per_block_.value_or(element.per_block) != element.per_block)
    return why = "blocks use " + name + " at several distances", nullptr;
  per_block_ = element.per_block;
  if (global) {
    const auto [found, fresh] = sparse_.try_emplace(element.at);
    if (fresh) found->second.value = element_of(*this, element);
    return &found->second;
  }
  if (element.per_block != 0 || element.at >= kMostShared)
    return why = "an element outside of " + name + " is used", nullptr;
  const auto at = static_cast<std::size_t>(element.at);
  if (at >= dense_.size())
    dense_.resize(std::max({at + 1, 2 * dense_.size(), static_cast<std::size_t>(size)}));
  return &dense_[at];
}

std::optional<BlockValue> BlockMemory::load(Element element,
                                            int thread,
                                            const Clock& now,
                                            std::string& why) {
  if (global && !written) {
    if (element.at < 0) return why = "an element before " + name + " is used", std::nullopt;
    loaded_end_ = std::max(loaded_end_, element.at + 1);
    return element_of(*this, element);
  }
  Cell* c = cell(element, why);
  if (c == nullptr) return std::nullopt;
  if (!c->write.is_apart(thread, now)) {
    return why = "a thread reads an element of " + name +
                 " that another one writes without a barrier between them",
           std::nullopt;
  }
  c->read.add(thread, now);
  if (global && !c->stored) loaded_end_ = std::max(loaded_end_, element.at + 1);
  if (unknown && !c->stored) {
    waits_first_ = waits_first_ || now.block > 0;
    return BlockValue::unknown(array, element.at, type);
  }
  return c->value;
}

bool BlockMemory::store(
    Element element, const BlockValue& value, int thread, const Clock& now, std::string& why) {
  if (global && !written) return why = name + " is written in an unknown way", false;
  Cell* c = cell(element, why);
  if (c == nullptr) return false;
  if (!c->read.is_apart(thread, now) || !c->write.is_apart(thread, now)) {
    return why = "a thread writes an element of " + name +
                 " that another one uses without a barrier between them",
           false;
  }
  c->write.add(thread, now);
  c->value = value;
  return c->stored = true;
}

std::vector<BlockMemory::Left> BlockMemory::left() const {
  std::vector<Left> out(dense_.size());
  for (std::size_t k = 0; k < dense_.size(); ++k) out[k] = {dense_[k].stored, dense_[k].value};
  return out;
}

std::map<std::int64_t, BlockValue> BlockMemory::stored() const {
  std::map<std::int64_t, BlockValue> out;
  for (const auto& [at, cell] : sparse_) {
    if (cell.stored) out.emplace(at, cell.value);
  }
  return out;
}

}  // namespace warpath
