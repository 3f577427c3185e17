#pragma once

#include <string>

#include "engine/spec/spec_load.h"

namespace warpath::test {

/// Two matrices, a vector, indices, or what else stands in `inputs`; `body` is the kernel's.
inline KernelSpec spec_of(const std::string& inputs, const std::string& body = "") {
  return parse_specs(
             R"({"name": "s", "kernel": {"source_code": "extern \"C\" __global__ void k() {)" +
                 body + R"(}", "metadata": {"kernel_name": "k"}, "io": {"args": [)" + inputs +
                 R"(, {"name": "y", "type": "tensor", "role": "output", "tensor_spec": {"shape": [40], "dtype": "float32"}}],
                         "launch": {"grid": {"x": 1}, "block": {"x": 32}}}}})",
             "spec.json", ".")
      .front();
}

inline std::string input(const std::string& name,
                         const std::string& shape,
                         const std::string& dtype = "float32") {
  const std::string init = dtype == "int32" ? R"("randint", "low": 0, "high": 40)" : R"("randn")";
  return R"({"name": ")" + name + R"(", "type": "tensor", "tensor_spec": {"shape": )" + shape +
         R"(, "dtype": ")" + dtype + R"(", "init": {"kind": )" + init + "}}}";
}

}  // namespace warpath::test
