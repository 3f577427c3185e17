#include "engine/base/dtype.h"

namespace warpath {

std::uint16_t float_to_half(float value) {
  return portable::half_of(value);
}

float half_to_float(std::uint16_t bits) {
  return portable::float_of_half(bits);
}

std::uint16_t float_to_bfloat16(float value) {
  return portable::bfloat16_of(value);
}

float bfloat16_to_float(std::uint16_t bits) {
  return portable::float_of_bfloat16(bits);
}

}  // namespace warpath
