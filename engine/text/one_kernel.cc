#include "engine/text/one_kernel.h"

#include <algorithm>
#include <array>
#include <optional>

#include "engine/text/function_text.h"

namespace warpath {
namespace {

/// Words that parentheses follow in the head of a function without being its name.
constexpr std::array<std::string_view, 12> kAttributes{
    "__launch_bounds__", "__attribute__", "__align__",      "alignas",
    "__cluster_dims__",  "__maxnreg__",   "__block_size__", "__declspec",
    "decltype",          "noexcept",      "requires",       "explicit"};

/// Tokens [begin, end) become `replacement` and the preprocessor lines among them.
struct Cut {
  std::size_t begin = 0;
  std::size_t end = 0;
  std::string_view replacement;
};

class Pruner {
 public:
  Pruner(std::string_view source, const std::vector<std::string>& kept)
      : source_(source), code_(source) {
    for (const std::string& name : kept) kept_.emplace(plain_kernel_name(name));
    first_ = kept.empty() ? "" : plain_kernel_name(kept.front());
    instantiated_ = !kept.empty() && kept.front().find('<') != std::string::npos;
  }

  std::string run() {
    if (code_.ambiguous || first_.empty()) return std::string(source_);
    for (std::size_t i = 0; i < code_.tokens.size(); ++i) {
      if (is_directive(i)) note_macro(i);
    }
    for (std::size_t i = 0; i < code_.tokens.size(); ++i) {
      if (code_.is_name(i) && code_.is(i, "__global__")) i = kernel(i);
    }
    if (!found_) return std::string(source_);
    for (std::size_t i = 0; i + 1 < code_.tokens.size(); ++i) {
      if (code_.is_name(i) && code_.is(i, "template") && !code_.is(i + 1, "<")) instantiation(i);
    }
    return without_cuts();
  }

 private:
  [[nodiscard]] bool is_directive(std::size_t i) const {
    return code_.tokens[i].kind == TokenKind::directive;
  }

  void note_macro(std::size_t i) {
    if (directive_name(source_, code_.tokens[i]) != "define") return;
    const auto inside = without_comments(tokenize_directive(source_, code_.tokens[i]).tokens);
    if (inside.size() > 2) macros_.insert(spelling(source_, inside[2]));
  }

  /// Behind the parenthesis that closes the one at `open`; nullopt where a preprocessor line or the
  /// end comes first.
  [[nodiscard]] std::optional<std::size_t> behind_parentheses(std::size_t open) const {
    int depth = 0;
    for (std::size_t i = open; i < code_.tokens.size() && !is_directive(i); ++i) {
      if (code_.is(i, "(")) ++depth;
      if (code_.is(i, ")") && --depth == 0) return i + 1;
      if (code_.is(i, "{") || code_.is(i, "}") || code_.is(i, ";")) return std::nullopt;
    }
    return std::nullopt;
  }

  /// The name before the "(" at `open`, template arguments stepped over: k of `k(` and of `k<float,
  /// 4>(`. Empty if there is none.
  [[nodiscard]] std::string name_before(std::size_t open) const {
    std::size_t i = open;
    if (i > 0 && code_.text[i - 1].find_first_not_of('>') == std::string::npos) {
      long depth = 0;
      while (i > 0) {
        const std::string_view text = code_.text[--i];
        if (text == ";" || text == "{" || text == "}" || is_directive(i)) return "";
        if (text.find_first_not_of('>') == std::string::npos)
          depth += static_cast<long>(text.size());
        if (text == "<" && --depth == 0) break;
      }
    }
    return std::string(i > 0 && code_.is_name(i - 1) ? code_.text[i - 1] : "");
  }

  /// What a head that starts at `from` declares, and the token that ends it ("{" or ";").
  struct Head {
    std::string name;
    std::size_t end = 0;
  };
  [[nodiscard]] std::optional<Head> head(std::size_t from) const {
    Head out;
    for (std::size_t i = from; i < code_.tokens.size();) {
      if (is_directive(i) || code_.is(i, "=") || code_.is(i, "}")) return std::nullopt;
      if (code_.is(i, "{") || code_.is(i, ";")) {
        out.end = i;
        return out.name.empty() ? std::nullopt : std::optional(out);
      }
      if (!code_.is(i, "(")) {
        ++i;
        continue;
      }
      const auto behind = behind_parentheses(i);
      if (!behind) return std::nullopt;
      const bool attribute =
          i > 0 && std::ranges::find(kAttributes, code_.text[i - 1]) != kAttributes.end();
      // NAME(float)(...): a macro makes the name
      const bool nested_attribute = i > 0 && code_.is(i - 1, ")");
      if (nested_attribute) return std::nullopt;
      if (!attribute) {
        if (!out.name.empty()) return std::nullopt;
        out.name = name_before(i);
        if (out.name.empty()) return std::nullopt;
      }
      i = *behind;
    }
    return std::nullopt;
  }

  /// The "}" of the body that "{" at `open` begins; nullopt where the branches of a condition do
  /// not hold whole blocks.
  [[nodiscard]] std::optional<std::size_t> end_of_body(std::size_t open) const {
    int depth = 0;
    std::vector<int> at_condition;  // depth of braces where each open #if stands
    for (std::size_t i = open; i < code_.tokens.size(); ++i) {
      if (is_directive(i)) {
        const std::string name = directive_name(source_, code_.tokens[i]);
        if (name.starts_with("if")) {
          at_condition.push_back(depth);
        } else if (name.starts_with("el") || name == "endif") {
          if (at_condition.empty() || at_condition.back() != depth) return std::nullopt;
          if (name == "endif") at_condition.pop_back();
        }
      } else if (code_.is(i, "{")) {
        ++depth;
      } else if (code_.is(i, "}") && --depth == 0) {
        return at_condition.empty() ? std::optional(i) : std::nullopt;
      }
    }
    return std::nullopt;
  }

  /// Notes the kernel whose `__global__` is token `at`. Returns the last token that belongs to it
  /// for certain.
  std::size_t kernel(std::size_t at) {
    const auto found = head(at + 1);
    if (!found || !code_.is(found->end, "{")) return at;
    const auto close = end_of_body(found->end);
    if (!close) return at;
    kernels_.insert(found->name);
    if (found->name == first_) found_ = true;
    if (!kept_.contains(found->name) && !macros_.contains(found->name))
      cuts_.push_back({found->end, *close + 1, ";"});
    return *close;
  }

  /// `template __global__ void k<float>(float*);`
  void instantiation(std::size_t at) {
    if (at > 0 && (code_.is(at - 1, ".") || code_.is(at - 1, "->") || code_.is(at - 1, "::")))
      return;
    const auto found = head(at + 1);
    if (!found || !code_.is(found->end, ";") || !kernels_.contains(found->name)) return;
    if (!kept_.contains(found->name) || (found->name == first_ && instantiated_))
      cuts_.push_back({at, found->end + 1, ""});
  }

  [[nodiscard]] std::string without_cuts() {
    std::ranges::sort(cuts_, {}, &Cut::begin);
    std::string out;
    std::size_t at = 0;
    for (const Cut& cut : cuts_) {
      const std::size_t begin = code_.tokens[cut.begin].begin, end = code_.tokens[cut.end - 1].end;
      if (begin < at) continue;  // within a body that is left out
      out += source_.substr(at, begin - at);
      out += cut.replacement;
      at = begin;
      for (std::size_t i = cut.begin; i < cut.end; ++i) {
        if (!is_directive(i) || directive_name(source_, code_.tokens[i]) == "pragma") continue;
        keep_lines(at, code_.tokens[i].begin, out);
        out += source_.substr(code_.tokens[i].begin, code_.tokens[i].size());
        at = code_.tokens[i].end;
      }
      keep_lines(at, end, out);
      at = end;
    }
    return out + std::string(source_.substr(at));
  }

  void keep_lines(std::size_t begin, std::size_t end, std::string& out) const {
    out.append(
        static_cast<std::size_t>(std::ranges::count(source_.substr(begin, end - begin), '\n')),
        '\n');
  }

  std::string_view source_;
  CodeText code_;
  NameSet kept_, macros_;
  NameSet kernels_;  // defined in the text
  std::string first_;
  bool instantiated_ = false;
  bool found_ = false;
  std::vector<Cut> cuts_;
};

}  // namespace

std::string_view plain_kernel_name(std::string_view name) {
  name = name.substr(0, name.find('<'));
  if (const std::size_t colons = name.rfind("::"); colons != std::string_view::npos)
    name.remove_prefix(colons + 2);
  while (!name.empty() && name.back() == ' ') name.remove_suffix(1);
  while (!name.empty() && name.front() == ' ') name.remove_prefix(1);
  return name;
}

std::string without_other_kernels(std::string_view source, const std::vector<std::string>& kept) {
  constexpr std::string_view kWord = "__global__";
  const std::size_t first = source.find(kWord);
  const bool several =
      first != std::string_view::npos && source.find(kWord, first + 1) != std::string_view::npos;
  const bool instantiated = source.find("template") != std::string_view::npos;
  if (!several && !instantiated) return std::string(source);
  return Pruner(source, kept).run();
}

}  // namespace warpath
