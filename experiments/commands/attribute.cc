#include <cstdio>
#include <nlohmann/json.hpp>

#include "engine/base/error.h"
#include "engine/run/run_identity.h"
#include "experiments/console/option_layers.h"
#include "experiments/evaluate/attributing.h"
#include "experiments/evaluate/evaluation_report.h"
#include "experiments/evaluate/evaluation_setup.h"
#include "experiments/setup/option_groups.h"
#include "register_commands.h"

namespace warpath {
namespace {

/// A line a move, with what is common to all in each.
void write_lines(const Attribution& attribution, const std::string& file) {
  LineFile lines(file);
  nlohmann::json whole = to_json(attribution);
  const nlohmann::json moves = std::move(whole.at("moves"));
  whole.erase("moves");
  for (nlohmann::json line : moves) {
    line.update(whole);
    lines.append(line.dump());
  }
}

int attribute_command_main(const Arguments& arguments, const Program& program) {
  AttributionRequest request{.folder = arguments.words()[0], .runner = {}, .options = {}};
  const auto recorded = recorded_config(request.folder, default_options());
  if (!recorded) throw bad_input(request.folder.string(), "", "a run folder: OUTDIR/kernels/NAME");
  const Plugins plugins;
  request.options = apply_layers(recorded->options, arguments);
  request.runner = choose_runner(arguments.value("runner").value_or(recorded->runner_text),
                                 plugins.runners, request.options);
  show_notice(request.runner, plugins.runners);
  if (arguments.words().size() > 1) request.node = arguments.words()[1];
  if (const auto repeat = arguments.value("repeat"))
    request.repeat = static_cast<int>(parse_count(*repeat, "--repeat"));
  if (const auto stage = arguments.value("stage")) request.stage = parse_stage(*stage, "--stage");
  request.code = arguments.value("code");
  const InterruptWatch interrupts;
  const auto attribution = attribute_run(request, plugins, program, interrupts);
  if (!attribution) {
    std::fputs("warpath: stopped before every variant was measured; nothing was written\n", stderr);
    return static_cast<int>(ErrorCode::environment);
  }
  std::printf("%s", attribution_table(*attribution).c_str());
  if (const auto file = arguments.value("json")) write_lines(*attribution, *file);
  return 0;
}

}  // namespace

void register_command_attribute(CommandRegistry& registry) {
  std::vector<Flag> flags{
      {.name = "repeat", .value = "N", .help = "evaluations of each variant (3)"},
      {.name = "stage",
       .value = "NAME",
       .help = "screening, confirmation or final: how thoroughly each variant is judged "
               "(confirmation)"},
      {.name = "code",
       .value = "ARCH|none",
       .help = "look at the code for this architecture, and let it decide what is not realised "
               "(the device's; without a GPU sm_90a, for evidence alone)"},
      {.name = "json", .value = "FILE", .help = "one JSON line a move"},
      {.name = "runner", .value = "NAME[:ARG]", .help = "another runner than the run's"}};
  for (Flag& flag : option_flags()) flags.push_back(std::move(flag));
  registry.push_back(
      {.name = "attribute",
       .usage = "RUN [NODE] [FLAGS]",
       .help = "what each move on the way to a run's best kernel is worth: the path without it, "
               "timed in turn with the kernel, and the code it led to",
       .flags = std::move(flags),
       .least_words = 1,
       .most_words = 2,
       .run = attribute_command_main});
}

}  // namespace warpath
