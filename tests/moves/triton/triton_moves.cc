#include <doctest/doctest.h>

#include <string>

#include "engine/base/error.h"
#include "engine/spec/spec_load.h"
#include "tests/moves/triton/triton_case.h"

using namespace warpath;
using test::TritonCase;

namespace {

/// Doubles n numbers, T a program.
TritonCase doubled(std::int64_t n, const std::string& body) {
  return {"output: float32 y[n]\ninput: float32 x[n]\nscalar: int32 n = " + std::to_string(n) +
              "\ngrid: ceil_div(n, T)\nblock: 128\ntunable: T = 256 of 128, 256, 512\n",
          "(y, x, n, T: tl.constexpr):\n" + body};
}

constexpr const char* kTwice =
    "    i = tl.program_id(0) * T + tl.arange(0, T)\n    v = tl.load(x + i, mask=i < n, "
    "other=0.0)\n    tl.store(y + i, 2 * v, mask=i < n)\n";

/// Sums the rows of x: [m, n].
TritonCase row_sums(const std::string& loop) {
  return {
      "output: float32 y[m]\ninput: float32 x[m, n]\nscalar: int32 m = 64\nscalar: int32 n = "
      "4096\ngrid: m\nblock: 128\ntunable: T = 256 of 256, 512\n",
      "(y, x, m, n, T: tl.constexpr):\n    row = tl.program_id(0)\n    s = tl.zeros((T,), "
      "dtype=tl.float32)\n    i = tl.arange(0, T)\n" +
          loop + "    tl.store(y + row, tl.sum(s, axis=0))\n"};
}

constexpr const char* kLoop =
    "    for k in range(0, n, T):\n        s += tl.load(x + row * n + k + i)\n";

/// c = a * b in tiles of 64 and T, the tile chosen by `tile`.
TritonCase product(const std::string& grid, const std::string& tile) {
  return {
      "output: float16 c[m, n]\ninput: float16 a[m, d]\ninput: float16 b[d, n]\nscalar: int32 m = "
      "1024\nscalar: int32 n = 1024\nscalar: int32 d = 64\ngrid: " +
          grid + "\nblock: 128\ntunable: T = 64 of 32, 64\n",
      "(c, a, b, m, n, d, T: tl.constexpr):\n" + tile +
          "    r = row * 64 + tl.arange(0, 64)\n    q = column * T + tl.arange(0, T)\n    k = "
          "tl.arange(0, 64)\n    left = tl.load(a + r[:, None] * d + k[None, :])\n    right = "
          "tl.load(b + k[:, None] * n + q[None, :])\n    tl.store(c + r[:, None] * n + q[None, "
          ":], tl.dot(left, right).to(tl.float16), mask=(r[:, None] < m) & (q[None, :] < n))\n"};
}

constexpr const char* kTwoAxes = "    row = tl.program_id(1)\n    column = tl.program_id(0)\n";
constexpr const char* kOneAxis =
    "    p = tl.program_id(0)\n    w = tl.cdiv(n, T)\n    row = p // w\n    column = p % w\n";
constexpr const char* kGridOfTwo = "ceil_div(n, T); ceil_div(m, 64)";
constexpr const char* kGridOfOne = "ceil_div(m, 64) * ceil_div(n, T)";

bool has(const std::string& text, const std::string& part) {
  return text.find(part) != std::string::npos;
}

}  // namespace

TEST_SUITE_BEGIN("triton_moves");

TEST_CASE("a tensor whose elements a program touches once gets a cache hint") {
  const TritonCase one = doubled(1000, kTwice);
  CHECK(one.offered("triton_cache_policy") ==
        "@argument:y(policy=1) @argument:y(policy=2) @argument:y(policy=3) "
        "@argument:x(policy=1) @argument:x(policy=2)");
  CHECK(has(one.after("triton_cache_policy@argument:x(policy=1)"),
            "tl.load(x + i, mask=i < n, other=0.0, eviction_policy=\"evict_first\")"));
  CHECK(has(one.after("triton_cache_policy@argument:y(policy=3)"),
            "tl.store(y + i, 2 * v, mask=i < n, cache_modifier=\".cs\")"));
  CHECK(one.after("triton_cache_policy@argument:x(policy=3)") == "loads have no such hint");
  CHECK(one.after("triton_cache_policy@argument:n(policy=1)") == "no access at argument:n");
}

TEST_CASE("a cache hint takes the place of another, and says when it is there already") {
  TritonCase one = doubled(1000, kTwice);
  one.take("triton_cache_policy@argument:x(policy=1)");
  CHECK(one.after("triton_cache_policy@argument:x(policy=1)") == "the accesses have that hint");
  CHECK(has(one.after("triton_cache_policy@argument:x(policy=2)"),
            "tl.load(x + i, mask=i < n, other=0.0, cache_modifier=\".cg\")"));
  CHECK(one.offered("triton_cache_policy").find("x(policy=1)") == std::string::npos);
}

TEST_CASE("no hint is given to data that a program may touch again") {
  const auto why = [](const std::string& body) {
    return doubled(1000, body).after("triton_cache_policy@argument:x(policy=1)");
  };
  const std::string index = "    i = tl.program_id(0) * T + tl.arange(0, T)\n";
  const std::string store = "    tl.store(y + i, v)\n";
  CHECK(why(index + "    v = tl.load(x + i) + tl.load(x + i + 1)\n" + store) ==
        "the kernel touches it more than once");
  CHECK(why(index + "    v = tl.load(x + n)\n" + store) == "an access is of one element a program");
  CHECK(why(index + "    v = 0.0\n    for j in range(3):\n        v += tl.load(x + i)\n" + store) ==
        "a loop may touch the same elements again");
  CHECK(why(index + "    v = 0.0\n    while n > 0:\n        v += tl.load(x + i)\n" + store) ==
        "a loop may touch the same elements again");
  CHECK(why(index + "    v = tl.load(x + i, volatile=True)\n" + store) == "an access is volatile");
  CHECK(why(index +
            "    q = x + i\n    v = 0.0\n    for j in range(3):\n        v += "
            "tl.load(q)\n        q += T\n" +
            store)
            .find("tl.load(q, eviction_policy=\"evict_first\")") != std::string::npos);
  CHECK(why(index + "    q = x if n > 3 else y\n    v = tl.load(q + i)\n" + store) ==
        "an access is of an unknown tensor");
}

TEST_CASE("masks go where the grid and the tiles divide what they cover") {
  const TritonCase one = doubled(1024, kTwice);
  CHECK(one.offered("triton_mask_off") == "@masks");
  CHECK(one.after("triton_mask_off@masks") ==
        "(y, x, n, T: tl.constexpr):\n    tl.static_assert(((1024 + T - 1) // T - 1) * T + T - 1 < "
        "1024)\n    i = tl.program_id(0) * T + tl.arange(0, T)\n    v = tl.load(x + i)\n    "
        "tl.store(y + i, 2 * v)\n");
  CHECK(doubled(1000, kTwice).after("triton_mask_off@masks") ==
        "no mask is known to hold everywhere");
}

TEST_CASE("a mask with a tunable that divides no longer is an assertion that fails") {
  TritonCase one = doubled(1280, kTwice);
  one.take("triton_mask_off@masks").take("set_tunable@tunable:T(value=512)");
  // 1280 is no multiple of 512: the kernel does not compile
  CHECK(has(one.variant.source, "tl.static_assert(((1280 + T - 1) // T - 1) * T + T - 1 < 1280)"));
  CHECK(one.variant.tunables.at("T") == 512);
}

TEST_CASE("masks that rest on no tunable need no assertion") {
  const TritonCase one = {
      "output: float32 y[n]\nscalar: int32 n = 1024\ngrid: n / 256\nblock: 128\n",
      "(y, n):\n    i = tl.program_id(0) * 256 + tl.arange(0, 256)\n    "
      "tl.store(y + i, 1.0, mask=i < n)\n"};
  CHECK(has(one.after("triton_mask_off@masks"), "    tl.store(y + i, 1.0)\n"));
  CHECK_FALSE(has(one.after("triton_mask_off@masks"), "static_assert"));
}

TEST_CASE("of several conditions those stay that are not known to hold") {
  TritonCase one = row_sums(
      "    for k in range(0, n, T):\n        s += tl.load(x + row * n + k + i, (k + i < n) & (row "
      "< "
      "m - 1), 0.0)\n");
  CHECK(
      has(one.after("triton_mask_off@masks"), "tl.load(x + row * n + k + i, (row < m - 1), 0.0)"));
  const TritonCase named = row_sums(
      "    inside = (i < T) & (row < m - 1)\n    s += tl.load(x + row * n + i, mask=inside)\n");
  CHECK(named.after("triton_mask_off@masks") == "no mask is known to hold everywhere");
}

TEST_CASE("a mask whose names may have other values stays") {
  const std::string index = "    i = tl.program_id(0) * T + tl.arange(0, T)\n";
  for (const std::string& body : {index + "    i += 1\n    tl.store(y + i, 1.0, mask=i < n)\n",
                                  index + "    n = n - 1\n    tl.store(y + i, 1.0, mask=i < n)\n",
                                  index + "    tl.store(y + i, 1.0, mask=tl.load(x + i) < n)\n",
                                  index + "    tl.store(y + i, 1.0, mask=i + 1 < n)\n",
                                  index + "    tl.store(y + i, 1.0, mask=i != n)\n"})
    CHECK_MESSAGE(
        doubled(1024, body).after("triton_mask_off@masks") == "no mask is known to hold everywhere",
        body);
  const TritonCase noted =
      doubled(1024, index + "    tl.store(y + i, 1.0,  # the value\n             mask=i < n)\n");
  CHECK(noted.after("triton_mask_off@masks") == "a comment stands in a mask");
}

TEST_CASE("a condition holds in any shape") {
  const TritonCase one =
      doubled(1024,
              "    i = tl.program_id(0) * T + tl.arange(0, T)\n    tl.store(y + i[None, :], 1.0, "
              "mask=(i < n)[None, :] & (n > 0))\n");
  CHECK(has(one.after("triton_mask_off@masks"), "tl.store(y + i[None, :], 1.0)"));
}

TEST_CASE("a mask that gives what is loaded its shape stays") {
  const std::string index = "    i = tl.program_id(0) * T + tl.arange(0, T)\n";
  const auto after = [&](const std::string& load) {
    return doubled(1024, index + load + "    tl.store(y + i, tl.sum(v, axis=0))\n")
        .after("triton_mask_off@masks");
  };
  const char* const none = "no mask is known to hold everywhere";
  CHECK(
      after("    r = tl.arange(0, 8)\n    v = tl.load(x + i[None, :], (r[:, None] < 8) & (i[None, "
            ":] < n), 0.0)\n") == none);
  CHECK(after("    v = tl.load(x + i[None, :], mask=i[None, :] < n, other=tl.zeros((8, T), "
              "tl.float32))\n") == none);
  CHECK(has(after("    r = tl.arange(0, 8)\n    v = tl.load(x + i[None, :] + r[:, None] * 0, (r[:, "
                  "None] < 8) & (i[None, :] < n), 0.0)\n"),
            "tl.load(x + i[None, :] + r[:, None] * 0)"));
  // a store writes the same elements, once or several times
  const TritonCase one = doubled(
      1024, index + "    tl.store(y + i[None, :], 1.0, mask=tl.arange(0, 8)[:, None] < 8)\n");
  CHECK(has(one.after("triton_mask_off@masks"), "tl.store(y + i[None, :], 1.0)"));
}

TEST_CASE("a mask stays where dropping it would move what stands behind it") {
  CHECK(doubled(1024,
                "    i = tl.program_id(0) * T + tl.arange(0, T)\n    tl.store(y + i, 1.0, i < n, "
                "None)\n")
            .after("triton_mask_off@masks") == "no mask is known to hold everywhere");
}

TEST_CASE("a mask holds for every size of the workloads or stays") {
  TritonCase one = doubled(1024, kTwice);
  one.spec.workloads.push_back(one.spec.workloads.front());
  one.spec.workloads.back().name = "other";
  one.spec.workloads.back().scalars["n"] = std::int64_t{2048};
  const std::string both = one.after("triton_mask_off@masks");
  CHECK(has(both, "(1024 + T - 1)"));
  CHECK(one.offered("triton_mask_off") == "@masks");
  // versions: the kernel without masks for one size, the general one for the other
  one.spec.workloads.back().scalars["n"] = std::int64_t{2000};
  one.take("triton_mask_off@masks");
  REQUIRE(one.variant.versions.size() == 2);
  CHECK_FALSE(has(one.variant.source, "mask"));
  CHECK(has(one.variant.versions.back().source, "mask"));
}

TEST_CASE("the loads of a loop are put in flight, and taken back") {
  TritonCase one = row_sums(kLoop);
  CHECK(one.offered("triton_loop_stages") ==
        "@loop:0(num_stages=3) @loop:0(num_stages=2) @loop:0(num_stages=4)");
  CHECK(has(one.after("triton_loop_stages@loop:0(num_stages=3)"),
            "for k in tl.range(0, n, T, num_stages=3):"));
  one.take("triton_loop_stages@loop:0(num_stages=3)");
  CHECK(one.offered("triton_loop_stages") == "@loop:0(num_stages=2) @loop:0(num_stages=4)");
  CHECK(has(one.after("triton_loop_stages@loop:0(num_stages=4)"), "T, num_stages=4):"));
  CHECK(has(one.after("triton_loop_stages@loop:0(num_stages=0)"), "in tl.range(0, n, T):"));
}

TEST_CASE("the same steps in another order give the same text") {
  const char* const steps[] = {"triton_loop_stages@loop:0(num_stages=2)",
                               "triton_loop_unroll@loop:0(loop_unroll_factor=4)",
                               "triton_cache_policy@argument:x(policy=1)"};
  TritonCase forth = row_sums(kLoop), back = row_sums(kLoop);
  forth.take(steps[0]).take(steps[1]).take(steps[2]);
  back.take(steps[2]).take(steps[1]).take(steps[0]);
  CHECK(has(forth.variant.source, "tl.range(0, n, T, num_stages=2, loop_unroll_factor=4)"));
  CHECK(forth.variant.source == back.variant.source);
  for (const auto& [grid, tile] : {std::pair{kGridOfTwo, kTwoAxes}, {kGridOfOne, kOneAxis}}) {
    TritonCase order = product(grid, tile), mask = product(grid, tile);
    order.take("triton_program_order(group=4)").take("triton_mask_off@masks");
    mask.take("triton_mask_off@masks").take("triton_program_order(group=4)");
    CHECK(has(order.variant.source, "swizzle2d"));
    CHECK_FALSE(has(order.variant.source, "mask"));
    CHECK(order.variant.source == mask.variant.source);
  }
}

TEST_CASE("a loop that may load what it stores, or calls what is not followed, keeps its order") {
  const auto why = [](const std::string& body) {
    return doubled(1024, "    i = tl.arange(0, T)\n" + body)
        .after("triton_loop_stages@loop:0(num_stages=2)");
  };
  CHECK(why("    for k in range(4):\n        tl.store(x + i, tl.load(x + i) + 1)\n") ==
        "the loop loads what it stores");
  CHECK(why("    for k in range(4):\n        v = tl.load(x + i)\n        f(v)\n") ==
        "the loop calls f, which may reach memory");
  CHECK(why("    for k in range(4):\n        v = tl.load(x + i)\n        tl.atomic_add(y + i, "
            "v)\n") == "the loop calls tl.atomic_add, which may reach memory");
  CHECK(why("    for k in range(4):\n        v = tl.load(x + i)\n        tl.debug_barrier()\n") ==
        "the loop calls tl.debug_barrier, which may reach memory");
  CHECK(why("    for k in range(4):\n        i += 1\n") == "the loop loads nothing");
  CHECK(
      why("    for k in range(4):\n        for j in range(4):\n            v = tl.load(x + i)\n") ==
      "a loop stands in it");
  CHECK(why("    for k in range(4):\n        v = tl.load(x + i) if n > 1 else i\n") ==
        "a line of the loop is not read");
  CHECK(why("    for k in tl.range(4, num_stages=T):\n        v = tl.load(x + i)\n") ==
        "num_stages is no number there");
  TritonCase aliased = doubled(
      1024,
      "    i = tl.arange(0, T)\n    for k in range(4):\n        tl.store(y + i, tl.load(x + i))\n");
  CHECK(aliased.offered("triton_loop_stages") != "");
  aliased.spec.io.may_alias = {{"x", "y"}};
  CHECK(aliased.offered("triton_loop_stages").empty());
}

TEST_CASE("an innermost loop is unrolled by the compiler") {
  const TritonCase one = row_sums(kLoop);
  CHECK(one.offered("triton_loop_unroll") ==
        "@loop:0(loop_unroll_factor=2) @loop:0(loop_unroll_factor=4)");
  CHECK(has(one.after("triton_loop_unroll@loop:0(loop_unroll_factor=8)"),
            "tl.range(0, n, T, loop_unroll_factor=8)"));
  CHECK(one.after("triton_loop_unroll@loop:1(loop_unroll_factor=2)") ==
        "no loop over range() at loop:1");
  CHECK(row_sums("    for k in tl.static_range(4):\n        s += k\n")
            .offered("triton_loop_unroll")
            .empty());
}

TEST_CASE("programs of two axes are walked in groups of rows") {
  TritonCase one = product(kGridOfTwo, kTwoAxes);
  CHECK(one.offered("triton_program_order") == "(group=8) (group=4) (group=16) (group=2)");
  CHECK(has(one.after("triton_program_order(group=8)"),
            "    program_row, program_column = tl.swizzle2d(tl.program_id(1), tl.program_id(0), "
            "tl.num_programs(1), tl.num_programs(0), 8)\n    row = program_row\n    column = "
            "program_column\n"));
  one.take("triton_program_order(group=8)");
  CHECK(one.offered("triton_program_order") == "(group=4) (group=16) (group=2)");
  CHECK(has(one.after("triton_program_order(group=2)"), "tl.num_programs(0), 2)"));
}

TEST_CASE("programs of one axis are, where the kernel divides them into the grid's rows") {
  const TritonCase one = product(kGridOfOne, kOneAxis);
  CHECK(
      has(one.after("triton_program_order(group=4)"),
          "    p = tl.program_id(0)\n    w = tl.cdiv(n, T)\n    row, column = tl.swizzle2d(p // w, "
          "p % w, tl.num_programs(0) // w, w, 4)\n    r = "));
  const auto why = [](const std::string& grid, const std::string& tile) {
    return product(grid, tile).after("triton_program_order(group=4)");
  };
  CHECK(why("ceil_div(m * n, 64 * T)", kOneAxis) == "the grid is not rows of w programs");
  CHECK(why("ceil_div(m, 64) * ceil_div(n, T)",
            "    p = tl.program_id(0)\n    w = tl.cdiv(m, T)\n    row = p // w\n    column = p % "
            "w\n") == "the grid is not rows of w programs");
  CHECK(why(kGridOfOne, std::string(kOneAxis) + "    z = p + 1\n") ==
        "the program's index is used otherwise");
  CHECK(why(kGridOfOne,
            "    p = tl.program_id(0)\n    w = tl.cdiv(n, T)\n    row = p // w\n    w2 = w\n    "
            "column = p % w\n") == "the tile's row and column stand apart");
}

TEST_CASE("programs that share nothing, or have an order already, keep theirs") {
  const std::string index =
      "    i = (tl.program_id(1) * tl.num_programs(0) + tl.program_id(0)) * T + tl.arange(0, T)\n";
  const auto why = [](const std::string& body) {
    return doubled(1024, body).after("triton_program_order(group=4)");
  };
  CHECK(why(kTwice) == "the programs are no matrix of tiles");
  CHECK(why(index + "    tl.store(y + i, tl.load(x + i))\n") ==
        "the kernel has an order of programs of its own");
  CHECK(why("    i = (tl.program_id(1) * 4 + tl.program_id(0)) * T + tl.arange(0, T)\n    "
            "tl.store(y + i, tl.load(x + i))\n") == "programs share no operands");
  CHECK(why("    i = tl.program_id(n) + tl.arange(0, T)\n    tl.store(y + i, 1.0)\n") ==
        "program_id stands where it is not read");
}

TEST_CASE("programs that may wait for each other keep their order") {
  const auto offered = [](const std::string& lines) {
    return !product(kGridOfTwo, kTwoAxes + lines).offered("triton_program_order").empty();
  };
  CHECK_FALSE(offered("    while tl.atomic_add(b, 0) < row:\n        pass\n"));
  CHECK_FALSE(
      offered("    z = tl.load(b)\n    while z < row:\n        z = tl.load(b, "
              "volatile=True)\n"));
  CHECK_FALSE(offered("    z = 0\n    while z if z else row:\n        z += 1\n"));
  CHECK(
      offered("    z = tl.load(b)\n    while z < row:\n        tl.load(b + z)\n        z += 1\n"));
}

TEST_CASE("calls of odd forms are survived") {
  const char* const moves[] = {"triton_cache_policy", "triton_loop_stages", "triton_loop_unroll",
                               "triton_mask_off", "triton_program_order"};
  for (const char* const line :
       {"tl.load()", "tl.store()", "tl.load(mask=n)", "tl.load(other=x, mask=i < n)",
        "for k in range():\n        tl.load(x)",
        "for k in tl.range(num_stages=2):\n        tl.load(x)", "tl.swizzle2d()",
        "tl.swizzle2d(1, 2, 3, 4, 8)", "p = tl.program_id()\n    q = p // 4\n    r = p % 4",
        "tl.load(x + tl.load(x + i, mask=i < n), mask=(i < n) & (tl.load(x + i, mask=i < n) < 3), "
        "other=tl.load(y, i < n))"}) {
    CAPTURE(line);
    const TritonCase one = doubled(
        1024, std::string("    i = tl.program_id(0) * T + tl.arange(0, T)\n    ") + line + "\n");
    for (const char* const move : moves) static_cast<void>(one.offered(move));
  }
  const TritonCase nested = doubled(
      1024,
      "    i = tl.program_id(0) * T + tl.arange(0, T)\n    tl.store(y + tl.load(x + i, mask=i < "
      "n), 1.0, mask=(i < n) & (tl.load(x + i, mask=i < n) < 3))\n");
  CHECK(has(nested.after("triton_mask_off@masks"),
            "tl.store(y + tl.load(x + i), 1.0, mask=(i < n) & (tl.load(x + i) < 3))"));
}

TEST_CASE("texts that are not read are left alone, with a reason") {
  const auto why = [](const std::string& body) {
    return doubled(1024, body).after("triton_mask_off@masks");
  };
  CHECK(why("    pass\n\tpass\n") ==
        "the text is not read: it has tabs, carriage returns or form feeds");
  CHECK(why("    with a:\n        pass\n") == "a line of the kernel is not read: with a:");
  CHECK(why("    if (i := 3):\n        pass\n") ==
        "a line of the kernel is not read: if (i := 3):");
  TritonCase other = doubled(1024, kTwice);
  other.spec.io.args.pop_back();
  CHECK(other.after("triton_mask_off@masks") ==
        "the kernel's parameters are not the spec's arguments");
  other = doubled(1024, kTwice);
  other.variant.kernel_name = "j";
  CHECK(other.after("triton_mask_off@masks") == "the text does not define j once");
  other = doubled(1024, kTwice);
  other.variant.source = "import triton\ndef k(y, x, n):\n    pass\n";
  std::string why_not;
  CHECK_FALSE(
      registered_moves()
          .create("test", "triton_mask_off")
          ->apply(other.context(), MoveInstance::parse("triton_mask_off@masks", ""), why_not));
  CHECK(why_not == "the text has no `import triton.language as NAME`");
}

TEST_CASE("moves on Triton are silent on CUDA C++, all others but set_tunable on Triton") {
  const KernelSpec cuda =
      load_specs(std::string(WARPATH_SOURCE_ROOT) + "/specs/softmax_scaled.json").front();
  const TritonCase triton = product(kGridOfTwo, kTwoAxes);
  const Variant variant = baseline_variant(cuda);
  for (const auto& [name, entry] : registered_moves().entries()) {
    CAPTURE(name);
    const auto move = entry.make();
    const bool on_triton = name.starts_with("triton_");
    if (on_triton) CHECK(move->enumerate({cuda, variant, triton.device}).empty());
    if (!on_triton && move->reads_source()) CHECK(move->enumerate(triton.context()).empty());
  }
}

TEST_SUITE_END();
