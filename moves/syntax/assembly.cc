#include "moves/syntax/assembly.h"

#include <algorithm>
#include <array>
#include <optional>
#include <span>
#include <string>
#include <vector>

#include "engine/text/tokens.h"

namespace warpath::model {
namespace {

/// Instructions whose result depends on their operands alone.
constexpr auto kArithmetic = std::to_array<std::string_view>(
    {"abs",      "add",   "addc", "and",  "bfe",   "bfi",  "bfind", "bmsk",  "brev",  "clz", "cnot",
     "copysign", "cos",   "cvt",  "div",  "dp2a",  "dp4a", "ex2",   "fma",   "fns",   "lg2", "lop3",
     "mad",      "mad24", "madc", "max",  "min",   "mov",  "mul",   "mul24", "neg",   "not", "or",
     "popc",     "prmt",  "rcp",  "rem",  "rsqrt", "sad",  "selp",  "set",   "setp",  "shf", "shl",
     "shr",      "sin",   "slct", "sqrt", "sub",   "subc", "szext", "tanh",  "testp", "xor"});
/// Those that wait for other threads, exchange registers with them, or order accesses.
constexpr auto kJoining = std::to_array<std::string_view>(
    {"activemask", "bar", "barrier", "fence", "griddepcontrol", "match", "membar", "mma",
     "nanosleep", "redux", "shfl", "vote"});

/// The text between the parentheses by sections: template, outputs, inputs, clobbers.
struct Sections {
  std::string code;
  std::array<std::vector<std::string>, 4> strings;
};

/// A string literal's content; nullopt for raw ones and for escapes beyond \n, \t, \\ and \".
std::optional<std::string> content_of(std::string_view literal) {
  if (literal.size() < 2 || literal.front() != '"' || literal.back() != '"') return std::nullopt;
  std::string out;
  for (std::size_t i = 1; i + 1 < literal.size(); ++i) {
    if (literal[i] != '\\') {
      out += literal[i];
      continue;
    }
    const char next = literal[++i];
    if (next != 'n' && next != 't' && next != '\\' && next != '"') return std::nullopt;
    out += next == 'n' ? '\n' : next == 't' ? ' ' : next;
  }
  return out;
}

std::optional<Sections> sections_of(std::string_view text) {
  Sections out;
  std::size_t section = 0, depth = 0;
  for (const Token& t : without_comments(tokenize(text).tokens)) {
    const std::string word = spelling(text, t);
    if (word == "(" || word == "[") ++depth;
    if (word == ")" || word == "]") --depth;
    if (depth != 1) continue;
    if (word == ":" || word == "::") section += word.size();
    if (section > 3) return std::nullopt;
    if (t.kind == TokenKind::identifier && section == 0) return std::nullopt;  // a macro's text
    if (t.kind != TokenKind::string) continue;
    const auto content = content_of(word);
    if (!content) return std::nullopt;
    section == 0 ? static_cast<void>(out.code += *content)
                 : out.strings[section].push_back(*content);
  }
  return out;
}

bool has(std::span<const std::string_view> list, std::string_view name) {
  return std::ranges::find(list, name) != list.end();
}

/// One instruction, without its ";".
AssemblyEffect effect_of(std::string_view line, bool in_braces) {
  const auto trim = [&] {
    while (!line.empty() && (line.front() == ' ' || line.front() == '\n')) line.remove_prefix(1);
  };
  trim();
  if (line.empty()) return AssemblyEffect::none;
  if (line.front() == '@') {  // a predicate
    const std::size_t end = line.find_first_of(" \n");
    line.remove_prefix(end == std::string_view::npos ? line.size() : end);
    trim();
  }
  if (line.starts_with(".reg")) return in_braces ? AssemblyEffect::none : AssemblyEffect::unknown;
  if (line.find_first_of("[]:") != std::string_view::npos) return AssemblyEffect::unknown;
  const std::string_view opcode = line.substr(0, line.find_first_of(". \n"));
  if (has(kJoining, opcode)) return AssemblyEffect::joins;
  if (!has(kArithmetic, opcode)) return AssemblyEffect::unknown;
  // %0 is an operand, %%r a register: of the text itself, or a special one
  for (std::size_t at = line.find("%%"); at != std::string_view::npos;
       at = line.find("%%", at + 2)) {
    const std::string_view name = line.substr(at + 2);
    if (name.starts_with("laneid") || name.starts_with("lanemask")) return AssemblyEffect::joins;
    for (const std::string_view special :
         {"clock",       "globaltimer", "smid",  "nsmid", "warpid",   "nwarpid", "gridid",
          "envreg",      "pm",          "tid",   "ntid",  "ctaid",    "nctaid",  "cluster",
          "is_explicit", "dynamic",     "total", "aggr",  "reserved", "current"}) {
      if (name.starts_with(special)) return AssemblyEffect::unknown;
    }
  }
  return AssemblyEffect::none;
}

bool is_of_registers(std::string_view constraint) {
  return std::ranges::all_of(constraint, [](char c) {
    return std::string_view("=+&rfdlhnqb").find(c) != std::string_view::npos;
  });
}

}  // namespace

AssemblyEffect effect_of_assembly(const Unit& unit, const Stmt& stmt) {
  const auto parts = sections_of(unit.text(stmt));
  if (!parts) return AssemblyEffect::unknown;
  for (const std::size_t section : {1U, 2U}) {
    if (!std::ranges::all_of(parts->strings[section], is_of_registers))
      return AssemblyEffect::unknown;
  }
  AssemblyEffect out = AssemblyEffect::none;
  for (const std::string& clobber : parts->strings[3]) {
    if (clobber != "memory" && clobber != "cc") return AssemblyEffect::unknown;
    if (clobber == "memory") out = AssemblyEffect::joins;
  }
  std::string_view code = parts->code;
  const std::size_t open = code.find('{'), first = code.find_first_not_of(" \n");
  const bool in_braces = open == first && open != std::string_view::npos;
  while (!code.empty()) {
    const std::size_t end = std::min(code.find_first_of(";{}"), code.size());
    const AssemblyEffect one = effect_of(code.substr(0, end), in_braces);
    code.remove_prefix(std::min(end + 1, code.size()));
    out = std::max(out, one);
  }
  return out;
}

}  // namespace warpath::model
