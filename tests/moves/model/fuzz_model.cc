// Fuzzes the source model for a given time: fuzz_model SECONDS SEED FILE... An input under test is
// kept in fuzz_model.SEED.cu of the working folder until it has passed; what breaks the tree stays,
// numbered.

#include <chrono>
#include <cstdio>
#include <cstdlib>
#include <ctime>
#include <fstream>
#include <iterator>
#include <string>
#include <vector>

#include "tests/support/source_mutations.h"

namespace {

void keep(const std::string& file, const std::string& text) {
  std::ofstream(file, std::ios::binary) << text;
}

}  // namespace

int main(int count, char** words) {
  if (count < 4) {
    std::fprintf(stderr, "usage: fuzz_model SECONDS SEED FILE...\n");
    return 64;
  }
  const std::chrono::seconds limit(std::atoi(words[1]));
  const std::uint64_t seed = std::strtoull(words[2], nullptr, 10);
  std::vector<std::string> corpus;
  for (int i = 3; i < count; ++i) {
    std::ifstream in(words[i], std::ios::binary);
    corpus.emplace_back(std::istreambuf_iterator<char>(in), std::istreambuf_iterator<char>());
  }
  const std::string name = "fuzz_model." + std::string(words[2]);
  const auto start = std::chrono::steady_clock::now();
  std::uint64_t inputs = 0;
  std::uint64_t bytes = 0;
  int failures = 0;
  double slowest = 0;
  while (std::chrono::steady_clock::now() - start < limit) {
    warpath::Rng rng(seed, "fuzz_model", inputs++);
    const std::string source =
        warpath::test::mutated(corpus[rng.below(corpus.size())], corpus, rng);
    bytes += source.size();
    keep(name + ".cu", source);
    const std::clock_t began = std::clock();  // of the processor: the machine may be busy
    const std::string wrong = warpath::test::check_model(source);
    const double took = static_cast<double>(std::clock() - began) / CLOCKS_PER_SEC;
    if (took > slowest) {
      slowest = took;
      keep(name + ".slowest.cu", source);
    }
    if (wrong.empty()) continue;
    keep(name + "." + std::to_string(++failures) + ".cu", source);
    std::printf("input %llu: %s\n", static_cast<unsigned long long>(inputs - 1), wrong.c_str());
  }
  std::printf("%llu inputs, %.1f MB, %d failures, slowest %.2f s\n",
              static_cast<unsigned long long>(inputs), static_cast<double>(bytes) * 1e-6, failures,
              slowest);
  return failures == 0 ? 0 : 1;
}
