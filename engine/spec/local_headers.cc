#include "engine/spec/local_headers.h"

#include <algorithm>
#include <filesystem>
#include <map>
#include <set>

#include "engine/base/error.h"
#include "engine/base/hash.h"
#include "engine/text/source_edit.h"
#include "engine/text/source_text.h"
#include "engine/text/tokens.h"

namespace warpath {
namespace {

namespace fs = std::filesystem;

constexpr std::size_t kMaxDepth = 64;
/// Of a header that protects itself, in a text with all that a project includes: conditions that
/// are not decided here would multiply it.
constexpr std::size_t kMostCopies = 3;

/// How a header keeps its text from being read twice.
enum class Protection { none, pragma, guard };

struct Directive {
  std::string name;
  std::vector<std::string> words;  ///< behind the name
  Token token;
};

std::vector<Directive> directives_of(const std::string& source) {
  std::vector<Directive> out;
  for (const Token& token : tokenize(source).tokens) {
    if (token.kind != TokenKind::directive) continue;
    Directive one{.name = directive_name(source, token), .words = {}, .token = token};
    const auto words = without_comments(tokenize_directive(source, token).tokens);
    for (std::size_t i = 2; i < words.size(); ++i) one.words.push_back(spelling(source, words[i]));
    out.push_back(std::move(one));
  }
  return out;
}

bool opens(const Directive& d) {
  return d.name == "if" || d.name == "ifdef" || d.name == "ifndef";
}
bool is_once(const Directive& d) {
  return d.name == "pragma" && !d.words.empty() && d.words[0] == "once";
}

/// The first directive opens `#ifndef NAME`, the second defines it, the last one closes it.
bool is_guarded(const std::vector<Directive>& all) {
  if (all.size() < 3 || all[0].name != "ifndef" || all[1].name != "define" ||
      all.back().name != "endif" || all[0].words.empty() || all[1].words.empty() ||
      all[0].words[0] != all[1].words[0])
    return false;
  int depth = 0;
  for (std::size_t i = 0; i + 1 < all.size(); ++i) {
    depth += opens(all[i]) ? 1 : all[i].name == "endif" ? -1 : 0;
    if (depth == 0) return false;
  }
  return true;
}

Protection protection_of(const std::vector<Directive>& all) {
  if (is_guarded(all)) return Protection::guard;
  return std::ranges::any_of(all, is_once) ? Protection::pragma : Protection::none;
}

/// NAME of `#include "NAME"`, with `open` the sign before it; otherwise empty.
std::string included_name(const Directive& d, char open) {
  if (d.name != "include" || d.words.size() != 1) return "";
  const std::string& word = d.words[0];
  return word.size() > 2 && word[0] == open ? word.substr(1, word.size() - 2) : "";
}

class Flattening {
 public:
  Flattening(const std::vector<std::string>& folders, AngledHeaders angled)
      : folders_(folders), angled_(angled) {}

  FlatSource run(const std::string& text, const fs::path& file) {
    std::error_code none;
    if (fs::is_regular_file(file, none)) there_[identity(file)] = true;
    out_.text = text_of(text, file, false);
    return std::move(out_);
  }

 private:
  static std::string identity(const fs::path& file) {
    std::error_code error;
    const fs::path whole = fs::weakly_canonical(file, error);
    return error ? file.string() : whole.string();
  }

  /// `conditional`: the text stands within a condition that may not hold.
  std::string text_of(const std::string& source, const fs::path& file, bool conditional) {
    bytes_ += source.size();
    if (bytes_ > kMaxSourceFileBytes)
      throw bad_input(file.string(), "what it includes",
                      "at most 8 MiB of headers and source together");
    if (++depth_ > kMaxDepth)
      throw bad_input(file.string(), "headers that include one another without end",
                      "at most 64 one within another");
    const std::vector<Directive> directives = directives_of(source);
    const int outermost = is_guarded(directives) ? 1 : 0;
    int open = 0;
    std::vector<Edit> edits;
    for (const Directive& d : directives) {
      if (opens(d)) ++open;
      if (d.name == "endif") --open;
      if (is_once(d) && depth_ > 1) edits.push_back({d.token.begin, d.token.end, ""});
      const std::string angled =
          angled_ == AngledHeaders::looked_up ? included_name(d, '<') : std::string();
      const std::string name = angled.empty() ? included_name(d, '"') : angled;
      if (name.empty()) continue;
      const std::string place =
          file.string() + ":" +
          std::to_string(1 + std::count(source.begin(),
                                        source.begin() + static_cast<std::ptrdiff_t>(d.token.begin),
                                        '\n'));
      const fs::path target = angled.empty() ? found(name, file) : in_folders(name);
      if (target.empty()) {
        if (angled.empty()) note_missing({name, place});
        continue;
      }
      edits.push_back(
          {d.token.begin, d.token.end, header(target, place, conditional || open > outermost)});
    }
    --depth_;
    return edited(source, std::move(edits));
  }

  /// What stands for a header where it is included.
  std::string header(const fs::path& target, const std::string& place, bool conditional) {
    const std::string id = identity(target);
    const auto before = there_.find(id);
    if (before != there_.end() && (before->second || open_.contains(id))) return "";
    const std::string source = read_source_file(target.string(), kMaxSourceFileBytes, place).text;
    const Protection protection = protection_of(directives_of(source));
    if (protection != Protection::none && angled_ == AngledHeaders::looked_up &&
        ++copies_[id] > kMostCopies)
      return "";
    const bool alone = before == there_.end() && !conditional;
    if (protection != Protection::none) {
      there_[id] = !conditional;
      open_.insert(id);
    }
    std::string text = text_of(source, target, conditional);
    open_.erase(id);
    if (protection != Protection::pragma || alone) return text;
    const std::string macro = "INCLUDED_" + hash128(source).short_hex();
    return "#ifndef " + macro + "\n#define " + macro + "\n" + text + "\n#endif";
  }

  [[nodiscard]] fs::path found(const std::string& name, const fs::path& file) const {
    std::error_code none;
    const fs::path beside = file.parent_path() / name;
    return fs::is_regular_file(beside, none) ? beside : in_folders(name);
  }

  [[nodiscard]] fs::path in_folders(const std::string& name) const {
    std::error_code none;
    for (const std::string& folder : folders_) {
      const fs::path there = fs::path(folder) / name;
      if (fs::is_regular_file(there, none)) return there;
    }
    return {};
  }

  void note_missing(MissingHeader header) {
    if (std::ranges::find(out_.missing, header) == out_.missing.end())
      out_.missing.push_back(std::move(header));
  }

  const std::vector<std::string>& folders_;
  AngledHeaders angled_;
  FlatSource out_;
  std::map<std::string, bool> there_;  // protected headers: certainly read by then
  std::map<std::string, std::size_t> copies_;
  std::set<std::string> open_;  // protected headers that are being read
  std::size_t bytes_ = 0, depth_ = 0;
};

}  // namespace

FlatSource flat_source(const std::string& text,
                       const std::string& file,
                       const std::vector<std::string>& folders,
                       AngledHeaders angled) {
  return Flattening(folders, angled).run(text, file);
}

FlatSource flat_source_file(const std::string& file,
                            const std::vector<std::string>& folders,
                            AngledHeaders angled) {
  return flat_source(read_source_file(file, kMaxSourceFileBytes, file).text, file, folders, angled);
}

}  // namespace warpath
