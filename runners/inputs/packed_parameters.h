#pragma once

#include <cstddef>
#include <cstring>
#include <span>
#include <vector>

#include "engine/spec/parameters.h"

namespace warpath {

/// Pointers to a kernel's parameters, from pointers to its arguments: a struct's members are copied
/// into its bytes, whose padding is zero. What follows the arguments (scratch buffers) follows the
/// parameters. Borrows the layouts.
class PackedParameters {
 public:
  PackedParameters(const std::vector<ParameterLayout>& layouts, std::span<void* const> arguments) {
    std::size_t passed = 0;
    for (const ParameterLayout& layout : layouts) {
      passed += layout.members.size();
      if (layout.struct_name.empty()) {
        pointers_.push_back(arguments[layout.members.front()]);
        continue;
      }
      // its elements are aligned for any member
      std::vector<std::max_align_t>& bytes = structs_.emplace_back(
          (layout.size_bytes + sizeof(std::max_align_t) - 1) / sizeof(std::max_align_t));
      auto* const begin = reinterpret_cast<std::byte*>(bytes.data());
      std::memset(begin, 0, bytes.size() * sizeof(std::max_align_t));
      for (std::size_t m = 0; m < layout.members.size(); ++m)
        std::memcpy(begin + layout.offsets[m], arguments[layout.members[m]], layout.sizes[m]);
      pointers_.push_back(begin);
    }
    for (std::size_t i = passed; i < arguments.size(); ++i) pointers_.push_back(arguments[i]);
  }
  [[nodiscard]] std::vector<void*>& pointers() { return pointers_; }

 private:
  std::vector<void*> pointers_;
  std::vector<std::vector<std::max_align_t>> structs_;
};

}  // namespace warpath
