#include <doctest/doctest.h>

#include <ctime>
#include <filesystem>
#include <fstream>
#include <future>
#include <iterator>
#include <map>
#include <set>
#include <string>
#include <vector>

#include "engine/base/rng.h"
#include "engine/text/function_text.h"
#include "engine/text/local_names.h"
#include "engine/text/source_key.h"

using namespace warpath;

TEST_SUITE_BEGIN("source_key_properties");

namespace {

std::vector<std::string> real_kernels() {
  std::vector<std::string> out;
  std::set<std::filesystem::path> paths;
  for (const auto& entry :
       std::filesystem::directory_iterator(std::string(WARPATH_SOURCE_ROOT) + "/specs")) {
    if (entry.path().extension() == ".cu") paths.insert(entry.path());
  }
  for (const auto& path : paths) {
    std::ifstream file(path);
    out.emplace_back(std::istreambuf_iterator<char>(file), std::istreambuf_iterator<char>());
  }
  REQUIRE(out.size() >= 12);
  return out;
}

Hash128 key(const std::string& source) {
  return source_key(source, {});
}

std::string filler(Rng& rng) {
  const std::vector<std::string> fillers{" ",       "\n",    "\t",     " /* a \" ' */ ",
                                         " // b\n", "\\\n ", "  \r\n", "/**/"};
  return fillers[rng.below(fillers.size())];
}

/// The source with new white space and comments between its tokens, and locals of every function
/// under new names.
std::string disguised(const std::string& source, Rng& rng) {
  const CodeText code(source);
  std::map<std::size_t, std::string> renamed;  // token -> new name
  const std::vector<FunctionText> functions = find_functions(code, {});
  SharedNames shared;
  for (std::size_t i = 0, f = 0; i < code.tokens.size(); ++i) {
    if (f < functions.size() && i == functions[f].open) i = functions[f++].end;
    if (i < code.tokens.size() && code.is_name(i)) shared.outside.emplace(code.text[i]);
    if (i < code.tokens.size() && code.tokens[i].kind == TokenKind::directive) {
      for (const Token& t : tokenize_directive(source, code.tokens[i]).tokens)
        shared.outside.insert(spelling(source, t));
    }
  }
  for (const FunctionText& function : functions) {
    std::map<std::string, std::string, std::less<>> names;
    for (const std::string& name : local_names(code, function, shared))
      names[name] = "local" + std::to_string(rng.next() % 100000) + name;
    for (std::size_t i = function.open; i < function.end; ++i) {
      const auto it = names.find(code.text[i]);
      if (it != names.end() && !is_member(code, i)) renamed[i] = it->second;
    }
  }
  std::string out;
  for (std::size_t i = 0; i < code.tokens.size(); ++i) {
    const bool line = code.tokens[i].kind == TokenKind::directive;
    if (line) out += "\n";
    const auto it = renamed.find(i);
    out += it != renamed.end() ? std::string_view(it->second) : code.text[i];
    out += line ? "\n" : " " + filler(rng);
  }
  return out;
}

/// The source with one token replaced by another token of the file, or dropped, or doubled.
std::string mutated(const std::string& source, Rng& rng) {
  const CodeText code(source);
  const std::size_t at = rng.below(code.tokens.size());
  const Token& token = code.tokens[at];
  std::string text;
  switch (rng.below(3)) {
    case 0:
      text = " " + std::string(code.text[rng.below(code.text.size())]) + " ";
      break;
    case 1:
      break;
    default:
      text = std::string(code.text[at]) + " " + std::string(code.text[at]);
      break;
  }
  const bool line = token.kind == TokenKind::directive || text.find('#') != std::string::npos;
  return source.substr(0, token.begin) + (line ? "\n" + text + "\n" : text) +
         source.substr(token.end);
}

}  // namespace

TEST_CASE("comments, white space and names of locals never change a key") {
  for (const std::string& source : real_kernels()) {
    CAPTURE(source);
    for (std::uint64_t seed = 0; seed < 20; ++seed) {
      CAPTURE(seed);
      Rng rng(seed, "disguise");
      const std::string other = disguised(source, rng);
      CAPTURE(other);
      CHECK(key(source) == key(other));
    }
  }
}

TEST_CASE("locals of real kernels are found") {
  std::size_t found = 0, functions = 0;
  for (const std::string& source : real_kernels()) {
    const CodeText code(source);
    for (const FunctionText& function : find_functions(code, {})) {
      ++functions;
      found += local_names(code, function, {}).size();
    }
  }
  CHECK(functions >= 12);
  CHECK(found >= 8 * functions);
}

TEST_CASE("a changed token changes the key") {
  for (const std::string& source : real_kernels()) {
    const CodeText original(source);
    for (std::uint64_t seed = 0; seed < 100; ++seed) {
      Rng rng(seed, "mutate");
      const std::string other = mutated(source, rng);
      const CodeText changed(other);
      if (changed.text == original.text) continue;
      CAPTURE(seed);
      CAPTURE(other);
      CHECK(key(source) != key(other));
    }
  }
}

TEST_CASE("any bytes have a key") {
  for (const std::string& source : real_kernels()) {
    for (std::uint64_t seed = 0; seed < 25; ++seed) {
      CAPTURE(seed);
      Rng rng(seed, "fuzz");
      std::string bytes = source;
      for (std::uint64_t i = 0; i < 1 + seed; ++i) {
        const std::size_t at = rng.below(bytes.size());
        constexpr std::string_view kSpice = "(){}[]<>\"'\\\n\r#/*R;:,.?%\0\xff 0e+'";
        switch (rng.below(4)) {
          case 0:
            bytes[at] = kSpice[rng.below(kSpice.size())];
            break;
          case 1:
            bytes.erase(at, 1 + rng.below(20));
            break;
          case 2:
            bytes.insert(at, 1, static_cast<char>(rng.below(256)));
            break;
          default:
            bytes.insert(at, bytes.substr(rng.below(bytes.size()), rng.below(60)));
            break;
        }
        if (bytes.empty()) bytes = "x";
      }
      CHECK(key(bytes) == key(bytes));
      std::size_t end = 0;
      bool ordered = true;
      for (const Token& token : tokenize(bytes).tokens) {
        ordered =
            ordered && token.begin >= end && token.end > token.begin && token.end <= bytes.size();
        end = token.end;
      }
      CHECK(ordered);
    }
  }
}

TEST_CASE("time grows with the length, not with its square") {
  const auto repeated = [](const std::string& unit, std::size_t bytes) {
    std::string out;
    while (out.size() < bytes) out += unit;
    return out;
  };
  const auto seconds = [](const std::string& source) {
    const std::clock_t start = std::clock();
    static_cast<void>(key(source));
    return static_cast<double>(std::clock() - start) / CLOCKS_PER_SEC;
  };
  for (const std::string unit : {"(",
                                 "{",
                                 "a<",
                                 "R\"",
                                 "R\"x(",
                                 "\\\n",
                                 "\\ ",
                                 "/*",
                                 "'",
                                 "\"",
                                 "#",
                                 "#include <\n",
                                 "#define a <<<<\n",
                                 "int a; ",
                                 "?",
                                 "for(;;)",
                                 "void f(int a){",
                                 "void f(int a){int b;}",
                                 "if(a)",
                                 "else ",
                                 "case a?b:",
                                 "a:",
                                 "struct {",
                                 "namespace {",
                                 "do ",
                                 "[",
                                 "[[",
                                 "int a=1,",
                                 "template<",
                                 "\n#if A\n",
                                 "0'",
                                 "<::",
                                 "%:"}) {
    CAPTURE(unit);
    // Processor time. A quadratic scan of 200 kB takes far more.
    CHECK(seconds(repeated(unit, 200000)) < 5);
    CHECK(seconds("void f(int a) {" + repeated(unit, 200000) + "}") < 5);
  }
}

TEST_CASE("The key of a text does not depend on the texts that were asked for before") {
  const std::vector<std::string> pieces{" ",
                                        "\n",
                                        "x",
                                        "i",
                                        "#pragma unroll 4\n",
                                        "\n#pragma unroll n\n",
                                        "// }",
                                        "/*",
                                        "*/",
                                        "}",
                                        "{",
                                        "(",
                                        ")",
                                        "\"",
                                        "\\\n",
                                        "\\",
                                        "#define i 3\n",
                                        "\n#define f(a) #a\n",
                                        "#undef",
                                        "R\"(",
                                        "const ",
                                        ":",
                                        "::",
                                        "__LINE__",
                                        "\n#if 1",
                                        "\n#endif\n",
                                        "void g(int i) { i = 0; }",
                                        "namespace {",
                                        "\xEF\xBB\xBF",
                                        "?\?/",
                                        "struct ",
                                        "__restrict__ "};
  const std::vector<std::string> heads{"", "", "#include \"other.h\"\n", "#define AT __LINE__\n",
                                       "#define ONE 1\n#pragma once\n"};
  const auto anew = [](const std::string& source) {
    return std::async(std::launch::async, [&] { return key(source); }).get();
  };
  for (std::uint64_t seed = 1; seed <= 25; ++seed) {
    CAPTURE(seed);
    Rng rng(seed, "changes");
    for (const std::string& kernel : real_kernels()) {
      std::string source = heads[rng.below(heads.size())] + kernel;
      for (int step = 0; step < 8; ++step) {
        std::string changed = source;
        const std::size_t at = rng.below(changed.size());
        const std::size_t removed = rng.below(3) == 0 ? rng.below(12) : 0;
        changed.replace(at, removed, pieces[rng.below(pieces.size())]);
        CAPTURE(changed);
        REQUIRE(key(changed) == anew(changed));
        if (rng.below(3) == 0) source = changed;
      }
    }
  }
}

TEST_SUITE_END();
