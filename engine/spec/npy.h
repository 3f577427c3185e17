#pragma once

#include <string>

#include "engine/spec/tensor.h"

namespace warpath {

/// Reads a .npy file (format 1.0, 2.0 or 3.0; C order, little endian or single bytes). Types by
/// `descr`: <f8 <f4 <f2 <i8 <i4 <i2 |i1 <u8 <u4 <u2 |u1 |b1. `expected` says what the values are:
/// bfloat16 has no numpy type and is stored as its bits in
/// '<u2', which only `expected` tells from uint16. Throws Error(bad_input) at `path` for a file
/// that is missing, damaged, too short, too long, in Fortran order, or of another type than
/// `expected`.
[[nodiscard]] Tensor read_npy(const std::string& path, DType expected);

/// Writes format 1.0 (2.0 when the header needs it), through a temporary file and a rename. Throws
/// Error(environment).
void write_npy(const std::string& path, const Tensor& tensor);

}  // namespace warpath
