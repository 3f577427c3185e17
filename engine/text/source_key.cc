#include "engine/text/source_key.h"

#include <algorithm>
#include <array>
#include <map>
#include <string>
#include <unordered_set>
#include <utility>
#include <vector>

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
  static const NameSet kHeaders{"cfloat",
                                "climits",
                                "cmath",
                                "cstddef",
                                "cstdint",
                                "cuda.h",
                                "cuda_bf16.h",
                                "cuda_fp16.h",
                                "cuda_fp8.h",
                                "cuda_pipeline.h",
                                "cuda_pipeline_primitives.h",
                                "cuda_runtime.h",
                                "cuda_runtime_api.h",
                                "device_launch_parameters.h",
                                "float.h",
                                "limits",
                                "limits.h",
                                "math.h",
                                "math_constants.h",
                                "mma.h",
                                "stddef.h",
                                "stdint.h",
                                "type_traits",
                                "vector_types.h",
                                "cooperative_groups.h",
                                "cooperative_groups/reduce.h",
                                "cuda/barrier",
                                "cuda/pipeline"};
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
  NameSet names;                         // all identifiers in preprocessor lines
  bool rename = true;                    // nothing in them hides structure or names
  bool whole_bytes = false;              // tokens are turned into text or joined

  void add(std::string_view source, const Token& directive);
};

void Directives::add(std::string_view source, const Token& directive) {
  const TokenStream inside = tokenize_directive(source, directive);
  whole_bytes = whole_bytes || inside.ambiguous;
  std::vector<Word>& words = lines.emplace_back();
  std::string open;  // brackets of a macro's body
  for (const Token& token : without_comments(inside.tokens)) {
    const Word& word =
        words.emplace_back(Word{token.kind, token.space_before, spelling(source, token)});
    const std::string& text = word.text;
    if (word.kind == TokenKind::identifier) names.insert(text);
    if (words.size() <= 2 || words[1].text != "define" || word.kind != TokenKind::punctuator)
      continue;
    if (text == "#" || text == "##") whole_bytes = true;
    if (text == "(" || text == "[" || text == "{") open += text;
    if (text == ")" || text == "]" || text == "}") {
      const char wanted = text == ")" ? '(' : text == "]" ? '[' : '{';
      if (open.empty() || open.back() != wanted) rename = false;
      if (!open.empty()) open.pop_back();
    }
  }
  if (!open.empty()) rename = false;
  const std::string_view name = words.size() > 1 ? std::string_view(words[1].text) : "";
  if (name.starts_with("include") || name == "import") {
    if (words.size() != 3 || !is_known_header(words[2].text)) rename = false;
  }
}

/// Until the next call on this thread: variants of a kernel have the same directives.
const Directives& survey_directives(std::string_view source, const std::vector<Token>& tokens) {
  struct Known {
    std::string text;
    Directives directives;
  };
  static thread_local Known known;
  std::string text;
  for (const Token& token : tokens) {
    if (token.kind == TokenKind::directive)
      text.append(source.substr(token.begin, token.size())).push_back('\0');
  }
  if (text == known.text) return known.directives;
  known = {};
  for (const Token& token : tokens) {
    if (token.kind == TokenKind::directive) known.directives.add(source, token);
  }
  known.text = std::move(text);
  return known.directives;
}

bool has_line_values(const CodeText& code, const NameSet& directive_names) {
  for (const std::string_view name :
       {"__LINE__", "__builtin_LINE", "__builtin_COLUMN", "source_location"}) {
    if (directive_names.contains(name)) return true;
    if (std::find(code.text.begin(), code.text.end(), name) != code.text.end()) return true;
  }
  return false;
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

void add_directive(Hasher& hasher, const std::vector<Directives::Word>& words) {
  hasher.add(std::uint64_t{kDirectiveBegin});
  for (std::size_t i = 0; i < words.size(); ++i) {
    // `#define F(x)` and `#define F (x)` differ.
    if (i == 3) hasher.add(std::uint64_t{words[i].space_before ? 1U : 0U});
    hasher.add(static_cast<std::uint64_t>(words[i].kind)).add(std::string_view(words[i].text));
  }
  hasher.add(std::uint64_t{kDirectiveEnd});
}

/// `line`: of the directives, the next one.
void add_tokens(Hasher& hasher,
                const CodeText& code,
                std::size_t begin,
                std::size_t end,
                const NameSet& locals,
                const Directives& directives,
                std::size_t& line) {
  std::map<std::string_view, std::uint64_t> indices;
  for (std::size_t i = begin; i < end; ++i) {
    const Token& token = code.tokens[i];
    if (token.kind == TokenKind::directive) {
      add_directive(hasher, directives.lines[line++]);
    } else if (token.kind == TokenKind::identifier && !is_member(code, i) &&
               locals.contains(code.text[i])) {
      const std::uint64_t index = indices.try_emplace(code.text[i], indices.size()).first->second;
      hasher.add(std::uint64_t{kLocalName}).add(index);
    } else {
      hasher.add(static_cast<std::uint64_t>(token.kind)).add(code.text[i]);
    }
  }
}

Hash128 computed_key(std::string_view source, const SourceKeyRules& rules) {
  const auto of_bytes = [&] {
    return Hasher().add(std::string_view("bytes-1")).add(source).digest();
  };
  const TokenStream stream = tokenize(source);
  const Directives& directives = survey_directives(source, stream.tokens);
  if (stream.ambiguous || directives.whole_bytes) return of_bytes();
  const CodeText code(source);
  if (has_line_values(code, directives.names)) return of_bytes();
  Hasher hasher;
  hasher.add(std::string_view("tokens-1"));
  std::vector<FunctionText> functions;
  // The kernel's own name is among the fixed ones and no macro, so only directives can make a
  // function's name one.
  if (rules.rename_locals && directives.rename) functions = find_functions(code, directives.names);
  const SharedNames shared = shared_names(code, functions, directives, rules);
  std::size_t at = 0, line = 0;
  const auto add = [&](std::size_t end, const NameSet& locals) {
    add_tokens(hasher, code, at, end, locals, directives, line);
    at = end;
  };
  for (const FunctionText& function : functions) {
    add(function.open, {});
    hasher.add(std::uint64_t{kFunctionBegin});
    add(function.end, local_names(code, function, shared));
    hasher.add(std::uint64_t{kFunctionEnd});
  }
  add(code.tokens.size(), {});
  return hasher.digest();
}

/// The last keys computed by a thread, by the hash of what they were computed from: variants that
/// differ in their tunables alone share a source.
class RecentKeys {
 public:
  [[nodiscard]] Hash128 of(std::string_view source, const SourceKeyRules& rules) {
    Hasher hasher;
    hasher.add(source).add(std::uint64_t{rules.rename_locals});
    for (const std::string& name : rules.fixed_names) hasher.add(std::string_view(name));
    const Hash128 from = hasher.digest();
    Entry& entry = entries_[from.low % entries_.size()];
    if (!entry.known || entry.from != from)
      entry = {.from = from, .key = computed_key(source, rules), .known = true};
    return entry.key;
  }

 private:
  struct Entry {
    Hash128 from, key;
    bool known = false;
  };
  std::array<Entry, 256> entries_;
};

}  // namespace

Hash128 source_key(std::string_view source, const SourceKeyRules& rules) {
  thread_local RecentKeys recent;
  return recent.of(source, rules);
}

}  // namespace warpath
