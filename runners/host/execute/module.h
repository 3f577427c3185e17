#pragma once

#include <cstddef>
#include <span>
#include <string>
#include <vector>

#include "runners/host/shim/warpath_abi.h"

namespace warpath::host {

/// A compiled candidate loaded into this process. Loading runs its static constructors, so only
/// worker processes do it.
class Module {
 public:
  Module() = default;
  /// False, with one line in `why`, if the file cannot be loaded or has no entry of index `kernel`.
  /// `descriptor`: the open file, for a process that may not open files.
  Module(const std::string& path, int descriptor, std::size_t kernel, std::string& why);
  ~Module();
  Module(const Module&) = delete;
  Module& operator=(const Module&) = delete;
  Module(Module&& other) noexcept;
  Module& operator=(Module&& other) noexcept;

  [[nodiscard]] explicit operator bool() const { return handle_ != nullptr; }
  [[nodiscard]] const WarpathEntry& entry() const { return *entry_; }
  /// Size of the statically declared shared variables, in bytes.
  [[nodiscard]] std::size_t shared_bytes() const { return shared_bytes_; }
  /// This OS thread's copy of the shared variables; null if there are none.
  [[nodiscard]] void* shared() const;
  /// Where its code, constants and globals lie, from the first to the last.
  [[nodiscard]] std::span<const std::byte> image() const { return image_; }
  /// Contents of all the module's writable memory that outlives a launch: globals and function
  /// statics.
  [[nodiscard]] std::vector<std::byte> state() const;
  /// Sets it to what state() was.
  void restore(const std::vector<std::byte>& state);

 private:
  struct Segment {
    std::byte* begin;
    std::size_t size;
  };
  void* handle_ = nullptr;
  const WarpathEntry* entry_ = nullptr;
  std::size_t shared_bytes_ = 0;
  std::span<const std::byte> image_;
  std::vector<Segment> writable_;
};

}  // namespace warpath::host
