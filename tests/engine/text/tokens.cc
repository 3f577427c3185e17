#include "engine/text/tokens.h"

#include <doctest/doctest.h>

#include <algorithm>
#include <future>
#include <string>
#include <string_view>
#include <vector>

#include "engine/base/rng.h"
#include "engine/text/vector_type.h"

using namespace warpath;

TEST_SUITE_BEGIN("tokens");

namespace {

/// Spellings joined by one blank; comments as "C", directives in angle brackets.
std::string cut(std::string_view source) {
  std::string out;
  for (const Token& token : tokenize(source).tokens) {
    if (!out.empty()) out += ' ';
    const std::string text = spelling(source, token);
    out += token.kind == TokenKind::comment     ? "C"
           : token.kind == TokenKind::directive ? "<" + text + ">"
                                                : text;
  }
  return out;
}

}  // namespace

TEST_CASE("a vector type of CUDA's is known by its name: element and lanes") {
  const auto is = [](std::string_view name, DType element, int lanes) {
    const auto found = vector_type_of(name);
    return found && found->element == element && found->lanes == lanes;
  };
  CHECK(is("float4", DType::f32, 4));
  CHECK(is("uchar1", DType::u8, 1));
  CHECK(is("ulonglong2", DType::u64, 2));
  CHECK(is("half2", DType::f16, 2));
  CHECK(is("__nv_bfloat162", DType::bf16, 2));
  for (const char* const other : {"", "4", "float", "float5", "ufloat4", "half", "half3", "vec4"})
    CHECK_FALSE(vector_type_of(other));
}

TEST_CASE("punctuators match as long as they can") {
  CHECK(cut("f<<<1,2>>>(a);") == "f <<< 1 , 2 >>> ( a ) ;");
  CHECK(cut("a<<=b>>=c<=>d") == "a <<= b >>= c <=> d");
  CHECK(cut("a+++b a+ ++b x->*y.*z") == "a ++ + b a + ++ b x ->* y .* z");
  CHECK(cut("...,..") == "... , . .");
  CHECK(cut("a<::b <:0:> <%%> a<:::b:>") == "a < :: b [ 0 ] { } a [ :: b ]");
}

TEST_CASE("numbers keep suffixes, exponents, separators and hexadecimal fractions") {
  CHECK(cut("1.0f+2.e-3 0x1.8p+3f-1 1'000'000ull .5h 0b1010u 1..2") ==
        "1.0f + 2.e-3 0x1.8p+3f - 1 1'000'000ull .5h 0b1010u 1..2");
  CHECK(cut("0xe+1 a'b'") == "0xe+1 a 'b'");  // one preprocessing number, as the standard has it
}

TEST_CASE("strings and characters end where they end") {
  CHECK(cut(R"(u8"a\"b" L'\'' "x"_s "")") == R"(u8"a\"b" L'\'' "x"_s "")");
  CHECK(cut("R\"(a)b\")\" x") == "R\"(a)b\")\" x");
  CHECK(cut("R\"d(a)\" )e\" )d\"x") == "R\"d(a)\" )e\" )d\" x");
  CHECK(cut("\"a // b\" 'c' /* \" */ d") == "\"a // b\" 'c' C d");
  CHECK(tokenize("R\"(a\\\nb)\"").tokens.at(0).size() == 9);
}

TEST_CASE("a quote without its partner ends with the line and makes the text ambiguous") {
  CHECK(cut("\"ab\nc") == "\"ab c");
  CHECK(tokenize("\"ab\nc").ambiguous);
  CHECK(tokenize("/* a").ambiguous);
  CHECK(tokenize("R\"(a").ambiguous);
  CHECK_FALSE(tokenize("\"a\\\nb\"").ambiguous);
}

TEST_CASE("disputed bytes make the text ambiguous") {
  for (const std::string source : {"a ?\?= b", "a \\ \nb", "a\rb", "a\\"})
    CHECK(tokenize(source).ambiguous);
  CHECK(tokenize(std::string_view("a\0b", 3)).ambiguous);
  for (const std::string source : {"a ? b : c", "a \\\nb", "a \\\r\nb", "a\r\nb", "\"?\""})
    CHECK_FALSE(tokenize(source).ambiguous);
}

TEST_CASE("a directive is one token with its continuations, without its trailing comment") {
  CHECK(cut("#define A \\\n 1 // c\nb") == "<#define A  1> C b");
  CHECK(cut("  /* x */ # pragma unroll 4\nfor") == "C <# pragma unroll 4> for");
  CHECK(cut("#define S \"//\" '\"' /* a \n b */ 2\nc") ==
        "<#define S \"//\" '\"' /* a \n b */ 2> c");
  CHECK(cut("a # b") == "a # b");
  CHECK(cut("%:define A\n") == "<%:define A>");
  const std::string source = "x;\n#include <a//b.h>\ny;";
  const std::vector<Token> tokens = tokenize(source).tokens;
  CHECK(directive_name(source, tokens.at(2)) == "include");
}

TEST_CASE("a digit separator in a directive opens no character, a quote behind a name does") {
  for (const std::string line : {"#pragma unroll (4'096)", "#if N > 1'000'000 // don't",
                                 "#define A L'x' + u8'\"' + a1'b'", "#define B 0x1'F '//' 2"}) {
    CAPTURE(line);
    CHECK_FALSE(tokenize(line + "\nint x;").ambiguous);
  }
  CHECK(cut("#define B 1'0 '//' 2 // c\nb") == "<#define B 1'0 '//' 2> C b");
  for (const std::string line : {"#define A a1'b", "#define A 1 '0", "#define A 1'"}) {
    CAPTURE(line);
    CHECK(tokenize(line + "\nint x;").ambiguous);
  }
}

TEST_CASE("splices vanish from spellings, not from offsets") {
  const std::string source = "in\\\nt a\\\r\n_b; // c \\\n d\ne";
  CHECK(cut(source) == "int a_b ; C e");
  const std::vector<Token> tokens = tokenize(source).tokens;
  CHECK(tokens.at(0).spliced);
  CHECK(source.substr(tokens.at(1).begin, tokens.at(1).size()) == "a\\\r\n_b");
}

TEST_CASE("tokens and the white space between them are the source") {
  const std::string source = "  int a = b <:1:>; // c\n#if X \\\n Y\n\tR\"(q)\"_z 'a'\xc3\xa4 @ `";
  std::size_t at = 0;
  for (const Token& token : tokenize(source).tokens) {
    CHECK(source.substr(at, token.begin - at).find_first_not_of(" \t\n\\") == std::string::npos);
    CHECK(token.begin < token.end);
    at = token.end;
  }
  CHECK(at == source.size());
}

TEST_CASE("a text read after one that it resembles has the tokens that it has by itself") {
  std::string base = "#define LOOP(i) \\\n  for (i = 0; i < 9; ++i)\n";
  for (int i = 0; base.size() < 2500; ++i)
    base += "x" + std::to_string(i) + " = R\"(a\n)\" /* b\n c */ + y; // d \\\n e\r\n# if 1\n";
  const std::vector<std::string> pieces{"",    "a",  "/*",      "*/", "\n",   "\\\n", "R\"(",
                                        ")\"", "\"", "#",       "\r", "?\?=", " \\ ", "// ",
                                        "\\",  "<:", "#if 1\n", "'",  "0x1p", "\r\n"};
  Rng rng(1, "texts");
  for (int round = 0; round < 400; ++round) {
    std::string changed = base;
    for (std::uint64_t k = rng.below(2); k < 2; ++k) {
      const std::size_t at = rng.below(changed.size());
      changed.replace(at, rng.below(2) * rng.below(40), pieces[rng.below(pieces.size())]);
    }
    CAPTURE(round);
    static_cast<void>(tokenize(base));
    const TokenStream after = tokenize(changed);
    // a thread that has read nothing before
    const TokenStream alone =
        std::async(std::launch::async, [&] { return tokenize(changed); }).get();
    CHECK(after.ambiguous == alone.ambiguous);
    CHECK(std::ranges::equal(after.tokens, alone.tokens, [](const Token& a, const Token& b) {
      return a.kind == b.kind && a.space_before == b.space_before && a.spliced == b.spliced &&
             a.begin == b.begin && a.end == b.end;
    }));
  }
}

TEST_SUITE_END();
