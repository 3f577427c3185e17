#include <cstdio>

#include "engine/base/error.h"
#include "engine/spec/spec_check_files.h"
#include "experiments/setup/spec_problems.h"
#include "register_commands.h"

namespace warpath {
namespace {

int validate(const Arguments& arguments, const Program&) {
  int code = 0;
  for (const CheckLine& line : check_spec_files(arguments.words(), spec_problems)) {
    std::fprintf(line.ok ? stdout : stderr, "%s\n", line.text.c_str());
    if (!line.ok) code = static_cast<int>(ErrorCode::bad_input);
  }
  return code;
}

}  // namespace

void register_command_validate(CommandRegistry& registry) {
  registry.push_back(
      {.name = "validate",
       .usage = "FILE|FOLDER...",
       .help =
           "check specs and what their kernels say of their arguments: one line each, exit code "
           "64 if there is a problem in any",
       .least_words = 1,
       .most_words = SIZE_MAX,
       .run = validate});
}

}  // namespace warpath
