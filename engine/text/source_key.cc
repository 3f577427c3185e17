#include "engine/text/source_key.h"

#include <algorithm>
#include <map>
#include <string>

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
  NameSet names;             // all identifiers in preprocessor lines
  bool rename = true;        // nothing in them hides structure or names
  bool whole_bytes = false;  // tokens are turned into text or joined
};

Directives survey_directives(const CodeText& code) {
  Directives out;
  for (const Token& token : code.tokens) {
    if (token.kind != TokenKind::directive) continue;
    const TokenStream inside = tokenize_directive(code.source, token);
    out.whole_bytes = out.whole_bytes || inside.ambiguous;
    const std::vector<Token> tokens = without_comments(inside.tokens);
    std::string name;
    std::string open;  // brackets of a macro's body
    for (std::size_t i = 0; i < tokens.size(); ++i) {
      const std::string text = spelling(code.source, tokens[i]);
      if (i == 1) name = text;
      if (tokens[i].kind == TokenKind::identifier) out.names.insert(text);
      if (i > 1 && name == "define" && tokens[i].kind == TokenKind::punctuator) {
        if (text == "#" || text == "##") out.whole_bytes = true;
        if (text == "(" || text == "[" || text == "{") open += text;
        if (text == ")" || text == "]" || text == "}") {
          const char wanted = text == ")" ? '(' : text == "]" ? '[' : '{';
          if (open.empty() || open.back() != wanted) out.rename = false;
          if (!open.empty()) open.pop_back();
        }
      }
    }
    if (!open.empty()) out.rename = false;
    if (name.starts_with("include") || name == "import") {
      if (tokens.size() != 3 || !is_known_header(spelling(code.source, tokens[2])))
        out.rename = false;
    }
  }
  return out;
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
  for (std::size_t i = 0; i < code.tokens.size(); ++i) {
    while (function != functions.end() && i == function->open) i = function++->end;
    if (code.is_name(i)) out.outside.insert(code.text[i]);
  }
  return out;
}

void add_directive(Hasher& hasher, const CodeText& code, const Token& directive) {
  hasher.add(std::uint64_t{kDirectiveBegin});
  const std::vector<Token> tokens =
      without_comments(tokenize_directive(code.source, directive).tokens);
  for (std::size_t i = 0; i < tokens.size(); ++i) {
    // `#define F(x)` and `#define F (x)` differ.
    if (i == 3) hasher.add(std::uint64_t{tokens[i].space_before ? 1U : 0U});
    hasher.add(static_cast<std::uint64_t>(tokens[i].kind))
        .add(std::string_view(spelling(code.source, tokens[i])));
  }
  hasher.add(std::uint64_t{kDirectiveEnd});
}

void add_tokens(Hasher& hasher,
                const CodeText& code,
                std::size_t begin,
                std::size_t end,
                const NameSet& locals) {
  std::map<std::string_view, std::uint64_t> indices;
  for (std::size_t i = begin; i < end; ++i) {
    const Token& token = code.tokens[i];
    if (token.kind == TokenKind::directive) {
      add_directive(hasher, code, token);
    } else if (token.kind == TokenKind::identifier && !is_member(code, i) &&
               locals.contains(code.text[i])) {
      const std::uint64_t index = indices.try_emplace(code.text[i], indices.size()).first->second;
      hasher.add(std::uint64_t{kLocalName}).add(index);
    } else {
      hasher.add(static_cast<std::uint64_t>(token.kind)).add(std::string_view(code.text[i]));
    }
  }
}

}  // namespace

Hash128 source_key(std::string_view source, const SourceKeyRules& rules) {
  const CodeText code(source);
  const Directives directives = survey_directives(code);
  Hasher hasher;
  if (code.ambiguous || directives.whole_bytes || has_line_values(code, directives.names)) {
    return hasher.add(std::string_view("bytes-1")).add(source).digest();
  }
  hasher.add(std::string_view("tokens-1"));
  std::vector<FunctionText> functions;
  // The kernel's own name is among the fixed ones and no macro, so only directives can make a
  // function's name one.
  if (rules.rename_locals && directives.rename) functions = find_functions(code, directives.names);
  const SharedNames shared = shared_names(code, functions, directives, rules);
  std::size_t at = 0;
  for (const FunctionText& function : functions) {
    add_tokens(hasher, code, at, function.open, {});
    hasher.add(std::uint64_t{kFunctionBegin});
    add_tokens(hasher, code, function.open, function.end, local_names(code, function, shared));
    hasher.add(std::uint64_t{kFunctionEnd});
    at = function.end;
  }
  add_tokens(hasher, code, at, code.tokens.size(), {});
  return hasher.digest();
}

}  // namespace warpath
