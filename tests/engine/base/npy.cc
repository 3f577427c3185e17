#include "engine/spec/npy.h"
#include "engine/base/compression.h"

#include <doctest/doctest.h>

#include <cstring>
#include <filesystem>
#include <iterator>

#include "engine/base/base64.h"
#include "engine/base/rng.h"
#include "tests/support/spec_fixtures.h"
#include "tests/support/temporary_folder.h"

using namespace warpath;
using test::message_of;

namespace {

Tensor counting(DType dtype, std::vector<std::int64_t> shape) {
  Tensor out = make_tensor(dtype, std::move(shape));
  for (std::int64_t i = 0; i < out.elements(); ++i) out.set(i, static_cast<double>(i % 2));
  return out;
}
}  // namespace

TEST_SUITE_BEGIN("npy");

TEST_CASE("every type and rank survives a round trip") {
  const TemporaryFolder folder;
  for (const DTypeInfo& type : kDTypes) {
    for (const std::vector<std::int64_t>& shape :
         {std::vector<std::int64_t>{}, {1}, {7}, {2, 3}, {2, 1, 4}, {0, 3}}) {
      CAPTURE(type.name);
      const Tensor tensor = counting(type.dtype, shape);
      write_npy((folder / "t.npy").string(), tensor);
      CHECK(read_npy((folder / "t.npy").string(), type.dtype) == tensor);
    }
  }
  // no temporary is left
  CHECK(std::distance(std::filesystem::directory_iterator(folder.path()), {}) == 1);
}

TEST_CASE("the header is what numpy writes") {
  const TemporaryFolder folder;
  write_npy((folder / "t.npy").string(), counting(DType::f32, {2, 3}));
  const std::string file = test::text_of(folder / "t.npy");
  CHECK(file.substr(0, 10) == std::string("\x93NUMPY\x01\x00\x76\x00", 10));
  CHECK(file.find("{'descr': '<f4', 'fortran_order': False, 'shape': (2, 3), }") == 10);
  CHECK(file.size() == 128 + 24);
  CHECK(file[127] == '\n');
}

TEST_CASE("damaged and foreign files are refused with their path") {
  const TemporaryFolder folder;
  write_npy((folder / "good.npy").string(), counting(DType::f32, {2, 3}));
  const std::string good = test::text_of(folder / "good.npy");
  const auto problem = [&](const std::string& text) {
    test::put_text(folder / "bad.npy", text);
    return message_of(
        [&] { static_cast<void>(read_npy((folder / "bad.npy").string(), DType::f32)); });
  };
  const auto replaced = [&](const char* from, const char* to) {
    std::string text = good;
    return text.replace(text.find(from), std::strlen(from), to);
  };
  CHECK(problem(good).empty());
  CHECK(problem("").find("expected a .npy file") != std::string::npos);
  CHECK(problem(good.substr(0, 50)).find("whole .npy header") != std::string::npos);
  CHECK(problem(good.substr(0, 140)).find("got 12 bytes of data, expected 24 bytes") !=
        std::string::npos);
  CHECK(problem(good + "x").find("got 25 bytes of data") != std::string::npos);
  CHECK(problem(replaced("<f4", ">f4")).find("expected '<f4' (float32)") != std::string::npos);
  CHECK(problem(replaced("False", "True ")).find("C order") != std::string::npos);
  CHECK(problem(replaced("(2, 3)", "(2,-3)")).find("a shape of extents") != std::string::npos);
  CHECK(problem(replaced("\x01", "\x09")).find("version 9") != std::string::npos);
  CHECK(message_of([&] {
          static_cast<void>(read_npy((folder / "none.npy").string(), DType::f32));
        }).find("none.npy: got") != std::string::npos);
  for (std::uint64_t seed = 0; seed < 200; ++seed) {  // any damage gives a tensor or one error
    Rng rng(seed, "npy");
    std::string text = good;
    for (int k = 0; k < 3; ++k) text[rng.below(130)] = static_cast<char>(rng.below(256));
    static_cast<void>(problem(text.substr(0, rng.below(text.size()) + 1)));
  }
}

TEST_CASE("base64 and zlib undo themselves and refuse anything else") {
  for (std::size_t n = 0; n < 40; ++n) {
    Rng rng(n, "base64");
    std::vector<std::byte> bytes(n);
    for (auto& b : bytes) b = static_cast<std::byte>(rng.below(256));
    const std::string text = base64_encode(bytes);
    CHECK(base64_decode(text) == bytes);
    const auto packed = zlib_deflate(bytes);
    CHECK(zlib_inflate(packed, n) == bytes);
    CHECK_FALSE(zlib_inflate(packed, n + 1));
    if (n > 0) CHECK_FALSE(zlib_inflate(packed, n - 1));
  }
  CHECK(base64_encode(std::as_bytes(std::span("hello", 5))) == "aGVsbG8=");
  for (const char* wrong : {"a", "aGVsbG8", "aGVsbG8=\n", "a GVsbG8=", "aGVsbG9=", "====", "aG=s",
                            "\xff\xff\xff\xff"}) {
    CAPTURE(wrong);
    CHECK_FALSE(base64_decode(wrong));
  }
  CHECK_FALSE(zlib_inflate({}, 4));
}

TEST_SUITE_END();
