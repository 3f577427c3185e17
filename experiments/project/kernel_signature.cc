#include "experiments/project/kernel_signature.h"

#include <algorithm>
#include <regex>

#include "engine/base/ascii.h"
#include "engine/text/tokens.h"
#include "engine/text/vector_type.h"
#include "experiments/project/host_launch.h"
#include "experiments/project/kernel_words.h"
#include "moves/syntax/words.h"

namespace warpath {
namespace {

bool asks_for(std::string_view text, std::string_view name) {
  return text.find(name) != std::string_view::npos;
}

/// A name that a header or a macro elsewhere makes a type, perhaps with template arguments: nothing
/// in the text does.
bool is_foreign(const model::Unit& unit, const std::string& type) {
  const std::string name = type.substr(0, type.find('<'));
  return !name.empty() && is_word_start(name[0]) && std::ranges::all_of(name, is_word) &&
         (name == type || type.ends_with('>')) && !unit.is_type_name(name) &&
         unit.macro(name) == nullptr;
}

/// A type that a class template has as a member, or an alias template: `typename traits<T>::type`,
/// `acc_type<T>`.
bool is_trait(const model::Unit& unit, const std::string& type) {
  const std::size_t open = type.find('<');
  if (open == std::string::npos) return false;
  if (type.starts_with("typename ")) return type.find("::", open) != std::string::npos;
  const Words words(unit.source());
  for (std::size_t i = 0; i + 2 < words.size(); ++i) {
    if (words.text(i) == "using" && words.text(i + 1) == type.substr(0, open) &&
        words.text(i + 2) == "=")
      return true;
  }
  return false;
}

/// The integer that an enumeration of the file is; nullopt where the file has none of that name.
std::optional<DType> type_of_enumeration(const model::Unit& unit, std::string_view name) {
  if (name.starts_with("enum ")) name.remove_prefix(5);
  const Words words(unit.source());
  for (std::size_t i = 0; i < words.size(); ++i) {
    if (words.text(i) != "enum") continue;
    const bool scoped = words.text(i + 1) == "class" || words.text(i + 1) == "struct";
    const std::size_t at = i + (scoped ? 2 : 1);
    const std::size_t open = words.is_name(at) ? at + 1 : at;
    if (i > 0 && words.text(i - 1) == "typedef" && words.text(open) == "{" &&
        words.text(words.closing(open) + 1) == name)
      return DType::i32;
    if (words.text(at) != name) continue;
    if (words.text(at + 1) != ":") return DType::i32;
    std::string type;
    for (std::size_t k = at + 2; words.is_name(k) || words.text(k) == "::"; ++k)
      type += (type.empty() || words.text(k) == "::" || type.ends_with("::") ? "" : " ") +
              std::string(words.text(k));
    const auto own = elements_of(unit.resolved_type(type));
    return own && own->second == 1 && !info(own->first).is_float ? std::optional(own->first)
                                                                 : std::nullopt;
  }
  return std::nullopt;
}

/// True if a template of the file has a parameter of this name.
bool is_template_parameter(const model::Unit& unit, std::string_view name) {
  return std::ranges::any_of(unit.functions(), [&](const model::Function* function) {
    return std::ranges::any_of(function->template_parameters,
                               [&](const auto& one) { return one.name == name; });
  });
}

/// What a type parameter of this name is taken for: an index is an integer.
std::string usual_type(const std::string& name) {
  static const std::regex kInteger(".*(index|idx|offset).*|(.*_)?int(_?t|_?type)?",
                                   std::regex::icase);
  return std::regex_match(name, kInteger) ? "int" : "float";
}

/// The parameters between `<` at `open` and its `>`, which goes to `open`.
std::size_t count_parameters(const Words& words, std::size_t& open) {
  std::size_t count = 1;
  for (int depth = 0; open < words.size(); ++open) {
    const std::string_view word = words.text(open);
    if (word == "<") ++depth;
    if (word == ">" && --depth == 0) break;
    if (word == "," && depth == 1) ++count;
  }
  return count;
}

/// The first class template of the text with as many parameters as `parameter`, a template itself,
/// takes; of several one whose name ends with the parameter's. Empty if there is none.
std::string class_template_for(const model::Unit& unit, const model::TemplateParameter& parameter) {
  const std::string_view span = unit.text(parameter.span);
  const Words taken(span), words(unit.source());
  std::size_t open = 1;
  if (taken.text(0) != "template") return "";
  const std::size_t count = count_parameters(taken, open);
  std::string out;
  for (std::size_t i = 0; i + 1 < words.size(); ++i) {
    if (words.text(i) != "template" || words.text(i + 1) != "<") continue;
    const std::size_t own = count_parameters(words, ++i);
    const bool is_class = words.text(i + 1) == "struct" || words.text(i + 1) == "class";
    const std::string name(words.text(i + 2));
    if (!is_class || own != count || words.text(i + 3) == "<") continue;  // a specialisation
    if (name.ends_with(parameter.name)) return name;
    if (out.empty()) out = name;
  }
  return out;
}

/// The type that a launch gives, as it is outside of the launching function and of namespaces: what
/// only that function knows (`scalar_t` of a dispatch, its own template parameters) is its usual
/// type, and `guessed` is set. Empty where a template that the type is made by is not known either.
std::string type_outside(const model::Unit& unit, const std::string& own, bool& guessed) {
  const std::string resolved = unit.resolved_type(own);
  if (elements_of(resolved)) return elements_of(own) ? own : resolved;
  const auto known = [&](const std::string& name) {
    return (elements_of(name) || unit.is_type_name(name)) && !is_template_parameter(unit, name);
  };
  const std::vector<Token> tokens = tokenize(resolved).tokens;
  std::string out;
  for (std::size_t i = 0; i < tokens.size(); ++i) {
    std::string word = spelling(resolved, tokens[i]);
    const std::string next = i + 1 < tokens.size() ? spelling(resolved, tokens[i + 1]) : "";
    const bool name = tokens[i].kind == TokenKind::identifier;
    if (name && next == "::" && !known(word)) {  // a namespace
      ++i;
      continue;
    }
    const bool member = out.ends_with("::");
    if (name && !member && word != "true" && word != "false" && !known(word)) {
      if (next == "<") return "";
      word = usual_type(word);
      guessed = true;
    }
    out += word + (word == "," ? " " : "");
  }
  return guessed ? out : own;
}

/// A value that a launch gives, where it means the same outside of the launching function.
std::string value_outside(const model::Unit& unit, const std::string& own) {
  const bool inside = std::ranges::any_of(tokenize(own).tokens, [&](const Token& token) {
    return token.kind == TokenKind::identifier && is_template_parameter(unit, spelling(own, token));
  });
  return inside ? std::string() : own;
}

/// True if elements or scalars that the kernel takes are of the template parameter's type.
bool is_element_type(const model::Unit& unit,
                     const model::Function& kernel,
                     std::string_view parameter) {
  return std::ranges::any_of(kernel.parameters, [&](const model::Declarator* one) {
    return unit.plain_text(one->type) == parameter;
  });
}

}  // namespace

std::optional<std::pair<DType, int>> elements_of(std::string_view type) {
  for (const std::string_view word : {"struct ", "typename "}) {
    if (type.starts_with(word)) type.remove_prefix(word.size());
  }
  if (const auto dtype = model::dtype_of_type(type)) return std::pair(*dtype, 1);
  if (const auto vector = vector_type_of(type)) return std::pair(vector->element, vector->lanes);
  return std::nullopt;
}

std::array<int, 3> usual_block(std::string_view text) {
  const bool y = asks_for(text, "threadIdx.y"), z = asks_for(text, "threadIdx.z");
  return {z ? 8 : y ? 16 : 256, z ? 8 : y ? 16 : 1, z ? 4 : 1};
}

bool is_block_name(std::string_view name) {
  static const std::regex kBlock("block_?(size|dim|x)?|.*threads.*", std::regex::icase);
  return std::regex_match(name.begin(), name.end(), kBlock);
}

std::vector<TemplateArgument> template_arguments(const model::Unit& unit,
                                                 const model::Function& kernel,
                                                 const std::vector<std::string>& given,
                                                 int otherwise) {
  static const std::string kNone;
  std::vector<TemplateArgument> out;
  for (const model::TemplateParameter& parameter : kernel.template_parameters) {
    TemplateArgument& argument = out.emplace_back();
    argument.name = parameter.name;
    argument.is_type = parameter.is_type;
    const std::string& own = out.size() <= given.size() ? given[out.size() - 1] : kNone;
    bool guessed = false;
    std::string value =
        parameter.is_type ? type_outside(unit, own, guessed) : value_outside(unit, own);
    if (parameter.is_type && is_element_type(unit, kernel, parameter.name) &&
        !elements_of(unit.resolved_type(value)))
      value.clear();  // such as that of the sums of a type that only the launch knows
    if (!value.empty()) {
      argument.value = value;
      if (guessed)
        argument.why = "the file does not say what " + own + " is; " + value + " is taken";
    } else if (parameter.default_value != nullptr) {
      argument.value = unit.plain_text(parameter.default_value->outer);
    } else if (const std::string fitting = class_template_for(unit, parameter); !fitting.empty()) {
      argument.value = fitting;
      argument.why =
          "no launch gives the template parameter " + argument.name + " a class template";
    } else if (parameter.is_type) {
      argument.value = usual_type(argument.name);
      argument.why = "no launch gives the template parameter " + argument.name + " a type";
    } else {
      const bool block = is_block_name(parameter.name);
      const bool truth = unit.plain_text(parameter.span).find("bool ") != std::string::npos;
      argument.value =
          truth ? "true"
                : std::to_string(block ? usual_block(unit.text(kernel.body->span))[0] : otherwise);
      argument.why = "no launch gives the template parameter " + argument.name + " a value";
    }
  }
  return out;
}

std::string instance_name(const model::Function& kernel,
                          const std::vector<TemplateArgument>& arguments) {
  std::string out(kernel.name);
  for (std::size_t i = 0; i < arguments.size(); ++i)
    out += (i == 0 ? "<" : ", ") + arguments[i].value;
  return arguments.empty() ? out : out + ">";
}

std::string declaration_as_float(const model::Unit& unit, const std::string& type) {
  if (!is_foreign(unit, type)) return "";
  std::string parameters;
  for (const std::string& argument : template_arguments_in(type)) {
    const bool value = argument == "true" || argument == "false" || is_digit(argument[0]);
    parameters += (parameters.empty() ? "" : ", ") + std::string(value ? "auto" : "typename");
  }
  return (parameters.empty() ? "" : "template <" + parameters + ">\n") + "using " +
         type.substr(0, type.find('<')) + " = float;\n";
}

std::optional<std::vector<KernelParameter>> kernel_parameters(
    const model::Unit& unit,
    const model::Function& kernel,
    const std::vector<TemplateArgument>& arguments,
    std::string& why,
    std::set<std::string>* foreign) {
  std::vector<KernelParameter> out;
  for (const model::Declarator* const parameter : kernel.parameters) {
    std::string type = unit.plain_text(parameter->type);
    for (const TemplateArgument& argument : arguments) {
      if (argument.is_type && argument.name == type) type = argument.value;
    }
    const model::Macro* const macro = unit.macro(type);
    if (macro != nullptr && !macro->function_like) type = macro->body;
    auto elements = elements_of(unit.resolved_type(type));
    const auto enumeration = elements ? std::nullopt : type_of_enumeration(unit, type);
    if (enumeration) elements = std::pair(*enumeration, 1);
    if (!elements && foreign != nullptr && (is_foreign(unit, type) || is_trait(unit, type))) {
      foreign->insert(type);
      elements = std::pair(DType::f32, 1);
    }
    const bool pointer = parameter->is_pointer();
    const std::string name = parameter->name.empty() ? "unnamed_" + std::to_string(out.size())
                                                     : std::string(parameter->name);
    if (!elements || parameter->pointer_depth > 1 || parameter->reference ||
        parameter->is_array() || (!pointer && elements->second > 1)) {
      why = "parameter " + name + " of type " + type +
            std::string(static_cast<std::size_t>(parameter->pointer_depth), '*');
      return std::nullopt;
    }
    out.push_back({.name = name,
                   .dtype = elements->first,
                   .lanes = elements->second,
                   .pointer = pointer,
                   .is_const = parameter->has(model::kConst),
                   .is_enumeration = enumeration.has_value()});
  }
  return out;
}

}  // namespace warpath
