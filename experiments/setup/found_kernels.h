#pragma once

#include <filesystem>
#include <map>
#include <string>
#include <utility>
#include <vector>

#include "engine/base/hash.h"
#include "engine/spec/spec.h"

namespace warpath {

/// The kernel that a spec is about, whatever its sizes: hash of source, entry, arguments, launch,
/// options, tunables, constraints, reference and tolerances. Names, workloads and objective do not
/// count.
[[nodiscard]] Hash128 kernel_identity(const KernelSpec& spec);

/// A kernel that a recorded run would launch, and where it is known to be right.
struct FoundKernel {
  std::filesystem::path run;  ///< its folder
  std::string kernel;         ///< the spec's name
  Hash128 identity;           ///< kernel_identity
  std::string device;         ///< on which it was measured, exactly as it calls itself
  std::string runner;
  Bindings
      when;  ///< sizes for which it is launched; empty: any that an earlier one does not hold for
  std::string file;  ///< within the run's folder; empty: the spec's own kernel
  /// Least and greatest value of each size among the workloads that it served.
  std::map<std::string, std::pair<std::int64_t, std::int64_t>, std::less<>> verified;
  struct Size {
    std::string workload;
    Bindings values;
    double time_ms = 0, speedup = 0;  ///< 0: it was only checked there
  };
  std::vector<Size> sizes;  ///< that it served
};

/// Whether a kernel serves sizes. `own`: it is the spec's own kernel, right for any. `outside`
/// those that it was verified for: it is launched there, but nothing vouches for more than its
/// text.
enum class Serves : unsigned char { no, measured, own, within, outside };
[[nodiscard]] Serves serves(const FoundKernel& kernel, const Bindings& sizes);

/// The kernels of all finished runs below `folder`, of each run in the order in which they are
/// tried, the general one last; runs by path. Links are not followed. What is damaged is passed
/// over with a line in `notes`. Throws Error(bad_input) if there is no such folder.
[[nodiscard]] std::vector<FoundKernel> found_kernels(const std::filesystem::path& folder,
                                                     std::vector<std::string>& notes);

}  // namespace warpath
