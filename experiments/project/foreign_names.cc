#include "experiments/project/foreign_names.h"

#include <algorithm>
#include <cctype>
#include <regex>
#include <set>
#include <string_view>
#include <vector>

#include "engine/text/source_edit.h"
#include "experiments/project/kernel_words.h"

namespace warpath {
namespace {

/// The types between `<` at `open` and its `>`, which goes to `close`; empty if they are no words.
std::vector<std::string> types_in(const Words& words, std::size_t open, std::size_t& close) {
  std::vector<std::string> out{""};
  for (std::size_t i = open + 1; i < words.size(); ++i) {
    const std::string word(words.text(i));
    if (word == ">") {
      close = i;
      return out;
    }
    if (word == ",") {
      out.emplace_back();
    } else if (words.is_name(i) || word == "::" || word == "*") {
      std::string& type = out.back();
      const bool apart = !type.empty() && word != "::" && !type.ends_with("::");
      type += (apart ? " " : "") + word;
    } else {
      break;
    }
  }
  return {};
}

/// Functions and macros: what stands behind the name of a type, or a #define.
std::set<std::string, std::less<>> declared_functions(const std::string& source,
                                                      const Words& words) {
  std::set<std::string, std::less<>> out;
  for (std::size_t i = 1; i < words.size(); ++i) {
    const bool behind_type = (words.is_name(i - 1) && words.text(i - 1) != "return") ||
                             words.text(i - 1) == ">" || words.text(i - 1) == "*";
    if (words.is_name(i) && words.text(i + 1) == "(" && behind_type) out.emplace(words.text(i));
  }
  for (const Token& token : tokenize(source).tokens) {
    if (token.kind != TokenKind::directive) continue;
    for (const Token& word : tokenize_directive(source, token).tokens)
      out.insert(spelling(source, word));
  }
  return out;
}

/// Where a name begins with the namespaces before it.
std::size_t begin_of(const Words& words, std::size_t i) {
  while (i > 1 && words.text(i - 1) == "::" && words.is_name(i - 2)) i -= 2;
  return words[i].begin;
}

std::set<std::string, std::less<>> declared_types(const Words& words) {
  std::set<std::string, std::less<>> out;
  for (std::size_t i = 0; i + 1 < words.size(); ++i) {
    const std::string_view word = words.text(i);
    if (word == "using") out.emplace(words.text(i + 1));
    if (word != "struct" && word != "class") continue;
    // all names before the body, such as those of attributes
    for (std::size_t k = i + 1; words.is_name(k) || words.text(k) == "("; ++k) {
      if (words.is_name(k)) out.emplace(words.text(k));
      if (words.text(k) == "(") k = words.closing(k);
    }
  }
  return out;
}

/// A rule a kind of name; each adds its edits and what stands for the names.
class ForeignNames {
 public:
  ForeignNames(const std::string& source,
               bool has_headers,
               std::map<std::string, std::string>& replaced)
      : source_(source),
        has_headers_(has_headers),
        words_(source),
        types_(declared_types(words_)),
        functions_(declared_functions(source, words_)),
        replaced_(replaced) {}

  std::string written_out() {
    for (std::size_t i = 0; i < words_.size(); ++i) {
      if (!words_.is_name(i)) continue;
      name_ = std::string(words_.text(i));
      if (words_.text(i + 1) == "<" && !types_.contains(name_)) {
        cast(i);
        numerics(i);
      } else if (words_.text(i + 1) == "(" && !functions_.contains(name_)) {
        ceiling(i);
        atomic(i);
        whole_warp(i);
      }
      element_type(i);
      function_object(i);
    }
    for (const std::string& header : headers_) edits_.push_back({0, 0, header});
    return edited(source_, std::move(edits_));
  }

 private:
  /// `ScalarConvert<From, To>::to(x)`.
  void cast(std::size_t i) {
    static const std::regex kCast("\\w*(convert|cast)", std::regex::icase);
    if (!std::regex_match(name_, kCast)) return;
    std::size_t close = 0;
    const std::vector<std::string> types = types_in(words_, i + 1, close);
    const std::size_t open = close + 3;
    if (types.size() != 2 || words_.text(close + 1) != "::" || words_.text(open) != "(") return;
    const std::size_t end = words_.closing(open);
    if (end == words_.size()) return;
    edits_.push_back(
        {begin_of(words_, i), words_[open].begin,
         replacement_mark(name_) + "static_cast<" + types[1] + ">(static_cast<" + types[0] + ">"});
    edits_.push_back({words_[end].end, words_[end].end, ")"});
    replaced_[name_] = "a cast to its last argument";
  }

  /// `THCNumerics<T>::exp(x)`, `THCNumerics<T>::div(a, b)`, `THCNumerics<T>::max()`.
  void numerics(std::size_t i) {
    static const std::set<std::string_view> kFunctions{
        "abs",  "acos", "asin",  "atan", "ceil",  "cos",  "cosh",  "erf",   "exp",   "floor",
        "log",  "max",  "min",   "pow",  "round", "sin",  "sinh",  "sqrt",  "tan",   "tanh",
        "erfc", "exp2", "exp10", "fmod", "expm1", "log2", "log10", "log1p", "rsqrt", "trunc"};
    static const std::map<std::string_view, std::string_view> kOperators{
        {"add", "+"}, {"sub", "-"}, {"mul", "*"}, {"div", "/"}, {"lt", "<"},
        {"gt", ">"},  {"le", "<="}, {"ge", ">="}, {"eq", "=="}, {"ne", "!="}};
    if (!name_.ends_with("Numerics")) return;
    std::size_t close = 0;
    const std::vector<std::string> types = types_in(words_, i + 1, close);
    if (types.size() != 1 || words_.text(close + 1) != "::") return;
    const std::size_t function = close + 2, open = close + 3;
    const std::string_view what = words_.text(function);
    if (words_.text(open) != "(") return;
    const std::size_t begin = begin_of(words_, i), end = words_.closing(open);
    if ((what == "max" || what == "min") && end == open + 1) {
      edits_.push_back({begin, words_[end].end,
                        replacement_mark(name_) + "static_cast<" + types[0] + ">(" +
                            (what == "min" ? "-" : "") + "3.402823466e38f)"});
    } else if (const auto found = kOperators.find(what);
               found != kOperators.end() && only_comma(open) != words_.size()) {
      between(begin, open, "((", ") " + std::string(found->second) + " (", "))");
    } else if (kFunctions.contains(what)) {
      edits_.push_back({begin, words_[function].begin, replacement_mark(name_)});
    } else {
      return;
    }
    replaced_[name_] = "the function or operator of this name, or the largest float";
  }

  /// `CeilDiv(a, b)`, as text, so that it may stand for any two integers.
  void ceiling(std::size_t i) {
    static const std::regex kCeiling("\\w*(ceil_?div|div_?ceil|div_?up)\\w*", std::regex::icase);
    if (!std::regex_match(name_, kCeiling)) return;
    const std::string by = second_argument(i + 1);
    if (by.empty()) return;
    between(begin_of(words_, i), i + 1, "(((", ") + (", ") - 1) / (" + by + "))");
    replaced_[name_] = "a quotient that is rounded up";
  }

  /// `gpuAtomicAdd(p, x)`, `gpuAtomicAddNoReturn(p, x)`.
  void atomic(std::size_t i) {
    static const std::regex kAtomic("gpuAtomic([A-Z][a-z]+)(NoReturn)?");
    std::smatch parts;
    if (!std::regex_match(name_, parts, kAtomic)) return;
    edits_.push_back(
        {begin_of(words_, i), words_[i].end, replacement_mark(name_) + "atomic" + parts[1].str()});
    replaced_[name_] = "atomic" + parts[1].str();
  }

  /// `WARP_SHFL_XOR(x, lane)`, and `__shfl_xor(x, lane)` as it was before warps could diverge: that
  /// of a whole warp.
  void whole_warp(std::size_t i) {
    static const std::regex kShuffle("(?:WARP_|__)(shfl(?:_xor|_up|_down)?|any|all|ballot)",
                                     std::regex::icase);
    std::smatch parts;
    if (!std::regex_match(name_, parts, kShuffle)) return;
    std::string what = "__" + parts[1].str() + "_sync";
    std::ranges::transform(what, what.begin(), [](unsigned char c) { return std::tolower(c); });
    edits_.push_back({begin_of(words_, i), words_[i + 1].end,
                      replacement_mark(name_) + what + "(0xffffffffu, "});
    replaced_[name_] = what + " of a whole warp";
  }

  /// `at::Half`, `c10::BFloat16`: CUDA's types of these formats.
  void element_type(std::size_t i) {
    const bool half = name_ == "Half", brain = name_ == "BFloat16";
    if (has_headers_ || !(half || brain) || i < 2 || words_.text(i - 1) != "::" ||
        types_.contains(name_))
      return;
    if (words_.text(i - 2) != "at" && words_.text(i - 2) != "c10") return;
    if (source_.find(name_ + "::") != std::string::npos) return;  // its members are not CUDA's
    const std::string type = half ? "__half" : "__nv_bfloat16";
    edits_.push_back({begin_of(words_, i), words_[i].end, replacement_mark(name_) + type});
    headers_.insert(half ? "#include <cuda_fp16.h>\n" : "#include <cuda_bf16.h>\n");
    replaced_[name_] = type;
  }

  /// `thrust::plus<T>`: a class with this function.
  void function_object(std::size_t i) {
    static const std::map<std::string, std::string, std::less<>> kObjects{
        {"plus", "a + b"},
        {"minus", "a - b"},
        {"multiplies", "a * b"},
        {"maximum", "a < b ? b : a"},
        {"minimum", "b < a ? b : a"}};
    const auto found = kObjects.find(name_);
    if (has_headers_ || found == kObjects.end() || i < 2 || words_.text(i - 1) != "::" ||
        words_.text(i - 2) != "thrust" || words_.text(i + 1) != "<" || types_.contains(name_))
      return;
    const std::string own = "thrust_" + name_;
    edits_.push_back({begin_of(words_, i), words_[i].end, replacement_mark(name_) + own});
    headers_.insert(
        "template <typename T>\nstruct " + own +
        " {\n  __host__ __device__ T operator()(const T& a, const T& b) const { return " +
        found->second + "; }\n};\n");
    replaced_[name_] = found->second;
  }

  /// Between the brackets at `open`, the comma of two arguments; the end if there are not two.
  [[nodiscard]] std::size_t only_comma(std::size_t open) const {
    const std::size_t end = words_.closing(open);
    std::vector<std::size_t> commas;
    for (std::size_t k = open + 1, depth = 0; k < end; ++k) {
      const std::string_view word = words_.text(k);
      if (word == "(" || word == "[" || word == "{" || word == "<") ++depth;
      if (word == ")" || word == "]" || word == "}" || word == ">") depth -= depth > 0 ? 1 : 0;
      if (word == "," && depth == 0) commas.push_back(k);
    }
    return end == words_.size() || commas.size() != 1 ? words_.size() : commas[0];
  }

  [[nodiscard]] std::string second_argument(std::size_t open) const {
    const std::size_t comma = only_comma(open);
    return comma == words_.size()
               ? std::string()
               : source_.substr(words_[comma].end,
                                words_[words_.closing(open)].begin - words_[comma].end);
  }

  /// Writes a call of two arguments as brackets around them with these before, between and behind.
  void between(std::size_t begin,
               std::size_t open,
               const std::string& before,
               const std::string& middle,
               const std::string& behind) {
    const std::size_t comma = only_comma(open), end = words_.closing(open);
    if (comma == words_.size()) return;
    edits_.push_back({begin, words_[open].end, replacement_mark(name_) + before});
    edits_.push_back({words_[comma].begin, words_[comma].end, middle});
    edits_.push_back({words_[end].begin, words_[end].end, behind});
  }

  const std::string& source_;
  const bool has_headers_;
  Words words_;
  std::set<std::string, std::less<>> types_, functions_;
  std::map<std::string, std::string>& replaced_;
  std::string name_;
  std::vector<Edit> edits_;
  std::set<std::string> headers_;
};

}  // namespace

std::string replacement_mark(const std::string& name) {
  return "/* " + name + " */ ";
}

std::string with_foreign_names(const std::string& source,
                               std::map<std::string, std::string>& replaced,
                               bool has_headers) {
  return ForeignNames(source, has_headers, replaced).written_out();
}

}  // namespace warpath
