#include "engine/search/survey.h"

#include <algorithm>
#include <map>

namespace warpath {

Survey survey_of_root(Field& field, double each) {
  Survey out;
  std::map<std::uint64_t, double> kinds;  // P(s,a) by family
  double squares = 0;
  double most = 0;
  const std::uint32_t actions = field.actions(kRoot);
  for (std::uint32_t rank = 0; rank < actions; ++rank) {
    const auto [action, prior] = field.ranked(kRoot, rank);
    const auto p = static_cast<double>(prior);
    most = std::max(most, p);
    const std::uint64_t kind = field.family(kRoot, action);
    if (2 * p > most && !kinds.contains(kind)) out.actions.push_back(action);
    if (kind != 0)
      kinds[kind] += p;
    else
      squares += p * p;
  }
  for (const auto& [kind, p] : kinds) squares += p * p;
  out.moves = squares > 0 ? each * (1 / squares - 1) : 0;
  if (static_cast<double>(out.actions.size()) > out.moves)
    out.actions.resize(static_cast<std::size_t>(out.moves));
  std::ranges::reverse(out.actions);
  return out;
}

}  // namespace warpath
