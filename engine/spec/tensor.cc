#include "engine/spec/tensor.h"

#include <cstring>
#include <type_traits>

#include "engine/base/error.h"

namespace warpath {
namespace {

std::size_t offset_of(const Tensor& tensor, std::int64_t i) {
  return static_cast<std::size_t>(i) * info(tensor.dtype).size_bytes;
}

/// Calls `body` with a tag whose `value` is `dtype`, a constant within, and an element's bits.
template <class Body>
void with_constant(DType dtype, Body&& body) {
  const auto call = [&]<DType kType, class Bits>() {
    body(std::integral_constant<DType, kType>(), Bits{});
  };
  switch (dtype) {
    case DType::f64:
      return call.template operator()<DType::f64, std::uint64_t>();
    case DType::f32:
      return call.template operator()<DType::f32, std::uint32_t>();
    case DType::f16:
      return call.template operator()<DType::f16, std::uint16_t>();
    case DType::bf16:
      return call.template operator()<DType::bf16, std::uint16_t>();
    case DType::i32:
      return call.template operator()<DType::i32, std::uint32_t>();
    case DType::i8:
      return call.template operator()<DType::i8, std::uint8_t>();
    case DType::u8:
      return call.template operator()<DType::u8, std::uint8_t>();
    default:
      body(dtype, std::uint64_t{});
  }
}

}  // namespace

std::int64_t Tensor::elements() const {
  std::int64_t product = 1;
  for (const std::int64_t extent : shape) product *= extent;
  return product;
}

double Tensor::at(std::int64_t i) const {
  std::uint64_t bits = 0;
  std::memcpy(&bits, bytes.data() + offset_of(*this, i), info(dtype).size_bytes);
  return portable::value_of(dtype, bits);
}

void Tensor::set(std::int64_t i, double value) {
  const std::uint64_t bits = portable::element_of(dtype, value);
  std::memcpy(bytes.data() + offset_of(*this, i), &bits, info(dtype).size_bytes);
}

void Tensor::read(std::int64_t begin, std::span<double> out) const {
  with_constant(dtype, [&](auto type, auto bits) {
    if constexpr (std::is_same_v<decltype(type), DType>) {
      for (double& value : out) value = at(begin++);
    } else {
      const std::byte* from = bytes.data() + offset_of(*this, begin);
      for (double& value : out) {
        std::memcpy(&bits, from, sizeof bits);
        value = portable::value_of(type(), bits);
        from += sizeof bits;
      }
    }
  });
}

void Tensor::write(std::int64_t begin, std::span<const double> values) {
  with_constant(dtype, [&](auto type, auto bits) {
    if constexpr (std::is_same_v<decltype(type), DType>) {
      for (const double value : values) set(begin++, value);
    } else {
      std::byte* to = bytes.data() + offset_of(*this, begin);
      for (const double value : values) {
        bits = static_cast<decltype(bits)>(portable::element_of(type(), value));
        std::memcpy(to, &bits, sizeof bits);
        to += sizeof bits;
      }
    }
  });
}

Tensor make_tensor(DType dtype, std::vector<std::int64_t> shape) {
  Tensor tensor{.dtype = dtype, .shape = std::move(shape), .bytes = {}};
  const std::int64_t elements = tensor.elements();
  WARPATH_CHECK(elements >= 0);
  tensor.bytes.resize(static_cast<std::size_t>(elements) * info(dtype).size_bytes);
  return tensor;
}

}  // namespace warpath
