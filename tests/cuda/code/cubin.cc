#include "runners/cuda/code/cubin.h"

#include <doctest/doctest.h>

#include <algorithm>

#include "engine/base/rng.h"
#include "tests/cuda/support.h"

using warpath::cuda::read_cubin;

TEST_SUITE_BEGIN("cubin");

TEST_CASE("what is no machine code is refused in one line") {
  for (const std::string& bytes : {std::string(),
                                   std::string("\x7f"
                                               "ELF"),
                                   std::string(64, '\0'), std::string(1000, '\xff')}) {
    std::string why;
    CHECK_FALSE(read_cubin(bytes, "k", why));
    CHECK_FALSE(why.empty());
  }
}

TEST_SUITE_END();

TEST_SUITE_BEGIN("nvrtc_cubin");

TEST_CASE("registers, code and tables agree with what the compiler says") {
  const auto code = cuda_test::compile(
      "__device__ const int table[100] = {1};\n"
      "extern \"C\" __global__ void k(float* o, const float* x, int n) {\n"
      "  float v[100];\n  for (int i = 0; i < n; ++i) v[(i * 7) % 100] = x[i];\n"
      "  for (int i = 0; i < n; ++i) o[i] = v[(i * 3) % 100] + table[i];\n}\n");
  REQUIRE_MESSAGE(code.status == warpath::Status::ok, code.log);
  std::string why;
  const auto facts = read_cubin(code.cubin, "k", why);
  REQUIRE_MESSAGE(facts, why);
  CHECK(facts->registers == code.usage.registers);
  CHECK(facts->frame_bytes == code.usage.stack_bytes);
  CHECK(facts->frame_bytes >= 400);
  CHECK(facts->code_bytes > 0);
  CHECK(facts->global_bytes >= 400);
  CHECK(facts->functions == std::vector<std::string>{"k"});
  CHECK_FALSE(read_cubin(code.cubin, "absent", why));
}

TEST_CASE("texts that compile to one code have one hash, others do not") {
  const auto hash = [](const std::string& body) {
    const auto code =
        cuda_test::compile("extern \"C\" __global__ void k(float* o, int n) {" + body + "}");
    REQUIRE_MESSAGE(code.status == warpath::Status::ok, code.log);
    std::string why;
    return read_cubin(code.cubin, "k", why).value().code_hash;
  };
  CHECK(hash("o[0] = n + 1;") == hash("\n\n  int unused = 5; o[0] = 1 + n; /* the same */"));
  CHECK(hash("o[0] = n + 1;") != hash("o[0] = n + 2;"));
  CHECK(hash("o[0] = 1;") != hash("__shared__ float s[64]; s[n] = n; o[0] = s[0];"));
}

TEST_CASE("damaged machine code never crashes the reader") {
  const auto code = cuda_test::compile("extern \"C\" __global__ void k(float* o) { o[0] = 1; }");
  REQUIRE(code.status == warpath::Status::ok);
  warpath::Rng rng(1, "cubin fuzz");
  for (int round = 0; round < 20000; ++round) {
    std::string damaged = code.cubin;
    const std::uint64_t changes = 1 + rng.below(6);
    for (std::uint64_t i = 0; i < changes; ++i) {
      const std::size_t reach = rng.below(2) == 0 ? 64 : damaged.size();
      damaged[rng.below(std::min(reach, damaged.size()))] = static_cast<char>(rng.below(256));
    }
    if (rng.below(3) == 0) damaged.resize(rng.below(damaged.size()));
    std::string why;
    if (!read_cubin(damaged, "k", why)) CHECK_FALSE(why.empty());
  }
}

TEST_SUITE_END();
