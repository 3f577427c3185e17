#pragma once

#include <linux/filter.h>

#include <span>

namespace warpath {

/// Programs for the kernel's filter of system calls (seccomp), made when the program is compiled:
/// installing one makes system calls only. What is refused answers EACCES; `clone3`, whose
/// arguments a filter cannot see, ENOSYS, on which C libraries turn to `clone`.
using FilterProgram = std::span<const sock_filter>;

/// Refuses files, sockets, programs, processes, and what reaches into other processes; threads may
/// be started.
[[nodiscard]] FilterProgram filter_for_libraries();
/// The same without files, programs and processes: those of a program that may start others, held
/// elsewhere.
[[nodiscard]] FilterProgram filter_for_programs();
/// Refuses everything that is not on a short list; openat and newfstatat raise SIGSYS.
[[nodiscard]] FilterProgram filter_for_computing();

/// True if the kernel takes filters.
[[nodiscard]] bool filters_offered();

/// For the calling thread, or for all threads of the process. The caller must have given up new
/// privileges. False if the kernel refuses.
[[nodiscard]] bool install_filter(FilterProgram program, bool all_threads) noexcept;

}  // namespace warpath
