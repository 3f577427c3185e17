#include "moves/patch/patch_lines.h"

#include <algorithm>
#include <unordered_map>

namespace warpath::patch {
namespace {

constexpr std::string_view kBlanks = " \t\f\v\r";
constexpr std::size_t kMostQuoted = 60;
constexpr std::size_t kMostPlaces = 5;

std::string_view without_trailing_blanks(std::string_view line) {
  const std::size_t last = line.find_last_not_of(kBlanks);
  return last == std::string_view::npos ? std::string_view() : line.substr(0, last + 1);
}

/// Every run of blanks as one space, none at the ends.
std::string squeezed(std::string_view line) {
  std::string out;
  for (const char c : line) {
    const bool blank = kBlanks.find(c) != std::string_view::npos;
    if (!blank)
      out += c;
    else if (!out.empty() && out.back() != ' ')
      out += ' ';
  }
  if (out.ends_with(' ')) out.pop_back();
  return out;
}

/// Equal numbers for lines that are alike.
class LineNumbers {
 public:
  explicit LineNumbers(Likeness likeness) : likeness_(likeness) {}
  std::vector<std::size_t> of(std::span<const std::string> lines) {
    std::vector<std::size_t> out;
    out.reserve(lines.size());
    for (const std::string& line : lines)
      out.push_back(ids_.try_emplace(key(line), ids_.size()).first->second);
    return out;
  }

 private:
  [[nodiscard]] std::string key(const std::string& line) const {
    if (likeness_ == Likeness::exact) return line;
    return likeness_ == Likeness::trailing_blanks ? std::string(without_trailing_blanks(line))
                                                  : squeezed(line);
  }
  Likeness likeness_;
  std::unordered_map<std::string, std::size_t> ids_;
};

/// Knuth, Morris and Pratt (1977) over line numbers.
void match(const std::vector<std::size_t>& text,
           const std::vector<std::size_t>& wanted,
           Search& out) {
  std::vector<std::size_t> failure(wanted.size(), 0);
  for (std::size_t i = 1, k = 0; i < wanted.size(); ++i) {
    while (k > 0 && wanted[i] != wanted[k]) k = failure[k - 1];
    if (wanted[i] == wanted[k]) ++k;
    failure[i] = k;
  }
  out.longest = out.longest_at = 0;
  for (std::size_t i = 0, k = 0; i < text.size(); ++i) {
    while (k > 0 && (k == wanted.size() || text[i] != wanted[k])) k = failure[k - 1];
    if (text[i] == wanted[k]) ++k;
    if (k > out.longest) {
      out.longest = k;
      out.longest_at = i + 1 - k;
    }
    if (k == wanted.size()) out.places.push_back(i + 1 - k);
  }
}

/// How much two lines have in common: their common beginning and end.
std::size_t common(std::string_view a, std::string_view b) {
  const std::size_t most = std::min(a.size(), b.size());
  std::size_t front = 0, back = 0;
  while (front < most && a[front] == b[front]) ++front;
  while (back < most - front && a[a.size() - 1 - back] == b[b.size() - 1 - back]) ++back;
  return front + back;
}

}  // namespace

Lines split_lines(std::string_view text) {
  Lines out;
  while (!text.empty()) {
    const std::size_t end = std::min(text.find('\n'), text.size());
    std::string_view line = text.substr(0, end);
    if (line.ends_with('\r')) line.remove_suffix(1);
    out.emplace_back(line);
    text.remove_prefix(std::min(end + 1, text.size()));
  }
  return out;
}

LineText LineText::of(std::string_view text) {
  LineText out;
  out.lines = split_lines(text);
  const std::size_t first = text.find('\n');
  if (first != std::string_view::npos && first > 0 && text[first - 1] == '\r') out.end = "\r\n";
  out.last_ends = text.empty() || text.ends_with('\n');
  return out;
}

std::string LineText::text() const {
  std::string out;
  for (const std::string& line : lines) out += line + end;
  if (!last_ends && !lines.empty()) out.resize(out.size() - end.size());
  return out;
}

Search find_lines(std::span<const std::string> text,
                  std::span<const std::string> wanted,
                  std::size_t from) {
  Search out;
  from = std::min(from, text.size());
  for (const Likeness likeness : kLikenesses) {
    LineNumbers numbers(likeness);
    const auto wanted_numbers = numbers.of(wanted);
    match(numbers.of(text.subspan(from)), wanted_numbers, out);
    out.likeness = likeness;
    if (!out.places.empty()) break;
  }
  out.longest_at += from;
  for (std::size_t& place : out.places) place += from;
  return out;
}

std::string missing_text(std::string_view what,
                         std::span<const std::string> text,
                         std::span<const std::string> wanted,
                         const Search& search,
                         std::size_t first) {
  const std::string& missing = wanted[std::min(search.longest, wanted.size() - 1)];
  std::string out = std::string(what) + ", line " + std::to_string(first + search.longest) +
                    ": expected " + in_quotes(missing);
  if (search.longest > 0) {
    const std::size_t at = search.longest_at + search.longest;
    out += at < text.size()
               ? ", source line " + std::to_string(at + 1) + " is " + in_quotes(text[at])
               : ", the source ends there";
    return out + " (the lines before it stand from source line " +
           std::to_string(search.longest_at + 1) + " on)";
  }
  const std::string shape = squeezed(missing);
  std::size_t best = 0, at = 0;
  for (std::size_t i = 0; i < text.size(); ++i) {
    const std::size_t score = common(shape, squeezed(text[i]));
    if (score > best) best = score, at = i;
  }
  if (2 * best < shape.size() || best == 0) return out + ", which is nowhere in the source";
  return out + ", the nearest is source line " + std::to_string(at + 1) + ": " +
         in_quotes(text[at]);
}

std::string places_text(const std::vector<std::size_t>& places) {
  std::string out;
  for (std::size_t i = 0; i < places.size(); ++i) {
    if (i == kMostPlaces) return out + " and more";
    const bool last = i + 1 == places.size();
    out += (i == 0 ? "" : last ? " and " : ", ") + std::to_string(places[i] + 1);
  }
  return out;
}

std::string in_quotes(std::string_view line) {
  const std::string text = squeezed(line);
  std::string out = "\"";
  for (const char c : text.substr(0, kMostQuoted))
    out += static_cast<unsigned char>(c) < 0x20 ? ' ' : c;
  return out + (text.size() > kMostQuoted ? "...\"" : "\"");
}

std::string_view indent_of(std::string_view line) {
  return line.substr(0, std::min(line.find_first_not_of(kBlanks), line.size()));
}

Lines reindented(Lines lines, std::string_view from, std::string_view to) {
  for (std::string& line : lines) {
    if (line.starts_with(from) && line.find_first_not_of(kBlanks) != std::string::npos)
      line = std::string(to) + line.substr(from.size());
  }
  return lines;
}

}  // namespace warpath::patch
