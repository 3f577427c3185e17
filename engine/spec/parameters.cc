#include "engine/spec/parameters.h"

#include <algorithm>

#include "engine/base/round_up.h"

namespace warpath {
namespace {

constexpr std::size_t kPointerBytes = 8;

bool is_passed(const ArgSpec& arg) {
  return !arg.is_meta && arg.type != ArgType::string;
}

std::size_t bytes_of(const ArgSpec& arg) {
  return arg.type == ArgType::tensor ? kPointerBytes : info(arg.dtype).size_bytes;
}

}  // namespace

std::vector<ParameterLayout> parameter_layouts(const KernelSpec& spec) {
  std::vector<ParameterLayout> out;
  std::size_t position = 0;
  for (const ArgSpec& arg : spec.io.args) {
    if (!is_passed(arg)) continue;
    const bool goes_on =
        !arg.member_of.empty() && !out.empty() && out.back().struct_name == arg.member_of;
    if (!goes_on) out.emplace_back().struct_name = arg.member_of;
    ParameterLayout& layout = out.back();
    const std::size_t bytes = bytes_of(arg);
    layout.members.push_back(position++);
    layout.offsets.push_back(round_up(layout.size_bytes, bytes));
    layout.sizes.push_back(bytes);
    layout.size_bytes = layout.offsets.back() + bytes;
    layout.alignment_bytes = std::max(layout.alignment_bytes, bytes);
  }
  for (ParameterLayout& layout : out)
    layout.size_bytes = round_up(layout.size_bytes, layout.alignment_bytes);
  return out;
}

bool has_structs(const KernelSpec& spec) {
  return std::ranges::any_of(spec.io.args,
                             [](const ArgSpec& arg) { return !arg.member_of.empty(); });
}

std::vector<const ArgSpec*> parameter_arguments(const KernelSpec& spec) {
  std::vector<const ArgSpec*> passed, out;
  for (const ArgSpec& arg : spec.io.args) {
    if (is_passed(arg)) passed.push_back(&arg);
  }
  for (const ParameterLayout& layout : parameter_layouts(spec))
    out.push_back(layout.struct_name.empty() ? passed[layout.members.front()] : nullptr);
  return out;
}

std::string layout_text(const KernelSpec& spec, const ParameterLayout& layout) {
  std::vector<const ArgSpec*> passed;
  for (const ArgSpec& arg : spec.io.args) {
    if (is_passed(arg)) passed.push_back(&arg);
  }
  std::string out = "{";
  for (const std::size_t member : layout.members) {
    const ArgSpec& arg = *passed[member];
    const bool tensor = arg.type == ArgType::tensor;
    out += std::string(info(tensor ? arg.tensor->dtype : arg.dtype).name) + (tensor ? "* " : " ") +
           arg.name + "; ";
  }
  return out + "}, " + std::to_string(layout.size_bytes) + " bytes";
}

}  // namespace warpath
