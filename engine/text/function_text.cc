#include "engine/text/function_text.h"

#include "engine/base/words.h"
#include "engine/text/vector_type.h"

namespace warpath {
namespace {

void match_brackets(CodeText& code) {
  std::vector<std::size_t> open;
  code.balanced = true;
  for (std::size_t i = 0; i < code.tokens.size(); ++i) {
    if (code.tokens[i].kind != TokenKind::punctuator || code.text[i].size() != 1) continue;
    const char c = code.text[i][0];
    if (c == '(' || c == '[' || c == '{') {
      open.push_back(i);
    } else if (c == ')' || c == ']' || c == '}') {
      const char wanted = c == ')' ? '(' : c == ']' ? '[' : '{';
      if (open.empty() || code.text[open.back()][0] != wanted) {
        code.balanced = false;
        return;
      }
      code.match[i] = open.back();
      code.match[open.back()] = i;
      open.pop_back();
    }
  }
  code.balanced = open.empty();
}

/// Tokens [begin, brace) are what stands between the end of the last declaration and a "{".
bool opens_namespace(const CodeText& code, std::size_t begin, std::size_t brace) {
  for (std::size_t i = begin; i < brace; ++i) {
    if (code.is(i, "namespace")) return true;
  }
  return brace - begin == 2 && code.is(begin, "extern") &&
         code.tokens[begin + 1].kind == TokenKind::string;
}

/// The "(" of the parameter list if [begin, brace) is the head of a function definition, else
/// `brace`.
std::size_t parameter_list(const CodeText& code,
                           std::size_t begin,
                           std::size_t brace,
                           const NameSet& macro_names) {
  if (brace < begin + 4 || !code.is(brace - 1, ")")) return brace;
  const std::size_t open = code.match[brace - 1];
  if (open < begin + 2 || !code.is_name(open - 1)) return brace;
  const std::string_view name = code.text[open - 1];
  if (is_keyword(name) || name.starts_with("__") || macro_names.contains(name)) return brace;
  for (std::size_t i = begin; i < brace; ++i) {
    // ":" stands before a constructor's initialisers, "{" in a default argument or an unknown
    // construct.
    if (code.is(i, ":") || code.is(i, "{") || code.tokens[i].kind == TokenKind::directive)
      return brace;
  }
  return open;
}

/// A "}" that ends [begin, brace) {...} is followed by declarators and ";" (class, enum,
/// initialised variable).
bool needs_semicolon(const CodeText& code, std::size_t begin, std::size_t brace) {
  for (std::size_t i = begin; i < brace; ++i) {
    if (code.is(i, "=") || code.is(i, "struct") || code.is(i, "class") || code.is(i, "union") ||
        code.is(i, "enum"))
      return true;
  }
  return false;
}

}  // namespace

CodeText::CodeText(std::string_view text_of) : source(text_of) {
  TokenStream stream = tokenize(source);
  ambiguous = stream.ambiguous;
  tokens = without_comments(stream.tokens);
  text.reserve(tokens.size());
  match.resize(tokens.size());
  for (std::size_t i = 0; i < tokens.size(); ++i) {
    text.push_back(is_spelled_as_written(source, tokens[i])
                       ? source.substr(tokens[i].begin, tokens[i].size())
                       : respelled.emplace_back(spelling(source, tokens[i])));
    match[i] = i;
  }
  match_brackets(*this);
}

std::vector<FunctionText> find_functions(const CodeText& code, const NameSet& macro_names) {
  std::vector<FunctionText> out;
  if (!code.balanced) return out;
  std::size_t begin = 0;
  for (std::size_t i = 0; i < code.tokens.size(); ++i) {
    if (code.tokens[i].kind == TokenKind::directive) {
      if (begin == i) begin = i + 1;
    } else if (code.is(i, ";") || code.is(i, "}")) {  // this "}" closes a namespace
      begin = i + 1;
    } else if (code.is(i, "(") || code.is(i, "[")) {
      i = code.match[i];
    } else if (code.is(i, "{")) {
      if (opens_namespace(code, begin, i)) {
        begin = i + 1;
        continue;
      }
      const std::size_t open = parameter_list(code, begin, i, macro_names);
      const std::size_t close = code.match[i];
      if (open != i) out.push_back({open - 1, open, i, close + 1});
      if (open != i || !needs_semicolon(code, begin, i)) begin = close + 1;
      i = close;
    }
  }
  return out;
}

bool is_keyword(std::string_view word) {
  static constexpr WordList kWords(
      "alignas alignof and and_eq asm __asm __asm__ auto bitand bitor bool break case catch "
      "char char8_t char16_t char32_t class compl concept const consteval constexpr constinit "
      "const_cast continue co_await co_return co_yield decltype default delete do double "
      "dynamic_cast else enum explicit export extern false final float for friend goto if "
      "inline int long mutable namespace new noexcept not not_eq nullptr operator or or_eq "
      "override private protected public register reinterpret_cast requires restrict return "
      "short signed sizeof static static_assert static_cast struct switch template this "
      "thread_local throw true try typedef typeid typename typeof union unsigned using virtual "
      "void volatile wchar_t while xor xor_eq");
  static const NameSet kKeywords(kWords.begin(), kWords.end());
  return kKeywords.contains(word);
}

bool is_cuda_name(std::string_view word) {
  static const NameSet kNames{
      "threadIdx", "blockIdx", "blockDim",    "gridDim",     "warpSize",    "dim3",
      "half",      "half2",    "nv_half",     "nv_half2",    "nv_bfloat16", "bfloat16",
      "uint",      "ushort",   "uchar",       "ulong",       "uchar",       "schar",
      "NULL",      "INFINITY", "NAN",         "nvcuda",      "wmma",        "cooperative_groups",
      "cuda",      "std",      "cudaError_t", "cudaStream_t"};
  if (word.ends_with("_t") || word.starts_with("__") || word.starts_with("cuda") ||
      word.starts_with("CUDA"))
    return true;
  return kNames.contains(word) || vector_type_of(word).has_value();
}

bool is_member(const CodeText& code, std::size_t at) {
  return at > 0 && (code.is(at - 1, ".") || code.is(at - 1, "->"));
}

}  // namespace warpath
