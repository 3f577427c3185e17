#pragma once

#include <linux/filter.h>

#include <span>
#include <vector>

namespace warpath {

/// seccomp filter programs, built at compile time so that installing one makes system calls only. A
/// refused call fails with EACCES; `clone3`, whose arguments a filter cannot inspect, with ENOSYS,
/// on which C libraries fall back to `clone`.
using FilterProgram = std::span<const sock_filter>;

/// Refuses files, sockets, programs, processes, and access to other processes; threads may be
/// started.
[[nodiscard]] FilterProgram filter_for_libraries();
/// Refuses sockets and access to other processes. For programs that start others; Landlock
/// restricts their files.
[[nodiscard]] FilterProgram filter_for_programs();
/// Refuses everything not on a short list; openat and newfstatat raise SIGSYS.
[[nodiscard]] FilterProgram filter_for_computing();

/// Ends the process at a system call that is not made by code of the program and the libraries that
/// are loaded now.
[[nodiscard]] std::vector<sock_filter> filter_for_present_code();

/// True if the kernel supports filters on this architecture.
[[nodiscard]] bool filters_offered();

/// Installs `program` for the calling thread, or for all threads of the process.
/// PR_SET_NO_NEW_PRIVS must be set. Returns false if the kernel refuses.
[[nodiscard]] bool install_filter(FilterProgram program, bool all_threads) noexcept;

}  // namespace warpath
