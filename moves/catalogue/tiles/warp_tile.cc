#include <algorithm>
#include <array>

#include "engine/base/error.h"
#include "engine/text/source_edit.h"
#include "moves/edit/code_writer.h"
#include "moves/edit/device_limits.h"
#include "moves/edit/kernel_move.h"
#include "moves/edit/known_shape.h"
#include "moves/model/facts.h"
#include "moves/model/kernel_model.h"
#include "moves/syntax/syntax_query.h"
#include "register_moves.h"

namespace warpath {
namespace {

using namespace model;

constexpr std::string_view kMapPrefix = "map:";
constexpr std::array<std::int64_t, 3> kMapLanes{4, 8, 16};

/// threadIdx.x / width and threadIdx.x % width: how a block's threads are laid over a tile.
struct ThreadMap {
  std::int64_t width = 0;
  std::vector<const Expr*> quotients, remainders;
  const Stmt* first = nullptr;  ///< top-level statement that uses it first
};

/// `expr` is threadIdx.x or a variable that is nothing else.
bool is_thread(const KernelFacts& facts, const Expr& expr) {
  return facts.polynomial(expr).as_name() == "threadIdx.x";
}

std::vector<ThreadMap> find_maps(const KernelModel& kernel) {
  std::vector<ThreadMap> out;
  for (const Stmt* stmt : statements(*kernel.kernel->body)) {
    if (!stmt->is(StmtKind::declaration)) continue;
    walk_expressions(*stmt, [&](const Expr& e) {
      if (!e.is(ExprKind::binary) || (e.op != "/" && e.op != "%") ||
          !is_thread(kernel.facts, e.arg(0)))
        return true;
      const auto width = constant_value(kernel.unit, e.arg(1));
      if (!width) return true;
      auto map = std::find_if(out.begin(), out.end(),
                              [&](const ThreadMap& m) { return m.width == *width; });
      if (map == out.end()) map = out.insert(out.end(), {*width, {}, {}, stmt});
      (e.op == "/" ? map->quotients : map->remainders).push_back(&e);
      return true;
    });
  }
  std::erase_if(out, [](const ThreadMap& m) {
    return m.quotients.empty() || m.remainders.empty() || m.width == kWarp;
  });
  return out;
}

bool is_in(const std::vector<const Expr*>& list, const Expr& e) {
  return std::find(list.begin(), list.end(), &e) != list.end();
}

/// Private values made of the map and private values made of the thread index in other ways must
/// not meet: a thread that takes another place in the map keeps what it holds.
bool keeps_apart(const KernelModel& kernel, const ThreadMap& map) {
  const KernelFacts& facts = kernel.facts;
  std::set<std::string> by_map, by_thread, thread_names;
  const auto is_memory = [&](std::string_view name) {
    const Array* array = facts.array(name);
    return array != nullptr && array->space != Space::local;
  };
  std::vector<const Stmt*> leaves;
  walk(*kernel.kernel->body, [&](const Stmt& s) {
    if (s.is(StmtKind::declaration) || s.is(StmtKind::expression) || s.is_loop() ||
        s.is(StmtKind::if_))
      leaves.push_back(&s);
    return true;
  });
  for (bool grew = true; grew;) {
    grew = false;
    for (const Stmt* stmt : leaves) {
      bool from_map = false, from_thread = false, plain = false;
      std::vector<std::string> targets;
      for (const Expr* root : expressions_of(*stmt)) {
        walk(*root, [&](const Expr& e) {
          if (is_in(map.quotients, e) || is_in(map.remainders, e)) return from_map = true, false;
          if (e.is(ExprKind::name)) {
            const std::string name(e.name);
            from_map = from_map || by_map.contains(name);
            from_thread = from_thread || by_thread.contains(name);
            plain = plain || name == "threadIdx" || thread_names.contains(name);
          }
          if (e.is(ExprKind::assign)) {
            const Expr* target = &e.arg(0);
            while (target->is(ExprKind::subscript)) target = &target->arg(0);
            if (target->is(ExprKind::name) && !is_memory(target->name))
              targets.emplace_back(target->name);
          }
          return true;
        });
      }
      for (const Declarator* d : stmt->declarators) {
        targets.emplace_back(d->name);
        if (d->value() != nullptr && is_thread(facts, *d->value()))
          grew = thread_names.insert(std::string(d->name)).second || grew, plain = false;
      }
      const bool header = stmt->is_loop() || stmt->is(StmtKind::if_);
      if (header) continue;
      for (const std::string& target : targets) {
        if (from_map) grew = by_map.insert(target).second || grew;
        if (from_thread || plain)
          grew = (!thread_names.contains(target) && by_thread.insert(target).second) || grew;
      }
    }
  }
  return std::none_of(by_map.begin(), by_map.end(),
                      [&](const std::string& name) { return by_thread.contains(name); });
}

/// Gives each warp a compact rectangle of the tile instead of whole rows of it, so that its loads
/// from shared memory repeat.
class WarpTile final : public ParameterMove {
 public:
  [[nodiscard]] std::string_view name() const override { return "warp_tile"; }

  [[nodiscard]] std::vector<MoveInstance> enumerate(const MoveContext& context) const override {
    std::vector<MoveInstance> out;
    std::string why;
    const auto kernel = model_kernel(context.spec, context.variant, why);
    if (kernel == nullptr) return out;
    const std::vector<ThreadMap> maps = find_maps(*kernel);
    for (std::size_t i = 0; i < maps.size(); ++i) {
      for (const std::int64_t lanes : kMapLanes) {
        if (regrouped(context, *kernel, maps[i], lanes, why))
          out.push_back({std::string(name()),
                         std::string(kMapPrefix) + std::to_string(i),
                         {{"lanes", lanes}}});
      }
    }
    return out;
  }

  [[nodiscard]] std::vector<Tunable> domain(const MoveContext&,
                                            std::string_view site) const override {
    if (!site.starts_with(kMapPrefix)) return {};
    return {Tunable{"lanes", {2, 4, 8, 16}, 4, "columns of a warp's rectangle, in threads"}};
  }

  [[nodiscard]] std::optional<Variant> applied(const MoveContext& context,
                                               const MoveInstance& wanted,
                                               std::string& why) const override {
    const auto kernel = model_kernel(context.spec, context.variant, why);
    if (kernel == nullptr) return std::nullopt;
    const std::vector<ThreadMap> maps = find_maps(*kernel);
    for (std::size_t i = 0; i < maps.size(); ++i) {
      if (wanted.site == std::string(kMapPrefix) + std::to_string(i))
        return regrouped(context, *kernel, maps[i], wanted.parameters.at("lanes"), why);
    }
    return why = "the kernel has no thread map " + wanted.site, std::nullopt;
  }

 private:
  static std::optional<Variant> regrouped(const MoveContext& context,
                                          const KernelModel& kernel,
                                          const ThreadMap& map,
                                          std::int64_t lanes,
                                          std::string& why) {
    const KernelFacts& facts = kernel.facts;
    const auto none = [&](const char* text) { return why = text, std::nullopt; };
    if (!facts.has_barrier || facts.has_warp_ops || facts.has_assembly || facts.has_opaque)
      return none("the block shares no tile, or its warps work together already");
    const auto& block = context.variant.launch.block;
    const Bindings tunables(context.variant.tunables.begin(), context.variant.tunables.end());
    if (block[1] != Expression(1) || block[2] != Expression(1))
      return none("the block has more than one dimension");
    std::int64_t threads = 0;
    try {
      threads = block[0].evaluate(tunables, "block");
    } catch (const Error&) {
      return none("the block's size is not known");
    }
    const std::int64_t rows = kWarp / lanes;
    if (threads % map.width != 0 || map.width % lanes != 0 || threads / map.width % rows != 0 ||
        map.width == lanes)
      return none("warps do not tile the map");
    if (!keeps_apart(kernel, map)) return none("values of the map meet values of the thread index");
    const Unit& unit = kernel.unit;
    std::set<std::string, std::less<>> taken;
    const std::string warp = fresh_name(unit, "warp", &taken),
                      lane = fresh_name(unit, "lane", &taken);
    const std::size_t at = line_of_statement(unit.source(), map.first->span.begin);
    const std::string pad = indentation(unit, map.first->span.begin);
    const std::string across = std::to_string(map.width / lanes), n = std::to_string(lanes),
                      m = std::to_string(rows);
    std::vector<Edit> edits{{at, at,
                             pad + "int " + warp + " = threadIdx.x / 32, " + lane +
                                 " = threadIdx.x % 32;  // a warp covers " + m + " x " + n +
                                 " places\n"}};
    for (const Expr* e : map.quotients)
      edits.push_back(
          replacement(*e, warp + " / " + across + " * " + m + " + " + lane + " / " + n));
    for (const Expr* e : map.remainders)
      edits.push_back(
          replacement(*e, warp + " % " + across + " * " + n + " + " + lane + " % " + n));
    Variant out = context.variant;
    out.source = edited(unit.source(), std::move(edits));
    return out;
  }

  static Edit replacement(const Expr& e, const std::string& text) {
    const bool alone = e.parent == nullptr || e.parenthesised;
    return {e.span.begin, e.span.end, alone ? text : "(" + text + ")"};
  }
};

}  // namespace

void register_move_warp_tile(MoveRegistry& registry) {
  registry.add("warp_tile", "give each warp a compact rectangle of the block's tile",
               [] { return on_known_shape(std::make_unique<WarpTile>()); });
}

}  // namespace warpath
