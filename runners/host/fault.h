#pragma once

#include <cstddef>
#include <cstdint>
#include <string>

namespace warpath::host {

/// What a worker process says when a signal ends it, in place of a reply.
struct FaultRecord {
  enum class Where : std::uint8_t { elsewhere, stack, shared_memory, tensor };
  int signal = 0;
  Where where = Where::elsewhere;
  int tensor = -1;          ///< index among the bound arguments
  std::int64_t offset = 0;  ///< from the tensor's begin, in bytes
  std::uint64_t address = 0;
};

/// Tells where an address lies; async-signal-safe.
using LocateFault = void (*)(const void* address, FaultRecord& record);

/// Gives this OS thread a stack for fault handlers. Each thread that runs kernel code calls it
/// once.
void install_fault_stack();

/// From now on a fatal signal puts a FaultRecord at the end of `frame`, writes that to `descriptor`
/// and ends the process; what the loader may ask for is answered instead
/// (object_file.h).
void install_fault_handlers(int descriptor, std::string frame, LocateFault locate);

}  // namespace warpath::host
