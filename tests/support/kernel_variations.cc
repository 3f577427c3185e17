#include "tests/support/kernel_variations.h"

#include <algorithm>
#include <array>
#include <functional>
#include <optional>
#include <string_view>

#include "engine/spec/spec_load.h"
#include "engine/text/tokens.h"
#include "moves/propose/example.h"
#include "moves/syntax/syntax_query.h"
#include "moves/syntax/unit.h"
#include "tests/support/source_mutations.h"

namespace warpath::test {
namespace {

using namespace warpath::model;

template <class T>
const T& any_of(const std::vector<T>& all, Rng& rng) {
  return all[rng.below(all.size())];
}
template <std::size_t N>
std::string word_of(const std::array<std::string_view, N>& all, Rng& rng) {
  return std::string(all[rng.below(N)]);
}

constexpr auto kTypes = std::to_array<std::string_view>(
    {"int", "unsigned", "long long", "size_t", "short", "float", "double", "auto", "const int",
     "int4", "float4", "bool", "char", "__half"});
constexpr auto kOperators = std::to_array<std::string_view>(
    {"+",  "-", "*", "/", "%",  "<",  "<=", ">", ">=", "==", "!=", "&&",
     "||", "&", "|", "^", "<<", ">>", ",",  "=", "+=", "-=", "*="});
constexpr auto kLiterals = std::to_array<std::string_view>(
    {"0",    "1",    "-1",    "2",    "3",    "4",     "7",          "16",           "31",
     "32",   "33",   "64",    "256",  "1024", "65536", "2147483647", "4294967296ll", "0.f",
     "1.0f", "0x10", "1'000", "1e-5f"});
constexpr auto kNames = std::to_array<std::string_view>(
    {"threadIdx.x", "threadIdx.y", "blockIdx.x", "blockIdx.y", "blockDim.x", "gridDim.x",
     "threadIdx", "nullptr", "this", "undeclared"});
constexpr auto kStatements =
    std::to_array<std::string_view>({"__syncthreads();",
                                     "return;",
                                     "continue;",
                                     "break;",
                                     ";",
                                     "{ }",
                                     "int extra = threadIdx.x;",
                                     "__shared__ float more[64]; more[threadIdx.x] = 0.f;",
                                     "if (threadIdx.x == 0) return;",
                                     "for (int q = 0; q < 4; ++q) { }",
                                     "asm volatile(\"\");",
                                     "goto end; end:;",
                                     "#pragma unroll\n",
                                     "static_assert(true);",
                                     "volatile int v = 0;",
                                     "auto f = [&](int a) { return a + 1; };",
                                     "do { } while (0);",
                                     "switch (threadIdx.x) { case 0: break; default: ; }",
                                     "struct local { int a; }; local l{1};",
                                     "__syncwarp();",
                                     "unsigned m = __ballot_sync(~0u, 1);",
                                     "extern __shared__ char bytes[];",
                                     "float acc[4] = {0.f, 0.f, 0.f, 0.f};",
                                     "using T = float;",
                                     "typedef float U;",
                                     "enum { kA = 3 };",
                                     "int a = 1, b = a, *c = &b;"});

std::string with(const std::string& source, Span span, const std::string& text) {
  std::string out = source;
  out.replace(span.begin, span.end - span.begin, text);
  return out;
}

/// What one edit looks at.
struct Seen {
  Unit unit;
  std::vector<const Stmt*> statements;  // of kernels' bodies, the bodies left out
  std::vector<const Expr*> expressions;
  std::vector<const Declarator*> declarators;

  explicit Seen(const std::string& source) : unit(parse(source)) {
    for (const Function* f : unit.functions()) {
      if (f->body == nullptr) continue;
      declarators.insert(declarators.end(), f->parameters.begin(), f->parameters.end());
      walk(*f->body, [&](const Stmt& s) {
        if (&s != f->body) statements.push_back(&s);
        declarators.insert(declarators.end(), s.declarators.begin(), s.declarators.end());
        return true;
      });
      walk_expressions(*f->body, [&](const Expr& e) { return expressions.push_back(&e), true; });
    }
  }
  [[nodiscard]] std::string text(Span span) const { return std::string(unit.text(span)); }
};

std::optional<std::string> statement_edit(const Seen& seen, const std::string& source, Rng& rng) {
  if (seen.statements.empty()) return std::nullopt;
  const Stmt& s = *any_of(seen.statements, rng);
  const Stmt& other = *any_of(seen.statements, rng);
  const std::string text = seen.text(s.span);
  switch (rng.below(14)) {
    case 0:
      return with(source, s.span, rng.below(2) == 0 ? ";" : "");
    case 1:
      return with(source, s.span, text + "\n" + text);
    case 2: {
      if (!(s.span.end <= other.span.begin)) return std::nullopt;
      return with(with(source, other.span, text), s.span, seen.text(other.span));
    }
    case 3:
      return with(source, s.span, "{ " + text + " }");
    case 4:
      return with(source, s.span,
                  "if (threadIdx.x < 7) { " + text + " } else { " + seen.text(other.span) + " }");
    case 5:
      return with(source, s.span, "if (bool go = threadIdx.x < 7) " + text);
    case 6:
      return with(source, s.span, "for (int w = 0; w < 3; w++) { " + text + " }");
    case 7:
      return with(source, s.span, "while (int left = 0) { " + text + " }");
    case 8:
      return with(with(source, s.span, "WRAP(" + text + ")"), {0, 0},
                  "#define WRAP(...) __VA_ARGS__\n");
    case 9:
      return with(source, {s.span.begin, s.span.begin}, word_of(kStatements, rng) + "\n");
    case 10:
      return with(source, {s.span.end, s.span.end}, "\n" + word_of(kStatements, rng));
    case 11:
      return with(source, s.span,
                  "\n#if defined(SOME) || __CUDA_ARCH__ >= 800\n" + text + "\n#else\n;\n#endif\n");
    case 12:
      return with(source, {other.span.begin, other.span.begin}, text + "\n");
    default:
      return with(source, s.span, "do { " + text + " } while (false);");
  }
}

std::optional<std::string> condition_edit(const Seen& seen, const std::string& source, Rng& rng) {
  std::vector<const Stmt*> tests;
  for (const Stmt* s : seen.statements) {
    if ((s->is(StmtKind::if_) || s->is(StmtKind::while_) || s->is(StmtKind::for_)) &&
        s->expr != nullptr)
      tests.push_back(s);
  }
  if (tests.empty()) return std::nullopt;
  const Stmt& s = *any_of(tests, rng);
  const std::string text = seen.text(s.expr->outer);
  switch (rng.below(9)) {
    case 0:
      return with(source, s.expr->outer, "!(" + text + ")");
    case 1:
      return with(source, s.expr->outer, "(" + text + ") && threadIdx.x < 32");
    case 2:
      return with(source, s.expr->outer, "(" + text + ") ? true : false");
    case 3:
      return s.is(StmtKind::if_)
                 ? std::optional(with(source, s.expr->outer, "const bool go = " + text))
                 : std::nullopt;
    case 4:
      return s.is(StmtKind::if_) ? std::optional(with(source, s.expr->outer, "int k = 1; " + text))
                                 : std::nullopt;
    case 5:
      return s.is(StmtKind::for_) ? std::optional(with(source, s.expr->outer, "")) : std::nullopt;
    case 6:
      return with(source, s.expr->outer, "0, " + text);
    case 7:
      return with(source, s.expr->outer, text + " - 1");
    default:
      return with(source, s.expr->outer, "__builtin_expect(" + text + ", 1)");
  }
}

std::optional<std::string> expression_edit(const Seen& seen, const std::string& source, Rng& rng) {
  if (seen.expressions.empty()) return std::nullopt;
  const Expr& e = *any_of(seen.expressions, rng);
  const Expr& other = *any_of(seen.expressions, rng);
  const std::string text = seen.text(e.outer);
  switch (rng.below(13)) {
    case 0:
      return with(source, e.outer, seen.text(other.outer));
    case 1:
      return with(source, e.outer, "(" + text + ")");
    case 2:
      return with(source, e.outer, "(" + word_of(kTypes, rng) + ")(" + text + ")");
    case 3:
      return with(source, e.outer,
                  "(threadIdx.x < 5 ? " + text + " : " + seen.text(other.outer) + ")");
    case 4:
      return with(source, e.outer, word_of(kLiterals, rng));
    case 5:
      return with(source, e.outer, word_of(kNames, rng));
    case 6:
      return with(source, e.outer,
                  text + " " + word_of(kOperators, rng) + " " + seen.text(other.outer));
    case 7:
      return with(with(source, e.outer, "TWICE(" + text + ")"), {0, 0},
                  "#define TWICE(v) ((v) + (v))\n");
    case 8:
      return with(with(source, e.outer, "CAST(" + text + ")"), {0, 0},
                  "#define CAST(v) (reinterpret_cast<float4*>(&(v))[0])\n");
    case 9:
      return with(source, e.outer, "({ int t = 1; " + text + "; })");
    case 10:
      return with(source, e.outer, "[&] { return " + text + "; }()");
    case 11:
      return with(source, e.outer, "fmaxf(" + text + ", " + seen.text(other.outer) + ")");
    default:
      return e.is(ExprKind::binary) || e.is(ExprKind::assign)
                 ? std::optional(with(source, e.name_span.empty() ? e.span : e.name_span,
                                      word_of(kOperators, rng)))
                 : std::nullopt;
  }
}

std::optional<std::string> declaration_edit(const Seen& seen, const std::string& source, Rng& rng) {
  if (seen.declarators.empty()) return std::nullopt;
  const Declarator& d = *any_of(seen.declarators, rng);
  switch (rng.below(8)) {
    case 0:
      return d.type.empty() ? std::nullopt
                            : std::optional(with(source, d.type, word_of(kTypes, rng)));
    case 1:
      return d.name_span.empty()
                 ? std::nullopt
                 : std::optional(with(source, d.name_span, seen.text(d.name_span) + "[4]"));
    case 2:
      return d.name_span.empty()
                 ? std::nullopt
                 : std::optional(with(source, d.name_span, "*" + seen.text(d.name_span)));
    case 3:
      return d.specifiers.empty()
                 ? std::nullopt
                 : std::optional(with(source, {d.specifiers.begin, d.specifiers.begin},
                                      rng.below(2) == 0 ? "const " : "volatile "));
    case 4:
      return d.specifiers.empty()
                 ? std::nullopt
                 : std::optional(with(source, {d.specifiers.begin, d.specifiers.begin},
                                      rng.below(2) == 0 ? "static " : "__shared__ "));
    case 5:
      return d.value() == nullptr
                 ? std::nullopt
                 : std::optional(with(source, d.value()->outer,
                                      "threadIdx.x < 9 ? " + seen.text(d.value()->outer) + " : 0"));
    case 6:
      return d.span.empty() || d.is_parameter
                 ? std::nullopt
                 : std::optional(with(source, {d.span.end, d.span.end}, ", another = 0"));
    default: {
      const Declarator& other = *any_of(seen.declarators, rng);
      return d.name_span.empty() || other.name_span.empty()
                 ? std::nullopt
                 : std::optional(with(source, d.name_span, seen.text(other.name_span)));
    }
  }
}

std::string one_edit(const std::string& source, Rng& rng) {
  for (int attempt = 0; attempt < 8; ++attempt) {
    const Seen seen(source);
    std::optional<std::string> out;
    switch (rng.below(10)) {
      case 0:
        return mutated(source, {source}, rng);
      case 1:
      case 2:
        out = condition_edit(seen, source, rng);
        break;
      case 3:
      case 4:
        out = declaration_edit(seen, source, rng);
        break;
      case 5:
      case 6:
      case 7:
        out = statement_edit(seen, source, rng);
        break;
      default:
        out = expression_edit(seen, source, rng);
    }
    if (out) return *out;
  }
  return source;
}

}  // namespace

std::string varied(const std::string& source, Rng& rng) {
  std::string out = source;
  for (std::uint64_t i = 1 + rng.below(3); i > 0; --i) out = one_edit(out, rng);
  constexpr std::size_t kLongest = 40000;
  if (out.size() > kLongest) out.resize(kLongest);
  return out;
}

std::vector<KernelSpec> kernels_to_vary(const std::string& root) {
  std::vector<KernelSpec> out;
  for (const EmbeddedExample& example : embedded_examples())
    out.push_back(parse_example(example.text, std::string(example.move)).spec);
  for (const char* const file : {"/tests/data/move_fixtures.json", "/specs"}) {
    for (KernelSpec& spec : load_specs(root + file)) out.push_back(std::move(spec));
  }
  return out;
}

}  // namespace warpath::test
