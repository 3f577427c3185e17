#include <doctest/doctest.h>

#include <algorithm>
#include <chrono>
#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <iterator>
#include <string>
#include <vector>

#include "tests/support/source_mutations.h"

using namespace warpath;

TEST_SUITE_BEGIN("model_fuzz");

namespace {

const std::string kRoot = WARPATH_SOURCE_ROOT;

std::vector<std::string> corpus() {
  std::vector<std::string> files;
  for (const char* folder : {"/specs", "/tests/data"}) {
    for (const auto& entry : std::filesystem::recursive_directory_iterator(kRoot + folder)) {
      if (entry.path().extension() == ".cu") files.push_back(entry.path().string());
    }
  }
  std::sort(files.begin(), files.end());
  std::vector<std::string> out;
  for (const std::string& file : files) {
    std::ifstream in(file, std::ios::binary);
    out.emplace_back(std::istreambuf_iterator<char>(in), std::istreambuf_iterator<char>());
  }
  return out;
}

}  // namespace

TEST_CASE("real sources hold together in the model") {
  for (const std::string& source : corpus()) {
    CAPTURE(source);
    CHECK(test::check_model(source) == "");
  }
}

TEST_CASE("mutated sources neither crash nor bend the tree") {
  const std::vector<std::string> sources = corpus();
  const char* const replayed = std::getenv("WARPATH_SEED");
  const std::uint64_t first = replayed != nullptr ? std::strtoull(replayed, nullptr, 10) : 1;
  const std::uint64_t last = replayed != nullptr ? first : 400;
  for (std::uint64_t seed = first; seed <= last; ++seed) {
    CAPTURE(seed);
    Rng rng(seed, "model_fuzz");
    const std::string source = test::mutated(sources[rng.below(sources.size())], sources, rng);
    CHECK(test::check_model(source) == "");
  }
}

TEST_CASE("deep and long texts end in bounded time") {
  const auto repeated = [](const std::string& text, int times) {
    std::string out;
    for (int i = 0; i < times; ++i) out += text;
    return out;
  };
  const auto start = std::chrono::steady_clock::now();
  for (const char* piece :
       {"(",     "{",         "[",          "a(",      "if(a)",      "a+",
        "a<",    "a::",       "x?",         "!",       "f<a<",       "for(;;)",
        "else ", "a[",        "template<",  "do ",     "case 1:",    "a=",
        "a->",   "-(",        "[&]{",       "({",      "a,",         "int*",
        "(int)", "struct s{", "switch(a){", "#if 1\n", "#define A(", "x*y;",
        "a b;",  "{}",        "();",        "\"a\"",   "a.b(",       "#pragma unroll\n"}) {
    CAPTURE(piece);
    CHECK(test::check_model("__global__ void k(int* a) {" + repeated(piece, 20000)) == "");
    CHECK(test::check_model("__global__ void k(int* a) {" + repeated(piece, 2000) + "}") == "");
  }
  CHECK(std::chrono::steady_clock::now() - start < std::chrono::seconds(120));
}

TEST_SUITE_END();
