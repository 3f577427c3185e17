#include "experiments/init/kernel_text.h"

#include <algorithm>
#include <map>
#include <set>
#include <string_view>
#include <vector>

#include "engine/text/tokens.h"

namespace warpath {
namespace {

using Names = std::set<std::string, std::less<>>;

/// A declaration at file or namespace level, or a #define.
struct Item {
  std::size_t begin = 0, end = 0;
  Names declares, mentions;
  bool always = false;  ///< kept whether or not it is named
};

class FileItems {
 public:
  FileItems(const model::Unit& unit, const model::Function& kernel, const TextOptions& options)
      : unit_(unit), kernel_(kernel), options_(options) {
    for (const Token& token : tokenize(unit.source()).tokens) {
      if (token.kind != TokenKind::comment && !left_out(token.begin)) tokens_.push_back(token);
    }
    collect();
  }
  [[nodiscard]] const std::vector<Item>& items() const { return items_; }

  /// The item's text without the names of namespaces that it stood in.
  [[nodiscard]] std::string text_of(const Item& item) const {
    std::string out;
    std::size_t at = item.begin;
    if (const std::string name = settable(item); !name.empty()) {
      const auto value = unit_.constants().find(name);
      return "#ifndef " + name + "\n#define " + name + " " + std::to_string(value->second) +
             "\n#endif";
    }
    for (std::size_t i = 0; i + 1 < tokens_.size() && tokens_[i].begin < item.end; ++i) {
      if (tokens_[i].begin < at || text(i + 1) != "::" || !namespaces_.contains(text(i))) continue;
      const bool rooted = i > 0 && text(i - 1) == "::" && tokens_[i - 1].begin >= at;
      const std::size_t begin = tokens_[rooted ? i - 1 : i].begin;
      out += unit_.source().substr(at, begin - at);
      at = tokens_[i + 1].end;
    }
    return out + std::string(unit_.source().substr(at, item.end - at));
  }

 private:
  /// The constant that the item is, if a macro of the compiler may replace it; otherwise empty.
  [[nodiscard]] std::string settable(const Item& item) const {
    if (item.declares.size() != 1) return "";
    const std::string& name = *item.declares.begin();
    return options_.settable.contains(name) && unit_.constants().contains(name) ? name : "";
  }
  [[nodiscard]] bool left_out(std::size_t at) const {
    return std::ranges::any_of(unit_.conditionals(), [&](const model::Conditional& c) {
      return !c.taken && c.branch.begin <= at && at < c.branch.end;
    });
  }
  [[nodiscard]] std::string_view text(std::size_t i) const {
    return i < tokens_.size()
               ? unit_.source().substr(tokens_[i].begin, tokens_[i].end - tokens_[i].begin)
               : std::string_view{};
  }

  void collect() {
    for (std::size_t i = 0; i < tokens_.size();) {
      if (tokens_[i].kind == TokenKind::directive) {
        directive(tokens_[i++]);
      } else if (const std::size_t inside = behind_opened_scope(i); inside > i) {
        i = inside;
      } else if (text(i) == "}" || text(i) == ";") {
        ++i;
      } else {
        i = declaration(i);
      }
    }
  }

  void directive(const Token& token) {
    const std::string kind = directive_name(unit_.source(), token);
    if (kind != "define" && kind != "include") return;
    Item item{.begin = token.begin, .end = token.end, .declares = {}, .mentions = {}};
    const TokenStream words = tokenize_directive(unit_.source(), token);
    if (kind == "include") {
      std::string header = words.tokens.size() > 2 ? spelling(unit_.source(), words.tokens[2]) : "";
      if (header.size() > 2) header = header.substr(1, header.size() - 2);
      item.always = options_.keeps_header && options_.keeps_header(header);
      items_.push_back(item);
      return;
    }
    for (std::size_t i = 2; i < words.tokens.size(); ++i) {
      const Token& word = words.tokens[i];
      if (word.kind != TokenKind::identifier) continue;
      auto& names = item.declares.empty() ? item.declares : item.mentions;
      names.emplace(unit_.source().substr(word.begin, word.size()));
    }
    items_.push_back(item);
  }

  /// `namespace a::b {`, `extern "C" {`: past the brace; otherwise `i`.
  std::size_t behind_opened_scope(std::size_t i) {
    if (text(i) == "extern" &&
        tokens_[i + 1 < tokens_.size() ? i + 1 : i].kind == TokenKind::string)
      return text(i + 2) == "{" ? i + 3 : i;
    const std::size_t begin = i;
    if (text(i) == "inline") ++i;
    if (text(i++) != "namespace") return begin;
    const std::size_t names = i;
    while (text(i) == "::" || (i < tokens_.size() && tokens_[i].kind == TokenKind::identifier)) ++i;
    if (text(i) != "{") return begin;
    for (std::size_t k = names; k < i; ++k) {
      if (text(k) != "::" && text(k) != "std") namespaces_.emplace(text(k));
    }
    return i + 1;
  }

  std::size_t declaration(std::size_t i) {
    const std::size_t begin = i;
    std::string_view last, declared;
    Item item{.begin = tokens_[i].begin, .end = 0, .declares = {}, .mentions = {}};
    int depth = 0, angles = 0;
    bool is_enum = false, device = false, kernel = false, body = false, called = false;
    for (; i < tokens_.size(); ++i) {
      const std::string_view word = text(i);
      item.end = tokens_[i].end;
      if (tokens_[i].kind == TokenKind::identifier) {
        item.mentions.emplace(word);
        if (is_enum && depth > 0) item.declares.emplace(word);
        if (depth > 0 || angles > 0) continue;
        is_enum = is_enum || word == "enum";
        device = device || word == "__device__" || word == "constexpr" || word == "__constant__" ||
                 says_device(word);
        kernel = kernel || word == "__global__";
        last = word;
      } else if (word == "(" || word == "[" || word == "{") {
        const bool attribute = last == "__launch_bounds__" || last == "__align__" ||
                               last == "alignas" || last == "__attribute__";
        if (depth == 0 && angles == 0 && declared.empty() && !attribute) declared = last;
        called = called || (depth == 0 && angles == 0 && word == "(" && !attribute);
        body = body || (depth == 0 && word == "{");
        ++depth;
      } else if (word == ")" || word == "]" || word == "}") {
        --depth;
        if (depth <= 0 && word == "}" && called && text(i + 1) != ";") break;
        if (depth < 0) break;
      } else if (depth == 0 && (word == "<" || word == ">" || word == ">>")) {
        angles = std::max(0, angles + (word == "<" ? 1 : word == ">" ? -1 : -2));
      } else if (depth == 0 && angles == 0 && declared.empty() && (word == "=" || word == ":")) {
        declared = last;
      } else if (depth == 0 && word == ";") {
        break;
      }
    }
    if (declared.empty()) declared = last;
    item.declares.emplace(declared);
    const bool own = item.begin <= kernel_.name_span.begin && kernel_.name_span.end <= item.end;
    const bool host = called && body && !device && !own;
    const bool opens = text(begin) == "using" && text(begin + 1) == "namespace";
    item.always = opens && options_.keeps_header && text(begin + 2) != "std" &&
                  !namespaces_.contains(text(begin + 2));
    if ((!kernel || own) && !host && (!opens || item.always)) items_.push_back(item);
    return i + 1;
  }

  /// A macro that stands for __device__.
  [[nodiscard]] bool says_device(std::string_view word) const {
    const model::Macro* const macro = unit_.macro(word);
    return macro != nullptr && macro->body.find("__device__") != std::string::npos;
  }

  const model::Unit& unit_;
  const model::Function& kernel_;
  const TextOptions& options_;
  std::vector<Token> tokens_;
  std::vector<Item> items_;
  Names namespaces_;  ///< that the file opens
};

}  // namespace

std::string kernel_text(const model::Unit& unit,
                        const model::Function& kernel,
                        const TextOptions& options) {
  const FileItems file(unit, kernel, options);
  Names wanted{std::string(kernel.name)};
  std::vector<bool> kept(file.items().size());
  for (bool more = true; more;) {
    more = false;
    for (std::size_t i = 0; i < kept.size(); ++i) {
      const Item& item = file.items()[i];
      const bool named = std::ranges::any_of(
          item.declares, [&](const std::string& name) { return wanted.contains(name); });
      if (kept[i] || !(named || item.always)) continue;
      kept[i] = more = true;
      wanted.insert(item.mentions.begin(), item.mentions.end());
    }
  }
  std::string out;
  for (std::size_t i = 0; i < kept.size(); ++i) {
    const Item& item = file.items()[i];
    if (kept[i]) out += file.text_of(item) + "\n";
  }
  return out;
}

}  // namespace warpath
