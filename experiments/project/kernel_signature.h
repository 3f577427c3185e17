#pragma once

#include <array>
#include <map>
#include <optional>
#include <set>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "engine/base/dtype.h"
#include "moves/syntax/unit.h"

namespace warpath {

/// A parameter of a kernel as an argument of a spec.
struct KernelParameter {
  std::string name;
  DType dtype = DType::f32;
  int lanes = 1;                ///< of a pointer to vectors: elements of one (float4: 4)
  bool pointer = false;         ///< a tensor; otherwise a scalar
  bool is_const = false;        ///< of a pointer: what it points to is not written
  bool is_enumeration = false;  ///< passed as the integer that it is
};

/// A template parameter with the value that the spec launches it with.
struct TemplateArgument {
  std::string name, value;
  bool is_type = false;
  std::string why;  ///< of a guess; empty: the text says so
};

/// Threads of a block on each axis where nothing says how many: by the axes that the text asks for.
[[nodiscard]] std::array<int, 3> usual_block(std::string_view text);
/// True if the name is one that people give to the number of threads of a block.
[[nodiscard]] bool is_block_name(std::string_view name);

/// Values of the template parameters: `given` in order, then defaults of the text, then the block's
/// extent by name, `otherwise`, and int for indices by name or float.
[[nodiscard]] std::vector<TemplateArgument> template_arguments(
    const model::Unit& unit,
    const model::Function& kernel,
    const std::vector<std::string>& given,
    int otherwise);
/// "k", "k<float, 4>".
[[nodiscard]] std::string instance_name(const model::Function& kernel,
                                        const std::vector<TemplateArgument>& arguments);

/// The parameters in order. nullopt with one in `why` that no spec has an argument for: a struct, a
/// reference, an array, a pointer to pointers. Types that nothing in the text declares, or that a
/// class template names, are taken for float and go to `foreign`; null: they are refused too.
[[nodiscard]] std::optional<std::vector<KernelParameter>> kernel_parameters(
    const model::Unit& unit,
    const model::Function& kernel,
    const std::vector<TemplateArgument>& arguments,
    std::string& why,
    std::set<std::string>* foreign = nullptr);

/// A foreign type as float: "using type = float;", of `acc<T, true>` as a template of that many.
/// Empty where the text declares it.
[[nodiscard]] std::string declaration_as_float(const model::Unit& unit, const std::string& type);

/// Element type and lanes of "float", "float4", "__half2"; nullopt: no elements of a tensor.
[[nodiscard]] std::optional<std::pair<DType, int>> elements_of(std::string_view type);

}  // namespace warpath
