#include "moves/attention/attention_tile.h"

#include "moves/syntax/syntax_query.h"

namespace warpath {
namespace {

constexpr std::string_view kAsyncHelpers =
    R"(// Starts copying 16 bytes to shared memory; without `wanted` they become zero and nothing is read.
__device__ __forceinline__ void @copy_pack(float* to, const float* from, bool wanted) {
  asm volatile("cp.async.cg.shared.global [%0], [%1], 16, %2;"
               :: "r"(static_cast<unsigned>(__cvta_generic_to_shared(to))), "l"(from), "r"(wanted ? 16 : 0) : "memory");
}

// Waits for all copies of this thread.
__device__ __forceinline__ void @wait_packs() { asm volatile("cp.async.wait_all;" ::: "memory"); }
)";

constexpr std::string_view kPlainHelpers =
    R"(// Copies four floats to shared memory, zeros without `wanted`.
__device__ __forceinline__ void @copy_pack(float* to, const float* from, bool wanted) {
  *reinterpret_cast<float4*>(to) = wanted ? *reinterpret_cast<const float4*>(from) : make_float4(0.0f, 0.0f, 0.0f, 0.0f);
}
)";

constexpr std::string_view kHead =
    R"(constexpr int @BQ = @BQ_VALUE, @BK = @BK_VALUE, @CHANNELS = @D_VALUE;  // queries of the block, keys of a tile, row length
constexpr int @X = @X_VALUE, @Y = @THREADS_VALUE / @X;  // threads that share a query; queries that are worked on side by side
constexpr int @ROWS = @BQ / @Y, @COLS = @BK / @X, @PARTS = @CHANNELS / @X / 4;
constexpr int @PITCH = @CHANNELS + 4, @P_PITCH = @BK + @X;  // keep rows that are read together in different banks
extern __shared__ __align__(16) float @shared[];
float* @q_tile = @shared;                     // [BQ][PITCH]
float* @k_tile = @q_tile + @BQ * @PITCH;      // [BK][PITCH]
float* @v_tile = @k_tile + @BK * @PITCH;      // [BK][CHANNELS]
float* @p_tile = @v_tile + @BK * @CHANNELS;   // [BQ][P_PITCH]: weights, row by row within the threads of a query
const int @thread = threadIdx.x, @x = @thread % @X, @y = @thread / @X;
)";

constexpr std::string_view kStageFunction = R"(#pragma unroll
for (int @i = @thread * 4; @i < @LINES * @CHANNELS; @i += @THREADS_VALUE * 4) {
  const @TYPE @ROW = @ROW0 + @i / @CHANNELS, @D = @i % @CHANNELS;
  @copy_pack(&@TO[@i / @CHANNELS * @TO_PITCH + @D], &@LOAD, @ROW < @ROW_END);
}
)";

constexpr std::string_view kScores = R"(// Scores of ROWS queries and COLS keys.
float @s[@ROWS][@COLS] = {};
#pragma unroll 1
for (int @c = 0; @c < @CHANNELS; @c += 4) {
  float4 @key[@COLS];
  #pragma unroll
  for (int @j = 0; @j < @COLS; @j++) @key[@j] = *reinterpret_cast<const float4*>(&@k_tile[(@x + @X * @j) * @PITCH + @c]);
  #pragma unroll
  for (int @i = 0; @i < @ROWS; @i++) {
    const float4 @query = *reinterpret_cast<const float4*>(&@q_tile[(@y + @Y * @i) * @PITCH + @c]);
    #pragma unroll
    for (int @j = 0; @j < @COLS; @j++) {
      @s[@i][@j] += @query.x * @key[@j].x;
      @s[@i][@j] += @query.y * @key[@j].y;
      @s[@i][@j] += @query.z * @key[@j].z;
      @s[@i][@j] += @query.w * @key[@j].w;
    }
  }
}

// New largest score, weights relative to it, and what was summed so far scaled down to it.
#pragma unroll
for (int @i = 0; @i < @ROWS; @i++) {
  float @peak = @top[@i];
  #pragma unroll
  for (int @j = 0; @j < @COLS; @j++) {
    const int @at = @key0 + @x + @X * @j;
    @s[@i][@j] = @whole || (@ALLOWED) ? @s[@i][@j] * @factor : -3e38f;  // weighs nothing, even beside scores of minus infinity
    @peak = fmaxf(@peak, @s[@i][@j]);
  }
  #pragma unroll
  for (int @step = @X / 2; @step > 0; @step /= 2) @peak = fmaxf(@peak, __shfl_xor_sync(0xffffffffu, @peak, @step));
  const float @shrink = exp2f(@top[@i] - @peak);
  @top[@i] = @peak;
  @sum[@i] *= @shrink;
  #pragma unroll
  for (int @j = 0; @j < @COLS; @j++) {
    const float @weight = exp2f(@s[@i][@j] - @peak);
    @sum[@i] += @weight;
    @p_tile[(@y + @Y * @i) * @P_PITCH + @x + @X * @j] = @weight;
  }
  #pragma unroll
  for (int @c = 0; @c < @PARTS * 4; @c++) @acc[@i][@c] *= @shrink;
}
)";

constexpr std::string_view kValues = R"(// Weights times values.
#pragma unroll 2
for (int @j = 0; @j < @BK; @j += 4) {
  #pragma unroll
  for (int @c = 0; @c < @PARTS; @c++) {
    float4 @value[4];
    #pragma unroll
    for (int @e = 0; @e < 4; @e++) @value[@e] = *reinterpret_cast<const float4*>(&@v_tile[(@j + @e) * @CHANNELS + (@c * @X + @x) * 4]);
    #pragma unroll
    for (int @i = 0; @i < @ROWS; @i++) {
      const float4 @p = *reinterpret_cast<const float4*>(&@p_tile[(@y + @Y * @i) * @P_PITCH + @j]);
      @acc[@i][@c * 4 + 0] += @p.x * @value[0].x + @p.y * @value[1].x + @p.z * @value[2].x + @p.w * @value[3].x;
      @acc[@i][@c * 4 + 1] += @p.x * @value[0].y + @p.y * @value[1].y + @p.z * @value[2].y + @p.w * @value[3].y;
      @acc[@i][@c * 4 + 2] += @p.x * @value[0].z + @p.y * @value[1].z + @p.z * @value[2].z + @p.w * @value[3].z;
      @acc[@i][@c * 4 + 3] += @p.x * @value[0].w + @p.y * @value[1].w + @p.z * @value[2].w + @p.w * @value[3].w;
    }
  }
}
)";

constexpr std::string_view kMaskedValues =
    R"(// Some queries may not see some of these keys: their values do not count, not even where they are infinite or NaN.
#pragma unroll 1
for (int @j = 0; @j < @BK; @j++) {
  const int @at = @key0 + @j;
  #pragma unroll
  for (int @c = 0; @c < @PARTS; @c++) {
    const float4 @value = *reinterpret_cast<const float4*>(&@v_tile[@j * @CHANNELS + (@c * @X + @x) * 4]);
    #pragma unroll
    for (int @i = 0; @i < @ROWS; @i++) {
      if (@ALLOWED) {
        const float @p = @p_tile[(@y + @Y * @i) * @P_PITCH + @j];
        @acc[@i][@c * 4 + 0] += @p * @value.x;
        @acc[@i][@c * 4 + 1] += @p * @value.y;
        @acc[@i][@c * 4 + 2] += @p * @value.z;
        @acc[@i][@c * 4 + 3] += @p * @value.w;
      }
    }
  }
}
)";

constexpr std::string_view kStore = R"(#pragma unroll
for (int @i = 0; @i < @ROWS; @i++) {
  #pragma unroll
  for (int @step = @X / 2; @step > 0; @step /= 2) @sum[@i] += __shfl_xor_sync(0xffffffffu, @sum[@i], @step);
  const @TYPE @T = @query0 + @y + @Y * @i;
  if (@T < @Q_END) {
    const float @share = 1.0f / @sum[@i];
    #pragma unroll
    for (int @c = 0; @c < @PARTS; @c++) {
      const @TYPE @D = (@c * @X + @x) * 4;
      *reinterpret_cast<float4*>(&@OUT) = make_float4(@acc[@i][@c * 4] * @share, @acc[@i][@c * 4 + 1] * @share,
                                                      @acc[@i][@c * 4 + 2] * @share, @acc[@i][@c * 4 + 3] * @share);
    }
  }
}
)";

/// Copies `lines` rows of an operand from `first` on.
std::string stage(CodeTemplate& code,
                  const AttentionOperand& x,
                  const std::string& row,
                  const std::string& lines,
                  const std::string& first,
                  const std::string& end,
                  const std::string& to,
                  const std::string& pitch) {
  code.set("LINES", code.fill(lines));
  code.set("ROW", row);
  code.set("ROW0", code.fill(first));
  code.set("ROW_END", end);
  code.set("TO", code.fill(to));
  code.set("TO_PITCH", code.fill(pitch));
  code.set("LOAD", x.load);
  return code.fill(kStageFunction);
}

}  // namespace

std::int64_t attention_smem_bytes(const Attention& a, const AttentionTile& t) {
  return 4 * ((t.queries + t.keys) * (a.channels + 4) + t.keys * a.channels +
              t.queries * (std::int64_t{t.keys} + t.lanes));
}

std::string attention_tile_problem(const Attention& a, const AttentionTile& t) {
  const int x = t.lanes, y = t.threads / x;
  if (a.channels % (std::int64_t{4} * x) != 0)
    return "the row length must be a multiple of " + std::to_string(4 * x);
  if (t.threads % 32 != 0 || t.threads < 32 || t.threads > 1024)
    return "threads: whole warps, at most 1024";
  if (t.queries % y != 0 || t.queries < y) return "queries: a multiple of " + std::to_string(y);
  if (t.keys % x != 0 || t.keys % 4 != 0 || t.keys < x)
    return "keys: a multiple of " + std::to_string(x);
  const std::int64_t registers = t.queries / y * (t.keys / x + a.channels / x);
  if (registers > 160) return "more scores and sums a thread than registers";
  return "";
}

std::string attention_helpers(CodeTemplate& code, const AttentionTile& tile) {
  return code.fill(tile.async != 0 ? kAsyncHelpers : kPlainHelpers);
}

std::string attention_body(CodeTemplate& code, const Attention& a, const AttentionTile& tile) {
  code.set("BQ_VALUE", tile.queries);
  code.set("BK_VALUE", tile.keys);
  code.set("D_VALUE", a.channels);
  code.set("X_VALUE", tile.lanes);
  code.set("THREADS_VALUE", tile.threads);
  code.set("TYPE", a.type);
  code.set("T", a.t);
  code.set("D", a.d);
  code.set("Q_END", a.queries);
  code.set("K_END", a.keys);
  code.set("SCALE", a.scale);
  code.set("OUT", a.o.load);
  code.set("AXIS", std::string(1, "xyz"[a.launch_axis]));
  code.set("ALLOWED",
           code.fill(a.causal ? "@at < @K_END && @at <= @query0 + @y + @Y * @i" : "@at < @K_END"));
  const std::string wait = tile.async != 0 ? code.fill("  @wait_packs();\n") : "";

  std::string out = a.prologue + code.fill(kHead);
  out += code.fill(
      a.causal ? "\n// The last queries have the most keys: they start first.\nconst int @query0 = "
                 "static_cast<int>(gridDim.@AXIS - 1 - blockIdx.@AXIS) * @BQ;\n"
                 "const int @keys_end = min(@K_END, @query0 + @BQ);\n"
               : "\nconst int @query0 = blockIdx.@AXIS * @BQ;\nconst int @keys_end = @K_END;\n");
  out += code.fill(
      "const float @factor = @SCALE * 1.4426950408889634f;  // powers of two instead of e\n\n");
  out += stage(code, a.q, a.t, "@BQ", "@query0", a.queries, "@q_tile", "@PITCH");
  out += stage(code, a.k, a.u, "@BK", "0", a.keys, "@k_tile", "@PITCH");
  out += code.fill(
      "float @acc[@ROWS][@PARTS * 4] = {}, @top[@ROWS], @sum[@ROWS];\n#pragma unroll\n"
      "for (int @i = 0; @i < @ROWS; @i++) @top[@i] = -1e30f, @sum[@i] = 0.0f;\n\n");
  out += code.fill("for (int @key0 = 0; @key0 < @keys_end; @key0 += @BK) {\n") + wait;
  out +=
      code.fill("  __syncthreads();  // keys are there, values of the tile before are done with\n");
  out +=
      model::indented(stage(code, a.v, a.u, "@BK", "@key0", a.keys, "@v_tile", "@CHANNELS"), "  ");
  out +=
      code.fill(a.causal ? "  const bool @whole = @key0 + @BK <= @K_END && @key0 + @BK <= @query0 "
                           "+ 1;  // nothing to mask\n\n"
                         : "  const bool @whole = @key0 + @BK <= @K_END;  // nothing to mask\n\n");
  out += model::indented(code.fill(kScores), "  ") + wait;
  out += code.fill(
      "  __syncthreads();  // values and weights are there, keys are done with\n  if (@key0 + @BK "
      "< @keys_end) {\n");
  out += model::indented(stage(code, a.k, a.u, "@BK", "@key0 + @BK", a.keys, "@k_tile", "@PITCH"),
                         "    ") +
         "  }\n";
  if (a.causal) {
    out += code.fill("  if (@whole) {\n") + model::indented(code.fill(kValues), "    ") +
           "  } else {\n";
    out += model::indented(code.fill(kMaskedValues), "    ") + "  }\n}\n\n";
  } else {
    out += model::indented(code.fill(kValues), "  ") + "}\n\n";
  }
  return out + code.fill(kStore);
}

}  // namespace warpath
