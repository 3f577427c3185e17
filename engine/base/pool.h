#pragma once

#include <algorithm>
#include <cstddef>
#include <memory>
#include <type_traits>
#include <utility>

#include "engine/base/block.h"

namespace warpath {

/// A growing array of plain values. As std::vector, but in a block that grows by moving pages
/// (grow_block): there are never two copies, and memory beyond the last element is not touched.
template <class T>
class Pool {
  static_assert(std::is_trivially_copyable_v<T> && std::is_trivially_destructible_v<T>);

 public:
  Pool() = default;
  Pool(Pool&& other) noexcept
      : data_(std::move(other.data_)),
        size_(std::exchange(other.size_, 0)),
        capacity_(std::exchange(other.capacity_, 0)) {}
  Pool& operator=(Pool&& other) noexcept {
    data_ = std::move(other.data_);
    size_ = std::exchange(other.size_, 0);
    capacity_ = std::exchange(other.capacity_, 0);
    return *this;
  }
  Pool(const Pool& other) { *this = other; }
  Pool& operator=(const Pool& other) {
    if (this == &other) return *this;
    reserve(other.size_);
    std::copy(other.data(), other.data() + other.size_, data());
    size_ = other.size_;
    return *this;
  }
  ~Pool() = default;

  [[nodiscard]] std::size_t size() const { return size_; }
  [[nodiscard]] bool empty() const { return size_ == 0; }
  [[nodiscard]] T* data() { return data_.get(); }
  [[nodiscard]] const T* data() const { return data_.get(); }
  [[nodiscard]] T& operator[](std::size_t i) { return data()[i]; }
  [[nodiscard]] const T& operator[](std::size_t i) const { return data()[i]; }
  [[nodiscard]] T* begin() { return data(); }
  [[nodiscard]] T* end() { return data() + size_; }
  [[nodiscard]] const T* begin() const { return data(); }
  [[nodiscard]] const T* end() const { return data() + size_; }
  [[nodiscard]] T& back() { return data()[size_ - 1]; }
  [[nodiscard]] const T& back() const { return data()[size_ - 1]; }
  void push_back(T element) {
    if (size_ == capacity_) reserve(std::max(kLeast, 2 * capacity_));
    data()[size_++] = element;
  }
  /// New ones are `element`.
  void resize(std::size_t size, T element = {}) {
    if (size > capacity_) reserve(std::max(size, 2 * capacity_));
    if (size > size_) std::fill(end(), data() + size, element);
    size_ = size;
  }
  /// Throws std::bad_alloc if there is no memory for as many.
  void reserve(std::size_t capacity) {
    if (capacity <= capacity_) return;
    void* const grown =
        grow_block(static_cast<void*>(data()), capacity_ * sizeof(T), capacity * sizeof(T));
    static_cast<void>(data_.release());  // it is another now
    data_ = {static_cast<T*>(grown), Free{capacity * sizeof(T)}};
    capacity_ = capacity;
  }

 private:
  static constexpr std::size_t kLeast = 16;
  struct Free {
    std::size_t bytes = 0;
    void operator()(T* data) const { free_block(static_cast<void*>(data), bytes); }
  };

  std::unique_ptr<T, Free> data_;
  std::size_t size_ = 0, capacity_ = 0;
};

}  // namespace warpath
