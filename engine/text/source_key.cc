#include "engine/text/source_key.h"

#include <algorithm>
#include <array>
#include <map>
#include <memory>
#include <optional>
#include <string>
#include <unordered_map>
#include <unordered_set>
#include <utility>
#include <vector>

#include "engine/base/hash_pieces.h"
#include "engine/base/words.h"
#include "engine/text/changed_text.h"
#include "engine/text/function_text.h"
#include "engine/text/local_names.h"

namespace warpath {
namespace {

// First word of each record in the hashed stream; other words are TokenKind values, which are
// smaller.
enum Tag : std::uint64_t {
  kLocalName = 100,
  kFunctionBegin,
  kFunctionEnd,
  kDirectiveBegin,
  kDirectiveEnd
};

/// Headers whose macros use no plain names that a kernel might give to a variable.
bool is_known_header(std::string_view name) {
  static constexpr WordList kHeaders(
      "cfloat climits cmath cstddef cstdint cuda.h cuda_bf16.h cuda_fp16.h cuda_fp8.h "
      "cuda_pipeline.h cuda_pipeline_primitives.h cuda_runtime.h cuda_runtime_api.h "
      "device_launch_parameters.h float.h limits limits.h math.h math_constants.h mma.h "
      "stddef.h stdint.h type_traits vector_types.h cooperative_groups.h "
      "cooperative_groups/reduce.h cuda/barrier cuda/pipeline");
  return name.size() > 2 && kHeaders.contains(name.substr(1, name.size() - 2));
}

struct Directives {
  /// A token of a preprocessor line.
  struct Word {
    TokenKind kind;
    bool space_before;
    std::string text;
  };
  std::vector<std::vector<Word>> lines;  // in their order
  std::vector<bool> whole;               // tokens of a line are turned into text, joined or unclear
  NameSet names;                         // all identifiers in preprocessor lines
  bool rename = true;                    // nothing in them hides structure or names

  void add(std::string_view source, const Token& directive);
};

void Directives::add(std::string_view source, const Token& directive) {
  const TokenStream inside = tokenize_directive(source, directive);
  bool whole_line = inside.ambiguous;
  std::vector<Word>& words = lines.emplace_back();
  std::string open;  // brackets of a macro's body
  for (const Token& token : without_comments(inside.tokens)) {
    const Word& word =
        words.emplace_back(Word{token.kind, token.space_before, spelling(source, token)});
    const std::string& text = word.text;
    if (word.kind == TokenKind::identifier) names.insert(text);
    if (words.size() <= 2 || words[1].text != "define" || word.kind != TokenKind::punctuator)
      continue;
    if (text == "#" || text == "##") whole_line = true;
    if (text == "(" || text == "[" || text == "{") open += text;
    if (text == ")" || text == "]" || text == "}") {
      const char wanted = text == ")" ? '(' : text == "]" ? '[' : '{';
      if (open.empty() || open.back() != wanted) rename = false;
      if (!open.empty()) open.pop_back();
    }
  }
  if (!open.empty()) rename = false;
  whole.push_back(whole_line);
  const std::string_view name = words.size() > 1 ? std::string_view(words[1].text) : "";
  if (name.starts_with("include") || name == "import") {
    if (words.size() != 3 || !is_known_header(words[2].text)) rename = false;
  }
}

/// Variants of a kernel have the same directives.
std::shared_ptr<const Directives> survey_directives(std::string_view source,
                                                    const std::vector<Token>& tokens) {
  struct Known {
    std::string text;
    std::shared_ptr<const Directives> directives;
  };
  static thread_local Known known;
  std::string text;
  for (const Token& token : tokens) {
    if (token.kind == TokenKind::directive)
      text.append(source.substr(token.begin, token.size())).push_back('\0');
  }
  if (known.directives != nullptr && text == known.text) return known.directives;
  auto directives = std::make_shared<Directives>();
  for (const Token& token : tokens) {
    if (token.kind == TokenKind::directive) directives->add(source, token);
  }
  known = {.text = std::move(text), .directives = std::move(directives)};
  return known.directives;
}

bool is_line_value(std::string_view name) {
  return name == "__LINE__" || name == "__builtin_LINE" || name == "__builtin_COLUMN" ||
         name == "source_location";
}

/// The tokens for which all bytes of a text count, in order.
std::vector<std::size_t> byte_readers(const CodeText& code, const Directives& directives) {
  std::vector<std::size_t> out;
  std::size_t line = 0;
  for (std::size_t i = 0; i < code.tokens.size(); ++i) {
    bool reads = is_line_value(code.text[i]);
    if (code.tokens[i].kind == TokenKind::directive) {
      reads = directives.whole[line] ||
              std::ranges::any_of(directives.lines[line], [](const Directives::Word& word) {
                return is_line_value(word.text);
              });
      ++line;
    }
    if (reads) out.push_back(i);
  }
  return out;
}

SharedNames shared_names(const CodeText& code,
                         const std::vector<FunctionText>& functions,
                         const Directives& directives,
                         const SourceKeyRules& rules) {
  SharedNames out;
  out.macros = directives.names;
  out.macros.insert(rules.fixed_names.begin(), rules.fixed_names.end());
  out.outside = out.macros;
  auto function = functions.begin();
  std::unordered_set<std::string_view> seen;
  for (std::size_t i = 0; i < code.tokens.size(); ++i) {
    while (function != functions.end() && i == function->open) i = function++->end;
    if (code.is_name(i) && seen.insert(code.text[i]).second) out.outside.emplace(code.text[i]);
  }
  return out;
}

/// What is hashed, as a Hasher would be given it.
class Records {
 public:
  Records& add(std::uint64_t value) {
    bytes_.append(reinterpret_cast<const char*>(&value), sizeof value);
    return *this;
  }
  Records& add(std::string_view text) {
    add(static_cast<std::uint64_t>(text.size()));
    bytes_ += text;
    return *this;
  }
  [[nodiscard]] std::string_view bytes() const { return bytes_; }

 private:
  std::string bytes_;
};

void add_directive(Records& records, const std::vector<Directives::Word>& words) {
  records.add(std::uint64_t{kDirectiveBegin});
  for (std::size_t i = 0; i < words.size(); ++i) {
    // `#define F(x)` and `#define F (x)` differ.
    if (i == 3) records.add(std::uint64_t{words[i].space_before ? 1U : 0U});
    records.add(static_cast<std::uint64_t>(words[i].kind)).add(std::string_view(words[i].text));
  }
  records.add(std::uint64_t{kDirectiveEnd});
}

/// `line`: of the directives, the next one. `noted(i)` is called before the record of token i.
template <class Noted>
void add_tokens(Records& records,
                const CodeText& code,
                std::size_t begin,
                std::size_t end,
                const NameSet& locals,
                const Directives& directives,
                std::size_t& line,
                const Noted& noted) {
  std::map<std::string_view, std::uint64_t> indices;
  for (std::size_t i = begin; i < end; ++i) {
    const Token& token = code.tokens[i];
    noted(i);
    if (token.kind == TokenKind::directive) {
      add_directive(records, directives.lines[line++]);
    } else if (!locals.empty() && token.kind == TokenKind::identifier && !is_member(code, i) &&
               locals.contains(code.text[i])) {
      const std::uint64_t index = indices.try_emplace(code.text[i], indices.size()).first->second;
      records.add(std::uint64_t{kLocalName}).add(index);
    } else {
      records.add(static_cast<std::uint64_t>(token.kind)).add(code.text[i]);
    }
  }
}

/// A text with what its key is computed from, and the keys of texts that differ from it in one
/// place: only what stands there is read.
class KeyedText {
 public:
  KeyedText(std::string_view source, const SourceKeyRules& rules)
      : source_(source), rules_(rules), code_(source_) {
    directives_ = survey_directives(source_, code_.tokens);
    byte_readers_ = byte_readers(code_, *directives_);
    whole_bytes_ = code_.ambiguous || !byte_readers_.empty();
    if (whole_bytes_) return;
    // The kernel's own name is among the fixed ones and no macro, so only directives can make a
    // function's name one.
    if (renames()) functions_ = find_functions(code_, directives_->names);
    shared_ = shared_names(code_, functions_, *directives_, rules);
    records_.add(std::string_view("tokens-1"));
    offsets_.resize(code_.tokens.size() + 1);
    std::size_t at = 0, line = 0;
    const auto add = [&](std::size_t end, const NameSet& locals) {
      add_tokens(records_, code_, at, end, locals, *directives_, line,
                 [&](std::size_t i) { offsets_[i] = records_.bytes().size(); });
      at = end;
    };
    for (const FunctionText& function : functions_) {
      add(function.open, {});
      records_.add(std::uint64_t{kFunctionBegin});
      add(function.end, local_names(code_, function, shared_));
      ends_.push_back(records_.bytes().size());
      records_.add(std::uint64_t{kFunctionEnd});
    }
    add(code_.tokens.size(), {});
    offsets_.back() = records_.bytes().size();
  }
  KeyedText(const KeyedText&) = delete;  // its parts refer to each other
  KeyedText& operator=(const KeyedText&) = delete;

  [[nodiscard]] Hash128 key() const {
    return whole_bytes_ ? key_of_bytes(source_) : hash128_of({records_.bytes()});
  }

  /// The key of `source` under the same rules; nullopt if it cannot be told from this text.
  [[nodiscard]] std::optional<Hash128> key_of(std::string_view source,
                                              const SourceKeyRules& rules) {
    if (code_.ambiguous || rules.rename_locals != rules_.rename_locals ||
        rules.fixed_names != rules_.fixed_names)
      return std::nullopt;
    const CommonEnds same = common_ends(source_, source);
    return renames() && !whole_bytes_ ? with_function(source, same) : with_lines(source, same);
  }

 private:
  static Hash128 key_of_bytes(std::string_view source) {
    return Hasher().add(std::string_view("bytes-1")).add(source).digest();
  }
  [[nodiscard]] bool renames() const { return rules_.rename_locals && directives_->rename; }
  [[nodiscard]] std::optional<Hash128> with_lines(std::string_view source,
                                                  const CommonEnds& same) const;
  [[nodiscard]] std::optional<Hash128> with_function(std::string_view source,
                                                     const CommonEnds& same);
  /// The names of directives, if they were those of `now` instead of lines [line, end), change only
  /// what function `f` calls its own: the names that come and go are added to `come` and `gone`.
  [[nodiscard]] bool only_concern(std::size_t f,
                                  std::size_t line,
                                  std::size_t end,
                                  const Directives& now,
                                  NameSet& come,
                                  NameSet& gone);
  [[nodiscard]] std::size_t directives_before(std::size_t token) const {
    return static_cast<std::size_t>(std::count_if(
        code_.tokens.begin(), code_.tokens.begin() + static_cast<std::ptrdiff_t>(token),
        [](const Token& t) { return t.kind == TokenKind::directive; }));
  }

  std::string source_;
  SourceKeyRules rules_;
  CodeText code_;
  std::shared_ptr<const Directives> directives_;
  std::vector<std::size_t> byte_readers_;
  bool whole_bytes_ = false;
  std::vector<FunctionText> functions_;
  SharedNames shared_;
  Records records_;
  std::vector<std::size_t> offsets_;  // in the records, of each token's, then of the end
  std::vector<std::size_t> ends_;     // of each function's
  // Of names in directives: how often. Of names in the code: the function that alone has them.
  std::map<std::string, int, std::less<>> directive_names_;
  std::unordered_map<std::string_view, std::size_t> owners_;
};

constexpr std::size_t kNoOwner = static_cast<std::size_t>(-1);

std::optional<Hash128> KeyedText::with_lines(std::string_view source,
                                             const CommonEnds& same) const {
  const ChangedLines lines = lines_around(source_, code_.tokens, source, same);
  constexpr std::string_view kByteOrderMark = "\xEF\xBB\xBF";
  const std::string_view text = source.substr(lines.begin, lines.end - lines.begin);
  if (lines.begin > 0 && text.starts_with(kByteOrderMark)) return std::nullopt;
  const CodeText part(text);
  if (part.ambiguous) return std::nullopt;
  if (whole_bytes_) {
    const bool still = byte_readers_.front() < lines.first || byte_readers_.back() >= lines.rest;
    return still ? std::optional(key_of_bytes(source)) : std::nullopt;
  }
  Directives before, now;
  for (std::size_t i = lines.first; i < lines.rest; ++i) {
    if (code_.tokens[i].kind == TokenKind::directive) before.add(source_, code_.tokens[i]);
  }
  for (const Token& token : part.tokens) {
    if (token.kind == TokenKind::directive) now.add(part.source, token);
  }
  // What forbids names of locals stands elsewhere.
  if (!before.rename || !byte_readers(part, now).empty()) return std::nullopt;
  Records records;
  std::size_t line = 0;
  add_tokens(records, part, 0, part.tokens.size(), {}, now, line, [](std::size_t) {});
  const std::string_view all = records_.bytes();
  return hash128_of(
      {all.substr(0, offsets_[lines.first]), records.bytes(), all.substr(offsets_[lines.rest])});
}

std::optional<Hash128> KeyedText::with_function(std::string_view source, const CommonEnds& same) {
  // The function between whose first "(" and last "}" everything that differs stands.
  const auto after = std::upper_bound(
      functions_.begin(), functions_.end(), same.before,
      [&](std::size_t at, const FunctionText& f) { return at <= code_.tokens[f.open].begin; });
  if (after == functions_.begin()) return std::nullopt;
  const auto f = static_cast<std::size_t>(after - functions_.begin()) - 1;
  const FunctionText& function = functions_[f];
  const std::size_t begin = code_.tokens[function.open].begin;
  const std::size_t tail = source_.size() - code_.tokens[function.end - 1].begin;
  if (same.behind < tail) return std::nullopt;
  const CodeText part(source.substr(begin, source.size() - tail + 1 - begin));
  const std::size_t count = part.tokens.size();
  if (part.ambiguous || !part.balanced || count < 4 || !part.is(0, "(") ||
      part.tokens.back().end != part.source.size() || !part.is(count - 1, "}") ||
      part.match[count - 1] != part.match[0] + 1)
    return std::nullopt;
  for (std::size_t i = 0; i <= part.match[0]; ++i) {
    if (part.is(i, ":") || part.is(i, "{") || part.is(i, "namespace") ||
        part.tokens[i].kind == TokenKind::directive)
      return std::nullopt;
  }
  Directives now;
  for (const Token& token : part.tokens) {
    if (token.kind == TokenKind::directive) now.add(part.source, token);
  }
  if (!now.rename || !byte_readers(part, now).empty()) return std::nullopt;
  NameSet come, gone;
  const std::size_t line = directives_before(function.open);
  if (!only_concern(f, line, directives_before(function.end), now, come, gone)) return std::nullopt;
  SharedNames& shared = shared_;
  const auto exchange = [&shared](const NameSet& in, const NameSet& out) {
    for (NameSet* const names : {&shared.macros, &shared.outside}) {
      names->insert(in.begin(), in.end());
      for (const std::string& name : out) names->erase(name);
    }
  };
  exchange(come, gone);
  const FunctionText own{.name = 0, .open = 0, .body = part.match[0] + 1, .end = count};
  const NameSet locals = local_names(part, own, shared);
  exchange(gone, come);
  Records records;
  std::size_t at = 0;
  add_tokens(records, part, 0, count, locals, now, at, [](std::size_t) {});
  const std::string_view all = records_.bytes();
  return hash128_of(
      {all.substr(0, offsets_[function.open]), records.bytes(), all.substr(ends_[f])});
}

bool KeyedText::only_concern(std::size_t f,
                             std::size_t line,
                             std::size_t end,
                             const Directives& now,
                             NameSet& come,
                             NameSet& gone) {
  std::map<std::string_view, int> change;
  const auto count = [](const auto& lines, std::size_t first, std::size_t last, const auto& add) {
    for (std::size_t i = first; i < last; ++i) {
      for (const Directives::Word& word : lines[i]) {
        if (word.kind == TokenKind::identifier) add(word.text);
      }
    }
  };
  count(directives_->lines, line, end, [&](const std::string& name) { --change[name]; });
  count(now.lines, 0, now.lines.size(), [&](const std::string& name) { ++change[name]; });
  if (std::ranges::all_of(change, [](const auto& one) { return one.second == 0; })) return true;
  if (directive_names_.empty())
    count(directives_->lines, 0, directives_->lines.size(),
          [&](const std::string& name) { ++directive_names_[name]; });
  for (const auto& [name, by] : change) {
    const auto known = directive_names_.find(name);
    const int had = known == directive_names_.end() ? 0 : known->second;
    if ((had == 0) == (had + by == 0)) continue;
    if (rules_.fixed_names.contains(name)) return false;
    (had == 0 ? come : gone).emplace(name);
  }
  if (come.empty() && gone.empty()) return true;
  if (owners_.empty()) {
    std::size_t next = 0;
    for (std::size_t i = 0; i < code_.tokens.size(); ++i) {
      while (next < functions_.size() && functions_[next].end <= i) ++next;
      if (!code_.is_name(i)) continue;
      const bool inside = next < functions_.size() && functions_[next].open <= i;
      const std::size_t owner = inside ? next : kNoOwner;
      const auto [it, is_new] = owners_.try_emplace(code_.text[i], owner);
      if (!is_new && it->second != owner) it->second = kNoOwner;
    }
  }
  const auto own = [&](const std::string& name) {
    const auto it = owners_.find(name);
    return it == owners_.end() || it->second == f;
  };
  return std::ranges::all_of(come, own) && std::ranges::all_of(gone, own);
}

/// The last keys computed by a thread, by the hash of what they were computed from: variants that
/// differ in their tunables alone share a source. Others differ from one of the latest texts in one
/// place.
class RecentKeys {
 public:
  [[nodiscard]] Hash128 of(std::string_view source, const SourceKeyRules& rules) {
    Hasher hasher;
    hasher.add(source).add(std::uint64_t{rules.rename_locals});
    for (const std::string& name : rules.fixed_names) hasher.add(std::string_view(name));
    const Hash128 from = hasher.digest();
    Entry& entry = entries_[from.low % entries_.size()];
    if (!entry.known || entry.from != from)
      entry = {.from = from, .key = computed(source, rules), .known = true};
    return entry.key;
  }

 private:
  struct Entry {
    Hash128 from, key;
    bool known = false;
  };

  [[nodiscard]] Hash128 computed(std::string_view source, const SourceKeyRules& rules) {
    constexpr std::size_t kMost = 3;
    for (auto it = texts_.begin(); it != texts_.end(); ++it) {
      const std::optional<Hash128> key = (*it)->key_of(source, rules);
      if (!key) continue;
      std::rotate(texts_.begin(), it, it + 1);
      return *key;
    }
    if (texts_.size() == kMost) texts_.pop_back();
    texts_.insert(texts_.begin(), std::make_unique<KeyedText>(source, rules));
    return texts_.front()->key();
  }

  std::array<Entry, 256> entries_;
  std::vector<std::unique_ptr<KeyedText>> texts_;  // latest first
};

}  // namespace

Hash128 source_key(std::string_view source, const SourceKeyRules& rules) {
  thread_local RecentKeys recent;
  return recent.of(source, rules);
}

}  // namespace warpath
