#pragma once

#include <initializer_list>
#include <string>
#include <vector>

#include "engine/base/error.h"
#include "engine/spec/spec.h"
#include "runners/reference/reference.h"

namespace warpath::test {

/// A spec with tensors and scalars only, and what its reference starts from.
class ReferenceCase {
 public:
  explicit ReferenceCase(Reference reference) {
    spec_.name = spec_.origin = "case";
    spec_.reference = std::move(reference);
    spec_.workloads.emplace_back().name = "small";
  }

  ReferenceCase& input(const std::string& name,
                       std::vector<std::int64_t> shape,
                       const std::vector<double>& values,
                       DType dtype = DType::f64,
                       ArgRole role = ArgRole::input) {
    add(name, shape, dtype, role);
    Tensor tensor = make_tensor(dtype, std::move(shape));
    for (std::size_t i = 0; i < values.size(); ++i)
      tensor.set(static_cast<std::int64_t>(i), values[i]);
    tensors_[name] = std::move(tensor);
    return *this;
  }
  ReferenceCase& output(const std::string& name,
                        const std::vector<std::int64_t>& shape,
                        DType dtype = DType::f64) {
    add(name, shape, dtype, ArgRole::output);
    return *this;
  }
  ReferenceCase& scalar(const std::string& name, std::int64_t value) {
    return add(name, ArgType::integer, value);
  }
  ReferenceCase& scalar(const std::string& name, double value) {
    return add(name, ArgType::floating, value);
  }

  [[nodiscard]] TensorMap compute(const std::string& scratch = "") const {
    const auto source = make_reference(spec_, {.scratch_folder = scratch});
    return source->compute({spec_, spec_.workloads[0], tensors_, scalars_});
  }
  /// Elements of one output.
  [[nodiscard]] std::vector<double> values(const std::string& output,
                                           const std::string& scratch = "") const {
    const Tensor tensor = compute(scratch).at(output);
    std::vector<double> out;
    for (std::int64_t i = 0; i < tensor.elements(); ++i) out.push_back(tensor.at(i));
    return out;
  }
  /// The one-line complaint of the reference; empty if there is none.
  [[nodiscard]] std::string complaint(const std::string& scratch = "") const {
    try {
      static_cast<void>(compute(scratch));
    } catch (const Error& error) {
      return error.what();
    }
    return {};
  }
  /// The complaint of making the reference, before any values exist.
  [[nodiscard]] std::string early_complaint() const {
    try {
      static_cast<void>(make_reference(spec_, {}));
    } catch (const Error& error) {
      return error.what();
    }
    return {};
  }

 private:
  void add(const std::string& name,
           const std::vector<std::int64_t>& shape,
           DType dtype,
           ArgRole role) {
    ArgSpec arg;
    arg.name = name;
    arg.role = role;
    arg.tensor.emplace();
    arg.tensor->dtype = dtype;
    for (const std::int64_t extent : shape) arg.tensor->shape.emplace_back(extent);
    spec_.io.args.push_back(std::move(arg));
  }
  template <class T>
  ReferenceCase& add(const std::string& name, ArgType type, T value) {
    ArgSpec arg;
    arg.name = name;
    arg.type = type;
    arg.role = ArgRole::scalar;
    arg.value = value;
    spec_.io.args.push_back(std::move(arg));
    scalars_[name] = value;
    return *this;
  }

  KernelSpec spec_;
  TensorMap tensors_;
  ScalarMap scalars_;
};

}  // namespace warpath::test
