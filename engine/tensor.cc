#include "engine/tensor.h"

#include <cmath>
#include <cstring>
#include <limits>
#include <type_traits>

#include "engine/error.h"

namespace warpath {
namespace {

template <class T>
T load(const Tensor& tensor, std::int64_t i) {
  T value;
  std::memcpy(&value, tensor.bytes.data() + static_cast<std::size_t>(i) * sizeof(T), sizeof(T));
  return value;
}

template <class T>
void store(Tensor& tensor, std::int64_t i, T value) {
  std::memcpy(tensor.bytes.data() + static_cast<std::size_t>(i) * sizeof(T), &value, sizeof(T));
}

/// To nearest even, NaN to 0, saturating.
template <class T>
T to_integer(double value) {
  if (std::isnan(value)) return 0;
  const double rounded = std::nearbyint(value);
  constexpr auto kLow = static_cast<double>(std::numeric_limits<T>::min());
  constexpr auto kHigh = static_cast<double>(std::numeric_limits<T>::max());
  if (rounded <= kLow) return std::numeric_limits<T>::min();
  if (rounded >= kHigh) return std::numeric_limits<T>::max();
  return static_cast<T>(rounded);
}

/// double -> binary16 and bfloat16 go through float by "round to odd", so that rounding happens once.
float to_float_for_narrowing(double value) {
  const auto near = static_cast<float>(value);
  if (!std::isfinite(near) || static_cast<double>(near) == value) return near;
  float low = near, high = near;
  if (static_cast<double>(near) > value) {
    low = std::nextafter(near, -std::numeric_limits<float>::infinity());
  } else {
    high = std::nextafter(near, std::numeric_limits<float>::infinity());
  }
  std::uint32_t bits = 0;
  std::memcpy(&bits, &low, sizeof bits);
  return (bits & 1U) != 0 ? low : high;
}

}  // namespace

std::int64_t Tensor::elements() const {
  std::int64_t product = 1;
  for (const std::int64_t extent : shape) product *= extent;
  return product;
}

double Tensor::at(std::int64_t i) const {
  switch (dtype) {
    case DType::f64: return load<double>(*this, i);
    case DType::f32: return static_cast<double>(load<float>(*this, i));
    case DType::f16: return static_cast<double>(half_to_float(load<std::uint16_t>(*this, i)));
    case DType::bf16: return static_cast<double>(bfloat16_to_float(load<std::uint16_t>(*this, i)));
    case DType::i64: return static_cast<double>(load<std::int64_t>(*this, i));
    case DType::i32: return load<std::int32_t>(*this, i);
    case DType::i16: return load<std::int16_t>(*this, i);
    case DType::i8: return load<std::int8_t>(*this, i);
    case DType::u64: return static_cast<double>(load<std::uint64_t>(*this, i));
    case DType::u32: return load<std::uint32_t>(*this, i);
    case DType::u16: return load<std::uint16_t>(*this, i);
    case DType::u8:
    case DType::boolean: return load<std::uint8_t>(*this, i);
  }
  return 0;
}

void Tensor::set(std::int64_t i, double value) {
  switch (dtype) {
    case DType::f64: return store(*this, i, value);
    case DType::f32: return store(*this, i, static_cast<float>(value));
    case DType::f16: return store(*this, i, float_to_half(to_float_for_narrowing(value)));
    case DType::bf16: return store(*this, i, float_to_bfloat16(to_float_for_narrowing(value)));
    case DType::i64: return store(*this, i, to_integer<std::int64_t>(value));
    case DType::i32: return store(*this, i, to_integer<std::int32_t>(value));
    case DType::i16: return store(*this, i, to_integer<std::int16_t>(value));
    case DType::i8: return store(*this, i, to_integer<std::int8_t>(value));
    case DType::u64: return store(*this, i, to_integer<std::uint64_t>(value));
    case DType::u32: return store(*this, i, to_integer<std::uint32_t>(value));
    case DType::u16: return store(*this, i, to_integer<std::uint16_t>(value));
    case DType::u8: return store(*this, i, to_integer<std::uint8_t>(value));
    case DType::boolean: return store(*this, i, static_cast<std::uint8_t>(value != 0 ? 1 : 0));
  }
}

Tensor make_tensor(DType dtype, std::vector<std::int64_t> shape) {
  Tensor tensor{.dtype = dtype, .shape = std::move(shape), .bytes = {}};
  const std::int64_t elements = tensor.elements();
  WARPATH_CHECK(elements >= 0);
  tensor.bytes.resize(static_cast<std::size_t>(elements) * info(dtype).size_bytes);
  return tensor;
}

}  // namespace warpath
