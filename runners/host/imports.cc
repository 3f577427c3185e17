#include "runners/host/imports.h"

#include <elf.h>

#include <algorithm>
#include <array>
#include <cstdint>
#include <cstring>
#include <map>
#include <optional>
#include <string_view>

namespace warpath::host {
namespace {

constexpr std::array<std::string_view, 10> kAllowed{
    "warpath_barrier", "warpath_warp",   "warpath_yield", "warpath_fault",
    "warpath_thread",  "memcpy",         "memmove",       "memset",
    "memcmp",          "__tls_get_addr"};

/// Bounds-checked views of an ELF file.
class Elf {
 public:
  explicit Elf(std::span<const std::byte> bytes) : bytes_(bytes) {
    header_ = read<Elf64_Ehdr>(0);
    ok_ = header_ && std::memcmp(header_->e_ident, ELFMAG, SELFMAG) == 0 &&
          header_->e_ident[EI_CLASS] == ELFCLASS64 && header_->e_shentsize == sizeof(Elf64_Shdr);
  }
  [[nodiscard]] bool ok() const { return ok_; }
  template <class T>
  [[nodiscard]] std::optional<T> read(std::uint64_t offset) const {
    if (offset > bytes_.size() || bytes_.size() - offset < sizeof(T)) return std::nullopt;
    T value;
    std::memcpy(&value, bytes_.data() + offset, sizeof value);
    return value;
  }
  [[nodiscard]] std::optional<Elf64_Shdr> section(std::uint64_t index) const {
    return read<Elf64_Shdr>(header_->e_shoff + index * sizeof(Elf64_Shdr));
  }
  [[nodiscard]] std::optional<Elf64_Shdr> section_of_type(std::uint32_t type) const {
    for (std::uint64_t i = 0; i < header_->e_shnum; ++i) {
      if (const auto s = section(i); s && s->sh_type == type) return s;
    }
    return std::nullopt;
  }
  [[nodiscard]] std::string_view text(std::uint64_t offset) const {
    if (offset >= bytes_.size()) return {};
    const auto* const begin = reinterpret_cast<const char*>(bytes_.data()) + offset;
    return {begin, ::strnlen(begin, bytes_.size() - offset)};
  }

 private:
  std::span<const std::byte> bytes_;
  std::optional<Elf64_Ehdr> header_;
  bool ok_ = false;
};

/// Version index -> library that provides it.
std::map<unsigned, std::string_view> version_libraries(const Elf& elf) {
  std::map<unsigned, std::string_view> out;
  const auto needs = elf.section_of_type(SHT_GNU_verneed);
  const auto names = needs ? elf.section(needs->sh_link) : std::nullopt;
  if (!names) return out;
  std::uint64_t at = needs->sh_offset;
  for (std::uint64_t i = 0; i < needs->sh_info; ++i) {
    const auto need = elf.read<Elf64_Verneed>(at);
    if (!need) break;
    std::uint64_t entry = at + need->vn_aux;
    for (unsigned k = 0; k < need->vn_cnt; ++k) {
      const auto aux = elf.read<Elf64_Vernaux>(entry);
      if (!aux) break;
      out[aux->vna_other] = elf.text(names->sh_offset + need->vn_file);
      entry += aux->vna_next;
    }
    at += need->vn_next;
  }
  return out;
}

}  // namespace

std::string forbidden_import(std::span<const std::byte> object, std::string& problem) {
  const Elf elf(object);
  const auto symbols = elf.ok() ? elf.section_of_type(SHT_DYNSYM) : std::nullopt;
  const auto names = symbols ? elf.section(symbols->sh_link) : std::nullopt;
  if (!names) {
    problem = "the compiler's output is not a 64-bit ELF shared object";
    return {};
  }
  const auto versions = elf.section_of_type(SHT_GNU_versym);
  const auto libraries = version_libraries(elf);
  for (std::uint64_t i = 1; i < symbols->sh_size / sizeof(Elf64_Sym); ++i) {
    const auto symbol = elf.read<Elf64_Sym>(symbols->sh_offset + i * sizeof(Elf64_Sym));
    if (!symbol || symbol->st_shndx != SHN_UNDEF) continue;
    const std::string_view name = elf.text(names->sh_offset + symbol->st_name);
    if (std::find(kAllowed.begin(), kAllowed.end(), name) != kAllowed.end()) continue;
    if (versions) {
      const auto version = elf.read<Elf64_Half>(versions->sh_offset + i * sizeof(Elf64_Half));
      const auto library = libraries.find(version.value_or(0) & 0x7fffU);
      if (library != libraries.end() && library->second.starts_with("libm.so")) continue;
    }
    return std::string(name.substr(0, 80));
  }
  return {};
}

}  // namespace warpath::host
