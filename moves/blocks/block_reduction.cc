#include "moves/blocks/block_reduction.h"

#include <algorithm>
#include <optional>
#include <set>
#include <utility>

#include "moves/blocks/block_runner.h"
#include "moves/blocks/reduction_reader.h"
#include "moves/edit/span_rewrite.h"
#include "moves/rows/lanes.h"
#include "moves/rows/row_sweeps.h"
#include "moves/syntax/syntax_query.h"
#include "moves/syntax/words.h"

namespace warpath {
namespace {

using model::Expr;
using model::Stmt;
using model::StmtKind;

bool works_together(const Stmt& s) {
  bool found = false;
  model::walk_expressions(s, [&](const Expr& e) {
    const std::string_view name = model::callee(e);
    found = found || name == "__syncthreads" || name.starts_with("__shfl_");
    return !found;
  });
  return found;
}

class ReductionFinder {
 public:
  ReductionFinder(const model::KernelModel& model, const Bindings& values)
      : model_(model), values_(values) {}

  std::vector<BlockReduction> all() {
    visit(*model_.kernel->body);
    return std::move(out_);
  }

 private:
  void visit(const Stmt& s) {
    if (!s.is(StmtKind::block)) {
      if (s.is(StmtKind::switch_)) return;
      for (const Stmt* part : {s.body, s.otherwise}) {
        if (part != nullptr && works_together(*part)) visit(*part);
      }
      return;
    }
    const std::vector<const Stmt*> list(s.children.begin(), s.children.end());
    std::size_t last = list.size();
    while (last > 0 && !works_together(*list[last - 1])) --last;
    for (std::size_t k = 0; k < last;) {
      const std::size_t past = from(list, k);
      if (past == k && works_together(*list[k])) visit(*list[k]);
      k = std::max(past, k + 1);
    }
  }

  /// Behind the longest reduction that begins there; `first` if there is none.
  std::size_t from(const std::vector<const Stmt*>& list, std::size_t first) {
    const Stmt& s = *list[first];
    if (s.text_only || s.is(StmtKind::empty) || s.is(StmtKind::directive)) return first;
    std::string why;
    BlockRunner runner(model_, values_, why);
    if (!runner.begin()) return first;
    std::size_t past = first;
    std::optional<BlockReduction> found;
    for (std::size_t k = first; k < list.size(); ++k) {
      if (!runner.follow(*list[k])) break;
      if (!(together(list, first, k))) continue;
      auto read = read_reduction(model_, values_, list, first, k, runner);
      if (read) found = std::move(read), past = k + 1;
    }
    if (found && model_.facts.uniformly_reached(s)) {
      out_.push_back(std::move(*found));
      return past;
    }
    return first;
  }

  static bool together(const std::vector<const Stmt*>& list, std::size_t first, std::size_t last) {
    for (std::size_t k = first; k <= last; ++k) {
      if (works_together(*list[k])) return true;
    }
    return false;
  }

  const model::KernelModel& model_;
  const Bindings& values_;
  std::vector<BlockReduction> out_;
};

/// What stands in the way of reading the kernel at all.
std::string hidden(const model::KernelModel& model) {
  const model::KernelFacts& facts = model.facts;
  bool shared = true;
  for (const model::Array& a : facts.arrays) {
    if (a.escapes) return "the address of " + a.name + " goes where it is not followed";
    const bool is_volatile = a.declarator != nullptr && a.declarator->has(model::kVolatile);
    shared = shared && (!is_volatile || a.space == model::Space::shared);
  }
  if (facts.veto.ends_with(" is volatile") && shared) return {};
  return facts.veto;
}

bool same(const BlockReduction& a, const BlockReduction& b) {
  return a.statements == b.statements &&
         std::ranges::equal(a.totals, b.totals, [](const BlockTotal& x, const BlockTotal& y) {
           return x.value == y.value && x.op == y.op && x.threads == y.threads &&
                  x.results == y.results && x.elements == y.elements && x.free == y.free;
         });
}

std::vector<BlockReduction> found_reductions(const MoveContext& context,
                                             const model::KernelModel& model,
                                             std::string& why) {
  const model::KernelFacts& facts = model.facts;
  if (!facts.has_barrier && !facts.has_warp_ops)
    return why = "threads of the kernel do not work together", std::vector<BlockReduction>();
  if (why = hidden(model); !why.empty()) return {};
  const auto block = block_extents(context.variant);
  const std::int64_t threads = block ? (*block)[0] * (*block)[1] * (*block)[2] : 0;
  if (threads == 0 || threads % kWarpLanes != 0) {
    why = "the block is not known to be made of whole warps";
    return {};
  }
  const bool fixed = std::ranges::all_of(context.variant.launch.block, &Expression::is_constant);
  if (!fixed && (threads != (*block)[0] || (threads & (threads - 1)) != 0)) {
    why = "a block whose size is a tunable is no row of 32, 64, 128, ... threads";
    return {};
  }
  std::optional<std::vector<BlockReduction>> out;
  std::set<Bindings> seen;
  for (const Workload* workload : workloads_of(context)) {
    const Bindings values = facts.values(*workload);
    if (!seen.insert(values).second) continue;
    std::vector<BlockReduction> found = ReductionFinder(model, values).all();
    if (!out) {
      out = std::move(found);
      continue;
    }
    std::erase_if(*out, [&](const BlockReduction& r) {
      return std::ranges::none_of(found, [&](const BlockReduction& f) { return same(r, f); });
    });
  }
  if (!out || out->empty()) {
    why = "no statements are known to combine a value of each thread of the block, and no more";
    return {};
  }
  return std::move(*out);
}

}  // namespace

std::string thread_text(const std::array<std::int64_t, 3>& block) {
  const std::string x = std::to_string(block[0]), y = std::to_string(block[1]);
  const std::string row = block[2] > 1 ? "(threadIdx.z * " + y + " + threadIdx.y)" : "threadIdx.y";
  return (block[1] > 1 || block[2] > 1 ? row + " * " + x + " + " : std::string()) + "threadIdx.x";
}

std::vector<BlockReduction> block_reductions(const MoveContext& context,
                                             const model::KernelModel& model,
                                             std::string& why) {
  const auto found = model::found_in<std::vector<BlockReduction>>(
      context, model, "block_reductions",
      [&](std::string& reason) { return found_reductions(context, model, reason); });
  if (found->first.empty()) why = found->second;
  return found->first;
}

}  // namespace warpath
