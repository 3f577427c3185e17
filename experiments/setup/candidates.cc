#include "experiments/setup/candidates.h"

#include <algorithm>
#include <array>
#include <filesystem>
#include <nlohmann/json.hpp>
#include <set>
#include <sstream>

#include "engine/base/error.h"
#include "engine/base/rng.h"
#include "engine/json/json_reader.h"
#include "engine/json/json_record.h"
#include "engine/log/run_folder.h"
#include "engine/spec/spec_load.h"
#include "engine/text/source_text.h"
#include "experiments/setup/recorded_run.h"

namespace warpath {
namespace fs = std::filesystem;
namespace {

constexpr std::size_t kMaxListBytes = std::size_t{64} << 20U;
constexpr std::size_t kMaxCombinations = std::size_t{1} << 20U;

Expression expression(const JsonCursor& at) {
  return at.value().is_number_integer() ? Expression(at.integer())
                                        : Expression::parse(at.text(), at.place());
}

/// {"x": 256, "y": "ceil_div(n, 2)"}; an axis left out is 1.
std::array<Expression, 3> axes(const JsonCursor& at) {
  require_only(at, {"x", "y", "z"});
  std::array<Expression, 3> out{Expression(1), Expression(1), Expression(1)};
  const std::array<const char*, 3> names{"x", "y", "z"};
  for (std::size_t i = 0; i < 3; ++i) {
    if (const auto axis = at.find(names[i])) out[i] = expression(*axis);
  }
  return out;
}

/// As in a spec; parts left out stay.
void read_launch(const JsonCursor& at, LaunchPlan& plan) {
  require_only(at, {"grid", "block", "cluster", "dynamic_smem_bytes"});
  if (const auto grid = at.find("grid")) plan.grid = axes(*grid);
  if (const auto block = at.find("block")) plan.block = axes(*block);
  if (const auto cluster = at.find("cluster")) plan.cluster = axes(*cluster);
  if (const auto bytes = at.find("dynamic_smem_bytes"))
    plan.dynamic_smem_bytes = expression(*bytes);
}

std::vector<std::string> texts(const JsonCursor& at) {
  at.require_array();
  std::vector<std::string> out;
  for (std::size_t i = 0; i < at.size(); ++i) out.push_back(at.element(i).text());
  return out;
}

void read_tunables(const JsonCursor& at, TunableValues& values) {
  at.require_object();
  for (const auto& [name, unused] : at.value().items()) {
    const auto known = values.find(name);
    if (known == values.end()) at.at(name).fail("a tunable of the spec");
    known->second = at.at(name).integer();
  }
}

Expectation read_expectation(const JsonCursor& at) {
  Expectation out;
  if (const auto expect = at.find("expect")) {
    out.status = expect->text();
    const bool known = out.status == "refused" ||
                       std::ranges::find(kStatusNames, out.status) != kStatusNames.end();
    if (!known) expect->fail("ok, refused or the name of a status");
  }
  if (const auto row = at.find("row")) out.row = row->integer();
  if (const auto gates = at.find("gates")) out.gates = texts(*gates);
  return out;
}

Candidate read_line(const KernelSpec& spec, const JsonCursor& at, const fs::path& folder) {
  require_only(at, {"name", "source", "source_file", "kernel_name", "launch", "compiler_options",
                    "tunables", "expect", "row", "gates"});
  Candidate out{.name = at.at("name").text(),
                .variant = baseline_variant(spec),
                .expectation = read_expectation(at)};
  const auto printable = [](unsigned char c) { return c >= 0x20 && c != 0x7f; };
  if (out.name.empty() || !std::ranges::all_of(out.name, printable))
    at.at("name").fail("a name on one line");
  if (const auto source = at.find("source")) out.variant.source = source->text();
  if (const auto file = at.find("source_file")) {
    if (at.find("source")) file->fail("either source or source_file");
    out.variant.source =
        read_source_file((folder / file->text()).string(), kMaxSourceFileBytes, file->place()).text;
  }
  if (const auto kernel = at.find("kernel_name")) out.variant.kernel_name = kernel->text();
  if (const auto launch = at.find("launch")) read_launch(*launch, out.variant.launch);
  if (const auto options = at.find("compiler_options"))
    out.variant.compiler_options = texts(*options);
  if (const auto tunables = at.find("tunables")) read_tunables(*tunables, out.variant.tunables);
  return out;
}

void read_list(const KernelSpec& spec, const fs::path& path, std::vector<Candidate>& out) {
  std::istringstream lines(read_text_file(path.string(), kMaxListBytes, path.string()));
  int number = 0;
  for (std::string line; std::getline(lines, line);) {
    ++number;
    if (line.find_first_not_of(" \t\r") == std::string::npos) continue;
    const std::string place = path.string() + ":" + std::to_string(number);
    const nlohmann::json value = parse_json(line, place);
    out.push_back(read_line(spec, JsonCursor(value, place), path.parent_path()));
  }
}

void read_source(const KernelSpec& spec, const fs::path& path, std::vector<Candidate>& out) {
  Candidate candidate{
      .name = path.stem().string(), .variant = baseline_variant(spec), .expectation = {}};
  candidate.variant.source =
      read_source_file(path.string(), kMaxSourceFileBytes, path.string()).text;
  out.push_back(std::move(candidate));
}

std::vector<fs::path> sources_in(const fs::path& folder) {
  std::vector<fs::path> out;
  std::error_code error;
  for (const auto& entry : fs::directory_iterator(folder, error)) {
    if (entry.path().extension() == ".cu") out.push_back(entry.path());
  }
  std::ranges::sort(out);
  if (out.empty())
    throw bad_input("--candidates", folder.string(), "a folder that holds *.cu files");
  return out;
}

/// The best kernel of a run, exactly as it was: launch plan, steps, scratch memory and options with
/// the source.
void read_run(const KernelSpec& spec, const fs::path& folder, std::vector<Candidate>& out) {
  const RecordedRun run(folder);
  if (to_json(run.spec()) != to_json(spec))
    throw bad_input("--candidates", folder.string(),
                    "a run of " + spec.name + ": its input_spec.json is another spec");
  const std::size_t best = run.find("best");
  out.push_back(
      {.name = run.nodes()[best].key.short_hex(), .variant = run.variant(best), .expectation = {}});
}

void require_distinct_names(const std::vector<Candidate>& candidates) {
  std::set<std::string_view> names;
  for (const Candidate& candidate : candidates) {
    if (!names.insert(candidate.name).second)
      throw bad_input("--candidates", candidate.name, "a name of its own for every candidate");
  }
}

/// The `index`-th combination, the last tunable fastest.
TunableValues combination(const std::vector<Tunable>& tunables, std::size_t index) {
  TunableValues out;
  for (auto tunable = tunables.rbegin(); tunable != tunables.rend(); ++tunable) {
    out[tunable->name] = tunable->values[index % tunable->values.size()];
    index /= tunable->values.size();
  }
  return out;
}

std::string text_of(const std::vector<Tunable>& tunables, const TunableValues& values) {
  std::string out;
  for (const Tunable& tunable : tunables) {
    out += (out.empty() ? "" : " ") + tunable.name + "=" + std::to_string(values.at(tunable.name));
  }
  return out;
}

}  // namespace

bool as_expected(const Expectation& expectation, Status status) {
  if (expectation.status.empty()) return true;
  return expectation.status == "refused" ? status != Status::ok
                                         : expectation.status == name(status);
}

bool is_expected_gate(const Expectation& expectation, std::string_view gate) {
  return std::ranges::find(expectation.gates, gate) != expectation.gates.end();
}

std::vector<Candidate> read_candidates(const KernelSpec& spec,
                                       const std::vector<std::string>& paths) {
  std::vector<Candidate> out;
  for (const fs::path path : paths) {
    std::error_code error;
    if (RunFolder::has_run(path)) {
      read_run(spec, path, out);
    } else if (fs::is_directory(path, error)) {
      for (const fs::path& file : sources_in(path)) read_source(spec, file, out);
    } else if (path.extension() == ".jsonl") {
      read_list(spec, path, out);
    } else if (path.extension() == ".cu") {
      read_source(spec, path, out);
    } else {
      throw bad_input("--candidates", path.string(), "a .cu file, a folder or a .jsonl list");
    }
  }
  require_distinct_names(out);
  return out;
}

std::vector<Candidate> tuned_candidates(const KernelSpec& spec,
                                        std::size_t most,
                                        std::uint64_t seed) {
  std::size_t total = spec.tunables.empty() ? 0 : 1;
  for (const Tunable& tunable : spec.tunables) {
    total *= tunable.values.size();
    if (total > kMaxCombinations)
      throw bad_input("--tunables", spec.name, "a spec with at most 2^20 combinations of tunables");
  }
  if (total == 0) throw bad_input("--tunables", spec.name, "a spec with tunables");
  std::vector<Candidate> valid;
  for (std::size_t i = 0; i < total; ++i) {
    Candidate candidate{.name = "", .variant = baseline_variant(spec), .expectation = {}};
    candidate.variant.tunables = combination(spec.tunables, i);
    std::string why;
    if (!satisfies_constraints(spec, candidate.variant, why)) continue;
    candidate.name = text_of(spec.tunables, candidate.variant.tunables);
    valid.push_back(std::move(candidate));
  }
  if (valid.size() <= most) return valid;
  std::vector<std::uint32_t> drawn =
      Rng(seed, "tunables").permutation(static_cast<std::uint32_t>(valid.size()));
  drawn.resize(most);
  std::ranges::sort(drawn);
  std::vector<Candidate> out;
  for (const std::uint32_t i : drawn) out.push_back(std::move(valid[i]));
  return out;
}

}  // namespace warpath
