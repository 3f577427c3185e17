#pragma once

#include <span>
#include <string>

namespace warpath::host {

/// Inspects a compiled kernel (ELF, 64-bit, this machine's byte order). Returns why it must not be
/// loaded, as the rest of a sentence about the kernel; empty if it may. Reasons: it imports a
/// symbol that is not of the shim, the C library's memory functions or the math library; it needs
/// another library; it has code that runs on loading or unloading; its code is writable or its data
/// executable. If the file cannot be parsed, `problem` is set to one line.
/// Code for interleaved launches has a function that the compiler calls on loading.
[[nodiscard]] std::string refused_content(std::span<const std::byte> object,
                                          std::string& problem,
                                          bool interleaved);

}  // namespace warpath::host
