#pragma once

#include <cstdint>
#include <optional>
#include <string>

#include "engine/plugin/move.h"
#include "moves/edit/code_template.h"

namespace warpath {

/// One of the tensors of an attention, as text in the kernel's names.
struct AttentionOperand {
  std::string pointer;  ///< the kernel's parameter
  std::string element;  ///< "float"
  std::string load;     ///< "q[(h * T + t) * D + d]" in t (or u) and d
};

/// o[t, :] = sum over u of softmax_u(scale * q[t, :] . k[u, :]) v[u, :], with one thread per query
/// t and the heads on another grid axis:
///
///     for (u < end) top = max(top, scale * dot);
///     for (u < end) p = exp(scale * dot - top), sum += p, acc[:] += p * v[u, :];
///     o[t, :] = acc[:] / sum
///     p, acc[:] += p * v[u, :]; o[t, :] = acc[:] / sum
struct Attention {
  std::string t = "t", u = "u", d = "d";  ///< variables of query, key and channel
  std::string type = "int";               ///< their type
  std::string queries, keys;              ///< exclusive ends as C text
  /// number of threads along the queries, over names of the launch plan
  std::string launch_queries;
  std::size_t launch_axis = 0;  ///< grid axis that spreads the queries
  std::int64_t channels = 0;    ///< D, a constant
  bool causal = false;          ///< u <= t
  /// C text of the factor of the dot product, in the prologue's names
  std::string scale;
  /// statements that are independent of t, u and d: head, scale
  std::string prologue;
  AttentionOperand q, k, v, o;
  bool vector = false;                       ///< rows of all four are 16-byte aligned
  std::size_t body_begin = 0, body_end = 0;  ///< between the kernel's braces
};

/// Recognises attention in the variant's kernel; nullopt with one line in `why` otherwise.
[[nodiscard]] std::optional<Attention> find_attention(const MoveContext& context, std::string& why);

}  // namespace warpath
