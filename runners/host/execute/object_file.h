#pragma once

#include <signal.h>

namespace warpath::host {

/// The one file that a sealed process (ComputeOnly) can open: during this object's lifetime the
/// loader's request for `path` is served with a copy of `descriptor`. One object at a time, used
/// only on the thread that loads.
class OfferedObject {
 public:
  /// Keeps the pointer; owns neither argument.
  OfferedObject(const char* path, int descriptor);
  ~OfferedObject();
  OfferedObject(const OfferedObject&) = delete;
  OfferedObject& operator=(const OfferedObject&) = delete;
};

/// For a SIGSYS handler: serves the loader's requests for the offered object and refuses all others
/// with EACCES. Returns false if the signal did not come from a seccomp filter. Async-signal-safe.
[[nodiscard]] bool answer_loader(const siginfo_t& info, void* context);

}  // namespace warpath::host
