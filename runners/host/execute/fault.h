#pragma once

#include <cstddef>
#include <cstdint>
#include <string>

namespace warpath::host {

/// What a worker process reports when a signal ends it, in place of a reply.
struct FaultRecord {
  enum class Where : std::uint8_t { elsewhere, stack, shared_memory, tensor };
  int signal = 0;
  Where where = Where::elsewhere;
  int tensor = -1;          ///< index among the bound arguments
  std::int64_t offset = 0;  ///< from the tensor's begin, in bytes
  std::uint64_t address = 0;
};

/// Determines what `address` belongs to; async-signal-safe.
using LocateFault = void (*)(const void* address, FaultRecord& record);

/// Gives this OS thread an alternate signal stack. Call once on each thread that runs kernel code.
void install_fault_stack();

/// From now on a fatal signal puts a FaultRecord at the end of `frame`, writes the frame to
/// `descriptor` and ends the process. SIGSYS from the dynamic loader is served instead
/// (object_file.h).
void install_fault_handlers(int descriptor, std::string frame, LocateFault locate);

}  // namespace warpath::host
