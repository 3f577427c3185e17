#pragma once

// Which words of CUDA C++ a candidate on the host runner may and may not use, as tables for
// translate.cc; docs/host-runner.md says why.

#include <array>
#include <string_view>

#include "engine/base/words.h"

namespace warpath::host {

/// Headers that may be included. All of these are parts of the shim, which precedes the candidate.
inline constexpr WordList kHeaders(
    "cuda.h cuda_runtime.h cuda_runtime_api.h cuda_fp16.h cuda_fp16.hpp cuda_bf16.h "
    "cuda_bf16.hpp device_launch_parameters.h vector_types.h vector_functions.h "
    "math_constants.h device_functions.h stdint.h cstdint math.h cmath stddef.h cstddef "
    "limits.h climits limits float.h cfloat type_traits assert.h cassert stdio.h cstdio");

/// A name and what it belongs to.
struct Refusal {
  std::string_view name;
  std::string_view construct;
};
// Names the host runner has no meaning for.
inline constexpr std::array kUnsupported{
    Refusal{"asm", "inline PTX assembly"},
    Refusal{"__asm", "inline PTX assembly"},
    Refusal{"__asm__", "inline PTX assembly"},
    Refusal{"__cluster_dims__", "thread block clusters"},
    Refusal{"cooperative_groups", "cooperative groups"},
    Refusal{"nvcuda", "tensor-core matrices (wmma)"},
    Refusal{"wmma", "tensor-core matrices (wmma)"},
    Refusal{"__managed__", "managed memory"},
    Refusal{"__texture__", "textures"},
    Refusal{"cudaTextureObject_t", "textures"},
    Refusal{"cudaSurfaceObject_t", "surfaces"},
    Refusal{"tex1Dfetch", "textures"},
    Refusal{"tex1D", "textures"},
    Refusal{"tex2D", "textures"},
    Refusal{"tex3D", "textures"},
    Refusal{"cudaGraphLaunch", "device-side launch"},
    Refusal{"cudaLaunchDevice", "device-side launch"},
    Refusal{"cudaGridDependencySynchronize", "programmatic dependent launch"},
    Refusal{"cudaTriggerProgrammaticLaunchCompletion", "programmatic dependent launch"},
    Refusal{"__pipeline_memcpy_async", "asynchronous copies"},
    Refusal{"__pipeline_commit", "asynchronous copies"},
    Refusal{"__nv_cvta_generic_to_shared_impl", "address-space casts"},
    Refusal{"__cvta_generic_to_shared", "address-space casts"},
    Refusal{"__isShared", "address-space tests"},
    Refusal{"__isGlobal", "address-space tests"},
    Refusal{"__nv_fp8_e4m3", "fp8"},
    Refusal{"__nv_fp8_e5m2", "fp8"},
    Refusal{"new", "the device heap"},
    Refusal{"delete", "the device heap"}};
// The same, where a call follows the name.
inline constexpr std::array kUnsupportedCalls{
    Refusal{"clock", "clock reads"},         Refusal{"clock64", "clock reads"},
    Refusal{"__globaltimer", "clock reads"}, Refusal{"malloc", "the device heap"},
    Refusal{"free", "the device heap"},      Refusal{"alloca", "alloca"},
    Refusal{"__builtin_alloca", "alloca"},   Refusal{"__prof_trigger", "profiler triggers"},
    Refusal{"__brkpt", "breakpoints"}};
// Directives that name files or change what diagnostics say.
inline constexpr std::array<std::string_view, 9> kRefusedDirectives{
    "include_next", "import", "embed",    "line",         "ident",
    "sccs",         "assert", "unassert", "include_alias"};
inline constexpr std::array<std::string_view, 5> kRefusedNames{
    "__has_include", "__has_include_next", "__has_embed", "__FILE__", "__BASE_FILE__"};

// Reach behind the language: stacks, registers and other contexts.
inline constexpr WordList kRefusedBuiltins(
    "__builtin_thread_pointer __builtin_set_thread_pointer __builtin_return_address "
    "__builtin_extract_return_addr __builtin_frame_address __builtin_dwarf_cfa "
    "__builtin_apply __builtin_apply_args __builtin_return __builtin_setjmp __builtin_longjmp "
    "__builtin_eh_return __builtin_unwind_init __builtin___clear_cache "
    "__builtin_call_with_static_chain __builtin_init_trampoline");
// Attributes that say how code is made; none says where it lies, when it runs or what it is called.
// Without underscores around them.
inline constexpr WordList kAttributes(
    "aligned always_inline noinline noclone pure const unused used hot cold flatten packed "
    "may_alias vector_size noreturn nothrow optimize nonnull returns_nonnull malloc nodiscard "
    "maybe_unused deprecated fallthrough likely unlikely no_unique_address assume "
    "warn_unused_result artificial device global host shared constant launch_bounds "
    "grid_constant nv_pure unroll opencl_unroll_hint");

}  // namespace warpath::host
