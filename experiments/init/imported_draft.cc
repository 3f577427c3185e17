#include "experiments/init/imported_draft.h"

#include <algorithm>
#include <functional>
#include <nlohmann/json.hpp>
#include <numeric>
#include <optional>
#include <set>

#include "engine/base/dtype.h"
#include "engine/base/error.h"
#include "engine/spec/expression.h"

namespace warpath {

using json = nlohmann::ordered_json;

namespace {

/// Records of runs have the values of files in them.
constexpr std::size_t kMostBytes = std::size_t{32} << 20U;
constexpr std::int64_t kMostHostElements = std::int64_t{1} << 22U;

std::int64_t product(const std::vector<std::int64_t>& extents) {
  return std::accumulate(extents.begin(), extents.end(), std::int64_t{1}, std::multiplies<>());
}

Expression extent_of(const json& extent) {
  return extent.is_string() ? Expression::parse(extent.get<std::string>(), "shape")
                            : Expression(extent.get<std::int64_t>());
}

/// A name alone; empty for other expressions.
std::string bare_name(const Expression& expression) {
  const auto names = expression.names();
  return names.size() == 1 && *names.begin() == expression.text() ? expression.text() : "";
}

class Import {
 public:
  Import(const SpecDraft& draft,
         const Definition& definition,
         const std::vector<ProblemWorkload>& workloads,
         const ReferenceAnswer& answer,
         const std::string& folder,
         const std::string& place)
      : spec_(json::parse(draft.spec)),
        definition_(definition),
        workloads_(workloads),
        answer_(answer),
        folder_(folder),
        place_(place) {
    out_.draft.source = draft.source;
  }

  ImportedDraft run() {
    match();
    for (const ProblemWorkload& workload : workloads_) values_.push_back(sizes_in(workload));
    for (json& arg : args()) {
      if (arg["type"] == "tensor") settle_shape(arg);
    }
    settle_sizes();
    make_workloads();
    finish();
    out_.draft.spec = spec_.dump(2) + "\n";
    return std::move(out_);
  }

 private:
  json& args() { return spec_["kernel"]["io"]["args"]; }

  const ProblemTensor& tensor_of(const std::string& argument) const {
    const std::string& name = of_argument_.at(argument);
    const auto input = std::ranges::find(definition_.inputs, name, &ProblemTensor::name);
    return input != definition_.inputs.end()
               ? *input
               : *std::ranges::find(definition_.outputs, name, &ProblemTensor::name);
  }

  bool is_output(const std::string& argument) const {
    return std::ranges::find(definition_.outputs, of_argument_.at(argument),
                             &ProblemTensor::name) != definition_.outputs.end();
  }

  void match() {
    std::vector<KernelArgument> arguments;
    for (const json& arg : args()) {
      const bool tensor = arg["type"] == "tensor";
      arguments.push_back({.name = arg["name"],
                           .is_tensor = tensor,
                           .is_written = tensor && arg["role"] != "input",
                           .is_float = arg["type"] == "float"});
    }
    std::vector<std::string> guessed;
    of_argument_ = match_arguments(definition_, arguments, place_, &guessed);
    for (std::size_t i = 0; i < args().size(); ++i) {
      const std::string name = args()[i]["name"];
      if (!of_argument_.contains(name)) continue;
      const std::string path = "/kernel/io/args/" + std::to_string(i);
      drop_guesses(path);
      if (std::ranges::find(guessed, name) != guessed.end())
        guess(path + "/name",
              "by its place it is " + of_argument_.at(name) + " of " + definition_.name);
      if (args()[i]["type"] != "tensor") continue;
      const ProblemTensor& tensor = tensor_of(name);
      if (args()[i]["tensor_spec"]["dtype"] != tensor.dtype)
        throw bad_input(place_ + ": " + name, args()[i]["tensor_spec"]["dtype"].get<std::string>(),
                        tensor.dtype + ", the type of " + tensor.name + " in " + definition_.name);
    }
  }

  /// The kernel's integers in a workload, as far as the problem says them.
  Bindings sizes_in(const ProblemWorkload& workload) {
    Bindings out;
    const json sources = json::parse(workload.inputs);
    for (const json& arg : args()) {
      const std::string name = arg["name"];
      if (arg["type"] == "tensor") continue;
      if (const auto input = of_argument_.find(name); input != of_argument_.end()) {
        const json& source = sources.at(input->second);
        if (source.contains("value") && source["value"].is_number_integer())
          out[name] = source["value"].get<std::int64_t>();
        continue;
      }
      if (arg["type"] != "int") continue;
      for (const auto& [axis, value] : workload.axes)
        if (same_word(axis, name)) out[name] = value;
    }
    for (const json& arg : args()) {
      if (arg["type"] != "tensor") continue;
      std::vector<std::int64_t> left = extents_of(tensor_of(arg["name"]), workload);
      const json& shape = arg["tensor_spec"]["shape"];
      for (std::size_t i = shape.size(); i-- > 0 && !left.empty();) {
        const std::int64_t extent = i == 0 ? product(left) : left.back();
        left.pop_back();
        const std::string name = bare_name(extent_of(shape[i]));
        if (!name.empty() && out.emplace(name, extent).second) by_shape_.insert(name);
      }
    }
    for (std::size_t known = out.size() + 1; known != out.size();) {
      known = out.size();
      for (const json& arg : args()) {
        if (arg["type"] == "tensor") solve(arg, extents_of(tensor_of(arg["name"]), workload), out);
      }
    }
    return out;
  }

  /// The sizes in a tensor's shape that are not known: one by the number of elements, several by
  /// the last extents, in the order of the kernel's parameters.
  void solve(const json& arg, std::vector<std::int64_t> extents, Bindings& known) {
    const auto elements = [&](const Bindings& sizes) {
      std::int64_t out = 1;
      for (const json& extent : arg["tensor_spec"]["shape"])
        out *= extent_of(extent).evaluate(sizes, place_);
      return out;
    };
    std::set<std::string> names;
    for (const json& extent : arg["tensor_spec"]["shape"]) names.merge(extent_of(extent).names());
    std::vector<std::string> unknown;
    for (const json& other : args()) {
      const std::string name = other["name"];
      if (names.contains(name) && !known.contains(name)) unknown.push_back(name);
    }
    if (unknown.empty() || unknown.size() > std::max<std::size_t>(1, extents.size())) return;
    const std::int64_t whole = product(extents);
    Bindings tried = known;
    for (const std::string& name : unknown) tried[name] = 1;
    const std::int64_t others = elements(tried);
    if (others < 1 || whole % others != 0) return;
    std::int64_t left = whole / others;
    for (std::size_t i = unknown.size(); i-- > 0; extents.pop_back()) {
      const std::int64_t value = i == 0 ? left : extents.back();
      if (left % value != 0) return;
      tried[unknown[i]] = value;
      left /= value;
    }
    if (elements(tried) != whole) return;
    known = tried;
    by_shape_.insert(unknown.begin(), unknown.end());
  }

  [[nodiscard]] bool agrees(const json& shape, const ProblemTensor& tensor) const {
    for (std::size_t w = 0; w < workloads_.size(); ++w) {
      std::vector<std::int64_t> own;
      try {
        for (const json& extent : shape) own.push_back(extent_of(extent).evaluate(values_[w], ""));
      } catch (const Error&) {
        return false;  // a size that the problem does not say
      }
      if (product(own) != product(extents_of(tensor, workloads_[w]))) return false;
    }
    return true;
  }

  /// The problem's own shape, over the kernel's integers or a size by the axis's name, where the
  /// draft's has not as many elements.
  void settle_shape(json& arg) {
    const ProblemTensor& tensor = tensor_of(arg["name"]);
    json& spec = arg["tensor_spec"];
    if (agrees(spec["shape"], tensor)) return;
    spec["shape"] = json::array();
    const auto& axes = *tensor.axes;
    for (std::size_t d = 0; d < axes.size(); ++d) {
      const std::int64_t first = extents_of(tensor, workloads_.front())[d];
      const auto axis = std::ranges::find(definition_.axes, axes[d], &ProblemAxis::name);
      if (axis->value && axis->value->is_constant()) {
        spec["shape"].push_back(first);
        continue;
      }
      spec["shape"].push_back(name_of(axes[d]));
    }
    if (axes.empty()) spec["shape"].push_back(1);
  }

  /// An integer that is the axis in every workload; a new size if there is none.
  std::string name_of(const std::string& axis) {
    for (const json& arg : args()) {
      const std::string name = arg["name"];
      bool same = arg["type"] == "int";
      for (std::size_t w = 0; same && w < workloads_.size(); ++w)
        same = values_[w].contains(name) && values_[w].at(name) == workloads_[w].axes.at(axis);
      if (same) return name;
    }
    std::string name = axis;
    while (std::ranges::any_of(args(), [&](const json& arg) { return arg["name"] == name; }))
      name += "_size";
    for (std::size_t w = 0; w < workloads_.size(); ++w)
      values_[w][name] = workloads_[w].axes.at(axis);
    added_.push_back({{"name", name},
                      {"type", "int"},
                      {"value", values_.front().at(name)},
                      {"is_meta", true},
                      {"is_size", true}});
    return name;
  }

  void settle_sizes() {
    for (json& size : added_) {
      if (std::ranges::none_of(args(),
                               [&](const json& arg) { return arg["name"] == size["name"]; }))
        args().push_back(std::move(size));
    }
    for (std::size_t i = 0; i < args().size(); ++i) {
      json& arg = args()[i];
      const std::string name = arg["name"];
      const std::string path = "/kernel/io/args/" + std::to_string(i) + "/value";
      const auto value = values_.front().find(name);
      if (value != values_.front().end()) {
        arg["value"] = arg["type"] == "bool" ? json(value->second != 0) : json(value->second);
        drop_guesses(path);
        if (by_shape_.contains(name)) guess(path, "by the shapes of " + definition_.name);
      } else if (const json number = number_of(workloads_.front(), name); !number.is_null()) {
        arg["value"] = number;
      }
    }
  }

  /// The number or flag of a scalar input.
  [[nodiscard]] json number_of(const ProblemWorkload& workload, const std::string& argument) const {
    const auto input = of_argument_.find(argument);
    if (input == of_argument_.end() || is_output(argument)) return {};
    return json::parse(workload.inputs).at(input->second).value("value", json());
  }

  void make_workloads() {
    json made = json::array(), outputs = json::object();
    std::size_t bytes = 0;
    for (std::size_t w = 0; w < workloads_.size(); ++w) {
      const ProblemWorkload& workload = workloads_[w];
      const auto values = answer_.of_workload.find(workload.id);
      if (!answer_.of_workload.empty()) {
        if (values == answer_.of_workload.end() ||
            (bytes += bytes_of(values->second)) > kMostBytes) {
          out_.left_out.push_back(workload.id);
          continue;
        }
      }
      json one{{"name", workload.id}, {"scalars", json::object()}};
      for (const json& arg : args()) {
        const std::string name = arg["name"];
        if (arg["type"] == "tensor") {
          if (values != answer_.of_workload.end())
            take_values(arg, w, values->second, one, outputs[workload.id]);
          continue;
        }
        const json number = number_of(workload, name);
        if (!number.is_null())
          one["scalars"][name] = number;
        else if (const auto value = values_[w].find(name); value != values_[w].end())
          one["scalars"][name] = value->second;
      }
      if (values == answer_.of_workload.end() && elements_of(workload) > kMostHostElements)
        one["target"] = "gpu";
      made.push_back(std::move(one));
    }
    if (made.empty())
      throw bad_input(place_, "no workload left",
                      "one whose inputs and outputs have at most 32 MiB");
    spec_["kernel"]["workloads"] = made;
    if (!outputs.empty()) spec_["reference"] = {{"outputs", outputs}};
  }

  [[nodiscard]] static std::size_t bytes_of(const ReferenceValues& values) {
    std::size_t out = 0;
    for (const auto* const tensors : {&values.inputs, &values.outputs}) {
      for (const auto& [name, tensor] : *tensors) out += tensor.bytes.size();
    }
    return out;
  }

  [[nodiscard]] std::int64_t elements_of(const ProblemWorkload& workload) const {
    std::int64_t out = 0;
    for (const auto& [argument, name] : of_argument_)
      out = std::max(out, product(extents_of(tensor_of(argument), workload)));
    return out;
  }

  /// A file with values of the argument, in the spec's shape.
  json file_of(const json& arg, std::size_t w, Tensor tensor) {
    tensor.shape.clear();
    for (const json& extent : arg["tensor_spec"]["shape"])
      tensor.shape.push_back(extent_of(extent).evaluate(values_[w], "shape"));
    const std::string name = std::to_string(w) + "_" + arg["name"].get<std::string>() + ".npy";
    json out{{"file", folder_ + "/" + name}, {"dtype", info(tensor.dtype).name}};
    out_.files.emplace_back(name, std::move(tensor));
    return out;
  }

  void take_values(const json& arg,
                   std::size_t w,
                   const ReferenceValues& values,
                   json& workload,
                   json& outputs) {
    const std::string name = arg["name"];
    const std::string& of = of_argument_.at(name);
    if (is_output(name)) {
      outputs[name] = file_of(arg, w, values.outputs.at(of));
      return;
    }
    json spec = arg["tensor_spec"];
    spec.erase("init");
    spec["data"] = file_of(arg, w, values.inputs.at(of));
    workload["tensors"][name] = std::move(spec);
  }

  void finish() {
    for (json& arg : args()) {
      if (arg["type"] != "tensor") continue;
      const std::string name = arg["name"];
      if (!is_output(name) && arg["role"] != "input" && !answer_.of_workload.empty())
        throw bad_input(place_, name + " that the kernel writes", "an input that it only reads");
      if (is_output(name) && arg["role"] == "inout" && !answer_.of_workload.empty())
        arg["tensor_spec"]["init"] = {{"kind", "zeros"}};
    }
    std::string name;
    for (const char c : definition_.name)
      name += std::isalnum(static_cast<unsigned char>(c)) != 0 || c == '_' || c == '-' || c == '.'
                  ? c
                  : '_';
    spec_["name"] = name;
    spec_["description"] = definition_.name + ", " + spec_["description"].get<std::string>();
    if (!answer_.why.empty())
      guess("/reference/kernel/kernel_name",
            "the kernel itself, since the Python reference gave nothing: " + answer_.why);
  }

  void guess(const std::string& path, const std::string& why) {
    spec_["guessed"].push_back({{"path", path}, {"why", why}});
  }
  /// What the text did not say of a part, the problem does.
  void drop_guesses(const std::string& path) {
    json left = json::array();
    for (const json& one : spec_["guessed"]) {
      const std::string at = one["path"];
      if (at != path && !at.starts_with(path + "/")) left.push_back(one);
    }
    spec_["guessed"] = left;
  }

  json spec_;
  const Definition& definition_;
  const std::vector<ProblemWorkload>& workloads_;
  const ReferenceAnswer& answer_;
  const std::string& folder_;
  const std::string& place_;
  std::map<std::string, std::string> of_argument_;  ///< input or output, by argument
  std::vector<Bindings> values_;                    ///< of integers, by workload
  std::set<std::string> by_shape_;
  std::vector<json> added_;
  ImportedDraft out_;
};

}  // namespace

ImportedDraft import_problem(const SpecDraft& draft,
                             const Definition& definition,
                             const std::vector<ProblemWorkload>& workloads,
                             const ReferenceAnswer& answer,
                             const std::string& folder,
                             const std::string& place) {
  return Import(draft, definition, workloads, answer, folder, place).run();
}

}  // namespace warpath
