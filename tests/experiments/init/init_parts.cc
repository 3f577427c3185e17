#include <doctest/doctest.h>

#include <nlohmann/json.hpp>
#include <set>
#include <sstream>
#include <string>

#include "engine/base/error.h"
#include "experiments/init/argument_sizes.h"
#include "experiments/init/index_bounds.h"
#include "experiments/init/index_coverage.h"
#include "experiments/init/window_extents.h"
#include "experiments/project/accessor_parameters.h"
#include "experiments/project/constant_sizes.h"
#include "experiments/project/host_launch.h"
#include "experiments/project/kernel_signature.h"
#include "experiments/project/struct_parameters.h"
#include "moves/model/facts.h"

using namespace warpath;

namespace {

/// One kernel `k` and how far its indices reach.
class Reaches {
 public:
  explicit Reaches(const std::string& parameters, const std::string& body)
      : unit_(model::parse("__global__ void k(" + parameters + ") {\n" + body + "\n}\n")),
        facts_(model::analyse(unit_, *unit_.find_kernel("k"), {.parameters_apart = true})) {}

  /// One more than the largest index into the array; "?" where it is not followed.
  [[nodiscard]] std::string end(const std::string& array) const {
    IndexBounds bounds(facts_, {});
    const auto accesses = facts_.accesses_to(facts_.array_index(array));
    REQUIRE_FALSE(accesses.empty());
    const auto end = bounds.end_of(*accesses.back());
    return end ? end->text() : "?";
  }
  [[nodiscard]] std::string shape(const std::string& array) const {
    IndexBounds bounds(facts_, {});
    const model::Access& access = *facts_.accesses_to(facts_.array_index(array)).back();
    std::string out;
    for (const auto& extent : bounds.shape_of(*bounds.end_of(access), access))
      out += "[" + extent.text() + "]";
    return out;
  }
  [[nodiscard]] const model::KernelFacts& facts() const { return facts_; }

 private:
  model::Unit unit_;
  model::KernelFacts facts_;
};

const std::string kIndex = "int i = blockIdx.x * blockDim.x + threadIdx.x;\n";

}  // namespace

TEST_SUITE_BEGIN("init_parts");

TEST_CASE("an index reaches as far as its guard says") {
  CHECK(Reaches("float* y, int n", kIndex + "if (i < n) y[i] = 0;").end("y") == "n");
  CHECK(Reaches("float* y, int n", kIndex + "if (i >= n) return; y[i] = 0;").end("y") == "n");
  CHECK(Reaches("float* y, int n", kIndex + "if (i > 0 && i < n - 1) y[i + 1] = 0;").end("y") ==
        "n");
  CHECK(Reaches("float* y, int n, int c", kIndex + "if (i < n * c) y[i] = 0;").shape("y") ==
        "[c * n]");
  CHECK(Reaches("float* y, int n", kIndex + "if (i < n) y[n - 1 - i] = 0;").end("y") == "n");
}

TEST_CASE("places of a window that a guard bounds are extents") {
  const std::string window =
      "int x = blockIdx.x * blockDim.x + threadIdx.x, y = blockIdx.y * blockDim.y + threadIdx.y;\n"
      "if (x >= W - 2 || y > H - R) return;\n";
  const Reaches one("float* o, int H, int W, int R", window + "o[y * (W - 2) + x] = 0;");
  CHECK(one.shape("o") == "[H - R + 1][W - 2]");
  CHECK(WindowExtents(one.facts()).windows() == std::set<std::string>{"R"});
  CHECK(Reaches("float* o, int H, int W, int R, int K",
                window + "for (int k = 0; k < K; ++k) o[(k * (H - R + 1) + y) * (W - 2) + x] = 0;")
            .shape("o") == "[K][H - R + 1][W - 2]");
  // what no guard says may be negative
  CHECK(Reaches("float* o, int n, int m", kIndex + "if (i < n) o[i * (n - m)] = 0;").end("o") ==
        "?");
}

TEST_CASE("an index reaches as far as its loops go, and strides are inner extents") {
  const std::string rows = kIndex + "if (i >= n) return;\n";
  CHECK(Reaches("float* y, int n, int c", rows + "for (int j = 0; j < c; ++j) y[i * c + j] = 0;")
            .shape("y") == "[n][c]");
  CHECK(Reaches("float* y, int n, int c", rows + "for (int j = 0; j < c; ++j) y[j * n + i] = 0;")
            .shape("y") == "[c][n]");
  CHECK(
      Reaches("float* y, int n, int c", rows + "for (int j = c - 1; j >= 0; --j) y[i * c + j] = 0;")
          .end("y") == "c * n");
  CHECK(Reaches("float* y, int c", "for (int j = threadIdx.x; j < c; j += blockDim.x) y[j] = 0;")
            .end("y") == "c");
  CHECK(Reaches("float* y, int c", "for (int t = 0; t < c; t += 16) y[t + threadIdx.x % 16] = 0;")
            .end("y") == "c");
}

TEST_CASE("without a bound an index reaches as far as the launch") {
  CHECK(Reaches("float* y", "y[blockIdx.x] = 0;").end("y") == "gridDim.x");
  CHECK(Reaches("float* y", "y[threadIdx.x / 32] = 0;").end("y") == "(blockDim.x - 1) / 32 + 1");
  CHECK(Reaches("float* y", kIndex + "y[i] = 0;").end("y") == "blockDim.x * gridDim.x");
}

TEST_CASE("what a loop or a value does not bound is not followed") {
  CHECK(Reaches("float* y, int n", "int i = 0; while (n > i * i) { i = i * 3 + 1; y[i] = 0; }")
            .end("y") == "?");
  CHECK(Reaches("float* y, float a", "y[(int)a] = 0;").end("y") == "?");
}

TEST_CASE("values that are indices stand for a range") {
  const Reaches gather("float* y, const float* x, const int* at, int n, int c",
                       kIndex +
                           "if (i < n) for (int j = 0; j < c; ++j) y[i * c + j] = x[at[i] * c "
                           "+ j];");
  CHECK(gather.end("x") == "#at * c");
  CHECK(gather.shape("x") == "[#at][c]");
}

TEST_CASE("extents of a grid's points are what these are divided by, not what a loop's are") {
  const Reaches k(
      "float* y, const float* x, int n, int h, int w, int c",
      "for (int i = blockIdx.x * blockDim.x + threadIdx.x; i < n; i += blockDim.x * "
      "gridDim.x)\n  for (int j = 0; j < n; ++j) y[i] = x[i / w % h * w + i % w + j / c];");
  CHECK(extents_of_points(k.facts(), "x") == std::set<std::string>{"h", "w"});
  const Reaches guarded("float* y, int n, int w", kIndex + "if (i < n) y[i / w] = 0;");
  CHECK(extents_of_points(guarded.facts(), "x") == std::set<std::string>{"w"});
  CHECK(extents_of_points(guarded.facts(), "y").empty());
}

TEST_CASE("stores reach every element only if the model follows all that they depend on") {
  const Bindings numbers{{"n", 100}, {"c", 4}, {"blockDim.x", 32}, {"gridDim.x", 4}};
  const auto all = [&](const std::string& body, std::int64_t elements) {
    const Reaches k("float* y, const float* x, int n, int c", kIndex + body);
    return writes_all(k.facts(), k.facts().array_index("y"), elements, numbers);
  };
  CHECK(all("if (i < n) y[i] = x[i];", 100));
  CHECK_FALSE(all("if (i > 0 && i < n) y[i] = x[i];", 100));
  CHECK_FALSE(all("if (i < n) y[2 * i] = x[i];", 200));
  CHECK(all("if (i < n) { y[2 * i] = x[i]; y[2 * i + 1] = 0; }", 200));
  CHECK(all("if (i < n) for (int j = 0; j < c; ++j) y[i * c + j] = x[i];", 400));
  CHECK_FALSE(all("if (i < n && x[i] > 0) y[i] = x[i];", 100));
  CHECK_FALSE(all("y[i] = x[i];", 200));
  CHECK(all("for (int j = i; j < n; j += blockDim.x * gridDim.x) y[j] = x[j];", 100));
}

TEST_CASE("parameters become arguments by their types, vectors as their elements") {
  const auto read = [](const std::string& parameters, std::string& why) {
    const model::Unit unit = model::parse(
        "struct S { int a; };\ntypedef unsigned char byte_t;\n"
        "__global__ void k(" +
        parameters + ") {}\n");
    return kernel_parameters(unit, *unit.find_kernel("k"), {}, why);
  };
  std::string why;
  const auto found = read("const float4* a, byte_t* b, size_t n, __half2* h, bool on", why);
  REQUIRE(found);
  CHECK((found->at(0).dtype == DType::f32 && found->at(0).lanes == 4 && found->at(0).is_const));
  CHECK((found->at(1).dtype == DType::u8 && found->at(1).pointer && !found->at(1).is_const));
  CHECK((found->at(2).dtype == DType::u64 && !found->at(2).pointer));
  CHECK((found->at(3).dtype == DType::f16 && found->at(3).lanes == 2));
  CHECK(found->at(4).dtype == DType::boolean);
  for (const auto& [parameter, said] : {std::pair("S s", "parameter s of type S"),
                                        {"float** rows", "parameter rows of type float**"},
                                        {"float4 v", "parameter v of type float4"},
                                        {"int (&a)[4]", "parameter a of type int"}}) {
    CHECK_FALSE(read(parameter, why));
    CHECK(why == said);
  }
}

TEST_CASE("a parameter that is a class template is one of the text that takes as many") {
  const model::Unit unit = model::parse(R"(
template <typename T> struct Scale { T by; };
template <typename T, typename Acc> struct Sum { Acc of; };
template <typename T, class Acc> struct ForwardEpilogue { Acc sum; };
template <> struct ForwardEpilogue<int, int> { int sum; };
template <int N, typename T, template <typename, typename> class Epilogue>
__global__ void k(T* y) { y[threadIdx.x] = Epilogue<T, T>{y[0]}.sum; }
)");
  const auto arguments = template_arguments(unit, *unit.find_kernel("k"), {}, 4);
  CHECK(instance_name(*unit.find_kernel("k"), arguments) == "k<4, float, ForwardEpilogue>");
}

TEST_CASE("of a template argument what only the launching function knows is float") {
  const std::string source =
      "template <typename T> struct Sum { T of(T a) { return a; } };\n"
      "template <typename T, typename A, typename F, int B> __global__ void k(T* y, A s) {\n"
      "  y[threadIdx.x] = F().of(s) + B; }\n"
      "template <int B> void run() { using acc = wide<scalar_t, true>; using real = double;\n"
      "  k<scalar_t, acc, Sum<scalar_t>, int(B)><<<1, 32>>>(y, s);\n"
      "  k<real, real, Sum<real>, 2><<<1, 32>>>(y, s); }\n";
  const model::Unit unit = model::parse(source);
  const model::Function& kernel = *unit.find_function("k");
  const auto launch = find_launch(unit, kernel);
  REQUIRE(launch);
  const auto arguments = template_arguments(unit, kernel, launch->template_arguments, 4);
  CHECK(instance_name(kernel, arguments) == "k<float, float, Sum<float>, 4>");
  for (const TemplateArgument& argument : arguments) CHECK_FALSE(argument.why.empty());
  const auto real = template_arguments(unit, kernel, {"real", "double", "ops::Sum<int>", "2"}, 4);
  CHECK(instance_name(kernel, real).starts_with("k<double, double, "));
  CHECK(real[0].why.empty());
}

TEST_CASE("an enumeration is the integer that it is") {
  const model::Unit unit = model::parse(
      "enum class Mode { first, second };\nenum Small : unsigned char { a };\n"
      "typedef enum { SUM = 0, MEAN = 1 } reduce_t;\ntypedef enum tag { b } named_t;\n"
      "__global__ void k(float* y, Mode mode, Small small, reduce_t how, named_t which) {\n"
      "  *y = mode == Mode::first;\n}\n");
  std::string why;
  const auto parameters = kernel_parameters(unit, *unit.find_kernel("k"), {}, why);
  REQUIRE(parameters);
  CHECK((parameters->at(1).dtype == DType::i32 && parameters->at(1).is_enumeration));
  CHECK((parameters->at(2).dtype == DType::u8 && parameters->at(2).is_enumeration));
  CHECK((parameters->at(3).dtype == DType::i32 && parameters->at(3).is_enumeration));
  CHECK((parameters->at(4).dtype == DType::i32 && parameters->at(4).is_enumeration));
  CHECK_FALSE(parameters->at(0).is_enumeration);
  CHECK_FALSE(kernel_of_members(unit, *unit.find_kernel("k"), why));
  CHECK(why.empty());
}

TEST_CASE("a type parameter that no launch gives is float, one that is named like an index int") {
  const model::Unit unit = model::parse(
      "template <typename T, typename IndexType, typename T_int, typename Point>\n"
      "__global__ void k(T* y, IndexType n, T_int m, Point p) { y[n + m] = p; }\n");
  const model::Function& kernel = *unit.find_function("k");
  CHECK(instance_name(kernel, template_arguments(unit, kernel, {}, 4)) ==
        "k<float, int, int, float>");
}

TEST_CASE("an accessor becomes a pointer and sizes, its elements offsets without gaps") {
  const auto rewritten = [](const std::string& body, std::string& why) {
    const model::Unit unit = model::parse(
        "__global__ void k(const at::PackedTensorAccessor32<float, 3> x, THCDeviceTensor<int, 1> "
        "i, "
        "int n) {" +
        body + "}");
    const auto out = kernel_of_accessors(unit, *unit.find_kernel("k"), why);
    return out ? out->source : std::string();
  };
  std::string why;
  CHECK(rewritten(" x[0][i[n]][n + 1] = x.size(2) + i.getSize(0); ", why) ==
        "__global__ void k(float* x, int x_size0, int x_size1, int x_size2, int* i, int i_size0, "
        "int n) { x[(((0) * x_size1 + (i[(n)])) * x_size2 + (n + 1))] = x_size2 + i_size0; }");
  CHECK(why.empty());
  CHECK(rewritten(" f(x[1].data(), x.stride(0), x.data()); ", why)
            .find("f((x + ((1)) * (x_size1 * x_size2)), (x_size1 * x_size2), x)") !=
        std::string::npos);
  CHECK(rewritten(" atomicAdd(i[n].data(), i[0].ldg()); ", why)
            .find("atomicAdd((&i[(n)]), i[(0)]);") != std::string::npos);
  CHECK(rewritten(" auto row = x[n]; ", why).empty());
  CHECK(why.starts_with("parameter x, a tensor accessor that is used otherwise"));
  // a name of its own would hide the new parameter
  why.clear();
  CHECK(rewritten(" if (n > 0) { int x_size1 = 7; x[0][0][x_size1] = 1; } ", why).empty());
  CHECK(why == "parameter x, a tensor accessor; x_size1 is a name of the file");
  std::string none;
  const model::Unit plain = model::parse("__global__ void k(float* x) { *x = 0; }");
  CHECK_FALSE(kernel_of_accessors(plain, *plain.find_kernel("k"), none));
  CHECK(none.empty());
}

TEST_CASE("what a kernel divides by is not guessed to be 0") {
  using Names = std::set<std::string>;
  CHECK(names_divided_by("int a = b / c; // d / e\nint f = g;") == Names{"c"});
  CHECK(names_divided_by("int s = n * axis, t = s; x = i % (s + u) * v; y /= w;") ==
        Names{"axis", "n", "s", "u", "w"});
  CHECK(names_divided_by("z = i / p.stride[k] * q; a / f(b)") ==
        Names{"b", "f", "k", "p", "stride"});
  const auto guessed = [](const Names& divisors) {
    const ArgumentSizes sizes = argument_sizes({.integers = {"axis", "pad"},
                                                .extents = {},
                                                .of_grid = {},
                                                .divisors = divisors,
                                                .multiples = {},
                                                .given = {}});
    return std::pair(sizes.gpu.at("axis"), sizes.host.at("pad"));
  };
  CHECK(guessed({}) == std::pair<std::int64_t, std::int64_t>(0, 0));
  CHECK(guessed({"axis"}) == std::pair<std::int64_t, std::int64_t>(1, 0));
}

TEST_CASE("a type that nothing declares is float, where that may be guessed") {
  const model::Unit unit = model::parse("__global__ void k(const real* x, real* y) { *y = *x; }\n");
  std::string why;
  CHECK_FALSE(kernel_parameters(unit, *unit.find_kernel("k"), {}, why));
  CHECK(why == "parameter x of type real*");
  std::set<std::string> foreign;
  const auto parameters = kernel_parameters(unit, *unit.find_kernel("k"), {}, why, &foreign);
  REQUIRE(parameters);
  CHECK(parameters->at(1).dtype == DType::f32);
  CHECK(foreign == std::set<std::string>{"real"});
}

TEST_CASE("members of a struct become parameters, for what reads kernels") {
  const std::string source =
      "struct alignas(8) P { const float* __restrict__ x; float *y, s = 1; int n; };\n"
      "typedef struct { int rows; } Q;\n"
      "__global__ void k(const __grid_constant__ P p, int n, Q q) { int s = threadIdx.x;\n"
      "  if (s < p.n + q.rows) p.y[s] = p.s * p.x[s] + n; }\n";
  const model::Unit unit = model::parse(source);
  std::string why;
  const auto members = kernel_of_members(unit, *unit.find_kernel("k"), why);
  REQUIRE(members);
  CHECK(why.empty());
  CHECK(members->source.find("void k(const float * __restrict__ x, float * y, float p_s, int p_n, "
                             "int n, int rows) { int s = threadIdx.x;\n"
                             "  if (s < p_n + rows) y[s] = p_s * x[s] + n; }") !=
        std::string::npos);
  CHECK(members->member_of ==
        std::map<std::string, std::string, std::less<>>{
            {"x", "p"}, {"y", "p"}, {"p_s", "p"}, {"p_n", "p"}, {"rows", "q"}});
}

TEST_CASE("vectors that are passed by value, or within a struct, become their components") {
  const model::Unit unit = model::parse(
      "struct P { float* y; int2 size; int3 pad; };\n"
      "__global__ void k(P p, float3 o, const dim3 g) { p.y[p.size.x + p.pad.z] = o.y * g.x; }\n");
  std::string why;
  const auto members = kernel_of_members(unit, *unit.find_kernel("k"), why);
  CHECK(why.empty());
  REQUIRE(members);
  CHECK(members->source.find("void k(float * y, int size_x, int size_y, int pad_x, int pad_y, int "
                             "pad_z, float o_x, float o_y, float o_z, unsigned int g_x, unsigned "
                             "int g_y, unsigned int g_z) { y[size_x + pad_z] = o_y * g_x; }") !=
        std::string::npos);
  CHECK(members->member_of.at("size_y") == "p");
  CHECK(members->member_of.at("o_z") == "o");
}

TEST_CASE("a struct that a spec cannot say is refused with the reason") {
  const auto reason = [](const std::string& source) {
    const model::Unit unit = model::parse(source);
    std::string why;
    CHECK_FALSE(kernel_of_members(unit, *unit.find_kernel("k"), why));
    return why;
  };
  CHECK(reason("struct P { float w[4]; };\n__global__ void k(P p, float* y) { *y = p.w[0]; }") ==
        "parameter p of type P, a struct with members that are no numbers and no pointers to them");
  CHECK(reason("struct P { int n; };\n__device__ int f(P p);\n__global__ void k(P p, int* y) { *y "
               "= f(p); }") == "parameter p of type P, a struct that is used as a whole");
  // the vector begins behind a gap that its components would not have
  CHECK(reason("struct P { int n; int2 at; };\n__global__ void k(P p, int* y) { *y = p.at.x; }")
            .starts_with("parameter p of type P"));
  CHECK(reason("__global__ void k(int2 at, int2* y) { *y = at; }") ==
        "parameter at of type int2, a struct that is used as a whole");
  CHECK(reason("__global__ void k(int n, float* y) { *y = n; }").empty());
}

TEST_CASE("guessed sizes are halved until tensors and grids have what a device takes") {
  ArgumentSizes sizes{.gpu = {{"n", 1 << 22}, {"m", 1 << 22}, {"k", 1 << 22}},
                      .host = {{"n", 10000}, {"m", 10000}, {"k", 10000}},
                      .why = {{"n", ""}, {"m", ""}}};
  const auto factors = [](std::initializer_list<const char*> texts) {
    std::vector<Expression> out;
    for (const char* const text : texts) out.push_back(Expression::parse(text, "test"));
    return out;
  };
  CHECK(fit_sizes(sizes,
                  {{.factors = factors({"n", "m"}), .gpu = 1 << 26, .host = 1 << 20},
                   {.factors = factors({"ceil_div(m, 16)"}), .gpu = 65535, .host = 65535}},
                  16));
  CHECK(sizes.gpu.at("n") * sizes.gpu.at("m") <= 1 << 26);
  CHECK(sizes.host.at("n") * sizes.host.at("m") <= 1 << 20);
  CHECK(sizes.gpu.at("n") % 16 == 0);
  CHECK(sizes.gpu.at("k") == 1 << 22);
  CHECK(fit_sizes(sizes, {{.factors = factors({"m"}), .gpu = 8, .host = 8}}, 16));
  CHECK(sizes.gpu.at("m") == 8);  // below the step, since nothing else is within the limit
  // of a size that a launch gives only the host's is changed, which is smaller already
  CHECK(fit_sizes(sizes, {{.factors = factors({"k", "k"}), .gpu = 1, .host = 1 << 20}}, 16));
  CHECK(sizes.gpu.at("k") == 1 << 22);
  CHECK(sizes.host.at("k") <= 1 << 10);
  sizes.host.at("k") = 1 << 22;
  CHECK_FALSE(fit_sizes(sizes, {{.factors = factors({"k", "k"}), .gpu = 1, .host = 1}}, 16));
}

TEST_CASE("as many points are guessed as the extents make up that their number is divided by") {
  const ArgumentSizes sizes = argument_sizes({.integers = {"points", "h", "w", "kH", "mode"},
                                              .extents = {"points", "h", "w", "kH"},
                                              .of_grid = {"points"},
                                              .alone = {"points"},
                                              .of_points = {{"points", {"h", "w"}}},
                                              .choices = {"mode"},
                                              .multiples = {},
                                              .given = {}});
  CHECK(sizes.host.at("h") > 1);
  CHECK(sizes.host.at("points") % (sizes.host.at("h") * sizes.host.at("w")) == 0);
  CHECK(sizes.gpu.at("points") > sizes.gpu.at("h") * sizes.gpu.at("w"));
  CHECK(sizes.gpu.at("kH") == 3);
  CHECK(sizes.gpu.at("mode") == 0);
}

TEST_CASE("a size in the grid is one by its name, unless an axis of the grid is that size") {
  const auto guessed = [](const std::set<std::string>& alone) {
    return argument_sizes({.integers = {"pad", "n"},
                           .extents = {"pad", "n"},
                           .of_grid = {"pad", "n"},
                           .alone = alone,
                           .multiples = {},
                           .given = {}})
        .gpu.at("pad");
  };
  CHECK(guessed({}) == 0);
  CHECK(guessed({"pad"}) > 1);
}

TEST_CASE(
    "a constant of the file that a guard or a loop ends at is a size, one of threads is not") {
  struct Case {
    std::string head, body;
    std::string sizes;  ///< names and values
  };
  const std::string row = "int i = blockIdx.x * blockDim.x + threadIdx.x; ";
  const std::vector<Case> table{
      {"#define N 1024\n", row + "if (i < N) y[i] = 1;", "N=1024"},
      {"const int N = 1024;\n", row + "if (i < N) y[i] = 1;", "N=1024"},
      {"static constexpr unsigned N = 1024u;\n", row + "if (N <= i) return; y[i] = 1;", "N=1024"},
      {"#ifndef N\n#define N 1024\n#endif\n", row + "if (i < N) y[i] = 1;", "N=1024"},
      {"#define W 512\n#define H 256\n#define ALL (W * H)\n", row + "if (i < ALL) y[i] = 1;",
       "H=256 W=512"},
      {"#define N 4096\n", "for (int k = threadIdx.x; k < N; k += 256) y[blockIdx.x * N + k] = 1;",
       "N=4096"},
      {"#define N 512\n", "for (int k = threadIdx.x; k < N; k += 256) y[blockIdx.x * N + k] = 1;",
       "N=512"},
      {"#define W 512\n#define ROW(r) ((r) * W)\n", row + "if (i < W) y[ROW(blockIdx.y) + i] = 1;",
       "W=512"},
      // sizes of blocks
      {"#define THREADS 256\n", "if (threadIdx.x < THREADS) y[threadIdx.x] = 1;", ""},
      {"#define WIDTH 256\n", "int i = blockIdx.x * WIDTH + threadIdx.x; if (i < WIDTH) y[i] = 1;",
       ""},
      {"#define WIDTH 256\n", "if (threadIdx.x < WIDTH) y[threadIdx.x] = 1;", ""},
      {"#define WIDTH 256\n",
       "__shared__ float s[WIDTH]; " + row + "s[threadIdx.x] = 0; if (i < WIDTH) y[i] = s[0];", ""},
      // others are made with it
      {"#define N 1024\n__device__ float table[N];\n", row + "if (i < N) y[i] = table[i];", ""},
      {"#define N 1024\n__device__ int at(int i) { return i % N; }\n",
       row + "if (i < N) y[at(i)] = 1;", ""},
      {"#define N 1024\n#if N > 512\n#define T float\n#endif\n", row + "if (i < N) y[i] = 1;", ""},
      {"#define N 1024\n__global__ void other(float* y) {\n#if N > 512\n  y[0] = 1;\n#endif\n}\n",
       row + "if (i < N) y[i] = 1;", "N=1024"},
      {"const int N = 1024, M = 4;\n", row + "if (i < N) y[i] = 1;", ""},
      // no end of anything, and no number
      {"#define N 1024\n", row + "y[i] = N;", ""},
      {"#define N 64\n", row + "if (i < N) y[i] = 1;", ""},
      {"#define N sizeof(float[300])\n", row + "if (i < N) y[i] = 1;", ""},
  };
  for (const Case& one : table) {
    const model::Unit unit =
        model::parse(one.head + "__global__ void k(float* y) { " + one.body + " }\n");
    CAPTURE(unit.source());
    const auto made = kernel_of_sizes(unit, *unit.find_function("k"));
    std::string sizes;
    if (made) {
      for (const auto& [name, value] : made->sizes)
        sizes += (sizes.empty() ? "" : " ") + name + "=" + std::to_string(value);
      for (const auto& [name, unused] : made->sizes)
        CHECK(made->source.find("int " + name) != std::string::npos);
    }
    CHECK(sizes == one.sizes);
  }
}

TEST_CASE("a kernel without parameters gets none") {
  const model::Unit unit = model::parse(
      "#define N 1024\n__device__ float* y;\n"
      "__global__ void k() { int i = blockIdx.x * 64 + threadIdx.x; if (i < N) y[i] = 1; }\n");
  CHECK_FALSE(kernel_of_sizes(unit, *unit.find_function("k")));
}

TEST_SUITE_END();
