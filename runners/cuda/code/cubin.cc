#include "runners/cuda/code/cubin.h"

#include <elf.h>

#include <algorithm>
#include <cstring>

namespace warpath::cuda {
namespace {

// Attributes of the sections .nv.info: format byte, attribute byte, 16-bit size or value, payload.
constexpr std::uint8_t kFormatSized = 0x04;
constexpr std::uint8_t kAttributeFrameSize = 0x11;
constexpr std::uint8_t kAttributeRegisterCount = 0x2f;

/// A plain struct out of `bytes` at `offset`; false if it does not fit.
template <class T>
bool read_at(std::string_view bytes, std::uint64_t offset, T& out) {
  if (offset > bytes.size() || bytes.size() - offset < sizeof(T)) return false;
  std::memcpy(&out, bytes.data() + offset, sizeof(T));
  return true;
}

struct Section {
  std::string name;
  Elf64_Shdr header{};
  std::string_view content;  // empty for sections without bytes in the file
};

std::string text_at(std::string_view table, std::uint64_t offset) {
  if (offset >= table.size()) return {};
  const std::string_view rest = table.substr(offset);
  return std::string(rest.substr(0, rest.find('\0')));
}

std::string_view content_of(std::string_view file, const Elf64_Shdr& header) {
  if (header.sh_type == SHT_NOBITS || header.sh_offset > file.size() ||
      header.sh_size > file.size() - header.sh_offset)
    return {};
  return file.substr(header.sh_offset, header.sh_size);
}

std::vector<Section> sections_of(std::string_view file, const Elf64_Ehdr& elf) {
  std::vector<Section> sections;
  for (std::uint64_t i = 0; i < elf.e_shnum; ++i) {
    Section section;
    if (!read_at(file, elf.e_shoff + i * sizeof(Elf64_Shdr), section.header)) return {};
    section.content = content_of(file, section.header);
    sections.push_back(std::move(section));
  }
  if (elf.e_shstrndx >= sections.size()) return {};
  const std::string_view names = sections[elf.e_shstrndx].content;
  for (Section& section : sections) section.name = text_at(names, section.header.sh_name);
  return sections;
}

const Section* find(const std::vector<Section>& sections, std::string_view name) {
  const auto found = std::ranges::find(sections, name, &Section::name);
  return found == sections.end() ? nullptr : &*found;
}

/// Calls visit(attribute, symbol index, value) for every attribute of the form (symbol, number).
template <class Visitor>
void for_each_attribute(std::string_view info, Visitor&& visit) {
  std::uint64_t at = 0;
  struct Head {
    std::uint8_t format, attribute;
    std::uint16_t size;
  } head{};
  while (read_at(info, at, head)) {
    at += sizeof head;
    if (head.format != kFormatSized) continue;
    struct Pair {
      std::uint32_t symbol, value;
    } pair{};
    if (head.size == sizeof pair && read_at(info, at, pair))
      visit(head.attribute, pair.symbol, pair.value);
    at += head.size;
  }
}

/// Index of the symbol `name`; 0 if it is absent.
std::uint32_t symbol_index(const std::vector<Section>& sections, std::string_view name) {
  const Section* symbols = find(sections, ".symtab");
  const Section* names = find(sections, ".strtab");
  if (symbols == nullptr || names == nullptr) return 0;
  Elf64_Sym symbol{};
  for (std::uint32_t i = 0; read_at(symbols->content, std::uint64_t{i} * sizeof symbol, symbol);
       ++i) {
    if (ELF64_ST_TYPE(symbol.st_info) == STT_FUNC &&
        text_at(names->content, symbol.st_name) == name)
      return i;
  }
  return 0;
}

bool belongs_to_code(const Section& section) {
  return section.name.starts_with(".text.") || section.name.starts_with(".nv.constant") ||
         section.name.starts_with(".nv.global") || section.name.starts_with(".nv.shared") ||
         section.name.starts_with(".nv.info");
}

}  // namespace

std::optional<CubinFacts> read_cubin(std::string_view cubin,
                                     std::string_view entry,
                                     std::string& why) {
  Elf64_Ehdr elf{};
  if (!read_at(cubin, 0, elf) || std::memcmp(elf.e_ident, ELFMAG, SELFMAG) != 0 ||
      elf.e_ident[EI_CLASS] != ELFCLASS64 || elf.e_ident[EI_DATA] != ELFDATA2LSB ||
      elf.e_shentsize != sizeof(Elf64_Shdr)) {
    why = "the machine code is no 64-bit ELF file";
    return std::nullopt;
  }
  const std::vector<Section> sections = sections_of(cubin, elf);
  const Section* code = find(sections, ".text." + std::string(entry));
  if (code == nullptr) {
    why = "the machine code lacks the function " + std::string(entry);
    return std::nullopt;
  }
  CubinFacts facts;
  facts.code_bytes = static_cast<std::int64_t>(code->header.sh_size);
  Hasher hasher;
  for (const Section& section : sections) {
    if (section.name.starts_with(".text.")) facts.functions.push_back(section.name.substr(6));
    if (section.name.starts_with(".nv.global"))
      facts.global_bytes += static_cast<std::int64_t>(section.header.sh_size);
    if (section.name == ".nv.constant3")
      facts.constant_bytes += static_cast<std::int64_t>(section.header.sh_size);
    if (belongs_to_code(section))
      hasher.add(section.name).add(section.header.sh_size).add(section.content);
  }
  facts.code_hash = hasher.digest();
  if (const Section* info = find(sections, ".nv.info"); info != nullptr) {
    const std::uint32_t index = symbol_index(sections, entry);
    for_each_attribute(info->content,
                       [&](std::uint8_t attribute, std::uint32_t symbol, std::uint32_t value) {
                         if (symbol != index) return;
                         if (attribute == kAttributeRegisterCount)
                           facts.registers = static_cast<int>(value);
                         if (attribute == kAttributeFrameSize) facts.frame_bytes = value;
                       });
  }
  return facts;
}

}  // namespace warpath::cuda
