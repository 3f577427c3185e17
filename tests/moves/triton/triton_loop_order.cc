#include <doctest/doctest.h>

#include <string>

#include "tests/moves/triton/triton_case.h"

using namespace warpath;
using test::TritonCase;

namespace {

constexpr const char* kReversed = "triton_loop_order@loop:0(order=1)";
constexpr const char* kExchanged = "triton_loop_order@loop:0(order=2)";

/// Rows of x and y: [m, n], one a program, T columns at a time.
TritonCase rows(const std::string& body, const std::string& aliases = "") {
  return {
      "output: float32 y[m, n]\ninput: float32 x[m, n]\ninput: float32 w[n]\nscalar: int32 m = "
      "64\nscalar: int32 n = 4096\nscalar: int32 t = 32\nscalar: uint32 u = 64\ngrid: m\nblock: "
      "128\ntunable: T = 256 of 256, 512\n" +
          aliases,
      "(y, x, w, m, n, t, u, T: tl.constexpr):\n    row = tl.program_id(0)\n    s = "
      "tl.zeros((T,), dtype=tl.float32)\n    i = tl.arange(0, T)\n" +
          body};
}

constexpr const char* kStore = "    tl.store(y + row * n + i, s, mask=i < n)\n";

std::string line_of(const std::string& text, const std::string& part) {
  const std::size_t at = text.find(part);
  if (at == std::string::npos) return text;
  const std::size_t begin = text.rfind('\n', at) + 1;
  return text.substr(begin, text.find('\n', at) - begin);
}

/// The line with the loop after it was turned round; the reason where it is not.
std::string turned(const std::string& range) {
  return line_of(
      rows("    for k in " + range +
           ":\n        s += tl.load(x + row * n + k + i, mask=k + i < n, other=0.0)\n" + kStore)
          .after(kReversed),
      "for k");
}

/// Why the loop over columns with this body keeps its order; what it becomes where it does not.
std::string why(const std::string& body, const std::string& behind = kStore) {
  return line_of(rows("    for k in range(0, n, T):\n" + body + behind).after(kReversed), "for k");
}

}  // namespace

TEST_SUITE_BEGIN("triton_moves");

TEST_CASE("a loop is walked from its end, and back") {
  CHECK(turned("range(0, n, T)") == "    for k in range((tl.cdiv(n, T) - 1) * T, -1, -T):");
  CHECK(turned("range(row, n + 1, T)") ==
        "    for k in range(row + (tl.cdiv((n + 1) - row, T) - 1) * T, row - 1, -T):");
  CHECK(turned("tl.range(0, n, 64, num_stages=3)") ==
        "    for k in tl.range((tl.cdiv(n, 64) - 1) * 64, -1, -64, num_stages=3):");
  CHECK(turned("range(0, tl.cdiv(n, T))") == "    for k in range(tl.cdiv(n, T) - 1, -1, -1):");
  CHECK(turned("range(n)") == "    for k in range(n - 1, -1, -1):");
  CHECK(turned("range(1, n)") == "    for k in range(n - 1, 1 - 1, -1):");
  CHECK(turned("range(0, n, t)") == "its step is no positive constant");
  CHECK(turned("range(0, u, T)") == "its range is not followed");
  CHECK(turned("range(0, T, T)") == "it has one iteration");
  CHECK(turned("range(n, 0, -1)") == "its range is of another form");
  CHECK(turned("range(0, n, step=T)") == "its range is of another form");
  CHECK(turned("range(0, n,  # all\n        T)") == "its range is of another form");
  for (const char* const range : {"range(0, n, T)", "range(row, (n + 1), T)", "range(1, n)"}) {
    TritonCase one = rows("    for k in " + std::string(range) +
                          ":\n        s += tl.load(x + row * n + k + i)\n" + kStore);
    const std::string before = one.variant.source;
    CHECK(one.take(kReversed).variant.source != before);
    CHECK(one.take(kReversed).variant.source == before);
  }
}

TEST_CASE("masks go in a loop that is walked from its end") {
  TritonCase one = rows(
      "    for k in range(0, n, T):\n        s += tl.load(x + row * n + k + i, "
      "mask=k + i < n, other=0.0)\n" +
      std::string("    tl.store(y + row * n + i, s)\n"));
  const std::string after = one.take(kReversed).after("triton_mask_off@masks");
  CHECK(after.find("s += tl.load(x + row * n + k + i)\n") != std::string::npos);
  CHECK(after.find("tl.static_assert(((4096 + T - 1) // T - 1) * T + T - 1 < 4096)") !=
        std::string::npos);
}

TEST_CASE("iterations that hand on more than sums keep their order") {
  const std::string load = "        v = tl.load(x + row * n + k + i)\n", turns = "range((tl.cdiv";
  for (const char* const sum : {"s += v", "s -= v", "s = s + v", "s = v + s", "s = s - v",
                                "s = tl.maximum(s, v)", "s = tl.minimum(v, s)"})
    CHECK_MESSAGE(why(load + "        " + sum + "\n").find(turns) != std::string::npos, sum);
  for (const char* const other :
       {"s = v - s", "s *= v", "s = s * 0.5 + v", "s += v * s", "s = tl.maximum(s, v) + 1",
        "s = tl.maximum(s, s)", "s = tl.where(v > 0, v, s)"})
    CHECK_MESSAGE(why(load + "        " + other + "\n") == "s goes from one iteration to the next",
                  other);
  CHECK(why(load + "        s += v\n        s = tl.maximum(s, v)\n") ==
        "s goes from one iteration to the next");
  CHECK(why(load + "        s += v\n        r = s * 2\n") ==
        "s goes from one iteration to the next");
  CHECK(why("        s += tl.load(x)\n        x += T\n") ==
        "x goes from one iteration to the next");
  CHECK(why("        p = x + row * n + k\n        p += T\n        s += tl.load(p + i)\n")
            .find(turns) != std::string::npos);
  CHECK(why(load + "        if k > 0:\n            s += v\n") == "its body is not straight code");
  CHECK(why("        k = k + 1\n        s += k\n") == "its body changes k");
}

TEST_CASE("what the last iteration leaves behind keeps the order of a loop") {
  const std::string load = "        v = tl.load(x + row * n + k + i)\n        s += v\n",
                    turns = "range((tl.cdiv";
  CHECK(why(load, "    tl.store(y + row * n + i, s + v)\n") == "v is used behind it");
  CHECK(why(load, "    tl.store(y + row * n + i, s + k)\n") == "k is used behind it");
  CHECK(why(load, "    v = s\n    tl.store(y + row * n + i, v)\n").find(turns) !=
        std::string::npos);
  CHECK(why(load, "    if row > 3:\n        v = s\n    tl.store(y + row * n + i, v)\n") ==
        "v is used behind it");
  CHECK(why(load, "    v = v + 1\n    tl.store(y + row * n + i, s)\n") == "v is used behind it");
  CHECK(why(load,
            "    for k in range(0, n, T):\n        v = s + k\n        tl.store(y + row * n + k "
            "+ i, v)\n")
            .find(turns) != std::string::npos);
  CHECK(why(load,
            "    for j in range(0, n, T):\n        v = s + j\n    tl.store(y + row * n + i, "
            "v)\n") == "v is used behind it");
  // an outer loop comes back to what stands before it
  const auto inner = [](const std::string& first) {
    return rows("    v = s\n    for j in range(4):\n        " + first +
                "\n        for k in range(0, n, T):\n            v = tl.load(x + row * n + k + i)\n"
                "            s += v\n" +
                kStore)
        .after("triton_loop_order@loop:1(order=1)");
  };
  CHECK(inner("s += v") == "v is used behind it");
  CHECK(inner("v = tl.load(w + i)").find(turns) != std::string::npos);
}

TEST_CASE("a loop from its end stores each element in one iteration") {
  const std::string turns = "range((tl.cdiv";
  const auto stores = [](const std::string& address, const std::string& mask) {
    return why("        j = k + i\n        tl.store(" + address + ", 1.0" +
                   (mask.empty() ? "" : ", mask=" + mask) + ")\n",
               "");
  };
  CHECK(stores("y + row * n + k + i", "").find(turns) != std::string::npos);
  CHECK(stores("y + row * n + j", "j < n").find(turns) != std::string::npos);
  CHECK(stores("y + k", "").find(turns) != std::string::npos);
  CHECK(stores("y + k * T + i", "").find(turns) != std::string::npos);
  CHECK(stores("y + (k + i) * 8 + tl.arange(0, 8)", "").find(turns) != std::string::npos);
  CHECK(stores("y + k * 8 + tl.arange(0, 16)", "") ==
        "two iterations may store to the same element");
  for (const char* const address :
       {"y + i", "y + k + i * 2", "y + k + k + i", "y + k // 2 + i", "y + k + tl.arange(0, 1024)",
        "y + row * n + tl.load(w + j)", "y + j % 7"})
    CHECK_MESSAGE(stores(address, "") == "two iterations may store to the same element", address);
  // two axes: rows of n, the column below n
  const auto tile = [](const std::string& address, const std::string& mask) {
    return why(
        "        c = (k + i)[None, :]\n        r = (row + tl.arange(0, 4))[:, None]\n        "
        "tl.store(" +
            address + ", 1.0, mask=" + mask + ")\n",
        "");
  };
  CHECK(tile("y + r * n + c", "(r < m) & (c < n)").find(turns) != std::string::npos);
  CHECK(tile("y + r * n + c", "c < m").find(turns) != std::string::npos);
  CHECK(tile("y + r * m + c", "c < n") == "two iterations may store to the same element");
  CHECK(tile("y + r * n + c", "r < m") == "two iterations may store to the same element");
  CHECK(tile("y + r * n + c", "c - 1 < n") == "two iterations may store to the same element");
  CHECK(tile("y + r + c", "c < n") == "two iterations may store to the same element");
}

TEST_CASE("memory that a loop reads and writes keeps its order") {
  const std::string store = "        tl.store(y + row * n + k + i, tl.load(",
                    turns = "range((tl.cdiv";
  CHECK(why(store + "x + row * n + k + i))\n", "").find(turns) != std::string::npos);
  CHECK(why(store + "y + row * n + k + i))\n", "") == "the loop loads what it stores");
  CHECK(why(store + "x + i, volatile=True))\n", "") == "an access is volatile");
  CHECK(why("        tl.store(y + k + i, 1.0)\n        tl.store(y + n + k + i, 2.0)\n", "") ==
        "two iterations may store to the same element");
  CHECK(why("        tl.atomic_add(y + i, 1.0)\n") ==
        "the loop calls tl.atomic_add, which may reach memory");
  CHECK(why("        (y + i).atomic_add(1.0)\n") ==
        "the loop calls atomic_add, which may reach memory");
  CHECK(why("        y.atomic_add(1.0)\n") ==
        "the loop calls y.atomic_add, which may reach memory");
}

TEST_CASE("two loops are exchanged, with what stands between them") {
  TritonCase one = rows(
      "    for j in range(3):\n        # of w\n        p = w + j\n\n        for k in range(0, n, "
      "T):\n"
      "            s += tl.load(p + k + i)\n" +
      std::string(kStore));
  const std::string after = one.after(kExchanged);
  CHECK(after.find("    for k in range(0, n, T):\n        # of w\n        for j in range(3):\n"
                   "            p = w + j\n\n            s += tl.load(p + k + i)\n") !=
        std::string::npos);
  const auto loops = [](const std::string& between, const std::string& range,
                        const std::string& body) {
    return rows("    for j in range(3):\n" + between + "        for k in " + range + ":\n" + body +
                kStore)
        .after(kExchanged);
  };
  const std::string sums = "            s += tl.load(x + j * n + k + i)\n";
  CHECK(line_of(loops("", "range(0, n, T)", sums), "for k") == "    for k in range(0, n, T):");
  CHECK(loops("        s += 1.0\n", "range(0, n, T)", sums) == "a sum stands between them");
  CHECK(loops("        v = tl.load(w + j)\n", "range(0, n, T)", sums) ==
        "a load stands between them");
  CHECK(loops("", "range(j, n, T)", sums) == "the range of the inner loop depends on the outer");
  CHECK(loops("        e = n - j\n", "range(0, e, T)", sums) ==
        "the range of the inner loop depends on the outer");
  CHECK(loops("", "range(0, n, T)", sums + "        s += 1.0\n") ==
        "a line stands behind the loop in it");
  CHECK(loops("", "range(0, n, T)", "            tl.store(y + j * n + k + i, s)\n") == "it stores");
  CHECK(loops("        e = j\n", "range(0, n, T)",
              "            s += tl.load(x + e + k + i)\n            e = e + 1\n") ==
        "e goes from one iteration to the next");
  CHECK(
      rows("    for k in range(0, n, T):\n        s += tl.load(x + k + i)\n" + std::string(kStore))
          .after(kExchanged) == "no loop stands in it");
}

TEST_SUITE_END();
