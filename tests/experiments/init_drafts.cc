#include <doctest/doctest.h>

#include <filesystem>
#include <map>

#include "engine/spec/local_headers.h"
#include "engine/spec/spec_load.h"
#include "experiments/init/host_launch.h"
#include "experiments/init/spec_draft.h"
#include "moves/edit/kernel_contract.h"
#include "tests/experiments/program.h"
#include "tests/support/host_runs.h"

using namespace warpath;
using testing::source_root;
using testing::TemporaryFolder;

namespace {

/// The spec that `warpath init` writes for a kernel of tests/data/init, before anybody is asked.
KernelSpec drafted(const std::string& file, const std::string& kernel) {
  const std::string path = (source_root() / "tests/data/init" / (file + ".cu")).string();
  const model::Unit unit = model::parse(flat_source_file(path, {}).text);
  const model::Function& found = *unit.find_kernel(kernel);
  const SpecDraft draft = draft_spec(
      unit, found,
      {.file = file + ".cu", .source_file = "kernel.cu", .launch = find_launch(unit, found)});
  const TemporaryFolder folder;
  testing::write_file(folder / "kernel.cu", draft.source);
  return parse_specs(draft.spec, folder / "spec.json", folder.path().string()).front();
}

std::string shape_of(const ArgSpec& arg) {
  std::string out;
  for (const Expression& extent : arg.tensor->shape) out += "[" + extent.text() + "]";
  return out;
}

/// What the text decided, on one line: launch, then tensors by role.
std::string described(const KernelSpec& spec) {
  const auto extents = [](const std::array<Expression, 3>& of) {
    std::string out = of[0].text();
    if (of[1].text() != "1" || of[2].text() != "1") out += " x " + of[1].text();
    return of[2].text() != "1" ? out + " x " + of[2].text() : out;
  };
  std::string out = "<" + extents(spec.io.launch.grid) + "; " + extents(spec.io.launch.block) + ">";
  const std::string bytes = spec.io.launch.dynamic_smem_bytes.text();
  if (bytes != "0") out += " " + bytes + " B";
  for (const auto& [role, word] :
       {std::pair(ArgRole::input, " in"), {ArgRole::output, " out"}, {ArgRole::inout, " inout"}}) {
    for (const ArgSpec& arg : spec.io.args) {
      if (arg.type != ArgType::tensor || arg.role != role) continue;
      out += word + (" " + arg.name) + shape_of(arg);
      if (!arg.tensor->indexes.empty()) out += "->" + arg.tensor->indexes;
    }
  }
  return out;
}

/// Kernel by file: "file:kernel".
const std::map<std::string, std::string> kDescribed{
    {"batched_bmm:bmm",
     "<ceil_div(n, BLOCK_X) x ceil_div(m, BLOCK_Y) x batch; BLOCK_X x BLOCK_Y> in a[batch][m][k] "
     "in b[batch][k][n] out c[batch][m][n]"},
    {"block_scan:segment_scan", "<ceil_div(n, kSegment); kSegment> in in[n] out out[n]"},
    {"boxes:areas", "<ceil_div(n, 64); 64> in boxes[4 * n] out area[n]"},
    {"boxes:halved", "<ceil_div(n, 256); 128> in x[n] inout y[n]"},
    {"constant_filter:convolve", "<ceil_div(n, BLOCK); BLOCK> in in[n] out out[n]"},
    {"csr_spmv:spmv",
     "<ceil_div(rows, BLOCK); BLOCK> in row_ptr[rows + 1] in col[8 * rows]->x in val[8 * rows] in "
     "x[x_rows] out y[rows]"},
    {"dot_atomic:dot", "<min(ceil_div(n, BLOCK), 1024); BLOCK> in x[n] in y[n] inout result[1]"},
    {"dynamic_shared:reverse_block", "<(n + 255) / 256; 256> 1024 B in in[n] out out[n]"},
    {"gather_rows:embedding",
     "<tokens; BLOCK> in table[table_rows][width] in ids[tokens]->table out out[tokens][width]"},
    {"gemm_tiled:gemm",
     "<ceil_div(N, TILE) x ceil_div(M, TILE); TILE x TILE> in A[M][K] in B[K][N] out C[M][N]"},
    {"grid_stride:squares",
     "<min(ceil_div(count, BLOCK), 1024); BLOCK> in in[count] out out[count]"},
    {"half_types:add_half", "<ceil_div(n, BLOCK); BLOCK> in a[n] in b[n] out c[n]"},
    {"half_types:widen", "<ceil_div(n, BLOCK); BLOCK> in a[n] out c[n]"},
    {"histogram:count_bytes", "<min(ceil_div(n, BLOCK), 1024); BLOCK> in data[n] inout bins[256]"},
    {"image_2d:to_grey",
     "<ceil_div(width, BLOCK_X) x ceil_div(height, BLOCK_Y); BLOCK_X x BLOCK_Y> in rgb[3 * height "
     "* width] out grey[height][width]"},
    {"in_place:relu_", "<ceil_div(n, BLOCK); BLOCK> inout data[n]"},
    {"layernorm:layernorm",
     "<ceil_div(N, BLOCK); BLOCK> in inp[N][C] in weight[C] in bias[C] out out[N][C] out mean[N] "
     "out rstd[N]"},
    {"loop_macro:distance",
     "<min(ceil_div(count, BLOCK), 1024); BLOCK> in a[count] in b[count] out d[count]"},
    {"moved_index:scale_columns",
     "<ceil_div(cols, BLOCK); BLOCK> in x[rows * cols] inout y[rows * cols]"},
    {"no_bound:negate", "<ceil_div(points, BLOCK); BLOCK> in x[points] out y[points]"},
    {"row_reduce:row_sums", "<rows; BLOCK_SIZE> in x[rows][cols] out sums[rows]"},
    {"saxpy_main:saxpy", "<ceil_div(n, BLOCK); BLOCK> in x[n] inout y[n]"},
    {"scale_guarded:scale", "<ceil_div(n, BLOCK); BLOCK> in x[n] out y[n]"},
    {"scatter_add:scatter_add",
     "<ceil_div(dim * rows, BLOCK); BLOCK> in src[dim * rows] in index[rows]->dst inout "
     "dst[dst_rows][dim]"},
    {"several_kernels:bias_gelu",
     "<ceil_div(cols * rows, BLOCK); BLOCK> in bias[cols] inout x[cols * rows]"},
    {"several_kernels:zero", "<ceil_div(n, BLOCK); BLOCK> out p[n]"},
    {"softmax_rows:softmax", "<ceil_div(N, BLOCK / 32); BLOCK> in in[N][C] out out[N][C]"},
    {"stencil:heat",
     "<ceil_div(nx, BLOCK_X) x ceil_div(ny, BLOCK_Y); BLOCK_X x BLOCK_Y> in u[ny][nx] inout "
     "v[ny][nx]"},
    {"struct_helper:variance", "<ceil_div(rows, BLOCK); BLOCK> in x[rows][cols] out var[rows]"},
    {"template_block:partial_max", "<ceil_div(n, 1024); 256> in x[n] out out[ceil_div(n, 1024)]"},
    {"template_type:doubled", "<ceil_div(n, BLOCK); BLOCK> in x[n] out y[n]"},
    {"transpose_tile:transpose",
     "<ceil_div(width, TILE_DIM) x ceil_div(height, TILE_DIM); TILE_DIM x 8> in in[height][width] "
     "out out[width][height]"},
    {"vector_loads:add4", "<ceil_div(n4, BLOCK); BLOCK> in a[n4][4] in b[n4][4] out c[n4][4]"},
};

std::pair<std::string, std::string> parts(const std::string& name) {
  return {name.substr(0, name.find(':')), name.substr(name.find(':') + 1)};
}

}  // namespace

TEST_SUITE_BEGIN("init_drafts");

TEST_CASE("launch, shapes and roles follow from the kernel's text") {
  for (const auto& [name, expected] : kDescribed) {
    CAPTURE(name);
    const KernelSpec spec = drafted(parts(name).first, parts(name).second);
    CHECK(described(spec) == expected);
    CHECK(contract_problems(spec) == std::vector<std::string>{});
  }
}

TEST_CASE("every drafted spec verifies on the host, unchanged") {
  for (const auto& [name, expected] : kDescribed) {
    CAPTURE(name);
    const KernelSpec spec = drafted(parts(name).first, parts(name).second);
    const test::HostRuns host(spec);
    const Outcome outcome = host.run(baseline_variant(spec));
    CAPTURE(outcome.log);
    CAPTURE(outcome.verdict.summary());
    CHECK(warpath::name(outcome.status) == "ok");
  }
}

TEST_CASE("all kernels of tests/data/init are described here") {
  for (const auto& entry : std::filesystem::directory_iterator(source_root() / "tests/data/init")) {
    CAPTURE(entry.path().string());
    const auto at = kDescribed.lower_bound(entry.path().stem().string() + ":");
    CHECK((at != kDescribed.end() && parts(at->first).first == entry.path().stem().string()));
  }
}

TEST_SUITE_END();
