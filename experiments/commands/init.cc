#include <unistd.h>

#include <algorithm>
#include <cstdio>
#include <filesystem>
#include <iostream>
#include <map>
#include <nlohmann/json.hpp>
#include <optional>

#include "engine/base/error.h"
#include "engine/log/run_folder.h"
#include "engine/spec/npy.h"
#include "experiments/capture/captured_kernel.h"
#include "experiments/exchange/python_reference.h"
#include "experiments/init/captured_draft.h"
#include "experiments/init/guesses.h"
#include "experiments/init/imported_draft.h"
#include "experiments/init/reached_shapes.h"
#include "experiments/init/spec_draft.h"
#include "experiments/project/accessor_parameters.h"
#include "experiments/project/constant_sizes.h"
#include "experiments/project/foreign_names.h"
#include "experiments/project/kernel_text.h"
#include "experiments/project/project_text.h"
#include "experiments/project/reading_options.h"
#include "experiments/project/struct_parameters.h"
#include "experiments/project/warp_steps.h"
#include "moves/syntax/syntax_query.h"
#include "register_commands.h"

namespace warpath {
namespace {

namespace fs = std::filesystem;

/// KERNEL, or KERNEL:2 for the second of that name.
struct WantedKernel {
  std::string name;
  std::size_t number = 0;  ///< from 1; 0: the only one, or the first
};

WantedKernel wanted_kernel(const std::string& word) {
  const std::size_t colon = word.find_last_not_of("0123456789");
  const bool numbered = colon != std::string::npos && word[colon] == ':' &&
                        colon + 1 < word.size() && colon > 0 && word[colon - 1] != ':';
  if (!numbered) return {word};
  return {word.substr(0, colon), std::stoul(word.substr(colon + 1, 9))};
}

/// The named kernel, or the only one. `notes` gets a line where the name is that of several.
const model::Function& chosen_kernel(const model::Unit& unit,
                                     const std::string& file,
                                     const WantedKernel& which,
                                     std::vector<std::string>* notes = nullptr) {
  const std::string& wanted = which.name;
  std::vector<const model::Function*> kernels;
  std::string names;
  for (const model::Function* const function : unit.functions()) {
    if (!function->is_global || function->body == nullptr) continue;
    const bool matches = wanted.empty() || function->name == wanted;
    if (matches) kernels.push_back(function);
    names += (names.empty() ? "" : ", ") + std::string(function->name);
  }
  for (const model::HiddenKernel& hidden : model::hidden_kernels(unit)) {
    if (hidden.name != wanted) continue;
    throw bad_input(file, wanted, "a kernel that its preprocessor conditions do not exclude");
  }
  if (names.empty()) throw bad_input(file, "", "a file with a __global__ function");
  if (kernels.empty()) throw bad_input(file, wanted, "one of its kernels: " + names);
  if (kernels.size() > 1 && wanted.empty())
    throw bad_input(file, "no KERNEL", "the name of one of its kernels: " + names);
  if (which.number > kernels.size())
    throw bad_input(file, wanted + ":" + std::to_string(which.number),
                    "at most " + std::to_string(kernels.size()) + ", which have the name");
  if (kernels.size() > 1 && which.number == 0 && notes != nullptr)
    notes->push_back(std::to_string(kernels.size()) + " kernels are named " + wanted +
                     "; the first is taken, " + wanted + ":2 is the next");
  return *kernels[std::max<std::size_t>(which.number, 1) - 1];
}

/// The folders of `--flag`, each of which exists.
std::vector<std::string> folders_of(const Arguments& arguments, const std::string& flag) {
  std::vector<std::string> folders = arguments.values(flag);
  std::error_code none;
  for (const std::string& folder : folders) {
    if (!fs::is_directory(folder, none)) throw bad_input("--" + flag, folder, "a folder");
  }
  return folders;
}

/// `folder` as a spec at `spec_path` names it.
std::string from_spec(const std::string& folder, const fs::path& spec_path) {
  const fs::path base = fs::absolute(spec_path).parent_path();
  const fs::path relative = fs::absolute(folder).lexically_normal().lexically_relative(base);
  return relative.empty() ? fs::absolute(folder).string() : relative.string();
}

/// The problem of `--definition`, its reference run; nullopt without one.
std::optional<PythonProblem> problem_of(const Arguments& arguments) {
  const auto definition = arguments.value("definition"), workloads = arguments.value("workloads");
  if (!definition) {
    for (const char* const flag : {"workloads", "python"}) {
      if (arguments.has(flag))
        throw bad_input(std::string("--") + flag, *arguments.value(flag), "--definition beside it");
    }
    return std::nullopt;
  }
  const std::string python = arguments.value("python").value_or("python3");
  if (fs::path(*definition).extension() == ".py") {
    if (workloads) throw bad_input("--workloads", *workloads, "it beside a definition in JSON");
    return run_problem(*definition, python);
  }
  PythonProblem out;
  out.definition = read_definition(*definition);
  out.workloads = read_workloads(out.definition, workloads);
  out.answer = run_reference(out.definition, out.workloads, python);
  return out;
}

/// The .npy files of a spec in a folder of their own, which goes again unless it is kept.
class DataFolder {
 public:
  DataFolder(fs::path folder, const PythonProblem& problem, const ImportedDraft& imported)
      : folder_(std::move(folder)) {
    std::error_code error;
    fs::remove_all(folder_, error);
    fs::create_directories(folder_, error);
    for (const auto& [name, tensor] : imported.files) write_npy((folder_ / name).string(), tensor);
    if (!problem.definition_text.empty()) {
      write_file_atomically(folder_ / "definition.json", problem.definition_text);
      write_file_atomically(folder_ / "workloads.jsonl", problem.workloads.front().workload + "\n");
    }
    if (fs::is_empty(folder_, error)) fs::remove(folder_, error);
  }
  ~DataFolder() {
    std::error_code error;
    if (!kept_) fs::remove_all(folder_, error);
  }
  DataFolder(const DataFolder&) = delete;
  DataFolder& operator=(const DataFolder&) = delete;
  void keep() { kept_ = true; }

 private:
  fs::path folder_;
  bool kept_ = false;
};

int init(const Arguments& arguments, const Program& program) {
  const std::string file = arguments.words()[0];
  WantedKernel wanted = wanted_kernel(arguments.words().size() > 1 ? arguments.words()[1] : "");
  const std::vector<std::string> folders = folders_of(arguments, "include");
  const FlatSource flat_source = project_text(file, wanted.name, folders);
  for (const MissingHeader& missing : flat_source.missing)
    std::fprintf(stderr, "%s: %s is not found; --include FOLDER says where it is\n",
                 missing.place.c_str(), missing.name.c_str());
  std::map<std::string, std::string> replaced;
  const std::vector<std::string> system_folders = folders_of(arguments, "system-include");
  const std::string read =
      with_warp_steps(with_foreign_names(flat_source.text, replaced, !system_folders.empty()));
  const model::Unit unit = model::parse(read, reading_options(read));
  std::vector<std::string> notes;
  const model::Function& kernel = chosen_kernel(unit, file, wanted, &notes);
  const std::string name(kernel.name);
  wanted.name = name;
  const fs::path spec_path = arguments.value("output").value_or(name + ".json");
  if (spec_path.extension() != ".json")
    throw bad_input("--output", spec_path.string(), "a name that ends with .json");
  const fs::path text_path = fs::path(spec_path).replace_extension(".kernel.cu");
  const fs::path data_path = fs::path(spec_path).replace_extension(".data");
  for (const fs::path& path : {spec_path, text_path, data_path}) {
    if (fs::exists(path) && !arguments.has("force"))
      throw bad_input(path.string(), "a file that exists", "--force, or another --output");
  }
  DraftOptions options{.file = fs::path(file).filename().string(),
                       .source_file = text_path.filename().string(),
                       .launch = {},
                       .member_of = {},
                       .constants = {},
                       .whole = nullptr,
                       .whole_kernel = nullptr,
                       .notes = notes,
                       .replaced = replaced,
                       .system_include_folders = {},
                       .system_folders = {}};
  options.system_folders = system_folders;
  for (const std::string& folder : options.system_folders)
    options.system_include_folders.push_back(from_spec(folder, spec_path));
  const auto main = arguments.value("main"), launches = arguments.value("launches");
  if (main && launches)
    throw bad_input("--launches", *launches, "either captured launches or --main");
  if (launches && arguments.has("definition"))
    throw bad_input("--launches", *launches, "either captured launches or --definition");
  if (arguments.has("share") && !launches)
    throw bad_input("--share", *arguments.value("share"), "--launches beside it");
  std::optional<CapturedKernel> captured;
  if (launches) captured = read_launches(*launches);
  const auto share = arguments.value("share");
  std::string why;
  const auto accessors = kernel_of_accessors(unit, kernel, why);
  if (!why.empty())
    throw bad_input(options.file, "kernel " + name + ", " + why,
                    "pointers and sizes; write a kernel around it that takes these");
  std::optional<model::Unit> of_pointers;
  if (accessors && !captured) {
    of_pointers.emplace(model::parse(accessors->source, reading_options(accessors->source)));
    options.notes.insert(options.notes.end(), accessors->notes.begin(), accessors->notes.end());
  }
  const model::Unit& whole = of_pointers ? *of_pointers : unit;
  const model::Function& whole_kernel = of_pointers ? chosen_kernel(whole, file, wanted) : kernel;
  std::optional<model::Unit> of_sizes;
  const auto sizes =
      captured || arguments.has("definition") ? std::nullopt : kernel_of_sizes(whole, whole_kernel);
  if (sizes) {
    of_sizes.emplace(model::parse(sizes->source, reading_options(sizes->source)));
    options.constants = sizes->sizes;
    options.whole = &whole;
    options.whole_kernel = &whole_kernel;
  }
  if (main) {
    const model::Unit host = model::parse(flat_source_file(*main, folders).text);
    options.launch = find_launch(host, kernel, options.constants);
    if (!options.launch) throw bad_input("--main", *main, "a file that launches " + name);
  } else if (!captured) {
    options.launch = find_launch(unit, kernel, options.constants);
  }
  const model::Unit& sized = of_sizes ? *of_sizes : whole;
  const model::Function& sized_kernel =
      of_sizes ? chosen_kernel(sized, file, wanted) : whole_kernel;
  const auto members = kernel_of_members(sized, sized_kernel, why);
  if (!why.empty())
    throw bad_input(options.file, "kernel " + name + ", " + why,
                    "structs of numbers and pointers whose members the kernel names; write a "
                    "kernel around it, or the spec by hand (docs/spec.md)");
  std::optional<model::Unit> flat;
  if (members && !captured) {
    flat.emplace(model::parse(members->source, reading_options(members->source)));
    options.member_of = members->member_of;
    options.whole = &whole;
    options.whole_kernel = &whole_kernel;
  }
  const model::Unit& drafted_unit = flat ? *flat : sized;
  const model::Function& drafted_kernel = flat ? chosen_kernel(*flat, file, wanted) : sized_kernel;
  if (const auto words = arguments.value("launch")) {
    if (main || captured) throw bad_input("--launch", *words, "no --main and no --launches");
    options.launch = launch_in_words(*words, kernel);
  }
  const auto published = problem_of(arguments);
  const std::optional<HostLaunch> launch = options.launch;
  std::optional<DataFolder> data;
  std::vector<std::string> left_out;
  const auto drafted = [&](const Answers& answers) {
    options.answers = answers;
    if (!captured) options.launch = answered_launch(answers, drafted_kernel, launch);
    SpecDraft made = captured ? draft_captured(unit, kernel, options, *captured, *launches,
                                               share ? share_from(*share) : kCapturedShare)
                              : draft_spec(drafted_unit, drafted_kernel, options);
    if (published) {
      ImportedDraft imported =
          import_problem(made, published->definition, published->workloads, published->answer,
                         data_path.filename().string(), file);
      data.emplace(data_path, *published, imported);
      made = std::move(imported.draft);
      left_out = std::move(imported.left_out);
    }
    made.spec = with_answers(made.spec, answers, kernel);
    const std::string wrong = draft_problem(made, spec_path.string());
    if (!wrong.empty())
      throw bad_input(file, name,
                      "a kernel that a spec can be drafted for, but " + wrong +
                          "; write the spec by hand (docs/spec.md)");
    return made;
  };
  Answers answers = parse_answers(arguments.values("answer"));
  if (isatty(STDIN_FILENO) == 1 && isatty(STDERR_FILENO) == 1) {
    ask_guesses(answers, std::cin, std::cerr,
                [&](const Answers& some) { return drafted(some).spec; });
    if (!captured && !published)
      std::fprintf(stderr, "%s is launched once on the host, to see how far it reaches\n",
                   name.c_str());
  }
  SpecDraft draft = drafted(answers);
  for (const std::string& id : left_out)
    std::fprintf(stderr, "workload %s is left out: its tensors are too large to be kept\n",
                 id.c_str());
  bool ends = true;
  if (!captured && !published) {
    const auto reached = with_reached_shapes(draft, spec_path.string(), program.path);
    ends = reached.has_value();
    draft.spec = reached.value_or(draft.spec);
  }
  write_file_atomically(text_path, draft.source);
  write_file_atomically(spec_path, draft.spec);
  if (data) data->keep();
  std::printf("%s: kernel %s of %s%s\n", spec_path.c_str(), name.c_str(), file.c_str(),
              captured ? (", launches of " + *launches).c_str()
              : launch && !arguments.has("launch")
                  ? (", launched at line " + std::to_string(launch->line)).c_str()
                  : "");
  const auto document = nlohmann::ordered_json::parse(draft.spec);
  for (const auto& guess : document.value("guessed", nlohmann::ordered_json::array()))
    std::printf("guessed %s\n", guess_line(document, guess).c_str());
  if (!ends)
    std::fprintf(stderr,
                 "no launch on the host ends well with these guesses, so that the spec will not "
                 "verify: say what differs with --answer NAME=VALUE, or all of the launch with "
                 "--launch\n");
  return 0;
}

}  // namespace

void register_command_init(CommandRegistry& registry) {
  registry.push_back(
      {.name = "init",
       .usage = "FILE.cu [KERNEL]",
       .help = "writes a spec for a kernel of a CUDA file: arguments, shapes, launch and workloads "
               "from its text; what had to be guessed is listed and, on a terminal, asked",
       .flags =
           {{"main", "FILE", "host code that launches the kernel (default: the file itself)"},
            {"launch", "TEXT",
             "how host code launches it, in the place of what init finds: "
             "'k<float><<<n / 256, 256>>>(x, y, n)'"},
            {"answer", "NAME=VALUE",
             "in the place of a guess: a size, a template parameter, grid.x, block.x, smem; of "
             "a tensor its shape [rows, 4], values 0..rows or role",
             Flag::Takes::repeated},
            {"include", "FOLDER",
             "where headers in quotes are looked for, after the file's own folder; they "
             "become part of the kernel's text",
             Flag::Takes::repeated},
            {"system-include", "FOLDER",
             "of a library (CUB, CUTLASS): its headers stay headers, and the spec names it",
             Flag::Takes::repeated},
            {"definition", "FILE",
             "the problem that the kernel solves: a definition of FlashInfer-Trace or "
             "SOL-ExecBench (.json), or a problem of KernelBench (.py); FILE.cu may be a "
             "solution of it (.json, .py)"},
            {"workloads", "FILE", "of the definition: JSON lines"},
            {"python", "PROGRAM", "which runs the problem's reference once (python3)"},
            {"launches", "FILE",
             "launches that `warpath capture` recorded: sizes, and workloads with weights"},
            {"share", "SHARE",
             "of the kernel's device time that captured workloads make up (default: 0.9)"},
            {"output", "FILE.json",
             "the spec (default: KERNEL.json); the kernel's text goes "
             "beside it, to FILE.kernel.cu"},
            {"force", "", "overwrite them", Flag::Takes::nothing}},
       .least_words = 1,
       .most_words = 2,
       .run = init});
}

}  // namespace warpath
