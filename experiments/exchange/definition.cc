#include "experiments/exchange/definition.h"

#include <algorithm>
#include <nlohmann/json.hpp>
#include <sstream>

#include "engine/base/error.h"
#include "engine/json/json_reader.h"

namespace warpath {

using nlohmann::json;

namespace {

/// Keys of an object in the order of the file, which the parsed value has lost.
std::vector<std::string> keys_in_order(const std::string& text, const std::string& key) {
  std::vector<std::string> out;
  const nlohmann::ordered_json document = nlohmann::ordered_json::parse(text);
  for (const auto& [name, value] : document.at(key).items()) out.push_back(name);
  return out;
}

Expression axis_value(const JsonCursor& axis) {
  const std::string type = axis.at("type").text();
  if (type == "const") return Expression(axis.at("value").integer());
  std::string text = axis.at("expression").text();
  for (std::size_t at = 0; (at = text.find("//", at)) != std::string::npos;) text.erase(at, 1);
  return Expression::parse(text, axis.at("expression").place());
}

std::vector<ProblemTensor> tensors_of(const JsonCursor& root,
                                      const std::string& text,
                                      const std::string& key) {
  const JsonCursor all = root.at(key);
  all.require_object();
  std::vector<ProblemTensor> out;
  for (const std::string& name : keys_in_order(text, key)) {
    const JsonCursor one = all.at(name);
    ProblemTensor& tensor = out.emplace_back();
    tensor.name = name;
    tensor.dtype = one.at("dtype").text();
    const auto shape = one.find("shape");
    if (!shape) continue;
    shape->require_array();
    tensor.axes.emplace();
    for (std::size_t i = 0; i < shape->size(); ++i)
      tensor.axes->push_back(shape->element(i).text());
  }
  return out;
}

/// Adds the axes that the definition states or computes.
void complete(const Definition& definition, Bindings& axes, const std::string& place) {
  for (const ProblemAxis& axis : definition.axes) {
    if (axis.value)
      axes[axis.name] = axis.value->evaluate(axes, "axis " + axis.name + " of " + definition.name);
    if (!axes.contains(axis.name) || axes.at(axis.name) < 1)
      throw bad_input(place, "no " + axis.name, "a positive value of every axis that varies");
  }
}

ProblemWorkload workload_of(const Definition& definition, const JsonCursor& line) {
  const auto record = line.find("workload");
  if (const auto name = line.find("definition"); record && name && name->text() != definition.name)
    name->fail("the name of the definition, " + definition.name);
  const JsonCursor& at = record ? *record : line;
  ProblemWorkload out;
  out.id = at.at("uuid").text();
  const JsonCursor axes = at.at("axes");
  axes.require_object();
  for (const auto& [name, value] : axes.value().items()) out.axes[name] = axes.at(name).integer();
  complete(definition, out.axes, axes.place());
  const JsonCursor inputs = at.at("inputs");
  inputs.require_object();
  for (const ProblemTensor& input : definition.inputs) {
    const JsonCursor source = inputs.at(input.name);
    const std::string type = source.at("type").text();
    const bool known =
        type == "random" || type == "scalar" || type == "safetensors" || type == "custom";
    if (!known) source.at("type").fail("random, scalar, safetensors or custom");
    if (type == "scalar" && !source.at("value").value().is_primitive())
      source.at("value").fail("a number, true or false");
    if (type == "custom" && definition.make_inputs.empty())
      source.fail("a definition with custom_inputs_entrypoint");
  }
  out.inputs = inputs.value().dump();
  out.workload = at.value().dump();
  return out;
}

std::string word(std::string_view text) {
  if (const std::size_t dot = text.rfind('.'); dot != std::string_view::npos)
    text.remove_prefix(dot + 1);
  for (const std::string_view prefix : {"d_", "p_", "g_"})
    if (text.starts_with(prefix) && text.size() > prefix.size()) text.remove_prefix(prefix.size());
  for (const std::string_view suffix : {"_ptr", "_data", "_d"})
    if (text.ends_with(suffix) && text.size() > suffix.size()) text.remove_suffix(suffix.size());
  std::string out;
  for (const char c : text) {
    if (c != '_') out += static_cast<char>(std::tolower(static_cast<unsigned char>(c)));
  }
  return out;
}

}  // namespace

bool same_word(std::string_view a, std::string_view b) {
  return word(a) == word(b);
}

Definition read_definition(const std::filesystem::path& file) {
  const std::string text = read_text_file(file.string(), kMaxJsonBytes, file.string());
  const json document = parse_json(text, file.string());
  const JsonCursor root(document, file.string());
  Definition out;
  out.name = root.at("name").text();
  if (const auto description = root.find("description")) out.description = description->text();
  const JsonCursor axes = root.at("axes");
  axes.require_object();
  std::vector<std::string> waiting;  // computed ones stand after those that they are computed from
  for (const std::string& name : keys_in_order(text, "axes")) {
    const JsonCursor axis = axes.at(name);
    const std::string type = axis.at("type").text();
    if (type != "const" && type != "var" && type != "expr")
      axis.at("type").fail("const, var or expr");
    if (type == "expr")
      waiting.push_back(name);
    else
      out.axes.push_back({name, type == "var" ? std::nullopt : std::optional(axis_value(axis))});
  }
  for (const std::string& name : waiting) out.axes.push_back({name, axis_value(axes.at(name))});
  out.inputs = tensors_of(root, text, "inputs");
  out.outputs = tensors_of(root, text, "outputs");
  for (const auto* const tensors : {&out.inputs, &out.outputs}) {
    for (const ProblemTensor& tensor : *tensors) {
      for (const std::string& axis : tensor.axes.value_or(std::vector<std::string>{})) {
        if (std::ranges::find(out.axes, axis, &ProblemAxis::name) == out.axes.end())
          throw bad_input(file.string() + ": shape of " + tensor.name, axis, "the name of an axis");
      }
    }
  }
  if (out.outputs.empty() || std::ranges::none_of(out.outputs, [](const ProblemTensor& one) {
        return one.axes.has_value();
      }))
    root.at("outputs").fail("an output that is a tensor");
  out.reference = root.at("reference").text();
  if (const auto made = root.find("custom_inputs_entrypoint")) out.make_inputs = made->text();
  return out;
}

std::vector<ProblemWorkload> read_workloads(const Definition& definition,
                                            const std::optional<std::filesystem::path>& file) {
  std::vector<ProblemWorkload> out;
  if (!file) {
    ProblemWorkload one{.id = "default",
                        .axes = {},
                        .inputs = "",
                        .workload = "",
                        .place = std::filesystem::path()};
    complete(definition, one.axes, "--workloads");
    json inputs = json::object();
    for (const ProblemTensor& input : definition.inputs) {
      if (!input.axes)
        throw bad_input("--workloads", "", "it, with a value of the scalar " + input.name);
      inputs[input.name] = {{"type", "random"}};
    }
    one.inputs = inputs.dump();
    one.workload = json{{"uuid", one.id}, {"axes", json::object()}, {"inputs", inputs}}.dump();
    out.push_back(std::move(one));
    return out;
  }
  std::istringstream lines(read_text_file(file->string(), kMaxJsonBytes, file->string()));
  std::size_t number = 0;
  for (std::string line; std::getline(lines, line);) {
    ++number;
    if (line.find_first_not_of(" \t\r") == std::string::npos) continue;
    const std::string place = file->string() + ":" + std::to_string(number);
    const json document = parse_json(line, place);
    out.push_back(workload_of(definition, JsonCursor(document, place)));
    out.back().place = std::filesystem::absolute(*file).parent_path();
    if (std::ranges::count(out, out.back().id, &ProblemWorkload::id) > 1)
      throw bad_input(place, out.back().id, "a uuid that no line before has");
  }
  if (out.empty()) throw bad_input(file->string(), "no line", "at least one workload");
  return out;
}

std::vector<std::int64_t> extents_of(const ProblemTensor& tensor, const ProblemWorkload& workload) {
  std::vector<std::int64_t> out;
  for (const std::string& axis : tensor.axes.value_or(std::vector<std::string>{}))
    out.push_back(workload.axes.at(axis));
  return out;
}

std::map<std::string, std::string> match_arguments(const Definition& definition,
                                                   const std::vector<KernelArgument>& arguments,
                                                   const std::string& place,
                                                   std::vector<std::string>* guessed) {
  std::map<std::string, std::string> out;
  // Scalars of a definition are numbers of the kernel; its outputs are tensors that are written.
  const auto fits = [](const KernelArgument& argument, const ProblemTensor& tensor, bool output) {
    return argument.is_tensor == tensor.axes.has_value() &&
           (!output || (argument.is_tensor && argument.is_written));
  };
  std::vector<std::pair<const ProblemTensor*, bool>> left;
  for (const ProblemTensor& output : definition.outputs) left.emplace_back(&output, true);
  for (const ProblemTensor& input : definition.inputs) left.emplace_back(&input, false);
  const auto take = [&](const KernelArgument& argument, const auto& accepts) {
    const auto found = std::ranges::find_if(left, [&](const auto& one) {
      return fits(argument, *one.first, one.second) && accepts(*one.first, one.second);
    });
    if (found == left.end()) return false;
    out[argument.name] = found->first->name;
    left.erase(found);
    return true;
  };
  for (const KernelArgument& argument : arguments)
    static_cast<void>(take(argument, [&](const ProblemTensor& tensor, bool) {
      return same_word(argument.name, tensor.name);
    }));
  for (const KernelArgument& argument : arguments) {
    if (out.contains(argument.name)) continue;
    if (!argument.is_tensor && !argument.is_float) continue;  // a size, or what no input says
    const bool found = take(argument, [&](const ProblemTensor&, bool output) {
      return output == (argument.is_tensor && argument.is_written);
    });
    if (found && guessed != nullptr) guessed->push_back(argument.name);
    if (!found && argument.is_tensor)
      throw bad_input(place, argument.name,
                      std::string("an ") + (argument.is_written ? "output" : "input") +
                          " of the definition " + definition.name + " for it");
  }
  for (const auto& [tensor, output] : left) {
    if (output) throw bad_input(place, "no " + tensor->name, "a kernel that writes every output");
  }
  return out;
}

}  // namespace warpath
