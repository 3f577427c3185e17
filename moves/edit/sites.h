#pragma once

#include <string_view>

namespace warpath {

/// Sites that several moves have; those named after a loop are in loop_site.h.
inline constexpr std::string_view kLaunchSite = "launch";
inline constexpr std::string_view kThreadSite = "thread";
inline constexpr std::string_view kSumSite = "sum";
/// The name of a kernel's argument follows.
inline constexpr std::string_view kArgumentPrefix = "argument:";

}  // namespace warpath
