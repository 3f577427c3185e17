#include "engine/spec/spec_check_files.h"

#include <filesystem>
#include <map>
#include <nlohmann/json.hpp>

#include "engine/base/error.h"
#include "engine/json/json_reader.h"
#include "engine/spec/spec_load.h"
#include "engine/text/source_text.h"

namespace warpath {

std::string run_problem(const KernelSpec& spec) {
  if (spec.kernel_type == KernelType::multi_kernel)
    return spec.place("/kernel/kernel_type") +
           ": multi_kernel cannot be run, only cuda, triton and ptx";
  if (std::holds_alternative<ReferencePython>(spec.reference)) {
    return spec.place("/kernel/metadata/reference") +
           ": a Python reference cannot be called; give /reference with kernel, host_op, command "
           "or outputs";
  }
  if (std::holds_alternative<std::monostate>(spec.reference)) {
    return spec.place("/reference") +
           ": missing; give kernel, host_op, command or outputs, since no result counts unchecked";
  }
  return {};
}

std::string source_notes(const KernelSpec& spec) {
  std::string out;
  const auto note = [&](const std::string& file) {
    if (file.empty()) return;
    const std::string path =
        (std::filesystem::path(spec.origin.substr(0, spec.origin.rfind(":/"))).parent_path() / file)
            .lexically_normal()
            .string();
    std::error_code none;
    // beside source_code the name is only where the text came from
    if (!std::filesystem::is_regular_file(path, none)) return;
    const std::string said = source_text(read_text_file(path, kMaxSourceFileBytes, path)).note;
    if (!said.empty()) out += "; " + path + ": " + said;
  };
  note(spec.source_file);
  if (const auto* kernel = std::get_if<ReferenceKernel>(&spec.reference)) note(kernel->source_file);
  return out;
}

std::vector<std::string> guess_lines(const KernelSpec& spec) {
  std::vector<std::string> out;
  if (spec.guessed.empty()) return out;
  const nlohmann::json document = to_json(spec);
  for (const Guess& guess : spec.guessed) {
    const nlohmann::json::json_pointer path(guess.path);
    const std::string value = document.contains(path) ? " = " + document.at(path).dump() : "";
    out.push_back("guessed " + guess.path + value + ": " + guess.why);
  }
  return out;
}

std::vector<CheckLine> check_spec_files(const std::vector<std::string>& paths,
                                        const SpecProblems& more) {
  std::vector<CheckLine> lines;
  std::map<std::string, std::string> origins;  // name -> where it was first seen
  const auto check_file = [&](const std::string& file) {
    for (const KernelSpec& spec : load_specs(file)) {
      const auto [it, added] = origins.emplace(spec.name, spec.origin);
      if (!added)
        throw bad_input(spec.place("/name"), spec.name,
                        "a name that no other spec has; " + it->second + " has it");
      const std::vector<std::string> problems = more ? more(spec) : std::vector<std::string>{};
      for (const std::string& problem : problems) lines.push_back({.ok = false, .text = problem});
      if (!problems.empty()) continue;
      const std::string note = run_problem(spec);
      lines.push_back({.ok = true,
                       .text = spec.origin + ": " + spec.name + ": ok (" +
                               std::to_string(spec.workloads.size()) + " workloads, " +
                               std::to_string(spec.io.args.size()) + " arguments, " +
                               std::to_string(spec.tunables.size()) + " tunables)" +
                               (note.empty() ? "" : ", but it cannot be searched: " + note) +
                               source_notes(spec)});
      for (const std::string& guess : guess_lines(spec))
        lines.push_back({.ok = true, .text = spec.origin + ": " + guess});
    }
  };
  const auto guarded = [&](const auto& work) {
    try {
      work();
    } catch (const Error& error) {
      lines.push_back({.ok = false, .text = error.what()});
    }
  };
  for (const std::string& path : paths) {
    guarded([&] {
      for (const std::string& file : spec_files(path)) guarded([&] { check_file(file); });
    });
  }
  return lines;
}

}  // namespace warpath
