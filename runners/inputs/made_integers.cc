#include "runners/inputs/made_integers.h"

#include <regex>

namespace warpath {

bool makes_integers(std::string_view source) {
  static const std::regex kConversion(
      "\\( *(int|unsigned|unsigned int|u?int32_t) *\\)(?! *\\(?(block|thread|grid))|"
      "\\b(int|unsigned|u?int32_t) *\\( *[^ )]|"
      "static_cast *< *(unsigned|int|u?int32_t)|"
      "\\b(__(float|double|half)2u?(int|ll)|ll?(rint|round)|floor|ceil|trunc)");
  return std::regex_search(source.begin(), source.end(), kConversion);
}

}  // namespace warpath
