#include "runners/cuda/code/ptx_rounding.h"

#include <algorithm>

#include "runners/cuda/code/ptx_tokens.h"

namespace warpath::cuda {
namespace {

/// `word` with its rounding replaced; as it is where it has none to replace.
std::string rounded(std::string_view word, std::string_view rounding) {
  const std::string_view opcode = word.substr(0, word.find('.'));
  const std::string_view type = word.substr(word.rfind('.') + 1);
  if (!is_one_of(opcode, {"add", "sub", "mul", "fma", "div", "sqrt", "rcp"}) ||
      !is_one_of(type, {"f32", "f64"}))
    return std::string(word);
  std::string out(opcode);
  bool is_set = false;
  for (std::size_t at = opcode.size(); at < word.size();) {
    const std::size_t end = std::min(word.find('.', at + 1), word.size());
    const std::string_view part = word.substr(at + 1, end - at - 1);
    if (is_one_of(part, {"rz", "rm", "rp", "approx", "full"})) return std::string(word);
    const bool to_nearest = part == "rn";
    is_set = is_set || to_nearest;
    out.append(".").append(to_nearest ? rounding : part);
    at = end;
  }
  if (!is_set) out.insert(opcode.size(), "." + std::string(rounding));
  return out;
}

}  // namespace

std::string round_ptx(std::string_view ptx, PtxRounding direction) {
  const std::string_view rounding = direction == PtxRounding::upward ? "rp" : "rm";
  std::string out;
  out.reserve(ptx.size() + ptx.size() / 64);
  std::size_t copied = 0;
  for (const PtxToken& token : tokenize_ptx(ptx)) {
    if (token.kind != PtxToken::Kind::word || token.text.find('.') == std::string_view::npos)
      continue;
    const auto at = static_cast<std::size_t>(token.text.data() - ptx.data());
    out.append(ptx.substr(copied, at - copied));
    out.append(rounded(token.text, rounding));
    copied = at + token.text.size();
  }
  return out.append(ptx.substr(copied));
}

}  // namespace warpath::cuda
