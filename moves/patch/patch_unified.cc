#include <algorithm>
#include <charconv>

#include "moves/patch/patch.h"
#include "moves/patch/patch_forms.h"

namespace warpath::patch {
namespace {

struct Hunk {
  std::size_t old_line = 0;                  ///< counted from 1; 0: none was given
  std::size_t old_count = 0, new_count = 0;  ///< of the header
  bool has_numbers = false;
  Lines lines;                          ///< with their first character: ' ', '-' or '+'
  bool ends_without_line_feed = false;  ///< of the new text
};

/// Reads "12" or "12,7" from `text`; false if there is no number.
bool read_range(std::string_view& text, std::size_t& line, std::size_t& count) {
  const auto number = [&](std::size_t& out) {
    const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), out);
    if (error != std::errc()) return false;
    text.remove_prefix(static_cast<std::size_t>(end - text.data()));
    return true;
  };
  if (!number(line)) return false;
  count = 1;
  if (!text.starts_with(',')) return true;
  text.remove_prefix(1);
  return number(count);
}

Hunk read_header(std::string_view line) {
  Hunk hunk;
  const std::size_t minus = line.find('-');
  const std::size_t plus = line.find('+');
  if (minus == std::string_view::npos || plus == std::string_view::npos || plus < minus)
    return hunk;
  std::string_view old_range = line.substr(minus + 1);
  std::string_view new_range = line.substr(plus + 1);
  std::size_t new_line = 0;
  hunk.has_numbers = read_range(old_range, hunk.old_line, hunk.old_count) &&
                     read_range(new_range, new_line, hunk.new_count);
  return hunk;
}

bool begins_file(const Lines& patch, std::size_t i) {
  return patch[i].starts_with("--- ") && i + 1 < patch.size() && patch[i + 1].starts_with("+++ ");
}

/// Takes the lines of a hunk: as many as its header says, and, since such counts are often wrong,
/// all that still look like its lines.
std::size_t read_body(const Lines& patch, std::size_t i, Hunk& hunk) {
  std::size_t old_left = hunk.old_count, new_left = hunk.new_count;
  for (; i < patch.size(); ++i) {
    const std::string& line = patch[i];
    const char kind = line.empty() ? ' ' : line[0];
    if (kind == '\\') {
      hunk.ends_without_line_feed = !hunk.lines.empty() && hunk.lines.back()[0] != '-';
      continue;
    }
    const bool counted = hunk.has_numbers && (kind == '-'   ? old_left > 0
                                              : kind == '+' ? new_left > 0
                                                            : old_left > 0 && new_left > 0);
    if (kind != ' ' && kind != '-' && kind != '+') break;
    if (!counted && (line.empty() || begins_file(patch, i))) break;
    old_left -= kind != '+' && old_left > 0 ? 1 : 0;
    new_left -= kind != '-' && new_left > 0 ? 1 : 0;
    hunk.lines.push_back(line.empty() ? " " : line);
  }
  return i;
}

std::optional<std::vector<Hunk>> read_hunks(const Lines& patch, std::string& why) {
  std::vector<Hunk> out;
  std::string file;
  for (std::size_t i = 0; i < patch.size();) {
    if (begins_file(patch, i)) {
      const std::string next = patch[i].substr(4) + " and " + patch[i + 1].substr(4);
      if (!out.empty() && next != file)
        return why = "the diff changes several files, a variant is one source", std::nullopt;
      file = next;
      i += 2;
    } else if (begins_hunk(patch[i])) {
      Hunk hunk = read_header(patch[i]);
      const std::size_t begin = i + 1;
      i = read_body(patch, begin, hunk);
      if (hunk.lines.empty()) {
        return why = "hunk " + std::to_string(out.size() + 1) + ", patch line " +
                     std::to_string(begin) + ": it has no lines",
               std::nullopt;
      }
      out.push_back(std::move(hunk));
      if (out.size() > kMostPieces)
        return why = "more than " + std::to_string(kMostPieces) + " hunks", std::nullopt;
    } else {
      ++i;
    }
  }
  if (out.empty()) why = "the diff has no hunk";
  return out.empty() ? std::nullopt : std::optional(std::move(out));
}

/// The lines that must be present: context and removed lines.
Lines old_lines(const Hunk& hunk, std::size_t skip_front, std::size_t skip_back) {
  Lines out;
  for (std::size_t i = skip_front; i + skip_back < hunk.lines.size(); ++i) {
    if (hunk.lines[i][0] != '+') out.push_back(hunk.lines[i].substr(1));
  }
  return out;
}

std::size_t context_at(const Hunk& hunk, bool front) {
  std::size_t n = 0;
  while (n < hunk.lines.size() && hunk.lines[front ? n : hunk.lines.size() - 1 - n][0] == ' ') ++n;
  return n;
}

struct Place {
  std::size_t line = 0;
  std::size_t skip_front = 0, skip_back = 0;  ///< lines of the hunk that are not compared
};

/// Where the hunk goes in `text`, not before `from`; `expected`: the line that its header names,
/// earlier hunks counted in.
std::optional<Place> find_place(const LineText& text,
                                const Hunk& hunk,
                                std::size_t from,
                                std::size_t expected,
                                const std::string& name,
                                std::string& why) {
  const std::size_t front = context_at(hunk, true), back = context_at(hunk, false);
  for (std::size_t fuzz = 0; fuzz <= kMaxFuzz; ++fuzz) {
    const std::size_t skip_front = std::min(fuzz, front), skip_back = std::min(fuzz, back);
    if (fuzz > 0 && skip_front < fuzz && skip_back < fuzz) break;
    if (skip_front + skip_back >= hunk.lines.size()) break;
    const Lines wanted = old_lines(hunk, skip_front, skip_back);
    if (wanted.empty()) break;
    const Search found = find_lines(text.lines, wanted, from);
    const std::size_t here = expected + skip_front;
    const bool fits_here =
        hunk.has_numbers && std::ranges::find(found.places, here) != found.places.end();
    if (fits_here) return Place{here, skip_front, skip_back};
    if (found.places.size() == 1) return Place{found.places.front(), skip_front, skip_back};
    if (found.places.size() > 1) {
      why = name + ": expected one place, it fits at source lines " + places_text(found.places);
      if (hunk.has_numbers) why += ", none of them line " + std::to_string(here + 1);
      return std::nullopt;
    }
    if (fuzz == 0) why = missing_text(name, text.lines, wanted, found);
  }
  return std::nullopt;
}

/// Replaces from `place` on; context keeps the source's own lines. Returns the line behind.
std::size_t replace(LineText& text, const Hunk& hunk, const Place& place) {
  Lines middle;
  std::size_t at = place.line;
  for (std::size_t i = place.skip_front; i + place.skip_back < hunk.lines.size(); ++i) {
    const std::string& line = hunk.lines[i];
    if (line[0] == '+') middle.push_back(line.substr(1));
    if (line[0] == ' ') middle.push_back(text.lines[at]);
    if (line[0] != '+') ++at;
  }
  const auto begin = text.lines.begin() + static_cast<std::ptrdiff_t>(place.line);
  const bool at_end = at == text.lines.size();
  const auto next = text.lines.erase(begin, text.lines.begin() + static_cast<std::ptrdiff_t>(at));
  text.lines.insert(next, middle.begin(), middle.end());
  if (at_end && hunk.lines.back()[0] != ' ') text.last_ends = !hunk.ends_without_line_feed;
  return place.line + middle.size();
}

}  // namespace

bool begins_hunk(const std::string& line) {
  return line.starts_with("@@ -") || line == "@@" || line.starts_with("@@ @@");
}

std::optional<LineText> apply_unified(LineText source, const Lines& patch, std::string& why) {
  const auto hunks = read_hunks(patch, why);
  if (!hunks) return std::nullopt;
  std::size_t done = 0;
  // by which the source's lines have moved against the numbers of the diff
  std::ptrdiff_t offset = 0;
  for (std::size_t i = 0; i < hunks->size(); ++i) {
    const Hunk& hunk = (*hunks)[i];
    const std::string name =
        "hunk " + std::to_string(i + 1) + " of " + std::to_string(hunks->size());
    const bool only_adds = old_lines(hunk, 0, 0).empty();
    // "@@ -5,0 +6,2 @@" adds behind line 5, others begin at the line they name.
    const std::size_t named =
        only_adds ? hunk.old_line : hunk.old_line - (hunk.old_line > 0 ? 1 : 0);
    const std::ptrdiff_t wanted = std::clamp<std::ptrdiff_t>(
        static_cast<std::ptrdiff_t>(std::min(named, kMaxPatchBytes)) + offset, 0,
        static_cast<std::ptrdiff_t>(source.lines.size()) + 1);
    std::optional<Place> place;
    if (!only_adds) {
      place = find_place(source, hunk, done, static_cast<std::size_t>(wanted), name, why);
      if (!place) return std::nullopt;
    } else if (!hunk.has_numbers || static_cast<std::size_t>(wanted) > source.lines.size() ||
               static_cast<std::size_t>(wanted) < done) {
      return why = name + ": it has no line of context and no line number within the source",
             std::nullopt;
    } else {
      place = Place{static_cast<std::size_t>(wanted)};
    }
    const std::size_t before = source.lines.size();
    done = replace(source, hunk, *place);
    offset = static_cast<std::ptrdiff_t>(place->line) -
             static_cast<std::ptrdiff_t>(place->skip_front) - static_cast<std::ptrdiff_t>(named) +
             static_cast<std::ptrdiff_t>(source.lines.size()) - static_cast<std::ptrdiff_t>(before);
  }
  return source;
}

}  // namespace warpath::patch
