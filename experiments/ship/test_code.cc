#include "experiments/ship/test_code.h"

#include <algorithm>
#include <array>
#include <optional>

#include "engine/base/dtype.h"
#include "engine/base/format.h"
#include "engine/spec/tensor_init.h"
#include "experiments/ship/c_arguments.h"

namespace warpath {
namespace {

std::string number(double x) {
  return format("%a", x);
}
std::string number(portable::Word x) {
  return std::to_string(x) + "ULL";
}

std::string dtype_text(DType dtype) {
  constexpr std::array<std::string_view, kDTypes.size()> kNames{
      "f64", "f32", "f16", "bf16", "i64", "i32", "i16", "i8", "u64", "u32", "u16", "u8", "boolean"};
  return "DType::" + std::string(kNames[static_cast<std::size_t>(dtype)]);
}

std::string rule_text(const ElementRule& rule) {
  constexpr std::array<std::string_view, 8> kKinds{"constant", "ramp",          "normal",
                                                   "uniform",  "floor_uniform", "random_bits",
                                                   "integer",  "permutation"};
  return "{ElementRule::Kind::" + std::string(kKinds[static_cast<std::size_t>(rule.kind)]) + ", " +
         dtype_text(rule.dtype) + ", " + number(rule.seed) + ", " + number(rule.row) + ", " +
         number(rule.base) + ", " + number(rule.range) + ", " + number(rule.first) + ", " +
         number(rule.second) + ", " + number(rule.skew) + "}";
}

class TestWriter {
 public:
  explicit TestWriter(const Shipment& shipment) : shipment_(shipment), spec_(shipment.spec()) {}

  TestCode write() {
    std::string rows;
    for (const Workload* const w : shipment_.workloads()) {
      if (!compared(*w)) {
        out_.left_out.push_back(w->name + ": the kernels are compiled for other values");
        continue;
      }
      if (const auto row = workload(*w)) rows += *row;
    }
    out_.text += "const std::vector<Workload> workloads = {\n" + rows + "};";
    return std::move(out_);
  }

 private:
  bool compiled_for(const ShippedKernel& kernel, const Workload& workload) const {
    return std::ranges::all_of(kernel.compiled_in, [&](const auto& fixed) {
      const ArgSpec& arg = *spec_.io.find(fixed.first);
      return c_constant(arg, workload) == c_constant(arg, *kernel.workload);
    });
  }

  /// The original runs the workload, and one of the kernels in its place.
  bool compared(const Workload& workload) const {
    if (!compiled_for(shipment_.original(), workload)) return false;
    return std::ranges::any_of(shipment_.kernels(), [&](const ShippedKernel& kernel) {
      return &kernel != &shipment_.original() && compiled_for(kernel, workload);
    });
  }

  /// nullopt where the contents are too large to be written.
  std::optional<std::string> workload(const Workload& workload) {
    const std::string number_text = std::to_string(written_);
    std::string rows, call;
    std::vector<std::pair<std::string, std::string>> files;
    int tensors = 0;
    for (const ArgSpec* const arg : launcher_arguments(spec_)) {
      call += call.empty() ? "" : ", ";
      if (arg->type != ArgType::tensor) {
        call += c_constant(*arg, workload);
        continue;
      }
      call += "static_cast<" + c_type(*arg) + ">(t[" + std::to_string(tensors++) + "])";
      const auto row = tensor(*arg, workload, files);
      if (!row) return std::nullopt;
      rows += *row;
    }
    out_.text += "const Tensor tensors_" + number_text + "[] = {\n" + rows + "};\nint launch_" +
                 number_text + "(void* const* t, cudaStream_t stream) {\n  return " +
                 shipment_.name() + "_launch(" + call + ", stream);\n}\n";
    for (auto& file : files) out_.files.push_back(std::move(file));
    ++written_;
    return "    {" + c_literal(workload.name) + ", tensors_" + number_text + ", " +
           std::to_string(tensors) + ", launch_" + number_text + "},\n";
  }

  std::optional<std::string> tensor(const ArgSpec& arg,
                                    const Workload& workload,
                                    std::vector<std::pair<std::string, std::string>>& files) {
    std::int64_t elements = 1;
    for (const std::int64_t extent : spec_.shape_of(arg, workload)) elements *= extent;
    const TensorSpec content = spec_.tensor_of(arg, workload);
    const auto rule = element_rule(spec_, arg, workload, 0);
    std::string kind = "poison", rule_of = "{}", path;
    if (rule) {
      kind = "rule", rule_of = rule_text(*rule);
    } else if (!std::holds_alternative<std::monostate>(content.content)) {
      const std::size_t bytes = static_cast<std::size_t>(elements) * info(content.dtype).size_bytes;
      if (bytes > kMostTestData || (data_ += bytes) > kMostTestData) {
        out_.left_out.push_back(workload.name + ": " + arg.name + " is too large to be written");
        return std::nullopt;
      }
      const Tensor values = materialize(spec_, arg, workload);
      kind = "file", path = "data/" + std::to_string(written_) + "_" + c_name(arg) + ".bin";
      files.emplace_back(path, std::string(reinterpret_cast<const char*>(values.bytes.data()),
                                           values.bytes.size()));
    }
    const Tolerance& t = spec_.tolerance_of(arg.name);
    return "    {" + c_literal(arg.name) + ", " + dtype_text(content.dtype) + ", " +
           std::to_string(elements) + "LL, " + (is_written(arg) ? "true" : "false") +
           ", Tensor::" + kind + ", " + rule_of + ", " + c_literal(path) + ", " + number(t.atol) +
           ", " + number(t.rtol) + ", " + number(t.norm) + ", " + (t.exact ? "true" : "false") +
           "},\n";
  }

  const Shipment& shipment_;
  const KernelSpec& spec_;
  TestCode out_;
  int written_ = 0;       // workloads
  std::size_t data_ = 0;  // bytes of contents
};

}  // namespace

TestCode test_code(const Shipment& shipment) {
  return TestWriter(shipment).write();
}

}  // namespace warpath
