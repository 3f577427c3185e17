#pragma once

#include <functional>
#include <map>
#include <optional>
#include <set>
#include <string>
#include <string_view>

#include "moves/normal/helper_call.h"

namespace warpath {

/// Variables of the kernel that the arguments let the helper change: passed by reference or by
/// address, or changed in the arguments themselves.
[[nodiscard]] std::set<std::string, std::less<>> exposed_names(const NormalSite& site,
                                                               const HelperCall& helper);

/// What stands for a helper's parameters.
struct BoundParameters {
  std::string lines;                                         ///< declarations
  std::map<std::string, std::string, std::less<>> names;     ///< what replaces each of its names
  std::map<std::string, std::string, std::less<>> pointees;  ///< p -> v for `*p` where p is &v
};
[[nodiscard]] std::optional<BoundParameters> bind_parameters(
    const NormalSite& site,
    const HelperCall& helper,
    const std::function<std::string(std::string_view)>& fresh,
    std::string& why);

}  // namespace warpath
