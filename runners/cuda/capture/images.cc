#include "runners/cuda/capture/images.h"

#include <elf.h>

#include <algorithm>
#include <cstdint>
#include <cstring>

namespace warpath::capture {
namespace {

constexpr std::uint32_t kFatBinary = 0xba55ed50, kWrapper = 0x466243b1;

/// NVIDIA's container of machine code and PTX; its parts follow the header.
struct FatHeader {
  std::uint32_t magic;
  std::uint16_t version, header_bytes;
  std::uint64_t content_bytes;
};
struct Wrapper {
  std::uint32_t magic, version;
  const void* image;
};

template <class T>
T read(const void* address) {
  T out;
  std::memcpy(&out, address, sizeof out);
  return out;
}

/// The end of the last part of an ELF file.
std::size_t elf_bytes(const std::byte* file) {
  const auto header = read<Elf64_Ehdr>(file);
  std::size_t end = std::max(header.e_shoff + std::size_t{header.e_shnum} * sizeof(Elf64_Shdr),
                             header.e_phoff + std::size_t{header.e_phnum} * sizeof(Elf64_Phdr));
  for (std::size_t i = 0; i < header.e_shnum; ++i) {
    const auto section = read<Elf64_Shdr>(file + header.e_shoff + i * sizeof(Elf64_Shdr));
    if (section.sh_type != SHT_NOBITS) end = std::max(end, section.sh_offset + section.sh_size);
  }
  return end;
}

}  // namespace

Image image_at(const void* address) {
  if (address == nullptr) return {};
  const auto* const bytes = static_cast<const std::byte*>(address);
  const std::size_t length = ::strnlen(static_cast<const char*>(address), sizeof(std::uint32_t));
  if (length == sizeof(std::uint32_t)) {  // none of the magic numbers has a zero byte
    if (std::memcmp(address, ELFMAG, SELFMAG) == 0)
      return {.bytes = {bytes, elf_bytes(bytes)}, .kind = "cubin"};
    const auto magic = read<std::uint32_t>(address);
    if (magic == kWrapper) return image_at(read<Wrapper>(address).image);
    if (magic == kFatBinary) {
      const auto header = read<FatHeader>(address);
      return {.bytes = {bytes, header.header_bytes + header.content_bytes}, .kind = "fatbin"};
    }
  }
  // PTX is ASCII; anything else has no known end
  std::size_t end = 0;
  while (bytes[end] != std::byte{0} && std::to_integer<unsigned>(bytes[end]) < 0x80U) ++end;
  if (bytes[end] != std::byte{0} || end == 0) return {};
  return {.bytes = {bytes, end}, .kind = "ptx"};
}

}  // namespace warpath::capture
