#include <algorithm>
#include <cstdint>

#include "runners/host/execute/block.h"

/// Of BlockRunner: which memory an access of kernel code concerns.
namespace warpath::host {
namespace {

bool in(const void* address, const std::byte* begin, std::size_t size) {
  if (begin == nullptr) return false;
  const auto a = reinterpret_cast<std::uintptr_t>(address),
             b = reinterpret_cast<std::uintptr_t>(begin);
  return b <= a && a - b < size;
}

}  // namespace

void BlockRunner::know_memory() {
  const WarpathEntry& entry = plan_->module->entry();
  known_ = {std::as_bytes(std::span(&warpath_thread, 1)),
            std::as_bytes(std::span(plan_->arguments, entry.parameter_count)),
            plan_->module->image(),
            {stacks_.begin, stacks_.size},
            {plain_stack_.begin, plain_stack_.size},
            {shared_memory_.begin, shared_memory_.size}};
  for (unsigned i = 0; i < entry.parameter_count; ++i)
    known_.emplace_back(static_cast<const std::byte*>(plan_->arguments[i]),
                        entry.parameters[i].size_bytes);
  for (const Buffer& tensor : plan_->tensors) known_.push_back(tensor.mapping());
}

/// What is near shared memory, not within it, and nothing else that there is.
std::optional<std::int64_t> BlockRunner::outside_shared(const void* address,
                                                        std::size_t bytes) const {
  const auto number = [](const void* p) { return reinterpret_cast<std::uintptr_t>(p); };
  const std::uintptr_t first = number(address), last = first + bytes;
  const auto beside = [&](const std::byte* memory,
                          std::size_t size) -> std::optional<std::int64_t> {
    const std::uintptr_t begin = number(memory), end = begin + size;
    if (first >= begin && last <= end) return std::nullopt;
    return first < begin ? -static_cast<std::int64_t>(begin - first)
                         : static_cast<std::int64_t>(std::max(first, end) - end);
  };
  if (in(address, shared_memory_.begin, dynamic_capacity_))
    return beside(dynamic_shared_, plan_->dynamic_shared_bytes);
  const std::size_t size = plan_->module->shared_bytes();
  const auto is_near = [&] {
    return first - (number(static_shared_) - kSharedGuard) < size + 2 * kSharedGuard;
  };
  if (size == 0 || !is_near()) return std::nullopt;
  const auto offset = beside(static_shared_, size);
  const bool known = offset && std::ranges::any_of(known_, [&](std::span<const std::byte> memory) {
                       return in(address, memory.data(), memory.size());
                     });
  return known ? std::nullopt : offset;
}

void BlockRunner::note(const OutsideAccess& found) {
  if (outside_.tensor < 0 || found < outside_) outside_ = found;
}

void BlockRunner::look_at(const volatile void* address, std::size_t bytes) {
  for (std::size_t i = 0; i < plan_->tensors.size(); ++i) {
    const auto offset = plan_->tensors[i].outside(address, bytes);
    if (!offset) continue;
    note({static_cast<std::int32_t>(i), *offset});
  }
  if (const auto offset = outside_shared(const_cast<const void*>(address), bytes))
    note({OutsideAccess::kShared, *offset});
}

bool BlockRunner::in_stack_guard(const void* address) const {
  if (in(address, plain_stack_.begin, kPage)) return true;
  if (!in(address, stacks_.begin, stacks_.size)) return false;
  const auto offset =
      static_cast<std::size_t>(static_cast<const std::byte*>(address) - stacks_.begin);
  return offset % (kPage + kThreadStack) < kPage;
}

bool BlockRunner::in_shared_guard(const void* address) const {
  return shared_memory_.begin != nullptr &&
         in(address, shared_memory_.begin + dynamic_capacity_, kSharedGuard);
}

}  // namespace warpath::host
