#include "moves/tiles/tensor_tile.h"
#include "moves/syntax/syntax_query.h"

#include <algorithm>
#include <array>

namespace warpath {
namespace {

std::string squeezed(std::string_view text) {
  std::string out;
  for (const char c : text) {
    if (c != ' ' && c != '\t' && c != '\n' && c != '\r') out += c;
  }
  return out;
}

bool one_of(std::string_view text, std::initializer_list<std::string_view> list) {
  return std::find(list.begin(), list.end(), text) != list.end();
}

bool is_zero(std::string_view text) {
  return one_of(squeezed(text), {"0", "0.0f", "0.f", "0.0", "0.", "0.0F", "0u"});
}

bool divides(int tile, const std::optional<std::int64_t>& size) {
  return size && *size > 0 && *size % tile == 0;
}

/// Exclusive end of an axis as C text.
std::string extent_of(const ContractionAxis& axis) {
  return !axis.extent.empty() ? axis.extent : axis.size ? std::to_string(*axis.size) : "";
}

int depth(const Contraction& c) {
  return 128 / static_cast<int>(c.a.element_bytes);
}

std::string guarded(const std::vector<std::string>& conditions) {
  std::string out;
  for (const std::string& condition : conditions) out += (out.empty() ? "" : " && ") + condition;
  return out.empty() ? "true" : out;
}

/// The copies of one operand's slice: `axis` is m or n, `first` the tile's first index on it.
std::string copy_code(CodeTemplate& code, const Contraction& c, const TensorTile& tile, bool is_a) {
  const ContractionOperand& x = is_a ? c.a : c.b;
  const ContractionAxis& axis = is_a ? c.m : c.n;
  const TensorOperand how = tensor_operand(c, x);
  const int block = is_a ? tile.block_m : tile.block_n;
  code.set("TILE", code.name(is_a ? "BM" : "BN"));
  code.set("FIRST", code.name(is_a ? "row0" : "col0"));
  code.set("OUTER", axis.name);
  code.set("OUTER_TYPE", axis.type);
  code.set("k", c.k);
  code.set("K_TYPE", c.k_type);
  code.set("EACH", static_cast<long long>(16 / x.element_bytes));
  code.set("ELEMENT", x.element);
  code.set("LOAD", x.load);
  code.set("OFFSET", is_a ? "" : code.fill("@BM * 128 + "));

  std::vector<std::string> conditions;
  if (is_a && c.groups)
    conditions.push_back(axis.name + " < " + code.name("row_end"));
  else if (!divides(block, axis.size))
    conditions.push_back(axis.name + " < " + extent_of(axis));
  if (!divides(depth(c), c.k_size)) conditions.push_back(c.k + " < " + c.k_extent);
  code.set("WANTED", guarded(conditions));

  std::string out = code.fill(R"(#pragma unroll
for (int @i = 0; @i < @TILE * 8 / @THREADS; @i++) {
  const int @line = (@thread + @i * @THREADS) / 8, @part = @thread % 8;
)");
  const std::string place =
      how.k_major ? "@FIRST + @line" : "@FIRST + @line / @BK * @BK + @part * @EACH";
  const std::string at_k =
      how.k_major ? "@slice * @BK + @part * @EACH" : "@slice * @BK + @line % @BK";
  const std::string to = "@OFFSET@swizzled(@line, @part)";
  if (how.async) {
    out += code.fill("  const @OUTER_TYPE @OUTER = " + place + ";\n  const @K_TYPE @k = " + at_k +
                     ";\n");
    out += c.prologue_for(x.load, "  ");
    out += code.fill("  @copy_async(@base + @slot + " + to + ", &@LOAD, @WANTED);\n}\n");
    return out;
  }
  out += code.fill(
      "  uint4 @pack = make_uint4(0, 0, 0, 0);\n  #pragma unroll\n  for (int @e = 0; @e < @EACH; "
      "@e++) {\n");
  out +=
      code.fill("    const @OUTER_TYPE @OUTER = " + place + (how.k_major ? "" : " + @e") + ";\n");
  out += code.fill("    const @K_TYPE @k = " + at_k + (how.k_major ? " + @e" : "") + ";\n");
  out += conditions.empty() ? "    {\n" : code.fill("    if (@WANTED) {\n");
  out += c.prologue_for(x.load, "      ");
  out += code.fill("      reinterpret_cast<@ELEMENT*>(&@pack)[@e] = @LOAD;\n    }\n  }\n");
  out += code.fill("  *reinterpret_cast<uint4*>(@ring + @slot + " + to + ") = @pack;\n}\n");
  return out;
}

constexpr std::string_view kTiles =
    R"(// Blocks walk bands of @BAND tile rows column by column: those that run together share operands in L2.
const int @tile_rows = (@M_END + @BM - 1) / @BM, @tile_cols = (@N_END + @BN - 1) / @BN;
const int @band = @BLOCK_ID / (@BAND * @tile_cols) * @BAND, @in_band = @BLOCK_ID % (@BAND * @tile_cols);
const int @band_rows = min(@BAND, @tile_rows - @band);
const int @row0 = (@band + @in_band % @band_rows) * @BM, @col0 = @in_band / @band_rows * @BN;
)";

constexpr std::string_view kRaggedTiles =
    R"(// A tile holds rows of one group. Each warp looks for the group of this tile row, 32 groups a step; blocks behind the last
// tile have nothing to do.
int @GROUP = -1, @tile_row = @ROW_BLOCK;
for (int @first = 0; @GROUP < 0; @first += 32) {
  if (@first >= @GROUPS) return;
  const int @i = @first + @lane;
  const int @tiles = @i < @GROUPS ? (@OFF[@i + 1] - @OFF[@i] + @BM - 1) / @BM : 0;
  int @upto = @tiles;  // of all groups up to this lane's
  for (int @step = 1; @step < 32; @step *= 2) {
    const int @below = __shfl_up_sync(~0u, @upto, @step);
    if (@lane >= @step) @upto += @below;
  }
  const unsigned @found = __ballot_sync(~0u, @tile_row < @upto);
  const int @owner = @found ? __ffs(@found) - 1 : 31;
  if (@found) @GROUP = @first + @owner;
  @tile_row -= __shfl_sync(~0u, @found ? @upto - @tiles : @upto, @owner);
}
const int @row0 = @OFF[@GROUP] + @tile_row * @BM, @row_end = @OFF[@GROUP + 1], @col0 = @BLOCK_ID * @BN;
)";

constexpr std::string_view kMmaLoop = R"(for (int @slice = 0; @slice < @slices; @slice++) {
  @wait_copies();
  __syncthreads();  // the slice is there, and the one before is done with
  if (@slice + @STAGES - 1 < @slices) @copy_slice(@slice + @STAGES - 1);
  @commit_copies();
  const unsigned @tile_a = @base + @slice % @STAGES * @SLOT, @tile_b = @tile_a + @BM * 128;
  #pragma unroll
  for (int @kk = 0; @kk < 4; @kk++) {
    unsigned @a[@WM / 16][4], @b[@WN / 16][4];
    #pragma unroll
    for (int @i = 0; @i < @WM / 16; @i++) @LOAD_A
    #pragma unroll
    for (int @j = 0; @j < @WN / 16; @j++) @LOAD_B
    #pragma unroll
    for (int @i = 0; @i < @WM / 16; @i++) {
      #pragma unroll
      for (int @j = 0; @j < @WN / 8; @j++) @mma(@acc[@i][@j], @a[@i], @b[@j / 2][@j % 2 * 2], @b[@j / 2][@j % 2 * 2 + 1]);
    }
  }
}
)";

constexpr std::string_view kWgmmaLoop = R"(for (int @slice = 0; @slice < @slices; @slice++) {
  @wait_copies();
  @publish_copies();
  __syncthreads();  // the slice is there, and the one two before is done with
  const unsigned @tile_a = @base + @slice % @STAGES * @SLOT + @quad * 64 * 128;
  const unsigned @tile_b = @base + @slice % @STAGES * @SLOT + @BM * 128;
  @begin_products();
  #pragma unroll
  for (int @kk = 0; @kk < 4; @kk++) {
    @wgmma(@acc, @describe(@tile_a + @kk * @A_STEP, @A_APART), @describe(@tile_b + @kk * @B_STEP, @B_APART));
  }
  @commit_products();
  if (@slice + @STAGES - 2 < @slices) @copy_slice(@slice + @STAGES - 2);
  @commit_copies();
  @wait_products();
}
@finish_products(@acc);
)";

std::string with_line_end(const std::string& text) {
  return text.empty() || text.ends_with('\n') ? text : text + "\n";
}

/// One or two results at (row, col): the epilogue as written, or both values in one store.
std::string store_code(CodeTemplate& code, const Contraction& c, const TensorTile& tile) {
  const std::size_t bytes = c.output_element == "float" || c.output_element == "int" ? 4
                            : c.output_element == "__nv_bfloat16" || c.output_element == "__half" ||
                                    c.output_element == "half"
                                ? 2
                                : 0;
  const bool paired =
      !c.output.empty() && bytes != 0 && c.output_n_contiguous && c.output_vector >= 2;
  std::vector<std::string> conditions;
  if (c.groups)
    conditions.push_back(c.m.name + " < " + code.name("row_end"));
  else if (!divides(tile.block_m, c.m.size))
    conditions.push_back(c.m.name + " < " + extent_of(c.m));
  const bool n_inside = divides(tile.block_n, c.n.size);
  code.set("SUM", c.accumulator);
  code.set("SUM_TYPE", c.accumulator_type);
  const std::string sum =
      "    @SUM_TYPE @SUM = " + (is_zero(c.initial) ? "" : "(" + c.initial + ") + ") +
      "@FRAGMENT;\n";
  const std::string initial_prologue = is_zero(c.initial) ? "" : c.initial + ";";
  if (!n_inside)
    conditions.push_back((paired ? code.name("first_col") : c.n.name) + " < " + extent_of(c.n));
  const std::string open = conditions.empty() ? "" : "if (" + guarded(conditions) + ") ";
  if (!paired) {
    std::string out = code.fill(
        "#pragma unroll\nfor (int @e = 0; @e < 2; @e++) {\n  const @N_TYPE @N = @first_col + "
        "@e;\n");
    out += "  " + open + "{\n" + c.prologue_for(initial_prologue + c.epilogue, "    ") +
           code.fill(sum);
    return out + with_line_end(model::indented(c.epilogue, "    ")) + "  }\n}\n";
  }
  code.set("OUT", c.output_element);
  code.set("OUT_BYTES", 2 * static_cast<long long>(bytes));
  code.set("WORD", bytes == 2 ? "unsigned" : "uint2");
  code.set("VALUE", c.output_value);
  std::string out = open + "{\n";
  out += code.fill(
      "  __align__(@OUT_BYTES) @OUT @pair[2];\n  #pragma unroll\n  for (int @e = 0; @e < 2; @e++) "
      "{\n    const @N_TYPE @N = @first_col + @e;\n");
  out +=
      c.prologue_for(initial_prologue + c.output_before + c.output_value, "    ") + code.fill(sum);
  out += with_line_end(model::indented(c.output_before, "    ")) +
         code.fill("    @pair[@e] = @VALUE;\n  }\n");
  out += code.fill("  const @N_TYPE @N = @first_col;\n") + c.prologue_for(c.output_index, "  ");
  out += "  *reinterpret_cast<" + code.name("WORD") + "*>(&" + c.output + "[" + c.output_index +
         "]) = ";
  return out + code.fill("*reinterpret_cast<const @WORD*>(@pair);\n}\n");
}

std::string epilogue_code(CodeTemplate& code, const Contraction& c, const TensorTile& tile) {
  code.set("M", c.m.name);
  code.set("M_TYPE", c.m.type);
  code.set("N", c.n.name);
  code.set("N_TYPE", c.n.type);
  code.set("FRAGMENT",
           code.fill(tile.wgmma ? "@acc[4 * @j + 2 * @h + @e]" : "@acc[@i][@j][2 * @h + @e]"));
  const std::string row = tile.wgmma ? "@row0 + @warp * 16 + @h * 8 + @lane / 4"
                                     : "@row0 + @warp_row * @WM + @i * 16 + @h * 8 + @lane / 4";
  const std::string col = tile.wgmma ? "@col0 + @j * 8 + @lane % 4 * 2"
                                     : "@col0 + @warp_col * @WN + @j * 8 + @lane % 4 * 2";
  std::string inner = code.fill("#pragma unroll\nfor (int @j = 0; @j < " +
                                std::string(tile.wgmma ? "@BN" : "@WN") + " / 8; @j++) {\n");
  inner += code.fill(
      "  #pragma unroll\n  for (int @h = 0; @h < 2; @h++) {\n    const @M_TYPE @M = " + row +
      ";\n    const int @first_col = " + col + ";\n");
  inner += model::indented(store_code(code, c, tile), "    ") + "  }\n}\n";
  std::string out = "// A lane holds two neighbours in a row of each 8 x 8 part.\n";
  if (tile.wgmma) return out + inner;
  return out + code.fill("#pragma unroll\nfor (int @i = 0; @i < @WM / 16; @i++) {\n") +
         model::indented(inner, "  ") + "}\n";
}

/// Offsets that a lane hands to ldmatrix for a 16 x 16 part (16 x 32 bytes) of the tile at step kk.
void set_fragment_loads(CodeTemplate& code, bool a_k_major, bool b_k_major) {
  code.set(
      "LOAD_A",
      code.fill(a_k_major
                    ? "@load_matrices(@a[@i], @tile_a + @swizzled(@warp_row * @WM + @i * 16 + "
                      "@lane % 16, @kk * 2 + @lane / 16));"
                    : "{\n      const int @at = @warp_row * @WM + @i * 16 + @lane / 8 % 2 * 8;\n"
                      "      @load_transposed(@a[@i], @tile_a + @swizzled(@at / 64 * 64 + @kk * 16 "
                      "+ @lane % 8 + @lane / 16 * 8, @at % 64 / 8));\n    }"));
  code.set(
      "LOAD_B",
      code.fill(b_k_major ? "@load_matrices(@b[@j], @tile_b + @swizzled(@warp_col * @WN + @j * 16 "
                            "+ @lane % 8 + @lane / 16 * 8, @kk * 2 + @lane / 8 % 2));"
                          : "{\n      const int @at = @warp_col * @WN + @j * 16 + @lane / 16 * 8;\n"
                            "      @load_transposed(@b[@j], @tile_b + @swizzled(@at / 64 * 64 + "
                            "@kk * 16 + @lane % 16, @at % 64 / 8));\n    }"));
}

std::string block_index(std::size_t axis) {
  return "static_cast<int>(blockIdx." + std::string(1, "xyz"[axis]) + ")";
}

}  // namespace

std::string tensor_problem(const Contraction& c) {
  const auto exact = [](const ContractionOperand& x,
                        std::initializer_list<std::string_view> conversions) {
    return one_of(squeezed(x.value_prefix), conversions) &&
           one_of(squeezed(x.value_suffix), {"", ")", "))"});
  };
  if (c.a.element != c.b.element) return "the operands have different types";
  const bool bf16 = one_of(c.a.element, {"__nv_bfloat16", "nv_bfloat16"}),
             f16 = one_of(c.a.element, {"__half", "half"});
  const bool s8 = one_of(c.a.element, {"signed char", "char", "int8_t"});
  if (!bf16 && !f16 && !s8)
    return "no tensor core instruction keeps the precision of " + c.a.element;
  if (!one_of(squeezed(c.product), {"$a*$b", "$b*$a", "($a*$b)", "($b*$a)"}))
    return "the summand is more than a product";
  if (s8 ? !one_of(c.accumulator_type, {"int", "int32_t"}) : c.accumulator_type != "float") {
    return "tensor cores do not accumulate in " + c.accumulator_type;
  }
  const std::initializer_list<std::string_view> whole = {"",          "(",
                                                         "(int)",     "((int)",
                                                         "int(",      "static_cast<int>(",
                                                         "(int32_t)", "((int32_t)",
                                                         "int32_t(",  "static_cast<int32_t>("};
  const bool converted = s8 ? exact(c.a, whole) && exact(c.b, whole)
                            : exact(c.a, {"__bfloat162float(", "__half2float(", "(float)",
                                          "((float)", "float(", "static_cast<float>("}) &&
                                  exact(c.b, {"__bfloat162float(", "__half2float(", "(float)",
                                              "((float)", "float(", "static_cast<float>("});
  if (!converted) return "a factor is more than an element";
  if (c.groups && !c.batch.launch_extent.empty()) return "ragged groups in batches";
  if (!c.groups && extent_of(c.m).empty()) return "no end of " + c.m.name + " in the kernel";
  if (extent_of(c.n).empty()) return "no end of " + c.n.name + " in the kernel";
  return "";
}

TensorOperand tensor_operand(const Contraction& c, const ContractionOperand& x) {
  const int each = static_cast<int>(16 / x.element_bytes);
  // A group's first row is anywhere.
  if (c.groups && &x == &c.a && !x.k_contiguous) return {true, false};
  if (x.k_contiguous) return {true, x.vector >= each};
  // Bytes cannot be transposed on their way to the registers.
  if (x.outer_contiguous && x.element_bytes == 2) return {false, x.vector >= each};
  return {true, false};
}

std::string tensor_tile_problem(const Contraction& c, const TensorTile& t) {
  const TensorOperand a = tensor_operand(c, c.a), b = tensor_operand(c, c.b);
  if (t.wgmma) {
    if (t.block_m % 64 != 0 || t.block_m < 64 || t.block_m > 256)
      return "block_m: 64, 128, 192 or 256 with wgmma";
    if (t.block_n % 64 != 0 || t.block_n < 64 || t.block_n > 256)
      return "block_n: 64, 128, 192 or 256 with wgmma";
    if (t.block_m * t.block_n > 128 * 256) return "more accumulators than registers";
    if (t.stages < 3) return "wgmma needs 3 stages: one is read, one is being freed, one is filled";
  } else {
    const int wm = t.block_m / t.warps_m, wn = t.block_n / t.warps_n;
    if (t.block_m % (16 * t.warps_m) != 0 || t.block_n % (16 * t.warps_n) != 0)
      return "a warp's part must be a multiple of 16 x 16";
    if (wm * wn > 64 * 64 || t.warps_m * t.warps_n > 16) return "more accumulators than registers";
    if (t.stages < 2) return "the ring needs 2 stages";
  }
  if ((!a.k_major && t.block_m % 64 != 0) || (!b.k_major && t.block_n % 64 != 0))
    return "an operand that lies across k needs tiles of 64";
  if (t.block_m * 8 % t.threads() != 0 || t.block_n * 8 % t.threads() != 0)
    return "the threads do not share the copies evenly";
  if (t.band < 1) return "band: at least 1";
  return "";
}

std::string tensor_body(CodeTemplate& code, const Contraction& c, const TensorTile& tile) {
  const TensorOperand a = tensor_operand(c, c.a), b = tensor_operand(c, c.b);
  code.set("BM_VALUE", tile.block_m);
  code.set("BN_VALUE", tile.block_n);
  code.set("BK_VALUE", depth(c));
  code.set("STAGES_VALUE", tile.stages);
  code.set("THREADS_VALUE", tile.threads());
  code.set("BAND_VALUE", tile.band);
  code.set("ACC", c.a.element_bytes == 1 ? "int" : "float");
  code.set("M_END", extent_of(c.m));
  code.set("N_END", extent_of(c.n));
  code.set("K_END", c.k_extent);
  code.set("BLOCK_ID", block_index(c.n_grid_axis));
  code.set("ROW_BLOCK", block_index(c.m_grid_axis));
  if (c.groups) {
    code.set("GROUP", c.groups->group);
    code.set("GROUPS", c.groups->count);
    code.set("OFF", c.groups->offsets);
  }
  std::string body = c.uniform_prologue("");
  for (const std::string& guard : c.guards) body += "if (!(" + guard + ")) return;\n";
  body += code.fill(
      R"(constexpr int @BM = @BM_VALUE, @BN = @BN_VALUE, @BK = @BK_VALUE;  // tile of the block, depth of a slice
constexpr int @STAGES = @STAGES_VALUE, @THREADS = @THREADS_VALUE;
constexpr int @SLOT = (@BM + @BN) * 128;  // bytes of one slice of both operands
extern __shared__ __align__(1024) unsigned char @ring[];
const unsigned @base = @shared_address(@ring);
const int @thread = threadIdx.x, @warp = @thread / 32, @lane = @thread % 32;
)");
  if (tile.wgmma)
    body += code.fill(
        "const int @quad = __shfl_sync(~0u, @warp / 4, 0);  // warp group, the same for the whole "
        "warp\n");
  if (!c.groups) body += code.fill("constexpr int @BAND = @BAND_VALUE;\n");
  body += "\n" + code.fill(c.groups ? kRaggedTiles : kTiles);
  body += code.fill(
      "\n// Starts the copies of a slice, operand tiles in lines of 128 bytes.\nconst auto "
      "@copy_slice = [&](int @slice) {\n");
  body += code.fill("  const int @slot = @slice % @STAGES * @SLOT;\n");
  body += model::indented(copy_code(code, c, tile, true), "  ") +
          model::indented(copy_code(code, c, tile, false), "  ") + "};\n\n";
  body += code.fill("const int @slices = (@K_END + @BK - 1) / @BK;\n");
  body += code.fill(tile.wgmma ? "@ACC @acc[@BN / 2] = {};\n" : "");
  if (!tile.wgmma) {
    code.set("WM_VALUE", tile.block_m / tile.warps_m);
    code.set("WN_VALUE", tile.block_n / tile.warps_n);
    code.set("WARPS_N_VALUE", tile.warps_n);
    body += code.fill(
        "constexpr int @WM = @WM_VALUE, @WN = @WN_VALUE;  // part of a warp\n"
        "const int @warp_row = @warp / @WARPS_N_VALUE, @warp_col = @warp % @WARPS_N_VALUE;\n"
        "@ACC @acc[@WM / 16][@WN / 8][4] = {};\n");
    set_fragment_loads(code, a.k_major, b.k_major);
  } else {
    code.set("A_STEP", a.k_major ? 32 : 2048);
    code.set("B_STEP", b.k_major ? 32 : 2048);
    code.set("A_APART", a.k_major ? 16 : 8192);
    code.set("B_APART", b.k_major ? 16 : 8192);
  }
  code.set("AHEAD", tile.wgmma ? 2 : 1);
  body += code.fill(
      "for (int @slice = 0; @slice < @STAGES - @AHEAD; @slice++) {\n  if (@slice < @slices) "
      "@copy_slice(@slice);\n  @commit_copies();\n}\n");
  body += code.fill(tile.wgmma ? kWgmmaLoop : kMmaLoop) + "\n";
  return body + epilogue_code(code, c, tile);
}

LaunchPlan tensor_launch(const Contraction& c, const TensorTile& tile, const LaunchPlan& before) {
  const auto tiles = [](const ContractionAxis& axis, int size) {
    return "ceil_div(" + axis.launch_extent + ", " + std::to_string(size) + ")";
  };
  const auto expression = [](const std::string& text) {
    return Expression::parse(text, "tensor tile");
  };
  LaunchPlan out = before;
  out.grid = {Expression(1), Expression(1), Expression(1)};
  if (!c.batch.launch_extent.empty())
    out.grid[c.batch.launch_axis] = before.grid[c.batch.launch_axis];
  if (c.groups) {
    out.grid[c.n_grid_axis] = expression(tiles(c.n, tile.block_n));
    out.grid[c.m_grid_axis] = expression(tiles(c.m, tile.block_m) + " + " + c.groups->launch_count);
  } else {
    out.grid[c.n_grid_axis] =
        expression(tiles(c.m, tile.block_m) + " * " + tiles(c.n, tile.block_n));
  }
  out.block = {Expression(1), Expression(1), Expression(1)};
  out.block[0] = Expression(tile.threads());
  out.dynamic_smem_bytes = Expression(tile.smem_bytes());
  return out;
}

}  // namespace warpath
