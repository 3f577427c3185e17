#pragma once

// Device facts, described once for JSON and for messages between processes. Include only from .cc
// files.

#include "engine/json/record_codec.h"
#include "engine/plugin/device_facts.h"

namespace warpath {

template <>
struct Description<DeviceFacts>
    : Record<Kept<"runner", &DeviceFacts::runner>,
             Kept<"name", &DeviceFacts::name, ValidText>,
             Kept<"arch", &DeviceFacts::arch>,
             Kept<"multiprocessors", &DeviceFacts::multiprocessors>,
             Kept<"max_threads_per_block", &DeviceFacts::max_threads_per_block>,
             Kept<"max_smem_per_block_bytes", &DeviceFacts::max_smem_per_block_bytes>,
             Kept<"is_gpu", &DeviceFacts::is_gpu>> {};

}  // namespace warpath
