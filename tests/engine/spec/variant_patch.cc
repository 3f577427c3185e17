#include "engine/spec/variant_patch.h"

#include <doctest/doctest.h>

#include "engine/base/rng.h"

using namespace warpath;

namespace {

std::string random_text(Rng& rng) {
  std::string out;
  for (std::uint64_t i = rng.below(12); i > 0; --i) out += static_cast<char>('a' + rng.below(2));
  return out;
}

}  // namespace

TEST_SUITE("variant_patch") {
  TEST_CASE("an edit holds no more than what differs, and makes the one variant of the other") {
    Variant before;
    before.source = "int a = 1; int b = 2;";
    Variant after = before;
    after.source = "int a = 1; int c, b = 2;";
    after.tunables["TILE"] = 4;
    const VariantEdit edit = edit_between(before, after);
    CHECK(edit.inserted == "c, ");
    CHECK(edit.removed == 0);
    CHECK(edit.rest.tunables.has_value());
    CHECK_FALSE(edit.rest.source.has_value());
    CHECK(edited(before, edit) == after);
    CHECK(edit_between(before, before) ==
          VariantEdit{.begin = before.source.size(), .removed = 0, .inserted = "", .rest = {}});
  }

  TEST_CASE("edits of texts that repeat themselves are exact") {
    for (std::uint64_t seed = 1; seed <= 500; ++seed) {
      CAPTURE(seed);
      Rng rng(seed, "edits");
      Variant a, b;
      a.source = random_text(rng);
      b.source = random_text(rng);
      if (rng.below(2) == 0) b.compiler_options = {"-G"};
      const VariantEdit edit = edit_between(a, b);
      CHECK(edited(a, edit) == b);
      CHECK(edit.begin + edit.removed <= a.source.size());
      CHECK(patched(a, patch_between(a, b)) == b);
    }
  }
}
