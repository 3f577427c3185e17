#pragma once

// Descriptions of the JSON of captured launches. Include only from .cc files.

#include "engine/json/json_codec.h"
#include "experiments/capture/captured_kernel.h"

namespace warpath {

template <>
struct Description<CapturedParameter> {
  template <class V>
  static void fields(V& v) {
    using T = CapturedParameter;
    v(&T::offset, {"offset", "bytes"});
    v(&T::size, {"size", "bytes"});
    v(&T::bytes, {"bytes", "hexadecimal", true});
    v(&T::pointers, {"pointers", "[position, bytes of the allocation, offset in it]"});
    v(&T::contents, {"contents", "file with what it points to"});
  }
};

template <>
struct Description<CapturedLaunch> {
  template <class V>
  static void fields(V& v) {
    using T = CapturedLaunch;
    v(&T::grid, {"grid", "blocks", true});
    v(&T::block, {"block", "threads", true});
    v(&T::cluster, {"cluster", "blocks"});
    v(&T::dynamic_smem_bytes, {"dynamic_smem_bytes", "of a block"});
    v(&T::parameters, {"parameters", "in order"});
    v(&T::launches, {"launches", "how many", true});
    v(&T::samples_ns, {"samples_ns", "device times of some"});
    v(&T::weight, {"weight", "share of the kernel's device time"});
    v(&T::others, {"others", "shapes of which only the number is known"});
  }
};

template <>
struct Description<CapturedKernel> {
  template <class V>
  static void fields(V& v) {
    using T = CapturedKernel;
    v(&T::kernel, {"kernel", "its name", true});
    v(&T::symbol, {"symbol", "as the driver knows it", true});
    v(&T::signature, {"signature", "demangled"});
    v(&T::image, {"image", "hash of its code"});
    v(&T::device, {"device", "where it ran"});
    v(&T::share, {"share", "of all device time"});
    v(&T::time_ns, {"time_ns", "of all its launches"});
    v(&T::launches, {"launches", "those that take most of the time first", true});
  }
};

}  // namespace warpath
