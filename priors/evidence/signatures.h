#pragma once

#include <map>
#include <set>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "engine/plugin/move_instance.h"
#include "engine/text/code_counts.h"

namespace warpath {

/// Opcodes that reveal a feature: "LDG.128" means the opcode LDG with the modifier 128 in any
/// position; "LDG.!128" one without it; a part may contain "*" ("HGMMA.64x*"). The first part is
/// the whole opcode, never a prefix: "STS" does not match LDGSTS.
class OpcodePattern {
 public:
  /// Throws Error(bad_input) with `place` for a text without an opcode.
  OpcodePattern(std::string_view text, std::string_view place);
  [[nodiscard]] bool matches(std::string_view opcode) const;

 private:
  std::string opcode_;
  std::vector<std::string> with_, without_;
};

/// A feature of code, detected in machine code if that is disassembled and the feature has patterns
/// for it, otherwise in PTX.
struct CodeFeature {
  std::string id, note;
  std::vector<OpcodePattern> machine, ptx;
};

/// The traces of a move in the resulting code: any of these suffices.
struct MoveSignature {
  std::string move, site;  ///< site: restricts it to sites with this prefix; empty: all
  /// features that grow, shrink, or do either, in all code or in loops
  std::vector<const CodeFeature*> gains, loses, changes;
  std::vector<std::string> numbers;  ///< static facts that differ
  bool differs = false;              ///< any difference in machine code or launch
  std::string note;
};

/// The table of features and signatures (priors/rules/signatures.json). Immutable; thread-safe.
class SignatureTable {
 public:
  SignatureTable(SignatureTable&&) = default;  // rows point at features
  SignatureTable& operator=(SignatureTable&&) = default;
  SignatureTable(const SignatureTable&) = delete;
  SignatureTable& operator=(const SignatureTable&) = delete;
  ~SignatureTable() = default;

  /// Throws Error(bad_input) naming `file` and place if the text is not such a table.
  [[nodiscard]] static SignatureTable parse(std::string_view text, const std::string& file);
  /// The one built into the program.
  [[nodiscard]] static const SignatureTable& built_in();

  [[nodiscard]] std::span<const CodeFeature> features() const { return features_; }
  [[nodiscard]] std::span<const MoveSignature> signatures() const { return signatures_; }
  /// The row of the move with the longest matching site; null if there is none.
  [[nodiscard]] const MoveSignature* find(std::string_view move, std::string_view site) const;

  /// Compares the code before and after a move. Unchanged code and launch show that the move had no
  /// effect; otherwise a move without a row is undecidable.
  [[nodiscard]] CodeEvidence compare(const MoveInstance& instance,
                                     const CodeCounts& parent,
                                     const CodeCounts& child) const;

 private:
  SignatureTable() = default;

  std::vector<CodeFeature> features_;
  std::vector<MoveSignature> signatures_;
};

/// "LDG.E.128 0 to 4, LDG.E 16 to 0": the largest differences first, at most `most`; empty if there
/// are none.
[[nodiscard]] std::string difference_text(const CodeEvidence& evidence, std::size_t most);

}  // namespace warpath
