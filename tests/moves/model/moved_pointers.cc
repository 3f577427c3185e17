#include <doctest/doctest.h>

#include <algorithm>
#include <set>
#include <string>
#include <vector>

#include "engine/text/source_edit.h"
#include "moves/syntax/syntax_query.h"
#include "register_moves.h"
#include "tests/moves/rows/row_kernels.h"
#include "tests/support/move_path.h"

using namespace warpath;
using test::MovePath;

// Kernels that make their parameters point elsewhere: x[i] is not the i-th element of the argument.
TEST_SUITE_BEGIN("moved_pointers");

namespace {

/// The kernel with `p -= 4` at its head, p[4 + (i)] for p[i] and (p + 4) for p, for every pointer
/// parameter.
std::string with_moved_pointers(const std::string& source, const std::string& kernel) {
  const model::Unit unit = model::parse(source);
  const model::Function& f = *unit.find_kernel(kernel);
  std::vector<Edit> edits;
  std::string head;
  for (const model::Declarator* p : f.parameters) {
    if (!p->is_pointer()) continue;
    walk_expressions(*f.body, [&](const model::Expr& e) {
      if (!e.is_name(p->name)) return true;
      const model::Expr* const up = e.parent;
      if (up != nullptr && up->is(model::ExprKind::subscript) && up->args[0] == &e) {
        const model::Span index = up->arg(1).outer;
        edits.push_back({index.begin, index.begin, "4 + ("});
        edits.push_back({index.end, index.end, ")"});
      } else {
        edits.push_back({e.span.begin, e.span.end, "(" + std::string(p->name) + " + 4)"});
      }
      return true;
    });
    head += "\n  " + std::string(p->name) + " -= 4;";
  }
  const std::size_t at = f.body->span.begin + 1;
  edits.push_back({at, at, head});
  return edited(source, std::move(edits));
}

KernelSpec own(const std::string& name,
               const std::string& body,
               const std::vector<test::TestArgument>& arguments,
               const std::string& grid,
               const std::string& block) {
  std::string parameters;
  for (const test::TestArgument& a : arguments) {
    const std::string type = a.role == "scalar" || a.dtype == "int32" ? "int" : "float";
    parameters += (parameters.empty() ? "" : ", ") +
                  (a.role == "scalar"  ? type + " "
                   : a.role == "input" ? "const " + type + "* "
                                       : type + "* ") +
                  a.name;
  }
  return test::kernel_under_test(
      "extern \"C\" __global__ void " + name + "(" + parameters + ") {\n" + body + "}\n", name,
      arguments, grid, block, 1e-4);
}

/// One kernel of each kind that structural moves work on.
std::vector<KernelSpec> kernels() {
  const nlohmann::json few = {{"kind", "randint"}, {"low", 0}, {"high", 32}, {"seed", 1}};
  std::vector<KernelSpec> out = test::row_kernels();
  out.push_back(own("points",
                    "  int i = blockIdx.x * blockDim.x + threadIdx.x;\n"
                    "  if (i < n) y[i] = x[i] * 2.0f + x[i + 1];\n",
                    {{"y", "output", "float32", "n"},
                     {"x", "input", "float32", "n + 1"},
                     {"n", "scalar", "", "", 1003}},
                    "ceil_div(n, 64)", "64"));
  out.push_back(own("counts",
                    "  int i = blockIdx.x * blockDim.x + threadIdx.x;\n"
                    "  if (i < n) atomicAdd(&h[x[i]], 1);\n",
                    {{"h", "inout", "int32", "32"},
                     {"x", "input", "int32", "n", 0, few},
                     {"n", "scalar", "", "", 2000}},
                    "ceil_div(n, 64)", "64"));
  out.push_back(own("total",
                    "  int i = blockIdx.x * blockDim.x + threadIdx.x;\n"
                    "  if (i < n) atomicAdd(&s[0], x[i]);\n",
                    {{"s", "inout", "int32", "1"},
                     {"x", "input", "int32", "n", 0, few},
                     {"n", "scalar", "", "", 2000}},
                    "ceil_div(n, 64)", "64"));
  out.push_back(own("product",
                    "  int col = blockIdx.x * blockDim.x + threadIdx.x;\n"
                    "  int row = blockIdx.y * blockDim.y + threadIdx.y;\n"
                    "  if (row < M && col < N) {\n    float sum = 0.0f;\n"
                    "    for (int k = 0; k < K; ++k) sum += a[row * K + k] * b[k * N + col];\n"
                    "    c[row * N + col] = sum;\n  }\n",
                    {{"c", "output", "float32", "M * N"},
                     {"a", "input", "float32", "M * K"},
                     {"b", "input", "float32", "K * N"},
                     {"M", "scalar", "", "", 64},
                     {"N", "scalar", "", "", 64},
                     {"K", "scalar", "", "", 32}},
                    "ceil_div(N, 16); ceil_div(M, 16)", "16; 16"));
  out.push_back(own("window",
                    "  int x = blockIdx.x * blockDim.x + threadIdx.x;\n"
                    "  int y = blockIdx.y * blockDim.y + threadIdx.y;\n"
                    "  if (x >= 1 && x < W - 1 && y >= 1 && y < H - 1)\n"
                    "    o[y * W + x] = i[y * W + x] + i[y * W + x - 1] + i[y * W + x + 1] +\n"
                    "                   i[(y - 1) * W + x] + i[(y + 1) * W + x];\n",
                    {{"o", "inout", "float32", "W * H"},
                     {"i", "input", "float32", "W * H"},
                     {"W", "scalar", "", "", 64},
                     {"H", "scalar", "", "", 32}},
                    "ceil_div(W, 16); ceil_div(H, 8)", "16; 8"));
  out.push_back(own("convolution",
                    "  int i = blockIdx.x * blockDim.x + threadIdx.x;\n  if (i >= n) return;\n"
                    "  float sum = 0.0f;\n"
                    "  for (int k = 0; k < 9; ++k) sum += m[k] * x[i + k];\n  y[i] = sum;\n",
                    {{"y", "output", "float32", "n"},
                     {"m", "input", "float32", "9"},
                     {"x", "input", "float32", "n + 8"},
                     {"n", "scalar", "", "", 1003}},
                    "ceil_div(n, 64)", "64"));
  out.push_back(own("transposition",
                    "  int x = blockIdx.x * blockDim.x + threadIdx.x;\n"
                    "  int y = blockIdx.y * blockDim.y + threadIdx.y;\n"
                    "  if (x < W && y < H) o[x * H + y] = i[y * W + x];\n",
                    {{"o", "output", "float32", "W * H"},
                     {"i", "input", "float32", "W * H"},
                     {"W", "scalar", "", "", 48},
                     {"H", "scalar", "", "", 40}},
                    "ceil_div(W, 16); ceil_div(H, 16)", "16; 16"));
  return out;
}

}  // namespace

TEST_CASE("no move counts a moved pointer's distance twice, or not at all") {
  constexpr std::size_t kMostOfAMove = 2;
  const MoveRegistry& registry = registered_moves();
  std::set<std::string> applied;
  for (KernelSpec& spec : kernels()) {
    const std::string name = baseline_variant(spec).kernel_name;
    CAPTURE(name);
    const std::string before = baseline_variant(spec).source;
    spec.source = with_moved_pointers(before, name);
    REQUIRE(spec.source != before);
    for (const auto& [move, entry] : registry.entries()) {
      if (!entry.make()->structural()) continue;
      const std::vector<std::string> listed = MovePath(spec).listed(move);
      for (std::size_t i = 0; i < std::min(listed.size(), kMostOfAMove); ++i) {
        CAPTURE(listed[i]);
        MovePath path(spec);
        path.step(listed[i]);
        CAPTURE(path.source());
        path.runs();
        applied.insert(move);
      }
    }
  }
  CHECK(applied.size() > 5);
}

TEST_CASE("a parameter that is written as an array is a pointer, too") {
  const KernelSpec spec = test::kernel_under_test(
      "extern \"C\" __global__ void convolution(float* y, const float m[], const float x[], int n) "
      "{\n  int i = blockIdx.x * blockDim.x + threadIdx.x;\n  if (i >= n) return;\n  x += 1;\n  "
      "float sum = 0.0f;\n  for (int k = 0; k < 9; ++k) sum += m[k] * x[i + k];\n  y[i] = "
      "sum;\n}\n",
      "convolution",
      {{"y", "output", "float32", "n"},
       {"m", "input", "float32", "9"},
       {"x", "input", "float32", "n + 9"},
       {"n", "scalar", "", "", 1003}},
      "ceil_div(n, 64)", "64", 1e-4);
  const MoveRegistry& registry = registered_moves();
  for (const auto& [move, entry] : registry.entries()) {
    if (!entry.make()->structural()) continue;
    for (const std::string& listed : MovePath(spec).listed(move)) {
      CAPTURE(listed);
      MovePath(spec).step(listed).runs();
    }
  }
}

TEST_SUITE_END();
