#pragma once

#include <algorithm>
#include <array>
#include <cstddef>
#include <string_view>

namespace warpath::cuda {

/// A header of the CUDA toolkit. NVRTC knows headers by the name that an include has, not by their
/// place, so one that is included in several ways is there under several names.
struct ToolkitFile {
  std::string_view name;
  std::string_view path;  ///< below an include folder
  bool allowed = false;   ///< a kernel may name it; the others are included by these
};

/// Half types, tensor-core fragments, vector types, asynchronous copies, cooperative groups.
inline constexpr std::array kToolkitFiles{
    ToolkitFile{"cuda_fp16.h", "cuda_fp16.h", true},
    ToolkitFile{"cuda_bf16.h", "cuda_bf16.h", true},
    ToolkitFile{"cuda_fp8.h", "cuda_fp8.h", true},
    ToolkitFile{"mma.h", "mma.h", true},
    ToolkitFile{"cuComplex.h", "cuComplex.h", true},
    ToolkitFile{"vector_types.h", "vector_types.h", true},
    ToolkitFile{"vector_functions.h", "vector_functions.h", true},
    ToolkitFile{"cuda_fp16.hpp", "cuda_fp16.hpp"},
    ToolkitFile{"cuda_bf16.hpp", "cuda_bf16.hpp"},
    ToolkitFile{"cuda_fp8.hpp", "cuda_fp8.hpp"},
    ToolkitFile{"crt/mma.h", "crt/mma.h"},
    ToolkitFile{"mma.hpp", "crt/mma.hpp"},
    ToolkitFile{"vector_functions.hpp", "vector_functions.hpp"},
    ToolkitFile{"device_types.h", "device_types.h"},
    ToolkitFile{"crt/host_defines.h", "crt/host_defines.h"},

    ToolkitFile{"cuda_pipeline.h", "cuda_pipeline.h", true},
    ToolkitFile{"cuda_pipeline_primitives.h", "cuda_pipeline_primitives.h", true},
    ToolkitFile{"cuda_pipeline_helpers.h", "cuda_pipeline_helpers.h"},
    ToolkitFile{"cuda_awbarrier.h", "cuda_awbarrier.h", true},
    ToolkitFile{"cuda_awbarrier_primitives.h", "cuda_awbarrier_primitives.h", true},
    ToolkitFile{"cuda_awbarrier_helpers.h", "cuda_awbarrier_helpers.h"},

    ToolkitFile{"cooperative_groups.h", "cooperative_groups.h", true},
    ToolkitFile{"cooperative_groups/reduce.h", "cooperative_groups/reduce.h", true},
    ToolkitFile{"cooperative_groups/scan.h", "cooperative_groups/scan.h", true},
    ToolkitFile{"cooperative_groups/memcpy_async.h", "cooperative_groups/memcpy_async.h", true},
    ToolkitFile{"../cooperative_groups.h", "cooperative_groups.h"},
    ToolkitFile{"cooperative_groups/details/driver_abi.h",
                "cooperative_groups/details/driver_abi.h"},
    ToolkitFile{"cooperative_groups/details/helpers.h", "cooperative_groups/details/helpers.h"},
    ToolkitFile{"cooperative_groups/details/info.h", "cooperative_groups/details/info.h"},
    ToolkitFile{"cooperative_groups/details/invoke.h", "cooperative_groups/details/invoke.h"},
    ToolkitFile{"cooperative_groups/details/memory.h", "cooperative_groups/details/memory.h"},
    ToolkitFile{"cooperative_groups/details/partitioning.h",
                "cooperative_groups/details/partitioning.h"},
    ToolkitFile{"details/async.h", "cooperative_groups/details/async.h"},
    ToolkitFile{"details/info.h", "cooperative_groups/details/info.h"},
    ToolkitFile{"details/reduce.h", "cooperative_groups/details/reduce.h"},
    ToolkitFile{"details/scan.h", "cooperative_groups/details/scan.h"},
    ToolkitFile{"coalesced_reduce.h", "cooperative_groups/details/coalesced_reduce.h"},
    ToolkitFile{"coalesced_scan.h", "cooperative_groups/details/coalesced_scan.h"},
    ToolkitFile{"functional.h", "cooperative_groups/details/functional.h"},
    ToolkitFile{"helpers.h", "cooperative_groups/details/helpers.h"},
    ToolkitFile{"info.h", "cooperative_groups/details/info.h"},
    ToolkitFile{"partitioning.h", "cooperative_groups/details/partitioning.h"},
    ToolkitFile{"sync.h", "cooperative_groups/details/sync.h"},
    ToolkitFile{"nv/target", "nv/target"},
    ToolkitFile{"detail/__preprocessor", "nv/detail/__preprocessor"},
    ToolkitFile{"__preprocessor", "nv/detail/__preprocessor"},
    ToolkitFile{"detail/__target_macros", "nv/detail/__target_macros"},
};
inline constexpr auto kAllowedToolkitFiles =
    static_cast<std::size_t>(std::ranges::count_if(kToolkitFiles, &ToolkitFile::allowed));

}  // namespace warpath::cuda
