#include "runners/host/compile/imports.h"

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

constexpr std::array<std::string_view, 12> kAllowed{
    "warpath_barrier", "warpath_warp",   "warpath_yield", "warpath_fault",
    "warpath_thread",  "warpath_access", "warpath_pause", "memcpy",
    "memmove",         "memset",         "memcmp",        "__tls_get_addr"};

constexpr std::array<std::string_view, 4> kLibraries{"libm.so", "libc.so", "ld-linux",
                                                     "libmvec.so"};
#if defined(__aarch64__)
constexpr std::uint64_t kResolverRelocation = 1032;  // R_AARCH64_IRELATIVE
#else
constexpr std::uint64_t kResolverRelocation = 37;  // R_X86_64_IRELATIVE
#endif

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
  [[nodiscard]] std::uint64_t sections() const { return header_->e_shnum; }
  [[nodiscard]] std::optional<Elf64_Phdr> segment(std::uint64_t index) const {
    if (index >= header_->e_phnum) return std::nullopt;
    return read<Elf64_Phdr>(header_->e_phoff + index * sizeof(Elf64_Phdr));
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

/// What the loader is told to do besides mapping and linking.
std::string loading_work(const Elf& elf, bool interleaved) {
  const auto table = elf.section_of_type(SHT_DYNAMIC);
  const auto names = table ? elf.section(table->sh_link) : std::nullopt;
  if (!names) return {};
  for (std::uint64_t i = 0; i < table->sh_size / sizeof(Elf64_Dyn); ++i) {
    const auto entry = elf.read<Elf64_Dyn>(table->sh_offset + i * sizeof(Elf64_Dyn));
    if (!entry || entry->d_tag == DT_NULL) break;
    switch (entry->d_tag) {
      case DT_NEEDED: {
        const std::string_view library = elf.text(names->sh_offset + entry->d_un.d_val);
        const bool known = std::ranges::any_of(
            kLibraries, [&](std::string_view head) { return library.starts_with(head); });
        if (!known) return "needs the library " + std::string(library.substr(0, 80));
        break;
      }
      case DT_INIT_ARRAY:
        if (interleaved) break;
        [[fallthrough]];
      case DT_INIT:
      case DT_FINI:
      case DT_FINI_ARRAY:
      case DT_PREINIT_ARRAY:
        return "has code that runs when it is loaded or unloaded";
      case DT_TEXTREL:
        return "has code that the loader would write to";
      default:
        break;
    }
  }
  return {};
}

std::string segments_problem(const Elf& elf) {
  for (std::uint64_t i = 0; const auto segment = elf.segment(i); ++i) {
    const bool runs = (segment->p_flags & PF_X) != 0, writes = (segment->p_flags & PF_W) != 0;
    if (runs && writes) return "has data that can be run";  // an executable stack too
  }
  return {};
}

/// Functions that choose themselves when they are linked: symbols or relocations.
bool has_resolvers(const Elf& elf) {
  for (std::uint64_t s = 0; s < elf.sections(); ++s) {
    const auto section = elf.section(s);
    if (!section) break;
    const bool symbols = section->sh_type == SHT_DYNSYM, relocations = section->sh_type == SHT_RELA;
    if (!symbols && !relocations) continue;
    const std::uint64_t each = symbols ? sizeof(Elf64_Sym) : sizeof(Elf64_Rela);
    for (std::uint64_t i = 0; i < section->sh_size / each; ++i) {
      if (symbols) {
        const auto symbol = elf.read<Elf64_Sym>(section->sh_offset + i * each);
        if (symbol && ELF64_ST_TYPE(symbol->st_info) == STT_GNU_IFUNC) return true;
      } else if (const auto relocation = elf.read<Elf64_Rela>(section->sh_offset + i * each)) {
        const auto type = ELF64_R_TYPE(relocation->r_info);
        if (type == kResolverRelocation) return true;
      }
    }
  }
  return false;
}

}  // namespace

std::string refused_content(std::span<const std::byte> object,
                            std::string& problem,
                            bool interleaved) {
  const Elf elf(object);
  const auto symbols = elf.ok() ? elf.section_of_type(SHT_DYNSYM) : std::nullopt;
  const auto names = symbols ? elf.section(symbols->sh_link) : std::nullopt;
  if (!names) {
    problem = "the compiler's output is not a 64-bit ELF shared object";
    return {};
  }
  for (std::string why : {loading_work(elf, interleaved), segments_problem(elf)}) {
    if (!why.empty()) return why;
  }
  if (has_resolvers(elf)) return "has a function that is chosen when it is loaded";
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
    return "uses '" + std::string(name.substr(0, 80)) +
           "', which is not part of CUDA's device library";
  }
  return {};
}

}  // namespace warpath::host
