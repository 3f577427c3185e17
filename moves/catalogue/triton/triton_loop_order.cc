#include <algorithm>
#include <optional>

#include "moves/edit/loop_site.h"
#include "moves/edit/span_rewrite.h"
#include "moves/triton/triton_bounds.h"
#include "moves/triton/triton_elements.h"
#include "moves/triton/triton_loop_body.h"
#include "moves/triton/triton_loop_option.h"
#include "moves/triton/triton_move.h"
#include "register_moves.h"

namespace warpath {
namespace {

using python::Node;
using python::NodeKind;
using python::Statement;
using python::StatementKind;

/// Values of `order`.
constexpr std::int64_t kFromTheEnd = 1, kExchanged = 2;

/// Text that stands as an operand.
std::string operand_text(const TritonKernel& kernel, const Node& node) {
  const bool plain =
      node.is(NodeKind::name) || node.is(NodeKind::number) || node.is(NodeKind::call);
  const std::string text(kernel.text().text(node.span));
  return plain ? text : "(" + text + ")";
}

/// range(begin, end, step) as texts, each an operand; counted from the end or not.
struct CountedRange {
  std::string begin, end, step;
  bool from_the_end = false;

  /// What stands between the parentheses.
  [[nodiscard]] std::string text(const TritonKernel& kernel) const {
    if (!from_the_end) return begin + ", " + end + (step == "1" ? "" : ", " + step);
    const std::string length = begin == "0" ? end : end + " - " + begin,
                      stop = begin == "0" ? "-1" : begin + " - 1";
    if (step == "1") return end + " - 1, " + stop + ", -1";
    const std::string last =
        "(" + kernel.of_language("cdiv") + "(" + length + ", " + step + ") - 1) * " + step;
    return (begin == "0" ? last : begin + " + " + last) + ", " + stop + ", -" + step;
  }
};

bool names_an_end(const Node& range) {
  return std::ranges::any_of(
      std::initializer_list<std::string_view>{"arg1", "arg2", "step"},
      [&](std::string_view keyword) { return range.argument(keyword) != nullptr; });
}

std::size_t ends_of(const Node& range) {
  std::size_t ends = 0;
  while (range.argument(ends) != nullptr) ++ends;
  return ends;
}

/// The span of the positional arguments.
python::Span ends_span(const Node& range) {
  return {range.argument(std::size_t{0})->outer.begin,
          range.argument(ends_of(range) - 1)->outer.end};
}

/// One that CountedRange writes from the end.
std::optional<CountedRange> read_from_the_end(const TritonKernel& kernel, const Node& range) {
  const Node &start = *range.argument(std::size_t{0}), &stop = *range.argument(std::size_t{1}),
             &step = *range.argument(std::size_t{2});
  if (!step.is(NodeKind::unary) || step.text != "-") return std::nullopt;
  const auto text = [&](const Node& node) { return std::string(kernel.text().text(node.outer)); };
  CountedRange out{.begin = "0", .end = "", .step = text(*step.children[0]), .from_the_end = true};
  if (text(stop) != "-1") {
    if (!stop.is(NodeKind::binary)) return std::nullopt;
    out.begin = text(*stop.children[0]);
  }
  const Node* length = nullptr;
  python::walk(start, [&](const Node& node) {
    if (length == nullptr && kernel.calls(node, "cdiv") && node.children.size() == 2)
      length = node.children[0].get();
  });
  if (out.step == "1" && start.is(NodeKind::binary)) length = start.children[0].get();
  if (length == nullptr) return std::nullopt;
  const bool whole = out.step == "1" || out.begin == "0";
  if (!whole && !length->is(NodeKind::binary)) return std::nullopt;
  out.end = text(whole ? *length : *length->children[0]);
  const std::string written(kernel.text().text(ends_span(range)));
  return out.text(kernel) == written ? std::optional(out) : std::nullopt;
}

std::optional<CountedRange> read_range(const TritonKernel& kernel, const Node& range) {
  const std::size_t ends = ends_of(range);
  if (ends == 0 || ends > 3 || names_an_end(range)) return std::nullopt;
  const auto operand = [&](std::size_t i) { return operand_text(kernel, *range.argument(i)); };
  if (ends == 3 && range.argument(std::size_t{2})->is(NodeKind::unary))
    return read_from_the_end(kernel, range);
  return CountedRange{.begin = ends == 1 ? "0" : operand(0),
                      .end = operand(ends == 1 ? 0 : 1),
                      .step = ends == 3 ? operand(2) : "1"};
}

/// The order of iterations: a loop from its end, so that what the loop before it touched last comes
/// first and is in a cache still; or two loops, one directly in the other, exchanged. Sums that
/// they hand on are rounded in another order.
class TritonLoopOrder final : public TritonMove {
 public:
  [[nodiscard]] std::string_view name() const override { return "triton_loop_order"; }

  [[nodiscard]] std::optional<MoveInstance> inverse(const MoveContext& context,
                                                    const MoveInstance& done) const override {
    if (!not_triton(context.spec).empty()) return std::nullopt;
    const TritonKernel kernel(context);
    const auto loop = kernel.problem().empty() ? loop_at(kernel, done.site) : std::nullopt;
    if (!loop) return std::nullopt;
    if (done.parameters.at("order") == kExchanged)
      return inner_of(kernel, *loop) == *loop + 1 ? std::optional(done) : std::nullopt;
    const Node& range = *kernel.statement(*loop).value;
    const auto ends = read_range(kernel, range);
    return ends && kernel.text().text(ends_span(range)) == ends->text(kernel) ? std::optional(done)
                                                                              : std::nullopt;
  }

 private:
  [[nodiscard]] std::vector<Tunable> parameters(std::string_view site) const override {
    if (!is_loop_site(site)) return {};
    return {Tunable{"order",
                    {kFromTheEnd, kExchanged},
                    kFromTheEnd,
                    "1: from the end; 2: exchanged with the loop within"}};
  }

  [[nodiscard]] std::vector<MoveInstance> candidates(const MoveContext&,
                                                     const TritonKernel& kernel) const override {
    std::vector<MoveInstance> out;
    for (std::size_t i = 0; i < kernel.loops().size(); ++i) {
      for (const std::int64_t order : {kFromTheEnd, kExchanged})
        out.push_back({std::string(name()), loop_site(i), {{"order", order}}});
    }
    return out;
  }

  [[nodiscard]] std::vector<Edit> edits(const MoveContext& context,
                                        const TritonKernel& kernel,
                                        const MoveInstance& wanted,
                                        std::string& why) const override {
    const auto loop = loop_at(kernel, wanted.site);
    if (!loop) return why = "no loop over range() at " + wanted.site, std::vector<Edit>{};
    why = loads_what_it_stores(context, kernel, *loop);
    if (why.empty()) why = hands_values_on(kernel, *loop);
    for (const TritonAccess& access : kernel.accesses()) {
      if (why.empty() && kernel.text().is_within(access.statement, *loop) &&
          access.call->argument("volatile") != nullptr)
        why = "an access is volatile";
    }
    if (!why.empty()) return {};
    return wanted.parameters.at("order") == kFromTheEnd ? reversed(context, kernel, *loop, why)
                                                        : exchanged(kernel, *loop, why);
  }

  static std::optional<std::size_t> loop_at(const TritonKernel& kernel, std::string_view site) {
    for (std::size_t i = 0; i < kernel.loops().size(); ++i) {
      if (loop_site(i) == site) return kernel.loops()[i];
    }
    return std::nullopt;
  }

  static std::vector<Edit> reversed(const MoveContext& context,
                                    const TritonKernel& kernel,
                                    std::size_t loop,
                                    std::string& why) {
    why = not_innermost(kernel, loop);
    if (!why.empty()) return {};
    const Node& range = *kernel.statement(loop).value;
    auto ends = read_range(kernel, range);
    const python::Span span = ends ? ends_span(range) : python::Span{};
    if (!ends || kernel.text().text(span).find('#') != std::string_view::npos)
      return why = "its range is of another form", std::vector<Edit>{};
    const Node* step = range.argument(std::size_t{2});
    if (ends->from_the_end) step = step->children[0].get();
    bool repeats = ends->from_the_end;
    for (const Workload* const workload : workloads_of(context)) {
      TritonBounds bounds(kernel, context, *workload);
      if (!is_positive_constant(kernel, bounds, step))
        return why = "its step is no positive constant", std::vector<Edit>{};
      if (ends->from_the_end) continue;
      const auto begin = ends_of(range) == 1 ? std::nullopt
                                             : bounds.of(*range.argument(std::size_t{0})),
                 end = bounds.of(
                     *range.argument(ends_of(range) == 1 ? std::size_t{0} : std::size_t{1}));
      if (!end || (ends_of(range) > 1 && !begin) || !bounds.conditions().empty())
        return why = "its range is not followed", std::vector<Edit>{};
      const std::int64_t length = end->greatest.value - (begin ? begin->least.value : 0);
      repeats = repeats || length > (step == nullptr ? 1 : bounds.of(*step)->least.value);
    }
    if (!repeats) return why = "it has one iteration", std::vector<Edit>{};
    why = stores_again(context, kernel, loop, ends->step);
    if (!why.empty()) return {};
    ends->from_the_end = !ends->from_the_end;
    return {{span.begin, span.end, ends->text(kernel)}};
  }

  /// For all values of tunables; null is 1.
  static bool is_positive_constant(const TritonKernel& kernel,
                                   TritonBounds& bounds,
                                   const Node* step) {
    if (step == nullptr) return true;
    const bool constant =
        step->is(NodeKind::number) || (step->is(NodeKind::name) && kernel.is_constant(step->text));
    const auto value = constant ? bounds.of(*step) : std::nullopt;
    return value && bounds.is_at_least(value->least, 1) && bounds.conditions().empty();
  }

  /// Two iterations store to the same element, as far as is known: the later one's value stays.
  static std::string stores_again(const MoveContext& context,
                                  const TritonKernel& kernel,
                                  std::size_t loop,
                                  std::string_view step) {
    std::vector<const ArgSpec*> stored;
    for (const TritonAccess& access : kernel.accesses()) {
      if (!access.store || !kernel.text().is_within(access.statement, loop)) continue;
      if (std::ranges::find(stored, access.argument) != stored.end() ||
          !has_own_elements(context, kernel, access, loop, step))
        return "two iterations may store to the same element";
      if (!context.spec.io.may_alias.empty() && !stored.empty()) return "what it stores may alias";
      stored.push_back(access.argument);
    }
    return "";
  }

  /// The loop that stands in the loop's body as its last statement.
  static std::optional<std::size_t> inner_of(const TritonKernel& kernel, std::size_t loop) {
    for (const std::size_t at : body_of(kernel, loop)) {
      if (kernel.statement(at).kind == StatementKind::loop) return at;
    }
    return std::nullopt;
  }

  static std::vector<Edit> exchanged(const TritonKernel& kernel,
                                     std::size_t loop,
                                     std::string& why) {
    const auto found = inner_of(kernel, loop);
    if (!found) return why = "no loop stands in it", std::vector<Edit>{};
    const std::size_t inner = *found;
    if (std::ranges::find(kernel.loops(), inner) == kernel.loops().end())
      return why = "the loop in it is over no range()", std::vector<Edit>{};
    why = not_innermost(kernel, inner);
    if (!why.empty()) return {};
    for (const TritonAccess& access : kernel.accesses()) {
      if (!kernel.text().is_within(access.statement, loop)) continue;
      if (access.store) return why = "it stores", std::vector<Edit>{};
      if (access.statement < inner) return why = "a load stands between them", std::vector<Edit>{};
    }
    for (std::size_t at = loop + 1; at < inner; ++at) {
      if (kernel.statement(at).kind != StatementKind::assign || goes_on(kernel.statement(at)))
        return why = "a sum stands between them", std::vector<Edit>{};
    }
    bool depends = false;
    visit_names(*kernel.statement(inner).value, [&](std::string_view name) {
      for (const std::size_t at : kernel.definitions(name))
        depends = depends || at == loop || kernel.text().is_within(at, loop);
    });
    if (depends)
      return why = "the range of the inner loop depends on the outer", std::vector<Edit>{};
    const Statement &first = kernel.statement(loop), &second = kernel.statement(inner),
                    &body = kernel.statement(inner + 1);
    const python::Text& text = kernel.text();
    if (body.line == second.line || second.line == first.line || body.indent <= second.indent)
      return why = "a loop stands on one line", std::vector<Edit>{};
    std::vector<Edit> out{{first.span.begin, first.span.end, std::string(text.text(second.span))},
                          {second.span.begin, second.span.end, std::string(text.text(first.span))}};
    if (inner == loop + 1) return out;
    // what stands between them is computed in each iteration of both
    const std::size_t begin = kernel.statement(loop + 1).line;
    const std::string_view between = text.text({begin, second.line});
    out.push_back({begin, second.line, ""});
    out.push_back({body.line, body.line, indented_by(between, body.indent - second.indent)});
    return out;
  }

  /// It reads what it gives a value.
  static bool goes_on(const Statement& one) {
    bool found = false;
    visit_names(*one.value, [&](std::string_view name) {
      found = found || std::ranges::find(one.targets, name) != one.targets.end();
    });
    return found;
  }

  static std::string indented_by(std::string_view lines, std::size_t blanks) {
    std::string out;
    while (!lines.empty()) {
      const std::size_t end = std::min(lines.find('\n'), lines.size() - 1) + 1;
      const std::string_view line = lines.substr(0, end);
      if (line.find_first_not_of(" \n") != std::string_view::npos) out += std::string(blanks, ' ');
      out += line;
      lines.remove_prefix(end);
    }
    return out;
  }
};

}  // namespace

void register_move_triton_loop_order(MoveRegistry& registry) {
  registry.add("triton_loop_order", "walk a loop in Triton from its end, or exchange two loops",
               [] { return std::make_unique<TritonLoopOrder>(); });
}

}  // namespace warpath
