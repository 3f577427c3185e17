#pragma once

#include <filesystem>
#include <map>
#include <string>
#include <vector>

#include "engine/spec/tensor.h"
#include "experiments/exchange/definition.h"

namespace warpath {

/// Values of a workload's inputs and of its outputs by the reference.
struct ReferenceValues {
  std::map<std::string, Tensor, std::less<>> inputs, outputs;
};

struct ReferenceAnswer {
  std::map<std::string, ReferenceValues, std::less<>> of_workload;  ///< by id
  std::string why;  ///< why there are none, in one line; empty if there are
};

/// A problem file of Python as a definition with its workload and values.
struct PythonProblem {
  Definition definition;
  std::string definition_text;  ///< JSON
  std::vector<ProblemWorkload> workloads;
  ReferenceAnswer answer;
};

/// Elements of a tensor that are kept in a spec.
inline constexpr std::int64_t kMostKeptElements = std::int64_t{1} << 22U;

/// Runs the reference of a definition by `python` once, with the same inputs each time. Workloads
/// with more elements than that are left out. Throws Error(environment) if there is no such program
/// or it does not end in ten minutes; a reference that fails is an answer.
[[nodiscard]] ReferenceAnswer run_reference(const Definition& definition,
                                            const std::vector<ProblemWorkload>& workloads,
                                            const std::string& python);

/// The same of a file with a class Model and functions get_inputs and get_init_inputs, whose shapes
/// only running it tells. Throws Error(environment) too if it cannot be run.
[[nodiscard]] PythonProblem run_problem(const std::filesystem::path& file,
                                        const std::string& python);

}  // namespace warpath
