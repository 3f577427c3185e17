#include "moves/tiles/tile_launch.h"

#include <array>
#include <vector>

#include "engine/text/source_edit.h"
#include "moves/syntax/unit.h"
#include "moves/tiles/contraction_parts.h"

namespace warpath {

void set_tile_launch(LaunchPlan& launch,
                     const Contraction& c,
                     std::int64_t bm,
                     std::int64_t bn,
                     std::int64_t threads) {
  const auto tiles = [](const std::string& extent, std::int64_t by) {
    return "ceil_div(" + extent + ", " + number(by) + ")";
  };
  std::array<Expression, 3> grid{Expression(1), Expression(1), Expression(1)};
  if (!c.batch.launch_extent.empty()) grid[c.batch.launch_axis] = launch.grid[c.batch.launch_axis];
  const std::string extra = c.groups ? " + " + c.groups->launch_count : "";
  grid[c.m_grid_axis] = Expression::parse(tiles(c.m.launch_extent, bm) + extra, "launch plan");
  grid[c.n_grid_axis] = Expression::parse(tiles(c.n.launch_extent, bn), "launch plan");
  launch.grid = grid;
  launch.block = {Expression(threads), Expression(1), Expression(1)};
  launch.dynamic_smem_bytes = Expression(0);
}

std::string with_body(const MoveContext& context,
                      const Contraction& c,
                      const std::string& body,
                      std::int64_t threads,
                      std::int64_t min_blocks) {
  const std::string& source = context.variant.source;
  std::vector<Edit> edits{{c.body_begin, c.body_end, "\n" + body}};
  const model::Unit unit = model::parse(context.spec, context.variant);
  const model::Function* kernel = unit.find_kernel(context.variant.kernel_name);
  const std::string bounds = "__launch_bounds__(" + number(threads) +
                             (min_blocks > 0 ? ", " + number(min_blocks) : "") + ")";
  if (kernel != nullptr && !kernel->launch_bounds.empty()) {
    edits.push_back({kernel->launch_bounds.begin, kernel->launch_bounds.end, bounds});
  } else if (kernel != nullptr && min_blocks > 0) {
    edits.push_back({kernel->name_span.begin, kernel->name_span.begin, bounds + " "});
  }
  return edited(source, std::move(edits));
}

void write_group_search(CodeWriter& w,
                        const Contraction& c,
                        const GroupSearch& names,
                        const std::string& tile_rows) {
  const ContractionGroups& g = *c.groups;
  const auto& [tile, tiles, first, begin, end] = names;
  w.line("// The group and the rows of this block: every group has tiles of its own.");
  w.line("int " + g.group + " = 0, " + tile + " = blockIdx." +
         std::string(1, "xyz"[c.m_grid_axis]) + ";");
  w.line(c.m.type + " " + first + " = 0;");
  w.open("for (; " + g.group + " < " + g.count + "; " + g.group + "++)");
  w.line("int " + tiles + " = (" + g.offsets + "[" + g.group + " + 1] - " + first + " + " +
         tile_rows + " - 1) / " + tile_rows + ";");
  w.line("if (" + tile + " < " + tiles + ") break;");
  w.line(tile + " -= " + tiles + ";");
  w.line(first + " = " + g.offsets + "[" + g.group + " + 1];");
  w.close();
  w.line("if (" + g.group + " == " + g.count + ") return;");
  w.line(c.m.type + " " + begin + " = " + first + " + " + tile + " * " + tile_rows + ", " + end +
         " = " + g.offsets + "[" + g.group + " + 1];");
}

}  // namespace warpath
