#include <algorithm>
#include <array>

#include "engine/text/source_edit.h"
#include "moves/edit/kernel_move.h"
#include "moves/model/facts.h"
#include "moves/model/kernel_model.h"
#include "moves/syntax/syntax_query.h"
#include "register_moves.h"

namespace warpath {
namespace {

using namespace model;

constexpr std::array<std::int64_t, 4> kGroups{8, 4, 16, 2};

/// Walks the blocks of a two-dimensional grid in groups of rows, each group column by column, so
/// that the blocks that run at one time share operands in the level-2 cache. A permutation of the
/// blocks: what they compute stays.
class GroupedGemmColmajor final : public ParameterMove {
 public:
  [[nodiscard]] std::string_view name() const override { return "grouped_gemm_colmajor"; }

  [[nodiscard]] std::vector<MoveInstance> enumerate(const MoveContext& context) const override {
    std::vector<MoveInstance> out;
    std::string why;
    for (const std::int64_t group : kGroups) {
      if (!reordered(context, group, why)) break;
      out.push_back({std::string(name()), "", {{"group", group}}});
    }
    return out;
  }

  [[nodiscard]] std::vector<Tunable> domain(const MoveContext&,
                                            std::string_view site) const override {
    if (!site.empty()) return {};
    return {Tunable{"group", values(), values().front(), "block rows that are walked together"}};
  }

  [[nodiscard]] std::optional<Variant> applied(const MoveContext& context,
                                               const MoveInstance& wanted,
                                               std::string& why) const override {
    return reordered(context, wanted.parameters.at("group"), why);
  }

 private:
  static std::vector<std::int64_t> values() { return {2, 4, 8, 16, 32}; }

  static std::optional<Variant> reordered(const MoveContext& context,
                                          std::int64_t group,
                                          std::string& why) {
    const auto kernel = model_kernel(context.spec, context.variant, why);
    if (kernel == nullptr) return std::nullopt;
    const KernelFacts& facts = kernel->facts;
    const LaunchPlan& launch = context.variant.launch;
    if (launch.grid[0] == Expression(1) || launch.grid[1] == Expression(1))
      return why = "the grid has one dimension", std::nullopt;
    if (launch.cluster != LaunchPlan{}.cluster) return why = "blocks form clusters", std::nullopt;
    const bool shares = std::any_of(facts.arrays.begin(), facts.arrays.end(),
                                    [](const Array& a) { return a.space == Space::shared; }) ||
                        std::any_of(facts.loops.begin(), facts.loops.end(), [](const auto& loop) {
                          return loop->kind == LoopClass::reduction;
                        });
    if (!shares) return why = "blocks share no operands", std::nullopt;
    const CodeText code(kernel->unit.source());
    const Span body = kernel->kernel->body->span;
    std::set<std::string, std::less<>> taken;
    const auto fresh = [&](std::string_view wish) {
      return fresh_name(kernel->unit, wish, &taken);
    };
    const std::array<std::string, 2> names{fresh("block_x"), fresh("block_y")};
    std::array<bool, 2> used{};
    std::vector<Edit> edits;
    for (std::size_t i = 0; i + 2 < code.tokens.size(); ++i) {
      if (code.is(i, "gridDim"))
        return why = "the kernel has an order of blocks of its own", std::nullopt;
      if (!code.is(i, "blockIdx")) continue;
      if (!body.contains({code.tokens[i].begin, code.tokens[i].end}))
        return why = "the block index is used outside the kernel's body", std::nullopt;
      const std::size_t axis = code.is(i + 2, "x") ? 0 : code.is(i + 2, "y") ? 1 : 2;
      if (!code.is(i + 1, ".")) return why = "the block index is used as a whole", std::nullopt;
      if (axis == 2) continue;
      used[axis] = true;
      edits.push_back({code.tokens[i].begin, code.tokens[i + 2].end, names[axis]});
    }
    if (!used[0] || !used[1])
      return why = "the kernel does not use both block indices", std::nullopt;
    const std::string pad = indent_unit(kernel->unit);
    const std::string size = fresh("GROUP"), block = fresh("block"), first = fresh("first_row"),
                      rows = fresh("rows");
    std::string head =
        "\n" + pad + "// Groups of " + size +
        " block rows, each walked column by column: blocks that run together share operands.\n";
    head += pad + "constexpr int " + size + " = " + std::to_string(group) + ";\n";
    head += pad + "int " + block + " = blockIdx.y * gridDim.x + blockIdx.x;\n";
    head += pad + "int " + first + " = " + block + " / (" + size + " * (int)gridDim.x) * " + size +
            ";\n";
    head += pad + "int " + rows + " = (int)gridDim.y - " + first + " < " + size +
            " ? (int)gridDim.y - " + first + " : " + size + ";\n";
    head += pad + "int " + names[1] + " = " + first + " + " + block + " % (" + size +
            " * (int)gridDim.x) % " + rows + ";\n";
    head += pad + "int " + names[0] + " = " + block + " % (" + size + " * (int)gridDim.x) / " +
            rows + ";";
    edits.push_back({body.begin + 1, body.begin + 1, head});
    Variant out = context.variant;
    out.source = edited(kernel->unit.source(), std::move(edits));
    return out;
  }
};

}  // namespace

void register_move_grouped_gemm_colmajor(MoveRegistry& registry) {
  registry.add("grouped_gemm_colmajor", "walk the blocks in groups of rows, column by column",
               [] { return std::make_unique<GroupedGemmColmajor>(); });
}

}  // namespace warpath
