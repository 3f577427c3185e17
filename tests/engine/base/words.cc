#include "engine/base/words.h"

#include <doctest/doctest.h>

#include <string_view>
#include <vector>

using namespace warpath;

TEST_SUITE_BEGIN("words");

TEST_CASE("a list of words has them in their order, however many blanks stand between them") {
  static constexpr WordList kWords(" for  while do ");
  static_assert(kWords.count() == 3);
  CHECK(std::vector<std::string_view>(kWords.begin(), kWords.end()) ==
        std::vector<std::string_view>{"for", "while", "do"});
  static_assert(WordList("").count() == 0);
  static_assert(WordList("a b c d").count() == 4);
}

TEST_CASE("a list contains whole words alone") {
  static constexpr WordList kWords("for while do");
  CHECK(kWords.contains("while"));
  for (const char* const other : {"", "fo", "r while", "done", "for while do"})
    CHECK_FALSE(kWords.contains(other));
}

TEST_SUITE_END();
