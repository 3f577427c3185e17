#include "runners/cuda/code/ptx_loops.h"

#include <algorithm>
#include <array>

namespace warpath::cuda {
namespace {

/// How a register moves from one iteration to the next.
struct Induction {
  std::int64_t step = 0;
  std::int64_t start = 0;
  bool stepped = false;  ///< the branch compares the value after its step
};

constexpr int kMostOffsets = 4;

/// `name`, compared at `at`, as a counter of the loop.
std::optional<Induction> induction(const PtxFunction& function,
                                   const PtxValues& values,
                                   const PtxLoop& loop,
                                   std::string_view name,
                                   std::size_t at,
                                   int depth = 0) {
  const auto last = values.definition(name, loop.first, loop.last);
  if (!last) return std::nullopt;
  const PtxInstruction& made = function.instructions[*last];
  // "add shifted, counter, before;": what is compared lags behind the counter
  if (made.opcode == "add" && made.operands.size() == 3 && made.guard.empty() &&
      depth < kMostOffsets) {
    for (const std::size_t k : {std::size_t{1}, std::size_t{2}}) {
      const std::string_view moving = made.operands[k], fixed = made.operands[3 - k];
      if (moving == name || fixed == name || !values.definition(moving, loop.first, loop.last) ||
          values.definition(fixed, loop.first, loop.last))
        continue;
      const auto offset = values.value(fixed, loop.first);
      const auto counter =
          offset ? induction(function, values, loop, moving, *last, depth + 1) : std::nullopt;
      if (counter)
        return Induction{
            .step = counter->step, .start = counter->start + *offset, .stepped = counter->stepped};
    }
  }
  if ((made.opcode != "add" && made.opcode != "sub") || made.operands.size() < 3 ||
      !made.guard.empty())
    return std::nullopt;
  const auto step = values.value(made.operands[2], loop.first);
  if (!step || *step == 0 || values.definition(made.operands[2], loop.first, loop.last))
    return std::nullopt;
  std::string_view carried = made.operands[1];
  if (carried != name) {  // "add next, now, 1; ... mov now, next;", the copy may come first
    const auto copy = values.definition(carried, loop.first, loop.last);
    if (!copy) return std::nullopt;
    const PtxInstruction& phi = function.instructions[*copy];
    if (phi.opcode != "mov" || phi.operands.size() < 2 || phi.operands[1] != name)
      return std::nullopt;
    // With the copy at the head, the value before the loop is that of the copied register.
    if (*copy < *last) carried = name;
  }
  const auto start = values.value(carried, loop.first);
  if (!start) return std::nullopt;
  return Induction{
      .step = made.opcode == "sub" ? -*step : *step, .start = *start, .stepped = *last < at};
}

/// Iterations until "counter OP bound" is no longer `stay`. None where the counter starts at its
/// end and leaves it: the remainder of an unrolled loop, which is stepped over then.
std::optional<double> iterations(const Induction& counter,
                                 std::int64_t bound,
                                 std::string_view op,
                                 bool stay) {
  const auto holds = [&](std::int64_t value) -> std::optional<bool> {
    if (op == "lt" || op == "lo") return value < bound;
    if (op == "le" || op == "ls") return value <= bound;
    if (op == "gt" || op == "hi") return value > bound;
    if (op == "ge" || op == "hs") return value >= bound;
    if (op == "ne") return value != bound;
    if (op == "eq") return value == bound;
    return std::nullopt;
  };
  // Jump near the end, then walk: exact for every comparison without a case for each.
  const std::int64_t first = counter.start + (counter.stepped ? counter.step : 0);
  if (op == "ne" && stay && counter.stepped && counter.start == bound) return 0;
  const double distance = static_cast<double>(bound - first) / static_cast<double>(counter.step);
  std::int64_t done = distance > 4 ? static_cast<std::int64_t>(distance) - 3 : 0;
  const auto at_start = holds(first);
  if (!at_start) return std::nullopt;
  if (*at_start != stay) return 1;
  for (int i = 0; i < 16; ++i, ++done) {
    const auto now = holds(first + done * counter.step);
    if (now && *now != stay) return static_cast<double>(done + 1);
  }
  return std::nullopt;
}

std::optional<double> trips(const PtxFunction& function,
                            const PtxValues& values,
                            const PtxLoop& loop) {
  const PtxInstruction& branch = function.instructions[loop.last];
  if (branch.guard.empty()) return std::nullopt;
  const auto test = values.definition(branch.guard, loop.first, loop.last);
  if (!test) return std::nullopt;
  const PtxInstruction& compare = function.instructions[*test];
  if (compare.opcode != "setp" || compare.operands.size() != 3 || compare.modifiers.empty())
    return std::nullopt;
  std::string_view op = compare.modifiers.front();
  for (const bool swapped : {false, true}) {
    const std::string_view left = compare.operands[swapped ? 2 : 1],
                           right = compare.operands[swapped ? 1 : 2];
    const auto counter = induction(function, values, loop, left, *test);
    if (!counter || values.definition(right, loop.first, loop.last)) continue;
    const auto bound = values.value(right, loop.first);
    if (!bound) continue;
    if (swapped) {
      constexpr std::array<std::pair<std::string_view, std::string_view>, 8> kMirror{
          {{"lt", "gt"},
           {"gt", "lt"},
           {"le", "ge"},
           {"ge", "le"},
           {"lo", "hi"},
           {"hi", "lo"},
           {"ls", "hs"},
           {"hs", "ls"}}};
      for (const auto& [from, to] : kMirror) {
        if (op == from) {
          op = to;
          break;
        }
      }
    }
    return iterations(*counter, *bound, op, !branch.guard_negated);
  }
  return std::nullopt;
}

}  // namespace

std::optional<std::size_t> label_target(const PtxFunction& function, std::string_view label) {
  const auto found = std::ranges::find(function.labels, label, &PtxLabel::name);
  return found == function.labels.end() ? std::nullopt : std::optional(found->at);
}

std::vector<PtxLoop> ptx_loops(const PtxFunction& function, const PtxLaunch& launch) {
  std::vector<PtxLoop> loops;
  for (std::size_t i = 0; i < function.instructions.size(); ++i) {
    const PtxInstruction& branch = function.instructions[i];
    if (branch.opcode != "bra" || branch.operands.empty()) continue;
    const auto target = label_target(function, branch.operands.back());
    if (!target || *target > i) continue;
    // "continue": one loop with two ways back
    const auto same = std::ranges::find(loops, *target, &PtxLoop::first);
    if (same != loops.end()) {
      same->last = i;
    } else {
      loops.push_back(
          {.first = *target, .last = i, .parent = -1, .depth = 1, .trips = std::nullopt});
    }
  }
  std::ranges::sort(loops, [](const PtxLoop& a, const PtxLoop& b) {
    return a.first != b.first ? a.first < b.first : a.last > b.last;
  });
  const PtxValues values(function, launch);
  for (std::size_t i = 0; i < loops.size(); ++i) {
    for (std::size_t j = 0; j < i; ++j) {
      if (loops[j].last >= loops[i].last) loops[i].parent = static_cast<int>(j);
    }
    if (loops[i].parent >= 0)
      loops[i].depth = loops[static_cast<std::size_t>(loops[i].parent)].depth + 1;
    loops[i].trips = trips(function, values, loops[i]);
  }
  return loops;
}

}  // namespace warpath::cuda
