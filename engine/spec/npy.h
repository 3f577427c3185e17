#pragma once

#include <string>

#include "engine/spec/tensor.h"

namespace warpath {

/// Reads a .npy file (format 1.0, 2.0 or 3.0; C order, little endian or single bytes). Types by
/// `descr`: <f8 <f4 <f2 <i8 <i4 <i2 |i1 <u8 <u4 <u2 |u1 |b1. `expected`: the element type.
/// bfloat16, which numpy lacks, is stored as its bits in '<u2' and only `expected` distinguishes it
/// from uint16. Throws Error(bad_input) at `path` if the file is missing, damaged, too short, too
/// long, in Fortran order, or of another type than `expected`.
[[nodiscard]] Tensor read_npy(const std::string& path, DType expected);

/// Writes format 1.0 (2.0 if the header requires it), atomically. Throws Error(environment).
void write_npy(const std::string& path, const Tensor& tensor);

}  // namespace warpath
