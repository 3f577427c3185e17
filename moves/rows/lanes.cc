#include "moves/rows/lanes.h"

#include <algorithm>
#include <bit>
#include <cstdlib>
#include <iterator>

#include "engine/base/error.h"
#include "engine/text/source_edit.h"
#include "moves/model/kernel_model.h"
#include "moves/model/reduce_op.h"
#include "moves/syntax/syntax_query.h"

namespace warpath {
namespace {

std::string shuffles(const LaneGroup& group,
                     const std::vector<Partial>& partials,
                     std::int64_t lanes,
                     std::string_view half_text,
                     std::string_view indent) {
  if (lanes < 2) return {};
  const std::string mask = group.lanes < kWarpLanes ? group.mask : "0xffffffffu";
  const auto line = [&](const Partial& p) {
    return update_text(p, "__shfl_xor_sync(" + mask + ", " + p.variable + ", " + group.step + ")");
  };
  const std::string& d = group.step;
  std::string out = "#pragma unroll\nfor (int " + d + " = " + std::string(half_text) + "; " + d +
                    " > 0; " + d + " /= 2) ";
  if (partials.size() == 1) return out + line(partials[0]) + "\n";
  out += "{\n";
  for (const Partial& p : partials) out += std::string(indent) + line(p) + "\n";
  return out + "}\n";
}

/// Each lane takes the better of its own and what the lane `step` away has, for all steps.
std::string shuffles(const LaneGroup& group,
                     const PartialExtremum& e,
                     std::string_view half,
                     std::string_view indent) {
  const std::string mask = group.lanes < kWarpLanes ? group.mask : "0xffffffffu", tab(indent);
  const std::string& d = group.step;
  std::string out = "#pragma unroll\nfor (int " + d + " = " + std::string(half) + "; " + d +
                    " > 0; " + d + " /= 2) {\n",
              taken;
  for (std::size_t k = 0; k < e.variables.size(); ++k) {
    const std::string& v = e.variables[k];
    out += tab + "const " + e.types[k] + " " + e.others[k] + " = __shfl_xor_sync(" + mask + ", " +
           v + ", " + d + ");\n";
    taken += tab + tab + v + " = " + e.others[k] + ";\n";
  }
  const std::string &best = e.variables[0], &better = e.others[0];
  out += tab + "if (" + better + (e.greatest ? " > " : " < ") + best + " || (" + better +
         " == " + best + " && " + e.others[e.order] + (e.ascends ? " < " : " > ") +
         e.variables[e.order] + ")) {\n";
  return out + taken + tab + "}\n}\n";
}

std::string send_helper(std::string_view name, std::string_view indent) {
  const std::string tab(indent);
  return "template <class T>\n__device__ __forceinline__ void " + std::string(name) +
         "(T* place, unsigned block, T value) {\n" + tab + "unsigned long long there;\n" + tab +
         "asm volatile(\"mapa.u64 %0, %1, %2;\" : \"=l\"(there) : \"l\"(place), \"r\"(block));\n" +
         tab + "*reinterpret_cast<volatile T*>(there) = value;\n}\n";
}

std::string barrier_helper(std::string_view name, std::string_view indent) {
  const std::string tab(indent);
  return "__device__ __forceinline__ void " + std::string(name) + "() {\n" + tab +
         "asm volatile(\"barrier.cluster.arrive.release.aligned;\" ::: \"memory\");\n" + tab +
         "asm volatile(\"barrier.cluster.wait.acquire.aligned;\" ::: \"memory\");\n}\n";
}

std::string without_blanks(std::string_view text) {
  std::string out;
  std::copy_if(text.begin(), text.end(), std::back_inserter(out),
               [](char c) { return c != ' ' && c != '\n' && c != '\r' && c != '\t'; });
  return out;
}

}  // namespace

std::string update_text(const Partial& partial, std::string_view other) {
  using model::ReduceOp;
  const auto compound = [&](std::string_view op) {
    return partial.variable + " " + std::string(op) + " " + std::string(other) + ";";
  };
  switch (partial.op) {
    case ReduceOp::add:
      return compound("+=");
    case ReduceOp::multiply:
      return compound("*=");
    case ReduceOp::bit_and:
      return compound("&=");
    case ReduceOp::bit_or:
      return compound("|=");
    case ReduceOp::bit_xor:
      return compound("^=");
    default:
      return partial.variable + " = " +
             model::combine_text(partial.op, partial.type, partial.variable, other) + ";";
  }
}

std::string combine_lanes(const LaneGroup& group,
                          const std::vector<Partial>& partials,
                          const std::vector<std::string>& names,
                          bool again,
                          std::string_view indent) {
  if (group.within_warp())
    return shuffles(group, partials, group.lanes, group.lanes_name + " / 2", indent);
  const std::string number = std::to_string(group.block() / kWarpLanes),
                    warps = group.warps.empty() ? number : "(" + group.warps + ")";
  std::string out = shuffles(group, partials, kWarpLanes, "16", indent);
  for (std::size_t k = 0; k < partials.size(); ++k) {
    out += "__shared__ " + partials[k].type + " " + names[k] + "[" +
           (group.warps.empty() ? number : std::to_string(kWarpLanes)) +
           "];  // one value a warp\n";
  }
  if (again) out += "__syncthreads();  // the last values have been read\n";
  const auto stores = [&](std::string_view condition, const auto& line) {
    out += "if (" + std::string(condition) + ")";
    if (partials.size() == 1) return void(out += " " + line(0) + "\n");
    out += " {\n";
    for (std::size_t k = 0; k < partials.size(); ++k) out += std::string(indent) + line(k) + "\n";
    out += "}\n";
  };
  const std::string& thread = group.thread;
  stores(thread + " % 32 == 0", [&](std::size_t k) {
    return names[k] + "[" + thread + " / 32] = " + partials[k].variable + ";";
  });
  out += "__syncthreads();\n";
  const auto count = static_cast<std::uint64_t>(group.block() / kWarpLanes);
  const auto lanes = static_cast<std::int64_t>(std::bit_ceil(count));
  const std::string place =
      thread + " % " + (std::has_single_bit(count) ? warps : std::to_string(lanes));
  for (std::size_t k = 0; k < partials.size(); ++k) {
    const Partial& p = partials[k];
    out += p.variable + " = ";
    if (!std::has_single_bit(count)) out += place + " < " + warps + " ? ";
    out += names[k] + "[" + place + "]";
    if (!std::has_single_bit(count)) out += " : " + model::identity_text(p.op, p.type);
    out += ";\n";
  }
  out += shuffles(group, partials, lanes,
                  group.warps.empty() ? std::to_string(lanes / 2) : group.warps + " / 2", indent);
  if (group.cluster == 1) return out;
  const std::string blocks = std::to_string(group.cluster);
  for (std::size_t k = 0; k < partials.size(); ++k) {
    out += "__shared__ " + partials[k].type + " " + names[k] + "_block[" + blocks +
           "];  // one value a block of the cluster\n";
  }
  stores("threadIdx.x < " + blocks, [&](std::size_t k) {
    return group.send + "(&" + names[k] + "_block[blockIdx.x % " + blocks + "], threadIdx.x, " +
           partials[k].variable + ");";
  });
  out += group.barrier + "();\n";
  for (std::size_t k = 0; k < partials.size(); ++k) {
    const std::string array = names[k] + "_block";
    out += partials[k].variable + " = " + array + "[0];\n";
    out += "#pragma unroll\nfor (int " + group.part + " = 1; " + group.part + " < " + blocks +
           "; ++" + group.part + ") " + update_text(partials[k], array + "[" + group.part + "]") +
           "\n";
  }
  return out;
}

std::string combine_lanes(const LaneGroup& group,
                          const PartialExtremum& e,
                          const std::vector<std::string>& names,
                          bool again,
                          std::string_view indent) {
  if (group.within_warp()) return shuffles(group, e, group.lanes_name + " / 2", indent);
  const std::string warps = std::to_string(group.block() / kWarpLanes), tab(indent);
  std::string out = shuffles(group, e, "16", indent), stored, loaded;
  for (std::size_t k = 0; k < names.size(); ++k) {
    out += "__shared__ " + e.types[k] + " " + names[k] + "[" + warps + "];  // one value a warp\n";
    stored += tab + names[k] + "[" + group.thread + " / 32] = " + e.variables[k] + ";\n";
    loaded += e.variables[k] + " = " + names[k] + "[" + group.thread + " % " + warps + "];\n";
  }
  if (again) out += "__syncthreads();  // the last values have been read\n";
  out += "if (" + group.thread + " % 32 == 0) {\n" + stored + "}\n__syncthreads();\n" + loaded;
  return out + shuffles(group, e, std::to_string(group.block() / kWarpLanes / 2), indent);
}

std::string cluster_helpers(const LaneGroup& group, std::string_view indent) {
  return "// Writes `value` to `place` in the shared memory of another block of the cluster.\n" +
         send_helper(group.send, indent) +
         "\n// Waits for all blocks of the cluster; what they wrote to shared memory is then "
         "seen.\n" +
         barrier_helper(group.barrier, indent) + "\n";
}

bool is_cluster_helper(const model::Unit& unit, std::string_view name) {
  const model::Function* f = unit.find_function(name);
  if (f == nullptr) return false;
  const std::string text = without_blanks(unit.text(f->span));
  return text == without_blanks(send_helper(name, "")) ||
         text == without_blanks(barrier_helper(name, ""));
}

std::string unknown_call(const model::KernelModel& model) {
  for (const std::string& name : model.facts.unknown_calls) {
    if (!is_cluster_helper(model.unit, name)) return name;
  }
  return {};
}

std::string hanging(std::string_view text, std::string_view indent) {
  const std::size_t line = text.find('\n');
  if (line == std::string_view::npos) return std::string(text);
  return std::string(text.substr(0, line + 1)) + model::indented(text.substr(line + 1), indent);
}

std::string free_name(const model::Unit& unit,
                      std::initializer_list<std::string_view> wishes,
                      std::set<std::string, std::less<>>& taken) {
  for (const std::string_view wish : wishes) {
    if (taken.contains(wish) || model::fresh_name(unit, wish) != wish) continue;
    return *taken.insert(std::string(wish)).first;
  }
  return *taken.insert(model::fresh_name(unit, *wishes.begin(), &taken)).first;
}

std::optional<Expression> items_of(const LaunchPlan& plan) {
  const std::string grid = plan.grid[0].text(), block = plan.block[0].text();
  const auto between = [&](std::string_view head,
                           std::string_view tail) -> std::optional<Expression> {
    if (!grid.starts_with(head) || !grid.ends_with(tail) ||
        grid.size() <= head.size() + tail.size())
      return std::nullopt;
    const std::string inner = grid.substr(head.size(), grid.size() - head.size() - tail.size());
    try {
      Expression items = Expression::parse(inner, "grid");
      // The pieces must have been what the text is made of: "a) / 4 + (b" would parse to something
      // else.
      if (Expression::parse(std::string(head) + items.text() + std::string(tail), "grid") ==
          plan.grid[0])
        return items;
      return std::nullopt;
    } catch (const Error&) {
      return std::nullopt;  // no expression by itself
    }
  };
  if (auto items = between("ceil_div(", ", " + block + ")")) return items;
  if (plan.block[0].is_constant()) {
    const std::int64_t extent = plan.block[0].evaluate({}, "block");
    if (auto items = between("(", " + " + std::to_string(extent - 1) + ") / " + block))
      return items;
    if (extent == 1) return plan.grid[0];
  }
  return between("(", " + " + block + " - 1) / " + block);
}

bool has_clusters(const DeviceFacts& device) {
  return device.is_gpu && device.arch.size() > 3 && device.arch.starts_with("sm_") &&
         std::atoi(device.arch.c_str() + 3) >= 90;
}

}  // namespace warpath
