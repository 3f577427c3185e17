#pragma once

#include <cstdint>
#include <vector>

#include "engine/text/source_edit.h"
#include "moves/normal/helper_call.h"

namespace warpath {

/// A return in a block that is the last thing a thread comes to, where it only decides what else is
/// done.
struct NestedReturn {
  enum class Form : std::uint8_t {
    alone,          ///< `if (c) return;` in front of the rest of the block
    behind_branch,  ///< `if (c) { ...; return; }` in front of it
    before_else,    ///< `if (c) return; else ...` at the end of the block
    in_else,        ///< `if (c) { ... } else return;` there
    last,           ///< `return;` there
  };
  const model::Stmt* stmt = nullptr;
  Form form = Form::alone;
};
[[nodiscard]] std::vector<NestedReturn> nested_returns(const model::KernelFacts& facts);

/// Adds edits that make an if of the first of them, or leave it out. False if there is none.
[[nodiscard]] bool enclose_rest(const NormalSite& site, std::vector<Edit>& edits);

}  // namespace warpath
