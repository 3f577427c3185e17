#include "experiments/report/source_report.h"

#include <algorithm>
#include <cstdio>
#include <filesystem>
#include <fstream>
#include <iterator>

#include "engine/base/error.h"
#include "engine/base/format.h"
#include "engine/base/stopwatch.h"
#include "moves/model/facts.h"
#include "moves/syntax/syntax_query.h"

namespace warpath {
namespace {

struct Totals {
  std::size_t files = 0;
  std::size_t bytes = 0;
  std::size_t kernels = 0;
  std::size_t clear_kernels = 0;
  double parse_seconds = 0;
  double facts_seconds = 0;

  [[nodiscard]] double megabytes_in(double seconds) const {
    return seconds > 0 ? static_cast<double>(bytes) * 1e-6 / seconds : 0;
  }
};

std::string read_text(const std::string& file) {
  std::ifstream in(file, std::ios::binary);
  if (!in || std::filesystem::is_directory(file))
    throw bad_input("inspect", file, "a readable file");
  std::string text{std::istreambuf_iterator<char>(in), std::istreambuf_iterator<char>()};
  if (in.bad()) throw bad_input("inspect", file, "a readable file");
  return text;
}

std::string shortened(std::string text) {
  constexpr std::size_t kLongest = 96;
  if (text.size() > kLongest) text = text.substr(0, kLongest) + " ...";
  return text;
}

std::string names(const std::vector<const model::Loop*>& loops) {
  std::string out;
  for (const model::Loop* loop : loops)
    out += (out.empty() ? "" : ", ") + (loop->counted ? loop->variable : std::string("?"));
  return out;
}

void print_loop(const model::KernelFacts& facts, const model::Loop& loop) {
  const std::string indent(4 + 2 * static_cast<std::size_t>(loop.depth), ' ');
  std::string range = "not counted";
  if (loop.counted)
    range = loop.variable + " = " + loop.first.text() + " to " + loop.end.text() + " by " +
            loop.step.text();
  std::string kind(model::name(loop.kind));
  for (const model::Reduction& reduction : loop.reductions)
    kind += " " + std::string(model::name(reduction.op)) + " into " + reduction.accumulator;
  if (!loop.reason.empty()) kind += ": " + loop.reason;
  std::printf("%sloop at line %zu: %s; %s%s\n", indent.c_str(),
              line_of(*facts.unit, loop.stmt->span.begin), range.c_str(), kind.c_str(),
              loop.thread_axis >= 0 ? (loop.thread_axis < 3 ? "; over the block's threads"
                                                            : "; over the grid's threads")
                                    : "");
}

void print_facts(const model::KernelFacts& facts) {
  for (const model::ThreadIndex& index : facts.thread_indices) {
    std::printf("    index %s = %s%s\n", index.name.c_str(), index.value.text().c_str(),
                index.bound ? (", below " + index.bound->text()).c_str() : "");
  }
  for (const auto& loop : facts.loops) print_loop(facts, *loop);
  for (const model::Access& access : facts.accesses) {
    const model::Array& array = facts.arrays[static_cast<std::size_t>(access.array)];
    std::string line =
        std::string(model::name(access.kind)) + " " + array.name + "[" + access.index.text() + "]";
    if (access.vector_width > 1) line += " x" + std::to_string(access.vector_width);
    if (!access.loops.empty()) line += " in " + names(access.loops);
    if (!access.guards.empty()) line += ", guards: " + std::to_string(access.guards.size());
    std::printf("    line %zu: %s\n", line_of(*facts.unit, access.expr->span.begin), line.c_str());
  }
  if (!facts.veto.empty()) std::printf("    veto: %s\n", facts.veto.c_str());
}

void print_file(const std::string& file, Totals& totals) {
  std::string text = read_text(file);
  totals.bytes += text.size();
  ++totals.files;
  const Stopwatch parsing;
  const model::Unit unit = model::parse(std::move(text));
  totals.parse_seconds += parsing.seconds();
  std::printf("%s\n", file.c_str());
  for (const model::HiddenKernel& hidden : model::hidden_kernels(unit)) {
    std::printf("  kernel %s is left out by the condition of line %zu\n", hidden.name.c_str(),
                line_of(unit, hidden.condition.begin));
  }
  for (const model::Function* function : unit.functions()) {
    const bool declaration = function->body == nullptr && function->opaque.empty();
    if (!function->is_global || declaration) continue;
    ++totals.kernels;
    if (function->opaque.empty()) ++totals.clear_kernels;
    std::printf("  kernel %s (line %zu)%s\n", std::string(function->name).c_str(),
                line_of(unit, function->span.begin),
                function->unresolved_conditionals ? ", with conditions that are not known" : "");
    for (const model::Span span : function->opaque) {
      std::printf("    opaque, line %zu: %s\n", line_of(unit, span.begin),
                  shortened(unit.plain_text(span)).c_str());
    }
    if (function->body == nullptr) continue;
    const Stopwatch analysing;
    const model::KernelFacts facts = model::analyse(unit, *function, {.parameters_apart = true});
    totals.facts_seconds += analysing.seconds();
    print_facts(facts);
  }
}

}  // namespace

void print_source_reports(std::span<const std::string> files) {
  Totals totals;
  for (const std::string& file : files) print_file(file, totals);
  const double share = totals.kernels == 0 ? 1
                                           : static_cast<double>(totals.clear_kernels) /
                                                 static_cast<double>(totals.kernels);
  std::printf(
      "%zu files, %zu kernels, %zu without opaque span (%s), parsed at %.1f MB/s, with the "
      "facts of the kernels %.1f\n",
      totals.files, totals.kernels, totals.clear_kernels, percent_text(share, 2).c_str(),
      totals.megabytes_in(totals.parse_seconds),
      totals.megabytes_in(totals.parse_seconds + totals.facts_seconds));
}

}  // namespace warpath
