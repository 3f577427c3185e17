#include <algorithm>
#include <cstdio>
#include <sstream>

#include "engine/base/error.h"
#include "moves/propose/example.h"
#include "moves/propose/move_script.h"
#include "moves/syntax/syntax_query.h"
#include "register_commands.h"
#include "register_moves.h"

namespace warpath {
namespace {

constexpr std::size_t kMostValues = 12;

/// "4, 8, 16"; of many the first ones and the last.
std::string values_text(const std::vector<std::int64_t>& values) {
  std::string out;
  for (std::size_t i = 0; i < values.size(); ++i) {
    if (values.size() > kMostValues && i == kMostValues - 2) {
      out += ", ...";
      i = values.size() - 1;
    }
    out += (out.empty() ? "" : ", ") + std::to_string(values[i]);
  }
  return out;
}

std::string indented(const std::string& text) {
  std::istringstream lines(text);
  std::string out;
  for (std::string line; std::getline(lines, line);)
    out += line.empty() ? "\n" : "      " + line + "\n";
  return out;
}

/// The parameters of the move on its example: those of its domain, then those with a single value.
void print_parameters(const ExampleResult& result) {
  for (const Tunable& parameter : result.domain) {
    std::printf("    %s: %s%s%s\n", parameter.name.c_str(), values_text(parameter.values).c_str(),
                parameter.help.empty() ? "" : "; ", parameter.help.c_str());
  }
  for (const auto& [name, value] : result.instance.parameters) {
    if (std::ranges::find(result.domain, name, &Tunable::name) == result.domain.end()) {
      std::printf("    %s: chosen by the listed instances, here %lld\n", name.c_str(),
                  static_cast<long long>(value));
    }
  }
}

void print_example(const Move& move, const MoveTable& moves, bool brief) {
  const auto examples = embedded_examples();
  const auto found = std::ranges::find(examples, move.name(), &EmbeddedExample::move);
  if (found == examples.end()) return;
  const MoveExample example =
      parse_example(found->text, "moves/examples/" + std::string(move.name()) + ".txt");
  const ExampleResult result = run_example(example, moves);
  print_parameters(result);
  if (brief) return;
  std::printf("    before\n%s    %s\n%s", indented(result.before.source).c_str(),
              result.instance.text().c_str(), indented(result.after.source).c_str());
  if (!result.terms.empty())
    std::printf("    beside the source\n%s", indented(result.terms).c_str());
}

int print_moves(const Arguments& arguments, const Program&) {
  const MoveRegistry& registry = registered_moves();
  const MoveTable table(registry);
  std::vector<std::string> names = arguments.words();
  for (const std::string& name : names) {
    if (!registry.contains(name))
      throw bad_input("warpath moves", name, "a move: one of " + registry.names());
  }
  if (names.empty()) names = table.names();
  for (const std::string& name : names) {
    const Move& move = *table.find(name);
    std::printf("%s\n    %s\n", name.c_str(), registry.entries().at(name).help.c_str());
    print_example(move, table, arguments.has("brief"));
    std::printf("\n");
  }
  return 0;
}

}  // namespace

void register_command_moves(CommandRegistry& registry) {
  registry.push_back(
      {.name = "moves",
       .usage = "[MOVE...] [--brief]",
       .help =
           "the moves that a search may make: other names, parameters, an example before and after",
       .flags = {{.name = "brief",
                  .value = "",
                  .help = "without the examples' sources",
                  .takes = Flag::Takes::nothing}},
       .most_words = 64,
       .run = print_moves});
}

}  // namespace warpath
