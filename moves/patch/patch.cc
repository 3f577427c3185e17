#include "moves/patch/patch.h"

#include "moves/patch/patch_forms.h"

namespace warpath {
namespace {

using patch::Lines;

bool is_fence(const std::string& line) {
  return line.starts_with("```");
}

/// The lines between the two fences where a text has exactly two, with nothing but prose around
/// them; else all lines.
Lines without_fence(Lines lines) {
  std::size_t fences = 0, first = 0, last = 0;
  for (std::size_t i = 0; i < lines.size(); ++i) {
    if (!is_fence(lines[i])) continue;
    if (fences++ == 0) first = i;
    last = i;
  }
  if (fences != 2) return lines;
  return {lines.begin() + static_cast<std::ptrdiff_t>(first) + 1,
          lines.begin() + static_cast<std::ptrdiff_t>(last)};
}

PatchForm form_of(const Lines& lines) {
  for (std::size_t i = 0; i < lines.size(); ++i) {
    if (patch::begins_block(lines[i])) return PatchForm::blocks;
    if (lines[i].starts_with("@@ -")) return PatchForm::unified;
    if (lines[i].starts_with("--- ") && i + 1 < lines.size() && lines[i + 1].starts_with("+++ "))
      return PatchForm::unified;
  }
  return PatchForm::whole;
}

/// What a kernel begins with in the language of `source`.
std::string kernel_mark(std::string_view source) {
  for (const std::string_view mark : {"__global__", "@triton.jit", ".entry"}) {
    if (source.find(mark) != std::string_view::npos) return std::string(mark);
  }
  return "__global__";
}

std::optional<patch::LineText> apply_whole(const patch::LineText& source,
                                           const std::string& mark,
                                           Lines lines,
                                           std::string& why) {
  bool has_kernel = false;
  for (const std::string& line : lines)
    has_kernel = has_kernel || line.find(mark) != std::string::npos;
  if (!has_kernel)
    return why = "neither a source with a " + mark +
                 " function, nor SEARCH/REPLACE blocks, nor a unified diff",
           std::nullopt;
  patch::LineText out{.lines = std::move(lines), .end = source.end};
  return out;
}

}  // namespace

PatchForm patch_form(std::string_view text) {
  return form_of(without_fence(patch::split_lines(text)));
}

std::optional<std::string> apply_patch(std::string_view source,
                                       std::string_view text,
                                       std::string& why) {
  if (text.size() > kMaxPatchBytes) return why = "a patch of more than 1 MiB", std::nullopt;
  Lines lines = without_fence(patch::split_lines(text));
  const patch::LineText before = patch::LineText::of(source);
  std::optional<patch::LineText> after;
  switch (form_of(lines)) {
    case PatchForm::whole:
      after = apply_whole(before, kernel_mark(source), std::move(lines), why);
      break;
    case PatchForm::blocks:
      after = patch::apply_blocks(before, lines, why);
      break;
    case PatchForm::unified:
      after = patch::apply_unified(before, lines, why);
      break;
  }
  if (!after) return std::nullopt;
  std::string out = after->text();
  if (out == source) return why = "it changes nothing", std::nullopt;
  return out;
}

}  // namespace warpath
