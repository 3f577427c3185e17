#include "runners/cuda/compile/headers.h"

#include <algorithm>
#include <array>
#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <iterator>
#include <optional>

#include "runners/cuda/compile/toolkit_files.h"
#include "runners/math_constants_text.h"

namespace warpath::cuda {
namespace {

constexpr std::size_t kMaxHeaderBytes = std::size_t{4} << 20U;

/// Precedes the headers of cooperative groups, which then bring type traits of their own and do not
/// include the C++ library, a thousand files.
constexpr std::string_view kLimited = "#define _CG_LIMIT_INCLUDED_DEPENDENCIES\n";

/// Host headers, replaced by the lines that matter on the device.
struct Replacement {
  std::string_view name;
  std::string_view text;
};
constexpr std::string_view kNothing = "#pragma once\n";
constexpr std::string_view kIntegers =
    "#pragma once\n"
    "typedef signed char int8_t;\ntypedef short int16_t;\ntypedef int int32_t;\ntypedef long long "
    "int64_t;\n"
    "typedef unsigned char uint8_t;\ntypedef unsigned short uint16_t;\ntypedef unsigned int "
    "uint32_t;\n"
    "typedef unsigned long long uint64_t;\ntypedef long long intptr_t;\ntypedef unsigned long long "
    "uintptr_t;\n"
    "#define INT8_MAX 127\n#define INT8_MIN (-128)\n#define UINT8_MAX 255\n#define INT16_MAX "
    "32767\n#define INT16_MIN (-32768)\n#define UINT16_MAX 65535\n"
    "#define INT64_MIN (-9223372036854775807LL - 1)\n"
    "#define INT32_MAX 2147483647\n#define INT32_MIN (-2147483647 - 1)\n#define UINT32_MAX "
    "4294967295u\n"
    "#define INT64_MAX 9223372036854775807LL\n#define UINT64_MAX 18446744073709551615ULL\n";
constexpr std::string_view kFloats =
    "#pragma once\n"
    "#define FLT_DIG 6\n#define FLT_MANT_DIG 24\n#define DBL_DIG 15\n#define DBL_MANT_DIG 53\n"
    "#define FLT_MAX 3.402823466e+38f\n#define FLT_MIN 1.175494351e-38f\n#define FLT_EPSILON "
    "1.192092896e-07f\n"
    "#define DBL_MAX 1.7976931348623158e+308\n#define DBL_MIN 2.2250738585072014e-308\n#define "
    "DBL_EPSILON 2.2204460492503131e-016\n";
constexpr std::string_view kLimits =
    "#pragma once\n"
    "#define CHAR_BIT 8\n#define SCHAR_MAX 127\n#define UCHAR_MAX 255\n#define SHRT_MAX 32767\n"
    "#define USHRT_MAX 65535\n#define INT_MAX 2147483647\n#define INT_MIN (-2147483647 - "
    "1)\n#define "
    "UINT_MAX 4294967295u\n"
    "#define LLONG_MAX 9223372036854775807LL\n#define ULLONG_MAX 18446744073709551615ULL\n";
constexpr std::string_view kAssert = "#pragma once\n#define assert(condition) ((void)0)\n";
constexpr std::string_view kMath = R"(#pragma once
#ifndef INFINITY
#define INFINITY __int_as_float(0x7f800000)
#endif
#ifndef HUGE_VALF
#define HUGE_VALF __int_as_float(0x7f800000)
#define HUGE_VAL __longlong_as_double(0x7ff0000000000000LL)
#endif
#ifndef NAN
#define NAN __int_as_float(0x7fffffff)
#endif
#ifndef M_PI
#define M_E 2.7182818284590452354
#define M_LOG2E 1.4426950408889634074
#define M_LOG10E 0.43429448190325182765
#define M_LN2 0.69314718055994530942
#define M_LN10 2.30258509299404568402
#define M_PI 3.14159265358979323846
#define M_PI_2 1.57079632679489661923
#define M_PI_4 0.78539816339744830962
#define M_1_PI 0.31830988618379067154
#define M_2_PI 0.63661977236758134308
#define M_2_SQRTPI 1.12837916709551257390
#define M_SQRT2 1.41421356237309504880
#define M_SQRT1_2 0.70710678118654752440
#endif
)";
constexpr std::array<Replacement, 20> kReplacements{{
    {"cuda_runtime.h", kMath},
    {"cuda.h", kNothing},
    {"device_launch_parameters.h", kNothing},
    {"cuda_runtime_api.h", kNothing},
    {"device_functions.h", kNothing},
    {"math_constants.h", kMathConstants},
    {"stdint.h", kIntegers},
    {"cstdint", kIntegers},
    {"stddef.h", kNothing},
    {"cstddef", kNothing},
    {"float.h", kFloats},
    {"cfloat", kFloats},
    {"limits.h", kLimits},
    {"climits", kLimits},
    {"string.h", kNothing},
    {"cstring", kNothing},
    {"assert.h", kAssert},
    {"cassert", kAssert},
    {"math.h", kMath},
    {"cmath", kMath},
}};
std::optional<std::string> read_header(const std::filesystem::path& path) {
  std::error_code error;
  if (!std::filesystem::is_regular_file(path, error) ||
      std::filesystem::file_size(path, error) > kMaxHeaderBytes)
    return std::nullopt;
  std::ifstream file(path, std::ios::binary);
  if (!file) return std::nullopt;
  return std::string(std::istreambuf_iterator<char>(file), {});
}

}  // namespace

std::span<const std::string_view> allowed_includes() {
  static constexpr auto kNames = [] {
    std::array<std::string_view, kAllowedToolkitFiles + kReplacements.size()> names{};
    std::size_t count = 0;
    for (const ToolkitFile& file : kToolkitFiles) {
      if (file.allowed) names[count++] = file.name;
    }
    for (const Replacement& replacement : kReplacements) names[count++] = replacement.name;
    return names;
  }();
  return kNames;
}

std::vector<Header> load_headers(const std::vector<std::string>& folders) {
  std::vector<Header> headers;
  for (const ToolkitFile& file : kToolkitFiles) {
    for (const std::string& folder : folders) {
      if (auto text = read_header(std::filesystem::path(folder) / file.path)) {
        const bool of_groups = file.path.starts_with("cooperative_groups");
        headers.push_back(
            {std::string(file.name), (of_groups ? std::string(kLimited) : "") + *text});
        break;
      }
    }
  }
  for (const Replacement& replacement : kReplacements) {
    headers.push_back({std::string(replacement.name), std::string(replacement.text)});
  }
  return headers;
}

std::vector<std::string> include_folders(const std::string& nvrtc_path) {
  std::vector<std::string> folders;
  const std::filesystem::path library(nvrtc_path);
  if (library.is_absolute()) {
    folders.push_back((library.parent_path().parent_path() / "include").string());
    folders.push_back((library.parent_path() / "include").string());
  }
  for (const char* variable : {"CUDA_PATH", "CUDA_HOME"}) {
    if (const char* value = std::getenv(variable); value != nullptr && *value != '\0') {
      folders.push_back(std::string(value) + "/include");
    }
  }
  folders.emplace_back("/usr/local/cuda/include");
  folders.emplace_back("/usr/include");
  return folders;
}

}  // namespace warpath::cuda
