#pragma once

#include <signal.h>

namespace warpath::host {

/// The one file that a sealed process (ComputeOnly) can open: while this lives, the loader's
/// request for `path` is answered with a copy of `descriptor`. One at a time, and only by the
/// thread that loads.
class OfferedObject {
 public:
  /// Keeps the pointer. Owns neither.
  OfferedObject(const char* path, int descriptor);
  ~OfferedObject();
  OfferedObject(const OfferedObject&) = delete;
  OfferedObject& operator=(const OfferedObject&) = delete;
};

/// In a handler of SIGSYS: answers what the loader asks of the offered object and refuses anything
/// else with EACCES. False: the signal is not that of a filter. Async-signal-safe.
[[nodiscard]] bool answer_loader(const siginfo_t& info, void* context);

}  // namespace warpath::host
