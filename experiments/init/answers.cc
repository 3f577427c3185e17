#include "experiments/init/answers.h"

#include <algorithm>
#include <array>
#include <nlohmann/json.hpp>
#include <sstream>
#include <utility>

#include "engine/base/ascii.h"
#include "engine/base/error.h"
#include "engine/text/tokens.h"

namespace warpath {
namespace {

using json = nlohmann::ordered_json;

constexpr const char* kTemplateArguments = "template_arguments";
constexpr const char* kInstance = "/kernel/metadata/name_expressions/0";
constexpr std::array<const char*, 7> kLaunch{"grid.x",  "grid.y",  "grid.z", "block.x",
                                             "block.y", "block.z", "smem"};
constexpr std::array<const char*, 3> kRoles{"input", "output", "inout"};
constexpr std::array<const char*, 3> kRules{"zeros", "ones", "randn"};

template <class Words>
bool is_one_of(const Words& words, const std::string& word) {
  return std::ranges::find(words, word) != words.end();
}

std::string trimmed(const std::string& text) {
  const std::size_t begin = text.find_first_not_of(' '), end = text.find_last_not_of(' ');
  return begin == std::string::npos ? "" : text.substr(begin, end - begin + 1);
}

Error bad_answer(const std::string& name, const std::string& value, const std::string& expected) {
  return bad_input("answer", name + "=" + value, expected);
}

/// A number, true, false, a list or an object as JSON; anything else is a text (an expression).
json value_of(const std::string& text) {
  json value = json::parse(text, nullptr, false);
  return value.is_discarded() ? json(text) : value;
}

/// Items of "a, f(b, c)".
std::vector<std::string> items_of(const std::string& list) {
  return list.empty() ? std::vector<std::string>{} : template_arguments_in("<" + list + ">");
}

/// Takes away the guesses at a path.
void confirm(json& spec, const std::string& path) {
  if (!spec.contains("guessed")) return;
  json left = json::array();
  for (const json& guess : spec["guessed"])
    if (guess.at("path") != path) left.push_back(guess);
  spec["guessed"] = left;
  if (left.empty()) spec.erase("guessed");
}

void set(json& spec, const std::string& path, const json& value) {
  spec[json::json_pointer(path)] = value;
  confirm(spec, path);
}

void answer_tensor(json& spec,
                   const std::string& root,
                   const std::string& name,
                   const std::string& value) {
  const json& tensor = spec.at(json::json_pointer(root));
  const bool reals =
      tensor["tensor_spec"]["dtype"].get<std::string>().find("float") != std::string::npos;
  const std::size_t dots = value.find("..");
  const std::string init = root + "/tensor_spec/init";
  if (value.starts_with('[') && value.ends_with(']')) {
    json shape = json::array();
    for (const std::string& extent : items_of(value.substr(1, value.size() - 2)))
      shape.push_back(value_of(trimmed(extent)));
    set(spec, root + "/tensor_spec/shape", shape);
  } else if (is_one_of(kRoles, value)) {
    set(spec, root + "/role", value);
  } else if (is_one_of(kRules, value)) {
    set(spec, init, {{"kind", value}});
  } else if (dots != std::string::npos) {
    json rule = {{"kind", reals ? "uniform" : "randint"},
                 {"low", value_of(trimmed(value.substr(0, dots)))},
                 {"high", value_of(trimmed(value.substr(dots + 2)))}};
    const json& now = tensor["tensor_spec"];
    if (now.contains("init") && now["init"].contains("seed")) rule["seed"] = now["init"]["seed"];
    set(spec, init, rule);
  } else if (const json rule = value_of(value); rule.is_object()) {
    set(spec, init, rule);
  } else {
    throw bad_answer(name, value,
                     "of a tensor a shape [rows, 4], values LOW..HIGH, input, output or inout, "
                     "zeros, ones or randn, or a rule of contents in JSON");
  }
}

/// An expression over the kernel's integers for each axis, as a launch in host code.
std::string launch_text(const Answers& answers, const model::Function& kernel) {
  const auto one = [&](const char* name) {
    const auto found = answers.find(name);
    return found == answers.end() ? std::string("1") : found->second;
  };
  std::string out = std::string(kernel.name) + "<<<dim3(" + one("grid.x") + ", " + one("grid.y") +
                    ", " + one("grid.z") + "), dim3(" + one("block.x") + ", " + one("block.y") +
                    ", " + one("block.z") + "), " + one("smem") + ">>>(";
  for (const model::Declarator* const parameter : kernel.parameters)
    out += (out.ends_with('(') ? "" : ", ") + std::string(parameter->name);
  return out + ")";
}

}  // namespace

Answers parse_answers(const std::vector<std::string>& words) {
  Answers out;
  for (const std::string& word : words) {
    const std::size_t equals = word.find('=');
    if (equals == std::string::npos || equals == 0)
      throw bad_input("--answer", word, "NAME=VALUE, with a name that init asks for");
    add_answer(out, trimmed(word.substr(0, equals)), trimmed(word.substr(equals + 1)));
  }
  return out;
}

void add_answer(Answers& answers, const std::string& name, const std::string& value) {
  std::string& own = answers[name];
  own += (own.empty() ? "" : "\n") + value;
}

std::map<std::string, std::int64_t> integers_answered(const Answers& answers) {
  std::map<std::string, std::int64_t> out;
  for (const auto& [name, value] : answers)
    if (const auto number = integer_value(value)) out[name] = *number;
  return out;
}

void take_answers(const Answers& answers, std::vector<TemplateArgument>& arguments) {
  std::vector<std::string> all;
  if (const auto found = answers.find(kTemplateArguments); found != answers.end())
    all = items_of(found->second);
  for (std::size_t i = 0; i < arguments.size(); ++i) {
    const auto own = answers.find(arguments[i].name);
    if (i >= all.size() && own == answers.end()) continue;
    arguments[i].value = own == answers.end() ? trimmed(all[i]) : own->second;
    arguments[i].why.clear();
  }
}

HostLaunch launch_in_words(const std::string& words, const model::Function& kernel) {
  const model::Unit host = model::parse("void launches() { " + words + "; }");
  const auto out = find_launch(host, kernel);
  if (!out)
    throw bad_input("--launch", words,
                    "a launch in host code, " + std::string(kernel.name) +
                        "<<<GRID, BLOCK>>>(...) with as many arguments as it has parameters");
  return *out;
}

std::optional<HostLaunch> answered_launch(const Answers& answers,
                                          const model::Function& kernel,
                                          std::optional<HostLaunch> launch) {
  const auto integers = integers_answered(answers);
  if (launch)
    for (const auto& [name, value] : integers) launch->integers[name] = value;
  if (std::ranges::none_of(kLaunch, [&](const char* name) { return answers.contains(name); }))
    return launch;
  const HostLaunch said = launch_in_words(launch_text(answers, kernel), kernel);
  HostLaunch out = launch.value_or(HostLaunch{});
  out.integers.insert(integers.begin(), integers.end());
  for (std::size_t i = 0; i < kLaunch.size(); ++i) {
    const auto answer = answers.find(kLaunch[i]);
    if (answer == answers.end()) continue;
    const auto& value = i < 3 ? said.grid[i] : i < 6 ? said.block[i - 3] : said.dynamic_smem_bytes;
    if (!value)
      throw bad_answer(answer->first, answer->second,
                       "an expression over the kernel's integer parameters");
    (i < 3 ? out.grid[i] : i < 6 ? out.block[i - 3] : out.dynamic_smem_bytes) = value;
  }
  return out;
}

std::string with_answers(const std::string& spec,
                         const Answers& answers,
                         const model::Function& kernel) {
  json document = json::parse(spec);
  const json args = document.at("kernel").at("io").at("args");
  for (const auto& [name, value] : answers) {
    const bool of_template =
        name == kTemplateArguments ||
        std::ranges::any_of(kernel.template_parameters,
                            [&](const auto& parameter) { return parameter.name == name; });
    if (of_template || is_one_of(kLaunch, name)) continue;  // the draft has them
    if (name.starts_with('/')) {
      set(document, name, value_of(value));
      continue;
    }
    const auto arg = std::ranges::find_if(args, [&](const json& a) { return a["name"] == name; });
    const std::string root = "/kernel/io/args/" + std::to_string(arg - args.begin());
    if (arg != args.end() && (*arg)["type"] == "tensor") {
      std::istringstream lines(value);
      for (std::string line; std::getline(lines, line);) answer_tensor(document, root, name, line);
      continue;
    }
    if (arg != args.end()) {
      const json given = value_of(value);
      if (given.is_string()) throw bad_answer(name, value, "a number");
      set(document, root + "/value", given);
      continue;
    }
    const json tunables = document.value("tunables", json::array());
    const auto tunable =
        std::ranges::find_if(tunables, [&](const json& t) { return t["name"] == name; });
    if (tunable == tunables.end()) {
      std::string names;
      for (const json& one : args) names += one["name"].get<std::string>() + ", ";
      throw bad_answer(name, value,
                       "one of the kernel's names (" + names +
                           "template parameters), grid.x, block.x, smem, or a path of the spec");
    }
    set(document, "/tunables/" + std::to_string(tunable - tunables.begin()) + "/default",
        value_of(value));
  }
  return document.dump(2) + "\n";
}

std::string answer_name(const json& spec, const std::string& path) {
  constexpr std::array kOfArgument{"/value", "/role", "/tensor_spec/shape", "/tensor_spec/init"};
  if (path == kInstance) return kTemplateArguments;
  if (path == "/kernel/source_file") return "";
  const auto named = [&](const std::string& list) -> std::string {
    if (!path.starts_with(list)) return "";
    const std::string item = path.substr(0, path.find('/', list.size()));
    return spec.at(json::json_pointer(item)).value("name", "");
  };
  if (std::ranges::any_of(kOfArgument, [&](const char* end) { return path.ends_with(end); })) {
    if (const std::string name = named("/kernel/io/args/"); !name.empty()) return name;
  }
  const std::string launch = "/kernel/io/launch/";
  if (path == launch + "dynamic_smem_bytes") return "smem";
  if (path.starts_with(launch)) {
    std::string name = path.substr(launch.size());
    std::ranges::replace(name, '/', '.');
    return name;
  }
  const std::string tunable = named("/tunables/");
  if (tunable.starts_with("BLOCK") && spec["kernel"]["io"]["launch"].contains("block")) {
    for (const auto& [axis, extent] : spec["kernel"]["io"]["launch"]["block"].items())
      if (extent == tunable) return "block." + axis;
  }
  return tunable.empty() ? path : tunable;
}

std::string guess_line(const json& spec, const json& guess) {
  const std::string path = guess.at("path"), why = guess.at("why"), name = answer_name(spec, path);
  return name.empty() ? "the text: " + why : name + " = " + answer_value(spec, path) + ": " + why;
}

std::string answer_value(const json& spec, const std::string& path) {
  const json& value = spec.at(json::json_pointer(path));
  const auto plain = [](const json& one) {
    return one.is_string() ? one.get<std::string>() : one.dump();
  };
  if (path == kInstance) {
    std::string out;
    for (const std::string& one : template_arguments_in(value.get<std::string>()))
      out += (out.empty() ? "" : ", ") + one;
    return out;
  }
  if (value.is_array()) {
    std::string out;
    for (const json& one : value) out += (out.empty() ? "" : ", ") + plain(one);
    return "[" + out + "]";
  }
  if (value.is_object() && value.value("kind", "") == "randint" && !value.contains("skew"))
    return plain(value["low"]) + ".." + plain(value["high"]);
  return plain(value);
}

}  // namespace warpath
