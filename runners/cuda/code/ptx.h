#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace warpath::cuda {

/// A variable outside registers: module scope, function scope or a parameter.
struct PtxVariable {
  std::string_view name;
  std::string_view space;       ///< "global", "shared", "const", "local", "param", "tex"
  std::string_view type;        ///< ".f32" without the dot; for a vector its element type
  std::int64_t size_bytes = 0;  ///< 0: an array without a length ("extern .shared")
  bool is_extern = false;
  bool is_managed = false;  ///< `.attribute(.managed)`
  bool is_visible = false;  ///< .visible, .weak or .common
  bool initialised = false;
  bool in_function = false;
};

/// One instruction: "@%p1 ld.global.nc.v4.f32 {%f1,%f2,%f3,%f4}, [%rd1+16];"
struct PtxInstruction {
  std::string_view opcode;                  ///< "ld"
  std::vector<std::string_view> modifiers;  ///< "global", "nc", "v4", "f32"
  std::string_view guard{};                 ///< "%p1" of "@%p1" and "@!%p1"; empty without one
  bool guard_negated = false;
  /// as written, cut at top-level commas: "{%f1,%f2,%f3,%f4}", "[%rd1+16]"
  std::vector<std::string_view> operands;
  [[nodiscard]] bool has(std::string_view modifier) const;
};

/// A label of the instruction with this index, or of the end.
struct PtxLabel {
  std::string_view name;
  std::size_t at = 0;
};

/// `.entry` or `.func`.
struct PtxFunction {
  std::string_view name;
  bool is_entry = false;
  bool is_extern = false;
  bool has_body = false;
  std::vector<PtxVariable> parameters;
  std::vector<PtxVariable> variables;  ///< declared inside, at any nesting depth
  /// performance directives: "maxntid", "reqnctapercluster"
  std::vector<std::string_view> directives;
  std::vector<PtxInstruction> instructions;
  std::vector<PtxLabel> labels;  ///< in textual order
  std::int64_t registers = 0;    ///< virtual registers declared
};

/// Parsed PTX. Views refer to the parsed text, which must outlive the module.
struct PtxModule {
  std::string_view version;
  std::string_view target;  ///< "sm_90a"
  std::int64_t address_size = 0;
  std::vector<PtxVariable> variables;
  std::vector<PtxFunction> functions;
  /// others at module scope: "alias", "pragma", "file", "section"
  std::vector<std::string_view> directives;

  [[nodiscard]] const PtxFunction* entry(std::string_view name) const;  ///< nullptr if absent
};

/// Parses PTX as compilers emit it and inline assembly may extend it. Comments, strings and names
/// are never mistaken for directives or opcodes. nullopt, with one line in `why`, for text that is
/// not well-formed. Linear time; safe on any input.
[[nodiscard]] std::optional<PtxModule> parse_ptx(std::string_view text, std::string& why);

/// Bytes of an element of `type` ("b8": 1); 0 if it is not a scalar type ("v4").
[[nodiscard]] std::int64_t ptx_type_bytes(std::string_view type);

}  // namespace warpath::cuda
