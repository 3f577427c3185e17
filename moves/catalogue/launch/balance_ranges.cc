#include <algorithm>
#include <array>
#include <cmath>
#include <map>
#include <set>

#include "engine/base/error.h"
#include "moves/edit/code_template.h"
#include "moves/edit/code_writer.h"
#include "moves/edit/device_limits.h"
#include "moves/edit/hinted_access.h"
#include "moves/edit/kernel_move.h"
#include "moves/edit/known_shape.h"
#include "moves/edit/loop_site.h"
#include "moves/edit/span_rewrite.h"
#include "moves/model/kernel_model.h"
#include "moves/model/reduce_op.h"
#include "moves/rows/range_sum.h"
#include "moves/syntax/syntax_query.h"
#include "moves/syntax/words.h"
#include "register_moves.h"

namespace warpath {
namespace {

using namespace model;

constexpr std::array<std::int64_t, 6> kRowLanes{1, 2, 4, 8, 16, 32};
constexpr std::array<std::int64_t, 5> kRangeTiles{512, 1024, 2048, 4096, 8192};
constexpr std::int64_t kMostUnroll = 8;
constexpr std::int64_t kOtherSmemBytes = 1 << 10;

constexpr std::string_view kHead =
    R"(constexpr int @TILE = @TILE_VALUE;  // consecutive @j of a block
constexpr int @THREADS = @THREADS_VALUE;
constexpr int @UNROLL = @UNROLL_VALUE;  // of a thread, whose loads are in flight together
)";
constexpr std::string_view kLanesHead =
    "constexpr int @LANES = @LANES_VALUE;  // threads that share a row\n";
constexpr std::string_view kLongHead =
    "constexpr int @LONG = 32@TIMES_LANES;  // longer rows have a warp\n";
constexpr std::string_view kTile = R"(__shared__ @T @summands[@TILE];
__shared__ @R @first_row;
__shared__ bool @one_row;  // all of the tile lies in it
)";
constexpr std::string_view kLongList =
    "__shared__ @R @long_rows[@TILE / @LONG];\n__shared__ int @long_count;\n";
constexpr std::string_view kBounds = R"(const @J @total = @rp[@rows], @tile_first = @TILE_FIRST;
if (@tile_first >= @total) return;
const @J @tile_end = min(@tile_first + @TILE, @total);
const int @count = @tile_end - @tile_first;

// The first warp looks for the row of the tile's first @j while the others load.
if (threadIdx.x < 32) {
  @R @low = 0, @high = @rows;  // @rp[@low] <= @tile_first < @rp[@high]
  while (@high - @low > 1) {
    const @R @stride = (@high - @low + 31) / 32;
    const @R @probe = min(@low + ((@R)threadIdx.x + 1) * @stride, @high);
    @low += __popc(__ballot_sync(0xffffffffu, @rp[@probe] <= @tile_first)) * @stride;
    @high = min(@low + @stride, @high);
  }
  if (threadIdx.x == 0) {
    @first_row = @low;
    @one_row = @rp[@low + 1] >= @tile_end;
@NO_LONG_ROWS  }
}

// The tile's summands, neighbouring threads on neighbouring ones.
int @k = threadIdx.x;
for (; @k + (@UNROLL - 1) * @THREADS < @count; @k += @UNROLL * @THREADS) {
)";
constexpr std::string_view kStore = R"(  #pragma unroll
  for (int @u = 0; @u < @UNROLL; ++@u) @summands[@k + @u * @THREADS] = @summand[@u];
}
for (; @k < @count; @k += @THREADS) {
)";
constexpr std::string_view kOneRow = R"(}
__syncthreads();

if (@one_row) {  // all threads sum
  @T @sum = @ZERO;
  for (int @e = threadIdx.x; @e < @count; @e += @THREADS) @sum += @summands[@e];
  #pragma unroll
  for (int @d = 16; @d > 0; @d /= 2) @sum += __shfl_xor_sync(0xffffffffu, @sum, @d);
  if (threadIdx.x % 32 == 0) atomicAdd(&@out[@first_row], @sum);
  return;
}

// A row that the tile holds is stored, one that its border cuts is added to.
)";
constexpr std::string_view kRowBounds =
    R"(  const @J @row_first = @rp[@row], @row_end = @rp[@row + 1];
)";
constexpr std::string_view kPart =
    R"(  const int @first = max(@row_first, @tile_first) - @tile_first, @end = min(@row_end, @tile_end) - @tile_first;
)";
constexpr std::string_view kSetAside = R"(  if (@end - @first > @LONG) {
    if (@lane == 0) @long_rows[atomicAdd(&@long_count, 1)] = @row;
    continue;
  }
)";
constexpr std::string_view kPutAway = R"(if (@row_first >= @tile_first && @row_end <= @tile_end) {
  @out[@row] @STORES @sum;
} else {
  atomicAdd(&@out[@row], @sum);
}
)";

struct RangeTile {
  std::int64_t tile = 4096, lanes = 4;
};

/// Writes the body that sums `ranges` by tiles.
class TileWriter {
 public:
  TileWriter(const KernelModel& model,
             const RangeSum& ranges,
             const RangeTile& shape,
             const std::string& threads,
             std::int64_t unroll)
      : unit_(model.unit),
        facts_(model.facts),
        ranges_(ranges),
        shape_(shape),
        step_(indent_unit(unit_)),
        code_(unit_) {
    const std::string type = "(" + ranges_.index_type + ")";
    code_.set("TILE_VALUE", shape_.tile);
    code_.set("LANES_VALUE", shape_.lanes);
    code_.set("THREADS_VALUE", threads);
    code_.set("UNROLL_VALUE", unroll);
    code_.set("J", ranges_.index_type);
    code_.set("R", ranges_.row_type);
    code_.set("T", ranges_.type);
    code_.set("ZERO", identity_text(ReduceOp::add, ranges_.type));
    code_.set("j", ranges_.loop->variable);
    code_.set("row", ranges_.row->name);
    code_.set("rows", ranges_.rows);
    code_.set("rp", ranges_.pointers->name);
    code_.set("out", ranges_.out->name);
    if (ranges_.sum->access < 0) code_.set("sum", ranges_.sum->accumulator);
    code_.set("TIMES_LANES", shape_.lanes > 1 ? code_.fill(" * @LANES") : "");
    code_.set("STORES", ranges_.adds ? "+=" : "=");
    code_.set("TILE_FIRST", code_.fill(size_of_type(unit_.resolved_type(ranges_.index_type)) > 4
                                           ? type + "blockIdx.x * @TILE"
                                           : "blockIdx.x * @TILE"));
    code_.set("NO_LONG_ROWS", has_long_rows() ? code_.fill("    @long_count = 0;\n") : "");
  }

  std::string body() {
    std::string text;
    for (const Stmt* s : ranges_.kept) text += unindented(unit_.text(*s));
    add(text, kHead);
    if (shape_.lanes > 1) add(text, kLanesHead);
    if (has_long_rows()) add(text, kLongHead);
    add(text, kTile);
    if (has_long_rows()) add(text, kLongList);
    add(text, kBounds);
    text += deeper(round());
    add(text, kStore);
    text += deeper(code_.fill("const @J @j = @tile_first + @k;\n") + locals({}) +
                   code_.fill("@summands[@k] = ") + summand({}) + ";\n");
    add(text, kOneRow);
    text += rows();
    return with_steps(text);
  }

 private:
  [[nodiscard]] bool has_long_rows() const { return shape_.lanes < kWarp; }
  void add(std::string& text, std::string_view part) { text += code_.fill(part); }
  static std::string step() { return "  "; }
  static std::string deeper(const std::string& text) {
    return CodeWriter(step(), 1).lines(text).text();
  }

  /// The templates' indentation of two blanks as the file does it.
  [[nodiscard]] std::string with_steps(const std::string& text) const {
    if (step_ == step()) return text;
    std::string out;
    for (std::size_t i = 0; i < text.size();) {
      while (text.compare(i, step().size(), step()) == 0) out += step_, i += step().size();
      const std::size_t end = std::min(text.find('\n', i), text.size() - 1) + 1;
      out += text.substr(i, end - i), i = end;
    }
    return out;
  }

  /// Loads of UNROLL iterations, then their summands: what a thread does in one round.
  std::string round() {
    const std::string u = code_.name("u"),
                      unrolled =
                          code_.fill("#pragma unroll\nfor (int @u = 0; @u < @UNROLL; ++@u) {\n");
    const std::string at = code_.fill("const @J @j = @tile_first + @k + @u * @THREADS;\n");
    std::map<std::string, std::string> known;  // load to local
    std::set<std::string> wishes;
    std::vector<Edit> edits;
    std::string declared, early;
    for (const Access* a : ranges_.streams) {
      const Span span = replaceable(*a)->span;
      const auto [local, added] = known.try_emplace(unit_.plain_text(span));
      if (added) {
        const Array& array = facts_.arrays[static_cast<std::size_t>(a->array)];
        std::string wish = array.name + "_next";
        while (!wishes.insert(wish).second) wish += "_too";
        local->second = code_.name(wish);
        declared += array.type + " " + local->second + code_.fill("[@UNROLL];\n");
        early += local->second + "[" + u + "] = " + local->first + ";\n";
      }
      edits.push_back({span.begin, span.end, local->second + "[" + u + "]"});
    }
    const std::string late = (uses_index(edits) ? at : "") + locals(edits) +
                             code_.fill("@summand[@u] = ") + summand(edits) + ";\n";
    declared += code_.fill("@T @summand[@UNROLL];\n");
    return declared + unrolled + deeper(at + early) + "}\n" + unrolled + deeper(late) + "}\n";
  }

  [[nodiscard]] std::string locals(const std::vector<Edit>& edits) const {
    std::string out;
    for (const Stmt* s : ranges_.locals) out += unindented(substituted(unit_, s->span, edits));
    return out;
  }

  /// j stands elsewhere than in loads that are done.
  [[nodiscard]] bool uses_index(const std::vector<Edit>& edits) const {
    bool found = false;
    walk_expressions(*ranges_.loop->stmt->body, [&](const Expr& e) {
      found |= e.is_name(ranges_.loop->variable) &&
               std::none_of(edits.begin(), edits.end(), [&](const Edit& x) {
                 return x.begin <= e.span.begin && e.span.end <= x.end;
               });
      return true;
    });
    return found;
  }

  [[nodiscard]] std::string summand(const std::vector<Edit>& edits) const {
    const Reduction& sum = *ranges_.sum;
    const auto text = [&](const Expr& e) { return substituted(unit_, e.span, edits); };
    if (sum.value == nullptr)
      return as_factor(text(*sum.factor_a)) + " * " + as_factor(text(*sum.factor_b));
    return sum.negated ? "-(" + text(*sum.value) + ")" : text(*sum.value);
  }

  std::string shuffles(const std::string& half, const std::string& mask) {
    code_.set("HALF", half);
    code_.set("MASK", mask);
    return code_.fill(
        "  #pragma unroll\n  for (int @d = @HALF; @d > 0; @d /= 2) @sum += __shfl_xor_sync(@MASK, "
        "@sum, @d);\n");
  }

  /// Groups of lanes take the tile's rows in turn, warps the long ones of them.
  std::string rows() {
    const bool lanes = shape_.lanes > 1;
    std::string text;
    if (lanes)
      add(text, "const int @lane = threadIdx.x % @LANES;\n");
    else
      code_.set("lane", "0");
    const bool masked = lanes && shape_.lanes < kWarp;
    if (masked)
      add(text, "const unsigned @row_mask = ((1u << @LANES) - 1) << (threadIdx.x % 32 - @lane);\n");
    add(text, lanes
                  ? "for (@R @row = @first_row + threadIdx.x / @LANES; @row < @rows; @row += "
                    "@THREADS / @LANES) {\n"
                  : "for (@R @row = @first_row + threadIdx.x; @row < @rows; @row += @THREADS) {\n");
    add(text, kRowBounds);
    add(text, "  if (@row_first >= @tile_end) break;\n");
    add(text, kPart);
    if (has_long_rows())
      add(text, lanes ? kSetAside
                      : "  if (@end - @first > @LONG) {\n    @long_rows[atomicAdd(&@long_count, "
                        "1)] = @row;\n    continue;\n  }\n");
    add(text, "  @T @sum = @ZERO;\n");
    add(text,
        lanes ? "  for (int @e = @first + @lane; @e < @end; @e += @LANES) @sum += @summands[@e];\n"
              : "  for (int @e = @first; @e < @end; ++@e) @sum += @summands[@e];\n");
    if (lanes)
      text += shuffles(code_.fill("@LANES / 2"), masked ? code_.name("row_mask") : "0xffffffffu");
    if (lanes) add(text, "  if (@lane != 0) continue;\n");
    text += deeper(code_.fill(kPutAway)) + "}\n";
    if (!has_long_rows()) return text;
    add(text,
        "__syncthreads();\n\n// The long ones, a warp each.\nfor (int @i = threadIdx.x / 32; @i < "
        "@long_count; @i += @THREADS / 32) {\n  const @R @row = @long_rows[@i];\n");
    add(text, kRowBounds);
    add(text, kPart);
    add(text,
        "  @T @sum = @ZERO;\n  for (int @e = @first + threadIdx.x % 32; @e < @end; @e += 32) @sum "
        "+= @summands[@e];\n");
    text += shuffles("16", "0xffffffffu");
    add(text, "  if (threadIdx.x % 32 != 0) continue;\n");
    return text + deeper(code_.fill(kPutAway)) + "}\n";
  }

  const Unit& unit_;
  const KernelFacts& facts_;
  const RangeSum& ranges_;
  const RangeTile shape_;
  const std::string step_;
  CodeTemplate code_;
};

/// Ranges of any lengths that lie end to end (the rows of a sparse matrix): instead of a row a
/// thread, every block takes equally many consecutive elements. Its threads leave the summands in
/// shared memory, loading side by side, then groups of `lanes` of them sum the rows. Rows that a
/// tile's border cuts are added to the output by atomics, which is zeroed before the launch.
/// Summands are rounded to the sum's type, and sums of floats are taken in another order, which may
/// change from launch to launch for a row of three tiles or more. After CSR-stream (Greathouse,
/// Daga 2014) and the even split of merge-based products (Merrill, Garland 2016). Site "loop:K".
class BalanceRanges final : public ParameterMove {
 public:
  [[nodiscard]] std::string_view name() const override { return "balance_ranges"; }

  [[nodiscard]] std::vector<MoveInstance> enumerate(const MoveContext& context) const override {
    std::string why;
    const auto model = model_kernel(context.spec, context.variant, why);
    const auto ranges = model == nullptr ? std::nullopt : find_range_sum(context, *model, why);
    if (!ranges) return {};
    const std::int64_t best = likely_lanes(context, *model, *ranges);
    std::vector<MoveInstance> out;
    for (const auto& [tile, lanes] : {std::array{std::int64_t{4096}, best},
                                      {2048, best},
                                      {4096, best * 2},
                                      {4096, best / 2},
                                      {8192, best},
                                      {2048, best / 2},
                                      {1024, best}}) {
      if (std::find(kRowLanes.begin(), kRowLanes.end(), lanes) == kRowLanes.end() ||
          !fits(*ranges, tile))
        continue;
      out.push_back(
          {std::string(name()), loop_site(ranges->ordinal), {{"lanes", lanes}, {"tile", tile}}});
    }
    return out;
  }

  [[nodiscard]] std::vector<Tunable> domain(const MoveContext&,
                                            std::string_view site) const override {
    if (!is_loop_site(site)) return {};
    return {Tunable{"lanes",
                    {kRowLanes.begin(), kRowLanes.end()},
                    4,
                    "threads that share a row of the tile"},
            Tunable{"tile",
                    {kRangeTiles.begin(), kRangeTiles.end()},
                    4096,
                    "consecutive elements of a block"}};
  }

  [[nodiscard]] std::optional<Variant> applied(const MoveContext& context,
                                               const MoveInstance& wanted,
                                               std::string& why) const override {
    const RangeTile shape{wanted.parameters.at("tile"), wanted.parameters.at("lanes")};
    const auto model = model_kernel(context.spec, context.variant, why);
    if (model == nullptr) return std::nullopt;
    const auto ranges = find_range_sum(context, *model, why);
    if (!ranges) return std::nullopt;
    if (loop_site(ranges->ordinal) != wanted.site)
      return why = "no ranges at " + wanted.site, std::nullopt;
    if (!fits(*ranges, shape.tile))
      return why = "the tile's summands do not fit shared memory", std::nullopt;
    return rewritten(context, *model, *ranges, shape, why);
  }

 private:
  static bool fits(const RangeSum& ranges, std::int64_t tile) {
    return tile * static_cast<std::int64_t>(size_of_type(ranges.type)) + kOtherSmemBytes <=
           kStaticSmemBytes;
  }

  /// A lane for about twelve elements of the mean row.
  static std::int64_t likely_lanes(const MoveContext& context,
                                   const KernelModel& model,
                                   const RangeSum& ranges) {
    const Workload& w = *workloads_of(context).front();
    const auto rows = model.facts.resolved(*ranges.row->bound).evaluate(model.facts.values(w));
    const std::int64_t elements =
        Expression::parse(ranges.extent, "shape")
            .evaluate(context.spec.bindings(w, context.variant.tunables), "shape");
    if (!rows || *rows < 1) return 4;
    const double lanes = static_cast<double>(elements) / static_cast<double>(*rows) / 12;
    return std::int64_t{1} << std::clamp<int>(
               static_cast<int>(std::lround(std::log2(std::max(lanes, 1.0)))), 0, 5);
  }

  /// Whole warps, whatever the tunables are.
  static bool is_whole_warps(const MoveContext& context, const Expression& block) {
    const KernelSpec& spec = context.spec;
    if (block.is_constant()) return block.evaluate({}, "block") % kWarp == 0;
    const auto tunable = std::find_if(spec.tunables.begin(), spec.tunables.end(),
                                      [&](const Tunable& t) { return block.text() == t.name; });
    return tunable != spec.tunables.end() &&
           std::all_of(tunable->values.begin(), tunable->values.end(),
                       [](std::int64_t v) { return v % kWarp == 0; });
  }

  static std::optional<Variant> rewritten(const MoveContext& context,
                                          const KernelModel& model,
                                          const RangeSum& ranges,
                                          const RangeTile& shape,
                                          std::string& why) {
    Variant out = context.variant;
    const Expression& block = context.variant.launch.block[0];
    if (!is_whole_warps(context, block)) {
      if (!model.kernel->launch_bounds.empty())
        return why = "the block that the launch bounds allow is not of whole warps", std::nullopt;
      out.launch.block[0] = Expression(256);
    }
    const Expression& size = out.launch.block[0];
    const std::int64_t threads = size.evaluate(
        context.spec.bindings(*workloads_of(context).front(), context.variant.tunables), "block");
    const std::int64_t unroll =
        std::clamp<std::int64_t>(shape.tile / std::max<std::int64_t>(threads, 1), 1, kMostUnroll);
    const Span body = model.kernel->body->span;
    const std::string text = TileWriter(model, ranges, shape, size.text(), unroll).body();
    out.source =
        edited(model.unit.source(),
               {{body.begin + 1, body.end - 1, "\n" + indented(text, indent_unit(model.unit))}});
    out.launch.grid[0] = Expression::parse(
        "max(1, ceil_div(" + ranges.extent + ", " + number(shape.tile) + "))", "launch plan");
    if (!ranges.adds) {
      LaunchStep zero;
      zero.arguments = {ranges.out->spec_name};
      out.before.push_back(std::move(zero));
    }
    return out;
  }
};

}  // namespace

void register_move_balance_ranges(MoveRegistry& registry) {
  registry.add(
      "balance_ranges",
      "sums over ranges of any lengths, as rows of a sparse matrix: equally many elements a block",
      [] { return on_known_shape(std::make_unique<BalanceRanges>()); });
}

}  // namespace warpath
