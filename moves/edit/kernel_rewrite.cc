#include "moves/edit/kernel_rewrite.h"

#include <algorithm>

#include "engine/text/source_edit.h"
#include "moves/syntax/syntax_query.h"

namespace warpath {

std::string with_kernel_text(const model::Unit& unit,
                             const model::Function& kernel,
                             const KernelText& text) {
  const std::string_view source = unit.source();
  const model::Span body = kernel.body->span;
  const std::size_t before = model::whole_lines(unit, kernel.span, true).begin;
  const std::string bounds = "__launch_bounds__(" + text.launch_bounds + ")";
  std::vector<Edit> edits;
  edits.push_back({before, before, text.helpers + "\n"});
  edits.push_back(
      {body.begin + 1, body.end - 1, "\n" + model::indented(text.body, model::indent_unit(unit))});
  if (kernel.launch_bounds.empty()) {
    edits.push_back({kernel.name_span.begin, kernel.name_span.begin, bounds + " "});
  } else {
    edits.push_back({kernel.launch_bounds.begin, kernel.launch_bounds.end, bounds});
  }
  return edited(source, std::move(edits));
}

}  // namespace warpath
