#include "experiments/console/shell_completion.h"

#include <algorithm>

namespace warpath {
namespace {

template <class Items, class Text>
std::string joined(const Items& items, const Text& text) {
  std::string out;
  for (const auto& item : items) out += (out.empty() ? "" : " ") + text(item);
  return out;
}

std::string names_of(std::span<const Command> commands) {
  return joined(commands, [](const Command& command) { return command.name; });
}

std::string flags_of(const Command& command) {
  return joined(command.flags, [](const Flag& flag) { return "--" + flag.name; });
}

/// In a description between single quotes, inside brackets of _arguments.
std::string zsh_text(const std::string& text) {
  std::string out;
  for (const char c : text) {
    if (c == '\'') {
      out += "'\\''";
    } else {
      if (c == '[' || c == ']' || c == ':' || c == '\\') out += '\\';
      out += c;
    }
  }
  return out;
}

std::string zsh_flag(const Flag& flag) {
  using enum Flag::Takes;
  const bool again = flag.takes == repeated || flag.takes == several;
  std::string out = std::string("'") + (again ? "*" : "") + "--" + flag.name;
  out += "[" + zsh_text(flag.help) + "]";
  if (flag.takes == nothing) return out + "'";
  const std::string values =
      flag.words.empty() ? "_files" : "(" + joined(flag.words, std::identity()) + ")";
  return out + ":" + zsh_text(flag.value) + ":" + values + "'";
}

}  // namespace

std::string bash_completion(std::span<const Command> commands) {
  std::string out =
      "_warpath() {\n"
      "  local word=${COMP_WORDS[COMP_CWORD]} before=${COMP_WORDS[COMP_CWORD-1]} offered=''\n"
      "  COMPREPLY=()\n"
      "  if ((COMP_CWORD == 1)); then\n"
      "    COMPREPLY=($(compgen -W '" +
      names_of(commands) +
      " help --help --version' -- \"$word\"))\n"
      "    return\n"
      "  fi\n"
      "  case ${COMP_WORDS[1]},$before in\n"
      "    help,*) offered='" +
      names_of(commands) + "' ;;\n";
  for (const Command& command : commands) {
    for (const Flag& flag : command.flags) {
      if (flag.words.empty()) continue;
      out += "    " + command.name + ",--" + flag.name + ") offered='" +
             joined(flag.words, std::identity()) + "' ;;\n";
    }
  }
  out +=
      "  esac\n"
      "  if [[ -z $offered && $word == -* ]]; then\n"
      "    case ${COMP_WORDS[1]} in\n";
  for (const Command& command : commands)
    out += "      " + command.name + ") offered='" + flags_of(command) + " --help' ;;\n";
  return out +
         "    esac\n"
         "  fi\n"
         "  if [[ -n $offered ]]; then COMPREPLY=($(compgen -W \"$offered\" -- \"$word\")); fi\n"
         "}\n"
         "complete -o default -F _warpath warpath ./warpath\n";
}

std::string zsh_completion(std::span<const Command> commands) {
  std::string out =
      "#compdef warpath\n"
      "local -a commands\n"
      "commands=(\n";
  for (const Command& command : commands)
    out += "  '" + command.name + ":" + zsh_text(command.help) + "'\n";
  out +=
      ")\n"
      "if ((CURRENT == 2)); then\n"
      "  _describe command commands\n"
      "  return\n"
      "fi\n"
      "local command=$words[2]\n"
      "shift words\n"
      "((CURRENT--))\n"
      "case $command in\n"
      "  help) _describe command commands ;;\n";
  for (const Command& command : commands) {
    out += "  " + command.name + ")\n    _arguments '--help[say how it is used]'";
    for (const Flag& flag : command.flags) out += " \\\n      " + zsh_flag(flag);
    out += " \\\n      '*:file:_files'\n    ;;\n";
  }
  return out + "esac\n";
}

}  // namespace warpath
