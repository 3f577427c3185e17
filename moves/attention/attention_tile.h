#pragma once

#include <cstdint>
#include <string>

#include "moves/attention/attention.h"
#include "moves/edit/code_template.h"

namespace warpath {

/// The tiling of an attention.
struct AttentionTile {
  int queries = 64;  ///< per block
  int keys = 64;     ///< per step
  int threads = 128;
  int lanes = 16;  ///< threads per query
  int blocks = 4;  ///< per multiprocessor
  int async = 1;   ///< 1: tiles are copied asynchronously
};

[[nodiscard]] std::int64_t attention_smem_bytes(const Attention& a, const AttentionTile& tile);
/// Why the template does not support `tile` for `a`; empty if it does.
[[nodiscard]] std::string attention_tile_problem(const Attention& a, const AttentionTile& tile);
[[nodiscard]] std::string attention_helpers(CodeTemplate& code, const AttentionTile& tile);
[[nodiscard]] std::string attention_body(CodeTemplate& code,
                                         const Attention& a,
                                         const AttentionTile& tile);

}  // namespace warpath
