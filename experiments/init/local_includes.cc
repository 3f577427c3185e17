#include "experiments/init/local_includes.h"

#include <filesystem>
#include <set>

#include "engine/base/error.h"
#include "engine/text/source_edit.h"
#include "engine/text/source_text.h"
#include "engine/text/tokens.h"

namespace warpath {
namespace {

namespace fs = std::filesystem;

class Flattening {
 public:
  std::string text_of(const fs::path& file, const std::string& place) {
    seen_.insert(fs::weakly_canonical(file).string());
    const std::string source = read_source_file(file.string(), kMaxSourceFileBytes, place).text;
    bytes_ += source.size();
    if (bytes_ > kMaxSourceFileBytes)
      throw bad_input(place, file.string(), "at most 8 MiB together with what it includes");
    std::vector<Edit> edits;
    for (const Token& token : tokenize(source).tokens) {
      if (token.kind != TokenKind::directive) continue;
      const std::string kind = directive_name(source, token);
      if (kind == "pragma" && is_once(source, token)) edits.push_back({token.begin, token.end, ""});
      if (kind != "include") continue;
      const std::string name = quoted_name(source, token);
      const fs::path target = file.parent_path() / name;
      std::error_code none;
      if (name.empty() || !fs::is_regular_file(target, none)) continue;
      const bool again = seen_.contains(fs::weakly_canonical(target).string());
      edits.push_back({token.begin, token.end, again ? "" : text_of(target, file.string())});
    }
    return edited(source, std::move(edits));
  }

 private:
  /// NAME of `#include "NAME"`; otherwise empty.
  static std::string quoted_name(const std::string& source, const Token& directive) {
    const auto words = tokenize_directive(source, directive).tokens;
    if (words.size() < 3) return "";
    const std::string word = spelling(source, words[2]);
    return word.size() > 2 && word[0] == '"' ? word.substr(1, word.size() - 2) : "";
  }
  static bool is_once(const std::string& source, const Token& directive) {
    return source.substr(directive.begin, directive.size()).find("once") != std::string::npos;
  }

  std::set<std::string> seen_;
  std::size_t bytes_ = 0;
};

}  // namespace

std::string flattened_source(const std::string& path) {
  return Flattening().text_of(path, path);
}

}  // namespace warpath
