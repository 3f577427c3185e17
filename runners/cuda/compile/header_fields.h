#pragma once

// A header as part of messages. Include only from .cc files.

#include "runners/cuda/compile/nvrtc.h"
#include "runners/worker/wire.h"

namespace warpath {

template <>
struct Description<cuda::Header> : Unnamed<&cuda::Header::name, &cuda::Header::text> {};

}  // namespace warpath
