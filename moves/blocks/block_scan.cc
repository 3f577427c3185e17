#include "moves/blocks/block_scan.h"

#include <algorithm>
#include <iterator>
#include <limits>
#include <map>
#include <set>
#include <utility>
#include <vector>

#include "engine/text/source_edit.h"
#include "moves/blocks/block_run.h"
#include "moves/blocks/row_launch.h"
#include "moves/edit/span_rewrite.h"
#include "moves/model/kernel_model.h"
#include "moves/model/reduce_op.h"
#include "moves/rows/lanes.h"
#include "moves/syntax/syntax_query.h"

namespace warpath {
namespace {

using ValueKind = BlockValue::Kind;
using Stored = std::map<std::int64_t, BlockValue>;

/// Shorter rows are no work for a warp.
constexpr std::int64_t kShortestRow = kWarpLanes;

/// Elements first + per_block * blockIdx.x + (0 .. length - 1) of an array.
struct RowOf {
  int array = 0;
  std::int64_t first = 0, per_block = 0;
  auto operator<=>(const RowOf&) const = default;
};

/// What a block does to its row, at the same places in every workload.
struct BlockScan {
  RowOf input;
  std::int64_t length = 0;
  model::ReduceOp op = model::ReduceOp::add;
  DType type = DType::f32;  ///< of the running value
  std::vector<RowOf> inclusive, exclusive, totals;
  bool operator==(const BlockScan&) const = default;
};

/// Finds out what the stored elements of a block have in common.
class ScanReader {
 public:
  ScanReader(const BlockRun& run, std::string& why) : run_(run), why_(why) {}

  std::optional<BlockScan> read() {
    std::vector<std::pair<RowOf, Stored>> rows;
    for (const BlockMemory& memory : run_.arrays) {
      const Stored stored = memory.stored();
      for (auto begin = stored.begin(); begin != stored.end();) {
        auto end = std::next(begin);
        while (end != stored.end() && end->first == std::prev(end)->first + 1) ++end;
        rows.push_back(
            {{memory.array, begin->first, memory.per_block().value_or(0)}, Stored(begin, end)});
        begin = end;
      }
    }
    if (!find_row(rows)) return why_ = "a block stores no prefixes of a row", std::nullopt;
    for (const auto& [row, stored] : rows) {
      if (!read(row, stored))
        return why_ = "a block stores more than a row's prefixes", std::nullopt;
    }
    if (!keeps_apart()) return why_ = "blocks or lanes would exchange elements", std::nullopt;
    return scan_;
  }

 private:
  /// The row's elements, from what the longest prefix holds.
  bool find_row(const std::vector<std::pair<RowOf, Stored>>& rows) {
    const BlockValue* longest = nullptr;
    for (const auto& [row, stored] : rows) {
      for (const auto& [at, value] : stored) {
        if (value.is(ValueKind::data) &&
            (longest == nullptr || value.elements() > longest->elements()))
          longest = &value;
      }
    }
    if (longest == nullptr || longest->elements() + 1 < kShortestRow) return false;
    scan_.input = {longest->array, longest->at, longest->per_block};
    scan_.length = longest->elements(), scan_.op = longest->op, scan_.type = longest->type;
    // The last element of a row is in none of its exclusive prefixes.
    const bool open = std::none_of(rows.begin(), rows.end(), [&](const auto& r) {
      return r.second.size() == 1 || is_prefix(r.second.begin()->second, 1);
    });
    const auto& memory = run_.arrays[static_cast<std::size_t>(longest->array)];
    if (open && memory.loaded_end() > longest->end &&
        std::none_of(rows.begin(), rows.end(), [&](const auto& r) {
          return std::cmp_greater(r.second.size(), scan_.length + 1);
        }))
      ++scan_.length;
    return true;
  }

  /// The first `count` elements of the row combined.
  [[nodiscard]] bool is_prefix(const BlockValue& value, std::int64_t count) const {
    if (count == 0) return is_identity(value, scan_.op, scan_.type);
    return value.is(ValueKind::data) && value.array == scan_.input.array &&
           value.at == scan_.input.first && value.per_block == scan_.input.per_block &&
           value.elements() == count && (count == 1 || value.op == scan_.op) &&
           value.type == scan_.type;
  }

  bool read(const RowOf& row, const Stored& stored) {
    const auto prefixes_from = [&](std::int64_t count) {
      return std::all_of(stored.begin(), stored.end(),
                         [&](const auto& s) { return is_prefix(s.second, count++); });
    };
    const auto size = static_cast<std::int64_t>(stored.size());
    if (size == 1 && prefixes_from(scan_.length)) return scan_.totals.push_back(row), true;
    if (size == scan_.length && prefixes_from(1)) return scan_.inclusive.push_back(row), true;
    if (size < scan_.length || size > scan_.length + 1 || !prefixes_from(0)) return false;
    scan_.exclusive.push_back(row);
    if (size > scan_.length)
      scan_.totals.push_back({row.array, row.first + scan_.length, row.per_block});
    return true;
  }

  /// No block touches what another one writes, and no lane what another one replaces.
  [[nodiscard]] bool keeps_apart() const {
    if (scan_.inclusive.empty() && scan_.exclusive.empty()) return false;
    if (scan_.input.per_block < 0) return false;
    std::map<int, std::pair<RowOf, std::int64_t>> written;  // what is written from where to where
    const auto add = [&](const std::vector<RowOf>& list, std::int64_t length) {
      for (const RowOf& row : list) {
        auto& [whole, end] = written.try_emplace(row.array, row, row.first).first->second;
        whole.first = std::min(whole.first, row.first), end = std::max(end, row.first + length);
      }
    };
    add(scan_.inclusive, scan_.length), add(scan_.exclusive, scan_.length), add(scan_.totals, 1);
    return std::all_of(written.begin(), written.end(), [&](const auto& w) {
      const auto& [whole, end] = w.second;
      const bool in_place = w.first == scan_.input.array;
      return (run_.blocks == 1 || whole.per_block >= end - whole.first) &&
             (!in_place || (whole == scan_.input && end == whole.first + scan_.length));
    });
  }

  const BlockRun& run_;
  std::string& why_;
  BlockScan scan_;
};

class SerialWriter {
 public:
  SerialWriter(const MoveContext& context, const model::KernelModel& model, const BlockScan& scan)
      : context_(context), model_(model), unit_(model.unit), scan_(scan) {}

  std::optional<SerialScan> written(bool wide, std::string& why) {
    const std::string type(info(scan_.type).cuda_type),
        tab = model::indent_unit(unit_), identity = model::identity_text(scan_.op, type);
    if (identity.empty() || info(scan_.type).size_bytes < 4)
      return why = "the running value has no neutral element to start from", std::nullopt;
    row_ = fresh("row"), j_ = fresh("j");
    const std::string sum = fresh("running_value"), value = fresh("element");
    const RowCount rows = row_count(context_, model_);
    std::string body = row_index(row_, rows, wide);
    if (rows.declaration != nullptr)
      body.insert(0, std::string(unit_.text(*rows.declaration)) + "\n");
    body += type + " " + sum + " = " + identity + ";\nfor (int " + j_ + " = 0; " + j_ + " < " +
            std::to_string(scan_.length) + "; ++" + j_ + ") {\n";
    body += tab + "const " + type + " " + value + " = " + element(scan_.input, j_) + ";\n";
    for (const RowOf& r : scan_.exclusive) body += tab + element(r, j_) + " = " + sum + ";\n";
    body += tab + update_text({sum, type, scan_.op}, value) + "\n";
    for (const RowOf& r : scan_.inclusive) body += tab + element(r, j_) + " = " + sum + ";\n";
    body += "}\n";
    for (const RowOf& r : scan_.totals) body += element(r, "") + " = " + sum + ";\n";
    SerialScan out{context_.variant, scan_.length, rows.text.has_value()};
    const model::Span old = model_.kernel->body->span;
    out.variant.source =
        edited(unit_.source(), {{old.begin + 1, old.end - 1, "\n" + model::indented(body, tab)}});
    if (!set_thread_rows(out.variant.launch, rows, why)) return std::nullopt;
    out.variant.launch.dynamic_smem_bytes = Expression(0);
    return out;
  }

 private:
  std::string fresh(std::string_view wish) {
    return *taken_.insert(model::fresh_name(unit_, wish, &taken_)).first;
  }

  [[nodiscard]] std::string element(const RowOf& row, const std::string& j) const {
    std::string at;
    const auto add = [&](const std::string& term) { at += (at.empty() ? "" : " + ") + term; };
    if (row.per_block == 1) add(row_);
    if (row.per_block > 1) add(row_ + " * " + std::to_string(row.per_block));
    if (row.first != 0 || (at.empty() && j.empty())) add(std::to_string(row.first));
    if (!j.empty()) add(j);
    return std::string(model_.kernel->parameters[static_cast<std::size_t>(row.array)]->name) + "[" +
           at + "]";
  }

  const MoveContext& context_;
  const model::KernelModel& model_;
  const model::Unit& unit_;
  const BlockScan& scan_;
  std::set<std::string, std::less<>> taken_;
  std::string row_, j_;
};

/// Cheap signs that threads may compute prefixes together.
std::string missing(const MoveContext& context, const model::KernelModel& model) {
  const model::KernelFacts& facts = model.facts;
  if (!facts.has_barrier && !facts.has_warp_ops)
    return "threads of the kernel do not work together";
  if (facts.has_assembly || facts.has_opaque) return "the kernel has opaque parts";
  if (context.variant.has_extras()) return "the launch has further steps";
  if (has_own_plans(context.spec)) return "workloads have launch plans of their own";
  if (context.variant.launch.cluster[0] != Expression(1)) return "blocks form clusters";
  bool stores = false;
  for (const model::Array& a : facts.arrays) {
    if (a.atomic) return "the kernel has atomic operations";
    stores |= a.space == model::Space::global && a.written;
  }
  return stores ? "" : "the kernel stores nothing";
}

/// What names of the source stand for, arguments of the compiler included.
Bindings values_of(const MoveContext& context,
                   const model::KernelModel& model,
                   const Workload& workload) {
  Bindings out = model.facts.values(workload);
  const Bindings all = context.spec.bindings(workload, context.variant.tunables);
  for (const ArgSpec& argument : context.spec.io.args) {
    const auto found = all.find(argument.name);
    if (argument.is_meta && found != all.end()) out.insert(*found);
  }
  return out;
}

std::optional<SerialScan> found_scan(const MoveContext& context,
                                     const model::KernelModel& model,
                                     std::string& why) {
  why = missing(context, model);
  if (!why.empty()) return std::nullopt;
  std::optional<BlockScan> scan;
  std::set<Bindings> seen;
  bool wide = false;
  for (const Workload* workload : workloads_of(context)) {
    const Bindings values = values_of(context, model, *workload);
    if (!seen.insert(values).second) continue;
    const auto run = run_block(model, values, why);
    if (!run) return std::nullopt;
    const auto found = ScanReader(*run, why).read();
    if (!found) return std::nullopt;
    if (scan.value_or(*found) != *found)
      return why = "the rows of the workloads differ", std::nullopt;
    scan = found;
    std::int64_t furthest = found->input.per_block;
    for (const auto* list : {&found->inclusive, &found->exclusive}) {
      for (const RowOf& r : *list) furthest = std::max(furthest, r.per_block);
    }
    wide |= furthest > std::numeric_limits<std::int32_t>::max() / (run->blocks + 1);
  }
  return SerialWriter(context, model, *scan).written(wide, why);
}

}  // namespace

std::optional<SerialScan> serial_scan(const MoveContext& context,
                                      const model::KernelModel& model,
                                      std::string& why) {
  const auto found = model::found_in<std::optional<SerialScan>>(
      context, model, "serial_scan",
      [&](std::string& reason) { return found_scan(context, model, reason); });
  if (!found->first) why = found->second;
  return found->first;
}

}  // namespace warpath
