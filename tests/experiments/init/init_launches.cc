#include <doctest/doctest.h>

#include <optional>
#include <string>
#include <vector>

#include "experiments/project/host_launch.h"
#include "experiments/project/kernel_signature.h"

using namespace warpath;

namespace {

/// The launch of `k` in a host function after these statements.
std::optional<HostLaunch> launch(const std::string& parameters,
                                 const std::string& host,
                                 const std::string& before = "") {
  static std::vector<model::Unit> units;  // the result refers to none
  units.push_back(model::parse(before + "__global__ void k(" + parameters + ") {}\nint main() {\n" +
                               host + "\n}\n"));
  return find_launch(units.back(), *units.back().find_kernel("k"));
}

std::string shown(const std::optional<model::Polynomial>& p) {
  return p ? p->text() : "?";
}

}  // namespace

TEST_SUITE_BEGIN("init_launches");

TEST_CASE("a launch is read as far as constants can be followed") {
  const auto found = launch("float* p, int n, float a",
                            "const int count = 1 << 20;\nfloat* d;\n"
                            "cudaMalloc(&d, count * sizeof(float));\ndim3 block(kWide, 2);\n"
                            "dim3 grid((count + block.x - 1) / block.x);\n"
                            "k<<<grid, block, 2 * kWide * sizeof(float)>>>(d, count, -2.5f);",
                            "constexpr int kWide = 64;\n");
  REQUIRE(found);
  CHECK(shown(found->grid[0]) == "(n + 63) / 64");
  CHECK(shown(found->grid[1]) == "1");
  CHECK(shown(found->block[0]) == "64");
  CHECK(shown(found->block[1]) == "2");
  CHECK(shown(found->dynamic_smem_bytes) == "512");
  CHECK(found->integers == std::map<std::string, std::int64_t>{{"n", 1 << 20}});
  CHECK(found->numbers.at("a") == -2.5);
  CHECK(shown(found->bytes.at("p")) == "4 * n");
  CHECK(found->line == 9);
}

TEST_CASE("a launch's helpers, ceil, casts and template arguments are followed") {
  const auto found =
      launch("float* p, int n",
             "int n = 1000;\nint blocks = (int)ceil(n / 256.0);\n"
             "k<float, 4><<<blocks, up(n, 4)>>>(nullptr, n);\nk<<<1, 1>>>(nullptr, 2);",
             "static int up(int a, int b) { return (a + b - 1) / b; }\n");
  REQUIRE(found);
  CHECK(shown(found->grid[0]) == "(n + 255) / 256");
  CHECK(shown(found->block[0]) == "(n + 3) / 4");
  CHECK(found->template_arguments == std::vector<std::string>{"float", "4"});
  CHECK(found->launches == 2);
}

TEST_CASE("components of a dim3 that are set once are followed, also where they are no numbers") {
  const auto found = launch("float* p, int n",
                            "dim3 block, grid(1, 1, 9);\nblock.x = 1024 / n;\nblock.y = n;\n"
                            "grid.x = n;\ngrid.y = 2;\ngrid.y = 3;\nk<<<grid, block>>>(p, n);");
  REQUIRE(found);
  CHECK(found->block[0]->text() == "1024 / n");
  CHECK(found->block[1]->text() == "n");
  CHECK(found->block[2]->constant() == 1);
  CHECK(found->grid[0]->text() == "n");
  CHECK_FALSE(found->grid[1]);
  CHECK(found->grid[2]->constant() == 9);
  CHECK_FALSE(found->threads(1));
  HostLaunch known = *found;
  known.integers["n"] = 64;
  CHECK(known.threads(0) == 16);
  CHECK(known.threads(1) == 64);
}

TEST_CASE("a variable that is set again, or read from outside, is not followed") {
  const auto found = launch(
      "float* p, int n", "int n = atoi(argv[1]);\nint t = 128;\nt = 256;\nk<<<n / 4, t>>>(p, n);");
  REQUIRE(found);
  CHECK(shown(found->grid[0]) == "n / 4");
  CHECK(shown(found->block[0]) == "?");
  CHECK(found->integers.empty());
  CHECK_FALSE(launch("float* p", "other<<<1, 1>>>(p);"));
}

TEST_CASE("template arguments of a launch that only its function knows are values, or unknown") {
  const std::string source =
      "template <typename T, int A, int B, int C> __global__ void k(T* y) { y[threadIdx.x] = A; }\n"
      "constexpr int kC = 3;\n"
      "template <typename U> void run(U* y, int n) { const int a = 2 * 8; int b = n;\n"
      "  k<U, a, b, kC><<<1, 32>>>(y); }\n";
  const model::Unit unit = model::parse(source);
  const model::Function& kernel = *unit.find_function("k");
  const auto launch = find_launch(unit, kernel);
  REQUIRE(launch);
  CHECK(launch->template_arguments == std::vector<std::string>{"", "16", "", "3"});
  const auto arguments = template_arguments(unit, kernel, launch->template_arguments, 4);
  CHECK(instance_name(kernel, arguments) == "k<float, 16, 4, 3>");
  CHECK_FALSE(arguments[0].why.empty());
  CHECK(arguments[1].why.empty());
}

TEST_CASE("of launches of several instances the one in the middle is taken, which is said") {
  const std::string source =
      "template <int B> __global__ void k(float* y) { y[threadIdx.x] = B; }\n"
      "void run(float* y, int n) { switch (n) { case 0: k<0><<<1, 1>>>(y); break;\n"
      "case 5: k<5><<<1, 32>>>(y); break; case 9: k<9><<<1, 512>>>(y); } }\n";
  const model::Unit unit = model::parse(source);
  const auto found = find_launch(unit, *unit.find_function("k"));
  REQUIRE(found);
  CHECK(found->template_arguments == std::vector<std::string>{"5"});
  CHECK(shown(found->block[0]) == "32");
  CHECK(found->instances_differ);
  const auto same = launch("float* p", "k<<<1, 1>>>(a);\nk<<<2, 2>>>(a);");
  REQUIRE(same);
  CHECK(shown(same->grid[0]) == "1");
  CHECK_FALSE(same->instances_differ);
}

TEST_CASE("a template argument that is one of the launching function is what its callers give") {
  const auto arguments = [](const std::string& callers) {
    const std::string source =
        "template <typename T> struct Twice {};\ntemplate <typename T> struct Thrice {};\n"
        "template <template <typename> class Op, int B>\n"
        "__global__ void k(float* y) { y[threadIdx.x] = B; }\n"
        "template <template <typename> class Op, int B> void launch(float* y) {\n"
        "  k<Op, B><<<1, B>>>(y);\n}\n"
        "template <int N, template <typename> class Of> void outer(float* y) { launch<Of, N>(y); "
        "}\n" +
        callers;
    const model::Unit unit = model::parse(source);
    return find_launch(unit, *unit.find_function("k"));
  };
  const auto direct = arguments("void run(float* y) { launch<Twice, 64>(y); }\n");
  REQUIRE(direct);
  CHECK(direct->template_arguments == std::vector<std::string>{"Twice", "64"});
  CHECK_FALSE(direct->calls_differ);
  const auto through = arguments("void run(float* y) { outer<32, Thrice>(y); }\n");
  CHECK(through->template_arguments == std::vector<std::string>{"Thrice", "32"});
  const auto several =
      arguments("void run(float* y) { launch<Twice, 64>(y); launch<Thrice, 64>(y); }\n");
  CHECK(several->template_arguments == std::vector<std::string>{"Twice", "64"});
  CHECK(several->calls_differ);
  CHECK(arguments("")->template_arguments == std::vector<std::string>{"", ""});
}

TEST_CASE("a launch says its grid with the constants that are sizes") {
  const model::Unit unit = model::parse(
      "#define N 1024\n#define TWICE (2 * N)\n"
      "__global__ void k(float* y, int n) { if (threadIdx.x < N) y[n] = N; }\n"
      "void run(float* y) { k<<<(N + 255) / 256, TWICE, 4 * N>>>(y, N / 2); }\n");
  const auto found = find_launch(unit, *unit.find_function("k"), {{"N", 1024}});
  REQUIRE(found);
  CHECK(shown(found->grid[0]) == "(N + 255) / 256");
  CHECK_FALSE(found->block[0]);
  CHECK(shown(found->dynamic_smem_bytes) == "4 * N");
  CHECK(found->integers.at("n") == 512);
}

TEST_SUITE_END();
