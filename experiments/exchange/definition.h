#pragma once

#include <filesystem>
#include <map>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "engine/spec/expression.h"

namespace warpath {

// Problems as FlashInfer-Trace and SOL-ExecBench publish them: a definition, workloads as lines of
// JSON, solutions. Keys that nothing here needs are not looked at.

/// An input or output of a definition.
struct ProblemTensor {
  std::string name;
  std::optional<std::vector<std::string>> axes;  ///< of the shape; none: a scalar
  std::string dtype;
};

struct ProblemAxis {
  std::string name;
  std::optional<Expression> value;  ///< of a constant or computed one; none: a workload says it
};

struct Definition {
  std::string name, description;
  std::vector<ProblemAxis> axes;               ///< in the order of the file
  std::vector<ProblemTensor> inputs, outputs;  ///< likewise: solutions are called by position
  std::string reference;                       ///< Python text whose `run` computes the outputs
  std::string make_inputs;                     ///< a function of it that makes inputs, or empty
};

struct ProblemWorkload {
  std::string id;               ///< its uuid
  Bindings axes;                ///< all axes of the definition
  std::string inputs;           ///< JSON: by name what gives the values, as published
  std::string workload;         ///< the whole as published, JSON
  std::filesystem::path place;  ///< folder that files of inputs are relative to
};

/// Throws Error(bad_input) with file, key and value.
[[nodiscard]] Definition read_definition(const std::filesystem::path& file);

/// The workloads of a file of JSON lines, each a workload or a record with one; without a file the
/// one of a definition whose axes are all known, with random inputs. Throws Error(bad_input),
/// likewise if the file is of another definition or an axis has no value.
[[nodiscard]] std::vector<ProblemWorkload> read_workloads(
    const Definition& definition, const std::optional<std::filesystem::path>& file);

/// Extents of a tensor in a workload.
[[nodiscard]] std::vector<std::int64_t> extents_of(const ProblemTensor& tensor,
                                                   const ProblemWorkload& workload);

/// What a kernel's argument is to a definition.
struct KernelArgument {
  std::string name;
  bool is_tensor = false, is_written = false, is_float = false;
};

/// Which input or output each argument stands for, by argument: by name where one is the other's
/// but for case and usual prefixes and suffixes; otherwise inputs and outputs in their order.
/// Scalars that no input has, such as sizes, are left out. `guessed` gets those that only the order
/// says. Throws Error(bad_input) at `place` where tensors are left over.
[[nodiscard]] std::map<std::string, std::string> match_arguments(
    const Definition& definition,
    const std::vector<KernelArgument>& arguments,
    const std::string& place,
    std::vector<std::string>* guessed = nullptr);

/// "batch_size" and "d_BatchSize_ptr" are the same word.
[[nodiscard]] bool same_word(std::string_view a, std::string_view b);

}  // namespace warpath
