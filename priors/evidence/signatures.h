#pragma once

#include <map>
#include <set>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "engine/plugin/move.h"
#include "engine/text/code_counts.h"

namespace warpath {

/// Opcodes that a feature is seen by: "LDG.128" means the opcode LDG with the modifier 128,
/// wherever it stands among the modifiers; "LDG.!128" one without it; a part may hold "*"
/// ("HGMMA.64x*"). The first part is the opcode itself, never a prefix of one: "STS" is not LDGSTS.
class OpcodePattern {
 public:
  /// Throws Error(bad_input) with `place` for a text without an opcode.
  OpcodePattern(std::string_view text, std::string_view place);
  [[nodiscard]] bool matches(std::string_view opcode) const;

 private:
  std::string opcode_;
  std::vector<std::string> with_, without_;
};

/// Something that code may hold: seen in machine code where that is there as text and the feature
/// has patterns for it, else in PTX.
struct CodeFeature {
  std::string id, note;
  std::vector<OpcodePattern> machine, ptx;
};

/// What a move leaves in the code that it led to: any of these is enough.
struct MoveSignature {
  std::string move, site;  ///< site: only at a site that begins so; empty: at every one
  /// features that grow, shrink, or do either; in all or in loops
  std::vector<const CodeFeature*> gains, loses, changes;
  std::vector<std::string> numbers;  ///< static facts that differ
  bool differs = false;              ///< machine code or launch differ at all
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

  /// Throws Error(bad_input) naming `file` and place where the text is no such table.
  [[nodiscard]] static SignatureTable parse(std::string_view text, const std::string& file);
  /// The one built into the program.
  [[nodiscard]] static const SignatureTable& built_in();

  [[nodiscard]] std::span<const CodeFeature> features() const { return features_; }
  [[nodiscard]] std::span<const MoveSignature> signatures() const { return signatures_; }
  /// The row of the move with the longest site that fits; null without one.
  [[nodiscard]] const MoveSignature* find(std::string_view move, std::string_view site) const;

  /// Compares the code before a move with that after it. Code and launch that are the parent's show
  /// no move at all; a move without a row cannot be told otherwise.
  [[nodiscard]] CodeEvidence compare(const MoveInstance& instance,
                                     const CodeCounts& parent,
                                     const CodeCounts& child) const;

 private:
  SignatureTable() = default;

  std::vector<CodeFeature> features_;
  std::vector<MoveSignature> signatures_;
};

/// "LDG.E.128 0 to 4, LDG.E 16 to 0": the largest differences first, at most `most`; empty where
/// there are none.
[[nodiscard]] std::string difference_text(const CodeEvidence& evidence, std::size_t most);

}  // namespace warpath
