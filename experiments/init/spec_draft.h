#pragma once

#include <map>
#include <optional>
#include <string>
#include <vector>

#include "experiments/init/answers.h"
#include "experiments/project/host_launch.h"
#include "moves/syntax/unit.h"

namespace warpath {

struct DraftOptions {
  std::string file;         ///< the source, for messages
  std::string source_file;  ///< the text's name in the spec
  std::optional<HostLaunch> launch = {};
  /// Of arguments that are members of a struct, the parameter; the kernel that is drafted takes
  /// them one by one, and `whole` has the kernel as the file has it.
  std::map<std::string, std::string, std::less<>> member_of = {};
  /// Of arguments that are constants of the file, the value there: the spec gives them as macros,
  /// and `whole` has the kernel without them.
  Bindings constants = {};
  const model::Unit* whole = nullptr;
  const model::Function* whole_kernel = nullptr;
  /// What the text of the kernel has in other form than the file: guesses.
  std::vector<std::string> notes = {};
  /// What with_foreign_names put in the place of names that nothing declares.
  std::map<std::string, std::string> replaced = {};
  /// Of template parameters and integers; with_answers() of answers.h is for all others.
  Answers answers = {};
  /// Of libraries, whose headers the text may include: as the spec names them, and where they are.
  std::vector<std::string> system_include_folders = {}, system_folders = {};
};

/// A spec made from a kernel's text.
struct SpecDraft {
  std::string spec;    ///< JSON; its `guessed` lists what no text states
  std::string source;  ///< of `source_file`: the kernel with what it names of its file
};

/// A spec of the kernel of `unit`: arguments by its parameters, roles and shapes by its accesses,
/// launch by its thread indices or by `options.launch`, the kernel as its own reference, a workload
/// for a GPU and one for the host. Throws Error(bad_input) with the parameter or construct that no
/// spec has an argument for.
[[nodiscard]] SpecDraft draft_spec(const model::Unit& unit,
                                   const model::Function& kernel,
                                   const DraftOptions& options);

}  // namespace warpath
