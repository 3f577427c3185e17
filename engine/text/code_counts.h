#pragma once

#include <cstdint>
#include <map>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace warpath {

/// Static counts of each opcode in a kernel's code, by loop depth.
///
///     "LDG.E.128.CONSTANT" -> [2, 1]      two outside loops, one in a loop, none deeper
using OpcodeCounts = std::map<std::string, std::vector<std::int64_t>, std::less<>>;

/// Opcode counts of one variant's code.
struct CodeCounts {
  std::string arch;  ///< "sm_90a"
  /// the disassembler ("nvdisasm"); empty: none was available, and `machine` is empty
  std::string tool;
  OpcodeCounts ptx;  ///< "ld.global.nc.v4.f32"; directives as "directive.maxntid"
  /// "LDG.E.128.CONSTANT"; any instruction that only loads a constant counts as "CONSTANT.LOAD"
  OpcodeCounts machine;
  /// static facts: registers_per_thread, blocks, static_smem_bytes, loops, ...
  std::map<std::string, double, std::less<>> numbers;
  std::string key;  ///< level-1 identity: hash of machine code and launch numbers
};

/// A feature of the code before and after a move.
struct FeatureReading {
  std::string feature;  ///< its id in the table; for a number the fact's name
  std::string form;     ///< "machine", "ptx" or "number"
  double before = 0, after = 0;
  double before_in_loops = 0, after_in_loops = 0;
  bool shows = false;  ///< it changed as the move's signature predicts
  bool operator==(const FeatureReading&) const = default;
};

/// Whether the effect of a move is visible in the resulting code.
struct CodeEvidence {
  std::optional<bool> realised{};  ///< nullopt: undecidable, for the reason in `why`
  std::string why;
  std::string arch, tool;  ///< as in CodeCounts
  std::vector<FeatureReading> readings;
  /// The opcodes whose counts differ: before, after. Of machine code if disassembled, otherwise of
  /// PTX.
  std::map<std::string, std::pair<std::int64_t, std::int64_t>> difference;
  bool operator==(const CodeEvidence&) const = default;
};

}  // namespace warpath
