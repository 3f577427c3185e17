#include "moves/triton/python_text.h"

#include <doctest/doctest.h>

#include <string>
#include <vector>

#include "engine/base/rng.h"

using namespace warpath;
using namespace warpath::python;

namespace {

/// The expression with parentheses around everything that has operands; "?" if it is not read.
std::string shape(const Node& node) {
  std::string inside;
  const std::size_t objects = node.children.size() - node.keywords.size();
  for (std::size_t i = 0; i < node.children.size(); ++i) {
    const bool keyword =
        i >= objects && !node.keywords.empty() && !node.keywords[i - objects].empty();
    inside += (i == 0 ? "" : " ") + (keyword ? std::string(node.keywords[i - objects]) + "=" : "") +
              shape(*node.children[i]);
  }
  if (node.is(NodeKind::slice)) return "[" + inside + ":]";
  if (node.children.empty()) return std::string(node.text) + (node.is(NodeKind::call) ? "()" : "");
  const std::string name(node.is(NodeKind::subscript) ? "at"
                         : node.is(NodeKind::tuple)   ? ","
                                                      : node.text);
  return "(" + name + " " + inside + ")";
}

std::string shape_of(const std::string& expression) {
  const Text text(expression);
  REQUIRE(text.problem().empty());
  REQUIRE(text.statements().size() == 1);
  return text.statements()[0].value == nullptr ? "?" : shape(*text.statements()[0].value);
}

std::string problem_of(const std::string& source) {
  return Text(source).problem();
}

}  // namespace

TEST_SUITE_BEGIN("python_text");

TEST_CASE("expressions are read by Python's precedence") {
  CHECK(shape_of("a + b * c - d // e % f") == "(- (+ a (* b c)) (% (// d e) f))");
  CHECK(shape_of("(a < b) & (c >= d) | e") == "(| (& (< a b) (>= c d)) e)");
  CHECK(shape_of("not a and b or c") == "(or (and (not a) b) c)");
  CHECK(shape_of("-a ** -b * c") == "(* (- (** a (- b))) c)");
  CHECK(shape_of("a & b == c") == "(== (& a b) c)");
  CHECK(shape_of("m[:, None] * K + (start + k)[None, 1:n]") ==
        "(+ (* (at m [:] None) K) (at (+ start k) None [1 n:]))");
}

TEST_CASE("calls keep names, keywords and the object of a method") {
  CHECK(shape_of("tl.load(x + i, i < n, other=0.0)") == "(tl.load (+ x i) (< i n) other=0.0)");
  CHECK(shape_of("f(\n  a,  # the first\n  k=b,\n)") == "(f a k=b)");
  CHECK(shape_of("(a + b).to(tl.float32)") == "(to (+ a b) tl.float32)");
  CHECK(shape_of("f()") == "f()");
  CHECK(shape_of("(a, b), [c]") == "(, (, a b) (, c))");
  CHECK(shape_of("g(\"a\" 'b', r'\\\\')") == "(g \"a\" 'b' r'\\\\')");
}

TEST_CASE("what is beyond expressions of kernels is not read") {
  for (const char* const one : {"a if b else c", "lambda x: x", "[i for i in x]", "{1: 2}",
                                "a < b < c", "f(*x)", "a is b", "x[0](1)", "await f()", "a +"})
    CHECK_MESSAGE(shape_of(one) == "?", one);
}

TEST_CASE("logical lines know what they give values to and what body they are in") {
  const std::string source =
      "@triton.jit\ndef k(x, n: int = 3, T: tl.constexpr = (1, 2)):\n    a, b = x\n    c: "
      "tl.constexpr = 2\n"
      "    d = \\\n        e = 1\n    for i in range(\n        n):\n        a += i  # counts\n"
      "\n# between\n        y[i] = 2\n    if a:\n        return\n    else:\n        pass\nz = 1\n";
  const Text text(source);
  REQUIRE(text.problem().empty());
  std::vector<std::string> lines;
  for (const Statement& one : text.statements()) {
    std::string line = std::to_string(static_cast<int>(one.kind)) + (one.understood ? "" : "?");
    for (const std::string_view target : one.targets) line += " " + std::string(target);
    lines.push_back(line +
                    (one.parent == Statement::kNone ? "" : " < " + std::to_string(one.parent)));
  }
  CHECK(lines == std::vector<std::string>{"6", "5 k", "0 a b < 1", "0 c < 1", "0? d e < 1",
                                          "3 i < 1", "1 a < 5", "0? y i < 5", "4 < 1", "7 < 8",
                                          "4 < 1", "8 < 10", "0 z"});
  const Statement& function = text.statements()[1];
  REQUIRE(function.parameters.size() == 3);
  CHECK(function.parameters[0].name == "x");
  CHECK(function.parameters[0].type.empty());
  CHECK(function.parameters[1].has_default);
  CHECK(function.parameters[2].type == "tl.constexpr");
  CHECK(text.is_within(6, 1));
  CHECK_FALSE(text.is_within(12, 1));
  CHECK(text.count("i") == 3);
  CHECK(text.count("counts") == 0);
}

TEST_CASE("a text whose lines are not certain is not read") {
  CHECK(problem_of("a = f'{b}'\n") == "a string is formatted");
  CHECK(problem_of("if a:\n\tb\n") == "it has tabs, carriage returns or form feeds");
  CHECK(problem_of("a = 1\r\n") == "it has tabs, carriage returns or form feeds");
  CHECK(problem_of("a = (1]\n") == "brackets do not match");
  CHECK(problem_of("a = (1\n") == "a bracket is not closed");
  CHECK(problem_of("a = 'b\n'") == "a string is not closed");
  CHECK(problem_of("a = $b\n") == "it has a byte that begins no token");
  CHECK(problem_of("'''a\nb\n''' # c").empty());
  CHECK(problem_of("").empty());
  CHECK(Text("a = 1; b = 2\n").statements()[0].understood == false);
}

TEST_CASE("any bytes are read or refused, and spans lie within them") {
  const std::string whole =
      "import triton\n@triton.jit\ndef k(x, n, T: tl.constexpr):\n    \"\"\"Says\n  what.\"\"\"\n  "
      "  for i in "
      "range(0, n, T):\n        if i < n and not (i == 3):\n            x[i:2, None] += -tl.f(i, "
      "a=b'c', "
      "d=[1.5e-3, 0x1f])\n    return\n";
  for (std::uint64_t seed = 1; seed <= 3000; ++seed) {
    CAPTURE(seed);
    Rng rng(seed, "python");
    std::string source = whole;
    for (int change = 0; change < 4; ++change) {
      const auto at = static_cast<std::size_t>(rng.below(source.size()));
      const auto length = static_cast<std::size_t>(rng.below(6));
      if (rng.below(2) == 0)
        source.erase(at, length);
      else
        source.insert(at, whole.substr(static_cast<std::size_t>(rng.below(whole.size())), length));
    }
    const Text text(source);
    for (const Statement& one : text.statements()) {
      CHECK(one.span.begin < one.span.end);
      CHECK(one.span.end <= source.size());
      if (one.value == nullptr) continue;
      walk(*one.value, [&](const Node& node) {
        CHECK(node.outer.begin <= node.span.begin);
        CHECK(node.span.end <= node.outer.end);
        CHECK(node.outer.end <= one.span.end);
      });
    }
  }
}

TEST_SUITE_END();
