#include <algorithm>
#include <map>
#include <set>

#include "moves/edit/code_writer.h"
#include "moves/edit/hinted_access.h"
#include "moves/edit/span_rewrite.h"
#include "moves/model/kernel_model.h"
#include "moves/syntax/syntax_query.h"
#include "moves/tiles/window.h"

namespace warpath {

using namespace model;

namespace {

constexpr std::int64_t kBanks = 32, kBankBytes = 4, kPackBytes = 16;
constexpr std::int64_t kMostUnrolled = 1024;  ///< iterations of a nest

/// The text with signed indices of threads and blocks: no difference of them wraps.
std::string with_signed_builtins(std::string text) {
  for (const std::string_view builtin : {"threadIdx.", "blockIdx.", "gridDim."}) {
    for (std::size_t at = text.find(builtin); at != std::string::npos;
         at = text.find(builtin, at + builtin.size() + 5))
      text.insert(at, "(int)");
  }
  return text;
}

/// Threads of the first warp that wait for others at their banks, where rows of the box are `pitch`
/// elements apart.
std::int64_t waiting_threads(const Window& window, std::int64_t pitch) {
  std::map<std::int64_t, std::set<std::int64_t>> words;  // by bank
  const std::int64_t threads = std::min(kWarp, window.block[0] * window.block[1] * window.block[2]);
  for (std::int64_t thread = 0; thread < threads; ++thread) {
    const std::array<std::int64_t, 3> place{thread % window.block[0],
                                            thread / window.block[0] % window.block[1],
                                            thread / window.block[0] / window.block[1]};
    std::int64_t element = 0;
    for (std::size_t axis = 0; axis < 3; ++axis) {
      std::int64_t own = 0;
      for (std::size_t d = 0; d < window.extents.size(); ++d) {
        const bool row = d + 1 == window.extents.size();
        own = own * (row ? pitch : window.extents[d]) + window.per_thread[axis][d];
      }
      element += own * place[axis];
    }
    const std::int64_t word =
        element * static_cast<std::int64_t>(window.array->element_bytes) / kBankBytes;
    words[((word % kBanks) + kBanks) % kBanks].insert(word);
  }
  std::size_t most = 0;
  for (const auto& [bank, of_bank] : words) most = std::max(most, of_bank.size());
  return static_cast<std::int64_t>(most);
}

/// A thread's elements of a row are aligned packs of the largest size.
bool is_read_in_packs(const Window& window) {
  return window.array->element_bytes * static_cast<std::size_t>(window.per_thread[0].back()) %
             kPackBytes ==
         0;
}

/// The least distance of rows with which threads wait least, and packs of a row stay aligned.
std::int64_t pitch_of(const Window& window) {
  const std::int64_t row = window.extents.back();
  if (window.extents.size() == 1) return row;
  const auto bytes = static_cast<std::int64_t>(window.array->element_bytes);
  const std::int64_t step =
      is_read_in_packs(window) ? std::max<std::int64_t>(kPackBytes / bytes, 1) : 1;
  const std::int64_t least = (row + step - 1) / step * step;
  std::int64_t best = least;
  for (std::int64_t pitch = least; pitch < least + kBanks; pitch += step) {
    if (waiting_threads(window, pitch) < waiting_threads(window, best)) best = pitch;
  }
  return best;
}

/// Steps of dimension `d` in the number `e` of an element of the box: "e / 24 % 18".
std::string step_text(const Window& window, const std::string& e, std::size_t d) {
  std::int64_t inner = 1;
  for (std::size_t i = d + 1; i < window.extents.size(); ++i) inner *= window.extents[i];
  std::string out = e;
  if (inner > 1) out += " / " + number(inner);
  if (d > 0) out += " % " + number(window.extents[d]);
  return out;
}

/// All loop variables are visible under their names, and those that meet int in min or max are int.
bool compiles(const KernelModel& kernel, const WindowLoad& load) {
  for (const Polynomial& place : load.place) {
    for (const Atom* operation : place.operations()) {
      if (operation->op != "min" && operation->op != "max") continue;
      for (const Polynomial& operand : operation->operands) {
        for (const std::string& name : operand.names()) {
          if (name.find('.') != std::string::npos) continue;
          const Declarator* d =
              visible(kernel.unit, *kernel.kernel, name, load.access->expr->span.begin);
          if (d == nullptr || kernel.unit.resolved_type(kernel.unit.plain_text(d->type)) != "int")
            return false;
        }
      }
    }
  }
  return true;
}

/// The loops around the loads that can be unrolled, inner ones first.
std::set<const Loop*> short_loops(const KernelModel& kernel, const Window& window) {
  std::set<const Loop*> out;
  for (const WindowLoad& load : window.loads) {
    std::int64_t iterations = 1;
    for (auto at = load.access->loops.rbegin(); at != load.access->loops.rend(); ++at) {
      const Loop& loop = **at;
      const auto trips = loop.trips ? fixed(kernel.facts, *loop.trips) : std::nullopt;
      if (!trips || *trips < 1 || *trips > kMostUnrolled / iterations) break;
      iterations *= *trips;
      if (loop.stmt->pragma == nullptr && *trips > 1) out.insert(&loop);
    }
  }
  return out;
}

}  // namespace

std::optional<Variant> window_through_tile(const MoveContext& context,
                                           const KernelModel& kernel,
                                           const Array& array,
                                           bool unroll,
                                           std::string& why) {
  const auto found = find_window(context, kernel, array, why);
  if (!found) return std::nullopt;
  const Window& window = *found;
  if (!std::ranges::all_of(window.loads,
                           [&](const WindowLoad& load) { return compiles(kernel, load); }))
    return why = "a limit of an index has another type than int", std::nullopt;
  std::int64_t pitch = pitch_of(window), rows = 1, box = window.extents.back();
  for (std::size_t d = 0; d + 1 < window.extents.size(); ++d) rows *= window.extents[d];
  box *= rows;
  const std::int64_t room = kStaticSmemBytes - static_smem_bytes(kernel.facts),
                     element_bytes = static_cast<std::int64_t>(array.element_bytes);
  if (rows * pitch * element_bytes > room) pitch = window.extents.back();
  const std::int64_t bytes = rows * pitch * element_bytes;
  if (bytes > room)
    return why = "the window of " + array.name + " takes " + number(bytes) +
                 " bytes of shared memory",
           std::nullopt;
  Rewrite rewrite(kernel);
  if (unroll) {
    const std::set<const Loop*> loops = short_loops(kernel, window);
    if (loops.empty())
      return why = "no short loop around the loads is to be unrolled", std::nullopt;
    for (const Loop* loop : loops) rewrite.before(*loop->stmt, "#pragma unroll\n");
  }
  const std::string tile = rewrite.fresh(array.name + "_tile"), e = rewrite.fresh("e"),
                    at = rewrite.fresh("at"), first = rewrite.fresh(array.name + "_first");
  CodeWriter head(indent_unit(kernel.unit), 0);
  std::string extents, subscripts, element = first;
  for (std::size_t d = 0; d < window.extents.size(); ++d) {
    const bool row = d + 1 == window.extents.size();
    extents += "[" + number(row ? pitch : window.extents[d]) + "]";
    const std::string step = step_text(window, e, d);
    subscripts += "[" + step + "]";
    element += " + " + (step == e || window.strides[d] == 1 ? step : "(" + step + ")") +
               (window.strides[d] == 1 ? "" : " * " + number(window.strides[d]));
  }
  const std::string aligned = is_read_in_packs(window) ? "alignas(16) " : "";
  head.line(aligned + "__shared__ " + array.type + " " + tile + extents +
            ";  // the block's window; beyond the array nothing is loaded");
  head.line("const int " + first + " = " + with_signed_builtins(window.first.text()) + ";");
  std::string thread = "threadIdx.x";
  std::int64_t threads = window.block[0];
  for (const std::size_t axis : {1U, 2U}) {
    if (window.block[axis] == 1) continue;
    thread += std::string(" + threadIdx.") + "xyz"[axis] + " * " + number(threads);
    threads *= window.block[axis];
  }
  head.open("for (int " + e + " = " + thread + "; " + e + " < " + number(box) + "; " + e +
            " += " + number(threads) + ")");
  head.line("const int " + at + " = " + element + ";");
  head.line((window.inside
                 ? ""
                 : "if (" + at + " >= 0 && " + at + " < " + number(window.elements) + ") ") +
            tile + subscripts + " = " + array.name + "[" + at + "];");
  head.close().line("__syncthreads();");
  rewrite.declare_first(head.text());
  for (const WindowLoad& load : window.loads) {
    std::string text = tile;
    for (const Polynomial& place : load.place)
      text += "[" + with_signed_builtins(place.text()) + "]";
    rewrite.replace(replaceable(*load.access)->span, text);
  }
  return rewrite.finish(context.variant);
}

}  // namespace warpath
