#include <doctest/doctest.h>

#include <map>
#include <set>
#include <string>

#include "experiments/init/analysis_text.h"
#include "experiments/init/argument_sizes.h"
#include "experiments/init/index_bounds.h"
#include "experiments/init/index_coverage.h"
#include "experiments/init/kernel_text.h"
#include "moves/model/facts.h"

using namespace warpath;

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
