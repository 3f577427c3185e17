#include <array>
#include <atomic>
#include <cmath>
#include <mutex>

#include "register_host_ops.h"
#include "runners/reference/host_op.h"
#include "runners/reference/rows.h"

namespace warpath {
namespace {

class Histogram final : public HostOp {
 public:
  [[nodiscard]] std::span<const Operand> operands() const override {
    static constexpr std::array kOperands{
        Operand{"x", Operand::Kind::tensor, true, "integers in [0, bins), any shape"},
        Operand{"out", Operand::Kind::output, true,
                "integers [bins]; counts are added to an inout argument's value"},
    };
    return kOperands;
  }
  void check(const OpCall& call) const override {
    if (info(call.dtype("x")).is_float)
      throw call.problem("x", info(call.dtype("x")).name, "an integer tensor");
    if (info(call.dtype("out")).is_float)
      throw call.problem("out", info(call.dtype("out")).name, "an integer tensor");
    call.require(call.shape("out").size() == 1, "out", "one dimension");
  }
  void run(OpCall& call) const override {
    const Tensor& x = call.in("x");
    Tensor& out = call.out("out");
    const std::int64_t bins = out.elements();
    const double limit = static_cast<double>(bins);
    std::vector<std::int64_t> counts(static_cast<std::size_t>(bins));
    std::mutex mutex;
    std::atomic<std::int64_t> outside{-1};  // an element out of range
    in_parallel(x.elements(), 1, [&](std::int64_t begin, std::int64_t end) {
      std::vector<std::int64_t> own(counts.size());
      std::vector<double> values(static_cast<std::size_t>(end - begin));
      x.read(begin, values);
      for (std::size_t i = 0; i < values.size(); ++i) {
        if (values[i] >= 0 && values[i] < limit) {
          ++own[static_cast<std::size_t>(values[i])];
        } else {
          outside = begin + static_cast<std::int64_t>(i);
        }
      }
      const std::lock_guard lock(mutex);
      for (std::size_t bin = 0; bin < own.size(); ++bin) counts[bin] += own[bin];
    });
    if (outside >= 0) {
      throw call.problem("x",
                         std::to_string(static_cast<std::int64_t>(x.at(outside))) + " at element " +
                             std::to_string(outside),
                         "values from 0 to " + std::to_string(bins - 1));
    }
    for (std::int64_t bin = 0; bin < bins; ++bin) {
      out.set(bin, out.at(bin) + static_cast<double>(counts[static_cast<std::size_t>(bin)]));
    }
  }
};

}  // namespace

void register_host_op_histogram(HostOpRegistry& registry) {
  registry.add("histogram", "number of elements of each value",
               [] { return std::make_unique<Histogram>(); });
}

}  // namespace warpath
