#include <algorithm>
#include <set>
#include <string>
#include <vector>

#include "engine/text/tokens.h"
#include "register_gates.h"
#include "runners/cuda/compile/compile.h"
#include "runners/cuda/compile/headers.h"

namespace warpath::cuda {
namespace {

/// The compiler may be asked to include nothing but the names on the list, written out: it opens
/// any path, by any spelling of the directive, and quotes what it finds. So the text is judged as
/// the compiler reads it, after splices, digraphs and comments, and what includes by other means
/// (macro operands, probes, other directives) is refused.
class SourceGate final : public CodeGate {
 public:
  SourceGate()
      : CodeGate({.name = "source_text",
                  .help = "the text includes allowed headers only and cannot reach other files",
                  .former = "s2_source"}) {}

  [[nodiscard]] GateResult judge(const GateSubject& subject) const override {
    if (subject.source == nullptr) return not_run("there is no source");
    const std::string& source = *subject.source;
    if (source.size() > kMaxSourceBytes)
      return fail("the source exceeds " + std::to_string(kMaxSourceBytes) + " bytes");
    if (subject.spec->kernel_type != KernelType::cuda)
      return pass("not CUDA C++: its compiler can read no other files, and the PTX is judged");
    const TokenStream stream = tokenize(source);
    if (stream.ambiguous)
      return fail(
          "compilers disagree on how the text is read (trigraph, odd splice, NUL, open comment or "
          "string)");
    for (const Token& token : stream.tokens) {
      std::string problem = token.kind == TokenKind::directive
                                ? directive_problem(source, token, *subject.spec)
                                : word_problem(source, token);
      if (!problem.empty()) return fail(problem);
    }
    return pass();
  }

 private:
  /// The operands of the includes in `source` that are a plain name, as written. nvcc finds more
  /// headers than the list has, and those that the spec's own kernel needs are its author's choice.
  static std::set<std::string> includes_of(const std::string& source) {
    std::set<std::string> out;
    for (const Token& token : tokenize(source).tokens) {
      if (token.kind != TokenKind::directive || directive_name(source, token) != "include")
        continue;
      const std::vector<Token> tokens = without_comments(tokenize_directive(source, token).tokens);
      if (tokens.size() == 3 && tokens[2].kind == TokenKind::string)
        out.insert(spelling(source, tokens[2]));
    }
    return out;
  }

  static std::string word_problem(const std::string& source, const Token& token) {
    if (token.kind != TokenKind::identifier) return "";
    const std::string word = spelling(source, token);
    if (word.starts_with("__has_")) return word + " probes for files";
    return "";
  }

  static std::string directive_problem(const std::string& source,
                                       const Token& directive,
                                       const KernelSpec& spec) {
    static constexpr std::string_view kHarmless[] = {
        "",        "define",   "undef", "if",    "ifdef", "ifndef",  "elif",
        "elifdef", "elifndef", "else",  "endif", "error", "warning", "pragma"};
    const std::string name = directive_name(source, directive);
    const std::vector<Token> tokens =
        without_comments(tokenize_directive(source, directive).tokens);
    if (name == "include") return include_problem(source, tokens, spec);
    if (std::ranges::find(kHarmless, name) == std::end(kHarmless))
      return "#" + name + " is not allowed";
    for (const Token& token : tokens) {
      if (std::string problem = word_problem(source, token); !problem.empty()) return problem;
      const std::string text = spelling(source, token);
      if (name == "define" && token.kind == TokenKind::identifier &&
          text.find("_include") != std::string::npos)
        return "a macro spells '" + text + "'";
    }
    return "";
  }

  /// `tokens`: "#", "include", the operand.
  static std::string include_problem(const std::string& source,
                                     const std::vector<Token>& tokens,
                                     const KernelSpec& spec) {
    if (tokens.size() != 3 || tokens[2].kind != TokenKind::string)
      return "an include is computed, or holds more than a name";
    const std::string written = spelling(source, tokens[2]);
    const bool bracketed = written.size() > 2 && written.front() == '<' && written.back() == '>';
    const bool quoted = written.size() > 2 && written.front() == '"' && written.back() == '"';
    if (!bracketed && !quoted) return "an include has no plain name";
    const std::string file = written.substr(1, written.size() - 2);
    const auto allowed = allowed_includes();
    const bool of_library =
        spec.system_headers != nullptr &&
        std::ranges::find(spec.system_headers->files, file, &SystemHeader::name) !=
            spec.system_headers->files.end();
    if (of_library || std::ranges::find(allowed, file) != allowed.end()) return "";
    const bool of_spec = includes_of(spec.source).contains(written);
    if (of_spec && spec.compiler == DeviceCompiler::nvcc) return "";
    return "include of '" + file.substr(0, 80) + "', which is not on the list" +
           (of_spec ? " (NVRTC has no such header; nvcc may: \"backend\": \"nvcc\" in the spec's "
                      "metadata)"
                    : "");
  }
};

}  // namespace

void register_gate_source_text(GateTable& table) {
  table.add(std::make_unique<SourceGate>());
}

}  // namespace warpath::cuda
