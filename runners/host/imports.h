#pragma once

#include <span>
#include <string>

namespace warpath::host {

/// Reads a compiled kernel (ELF, 64-bit, this machine's byte order). Returns the name of the first
/// symbol it takes from elsewhere that is neither part of the shim, nor of the C library's memory
/// functions, nor of the math library; empty if there is none. `problem` is set, with one line,
/// when the file cannot be read as that.
[[nodiscard]] std::string forbidden_import(std::span<const std::byte> object, std::string& problem);

}  // namespace warpath::host
