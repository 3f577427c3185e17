#pragma once

#include <map>
#include <string>
#include <string_view>

/// C++ in the place of the PTX in the helper functions of moves/tiles/tensor_ptx.cc and their
/// like, after the PTX ISA's fragment and descriptor layouts, so that the host runner can run
/// kernels for tensor cores. Asynchronous work is done at once.
namespace warpath::test {

inline constexpr std::string_view kSharedWindow = R"(
// Shared memory by the addresses that shared_address() gives; it starts at a kilobyte to tell offsets from addresses.
__device__ __forceinline__ unsigned char* emulated_shared(unsigned address) {
  extern __shared__ __align__(1024) unsigned char emulated_window[];
  return emulated_window + (address - 1024u);
}
__device__ __forceinline__ float emulated_float(unsigned bits) { return __uint_as_float(bits << 16); }
__device__ __forceinline__ int emulated_byte(unsigned word, int i) { return static_cast<int>(static_cast<signed char>(word >> (8 * i) & 0xff)); }
__device__ __forceinline__ unsigned emulated_swizzle(unsigned address) { return address ^ ((address >> 7 & 7) << 4); }
)";

inline constexpr std::string_view kCopyBody = R"(
  if (wanted) __builtin_memcpy(emulated_shared(to), from, 16);
  else __builtin_memset(emulated_shared(to), 0, 16);
)";

inline constexpr std::string_view kAddressBody = R"(
  extern __shared__ __align__(1024) unsigned char emulated_window[];
  return static_cast<unsigned>(static_cast<const unsigned char*>(p) - emulated_window) + 1024u;
)";

// Lane l receives row l / 4, words 2 (l % 4) and the next, of each matrix; transposed: column l /
// 4, those rows.
inline constexpr std::string_view kLoadBody = R"(
  int lane = threadIdx.x % 32;
  for (int m = 0; m < 4; m++) {
    r[m] = 0;
    for (int x = 0; x < 2; x++) {
      int row = @TRANSPOSED ? lane % 4 * 2 + x : lane / 4, column = @TRANSPOSED ? lane / 4 : lane % 4 * 2 + x;
      unsigned at = __shfl_sync(0xffffffffu, from, m * 8 + row);
      unsigned short word;
      __builtin_memcpy(&word, emulated_shared(at) + column * 2, 2);
      r[m] |= static_cast<unsigned>(word) << (16 * x);
    }
  }
)";

// Fragments of m16n8k16 (two values a register) and m16n8k32 (four): row l / 4 (+ 8 in odd
// registers of a), k in quarters by l % 4.
inline constexpr std::string_view kMmaBody = R"(
  int lane = threadIdx.x % 32;
  unsigned left[4][4], right[2][4][2];
  for (int t = 0; t < 4; t++) {
    for (int i = 0; i < 4; i++) left[t][i] = __shfl_sync(0xffffffffu, a[i], lane / 4 * 4 + t);
    for (int n = 0; n < 2; n++) {
      right[n][t][0] = __shfl_sync(0xffffffffu, b0, (lane % 4 * 2 + n) * 4 + t);
      right[n][t][1] = __shfl_sync(0xffffffffu, b1, (lane % 4 * 2 + n) * 4 + t);
    }
  }
  for (int i = 0; i < 4; i++) {
    for (int t = 0; t < 4; t++) {
      for (int half = 0; half < 2; half++) {
        unsigned x = left[t][half * 2 + i / 2], y = right[i % 2][t][half];
        @ADD
      }
    }
  }
)";
inline constexpr std::string_view kAddFloats =
    "for (int e = 0; e < 2; e++) d[i] += emulated_float(x >> (16 * e) & 0xffff) * emulated_float(y "
    ">> (16 * e) & 0xffff);";
inline constexpr std::string_view kAddBytes =
    "for (int e = 0; e < 4; e++) d[i] += emulated_byte(x, e) * emulated_byte(y, e);";

// Descriptor: bits 0-13 address / 16, 16-29 leading and 32-45 stride offset / 16, 62-63 the swizzle
// (1: 128 bytes). Lines along k: eight of them a unit, units at the stride. Lines across k: 64
// elements of m or n, panels at the leading offset, eight k a unit.
inline constexpr std::string_view kWgmmaBody = R"(
  int lane = threadIdx.x % 32, warp = threadIdx.x / 32 % 4;
  const auto at = [](unsigned long long describes, bool across, int outer, int k) {
    unsigned start = static_cast<unsigned>(describes & 0x3fff) << 4, leading = static_cast<unsigned>(describes >> 16 & 0x3fff) << 4;
    unsigned stride = static_cast<unsigned>(describes >> 32 & 0x3fff) << 4;
    unsigned address = across ? start + outer / 64 * leading + k / 8 * stride + k % 8 * 128 + outer % 64 * 2
                              : start + outer / 8 * stride + outer % 8 * 128 + k * @BYTES;
    if (describes >> 62 != 1 || (describes >> 49 & 7) != 0) __builtin_trap();
    return emulated_shared(emulated_swizzle(address));
  };
  for (int j = 0; j < @N / 8; j++) {
    for (int i = 0; i < 4; i++) {
      int row = warp * 16 + lane / 4 + i / 2 * 8, column = j * 8 + lane % 4 * 2 + i % 2;
      for (int k = 0; k < 32 / @BYTES; k++) {
        const unsigned char* x = at(a, @ACROSS_A, row, k);
        const unsigned char* y = at(b, @ACROSS_B, column, k);
        @ADD
      }
    }
  }
)";
inline constexpr std::string_view kAddFloat =
    "d[4 * j + i] += emulated_float(static_cast<unsigned>(x[0]) | static_cast<unsigned>(x[1]) << "
    "8) * emulated_float(static_cast<unsigned>(y[0]) | static_cast<unsigned>(y[1]) << 8);";
inline constexpr std::string_view kAddByte =
    "d[4 * j + i] += static_cast<signed char>(*x) * static_cast<signed char>(*y);";

/// `text` with each `from` replaced.
[[nodiscard]] inline std::string with(std::string text,
                                      std::string_view from,
                                      std::string_view to) {
  for (std::size_t at = text.find(from); at != std::string::npos;
       at = text.find(from, at + to.size()))
    text.replace(at, from.size(), to);
  return text;
}

/// What stands between `before` and the next `after` in `text`; empty if it does not occur.
[[nodiscard]] inline std::string between(const std::string& text,
                                         std::string_view before,
                                         std::string_view after) {
  const std::size_t begin = text.find(before);
  if (begin == std::string::npos) return "";
  const std::size_t end = text.find(after, begin + before.size());
  return text.substr(begin + before.size(), end - begin - before.size());
}

/// The emulation of the helper `name` with PTX in its body `ptx`.
[[nodiscard]] inline std::string emulated_body(const std::string& name, const std::string& ptx) {
  const bool bytes = ptx.find(".s8.s8") != std::string::npos;
  if (name == "shared_address") return std::string(kAddressBody);
  if (name == "copy_async") return std::string(kCopyBody);
  if (name == "load_matrices") return with(std::string(kLoadBody), "@TRANSPOSED", "false");
  if (name == "load_transposed") return with(std::string(kLoadBody), "@TRANSPOSED", "true");
  if (name == "mma") return with(std::string(kMmaBody), "@ADD", bytes ? kAddBytes : kAddFloats);
  if (name == "copy_pack")
    return "\n  *reinterpret_cast<float4*>(to) = wanted ? *reinterpret_cast<const float4*>(from) : "
           "make_float4(0.0f, 0.0f, 0.0f, 0.0f);\n";
  if (name.starts_with("copy_async_")) {
    const std::string size = name.substr(11);
    return "\n  if (wanted) __builtin_memcpy(to, from, " + size +
           ");\n  else __builtin_memset(to, 0, " + size + ");\n";
  }
  if (name != "wgmma") return "";
  std::string out = with(std::string(kWgmmaBody), "@ADD", bytes ? kAddByte : kAddFloat);
  out = with(out, "@BYTES", bytes ? "1" : "2");
  out = with(out, "@N", between(ptx, "m64n", "k"));
  const std::string flags = between(ptx, "add, 1, 1, ", ";");
  out = with(out, "@ACROSS_A", !flags.empty() && flags[0] == '1' ? "true" : "false");
  return with(out, "@ACROSS_B", !flags.empty() && flags.back() == '1' ? "true" : "false");
}

/// `source` with the bodies of all device functions that hold PTX replaced by their emulation.
[[nodiscard]] inline std::string emulated(const std::string& source) {
  constexpr std::string_view kHead = "__device__ __forceinline__ ";
  std::string out;
  std::size_t done = 0;
  bool window = false;
  for (std::size_t at = source.find(kHead); at != std::string::npos;
       at = source.find(kHead, at + 1)) {
    const std::size_t open = source.find('(', at);
    const std::size_t name = source.rfind(' ', open) + 1;
    const std::size_t body = source.find(") {", open) + 2;
    int depth = 0;
    std::size_t end = body;
    bool quoted = false;
    do {
      if (source[end] == '"') quoted = !quoted;
      if (!quoted && source[end] == '{') ++depth;
      if (!quoted && source[end] == '}') --depth;
      ++end;
    } while (depth > 0);
    const std::string text = source.substr(body, end - body);
    if (text.find("asm") == std::string::npos && text.find("__cvta") == std::string::npos) continue;
    out += source.substr(done, at - done);
    if (!window) out += kSharedWindow, window = true;
    out += source.substr(at, body + 1 - at) +
           emulated_body(source.substr(name, open - name), text) + "}";
    done = end;
  }
  return out + source.substr(done);
}

}  // namespace warpath::test
