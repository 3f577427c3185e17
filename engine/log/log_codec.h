#pragma once

// Include only from .cc files.

#include "engine/json/record_codec.h"
#include "engine/log/log_segments.h"

namespace warpath {

template <>
struct Description<LogPosition> : Record<Kept<"lines", &LogPosition::lines>,
                                         Kept<"bytes", &LogPosition::bytes>,
                                         Kept<"chain", &LogPosition::chain>> {};

}  // namespace warpath
