#include <doctest/doctest.h>

#include <cmath>
#include <numeric>

#include "engine/base/rng.h"
#include "register_host_ops.h"
#include "runners/reference/host_op.h"
#include "tests/runners/reference_spec.h"

using warpath::ArgRole;
using warpath::DType;
using warpath::ReferenceHostOp;
using warpath::test::ReferenceCase;
using Values = std::vector<double>;

namespace {

/// A case for `op` whose operands are all bound to arguments of their own name, and `literals`.
ReferenceCase use(const std::string& op,
                  const std::vector<std::string>& operands,
                  const std::map<std::string, std::string>& literals = {}) {
  ReferenceHostOp reference{op, literals};
  for (const std::string& name : operands) reference.operands[name] = name;
  return ReferenceCase(reference);
}

void check_near(const Values& got, const Values& expected) {
  REQUIRE(got.size() == expected.size());
  for (std::size_t i = 0; i < got.size(); ++i) {
    CAPTURE(i);
    CHECK(got[i] == doctest::Approx(expected[i]).epsilon(1e-12));
  }
}

Values random_values(std::size_t count, std::uint64_t seed) {
  warpath::Rng rng(seed, "values");
  Values out(count);
  for (double& value : out) value = rng.normal();
  return out;
}

bool contains(const std::string& text, const std::string& part) {
  return text.find(part) != std::string::npos;
}

}  // namespace

TEST_SUITE_BEGIN("reference_ops");

TEST_CASE("every operation has help and at least one input and one output") {
  const warpath::HostOpRegistry& registry = warpath::registered_host_ops();
  CHECK(registry.entries().size() >= 10);
  for (const auto& [name, entry] : registry.entries()) {
    CAPTURE(name);
    CHECK(!entry.help.empty());
    int inputs = 0, outputs = 0;
    for (const warpath::Operand& operand : registry.create("test", name)->operands()) {
      CHECK(!operand.help.empty());
      inputs += operand.kind == warpath::Operand::Kind::tensor ? 1 : 0;
      outputs += operand.kind == warpath::Operand::Kind::output ? 1 : 0;
    }
    CHECK(inputs >= 1);
    CHECK(outputs >= 1);
  }
}

TEST_CASE("matmul multiplies every matrix of a batch") {
  const auto got = use("matmul", {"a", "b", "out"})
                       .input("a", {2, 1, 2}, {1, 2, 3, 4})
                       .input("b", {2, 2, 2}, {1, 0, 0, 1, 5, 6, 7, 8})
                       .output("out", {2, 1, 2})
                       .values("out");
  CHECK(got == Values{1, 2, 43, 50});
}

TEST_CASE("matmul with both operands transposed equals the plain product of their transposes") {
  const Values a = random_values(5 * 3, 1),
               b = random_values(4 * 5, 2);  // a: [K=5, M=3], b: [N=4, K=5]
  Values expected(12);
  for (std::size_t m = 0; m < 3; ++m) {
    for (std::size_t n = 0; n < 4; ++n) {
      for (std::size_t k = 0; k < 5; ++k) expected[m * 4 + n] += a[k * 3 + m] * b[n * 5 + k];
    }
  }
  check_near(use("matmul", {"a", "b", "out"}, {{"transpose_a", "true"}, {"transpose_b", "1"}})
                 .input("a", {5, 3}, a)
                 .input("b", {4, 5}, b)
                 .output("out", {3, 4})
                 .values("out"),
             expected);
}

TEST_CASE("matmul without a batch in b uses it for every matrix of a") {
  const auto got = use("matmul", {"a", "b", "out"})
                       .input("a", {2, 1, 1}, {2, 3})
                       .input("b", {1, 2}, {10, 100})
                       .output("out", {2, 1, 2})
                       .values("out");
  CHECK(got == Values{20, 200, 30, 300});
}

TEST_CASE("matmul gives the same bits whatever the number of rows of a task") {
  const Values a = random_values(200 * 70, 3), b = random_values(70 * 30, 4);
  const auto multiply = [&](std::int64_t rows) {
    return use("matmul", {"a", "b", "out"})
        .input("a", {rows, 70}, Values(a.begin(), a.begin() + rows * 70))
        .input("b", {70, 30}, b)
        .output("out", {rows, 30})
        .values("out");
  };
  const Values all = multiply(200), some = multiply(128);
  CHECK(std::equal(some.begin(), some.end(), all.begin()));
}

TEST_CASE("grouped_matmul takes each row's matrix from the offsets, empty groups included") {
  const auto grouped = [](const Values& offsets) {
    return use("grouped_matmul", {"x", "offsets", "w", "out"})
        .input("x", {3, 1}, {1, 2, 3})
        .input("offsets", {4}, offsets, DType::i32)
        .input("w", {3, 1, 2}, {1, 2, 10, 20, 100, 200})
        .output("out", {3, 2});
  };
  CHECK(grouped({0, 1, 1, 3}).values("out") == Values{1, 2, 200, 400, 300, 600});
  CHECK(contains(grouped({0, 2, 1, 3}).complaint(),
                 "operand offsets: got 1 at element 2, expected ascending values"));
  CHECK(contains(grouped({0, 1, 2, 2}).complaint(), "exactly 3"));
}

TEST_CASE("row_softmax scales, then normalises each row, without overflow") {
  const double e = std::exp(-1.0);
  check_near(use("row_softmax", {"x", "out"}, {{"scale", "0.5"}})
                 .input("x", {2, 2}, {2000, 2002, 4, 4})
                 .output("out", {2, 2})
                 .values("out"),
             {e / (1 + e), 1 / (1 + e), 0.5, 0.5});
}

TEST_CASE("row_scan is inclusive unless told otherwise") {
  const auto scan = [](const std::map<std::string, std::string>& literals) {
    return use("row_scan", {"x", "out"}, literals)
        .input("x", {2, 3}, {1, 2, 3, 4, 5, 6})
        .output("out", {2, 3})
        .values("out");
  };
  CHECK(scan({}) == Values{1, 3, 6, 4, 9, 15});
  CHECK(scan({{"exclusive", "true"}}) == Values{0, 1, 3, 0, 4, 9});
}

TEST_CASE("histogram adds to an inout argument and refuses a value without a bin") {
  const auto count = [](const Values& x) {
    return use("histogram", {"x", "out"})
        .input("x", {static_cast<std::int64_t>(x.size())}, x, DType::u8)
        .input("out", {3}, {10, 0, 5}, DType::u32, ArgRole::inout);
  };
  CHECK(count({0, 2, 2, 2}).values("out") == Values{11, 0, 8});
  CHECK(contains(count({0, 1, 3}).complaint(),
                 "operand x: got 3 at element 2, expected values from 0 to 2"));
}

TEST_CASE("spmv_csr sums the entries of each row and refuses indices out of range") {
  const auto multiply = [](const Values& pointers, const Values& columns) {
    return use("spmv_csr", {"row_pointers", "columns", "values", "x", "out"})
        .input("row_pointers", {4}, pointers, DType::i32)
        .input("columns", {3}, columns, DType::i32)
        .input("values", {3}, {2, 3, 4})
        .input("x", {2}, {10, 100})
        .output("out", {3});
  };
  CHECK(multiply({0, 2, 2, 3}, {0, 1, 1}).values("out") == Values{320, 0, 400});
  CHECK(contains(multiply({0, 2, 2, 4}, {0, 1, 1}).complaint(),
                 "operand row_pointers: got 4 at element 3"));
  CHECK(contains(multiply({0, 2, 2, 3}, {0, 2, 1}).complaint(),
                 "operand columns: got 2 at element 1"));
}

TEST_CASE("group_norm_silu normalises a group of channels, then applies weight, bias and silu") {
  // One image, two groups of one channel of two elements: +-1 after normalisation.
  const auto norm = [](const std::string& activation) {
    return use("group_norm_silu", {"x", "weight", "bias", "groups", "out"},
               {{"eps", "0"}, {"activation", activation}})
        .input("x", {1, 2, 2}, {1, 3, 10, 30})
        .input("weight", {2}, {1, 2})
        .input("bias", {2}, {0, 1})
        .scalar("groups", std::int64_t{2})
        .output("out", {1, 2, 2})
        .values("out");
  };
  check_near(norm("none"), {-1, 1, -1, 3});
  const auto silu = [](double x) { return x / (1 + std::exp(-x)); };
  check_near(norm("silu"), {silu(-1), silu(1), silu(-1), silu(3)});
}

TEST_CASE(
    "group_norm_silu refuses groups that do not divide the channels before any value exists") {
  CHECK(contains(use("group_norm_silu", {"x", "out"}, {{"groups", "3"}})
                     .input("x", {1, 4, 2}, Values(8))
                     .output("out", {1, 4, 2})
                     .early_complaint(),
                 "operand groups: got 3, expected a divisor of the 4 channels"));
}

TEST_CASE("bias_gelu_residual repeats the bias and knows both forms of gelu") {
  const auto gelu = [](const std::string& form) {
    return use("bias_gelu_residual", {"x", "bias", "residual", "out"}, {{"form", form}})
        .input("x", {3}, {0, 1, 3})
        .input("bias", {2}, {1, -1})
        .input("residual", {3}, {10, 20, 30})
        .output("out", {3})
        .values("out");
  };
  check_near(gelu("erf"), {10.841344746068543, 20, 33.999873315032666});
  check_near(gelu("tanh"), {10.841191990608276, 20, 33.999929754051806});
}

TEST_CASE("layer_norm and rms_norm normalise the last dimension") {
  check_near(use("layer_norm", {"x", "weight", "out"}, {{"eps", "0"}})
                 .input("x", {2, 2}, {1, 3, 5, 5.5})
                 .input("weight", {2}, {1, 2})
                 .output("out", {2, 2})
                 .values("out"),
             {-1, 2, -1, 2});
  check_near(use("rms_norm", {"x", "out"}, {{"eps", "1"}})
                 .input("x", {1, 2}, {1, -1})
                 .output("out", {1, 2})
                 .values("out"),
             {std::sqrt(0.5), -std::sqrt(0.5)});
}

TEST_CASE("transpose exchanges the last two dimensions of every matrix") {
  CHECK(use("transpose", {"x", "out"})
            .input("x", {2, 1, 2}, {1, 2, 3, 4})
            .output("out", {2, 2, 1})
            .values("out") == Values{1, 2, 3, 4});
  CHECK(use("transpose", {"x", "out"})
            .input("x", {2, 3}, {1, 2, 3, 4, 5, 6})
            .output("out", {3, 2})
            .values("out") == Values{1, 4, 2, 5, 3, 6});
}

TEST_CASE("reduce_sum sums over the last dimension, the first or all") {
  const auto sum = [](const std::string& over, const std::vector<std::int64_t>& shape) {
    return use("reduce_sum", {"x", "out"}, {{"over", over}})
        .input("x", {2, 3}, {1, 2, 3, 4, 5, 6})
        .output("out", shape)
        .values("out");
  };
  CHECK(sum("last", {2}) == Values{6, 15});
  CHECK(sum("first", {3}) == Values{5, 7, 9});
  CHECK(sum("all", {1}) == Values{21});
}

TEST_CASE("elementwise applies a function of one or two arguments, scale and offset") {
  CHECK(use("elementwise", {"x", "out"}, {{"function", "relu"}, {"scale", "2"}, {"offset", "1"}})
            .input("x", {3}, {-1, 0, 2})
            .output("out", {3})
            .values("out") == Values{1, 1, 5});
  CHECK(use("elementwise", {"x", "y", "out"}, {{"function", "sub"}})
            .input("x", {2, 2}, {1, 2, 3, 4})
            .input("y", {2}, {10, 20})
            .output("out", {2, 2})
            .values("out") == Values{-9, -18, -7, -16});
  CHECK(contains(use("elementwise", {"x", "out"}, {{"function", "add"}})
                     .input("x", {1}, {1})
                     .output("out", {1})
                     .early_complaint(),
                 "operand y: expected a second argument for add"));
}

TEST_CASE("attention weights the values by the softmax of scaled scores, causal on demand") {
  const auto attend = [](const std::string& causal) {
    return use("attention", {"q", "k", "v", "out"}, {{"causal", causal}, {"scale", "1"}})
        .input("q", {1, 2, 1}, {0, 1})
        .input("k", {1, 2, 1}, {0, std::log(3.0)})
        .input("v", {1, 2, 1}, {4, 8})
        .output("out", {1, 2, 1})
        .values("out");
  };
  check_near(attend("false"), {6, 7});
  check_near(attend("true"), {4, 7});
}

TEST_CASE("results are rounded once, to the type of the output") {
  const auto got = use("row_scan", {"x", "out"})
                       .input("x", {1, 2}, {1, 0x1p-9})
                       .output("out", {1, 2}, DType::bf16)
                       .values("out");
  CHECK(got == Values{1, 1});  // 1 + 2^-9 lies below half a unit of bfloat16
}

TEST_CASE("a scalar argument may stand for a number") {
  CHECK(use("row_softmax", {"x", "scale", "out"})
            .input("x", {1, 2}, {5, 7})
            .scalar("scale", 0.0)
            .output("out", {1, 2})
            .values("out") == Values{0.5, 0.5});
}

TEST_CASE("a use that cannot work is refused early with one line that names the operand") {
  const auto softmax = [](const std::map<std::string, std::string>& operands) {
    return ReferenceCase(ReferenceHostOp{"row_softmax", operands})
        .input("x", {2, 3}, Values(6))
        .output("o", {2, 3})
        .output("small", {2, 2})
        .scalar("n", 1.5);
  };
  const auto two = [](const std::string& op, const std::map<std::string, std::string>& operands) {
    return ReferenceCase(ReferenceHostOp{op, operands})
        .input("x", {2, 3}, Values(6))
        .output("o", {2, 3})
        .early_complaint();
  };
  CHECK(contains(two("row_softmix", {}),
                 "got row_softmix, expected a host operation: one of attention, "));
  CHECK(
      contains(two("row_softmax", {{"x", "x"}}), "operand out: expected this operand to be given"));
  CHECK(contains(two("row_softmax", {{"x", "x"}, {"out", "o"}, {"axis", "1"}}),
                 "operand axis: expected no such operand"));
  CHECK(contains(two("row_softmax", {{"x", "o"}, {"out", "o"}}),
                 "operand x: got o, expected the name of an input"));
  CHECK(contains(two("row_softmax", {{"x", "x"}, {"out", "x"}}),
                 "operand out: got x, expected the name of an output"));
  CHECK(contains(two("row_softmax", {{"x", "x"}, {"out", "o"}, {"scale", "big"}}),
                 "got big, expected a scalar argument or a number"));
  CHECK(contains(two("row_softmax", {{"x", "x"}, {"out", "o"}, {"scale", "inf"}}),
                 "got inf, expected"));
  CHECK(contains(two("row_scan", {{"x", "x"}, {"out", "o"}, {"exclusive", "2"}}),
                 "got 2, expected a boolean argument"));
  CHECK(contains(two("reduce_sum", {{"x", "x"}, {"out", "o"}, {"over", "rows"}}),
                 "got rows, expected one of last|first|all"));
  CHECK(contains(two("reduce_sum", {{"x", "x"}, {"out", "o"}}),
                 "operand out: got [2, 3], expected shape [2]"));
  CHECK(contains(two("histogram", {{"x", "x"}, {"out", "o"}}),
                 "operand x: got float64, expected an integer tensor"));
  CHECK(contains(softmax({{"x", "x"}, {"out", "o"}}).early_complaint(),
                 "expected an operand that computes small"));
  CHECK(contains(softmax({{"x", "x"}, {"out", "small"}}).early_complaint(), "expected"));
}

TEST_SUITE_END();
