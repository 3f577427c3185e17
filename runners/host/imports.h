#pragma once

#include <span>
#include <string>

namespace warpath::host {

/// Reads a compiled kernel (ELF, 64-bit, this machine's byte order). Returns why it may not be
/// loaded, as the rest of a sentence about the kernel: it takes a symbol from elsewhere that is
/// neither part of the shim, nor of the C library's memory functions, nor of the math library; it
/// needs another library; it has code that runs when it is loaded or unloaded; its code can be
/// written, or its data run. Empty if it may. `problem` is set, with one line, when the file cannot
/// be read as that.
[[nodiscard]] std::string refused_content(std::span<const std::byte> object, std::string& problem);

}  // namespace warpath::host
