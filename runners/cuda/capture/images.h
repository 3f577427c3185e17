#pragma once

#include <cstddef>
#include <span>
#include <string>

namespace warpath::capture {

/// Code as an application gives it to the driver.
struct Image {
  std::span<const std::byte> bytes;  ///< empty: of a kind that is not known
  const char* kind = "";             ///< "cubin", "fatbin", "ptx"
};

/// The extent and kind of an image, of which only the address is known: an ELF file, a container of
/// several, the wrapper that compilers put around one, or text that ends with a zero.
[[nodiscard]] Image image_at(const void* address);

}  // namespace warpath::capture
