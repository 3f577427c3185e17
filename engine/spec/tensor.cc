#include "engine/spec/tensor.h"

#include <cstring>

#include "engine/base/error.h"

namespace warpath {
namespace {

std::size_t offset_of(const Tensor& tensor, std::int64_t i) {
  return static_cast<std::size_t>(i) * info(tensor.dtype).size_bytes;
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

Tensor make_tensor(DType dtype, std::vector<std::int64_t> shape) {
  Tensor tensor{.dtype = dtype, .shape = std::move(shape), .bytes = {}};
  const std::int64_t elements = tensor.elements();
  WARPATH_CHECK(elements >= 0);
  tensor.bytes.resize(static_cast<std::size_t>(elements) * info(dtype).size_bytes);
  return tensor;
}

}  // namespace warpath
