#include <algorithm>

#include "moves/patch/patch_forms.h"

namespace warpath::patch {
namespace {

constexpr std::size_t kLeastMarks = 5;

/// At least kLeastMarks of `mark`, then `word` (empty: nothing), blanks ignored.
bool is_marker(const std::string& line, char mark, std::string_view word) {
  const std::size_t marks = std::min(line.find_first_not_of(mark), line.size());
  if (marks < kLeastMarks) return false;
  std::string rest = line.substr(marks);
  std::erase_if(rest, [](char c) { return c == ' ' || c == '\t'; });
  return rest == word;
}

struct Block {
  Lines search, replace;
};

/// nullopt with the reason if a marker is missing.
std::optional<std::vector<Block>> read_blocks(const Lines& patch, std::string& why) {
  std::vector<Block> out;
  for (std::size_t i = 0; i < patch.size(); ++i) {
    if (!begins_block(patch[i])) continue;
    const std::string name =
        "block " + std::to_string(out.size() + 1) + ", patch line " + std::to_string(i + 1) + ": ";
    Block block;
    for (++i; i < patch.size() && !is_marker(patch[i], '=', ""); ++i) {
      if (begins_block(patch[i])) return why = name + "\"=======\" is missing", std::nullopt;
      block.search.push_back(patch[i]);
    }
    if (i == patch.size()) return why = name + "\"=======\" is missing", std::nullopt;
    for (++i; i < patch.size() && !is_marker(patch[i], '>', "REPLACE"); ++i) {
      if (begins_block(patch[i]))
        return why = name + "\">>>>>>> REPLACE\" is missing", std::nullopt;
      block.replace.push_back(patch[i]);
    }
    if (i == patch.size()) return why = name + "\">>>>>>> REPLACE\" is missing", std::nullopt;
    out.push_back(std::move(block));
    if (out.size() > kMostPieces)
      return why = "more than " + std::to_string(kMostPieces) + " blocks", std::nullopt;
  }
  return out;
}

bool is_blank(const std::string& line) {
  return line.find_first_not_of(" \t") == std::string::npos;
}

/// Blank lines around the searched text do not help to locate it and are dropped, with as many from
/// the replacement.
void drop_blank_ends(Block& block) {
  while (!block.search.empty() && is_blank(block.search.back())) {
    block.search.pop_back();
    if (!block.replace.empty() && is_blank(block.replace.back())) block.replace.pop_back();
  }
  while (!block.search.empty() && is_blank(block.search.front())) {
    block.search.erase(block.search.begin());
    if (!block.replace.empty() && is_blank(block.replace.front()))
      block.replace.erase(block.replace.begin());
  }
}

bool apply_block(LineText& source, Block block, const std::string& name, std::string& why) {
  Search found = block.search.empty() ? Search{} : find_lines(source.lines, block.search);
  if (found.places.empty()) {
    drop_blank_ends(block);
    if (block.search.empty())
      return why = name + ": nothing to search for, so no place to change", false;
    found = find_lines(source.lines, block.search);
  }
  if (found.places.empty())
    return why = missing_text(name, source.lines, block.search, found), false;
  if (found.places.size() > 1) {
    return why = name + ": expected one place, its lines stand at source lines " +
                 places_text(found.places),
           false;
  }
  const auto begin = source.lines.begin() + static_cast<std::ptrdiff_t>(found.places.front());
  Lines replace = std::move(block.replace);
  if (found.likeness == Likeness::all_blanks) {
    const auto first = std::ranges::find_if_not(block.search, is_blank) - block.search.begin();
    replace =
        reindented(std::move(replace), indent_of(block.search[static_cast<std::size_t>(first)]),
                   indent_of(*(begin + first)));
  }
  const auto next =
      source.lines.erase(begin, begin + static_cast<std::ptrdiff_t>(block.search.size()));
  source.lines.insert(next, replace.begin(), replace.end());
  return true;
}

}  // namespace

bool begins_block(const std::string& line) {
  return is_marker(line, '<', "SEARCH");
}

std::optional<LineText> apply_blocks(LineText source, const Lines& patch, std::string& why) {
  auto blocks = read_blocks(patch, why);
  if (!blocks) return std::nullopt;
  for (std::size_t i = 0; i < blocks->size(); ++i) {
    const std::string name =
        "block " + std::to_string(i + 1) + " of " + std::to_string(blocks->size());
    if (!apply_block(source, std::move((*blocks)[i]), name, why)) return std::nullopt;
  }
  return source;
}

}  // namespace warpath::patch
