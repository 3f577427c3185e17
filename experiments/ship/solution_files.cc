#include "experiments/ship/solution_files.h"

#include <algorithm>
#include <array>
#include <ctime>
#include <functional>
#include <map>
#include <nlohmann/json.hpp>
#include <set>
#include <sstream>

#include "engine/base/error.h"
#include "engine/base/format.h"
#include "engine/json/json_record.h"
#include "experiments/setup/revision.h"
#include "experiments/setup/runner_choice.h"
#include "experiments/setup/served_sizes.h"
#include "experiments/ship/c_arguments.h"
#include "experiments/ship/expression_code.h"
#include "experiments/ship/template_text.h"
#include "experiments/ship_templates.h"

namespace warpath {
namespace {

using nlohmann::json;
using nlohmann::ordered_json;

constexpr std::array<std::string_view, 3> kFormats{"flashinfer-trace", "sol-execbench",
                                                   "kernelbench"};
constexpr std::string_view kState = "model.";  // names of a model's parameters in a definition

std::string identifier_of(const std::string& name) {
  std::string out;
  for (const char c : name) out += std::isalnum(static_cast<unsigned char>(c)) != 0 ? c : '_';
  return "in_" + out;
}

/// The code that gives the kernel's arguments from those of the problem.
class Entry {
 public:
  Entry(const Shipment& shipment, const SolutionRequest& request)
      : spec_(shipment.spec()), definition_(request.definition) {
    for (const Workload* const workload : shipment.workloads()) {
      const auto found = std::ranges::find(request.workloads, workload->name, &ProblemWorkload::id);
      if (found == request.workloads.end()) continue;
      workloads_.emplace_back(workload, &*found);
    }
    if (workloads_.empty())
      throw bad_input("--workloads", request.definition.name,
                      "workloads of the run: " + shipment.workloads().front()->name + ", ...");
    match(shipment.folder().string());
    for (std::size_t before = sizes_.size() + 1; before != sizes_.size();) {
      before = sizes_.size();
      for (const ArgSpec* const arg : launcher_arguments(spec_)) by_shape(*arg);
    }
    for (const ArgSpec* const arg : launcher_arguments(spec_)) by_value(*arg);
  }

  /// Parameters of the entry: inputs, then outputs.
  [[nodiscard]] std::string formal() const {
    std::string out;
    each([&](const ProblemTensor& tensor, bool output) {
      std::string type = output ? "at::Tensor" : "const at::Tensor&";
      if (!tensor.axes)
        type = tensor.dtype == "bool"            ? "bool"
               : tensor.dtype.starts_with("int") ? "int64_t"
                                                 : "double";
      out += (out.empty() ? "" : ", ") + type + " " + identifier_of(tensor.name);
    });
    return out;
  }
  [[nodiscard]] const std::string& sizes() const { return code_; }
  [[nodiscard]] std::string actual() const {
    std::string out;
    for (const ArgSpec* const arg : launcher_arguments(spec_)) {
      const auto tensor = of_argument_.find(arg->name);
      out += (out.empty() ? "" : ", ") +
             (tensor != of_argument_.end() ? identifier_of(tensor->second) : sizes_.at(arg->name));
    }
    return out;
  }

 private:
  void each(const std::function<void(const ProblemTensor&, bool)>& call) const {
    for (const ProblemTensor& input : definition_.inputs) call(input, false);
    for (const ProblemTensor& output : definition_.outputs) call(output, true);
  }

  void match(const std::string& place) {
    std::vector<KernelArgument> arguments;
    for (const ArgSpec* const arg : launcher_arguments(spec_))
      arguments.push_back({.name = arg->name,
                           .is_tensor = arg->type == ArgType::tensor,
                           .is_written = is_written(*arg),
                           .is_float = arg->type == ArgType::floating});
    of_argument_ = match_arguments(definition_, arguments, place);
  }

  void add(const ArgSpec& arg, const std::string& value) {
    sizes_[arg.name] = "size_" + arg.name;
    code_ += "  const int64_t size_" + arg.name + " = " + value + ";\n";
  }

  /// A size that is an extent of a tensor, or what its number of elements leaves for it.
  void by_shape(const ArgSpec& arg) {
    if (arg.type != ArgType::integer || known(arg.name)) return;
    for (const ArgSpec& tensor : spec_.io.args) {
      const auto of = of_argument_.find(tensor.name);
      if (tensor.type != ArgType::tensor || of == of_argument_.end()) continue;
      const auto& shape = tensor.tensor->shape;
      bool all_known = true, has = false;
      for (const Expression& extent : shape) {
        for (const std::string& name : extent.names()) {
          has = has || name == arg.name;
          all_known = all_known && (name == arg.name || known(name));
        }
      }
      if (!has || !all_known || !is_linear(shape, arg.name)) continue;
      std::string others = "1";
      for (const Expression& extent : shape)
        others = "mul(" + others + ", " +
                 c_expression(extent,
                              [&](const std::string& name) {
                                return name == arg.name ? std::string("1") : sizes_.at(name);
                              }) +
                 ", &bad)";
      return add(arg, "quotient(" + identifier_of(of->second) + ".numel(), " + others + ", &bad)");
    }
  }

  [[nodiscard]] bool known(const std::string& name) const {
    return sizes_.contains(name) || of_argument_.contains(name);
  }

  [[nodiscard]] bool is_linear(const std::vector<Expression>& shape,
                               const std::string& name) const {
    const auto elements = [&](std::int64_t value) {
      std::int64_t out = 1;
      Bindings sizes = spec_.bindings(*workloads_.front().first, {});
      sizes[name] = value;
      for (const Expression& extent : shape) out *= extent.evaluate(sizes, name);
      return out;
    };
    return elements(2) == 2 * elements(1) && elements(7) == 7 * elements(1);
  }

  /// The extent that it is in every workload of the run, for the values there alone; a constant.
  void by_value(const ArgSpec& arg) {
    if (arg.type == ArgType::tensor || known(arg.name)) return;
    if (arg.type == ArgType::floating)
      throw bad_input(definition_.name, arg.name, "an input that gives this number of the kernel");
    std::set<std::int64_t> values;
    const auto value_in = [&](const Workload& workload) {
      return spec_.bindings(workload, {}).at(arg.name);
    };
    for (const auto& [workload, problem] : workloads_) values.insert(value_in(*workload));
    std::string accepted;
    for (const std::int64_t value : values)
      accepted +=
          (accepted.empty() ? "" : " || ") + ("size_" + arg.name) + " == " + std::to_string(value);
    std::string code = values.size() == 1 ? std::to_string(*values.begin()) : "";
    each([&](const ProblemTensor& tensor, bool) {
      for (std::size_t d = 0; d < tensor.axes.value_or(std::vector<std::string>{}).size(); ++d) {
        const bool same = std::ranges::all_of(workloads_, [&](const auto& one) {
          return extents_of(tensor, *one.second)[d] == value_in(*one.first);
        });
        if (same && values.size() > 1 && code.empty())
          code = identifier_of(tensor.name) + ".size(" + std::to_string(d) + ")";
      }
    });
    if (code.empty())
      throw bad_input(definition_.name, arg.name, "an input or extent that gives this argument");
    add(arg, code);
    code_ += "  if (!(" + accepted + ")) bad = 1;\n";
  }

  const KernelSpec& spec_;
  const Definition& definition_;
  std::vector<std::pair<const Workload*, const ProblemWorkload*>> workloads_;
  std::map<std::string, std::string> of_argument_;
  std::map<std::string, std::string> sizes_;  ///< code, by argument
  std::string code_;
};

/// Texts of the solution: those of an export, whose .cu are compiled each and the others included.
FolderFiles sources_of(const Shipment& shipment,
                       const CompiledShipment& uncompiled,
                       const SolutionRequest& request) {
  const std::string& name = shipment.name();
  const Entry entry(shipment, request);
  FolderFiles out{
      {"kernel.cu", fill_template(kSolutionTemplate, {{"NAME", name},
                                                      {"TITLE", name + ", made by Warpath"},
                                                      {"ENTRY", "run"},
                                                      {"FORMAL", entry.formal()},
                                                      {"SIZES", entry.sizes()},
                                                      {"ACTUAL", entry.actual()}})}};
  const auto renamed = [&](const std::string& file) -> std::string {
    if (file == "best_kernel.cu" || file == "original_kernel.cu") return file + "h";
    for (const char* const part : {"_state.c", "_runtime.c"})
      if (file == name + part) return file.substr(0, file.size() - 1) + "inc";
    if (file == name + "_torch.cc") return name + "_torch.inc";
    const bool kept = file.starts_with("headers/") || file == name + "_best.cu" ||
                      file == name + "_original.cu" || file == name + ".h" ||
                      file == name + "_sizes.h" || file == name + "_plan.h" ||
                      file == name + "_state.h";
    return kept ? file : "";
  };
  for (auto& [file, text] : export_files(shipment, uncompiled)) {
    const std::string target = renamed(file);
    if (target.empty()) continue;
    const std::size_t included = text.find("_kernel.cu\"");
    if (target.ends_with(".cu") && included != std::string::npos)
      text.replace(included, 11, "_kernel.cuh\"");
    out.emplace_back(target, std::move(text));
  }
  return out;
}

std::vector<std::string> words_of(const std::string& text) {
  std::vector<std::string> out;
  std::istringstream words(text);
  for (std::string word; words >> word;) out.push_back(word);
  return out;
}

std::string underscored(std::string text) {
  std::ranges::replace(text, ' ', '_');
  return text;
}

std::string solution_name(const Shipment& shipment, const SolutionRequest& request) {
  return request.definition.name + "_warpath_" +
         shipment.run().nodes()[shipment.run().find("best")].key.short_hex();
}

std::string solution_json(const Shipment& shipment,
                          const FolderFiles& sources,
                          const SolutionRequest& request) {
  ordered_json spec;
  if (request.format == SolutionFormat::sol_execbench)
    spec["languages"] = {"cuda_cpp"};
  else
    spec["language"] = "cuda";
  const std::string device = underscored(shipment.device().name);
  const bool listed = device.find("B200") != std::string::npos;
  spec["target_hardware"] = request.format == SolutionFormat::sol_execbench
                                ? std::vector<std::string>{listed ? "B200" : "LOCAL"}
                                : std::vector<std::string>{device};
  spec["entry_point"] = "kernel.cu::run";
  spec["dependencies"] = json::array();
  spec["destination_passing_style"] = true;
  spec["binding"] = "torch";
  if (request.format == SolutionFormat::sol_execbench) {
    std::vector<std::string> flags = words_of(nvcc_options(shipment.best()));
    flags.insert(flags.begin(), "-O3");
    spec["compile_options"] = {{"cuda_cflags", flags}};
  }
  ordered_json out{{"name", solution_name(shipment, request)},
                   {"definition", request.definition.name},
                   {"author", request.author},
                   {"description", ratio_text(shipment.speedup(), shipment.interval()) +
                                       " over the kernel that the search began with, on " +
                                       shipment.device().name},
                   {"spec", spec},
                   {"sources", json::array()}};
  for (const auto& [path, text] : sources)
    out["sources"].push_back(ordered_json{{"path", path}, {"content", text}});
  return json_text(out, 2) + "\n";
}

std::string traces(const Shipment& shipment, const SolutionRequest& request) {
  const RecordedRun& run = shipment.run();
  const std::size_t best = run.find("best");
  const auto started = static_cast<std::time_t>(run.started());
  std::tm time{};
  gmtime_r(&started, &time);
  char stamp[32] = "";
  std::strftime(stamp, sizeof stamp, "%Y-%m-%dT%H:%M:%SZ", &time);
  const std::string_view label = timing_label(run.run().runner);
  const std::vector<ServedSize> sizes = served_sizes(run, best);
  const auto shipped = std::ranges::find(sizes, shipment.primary().name, &ServedSize::workload);
  std::string out;
  for (const ServedSize& size : sizes) {
    if (size.version != shipped->version) continue;  // the solution has the original for it
    const auto workload = std::ranges::find(request.workloads, size.workload, &ProblemWorkload::id);
    if (workload == request.workloads.end() || !(size.time_ns > 0)) continue;
    const Outcome* const outcome = counted_outcome(run.nodes()[best]);
    const json evaluation{
        {"status", "PASSED"},
        {"environment",
         {{"hardware", underscored(shipment.device().name)},
          {"libs", {{"warpath", std::string(revision())}, {"runner", run.run().runner}}}}},
        {"timestamp", stamp},
        {"log", "verified within the spec's tolerance, largest errors are not kept: " +
                    outcome->verdict.summary() +
                    "; reference_latency_ms is that of the kernel that the search began with" +
                    (label.empty() ? "" : "; " + std::string(label))},
        {"correctness", {{"max_relative_error", "NaN"}, {"max_absolute_error", "NaN"}}},
        {"performance",
         {{"latency_ms", size.time_ns / 1e6},
          {"reference_latency_ms", size.baseline_ns / 1e6},
          {"speedup_factor", size.speedup()}}}};
    out += json_text(json{{"definition", request.definition.name},
                          {"solution", solution_name(shipment, request)},
                          {"workload", json::parse(workload->workload)},
                          {"evaluation", evaluation}}) +
           "\n";
  }
  return out;
}

/// ModelNew beside the problem's own text, whose Model has the parameters.
std::string kernelbench_text(const Shipment& shipment,
                             const FolderFiles& sources,
                             const SolutionRequest& request) {
  std::string formal, actual, outputs, result, device;
  for (const ProblemTensor& input : request.definition.inputs) {
    std::string value = input.name;
    if (input.name.starts_with(kState))
      value = "state[" + c_literal(input.name.substr(kState.size())) + "]";
    else
      formal += (formal.empty() ? "" : ", ") + input.name;
    if (input.axes && device.empty()) device = value;
    actual += (actual.empty() ? "" : ", ") + value + (input.axes ? ".contiguous()" : "");
  }
  for (const ProblemTensor& output : request.definition.outputs) {
    std::string extents;
    for (const std::int64_t extent : extents_of(output, request.workloads.front()))
      extents += std::to_string(extent) + ", ";
    outputs += "        " + output.name + " = torch.empty((" + extents + "), dtype=torch." +
               output.dtype + ", device=" + device + ".device)\n";
    actual += ", " + output.name;
    result += (result.empty() ? "" : ", ") + output.name;
  }
  ordered_json texts;
  for (const auto& [path, text] : sources) texts[path] = text;
  std::vector<std::string> flags = words_of(nvcc_options(shipment.best()));
  flags.insert(flags.begin(), "-O3");
  return fill_template(kSolutionModuleTemplate,
                       {{"PROBLEM", request.definition.reference},
                        {"TITLE", shipment.name() + ", made by Warpath"},
                        {"SOURCES", texts.dump(4, ' ', true, json::error_handler_t::replace)},
                        {"FLAGS", json(flags).dump()},
                        {"NAME", shipment.name()},
                        {"ENTRY", "run"},
                        {"FORMAL", formal},
                        {"OUTPUTS", outputs},
                        {"ACTUAL", actual},
                        {"RESULT", result}});
}

}  // namespace

SolutionFormat solution_format(const std::string& text, const std::string& place) {
  const auto it = std::ranges::find(kFormats, text);
  if (it == kFormats.end())
    throw bad_input(place, text, "flashinfer-trace, sol-execbench or kernelbench");
  return static_cast<SolutionFormat>(it - kFormats.begin());
}

FolderFiles solution_files(const Shipment& shipment,
                           const CompiledShipment& uncompiled,
                           const SolutionRequest& request) {
  const FolderFiles sources = sources_of(shipment, uncompiled, request);
  if (request.format == SolutionFormat::kernelbench)
    return {{shipment.name() + ".py", kernelbench_text(shipment, sources, request)}};
  return {{"solution.json", solution_json(shipment, sources, request)},
          {"traces.jsonl", traces(shipment, request)}};
}

}  // namespace warpath
