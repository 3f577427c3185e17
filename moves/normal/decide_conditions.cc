#include "moves/normal/decide_conditions.h"

#include <algorithm>
#include <set>
#include <string>
#include <string_view>
#include <vector>

#include "engine/text/source_edit.h"
#include "moves/contract/source_contract.h"
#include "moves/normal/helper_call.h"
#include "moves/syntax/syntax_query.h"
#include "moves/syntax/unit.h"

namespace warpath {

using namespace model;

namespace {

/// Bodies of the kernel and of the functions that it calls, directly or not.
std::vector<Span> bodies_reached(const Unit& unit, const Function& kernel) {
  std::vector<const Function*> reached{&kernel};
  for (std::size_t i = 0; i < reached.size(); ++i) {
    for (const WordAt& word : words_in(unit, reached[i]->body->span)) {
      for (const Function* f : unit.functions()) {
        if (f->name == word.text && f->body != nullptr && !f->is_global &&
            std::ranges::find(reached, f) == reached.end())
          reached.push_back(f);
      }
    }
  }
  std::vector<Span> out;
  for (const Function* f : reached) out.push_back(f->body->span);
  return out;
}

/// #if .. #endif: its branches in order.
using Group = std::vector<const Conditional*>;

std::vector<Group> groups_of(const Unit& unit) {
  std::vector<Group> out;
  for (const Conditional& branch : unit.conditionals()) {
    const auto before = std::ranges::find_if(out, [&](const Group& group) {
      return group.back()->branch.end == branch.directive.begin;
    });
    before == out.end() ? out.push_back({&branch}) : before->push_back(&branch);
  }
  return out;
}

/// The end of the line that has byte `at`, past its "\n".
std::size_t line_end(std::string_view source, std::size_t at) {
  const std::size_t end = source.find('\n', at);
  return end == std::string_view::npos ? source.size() : end + 1;
}

std::size_t line_start(std::string_view source, std::size_t at) {
  const std::size_t before = at == 0 ? std::string_view::npos : source.rfind('\n', at - 1);
  return before == std::string_view::npos ? 0 : before + 1;
}

}  // namespace

bool decide_conditions(const MoveContext& context, Variant& variant) {
  constexpr std::int64_t kStep = 10;  // __CUDA_ARCH__ is 900 for sm_90
  const std::int64_t architecture = kStep * compute_capability(context.device.arch);
  if (architecture == 0 || variant.source.find("#") == std::string::npos) return false;
  const Unit unit = parse(context.spec, variant, {{"__CUDA_ARCH__", architecture}});
  const Function* const kernel = unit.find_kernel(variant.kernel_name);
  if (kernel == nullptr || kernel->body == nullptr || unit.ambiguous()) return false;
  const std::vector<Span> bodies = bodies_reached(unit, *kernel);
  const std::string_view source = unit.source();
  std::vector<Edit> edits;
  for (const Group& group : groups_of(unit)) {
    const Span whole{group.front()->directive.begin, group.back()->branch.end};
    const bool inside =
        std::ranges::any_of(bodies, [&](Span body) { return body.contains(whole); });
    const bool known = std::ranges::all_of(group, &Conditional::known);
    const bool ended = source.substr(whole.end).starts_with("#");
    if (!inside || !known || !ended) continue;
    for (const Conditional* branch : group) {
      // a directive may be spliced over several lines: its branch begins behind it
      const std::size_t begin = line_start(source, branch->directive.begin),
                        end = branch->taken ? line_end(source, branch->branch.begin)
                                            : line_start(source, branch->branch.end);
      edits.push_back({begin, end, ""});
    }
    edits.push_back({line_start(source, whole.end), line_end(source, whole.end), ""});
  }
  // what stands in a branch that goes, goes with it
  std::erase_if(edits, [&](const Edit& one) {
    return std::ranges::any_of(edits, [&](const Edit& other) {
      return &one != &other && other.begin <= one.begin && one.end <= other.end &&
             (other.end - other.begin) > (one.end - one.begin);
    });
  });
  if (edits.empty()) return false;
  variant.source = edited(source, std::move(edits));
  return true;
}

}  // namespace warpath
