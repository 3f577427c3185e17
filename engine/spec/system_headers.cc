#include "engine/spec/system_headers.h"

#include <deque>
#include <filesystem>
#include <map>
#include <set>
#include <utility>
#include <vector>

#include "engine/base/error.h"
#include "engine/base/hash.h"
#include "engine/json/json_reader.h"
#include "engine/text/source_edit.h"
#include "engine/text/tokens.h"

namespace warpath {
namespace {

namespace fs = std::filesystem;

constexpr std::size_t kMaxHeaderBytes = std::size_t{8} << 20U;
constexpr std::size_t kMaxBytes = std::size_t{64} << 20U;
constexpr std::size_t kMostMacroWords = 32, kMostExpansions = 256;  // of an include by macros
constexpr int kMostDepth = 16;

class Closure {
 public:
  explicit Closure(const std::vector<std::string>& folders) : folders_(folders) {}

  void add_source(const std::string& text) { static_cast<void>(with_own_names(text, "")); }

  SystemHeaders take() {
    do {
      while (!waiting_.empty()) read_next();
    } while (computed_included());
    SystemHeaders out;
    Hasher hasher;
    for (auto& [name, text] : texts_) {
      hasher.add(std::string_view(name)).add(std::string_view(text));
      out.files.push_back({name, std::move(text)});
    }
    if (!out.files.empty()) out.key = hasher.digest().hex();
    return out;
  }

 private:
  struct Macro {
    std::string parameter;  ///< empty: it is no function
    std::string body;
    auto operator<=>(const Macro&) const = default;
  };

  static std::string with_argument(const Macro& macro, const std::string& argument) {
    std::vector<Edit> edits;
    for (const Token& token : tokenize(macro.body).tokens) {
      if (spelling(macro.body, token) == macro.parameter)
        edits.push_back({token.begin, token.end, argument});
    }
    return edited(macro.body, std::move(edits));
  }

  void read_next() {
    const auto [name, folder] = waiting_.front();
    waiting_.pop_front();
    const std::string path = (fs::path(folder) / name).string();
    const std::string text = read_text_file(path, kMaxHeaderBytes, path);
    bytes_ += text.size();
    if (bytes_ > kMaxBytes)
      throw bad_input(path, "the headers of the libraries", "at most 64 MiB together");
    texts_[name] = with_own_names(text, name);
  }

  /// Notes `#define NAME TEXT` and `#define NAME(PARAMETER) TEXT`, since an include may name NAME.
  void note_macro(const std::string& text, const std::vector<Token>& words, std::size_t end) {
    if (words.size() < 4 || words[2].kind != TokenKind::identifier) return;
    if (words.size() > kMostMacroWords) return;
    std::size_t body = 3;
    Macro macro;
    if (!words[3].space_before) {
      const bool one = words.size() > 6 && spelling(text, words[3]) == "(" &&
                       words[4].kind == TokenKind::identifier && spelling(text, words[5]) == ")";
      if (!one) return;
      macro.parameter = spelling(text, words[4]);
      body = 6;
    }
    macro.body = text.substr(words[body].begin, end - words[body].begin);
    macros_[spelling(text, words[2])].insert(std::move(macro));
  }

  /// What `text` may become, by every definition of the macros in it.
  void expand(const std::string& text, int depth, std::set<std::string>& out) const {
    if (out.size() >= kMostExpansions) return;
    for (const Token& token : tokenize(text).tokens) {
      if (token.kind != TokenKind::identifier) continue;
      const auto macro = macros_.find(text.substr(token.begin, token.size()));
      if (macro == macros_.end() || depth >= kMostDepth) continue;
      for (const Macro& form : macro->second) {
        std::size_t end = token.end;
        std::string body = form.body;
        if (!form.parameter.empty()) {
          const std::size_t open = text.find_first_not_of(" \t", end), close = text.find(')', end);
          if (open == std::string::npos || text[open] != '(' || close == std::string::npos)
            continue;
          body = with_argument(form, text.substr(open + 1, close - open - 1));
          end = close + 1;
        }
        expand(text.substr(0, token.begin) + body + text.substr(end), depth + 1, out);
      }
      return;
    }
    out.insert(text);
  }

  /// Queues what includes of macros name; false if that is nothing new.
  bool computed_included() {
    for (const std::string& operand : computed_) {
      std::set<std::string> names;
      expand(operand, 0, names);
      for (std::string name : names) {
        std::erase_if(name, [](char c) { return c == ' ' || c == '\t'; });
        if (name.size() > 2 && (name[0] == '<' || name[0] == '"'))
          static_cast<void>(known(name.substr(1, name.size() - 2)));
      }
    }
    return !waiting_.empty();
  }

  /// `text` with every include that a folder has written as `<path within the folder>`; queues
  /// them. `own`: the name of the header that has the text; empty for a kernel's, which is not
  /// changed.
  std::string with_own_names(const std::string& text, const std::string& own) {
    std::vector<Edit> edits;
    for (const Token& token : tokenize(text).tokens) {
      if (token.kind != TokenKind::directive) continue;
      const std::string kind = directive_name(text, token);
      if (kind != "include" && kind != "include_next" && kind != "define") continue;
      const auto words = without_comments(tokenize_directive(text, token).tokens);
      if (kind == "define") {
        note_macro(text, words, token.end);
        continue;
      }
      if (words.size() >= 3 && words[2].kind == TokenKind::identifier)
        computed_.insert(text.substr(words[2].begin, words.back().end - words[2].begin));
      if (words.size() != 3 || words[2].kind != TokenKind::string) continue;
      const std::string written = spelling(text, words[2]);
      if (written.size() < 3) continue;
      const std::string name = written.substr(1, written.size() - 2);
      const std::string beside =
          written.front() == '"' && !own.empty()
              ? (fs::path(own).parent_path() / name).lexically_normal().string()
              : "";
      std::string target = !beside.empty() && known(beside) ? beside : "";
      if (target.empty() && known(fs::path(name).lexically_normal().string()))
        target = fs::path(name).lexically_normal().string();
      if (target.empty() || own.empty() || target == name) continue;
      edits.push_back({words[2].begin, words[2].end, "<" + target + ">"});
    }
    return edited(text, std::move(edits));
  }

  /// A folder has it; queues it the first time.
  bool known(const std::string& name) {
    const auto [it, added] = found_.try_emplace(name, false);
    if (!added) return it->second;
    std::error_code none;
    for (const std::string& folder : folders_) {
      if (name.starts_with("..") || !fs::is_regular_file(fs::path(folder) / name, none)) continue;
      waiting_.emplace_back(name, folder);
      return it->second = true;
    }
    return false;
  }

  const std::vector<std::string>& folders_;
  std::map<std::string, bool> found_;
  std::map<std::string, std::set<Macro>> macros_;  // with all their definitions
  std::set<std::string> computed_;                 // operands of includes that are macros
  std::map<std::string, std::string> texts_;
  std::deque<std::pair<std::string, std::string>> waiting_;
  std::size_t bytes_ = 0;
};

}  // namespace

void read_system_headers(KernelSpec& spec) {
  const std::string expected = spec.system_headers == nullptr ? "" : spec.system_headers->key;
  spec.system_headers.reset();
  if (spec.system_include_folders.empty()) return;
  Closure closure(spec.system_include_folders);
  closure.add_source(spec.source);
  if (const auto* const kernel = std::get_if<ReferenceKernel>(&spec.reference))
    closure.add_source(kernel->source);
  SystemHeaders found = closure.take();
  if (!expected.empty() && found.key != expected)
    throw bad_input(spec.place("/kernel/system_include_folders"), "headers that have changed",
                    "those that the run began with (" + expected + ")");
  if (!found.files.empty())
    spec.system_headers = std::make_shared<const SystemHeaders>(std::move(found));
}

}  // namespace warpath
