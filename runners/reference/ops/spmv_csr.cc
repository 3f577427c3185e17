#include <array>

#include "register_host_ops.h"
#include "runners/reference/host_op.h"
#include "runners/reference/rows.h"

namespace warpath {
namespace {

/// Throws unless `pointers` ascend from 0 or more to at most `nonzeros`.
void check_pointers(const OpCall& call,
                    const std::vector<double>& pointers,
                    std::int64_t nonzeros) {
  double last = 0;
  for (std::size_t i = 0; i < pointers.size(); ++i) {
    if (pointers[i] < last || pointers[i] > static_cast<double>(nonzeros)) {
      throw call.problem("row_pointers",
                         std::to_string(static_cast<std::int64_t>(pointers[i])) + " at element " +
                             std::to_string(i),
                         "ascending values from 0 to " + std::to_string(nonzeros));
    }
    last = pointers[i];
  }
}

class SpmvCsr final : public HostOp {
 public:
  [[nodiscard]] std::span<const Operand> operands() const override {
    static constexpr std::array kOperands{
        Operand{"row_pointers", Operand::Kind::tensor, true, "integers [rows + 1], ascending"},
        Operand{"columns", Operand::Kind::tensor, true, "integers [nonzeros]"},
        Operand{"values", Operand::Kind::tensor, true, "[nonzeros]"},
        Operand{"x", Operand::Kind::tensor, true, "[columns]"},
        Operand{"out", Operand::Kind::output, true, "[rows]"},
    };
    return kOperands;
  }
  void check(const OpCall& call) const override {
    for (const char* integers : {"row_pointers", "columns"}) {
      if (info(call.dtype(integers)).is_float)
        throw call.problem(integers, info(call.dtype(integers)).name, "an integer tensor");
    }
    for (const char* vector : {"row_pointers", "columns", "x", "out"}) {
      call.require(call.shape(vector).size() == 1, vector, "one dimension");
    }
    call.require_shape("row_pointers", {call.shape("out")[0] + 1});
    call.require_shape("values", call.shape("columns"));
  }
  void run(OpCall& call) const override {
    const Tensor& columns = call.in("columns");
    const Tensor& values = call.in("values");
    Tensor& out = call.out("out");
    const std::vector<double> pointers = load_all(call.in("row_pointers"));
    const std::vector<double> x = load_all(call.in("x"));
    check_pointers(call, pointers, columns.elements());
    const std::int64_t rows = out.elements();
    in_parallel(
        rows, columns.elements() / std::max<std::int64_t>(1, rows),
        [&](std::int64_t begin, std::int64_t end) {
          for (std::int64_t row = begin; row < end; ++row) {
            const auto first = static_cast<std::int64_t>(pointers[static_cast<std::size_t>(row)]);
            const auto last =
                static_cast<std::int64_t>(pointers[static_cast<std::size_t>(row) + 1]);
            double sum = 0;
            for (std::int64_t j = first; j < last; ++j) {
              const double column = columns.at(j);
              if (column < 0 || column >= static_cast<double>(x.size())) {
                throw call.problem(
                    "columns",
                    std::to_string(static_cast<std::int64_t>(column)) + " at element " +
                        std::to_string(j),
                    "values from 0 to " + std::to_string(static_cast<std::int64_t>(x.size()) - 1));
              }
              sum += values.at(j) * x[static_cast<std::size_t>(column)];
            }
            out.set(row, sum);
          }
        });
  }
};

}  // namespace

void register_host_op_spmv_csr(HostOpRegistry& registry) {
  registry.add("spmv_csr", "sparse matrix in CSR times a vector",
               [] { return std::make_unique<SpmvCsr>(); });
}

}  // namespace warpath
