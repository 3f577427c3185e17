#pragma once

#include <cstdint>
#include <map>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace warpath {

/// How often each opcode stands in a kernel's code, as written and not as executed, by how many
/// loops it stands in.
///
///     "LDG.E.128.CONSTANT" -> [2, 1]      two outside loops, one in a loop, none in a loop within
///     a loop
using OpcodeCounts = std::map<std::string, std::vector<std::int64_t>, std::less<>>;

/// What the code of one variant holds.
struct CodeCounts {
  std::string arch;  ///< "sm_90a"
  /// what wrote the machine code as text ("nvdisasm"); empty: none did, and `machine` is empty
  std::string tool;
  OpcodeCounts ptx;  ///< "ld.global.nc.v4.f32"; directives as "directive.maxntid"
  /// "LDG.E.128.CONSTANT"; what only loads a constant is "CONSTANT.LOAD", whatever opcode does it
  OpcodeCounts machine;
  /// static facts: registers_per_thread, blocks, static_smem_bytes, loops, ...
  std::map<std::string, double, std::less<>> numbers;
  std::string key;  ///< level-1 identity: hash of machine code and launch numbers
};

/// A feature of the code before and after a move.
struct FeatureReading {
  std::string feature;  ///< its id in the table; the fact where it is a number
  std::string form;     ///< "machine", "ptx" or "number"
  double before = 0, after = 0;
  double before_in_loops = 0, after_in_loops = 0;
  bool shows = false;  ///< it moved as the move's signature says
  bool operator==(const FeatureReading&) const = default;
};

/// Whether a move can be seen in the code that it led to.
struct CodeEvidence {
  std::optional<bool> realised{};  ///< nullopt: it cannot be told, `why` says why not
  std::string why;
  std::string arch, tool;  ///< as in CodeCounts
  std::vector<FeatureReading> readings;
  /// The opcodes whose counts differ: before, after. Of the machine code where there is a text of
  /// it, else of PTX.
  std::map<std::string, std::pair<std::int64_t, std::int64_t>> difference;
  bool operator==(const CodeEvidence&) const = default;
};

}  // namespace warpath
