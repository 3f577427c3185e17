#include "runners/cuda/measure/harness.h"

#include <doctest/doctest.h>

#include <algorithm>
#include <bit>
#include <cmath>
#include <cstring>
#include <set>
#include <span>
#include <utility>

#include "engine/portable/family_word.h"
#include "engine/portable/guard.h"
#include "engine/portable/nudge.h"
#include "engine/spec/compare.h"
#include "engine/spec/tensor_init.h"
#include "runners/inputs/input_family.h"
#include "runners/inputs/reach.h"
#include "tests/cuda/measure/cpu_bench.h"
#include "tests/cuda/measure/harness_bench.h"
#include "tests/cuda/support.h"

using namespace warpath;
using namespace warpath::cuda;
using harness_test::check_equal;
using harness_test::CpuBench;
using harness_test::record_of;

namespace {

CpuBench& bench() {
  static CpuBench shared;
  return shared;
}

constexpr MaskKey kKey{0x0123456789abcdefULL, 0xfedcba9876543210ULL};

}  // namespace

TEST_SUITE_BEGIN("harness");

TEST_CASE("a device fills every type by every rule with the host's bits") {
  for (const auto& [rule, name] : harness_test::rules()) {
    for (const DTypeInfo& type : kDTypes) {
      for (const auto& shape : harness_test::shapes()) {
        CAPTURE(name);
        CAPTURE(type.name);
        CAPTURE(shape.back());
        const Tensor expected = fill_tensor(rule, 77, type.dtype, shape, {}, nullptr, "here");
        const auto elements = static_cast<std::uint64_t>(expected.elements());
        const auto plan = element_rule(rule, 77, type.dtype, shape, {}, "here");
        REQUIRE(plan);
        const auto placement =
            shape.size() == 2 ? host::Placement::fence : host::Placement::canaries;
        const auto got = bench()
                             .out(expected.bytes.size())
                             .scalar(elements)
                             .scalar(*plan)
                             .run("harness_fill", 2, 0, placement);
        CHECK(got[0] == expected.bytes);
      }
    }
  }
}

TEST_CASE("every input family gives the host's bits and what its name says") {
  InitRule normal;
  for (const DType dtype : {DType::f64, DType::f32, DType::f16, DType::bf16, DType::i64, DType::u64,
                            DType::i32, DType::u8}) {
    const Tensor declared = fill_tensor(normal, 5, dtype, {400, 60}, {}, nullptr, "here");
    const double values = std::ldexp(1, static_cast<int>(8 * info(dtype).size_bytes));
    for (std::size_t i = 1; i < kInputFamilies.size(); ++i) {
      CAPTURE(kInputFamilies[i]);
      FamilyRule rule{};
      rule.family = static_cast<InputFamily>(i);
      rule.dtype = dtype;
      rule.seed = 9;
      rule.elements = 24000;
      rule.row = 60;
      rule.lines = 40;
      rule.scale = 1;
      // -infinity is nothing for a tensor that has no negative values.
      rule.nonnegative = i % 2 == 0 && dtype == DType::f32 && rule.family != InputFamily::bottom;
      if (!info(dtype).is_float) {
        rule.least = info(dtype).is_signed ? -values / 2 : 0;
        rule.greatest = rule.least + values - 1;
        rule.holds_zero = rule.holds_all = true;
      }
      if (!applies(rule)) continue;
      for (rule.form = 0; rule.form < portable::structure_forms(rule); ++rule.form) {
        CAPTURE(rule.form);
        rule.odd = kNoElement;
        Tensor expected = declared;
        apply_family(expected, rule);
        CHECK(expected.bytes != declared.bytes);
        CHECK(bench().inout(declared.bytes).scalar(rule).run("harness_family", 2)[0] ==
              expected.bytes);
        if (!is_structure(rule.family)) continue;
        rule.odd = portable::odd_element(rule, 7);
        REQUIRE(rule.odd < rule.elements);
        Tensor but_for_one = declared;
        apply_family(but_for_one, rule);
        CHECK(bench().inout(declared.bytes).scalar(rule).run("harness_family", 2)[0] ==
              but_for_one.bytes);
        // Ones, and places from 0, stand in for one of the tensor's values and places from
        // anywhere.
        const bool is_float = info(dtype).is_float;
        if ((rule.family == InputFamily::one_value && rule.form == 0 && is_float) ||
            (rule.family == InputFamily::identity && !is_float))
          continue;
        for (std::int64_t k = 0; k < expected.elements(); ++k) {
          const bool same =
              std::memcmp(&but_for_one.bytes[static_cast<std::size_t>(k) * info(dtype).size_bytes],
                          &expected.bytes[static_cast<std::size_t>(k) * info(dtype).size_bytes],
                          info(dtype).size_bytes) == 0;
          if (same == (static_cast<std::uint64_t>(k) == rule.odd)) FAIL_CHECK("element " << k);
        }
      }
    }
  }
}

TEST_CASE("nudged values have the host's bits and differ in their last places only") {
  for (const DType dtype : {DType::f64, DType::f32, DType::f16, DType::bf16}) {
    const Tensor declared = fill_tensor(InitRule{}, 5, dtype, {700}, {}, nullptr, "here");
    for (const std::uint64_t seed : {0, 3}) {
      Tensor expected = declared;
      nudge(expected, seed);
      CHECK(bench()
                .inout(declared.bytes)
                .scalar(std::uint64_t{700})
                .scalar(dtype)
                .scalar(seed)
                .run("harness_nudge", 2)[0] == expected.bytes);
      int up = 0;
      for (std::int64_t i = 0; i < 700; ++i) {
        const double step = std::abs(expected.at(i) - declared.at(i)) / std::abs(declared.at(i));
        CHECK(step > 0);
        CHECK(step <= 2 * portable::nudge_step(dtype));
        up += expected.at(i) > declared.at(i) ? 1 : 0;
      }
      CHECK((seed == 0 ? up == 700 : up > 280 && up < 420));
    }
  }
}

TEST_CASE("poison is NaN for real types, and two seeds of a pair differ in every element") {
  for (const DTypeInfo& type : kDTypes) {
    CAPTURE(type.name);
    Tensor first = make_tensor(type.dtype, {301}), second = first;
    const auto poison = [&](Tensor& tensor, std::uint64_t seed) {
      tensor.bytes = bench()
                         .out(tensor.bytes.size())
                         .scalar(std::uint64_t{301})
                         .scalar(type.dtype)
                         .scalar(seed)
                         .run("harness_poison", 2)[0];
    };
    poison(first, 12);
    poison(second, 13);
    for (std::int64_t i = 0; i < 301; ++i) {
      if (type.is_float) CHECK((std::isnan(first.at(i)) && std::isnan(second.at(i))));
      const std::size_t at = static_cast<std::size_t>(i) * type.size_bytes;
      CHECK(std::memcmp(first.bytes.data() + at, second.bytes.data() + at, type.size_bytes) != 0);
    }
  }
}

TEST_CASE("masking twice restores, once leaves noise") {
  const Tensor zeros = make_tensor(DType::u8, {1003});
  const auto masked = [&](const std::vector<std::byte>& bytes) {
    return bench()
        .inout(bytes)
        .scalar(std::uint64_t{bytes.size()})
        .scalar(kKey)
        .run("harness_mask", 3)[0];
  };
  const auto once = masked(zeros.bytes);
  CHECK(std::count(once.begin(), once.end(), std::byte{0}) < 20);
  CHECK(masked(once) == zeros.bytes);
}

TEST_CASE("a comparison on the device gives the host's verdict for every pair of types") {
  for (const DTypeInfo& output : kDTypes) {
    for (const DType wider :
         {output.dtype, output.is_float ? DType::f64 : DType::i64, DType::f32}) {
      for (const bool exact : {false, true}) {
        CAPTURE(output.name);
        CAPTURE(info(wider).name);
        CAPTURE(exact);
        const Tensor reference = harness_test::special_values(wider, 1030, 4);
        const Tensor out = harness_test::with_errors(reference, output.dtype, 5);
        const Tolerance tolerance{.atol = 1e-6, .rtol = 1e-2, .norm = 0.1, .exact = exact};
        check_equal(bench().compare(out, reference, tolerance, kKey),
                    compare(out, reference, tolerance));
      }
    }
  }
}

TEST_CASE("equal buffers pass, one differing element of any class does not") {
  const Tensor reference = harness_test::special_values(DType::f32, 517, 8);
  for (const Tolerance& tolerance : {Tolerance{}, Tolerance{.exact = true}}) {
    check_equal(bench().compare(reference, reference, tolerance, kKey),
                compare(reference, reference, tolerance));
    CHECK(bench().compare(reference, reference, tolerance, kKey).passed);
    for (const double value : {std::nan(""), HUGE_VAL, -HUGE_VAL, 1e9}) {
      Tensor out = reference;
      out.set(516, value);
      const Comparison verdict = bench().compare(out, reference, tolerance, kKey);
      CHECK_FALSE(verdict.passed);
      CHECK(verdict.worst_index == 516);
      check_equal(verdict, compare(out, reference, tolerance));
    }
  }
  const Tensor nothing = make_tensor(DType::f32, {0});
  CHECK(bench().compare(nothing, nothing, {}, {}, 1).passed);
}

TEST_CASE(
    "the order of blocks does not change a record; a record of another launch is no verdict") {
  const Tensor reference = harness_test::special_values(DType::f64, 2000, 1);
  const Tensor out = harness_test::with_errors(reference, DType::f32, 2);
  CHECK(bench().compare(out, reference, {}, kKey).detail ==
        bench().compare(out, reference, {}, MaskKey{1, 2}).detail);
  DeviceComparison record{};
  record.nonce = 3;
  record.elements = 4;
  record.worst_index = 0;
  CHECK(finish(record, {}, std::vector<std::int64_t>{4}, 3).passed);
  CHECK_FALSE(finish(record, {}, std::vector<std::int64_t>{4}, 2).passed);
  CHECK_FALSE(finish(record, {}, std::vector<std::int64_t>{5}, 3).passed);
}

TEST_CASE("a digest depends on every byte, its place and the length, not on the launch") {
  const Tensor data = fill_tensor(InitRule{}, 3, DType::u8, {1013}, {}, nullptr, "here");
  const auto key = [](const DeviceDigest& digest) { return std::pair(digest.low, digest.high); };
  const auto first = key(bench().digest(data.bytes, 7, 1));
  CHECK(key(bench().digest(data.bytes, 7, 3)) == first);
  CHECK(key(bench().digest(data.bytes, 8, 3)) != first);
  CHECK(bench().digest(data.bytes, 7, 1).nonce == 5);
  for (const std::size_t at : {0, 500, 1007, 1012}) {
    auto changed = data.bytes;
    changed[at] ^= std::byte{1};
    CHECK(key(bench().digest(changed, 7, 2)) != first);
  }
  auto swapped = data.bytes;
  std::swap_ranges(swapped.begin(), swapped.begin() + 16, swapped.begin() + 16);
  CHECK(key(bench().digest(swapped, 7, 2)) != first);
  std::vector<std::byte> zeros(32), longer(33);
  CHECK(key(bench().digest(zeros, 7, 1)) != key(bench().digest(longer, 7, 1)));
}

TEST_CASE("a guard zone tells how many bytes changed and where the first is") {
  for (const std::size_t size : {std::size_t{8}, std::size_t{1000}, std::size_t{4101}}) {
    auto zone = bench()
                    .out(size)
                    .scalar(std::uint64_t{size})
                    .scalar(std::uint64_t{21})
                    .run("harness_guard_fill", 2)[0];
    CHECK(bench().guard_check(zone, 21).changed == 0);
    CHECK(bench().guard_check(zone, 22).changed > size / 2);
    zone[size - 1] ^= std::byte{0x80};
    zone[size / 2] ^= std::byte{1};
    const DeviceGuard guard = bench().guard_check(zone, 21);
    CHECK(guard.changed == 2);
    CHECK(guard.first_offset == size / 2);
    CHECK(guard.nonce == 5);
  }
}

/// What another kernel might do to an element that is not its own.
template <class T>
std::vector<std::pair<std::string, T (*)(T, T)>> changes_in_place() {
  std::vector<std::pair<std::string, T (*)(T, T)>> out{
      {"store", [](T, T x) { return x; }},
      {"add", [](T a, T x) { return static_cast<T>(a + x); }},
      {"subtract", [](T a, T x) { return static_cast<T>(a - x); }},
      {"minimum", [](T a, T x) { return a < x ? a : x; }},
      {"maximum", [](T a, T x) { return a > x ? a : x; }},
  };
  if constexpr (std::is_integral_v<T>) {
    out.push_back({"and", [](T a, T x) { return static_cast<T>(a & x); }});
    out.push_back({"or", [](T a, T x) { return static_cast<T>(a | x); }});
    out.push_back({"xor", [](T a, T x) { return static_cast<T>(a ^ x); }});
  }
  return out;
}

template <class T>
void check_every_change_is_seen() {
  std::vector<T> operands{T{1}, T{2}, T{7}, T{100}};
  if constexpr (std::is_signed_v<T>) operands.insert(operands.end(), {T(-1), T(-3), T(-100)});
  if constexpr (std::is_floating_point_v<T>)
    operands.insert(operands.end(), {T(1e-30), T(-1e-30), T(0.1), T(-0.1), T(1e30), T(-1e30)});
  for (const auto& [name, change] : changes_in_place<T>()) {
    for (const T x : operands) {
      CAPTURE(name);
      CAPTURE(x);
      if (name == "and" && x == static_cast<T>(-1)) continue;  // changes nothing anywhere
      bool seen = false;
      for (portable::Word kind = 0; kind < portable::kConstantGuards; ++kind) {
        const portable::Word pattern = portable::guard_word(kind, 3);
        T before;
        std::memcpy(&before, &pattern, sizeof before);
        const T after = change(before, x);
        seen = seen || std::memcmp(&before, &after, sizeof before) != 0;
      }
      CHECK(seen);
    }
  }
}

TEST_CASE(
    "whatever is added to, masked in or compared with memory outside a tensor, one guard pattern "
    "shows it") {
  check_every_change_is_seen<std::int8_t>();
  check_every_change_is_seen<std::uint8_t>();
  check_every_change_is_seen<std::int16_t>();
  check_every_change_is_seen<std::uint16_t>();
  check_every_change_is_seen<std::int32_t>();
  check_every_change_is_seen<std::uint32_t>();
  check_every_change_is_seen<std::int64_t>();
  check_every_change_is_seen<std::uint64_t>();
  check_every_change_is_seen<float>();
  check_every_change_is_seen<double>();
  for (portable::Word seed = 0; seed < portable::kConstantGuards; ++seed) {
    const auto zone = bench()
                          .out(1000)
                          .scalar(std::uint64_t{1000})
                          .scalar(std::uint64_t{seed})
                          .run("harness_guard_fill", 2)[0];
    CHECK(bench().guard_check(zone, seed).changed == 0);
    CHECK(zone[17] == static_cast<std::byte>(portable::constant_guard(seed)));
  }
}

TEST_CASE("the canary leaves the answer known beforehand") {
  const auto got = bench()
                       .out(kCanaryWords * 8)
                       .scalar(std::uint64_t{17})
                       .run("harness_canary", kCanaryWords)[0];
  const auto expected = canary_answer(17);
  CHECK(std::memcmp(got.data(), expected.data(), got.size()) == 0);
  CHECK(canary_answer(18) != expected);
}

TEST_CASE("flushing writes the whole buffer; the residue kernels run") {
  const auto flushed = bench()
                           .out(4096)
                           .scalar(std::uint64_t{4096})
                           .scalar(std::uint32_t{0xabcd0000})
                           .run("harness_flush", 1)[0];
  CHECK(std::count(flushed.begin() + 3, flushed.end(), std::byte{0xab}) >= 1024);
  bench()
      .scalar(std::uint32_t{4096})
      .scalar(std::uint32_t{1})
      .run("harness_poison_shared", 2, 4096);
  bench().scalar(std::uint32_t{1}).run("harness_poison_local", 1);
}

TEST_SUITE_END();

TEST_SUITE_BEGIN("nvrtc_harness");

TEST_CASE("the harness compiles for each generation, with every kernel and no contraction") {
  for (const char* const arch : {"sm_80", "sm_90a"}) {
    const CompileResult result = cuda::compile(cuda_test::nvrtc(), {}, harness_request(arch), {});
    REQUIRE_MESSAGE(result.status == Status::ok, result.log);
    for (const std::string_view name : harness_kernels()) {
      CHECK(result.ptx.find(".visible .entry " + std::string(name) + "(") != std::string::npos);
    }
    CHECK(result.ptx.find("fma.rn.f64") == std::string::npos);
  }
}

TEST_SUITE_END();
