#include "engine/search/strategy.h"

#include <algorithm>
#include <limits>

#include "engine/base/error.h"
#include "engine/plugin/options.h"
#include "engine/search/design.h"
#include "register_strategies.h"

namespace warpath {
namespace {

constexpr int kLongestWalk = 64;

/// What "auto" stands for.
std::string_view resolved(const Options& options, const Lattice* lattice) {
  const std::string& named = options.search.strategy;
  if (named != "auto") return named;
  return lattice != nullptr && lattice->complete() ? "guided" : "history";
}

}  // namespace

double Field::worth(NodeId node) const {
  return measured(node) ? graph().reward(node) : -std::numeric_limits<double>::infinity();
}

Field::Arrival Field::walk() {
  NodeId at = kRoot;
  for (int steps = 0; steps < kLongestWalk; ++steps) {
    if (actions(at) == 0) return {at, false};
    const Arrival next = act(at, draw_action(at));
    if (next.fresh) return next;
    if (next.node != kNoNode && measured(next.node)) at = next.node;
    if (rng().uniform() < 0.1) at = kRoot;
  }
  return {at, false};
}

Field::Arrival Field::draw() {
  const Lattice* const space = lattice();
  if (space == nullptr) return walk();
  NodeId from = kRoot;
  if (!space->complete()) {
    if (rng().uniform() < 0.5) return walk();
    from = NodeId{static_cast<std::uint32_t>(rng().below(graph().node_count()))};
  }
  std::vector<Level> point(space->axes());
  return space->draw(rng(), point) ? visit(from, point) : Arrival{};
}

Field::Arrival Field::neighbour(NodeId from, int radius) {
  const Lattice* const space = lattice();
  if (space == nullptr || (!space->complete() && rng().uniform() < 0.5)) {
    return actions(from) == 0 ? Arrival{} : act(from, draw_action(from));
  }
  std::vector<Level> point(space->axes());
  levels(from, point);
  const int changes = 1 + static_cast<int>(rng().below(static_cast<std::uint64_t>(radius)));
  for (int i = 0; i < changes; ++i) redraw_axis(*space, rng(), rng().below(point.size()), point);
  return space->legal(point) ? visit(from, point) : Arrival{};
}

Field::Arrival Field::recombine(NodeId a, NodeId b, double mutation) {
  const Lattice* const space = lattice();
  if (space == nullptr || (!space->complete() && rng().uniform() < 0.5))
    return neighbour(rng().uniform() < 0.5 ? a : b, 1);
  std::vector<Level> point(space->axes()), other(space->axes());
  levels(a, point);
  levels(b, other);
  for (std::size_t axis = 0; axis < point.size(); ++axis) {
    if (rng().uniform() < 0.5) point[axis] = other[axis];
    if (rng().uniform() < mutation) redraw_axis(*space, rng(), axis, point);
  }
  return space->legal(point) ? visit(a, point) : Arrival{};
}

NodeId Field::fresh_draw() {
  // Where moves lead on as well, a draw makes variants and costs a hundred times as much.
  const int rounds = lattice() != nullptr && lattice()->complete() ? 50 : 5;
  for (int i = 0; i < rounds; ++i) {
    if (const NodeId node = fresh([&] { return draw(); }); node != kNoNode) return node;
  }
  return kNoNode;
}

std::unique_ptr<Strategy> make_strategy(const Options& options, const Lattice* lattice) {
  const std::string_view name = resolved(options, lattice);
  if (name == "mcgs") return nullptr;
  return registered_strategies().create("search.strategy", name, options);
}

std::vector<Level> first_point(const Options& options,
                               const Lattice& lattice,
                               std::uint64_t seed,
                               std::uint64_t failed) {
  Design design(lattice, options.of<DesignOptions>());
  const bool designed = resolved(options, &lattice) == "guided";
  std::vector<Level> point(lattice.axes());
  for (std::uint64_t attempt = 0;; ++attempt) {
    Rng rng(seed + (attempt << 32U), "start");
    if (!(designed ? design.draw(lattice, rng, point) : lattice.draw(rng, point)))
      throw bad_input("space", "no legal point", "at least one");
    if (attempt == failed) return point;
    design.add(point);
    design.judge(point, false);
  }
}

}  // namespace warpath
