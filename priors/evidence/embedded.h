#pragma once

#include <span>
#include <string_view>

namespace warpath {

/// A data file built into the program.
struct EmbeddedText {
  std::string_view name;  ///< path in the tree; for a skill the id of its rule
  std::string_view text;
};

[[nodiscard]] EmbeddedText embedded_rules();                    ///< priors/rules/matrix.json
[[nodiscard]] EmbeddedText embedded_methods();                  ///< priors/rules/methods.json
[[nodiscard]] EmbeddedText embedded_signatures();               ///< priors/rules/signatures.json
[[nodiscard]] EmbeddedText embedded_draft_model();              ///< priors/tactics/draft_model.json
[[nodiscard]] std::span<const EmbeddedText> embedded_skills();  ///< priors/skills

}  // namespace warpath
