#include "experiments/exchange/python_reference.h"

#include <unistd.h>

#include <algorithm>
#include <nlohmann/json.hpp>

#include "engine/base/dtype.h"
#include "engine/base/error.h"
#include "engine/base/temporary_folder.h"
#include "engine/json/json_reader.h"
#include "engine/log/run_folder.h"
#include "engine/spec/npy.h"
#include "experiments/ship_templates.h"
#include "runners/worker/process.h"

namespace warpath {
namespace {

using nlohmann::json;

constexpr std::chrono::seconds kLimit{600};

/// Runs the helper on a request; its answer.
json ask_python(const std::string& python, const TemporaryFolder& folder, const json& request) {
  write_file_atomically(folder / "reference.py", kReferenceText, false);
  write_file_atomically(folder / "request.json", request.dump(), false);
  ProcessSpec child{.argv = {python, (folder / "reference.py").string(), folder.path().string()},
                    .environment = {}};
  for (char** variable = environ; *variable != nullptr; ++variable)
    child.environment.emplace_back(*variable);
  const ProcessResult ran = run_process(child, kLimit, std::size_t{1} << 16U);
  const std::string answer = (folder / "answer.json").string();
  std::error_code absent;
  if (ran.end != ProcessEnd::exited || ran.code != 0 || !std::filesystem::exists(answer, absent))
    throw environment_error(python + " did not run the reference: " +
                            (ran.end == ProcessEnd::timed_out
                                 ? "it took more than ten minutes"
                                 : ran.output.substr(0, ran.output.find('\n'))));
  return read_json_file(answer);
}

std::map<std::string, Tensor, std::less<>> tensors_in(const TemporaryFolder& folder,
                                                      const json& files,
                                                      const std::vector<ProblemTensor>& tensors) {
  std::map<std::string, Tensor, std::less<>> out;
  for (const auto& [name, file] : files.items()) {
    const auto tensor = std::ranges::find(tensors, name, &ProblemTensor::name);
    const auto dtype = parse_dtype(tensor->dtype);
    if (!dtype) throw bad_input("input or output " + name, tensor->dtype, "a type that specs have");
    out.emplace(name, read_npy((folder / file.get<std::string>()).string(), *dtype));
  }
  return out;
}

ReferenceAnswer answer_of(const Definition& definition,
                          const TemporaryFolder& folder,
                          const json& said) {
  ReferenceAnswer out{.of_workload = {}, .why = said.value("why", "")};
  for (const auto& [id, files] : said.at("workloads").items())
    out.of_workload[id] = {tensors_in(folder, files.at("inputs"), definition.inputs),
                           tensors_in(folder, files.at("outputs"), definition.outputs)};
  return out;
}

bool is_kept(const Definition& definition, const ProblemWorkload& workload) {
  const auto small = [&](const ProblemTensor& tensor) {
    std::int64_t elements = 1;
    for (const std::int64_t extent : extents_of(tensor, workload)) {
      if (extent > kMostKeptElements / elements) return false;
      elements *= extent;
    }
    return true;
  };
  return std::ranges::all_of(definition.inputs, small) &&
         std::ranges::all_of(definition.outputs, small);
}

json described(const ProblemTensor& tensor, const ProblemWorkload& workload) {
  return {{"name", tensor.name},
          {"dtype", tensor.dtype},
          {"shape", tensor.axes ? json(extents_of(tensor, workload)) : json()}};
}

}  // namespace

ReferenceAnswer run_reference(const Definition& definition,
                              const std::vector<ProblemWorkload>& workloads,
                              const std::string& python) {
  json request{{"reference", definition.reference},
               {"make_inputs", definition.make_inputs},
               {"workloads", json::array()}};
  for (const ProblemWorkload& workload : workloads) {
    if (!is_kept(definition, workload)) continue;
    json one{{"id", workload.id},
             {"axes", workload.axes},
             {"place", workload.place.string()},
             {"inputs", json::array()},
             {"outputs", json::array()}};
    const json sources = json::parse(workload.inputs);
    for (const ProblemTensor& input : definition.inputs) {
      one["inputs"].push_back(described(input, workload));
      one["inputs"].back()["source"] = sources.at(input.name);
    }
    for (const ProblemTensor& output : definition.outputs)
      one["outputs"].push_back(described(output, workload));
    request["workloads"].push_back(std::move(one));
  }
  if (request["workloads"].empty())
    return {.of_workload = {}, .why = "the tensors of every workload are too large to be kept"};
  const TemporaryFolder folder("reference");
  return answer_of(definition, folder, ask_python(python, folder, request));
}

PythonProblem run_problem(const std::filesystem::path& file, const std::string& python) {
  static_cast<void>(read_text_file(file.string(), kMaxJsonBytes, file.string()));
  const TemporaryFolder folder("reference");
  const json said = ask_python(python, folder,
                               {{"problem", std::filesystem::absolute(file).string()},
                                {"most_elements", kMostKeptElements}});
  const std::string made = (folder / "definition.json").string();
  std::error_code absent;
  if (!std::filesystem::exists(made, absent))
    throw environment_error(file.string() + " cannot be run by " + python + ": " +
                            said.value("why", "no reason"));
  PythonProblem out;
  out.definition = read_definition(made);
  out.definition_text = read_text_file(made, kMaxJsonBytes, made);
  out.workloads = read_workloads(out.definition, folder / "workload.jsonl");
  out.answer = answer_of(out.definition, folder, said);
  return out;
}

}  // namespace warpath
