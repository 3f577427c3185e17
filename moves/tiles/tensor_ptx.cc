#include "moves/tiles/tensor_ptx.h"

namespace warpath {
namespace {

constexpr std::string_view kCopies = R"(
// Address in shared memory as instructions take it.
__device__ __forceinline__ unsigned @shared_address(const void* p) {
  return static_cast<unsigned>(__cvta_generic_to_shared(p));
}

// Starts copying 16 bytes to shared memory; without `wanted` they become zero and nothing is read.
__device__ __forceinline__ void @copy_async(unsigned to, const void* from, bool wanted) {
  asm volatile("cp.async.cg.shared.global [%0], [%1], 16, %2;"
               :: "r"(to), "l"(from), "r"(wanted ? 16 : 0) : "memory");
}

__device__ __forceinline__ void @commit_copies() { asm volatile("cp.async.commit_group;" ::: "memory"); }

// Waits until all but the newest @PENDING groups of this thread's copies are there.
__device__ __forceinline__ void @wait_copies() {
  asm volatile("cp.async.wait_group @PENDING;" ::: "memory");
}

// Offset of a 16-byte part of a line: eight lines' equal parts lie in different banks.
__device__ __forceinline__ int @swizzled(int line, int part) { return line * 128 + ((part ^ (line & 7)) << 4); }
)";

constexpr std::string_view kLoadMatrices = R"(
// Four 8 x 8 matrices of 16-bit words; lane i gives the address of row i % 8 of matrix i / 8.
__device__ __forceinline__ void @load_matrices(unsigned (&r)[4], unsigned from) {
  asm volatile("ldmatrix.sync.aligned.m8n8.x4.shared.b16 {%0, %1, %2, %3}, [%4];"
               : "=r"(r[0]), "=r"(r[1]), "=r"(r[2]), "=r"(r[3]) : "r"(from) : "memory");
}
)";

constexpr std::string_view kLoadTransposed = R"(
// The same, each matrix transposed.
__device__ __forceinline__ void @load_transposed(unsigned (&r)[4], unsigned from) {
  asm volatile("ldmatrix.sync.aligned.m8n8.x4.trans.shared.b16 {%0, %1, %2, %3}, [%4];"
               : "=r"(r[0]), "=r"(r[1]), "=r"(r[2]), "=r"(r[3]) : "r"(from) : "memory");
}
)";

constexpr std::string_view kMma = R"(
// d += a * b, @MMA_SHAPE.
__device__ __forceinline__ void @mma(@ACC (&d)[4], const unsigned (&a)[4], unsigned b0, unsigned b1) {
  asm volatile("mma.sync.aligned.@MMA_SHAPE.row.col.@MMA_TYPES {%0, %1, %2, %3}, {%4, %5, %6, %7}, {%8, %9}, {%0, %1, %2, %3};"
               : "+@REG"(d[0]), "+@REG"(d[1]), "+@REG"(d[2]), "+@REG"(d[3])
               : "r"(a[0]), "r"(a[1]), "r"(a[2]), "r"(a[3]), "r"(b0), "r"(b1));
}
)";

constexpr std::string_view kWgmmaOrder = R"(
// Makes this thread's copies visible to warp-group instructions.
__device__ __forceinline__ void @publish_copies() { asm volatile("fence.proxy.async.shared::cta;" ::: "memory"); }

__device__ __forceinline__ void @begin_products() { asm volatile("wgmma.fence.sync.aligned;" ::: "memory"); }
__device__ __forceinline__ void @commit_products() { asm volatile("wgmma.commit_group.sync.aligned;" ::: "memory"); }
// Waits until only the newest group of products runs.
__device__ __forceinline__ void @wait_products() { asm volatile("wgmma.wait_group.sync.aligned 1;" ::: "memory"); }

// Describes operand tiles in swizzled lines of 128 bytes: eight lines make a unit of 1024 bytes, and units follow each
// other at 1024 bytes; `apart` is the distance of panels where the lines run across k.
__device__ __forceinline__ unsigned long long @describe(unsigned address, unsigned apart) {
  return (address & 0x3ffff) >> 4 | static_cast<unsigned long long>(apart >> 4) << 16 | 64ull << 32 | 1ull << 62;
}
)";

/// "%0, %1, ..., %n-1", wrapped inside a string literal.
std::string register_list(int n) {
  std::string out;
  for (int i = 0; i < n; ++i) {
    out += (i == 0 ? "" : i % 16 == 0 ? ",\"\n      \"" : ", ") + ("%" + std::to_string(i));
  }
  return out;
}

/// "+f"(d[0]), ...: wrapped lines of operands.
std::string operand_list(int n, const std::string& kind) {
  std::string out;
  for (int i = 0; i < n; ++i) {
    out += (i == 0       ? ""
            : i % 8 == 0 ? ",\n        "
                         : ", ") +
           ("\"+" + kind + "\"(d[" + std::to_string(i) + "])");
  }
  return out;
}

constexpr std::string_view kWgmma = R"(
// d += a * b with 64 rows a warp group, operands as describe() says. Runs until it is waited for.
__device__ __forceinline__ void @wgmma(@ACC (&d)[@ACCS], unsigned long long a, unsigned long long b) {
  asm volatile(
      "{.reg .pred add; setp.eq.u32 add, 0, 0;\n"
      "wgmma.mma_async.sync.aligned.@WGMMA_SHAPE {"
      "@REGISTERS},"
      "%@ACCS, %@DESC_B, add@WGMMA_FLAGS;}"
      : @OPERANDS
      : "l"(a), "l"(b));
}

// Waits for all products.
__device__ __forceinline__ void @finish_products(@ACC (&d)[@ACCS]) {
  asm volatile("wgmma.wait_group.sync.aligned 0;"
      : @OPERANDS
      :: "memory");
}
)";

}  // namespace

std::string tensor_helpers(CodeTemplate& code, const Contraction& c, const TensorTile& tile) {
  const TensorOperand a = tensor_operand(c, c.a), b = tensor_operand(c, c.b);
  const bool bytes = c.a.element_bytes == 1;
  const std::string type = bytes                                               ? "s8"
                           : c.a.element.find("bfloat16") != std::string::npos ? "bf16"
                                                                               : "f16";
  const std::string result = bytes ? "s32" : "f32";
  code.set("ACC", bytes ? "int" : "float");
  code.set("REG", bytes ? "r" : "f");
  code.set("PENDING", tile.wgmma ? tile.stages - 3 : tile.stages - 2);
  std::string out = code.fill(kCopies.substr(1));
  if (!tile.wgmma) {
    code.set("MMA_SHAPE", bytes ? "m16n8k32" : "m16n8k16");
    code.set("MMA_TYPES", result + "." + type + "." + type + "." + result);
    if (a.k_major || b.k_major) out += code.fill(kLoadMatrices);
    if (!a.k_major || !b.k_major) out += code.fill(kLoadTransposed);
    return out + code.fill(kMma);
  }
  const int n = tile.block_n / 2;
  code.set("ACCS", n);
  code.set("DESC_B", n + 1);
  code.set("REGISTERS", register_list(n));
  code.set("OPERANDS", operand_list(n, bytes ? "r" : "f"));
  code.set("WGMMA_SHAPE", "m64n" + std::to_string(tile.block_n) + (bytes ? "k32." : "k16.") +
                              result + "." + type + "." + type);
  // Signs of the operands, then whether lines run across k.
  code.set(
      "WGMMA_FLAGS",
      bytes ? "" : std::string(", 1, 1, ") + (a.k_major ? "0, " : "1, ") + (b.k_major ? "0" : "1"));
  return out + code.fill(kWgmmaOrder) + code.fill(kWgmma);
}

}  // namespace warpath
