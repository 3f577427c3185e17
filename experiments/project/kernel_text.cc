#include "experiments/project/kernel_text.h"

#include <algorithm>
#include <cctype>
#include <cstdint>
#include <map>
#include <set>
#include <string_view>
#include <vector>

#include "engine/base/dtype.h"
#include "engine/text/function_text.h"
#include "engine/text/tokens.h"
#include "experiments/project/kernel_words.h"
#include "moves/syntax/syntax_query.h"
#include "moves/syntax/words.h"

namespace warpath {
namespace {

using Names = std::set<std::string, std::less<>>;

constexpr int kMostMacros = 4;  // of macros through macros
/// Namespaces of CUDA and the standard library; `this` begins none of another.
const std::set<std::string_view> kKnownScopes{"std", "cuda", "nvcuda", "this",
                                              "cooperative_groups"};

/// A declaration at file or namespace level, or a #define.
struct Item {
  std::size_t begin = 0, end = 0;
  Names declares, mentions;
  enum class Directive : std::uint8_t { none, define, undefine } directive = Directive::none;
  bool always = false;         ///< kept whether or not it is named
  std::string header = {};     ///< of an #include
  Names special = {};          ///< what `template <>` is given for
  Names takes = {};            ///< types of a function's parameters
  bool elsewhere = false;      ///< `using SCOPE::NAME;` of a scope that the file does not open
  bool record = false;         ///< the only definition of a struct that a scope may have
  model::Span attribute = {};  ///< of a macro that nothing defines, before the kernel's type
};

/// True unless every name of the header has a word in it that none of `names` has: not every runner
/// has these headers.
bool may_name(std::string_view header, const Names& names) {
  static const std::map<std::string_view, std::string_view> kWordOf{
      {"cuda_fp8.h", "fp8"}, {"mma.h", "wmma"}, {"cstring", "memcpy"}, {"string.h", "memcpy"}};
  const auto word = kWordOf.find(header);
  return word == kWordOf.end() || std::ranges::any_of(names, [&](const std::string& name) {
           return name.find(word->second) != std::string::npos;
         });
}

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
      if (item.attribute.end > at && tokens_[i].begin == item.attribute.begin) {
        out += unit_.source().substr(at, item.attribute.begin - at);
        at = item.attribute.end;
      }
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
    if (kind != "define" && kind != "undef" && kind != "include") return;
    Item item{.begin = token.begin, .end = token.end, .declares = {}, .mentions = {}};
    if (kind != "include")
      item.directive = kind == "define" ? Item::Directive::define : Item::Directive::undefine;
    const TokenStream words = tokenize_directive(unit_.source(), token);
    if (kind == "include") {
      std::string header = words.tokens.size() > 2 ? spelling(unit_.source(), words.tokens[2]) : "";
      if (header.size() > 2) header = header.substr(1, header.size() - 2);
      item.always = options_.keeps_header && options_.keeps_header(header);
      item.header = header;
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
    const bool special = text(i) == "template" && text(i + 1) == "<" && text(i + 2) == ">";
    bool is_enum = false, device = false, kernel = false, body = false, called = false;
    bool value = false, constant = false;
    for (; i < tokens_.size(); ++i) {
      const std::string_view word = text(i);
      item.end = tokens_[i].end;
      if (tokens_[i].kind == TokenKind::identifier) {
        const std::string_view before = i > 0 ? text(i - 1) : std::string_view{};
        if (before != "." && before != "->") item.mentions.emplace(word);
        if (is_enum && depth > 0) item.declares.emplace(word);
        if (special && depth == 0 && angles > 0 && text(i + 1) != "::") item.special.emplace(word);
        if (depth > 0 || angles > 0) continue;
        is_enum = is_enum || word == "enum";
        device = device || word == "__device__" || word == "constexpr" || word == "__constant__" ||
                 says_device(word);
        kernel = kernel || word == "__global__";
        constant = constant || (word == "const" && declared.empty());
        last = word;
      } else if (word == "(" || word == "[" || word == "{") {
        const bool unknown = word == "(" && depth == 0 && is_unknown_attribute(last, i);
        if (unknown) item.attribute = {tokens_[i - 1].begin, tokens_[closing(i)].end};
        const bool attribute = last == "__launch_bounds__" || last == "__align__" ||
                               last == "alignas" || last == "__attribute__" || unknown;
        if (depth == 0 && angles == 0 && declared.empty() && !attribute) declared = last;
        called = called || (depth == 0 && angles == 0 && word == "(" && !attribute && !value);
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
        value = word == "=";
      } else if (depth == 0 && word == ";") {
        break;
      }
    }
    if (declared.empty()) declared = last;
    item.declares.emplace(declared);
    const bool own = item.begin <= kernel_.name_span.begin && kernel_.name_span.end <= item.end;
    // a function or its declaration; `const dim3 block(16, 16)` is none
    const bool host = called && (body || !constant) && !device && !own;
    if (called && body) forget_locals(item);
    item.record = !called && body && !special && is_record(begin, declared);
    const bool opens = text(begin) == "using" && text(begin + 1) == "namespace";
    const bool brings = text(begin) == "using" && text(begin + 2) == "::" && text(i) == ";";
    const bool dissolved = brings && namespaces_.contains(text(begin + 1));
    item.elsewhere = brings && !dissolved && !kKnownScopes.contains(text(begin + 1));
    item.always = opens && text(begin + 2) != "std" && !namespaces_.contains(text(begin + 2)) &&
                  options_.keeps_namespace && options_.keeps_namespace(text(begin + 2));
    if ((!kernel || own) && !host && (!opens || item.always) && !dissolved) items_.push_back(item);
    return i + 1;
  }

  /// `struct NAME {`, `template <...> class NAME : BASE {`, and no specialisation.
  [[nodiscard]] bool is_record(std::size_t i, std::string_view name) const {
    while (i + 1 < tokens_.size() && text(i) != "struct" && text(i) != "class" && text(i) != "{") {
      int angles = text(i) == "template" && text(i + 1) == "<" ? 1 : 0;
      for (i += angles > 0 ? 2 : 1; angles > 0 && i < tokens_.size(); ++i)
        angles += text(i) == "<" ? 1 : text(i) == ">" ? -1 : text(i) == ">>" ? -2 : 0;
    }
    while (i < tokens_.size() && text(i) != "{" && text(i) != ":" && text(i) != name) ++i;
    return text(i) == name && text(i + 1) != "<";
  }

  /// Parameters and variables of the function that the item is: what else has their names is not
  /// meant.
  void forget_locals(Item& item) const {
    for (const model::Function* const function : unit_.functions()) {
      if (function->name_span.begin < item.begin || function->name_span.end > item.end) continue;
      for (const model::Declarator* const parameter : function->parameters)
        item.mentions.erase(std::string(parameter->name));
      for (const model::Declarator* const parameter : function->parameters)
        item.takes.insert(unit_.plain_text(parameter->type));
      for (const model::TemplateParameter& parameter : function->template_parameters) {
        item.mentions.erase(std::string(parameter.name));
        item.takes.erase(std::string(parameter.name));
      }
      if (function->body == nullptr) continue;
      model::walk(*function->body, [&](const model::Stmt& stmt) {
        for (const model::Declarator* const local : stmt.declarators)
          item.mentions.erase(std::string(local->name));
        return true;
      });
    }
  }

  [[nodiscard]] std::size_t closing(std::size_t open) const {
    int depth = 0;
    for (std::size_t i = open; i < tokens_.size(); ++i) {
      depth += text(i) == "(" ? 1 : text(i) == ")" ? -1 : 0;
      if (depth == 0) return i;
    }
    return tokens_.size() - 1;
  }

  /// BOUNDS(1024) before `__global__` where nothing says what it is: bounds of the launch or the
  /// like, not the name of what is declared.
  [[nodiscard]] bool is_unknown_attribute(std::string_view name, std::size_t open) const {
    const bool capitals = !name.empty() && std::ranges::all_of(name, [](unsigned char c) {
      return std::isupper(c) != 0 || std::isdigit(c) != 0 || c == '_';
    });
    const std::string_view next = text(closing(open) + 1);
    return capitals && unit_.macro(name) == nullptr &&
           (next == "__global__" || next == "void" || next == "static");
  }

  /// A macro that stands for __device__, itself or by another one.
  [[nodiscard]] bool says_device(std::string_view word, int hops = 0) const {
    const model::Macro* const macro = unit_.macro(word);
    if (macro == nullptr || hops > kMostMacros) return false;
    const std::string body = macro->body;
    return body.find("__device__") != std::string::npos ||
           std::ranges::any_of(tokenize(body).tokens, [&](const Token& token) {
             return token.kind == TokenKind::identifier &&
                    says_device(spelling(body, token), hops + 1);
           });
  }

  const model::Unit& unit_;
  const model::Function& kernel_;
  const TextOptions& options_;
  std::vector<Token> tokens_;
  std::vector<Item> items_;
  Names namespaces_;  ///< that the file opens
};

/// A number of 32 bits or more, which C++ has functions for.
bool is_wide_number(const std::string& type) {
  const auto dtype = model::dtype_of_type(type);
  return dtype && info(*dtype).size_bytes >= 4;
}

/// min and max of numbers, which a project has in a namespace of its own.
bool is_built_in(const Item& item) {
  const bool named = item.declares.contains("min") || item.declares.contains("max");
  return named && !item.takes.empty() && std::ranges::all_of(item.takes, is_wide_number);
}

/// `exp(half)` and the like: what a project has of a function of CUDA's for a type that nothing
/// `wanted` has.
bool overloads_library(const Item& item, const Names& wanted) {
  const auto unused = [&](const std::string& type) {
    return !type.empty() && !is_wide_number(type) && !wanted.contains(type);
  };
  return std::ranges::any_of(item.declares, model::is_library_function) &&
         std::ranges::any_of(item.takes, unused);
}

/// float4, half2: what operators are written for that CUDA has none for.
bool is_vector_type(std::string_view name) {
  return name.size() > 3 && name.back() >= '2' && name.back() <= '4' &&
         std::isalpha(static_cast<unsigned char>(name[name.size() - 2])) != 0;
}

/// True if the name is a word of the type.
bool mentions(std::string_view type, std::string_view name) {
  return std::ranges::any_of(tokenize(type).tokens, [&](const Token& token) {
    return type.substr(token.begin, token.size()) == name;
  });
}

/// Takes macros out of what is kept that are undefined again before anything kept could use them.
void drop_unused_macros(const std::vector<Item>& items, std::vector<bool>& kept) {
  std::map<std::string, std::size_t> defined;  // since the last thing that is no directive
  for (std::size_t i = 0; i < items.size(); ++i) {
    if (!kept[i] || !items[i].header.empty() || items[i].declares.empty()) continue;
    if (items[i].directive == Item::Directive::none) {
      defined.clear();
      continue;
    }
    const std::string& name = *items[i].declares.begin();
    if (items[i].directive == Item::Directive::define) {
      defined[name] = i;
    } else if (const auto found = defined.find(name); found != defined.end()) {
      kept[found->second] = kept[i] = false;
      defined.erase(found);
    }
  }
}

/// Of structs that different namespaces have by the same name the last before the kernel stays.
void drop_other_records(const std::vector<Item>& items,
                        std::vector<bool>& kept,
                        std::size_t kernel) {
  std::map<std::string, std::size_t> last;
  for (std::size_t i = 0; i < items.size(); ++i) {
    if (!kept[i] || !items[i].record) continue;
    const auto [place, first] = last.emplace(*items[i].declares.begin(), i);
    if (first) continue;
    const bool later = items[i].begin < kernel;
    kept[later ? place->second : i] = false;
    if (later) place->second = i;
  }
}

}  // namespace

std::string foreign_scope(const std::string& text,
                          const std::set<std::string, std::less<>>& declared) {
  const Words words(text);
  std::set<std::string_view> own;  // types and namespaces of the text itself
  for (std::size_t i = 1; i < words.size(); ++i) {
    const std::string_view before = words.text(i - 1);
    if (before == "struct" || before == "class" || before == "typename" || before == "union" ||
        before == "namespace" || before == "using" || before == "enum" || words.text(i + 1) == ";")
      own.insert(words.text(i));
  }
  for (std::size_t i = 0; i + 2 < words.size(); ++i) {
    if (!words.is_name(i) || words.text(i + 1) != "::" || !words.is_name(i + 2) ||
        is_keyword(words.text(i)))
      continue;
    if (i > 0 && (words.text(i - 1) == "::" || words.text(i - 1) == "typename")) continue;
    const std::string name(words.text(i));
    if (!kKnownScopes.contains(name) && !own.contains(name) && !declared.contains(name))
      return name + "::" + std::string(words.text(i + 2));
  }
  return "";
}

std::string kernel_text(const model::Unit& unit,
                        const model::Function& kernel,
                        const TextOptions& options) {
  const FileItems file(unit, kernel, options);
  Names wanted = options.named;
  wanted.emplace(kernel.name);
  Names declared;
  for (const Item& item : file.items()) {
    if (!item.elsewhere) declared.insert(item.declares.begin(), item.declares.end());
  }
  std::map<std::string, int> overloads;
  for (const Item& item : file.items()) {
    if (item.takes.empty()) continue;
    for (const std::string& name : item.declares) ++overloads[name];
  }
  // a template, or one of several functions, for a type that comes from elsewhere; what CUDA has
  const auto is_foreign = [&](const Item& item) {
    if (is_built_in(item)) return true;
    const auto unknown = [&](const std::string& name) {
      return !declared.contains(name) && !unit.is_type_name(name) && name != "true" &&
             name != "false";
    };
    const bool one_of_several =
        !item.takes.empty() && std::ranges::any_of(item.declares, [&](const std::string& name) {
          return overloads[name] > 1;
        });
    return std::ranges::any_of(item.special, unknown) || overloads_library(item, wanted) ||
           (one_of_several && !foreign_scope(file.text_of(item), declared).empty()) ||
           (one_of_several && std::ranges::any_of(item.takes, [&](const std::string& type) {
              const std::size_t scope = type.rfind("::");
              return type.find_first_of(" <") == std::string::npos &&
                     unknown(scope == std::string::npos ? type : type.substr(scope + 2));
            }));
  };
  std::vector<bool> kept(file.items().size());
  Names has;
  // an operator for types that the text has: nothing names it
  const auto is_operator = [&](const Item& item) {
    if (!item.declares.contains("operator")) return false;
    const auto takes = [&](const std::string& name) {
      return item.takes.empty() || std::ranges::any_of(item.takes, [&](const std::string& type) {
               return mentions(type, name);
             });
    };
    bool of_types = false;
    for (const std::string& name : item.mentions) {
      if (name == "operator") continue;
      if (declared.contains(name) && !has.contains(name)) return false;
      const bool known = has.contains(name) || (is_vector_type(name) && wanted.contains(name));
      of_types = of_types || (known && takes(name));
    }
    return of_types;
  };
  for (bool more = true; more;) {
    more = false;
    for (std::size_t i = 0; i < kept.size(); ++i) {
      const Item& item = file.items()[i];
      const bool named = std::ranges::any_of(item.declares,
                                             [&](const std::string& name) {
                                               return wanted.contains(name) && name != "operator";
                                             }) ||
                         is_operator(item);
      if (kept[i] || !(named || item.always) || is_foreign(item)) continue;
      kept[i] = more = true;
      wanted.insert(item.mentions.begin(), item.mentions.end());
      has.insert(item.declares.begin(), item.declares.end());
    }
  }
  drop_unused_macros(file.items(), kept);
  drop_other_records(file.items(), kept, kernel.span.begin);
  std::string out;
  for (std::size_t i = 0; i < kept.size(); ++i) {
    const Item& item = file.items()[i];
    if (kept[i] && may_name(item.header, wanted)) out += file.text_of(item) + "\n";
  }
  for (const auto& [name, value] : unit.bindings()) {
    if (out.find(name) != std::string::npos)
      out.insert(
          0, "#ifndef " + name + "\n#define " + name + " " + std::to_string(value) + "\n#endif\n");
  }
  return out;
}

}  // namespace warpath
