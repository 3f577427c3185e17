#include "experiments/console/manual_page.h"

namespace warpath {
namespace {

/// Plain text as troff takes it: no control line, no escape, minus signs that can be copied.
std::string troff(std::string_view text) {
  std::string out;
  for (const char c : text) {
    if (out.empty() && (c == '.' || c == '\'')) out += "\\&";
    if (c == '\\') {
      out += "\\e";
    } else if (c == '-') {
      out += "\\-";
    } else {
      out += c;
    }
  }
  return out;
}

std::string section(std::string_view title, std::string_view text) {
  return ".SH " + std::string(title) + "\n" + troff(text) + "\n";
}

std::string flag_entry(const Flag& flag) {
  std::string out = ".TP\n.B " + troff("--" + flag.name);
  if (!flag.value.empty()) out += " \\fI" + troff(flag.value) + "\\fR";
  return out + "\n" + troff(flag.help) + "\n";
}

}  // namespace

std::string manual_page(std::span<const Command> commands, std::string_view revision) {
  std::string out = ".TH WARPATH 1 \"\" \"warpath " + std::string(revision) + "\"\n";
  out += section("NAME", "warpath - finds faster versions of a GPU kernel");
  out += ".SH SYNOPSIS\n.B warpath\n\\fICOMMAND\\fR ...\n";
  out += section("DESCRIPTION", kProgramSummary);
  for (const BeginnersStep& step : kBeginnersSteps)
    out += ".TP\n.B " + troff(step.command) + "\n" + troff(step.purpose) + "\n";
  out += ".SH COMMANDS\n";
  for (const Command& command : commands) {
    out += ".SS " + troff("warpath " + command.name + " " + command.usage) + "\n";
    out += troff(command.help) + "\n";
    for (const Flag& flag : command.flags) out += flag_entry(flag);
  }
  return out + section("EXIT STATUS", kExitCodes);
}

}  // namespace warpath
