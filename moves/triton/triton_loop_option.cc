#include "moves/triton/triton_loop_option.h"

#include <algorithm>
#include <array>
#include <utility>

#include "moves/edit/loop_site.h"

namespace warpath {
namespace {

using python::Node;
using python::Statement;
using python::StatementKind;

/// Keywords of tl.range() in the order in which they are written.
constexpr std::array<std::string_view, 2> kRangeKeywords{"num_stages", "loop_unroll_factor"};

const Node* range_at(const TritonKernel& kernel, std::string_view site, std::size_t& loop) {
  for (std::size_t i = 0; i < kernel.loops().size(); ++i) {
    if (loop_site(i) != site) continue;
    loop = kernel.loops()[i];
    return kernel.statement(loop).value.get();
  }
  return nullptr;
}

/// The value that the loop has; 0 without one, nullopt for one that is no number.
std::optional<std::int64_t> value_of_option(const Node& range, std::string_view keyword) {
  const Node* const value = range.argument(keyword);
  return value == nullptr ? std::optional<std::int64_t>(0) : number_of(*value);
}

}  // namespace

std::string not_innermost(const TritonKernel& kernel, std::size_t loop) {
  for (std::size_t i = loop + 1; i < kernel.last(); ++i) {
    if (!kernel.text().is_within(i, loop)) break;
    const Statement& one = kernel.statement(i);
    if (!one.understood) return "a line of the loop is not read";
    if (one.kind == StatementKind::loop || one.word == "while") return "a loop stands in it";
  }
  return "";
}

TritonLoopOption::TritonLoopOption(std::string_view keyword,
                                   std::vector<std::int64_t> first,
                                   std::vector<std::int64_t> domain,
                                   std::string help)
    : keyword_(keyword),
      first_(std::move(first)),
      domain_(std::move(domain)),
      help_(std::move(help)) {}

std::vector<Tunable> TritonLoopOption::parameters(std::string_view site) const {
  if (!is_loop_site(site)) return {};
  return {Tunable{std::string(keyword_), domain_, 0, help_}};
}

std::vector<MoveInstance> TritonLoopOption::candidates(const MoveContext&,
                                                       const TritonKernel& kernel) const {
  std::vector<MoveInstance> out;
  for (std::size_t i = 0; i < kernel.loops().size(); ++i) {
    for (const std::int64_t value : first_)
      out.push_back({std::string(name()), loop_site(i), {{std::string(keyword_), value}}});
  }
  return out;
}

std::vector<Edit> TritonLoopOption::edits(const MoveContext& context,
                                          const TritonKernel& kernel,
                                          const MoveInstance& wanted,
                                          std::string& why) const {
  std::size_t loop = 0;
  const Node* const range = range_at(kernel, wanted.site, loop);
  if (range == nullptr) return why = "no loop over range() at " + wanted.site, std::vector<Edit>{};
  why = refusal(context, kernel, loop);
  if (!why.empty()) return {};
  const std::int64_t value = wanted.parameters.find(keyword_)->second;
  const auto known = value_of_option(*range, keyword_);
  if (!known) return why = std::string(keyword_) + " is no number there", std::vector<Edit>{};
  if (*known == value) return why = "the loop has this value already", std::vector<Edit>{};
  std::vector<Edit> out;
  if (range->is_call_of("range"))
    out.push_back({range->span.begin, range->span.begin, kernel.of_language("")});
  const auto later = [&](std::string_view keyword) {
    return std::ranges::find(kRangeKeywords, keyword) - kRangeKeywords.begin() >
           std::ranges::find(kRangeKeywords, keyword_) - kRangeKeywords.begin();
  };
  const bool is_new = range->argument(keyword_) == nullptr;
  const auto next = std::ranges::find_if(range->keywords, [&](std::string_view keyword) {
    return !keyword.empty() && later(keyword);
  });
  if (is_new && next != range->keywords.begin()) {
    const auto before = static_cast<std::size_t>(next - range->keywords.begin()) - 1;
    const std::size_t at = range->children[before]->outer.end;
    out.push_back({at, at, ", " + std::string(keyword_) + "=" + std::to_string(value)});
    return out;
  }
  if (!set_keyword(kernel.text(), *range, keyword_, value == 0 ? "" : std::to_string(value), out))
    return why = "a comment stands in its place", std::vector<Edit>{};
  return out;
}

std::optional<MoveInstance> TritonLoopOption::inverse(const MoveContext& context,
                                                      const MoveInstance& done) const {
  if (!not_triton(context.spec).empty()) return std::nullopt;
  const TritonKernel kernel(context);
  std::size_t loop = 0;
  const Node* const range = kernel.problem().empty() ? range_at(kernel, done.site, loop) : nullptr;
  // range() stays tl.range() once it has been one
  if (range == nullptr || range->is_call_of("range")) return std::nullopt;
  const auto value = value_of_option(*range, keyword_);
  if (!value || std::ranges::find(domain_, *value) == domain_.end()) return std::nullopt;
  return MoveInstance{done.move, done.site, {{std::string(keyword_), *value}}};
}

}  // namespace warpath
