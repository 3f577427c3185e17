#include "engine/spec/expression.h"

#include <doctest/doctest.h>

#include <limits>
#include <optional>
#include <vector>

#include "engine/base/error.h"
#include "engine/base/rng.h"
#include "tests/support/spec_fixtures.h"

using warpath::Bindings;
using warpath::Error;
using warpath::Expression;
using warpath::Rng;
using warpath::test::message_of;

namespace {

const Bindings kNames{
    {"N", 10}, {"M", 3}, {"z", 0}, {"big", std::numeric_limits<std::int64_t>::max()}};

std::int64_t value(const char* text) {
  return Expression::parse(text, "here").evaluate(kNames, "here");
}
std::string canonical(const char* text) {
  return Expression::parse(text, "here").text();
}
std::string parse_problem(const std::string& text) {
  return message_of([&] { static_cast<void>(Expression::parse(text, "here")); });
}
std::string value_problem(const char* text) {
  return message_of([&] { static_cast<void>(value(text)); });
}

/// A random expression, fully parenthesised, together with its value by 128-bit arithmetic;
/// nullopt: an error.
struct Sample {
  std::string text;
  std::optional<std::int64_t> value;
};

__extension__ using Wide = __int128;

std::optional<std::int64_t> narrow(Wide x) {
  if (x > std::numeric_limits<std::int64_t>::max() || x < std::numeric_limits<std::int64_t>::min())
    return std::nullopt;
  return static_cast<std::int64_t>(x);
}

std::optional<std::int64_t> apply(std::uint64_t op, std::int64_t a, std::int64_t b) {
  const Wide x = a, y = b;
  switch (op) {
    case 0:
      return narrow(x + y);
    case 1:
      return narrow(x - y);
    case 2:
      return narrow(x * y);
    case 3:
      return b == 0 ? std::nullopt : narrow(x / y);
    case 4:
      return b == 0 ? std::nullopt : narrow(x % y);
    case 5:
      return a == b ? 1 : 0;
    case 6:
      return a != b ? 1 : 0;
    case 7:
      return a < b ? 1 : 0;
    case 8:
      return a <= b ? 1 : 0;
    case 9:
      return a > b ? 1 : 0;
    case 10:
      return a >= b ? 1 : 0;
    case 11:
      return std::min(a, b);
    case 12:
      return std::max(a, b);
    default: {
      if (b == 0) return std::nullopt;
      Wide q = x / y;
      if (q * y != x && (x < 0) == (y < 0)) ++q;
      return narrow(q);
    }
  }
}

Sample sample(Rng& rng, int depth) {
  static const std::vector<std::string> kInfix{
      "+", "-", "*", "/", "%", "==", "!=", "<", "<=", ">", ">="};
  if (depth == 0 || rng.below(4) == 0) {
    switch (rng.below(4)) {
      case 0:
        return {"N", 10};
      case 1:
        return {"big", std::numeric_limits<std::int64_t>::max()};
      default: {
        const auto x = static_cast<std::int64_t>(rng.below(21)) - 10;
        return {std::to_string(x), x};
      }
    }
  }
  const Sample a = sample(rng, depth - 1), b = sample(rng, depth - 1);
  const std::uint64_t op = rng.below(18);
  const bool both = a.value && b.value;
  if (op < kInfix.size())
    return {"(" + a.text + ")" + kInfix[op] + "(" + b.text + ")",
            both ? apply(op, *a.value, *b.value) : std::nullopt};
  if (op < 14) {
    const std::string name = op == 11 ? "min" : op == 12 ? "max" : "ceil_div";
    return {name + "(" + a.text + "," + b.text + ")",
            both ? apply(op, *a.value, *b.value) : std::nullopt};
  }
  if (op == 14) return {"-(" + a.text + ")", a.value ? narrow(-Wide{*a.value}) : std::nullopt};
  if (op == 15)
    return {"not (" + a.text + ")",
            a.value ? std::optional<std::int64_t>(*a.value == 0) : std::nullopt};
  // `and`, `or` and the ternary look at no more than they need.
  if (op == 16) {
    const bool conjunction = rng.below(2) == 0;
    const std::string text = "(" + a.text + (conjunction ? ") and (" : ") || (") + b.text + ")";
    if (!a.value) return {text, std::nullopt};
    if ((*a.value != 0) != conjunction) return {text, conjunction ? 0 : 1};
    return {text, b.value ? std::optional<std::int64_t>(*b.value != 0) : std::nullopt};
  }
  const Sample c = sample(rng, depth - 1);
  const std::string text = "(" + a.text + ")?(" + b.text + "):(" + c.text + ")";
  if (!a.value) return {text, std::nullopt};
  return {text, *a.value != 0 ? b.value : c.value};
}

}  // namespace

TEST_SUITE_BEGIN("expression");

TEST_CASE("operators bind as in C, comparisons and words as in Python") {
  CHECK(value("1 + 2 * 3") == 7);
  CHECK(value("-7 / 2") == -3);
  CHECK(value("-7 % 3") == -1);
  CHECK(value("10 - 3 - 2") == 5);
  CHECK(value("N > 5 and not M == 3") == 0);
  CHECK(value("N > 5 && !(M == 4)") == 1);
  CHECK(value("z or M") == 1);
  CHECK(value("z ? 1 : M ? 2 : 3") == 2);
  CHECK(value("0x1F + 1") == 32);
  CHECK(value("ceil_div(N, M)") == 4);
  CHECK(value("ceil_div(-7, 2)") == -3);
  CHECK(value("align_up(N, 8)") == 16);
  CHECK(value("min(N, 4, M) + max(1, 2) + abs(-5)") == 10);
  CHECK(value("-9223372036854775808") == std::numeric_limits<std::int64_t>::min());
}

TEST_CASE("canonical text has single spaces and no needless parentheses") {
  CHECK(canonical("((N+(M)))*2") == "(N + M) * 2");
  CHECK(canonical("N-(M-1)") == "N - (M - 1)");
  CHECK(canonical("(N-M)-1") == "N - M - 1");
  CHECK(canonical("(a?b:c)?d:(e?f:g)") == "(a ? b : c) ? d : e ? f : g");
  CHECK(canonical("!(a&&b)||c") == "not (a and b) or c");
  CHECK(canonical("- - 5") == "5");
  CHECK(canonical("-(-N)") == "--N");
  CHECK(canonical("0x10") == "16");
  CHECK(canonical("ceil_div( N,(M) )") == "ceil_div(N, M)");
}

TEST_CASE("names are collected and constants known") {
  CHECK(Expression::parse("N * (M + N) > max(z, 1)", "").names() ==
        std::set<std::string>{"M", "N", "z"});
  CHECK(Expression::parse("-5", "").is_constant());
  CHECK_FALSE(Expression::parse("N", "").is_constant());
  CHECK(Expression() == Expression(0));
}

TEST_CASE("a wrong text is refused with its column") {
  struct Row {
    const char* text;
    const char* expected;
  };
  const std::vector<Row> rows{
      {"", "a number, a name, a function or '(' at column 1"},
      {"N +", "at column 4"},
      {"N 4", "an operator or the end at column 3"},
      {"(N", "')' at column 3"},
      {"1e6", "an integer such as 42 or 0x2a at column 1"},
      {"1.5", "an integer such as 42"},
      {"2^20", "an operator or the end at column 2"},
      {"0x", "an integer such as 42"},
      {"9223372036854775808", "fits 64 bits"},
      {"99999999999999999999", "fits 64 bits"},
      {"1 < 2 < 3", "they do not chain"},
      {"a = b", "an operator or the end"},
      {"min()", "a number, a name"},
      {"ceil_div(1)", "ceil_div with 2 arguments"},
      {"ceil_div(1, 2, 3)", "ceil_div with 2 arguments"},
      {"min", "'(' at column 4"},
      {"not", "at column 4"},
      {"and", "at column 1"},
      {"a ? b", "':' at column 6"},
      {"f(x)", "an operator or the end"},
  };
  for (const Row& row : rows) {
    CAPTURE(row.text);
    const std::string problem = parse_problem(row.text);
    CHECK(problem.find("here: got ") == 0);
    CHECK(problem.find(row.expected) != std::string::npos);
  }
}

TEST_CASE("overflow, division by zero and unknown names are errors at the place given") {
  CHECK(value_problem("big + 1").find("'big + 1' overflows") != std::string::npos);
  CHECK(value_problem("big * 2").find("overflows") != std::string::npos);
  CHECK(value_problem("-big - 2").find("overflows") != std::string::npos);
  CHECK(value_problem("(-big - 1) / -1").find("overflows") != std::string::npos);
  CHECK(value("(-big - 1) % -1") == 0);
  CHECK(value_problem("abs(-big - 1)").find("overflows") != std::string::npos);
  CHECK(value_problem("-(-big - 1)").find("overflows") != std::string::npos);
  CHECK(value_problem("N / z").find("divisor other than 0 in 'N / z'") != std::string::npos);
  CHECK(value_problem("N % z").find("divisor other than 0") != std::string::npos);
  CHECK(value_problem("ceil_div(1, z)").find("divisor other than 0") != std::string::npos);
  CHECK(value_problem("align_up(1, z)").find("alignment of at least 1") != std::string::npos);
  CHECK(value_problem("Q + 1").find("'Q' is not; known: M, N, big, z") != std::string::npos);
  CHECK(value("M == 3 or N / z") == 1);  // the right side is not looked at
}

TEST_CASE("depth and size are bounded, so that no text can exhaust the stack") {
  CHECK(parse_problem(std::string(100000, '(')).find("at most") != std::string::npos);
  CHECK(parse_problem(std::string(60000, '(')).find("nesting of at most") != std::string::npos);
  CHECK(parse_problem(std::string(60000, '-') + "N").find("nesting of at most") !=
        std::string::npos);
  CHECK(parse_problem(std::string(60000, '!') + "N").find("nesting of at most") !=
        std::string::npos);
  std::string chain = "1";
  for (int i = 0; i < 5000; ++i) chain += "+1";
  CHECK(parse_problem(chain).find("at most 1000 terms") != std::string::npos);
  std::string ternaries;
  for (int i = 0; i < 5000; ++i) ternaries += "a?1:";
  CHECK(parse_problem(ternaries + "1").find("nesting of at most") != std::string::npos);
}

TEST_CASE("canonical text parses to the same text and value as 128-bit arithmetic gives") {
  for (std::uint64_t seed = 0; seed < 4000; ++seed) {
    CAPTURE(seed);
    Rng rng(seed, "expression");
    const Sample s = sample(rng, 1 + static_cast<int>(seed % 5));
    CAPTURE(s.text);
    const Expression parsed = Expression::parse(s.text, "here");
    CHECK(Expression::parse(parsed.text(), "again").text() == parsed.text());
    for (const Expression& e : {parsed, Expression::parse(parsed.text(), "again")}) {
      std::optional<std::int64_t> got;
      try {
        got = e.evaluate(kNames, "here");
      } catch (const Error&) {
      }
      CHECK(got == s.value);
    }
  }
}

TEST_CASE("any text gives an expression or one error") {
  static const std::string kPieces[] = {"N",         "(",   ")", "+",  "-",   "*",  "/",   "%",
                                        "?",         ":",   "<", "<=", "==",  "!",  "and", "or ",
                                        "not ",      "min", "(", ",",  "12",  "0x", " ",   "\xff",
                                        "ceil_div(", "&&",  "|", "\n", "9e9", "=",  "\0x"};
  int parsed = 0;
  for (std::uint64_t seed = 0; seed < 20000; ++seed) {
    Rng rng(seed, "fuzz");
    std::string text;
    for (std::uint64_t i = rng.below(12); i-- > 0;) text += kPieces[rng.below(std::size(kPieces))];
    try {
      const Expression e = Expression::parse(text, "here");
      CHECK(Expression::parse(e.text(), "again") == e);
      ++parsed;
    } catch (const Error& error) {
      CHECK(error.code() == warpath::ErrorCode::bad_input);
    }
  }
  CHECK(parsed > 100);
}

TEST_SUITE_END();
