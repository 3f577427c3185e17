#include <doctest/doctest.h>

#include <filesystem>
#include <map>
#include <set>
#include <string>
#include <vector>

#include "experiments/init/analysis_text.h"
#include "experiments/init/argument_sizes.h"
#include "experiments/init/index_bounds.h"
#include "experiments/init/index_coverage.h"
#include "experiments/init/whole_extents.h"
#include "experiments/project/kernel_text.h"
#include "experiments/project/project_folders.h"
#include "experiments/project/project_text.h"
#include "experiments/project/reading_options.h"
#include "moves/model/facts.h"
#include "tests/support/temporary_folder.h"

using namespace warpath;
using test::put_text;
using test::TemporaryFolder;

namespace {

std::string text_of_kernel(const std::string& source, const TextOptions& options = {}) {
  const model::Unit unit = model::parse(source);
  return kernel_text(unit, *unit.find_kernel("k"), options);
}

}  // namespace

TEST_SUITE_BEGIN("init_texts");

TEST_CASE("a kernel's text has what it names of its file, device headers and nothing of the host") {
  const std::string source =
      "#include <iostream>\n#include <cuda_fp16.h>\n#define N 4\n#define M 5\n"
      "namespace a {\n__device__ int twice(int x) { return 2 * x; }\nint host() { return M; }\n}\n"
      "__global__ void other() {}\n__global__ void k(int* p) { p[0] = a::twice(N); }\n"
      "int main() { k<<<1, 1>>>(nullptr); std::cout << 1; }\n";
  const TextOptions options{.keeps_header = [](auto name) { return name == "cuda_fp16.h"; },
                            .settable = {"N"}};
  CHECK(text_of_kernel(source, options) ==
        "#include <cuda_fp16.h>\n#ifndef N\n#define N 4\n#endif\n"
        "__device__ int twice(int x) { return 2 * x; }\n"
        "__global__ void k(int* p) { p[0] = twice(N); }\n");
  CHECK(text_of_kernel("const int kWide = 8;\n__global__ void k(int* p) { p[kWide] = 0; }\n",
                       {.settable = {"kWide"}}) ==
        "#ifndef kWide\n#define kWide 8\n#endif\n__global__ void k(int* p) { p[kWide] = 0; }\n");
}

TEST_CASE("a kernel's text leaves out what it has no types or macros for") {
  CHECK(text_of_kernel(
            "template <typename T>\nBOUNDS_1(1024) __global__ void k(T* p) { *p = 0; }\n") ==
        "template <typename T>\n __global__ void k(T* p) { *p = 0; }\n");
  CHECK(text_of_kernel("#include <cuda_fp8.h>\n#include <cuda_fp16.h>\nusing namespace other;\n"
                       "#define BOTH __device__\n#define INLINE BOTH inline\n"
                       "template <typename T> struct Zero { static T of() { return 0; } };\n"
                       "template <> struct Zero<Half> { static Half of() { return half(0); } };\n"
                       "template <> struct Zero<int> { static int of() { return 0; } };\n"
                       "INLINE float zero() { return Zero<float>::of(); }\n"
                       "__global__ void k(float* p) { *p = zero(); }\n",
                       {.keeps_header = [](auto) { return true; }}) ==
        "#include <cuda_fp16.h>\n#define BOTH __device__\n#define INLINE BOTH inline\n"
        "template <typename T> struct Zero { static T of() { return 0; } };\n"
        "template <> struct Zero<int> { static int of() { return 0; } };\n"
        "INLINE float zero() { return Zero<float>::of(); }\n"
        "__global__ void k(float* p) { *p = zero(); }\n");
}

TEST_CASE("a macro that is undefined again is the kernel's only where something between uses it") {
  CHECK(text_of_kernel("#define T double\n#undef T\n#define T char\n#define ONE 1\n#undef T\n"
                       "#define T int\n__device__ T one() { return ONE; }\n#undef T\n"
                       "__global__ void k(float* T) { *T = one(); }\n") ==
        "#define ONE 1\n#define T int\n__device__ T one() { return ONE; }\n#undef T\n"
        "__global__ void k(float* T) { *T = one(); }\n");
}

TEST_CASE("the folders of a file's project are those around it, up to the project's top") {
  const TemporaryFolder folder;
  std::filesystem::create_directories(folder.path() / "top/include");
  std::filesystem::create_directories(folder.path() / "top/src/cuda");
  put_text(folder.path() / "top/src/README.md", "");
  const auto top = folder.path() / "top";
  const auto file = top / "src/cuda/k.cu";
  const auto inner = project_folders(file);
  REQUIRE(inner.size() >= 2);
  CHECK(inner[0] == (top / "src/cuda").string());
  CHECK(inner[1] == (top / "src").string());
  put_text(top / ".git", "");
  CHECK(project_folders(file) == std::vector<std::string>{(top / "src/cuda").string(),
                                                          (top / "src").string(), top.string(),
                                                          (top / "include").string()});
}

TEST_CASE("what is named like a parameter, a variable or a member is no mention of another") {
  CHECK(text_of_kernel("struct Shape { int rows; };\nint width(const Shape& s);\n"
                       "struct T {};\n__device__ int rows() { return 1; }\n"
                       "__device__ int two() { return 2; }\n"
                       "template <typename T>\n__global__ void k(T* y, int width) {\n"
                       "  float4 rows; rows.x = two(); y[width] = rows.x; }\n") ==
        "__device__ int two() { return 2; }\n"
        "template <typename T>\n__global__ void k(T* y, int width) {\n"
        "  float4 rows; rows.x = two(); y[width] = rows.x; }\n");
}

TEST_CASE("declarations of the host are left out, constants and device functions are not") {
  CHECK(text_of_kernel("int count(int n);\nconst dim3 block(16, 16);\n__device__ int of(int n);\n"
                       "__global__ void k(int* y) { *y = of(block.x) + count(1); }\n") ==
        "const dim3 block(16, 16);\n__device__ int of(int n);\n"
        "__global__ void k(int* y) { *y = of(block.x) + count(1); }\n");
}

TEST_CASE("an operator is kept with the types that it is for") {
  const std::string pair =
      "struct Pair { float a; };\n"
      "__device__ Pair operator+(Pair a, Pair b) { return {a.a + b.a}; }\n";
  const std::string quad =
      "__device__ float4 operator+(float4 a, float4 b) { return make_float4(a.x + b.x, 0, 0, 0); "
      "}\n";
  const std::string kernel = "__global__ void k(float4* y) { y[0] = y[1] + y[2]; }\n";
  CHECK(text_of_kernel(pair + quad + kernel) == quad + kernel);
  const std::string other = "__global__ void k(float* y) { Pair p{y[0]}; y[1] = (p + p).a; }\n";
  CHECK(text_of_kernel(pair + quad + other) == pair + other);
  // of its operands: CUDA has operators for half
  const std::string half = "__device__ half operator+(half a, half b) { return Pair{a}.a + b; }\n";
  CHECK(text_of_kernel(pair + half + other) == pair + other);
}

TEST_CASE("of several functions one for a type that comes from elsewhere is left out") {
  const std::string kernel = "__global__ void k(float* y) { *y = twice(*y); }\n";
  const std::string own = "__device__ float twice(float x) { return x + x; }\n";
  CHECK(text_of_kernel("__device__ a::Half twice(a::Half x) { return x + x; }\n" + own + kernel) ==
        own + kernel);
  CHECK(text_of_kernel("using a::Half;\n__device__ Half twice(Half x) { return x + x; }\n" + own +
                       kernel) == own + kernel);
  const std::string known =
      "using nvcuda::Half;\n__device__ Half twice(Half x) { return x + x; }\n";
  CHECK(text_of_kernel(known + own + kernel) == known + own + kernel);
}

TEST_CASE("a name that a scope of the file has does not say that the file declares it") {
  const std::string own = "template <>\nstruct Zero<int> { int n; };\n";
  const std::string zero = "template <typename T>\nstruct Zero {};\n";
  const std::string kernel = "__global__ void k(int* y) { *y = Zero<int>().n; }\n";
  CHECK(text_of_kernel("namespace a {\nstruct Other {};\n}\n" + zero + own +
                       "template <>\nstruct Zero<a::Half> { a::Half n; };\nusing a::Half;\n" +
                       kernel) == zero + own + kernel);
}

TEST_CASE("a function of CUDA's for a type that the kernel has nothing of is left out") {
  const std::string half = "__device__ half exp(half x) { return hexp(x); }\n";
  const std::string wide = "__device__ double exp(float x) { return exp(double(x)); }\n";
  const std::string own = "__device__ half twice(half x) { return x + x; }\n";
  const auto kernel = [](const std::string& type) {
    return "__global__ void k(" + type + "* y) { *y = exp(twice(*y)); }\n";
  };
  CHECK(text_of_kernel(half + wide + kernel("float")) == wide + kernel("float"));
  CHECK(text_of_kernel(half + wide + kernel("half")) == half + wide + kernel("half"));
  CHECK(text_of_kernel(own + half + kernel("float")) == own + half + kernel("float"));
}

TEST_CASE("min and max of numbers are CUDA's") {
  const std::string half = "__device__ half max(half a, half b) { return a > b ? a : b; }\n";
  const std::string kernel = "__global__ void k(int* y) { *y = max(y[1], y[2]); }\n";
  CHECK(text_of_kernel("namespace a {\n__device__ int max(int a, int b) { return a > b ? a : b; "
                       "}\n}\n" +
                       half + kernel) == kernel);
}

TEST_CASE("of structs that namespaces have by one name the last before the kernel is taken") {
  const std::string kernel = "__global__ void k(float* y) { *y = Add<float>().of(*y); }\n";
  const auto add = [](const std::string& by) {
    return "template <typename T>\nstruct Add { __device__ T of(T x) { return x + " + by +
           "; } };\n";
  };
  const auto in = [](const std::string& name, const std::string& text) {
    return "namespace " + name + " {\n" + text + "}\n";
  };
  const std::string special = "template <>\nstruct Add<int> { int n; };\n";
  CHECK(text_of_kernel(in("a", add("1")) + in("b", add("2") + special) + kernel +
                       in("c", add("3"))) == add("2") + special + kernel);
}

TEST_CASE("conditions on CUDA's version hold as for the least that kernels are built with") {
  const std::string source =
      "#if CUDA_VERSION < 9000\n__device__ int lane() { return 1; }\n#else\n"
      "__device__ int lane() { return 2; }\n#endif\n"
      "__global__ void k(int* y) {\n#if CUDA_VERSION >= 11000\n  *y = lane();\n#endif\n}\n";
  const model::Unit unit = model::parse(source, reading_options(source));
  const std::string text = kernel_text(unit, *unit.find_kernel("k"));
  CHECK(
      text.starts_with("#ifndef CUDA_VERSION\n#define CUDA_VERSION 12000\n#endif\n"
                       "__device__ int lane() { return 2; }\n__global__"));
}

TEST_CASE("what is named like the size of a warp is 32 where nothing declares it") {
  const auto bound = [](const std::string& source) {
    return reading_options(source).bindings.contains("MY_WARP_SIZE");
  };
  CHECK(bound("__global__ void k(int* y) { y[threadIdx.x % MY_WARP_SIZE] = 0; }\n"));
  CHECK(bound("__device__ int f() { return MY_WARP_SIZE; }\n"));
  CHECK(reading_options("int at = place - MY_INDEX_BASE;").bindings.at("MY_INDEX_BASE") == 0);
  for (const char* const declared :
       {"#define MY_WARP_SIZE 64\n", "constexpr int MY_WARP_SIZE = 64;\n",
        "template <int MY_WARP_SIZE, int B>\n", "enum { A, MY_WARP_SIZE };\n",
        "#ifdef MY_WARP_SIZE\n#endif\n"}) {
    CAPTURE(declared);
    CHECK_FALSE(
        bound(std::string(declared) + "__global__ void k(int* y) { *y = MY_WARP_SIZE; }\n"));
  }
}

TEST_CASE("a header that is in no folder around the file is looked for in the whole project") {
  const TemporaryFolder folder;
  std::filesystem::create_directories(folder.path() / "top/src/cuda");
  std::filesystem::create_directories(folder.path() / "top/src/common/detail");
  std::filesystem::create_directories(folder.path() / "top/other/common/detail");
  put_text(folder.path() / "top/.git", "");
  put_text(folder.path() / "top/other/common/detail/loop.h", "int far;\n");
  put_text(folder.path() / "top/src/common/detail/loop.h", "#include \"deep.h\"\nint near;\n");
  put_text(folder.path() / "top/other/deep.h", "int deep;\n");
  const auto file = folder.path() / "top/src/cuda/k.cu";
  put_text(file, "#include \"detail/loop.h\"\n__global__ void k(int* y) { *y = near; }\n");
  const FlatSource text = project_text(file.string(), "k", {});
  CHECK(text.text.starts_with("int deep;\n\nint near;\n"));
  CHECK(text.missing.empty());
}

TEST_CASE("a kernel of a header is read as a file does that includes it") {
  const TemporaryFolder folder;
  put_text(folder.path() / ".git", "");
  const auto header = folder.path() / "k.cuh";
  put_text(header, "__global__ void k(int* y) { *y = STEP; }\n");
  CHECK(project_text(header.string(), "k", {}).text.starts_with("__global__"));
  put_text(folder.path() / "a.cu", "#define STEP 1\n#include \"k.cuh\"\n");
  CHECK(project_text(header.string(), "k", {}).text.starts_with("#define STEP 1\n__global__"));
  // one that launches it comes first
  put_text(folder.path() / "b.cu",
           "#define STEP 2\n#include <k.cuh>\nvoid go(int* y) { k<<<1, 1>>>(y); }\n");
  const FlatSource text = project_text(header.string(), "k", {});
  CHECK(text.text.starts_with("#define STEP 2\n__global__"));
  CHECK(text.text.find("k<<<1, 1>>>") != std::string::npos);
  // not another header of the same name
  put_text(folder.path() / "b.cu",
           "#include \"else/k.cuh\"\nvoid go(int* y) { k<<<1, 1>>>(y); }\n");
  std::filesystem::create_directories(folder.path() / "else");
  put_text(folder.path() / "else/k.cuh", "__global__ void k(int* y);\n");
  CHECK(project_text(header.string(), "k", {}).text.starts_with("#define STEP 1\n__global__"));
}

TEST_SUITE_END();

namespace {

/// One kernel `k`, after some declarations.
class Kernel {
 public:
  Kernel(const std::string& parameters, const std::string& body, const std::string& before = "")
      : unit_(model::parse(before + "__global__ void k(" + parameters + ") {\n" + body + "\n}\n")),
        facts_(model::analyse(unit_, *unit_.find_kernel("k"), {.parameters_apart = true})),
        bounds_(facts_, {}) {}

  /// One more than the largest index of the last access; "?" where it is not followed.
  [[nodiscard]] std::string end(const std::string& array) {
    const auto end = bounds_.end_of(last(array));
    return end ? end->text() : "?";
  }
  [[nodiscard]] std::set<std::string> behind(const std::string& array) {
    return bounds_.sizes_behind(last(array)).value_or(std::set<std::string>{"?"});
  }
  [[nodiscard]] std::map<std::string, std::string> strides() {
    std::map<std::string, std::string> out;
    for (const auto& [name, extent] : bounds_.strides()) out.emplace(name, extent.text());
    return out;
  }
  [[nodiscard]] const model::KernelFacts& facts() const { return facts_; }

 private:
  [[nodiscard]] const model::Access& last(const std::string& array) const {
    const auto accesses = facts_.accesses_to(facts_.array_index(array));
    REQUIRE_FALSE(accesses.empty());
    return *accesses.back();
  }
  model::Unit unit_;
  model::KernelFacts facts_;
  IndexBounds bounds_;
};

const std::string kPoints =
    "for (int i = blockIdx.x * blockDim.x + threadIdx.x; i < n; i += blockDim.x * gridDim.x) {\n";

}  // namespace

TEST_SUITE_BEGIN("init_sources");

TEST_CASE("an index that a loop's condition bounds reaches as far as that, however it moves") {
  const std::string two = "int i = threadIdx.x;\nfor (int t = 0; t < m && i < n; t++, i += 7) ";
  CHECK(Kernel("float* y, int n, int m", two + "y[i] = 0;").end("y") == "n");
  CHECK(Kernel("float* y, int n, int m",
               "int i = 0, found = 0;\nwhile (i < n & found < m) { y[i] = 0; i = 2 * i + 1; }")
            .end("y") == "n");
  CHECK(Kernel("float* y, int n", "int i = 0;\ndo { i = 2 * i + 1; y[i] = 0; } while (i < n);")
            .end("y") == "?");
}

TEST_CASE("a quotient that is rounded in floating point reaches as far as that of integers") {
  const std::string window =
      "for (int o = 0; o < out; ++o) {\n"
      "  int from = (int)floorf((float)(o * n) / out), to = (int)ceilf((float)((o + 1) * n) / "
      "out);\n"
      "  for (int j = 0; j < to - from; ++j) y[from + j] = 0;\n}";
  CHECK(Kernel("float* y, int n, int out", window).end("y") == "n");
  CHECK(Kernel("float* y, int n, float a", "int at = (int)floorf(a * n);\ny[at] = 0;").end("y") ==
        "?");
}

TEST_CASE("of two ends the one that the index is beside counts") {
  const std::string tail =
      kPoints + "for (int j = 0; j < min(m, c - i % c); ++j) y[i % c + j] = 0;\n}";
  CHECK(Kernel("float* y, int n, int m, int c", tail).end("y") == "c");
}

TEST_CASE("a pointer that moves once with a thread's points is where it was for the first") {
  CHECK(Kernel("float* y, int n, int c", kPoints + "y += i * c;\ny[0] = 1;\n}").end("y") ==
        "c * n - c + 1");
  // one that an inner loop moves is followed no further
  CHECK(Kernel("float* y, int n, int c",
               kPoints + "for (int j = 0; j < c; ++j) { y += 3; if (j > i) y += i; y[0] = 1; }\n}")
            .end("y") == "?");
}

TEST_CASE("an index that is not followed is made of the sizes that its values come from") {
  const std::string body =
      "int row = threadIdx.x * w;\nrow = row * row;\nint at = row + h;\ny[at * at] = 0;";
  CHECK(Kernel("float* y, int w, int h, int other", body).behind("y") ==
        std::set<std::string>{"h", "w"});
  CHECK(Kernel("float* y, int w", "{ int at = w; }\n{ int at = 2; y[at] = 0; }").behind("y") ==
        std::set<std::string>{"?"});
}

TEST_CASE("a parameter that is a stride and nothing else is as long as what lies within it") {
  const std::string index =
      "int i = blockIdx.x * blockDim.x + threadIdx.x;\nif (i >= n) return;\n"
      "for (int r = 0; r < h; ++r) for (int c = 0; c < w; ++c) ";
  CHECK(Kernel("float* y, int n, int h, int w, int plane, int line",
               index + "y[i * plane + r * line + c] = 0;")
            .strides() == std::map<std::string, std::string>{{"line", "w"}, {"plane", "h * w"}});
  CHECK(Kernel("float* y, int n, int h, int w, int s1, int s2",
               index + "y[(i * s1 + r) * s2 + c] = 0;")
            .strides() == std::map<std::string, std::string>{{"s1", "h"}, {"s2", "w"}});
  // an offset is none, nor is what bounds something
  CHECK(Kernel("float* y, int n, int h, int w, int at", index + "y[i * w + c + at] = 0;")
            .strides()
            .empty());
}

TEST_CASE("a row whose indices go in steps is as long as whole steps") {
  using model::Polynomial;
  const Polynomial n = Polynomial::name("n");
  CHECK(of_whole_steps(4 * n - 3) == 4 * n);
  CHECK(of_whole_steps(128 * n - 3) == 128 * n);
  for (const Polynomial& other : {4 * n - 2, 4 * n, 3 * n - 3, n - 1, Polynomial(61)})
    CHECK(of_whole_steps(other) == other);
  CHECK(tiles_of(Polynomial::operation("/", {n + 15, 16}) * 2) == std::set<std::int64_t>{16});
  CHECK(tiles_of(128) == std::set<std::int64_t>{128});
  CHECK(tiles_of(Polynomial::operation("/", {64, n})).empty());
}

TEST_CASE("a leading dimension is as long as the largest size, and no extent of a tensor") {
  const ArgumentSizes sizes = argument_sizes({.integers = {"m", "n", "lda"},
                                              .extents = {"m", "n"},
                                              .of_grid = {"m"},
                                              .rank = 2,
                                              .multiples = {},
                                              .given = {{"m", 48}, {"n", 192}}});
  CHECK(sizes.gpu.at("lda") == 192);
  CHECK((is_leading_dimension("ldc") && is_leading_dimension("ld_b")));
  CHECK_FALSE((is_leading_dimension("lower") || is_leading_dimension("old")));
}

TEST_CASE("strides follow the sizes that they are made of, also where these are halved") {
  ArgumentSizes sizes = argument_sizes({.integers = {"n", "w", "line"},
                                        .extents = {"n", "w", "line"},
                                        .of_grid = {"n"},
                                        .rank = 2,
                                        .multiples = {},
                                        .given = {},
                                        .strides = {{"line", "w"}}});
  CHECK(sizes.gpu.at("line") == sizes.gpu.at("w"));
  CHECK(sizes.why.at("line").find("stride") != std::string::npos);
  CHECK(fit_sizes(sizes, {{.factors = {Expression::parse("line", "test")}, .gpu = 64, .host = 8}},
                  1));
  CHECK(sizes.gpu.at("w") <= 64);
  CHECK(sizes.gpu.at("line") == sizes.gpu.at("w"));
  CHECK(sizes.host.at("line") == sizes.host.at("w"));
}

TEST_CASE("a size that a launch gives in whole blocks has whole blocks on the host") {
  const auto host = [](std::int64_t given) {
    return argument_sizes({.integers = {"n"},
                           .extents = {"n"},
                           .of_grid = {"n"},
                           .multiples = {},
                           .given = {{"n", given}},
                           .steps = {{"n", 256}}})
        .host.at("n");
  };
  CHECK(host(1 << 20) % 256 == 0);
  CHECK(host((1 << 20) + 1) == 10000);
  CHECK(host(512) == 512);
}

TEST_CASE("what is named for padded data is a size, what is named for padding is none") {
  const auto value = [](const std::string& name) {
    return argument_sizes(
               {.integers = {name}, .extents = {name}, .of_grid = {}, .multiples = {}, .given = {}})
        .gpu.at(name);
  };
  CHECK(value("padded_rows") > 1);
  CHECK(value("pad_h") == 0);
  CHECK(value("padding") == 0);
}

TEST_CASE("what both branches of an if store is stored") {
  const Bindings numbers{{"n", 100}, {"blockDim.x", 32}, {"gridDim.x", 4}};
  const auto all = [&](const std::string& body) {
    const Kernel k("float* y, const float* x, int n", kPoints + body + "\n}");
    return writes_all(k.facts(), k.facts().array_index("y"), 100, numbers);
  };
  CHECK(all("if (x[i] > 0) { y[i] = x[i]; } else { y[i] = 0; }"));
  CHECK(all("if (x[i] > 1) y[i] = 1; else if (x[i] > 0) y[i] = x[i]; else y[i] = 0;"));
  CHECK_FALSE(all("if (x[i] > 0) { y[i] = x[i]; } else { y[i + 1] = 0; }"));
  CHECK_FALSE(all("if (x[i] > 1) y[i] = 1; else if (x[i] > 0) y[i] = x[i];"));
}

TEST_CASE("numbers of which a kernel only makes integers are read as integers") {
  const auto text = [](const std::string& body) {
    return with_integer_contents(Kernel("const float* at, const float* x, float* y", body).facts());
  };
  CHECK(text("int i = (int)at[threadIdx.x];\ny[threadIdx.x] = x[i];").find("const int* at") !=
        std::string::npos);
  CHECK(text("int i = (int)at[threadIdx.x];\ny[threadIdx.x] = x[i] + at[0];")
            .find("const float* at") != std::string::npos);
}

TEST_CASE("a qualified name is foreign unless the text, CUDA or the library has its scope") {
  CHECK(foreign_scope("float f(float a) { return lib::max(a, std::min(a, 1.f)); }") == "lib::max");
  CHECK(foreign_scope("struct S { static int n(); };\nint f() { return S::n() + ::abs(1); }")
            .empty());
  CHECK(foreign_scope("template <typename T> int f() { return T::n; }").empty());
  CHECK(foreign_scope("int f() { return a::b; }", {"a"}).empty());
}

TEST_CASE("an undeclared name that a block's place is multiplied by is its width") {
  const auto binding = [](const std::string& text, const std::string& name) {
    const auto bindings = reading_options(text).bindings;
    return bindings.contains(name) ? bindings.at(name) : -1;
  };
  const std::string body = " void k(float* y) { y[blockIdx.x * width + threadIdx.x] = 0; }\n";
  CHECK(binding("__global__" + body, "width") == 16);
  CHECK(binding("template <int width> __global__" + body, "width") == -1);
  CHECK(binding("#define width 32\n__global__" + body, "width") == -1);
  CHECK(binding("const int width = 8;\n__global__" + body, "width") == -1);
}

TEST_SUITE_END();
