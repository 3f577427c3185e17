#include <algorithm>
#include <cstdio>
#include <map>
#include <nlohmann/json.hpp>

#include "engine/base/error.h"
#include "engine/base/format.h"
#include "engine/base/statistics.h"
#include "engine/run/record.h"
#include "experiments/console/table_text.h"
#include "experiments/report/graph_file.h"
#include "experiments/report/portfolio_report.h"
#include "experiments/report/profile_report.h"
#include "experiments/report/region_report.h"
#include "experiments/report/run_json.h"
#include "experiments/report/source_report.h"
#include "experiments/setup/recorded_run.h"
#include "experiments/setup/served_sizes.h"
#include "moves/contract/contract_text.h"
#include "moves/contract/source_contract.h"
#include "priors/evidence/findings.h"
#include "register_commands.h"

namespace warpath {
namespace {

constexpr std::size_t kShownNodes = 10;

std::string speedup_text(const RecordedNode& node) {
  if (!node.outcome) return "in flight";
  return node.speedup > 0 ? ratio_text(node.speedup) : std::string(name(node.outcome->status));
}

/// As timed again at the end of the search.
std::string final_text(const RecordedNode& node) {
  if (!node.timed_again) return "-";
  return node.final_speedup > 0 ? ratio_text(node.final_speedup) : "refused";
}

void print_summary(const RecordedRun& run) {
  std::printf("%s: %s runner, seed %llu\n", run.run().name.c_str(), run.run().runner.c_str(),
              static_cast<unsigned long long>(run.run().seed));
  std::map<std::string, int> by_status;
  for (const RecordedNode& node : run.nodes())
    ++by_status[node.outcome ? std::string(name(node.outcome->status)) : "in flight"];
  std::printf("%zu nodes:", run.nodes().size());
  const char* separator = " ";
  for (const auto& [status, count] : by_status) {
    std::printf("%s%d %s", separator, count, status.c_str());
    separator = ", ";
  }
  std::vector<std::vector<std::string>> rows{{"key", "speed-up", "final", "parent", "move"}};
  const auto ranking = run.ranking();
  for (std::size_t i = 0; i < std::min(kShownNodes, ranking.size()); ++i) {
    const RecordedNode& node = run.nodes()[ranking[i]];
    const std::string parent =
        node.parent == kNoNode ? "-" : run.nodes()[index(node.parent)].key.short_hex();
    rows.push_back({node.key.short_hex(), speedup_text(node), final_text(node), parent, node.move});
  }
  std::printf("\n\n%s", aligned_text(rows).c_str());
}

/// What runs each size under a node; nothing for a spec with one workload on the device.
void print_sizes(const RecordedRun& run, std::size_t id) {
  const std::vector<ServedSize> sizes = served_sizes(run, id);
  if (sizes.size() > 1)
    std::printf("\nsizes\n%s", aligned_text(size_rows(sizes, run.variant(id))).c_str());
}

/// The gates that took longest: ": sanitizer 3.1 s, delays 0.2 s"; empty if none took a hundredth
/// of a second.
std::string longest_gates_text(const Verdict& verdict) {
  constexpr std::size_t kMost = 6;
  constexpr double kLeastSeconds = 0.01;
  std::vector<std::pair<double, std::string>> longest;
  for (const GateResult& gate : verdict.gates) {
    if (gate.seconds >= kLeastSeconds) longest.emplace_back(-gate.seconds, gate.gate);
  }
  std::ranges::sort(longest);
  if (longest.size() > kMost) longest.resize(kMost);
  std::string text;
  for (const auto& [negative, gate] : longest)
    text += (text.empty() ? ": " : ", ") + gate + format(" %.2f s", -negative);
  return text;
}

void print_outcome(const Outcome& outcome) {
  std::printf("status    %s\n", std::string(name(outcome.status)).c_str());
  std::printf("verdict   %s\n", outcome.verdict.summary().c_str());
  for (const WorkloadTiming& timing : outcome.timings) {
    std::printf("time      %s: %s ms, median of %zu samples (%s)\n", timing.workload.c_str(),
                ms_text(median(timing.samples_ns) * 1e-6).c_str(), timing.samples_ns.size(),
                timing.cache.c_str());
  }
  std::printf("spent     compile %.3f s, run %.3f s%s\n", outcome.compile_seconds,
              outcome.run_seconds, longest_gates_text(outcome.verdict).c_str());
  std::printf("%s%s", findings_text(outcome, "          ").c_str(),
              unjudged_text(outcome, "          ").c_str());
  if (!outcome.log.empty()) std::printf("log       %s\n", outcome.log.c_str());
}

/// "for N = 512: "; empty for a kernel without versions.
std::string version_prefix(const std::vector<const Variant*>& kernels, std::size_t i) {
  return kernels.size() == 1 ? "" : "for " + condition_text(kernels[i]->when) + ": ";
}

void print_node(const RecordedRun& run, std::size_t id) {
  const RecordedNode& node = run.nodes()[id];
  std::printf("key       %s\nspeed-up  %s\n", node.key.hex().c_str(), speedup_text(node).c_str());
  if (node.timed_again) std::printf("final     %s\n", final_text(node).c_str());
  if (!node.proposer.empty()) std::printf("proposer  %s\n", node.proposer.c_str());
  std::printf("path\n");
  for (const std::size_t i : run.path(id)) {
    const RecordedNode& step = run.nodes()[i];
    std::printf("  %s  %-10s %s\n", step.key.short_hex().c_str(), speedup_text(step).c_str(),
                step.move.c_str());
  }
  if (node.outcome) print_outcome(*node.outcome);
  const Variant variant = run.variant(id);
  if (node.parent != kNoNode) {
    std::printf("\ndiff to the parent\n%s",
                variant_diff(run.variant(index(node.parent)), variant).c_str());
  }
  print_sizes(run, id);
  const std::vector<const Variant*> kernels = kernels_of(variant);
  if (node.parent != kNoNode) {
    const auto contracts = source_contracts(run.spec(), run.device(), variant);
    for (std::size_t i = 0; i < kernels.size(); ++i) {
      std::printf("\n%srelies on\n", version_prefix(kernels, i).c_str());
      for (const std::string& line : contract_lines(contracts[i]))
        std::printf("  %s\n", line.c_str());
    }
  }
  std::printf("\nterms\n%s", terms_text(variant).c_str());
  for (std::size_t i = 0; i < kernels.size(); ++i)
    std::printf("\n%ssource\n%s\n", version_prefix(kernels, i).c_str(), kernels[i]->source.c_str());
}

/// A subject and the flags that apply to it; other flags are refused.
struct Subject {
  std::string flag;
  std::vector<Flag> flags;
  bool of_run = false;
};
std::vector<Subject> subjects() {
  return {{"parse", {}},
          {"regions", region_flags()},
          {"ncu", profile_flags()},
          {"graph", graph_flags(), true}};
}

/// The subject that a flag names, "" for a run or a node of it. Throws Error(bad_input) where words
/// or flags belong to another one.
std::string subject_of(const Arguments& arguments) {
  std::string wanted;
  for (const Subject& subject : subjects()) {
    if (!arguments.has(subject.flag)) continue;
    if (!wanted.empty())
      throw bad_input("warpath inspect", "--" + wanted + " and --" + subject.flag, "one of them");
    wanted = subject.flag;
  }
  for (const Subject& subject : subjects()) {
    for (const Flag& flag : subject.flags) {
      if (subject.flag != wanted && flag.name != wanted && arguments.has(flag.name))
        throw bad_input("warpath inspect", "--" + flag.name,
                        "it beside --" + subject.flag + " alone");
    }
    if (subject.flag != wanted) continue;
    const std::size_t most_words = subject.of_run ? 1 : 0;
    if (arguments.words().size() > most_words)
      throw bad_input("warpath inspect", arguments.words()[most_words],
                      subject.of_run ? "RUN --" + wanted + " FILE; --around NODE for a part"
                                     : "--" + wanted + " alone, without a run");
  }
  if (arguments.has("json") && !wanted.empty() && wanted != "ncu")
    throw bad_input("warpath inspect", "--json", "it beside RUN [NODE] or --ncu FILE");
  return wanted;
}

void print_json(const RecordedRun& run, const std::vector<std::string>& words) {
  const nlohmann::json shown =
      words.size() == 1 ? run_json(run) : node_json(run, run.find(words[1]));
  std::printf("%s\n", shown.dump(1).c_str());
}

int inspect(const Arguments& arguments, const Program&) {
  const std::string subject = subject_of(arguments);
  if (subject == "parse") print_source_reports(arguments.values("parse"));
  if (subject == "regions") print_regions(arguments);
  if (subject == "ncu") print_profile(arguments);
  if (!subject.empty() && subject != "graph") return 0;
  if (arguments.words().empty())
    throw bad_input("warpath inspect", "no RUN",
                    "RUN [NODE], RUN --graph FILE, --parse FILE..., --regions FILE or --ncu FILE");
  if (subject == "graph") {
    write_graph_file(arguments.words()[0], arguments);
    return 0;
  }
  const RecordedRun run(arguments.words()[0]);
  if (arguments.has("json")) {
    print_json(run, arguments.words());
  } else if (arguments.words().size() == 1) {
    print_summary(run);
    if (const std::string text = portfolio_text(arguments.words()[0]); !text.empty())
      std::printf("\nportfolio\n%s", text.c_str());
  } else {
    print_node(run, run.find(arguments.words()[1]));
  }
  return 0;
}

}  // namespace

void register_command_inspect(CommandRegistry& registry) {
  std::vector<Flag> flags = graph_flags();
  flags.push_back({"parse", "FILE...", "instead: kernels, opaque spans and facts of CUDA sources",
                   Flag::Takes::several});
  flags.push_back(
      {"json", "", "a run, a node or the findings of --ncu as JSON", Flag::Takes::nothing});
  for (Flag& flag : region_flags()) flags.push_back(std::move(flag));
  for (Flag& flag : profile_flags()) flags.push_back(std::move(flag));
  registry.push_back(
      {.name = "inspect",
       .usage = "RUN [NODE] | RUN --graph FILE | --parse FILE... | --regions FILE | --ncu FILE",
       .help = "a recorded run and its best nodes, or one node: path, outcome, difference to its "
               "parent, source; "
               "NODE is the start of a key, best or baseline",
       .flags = std::move(flags),
       .least_words = 0,
       .most_words = 2,
       .run = inspect});
}

}  // namespace warpath
