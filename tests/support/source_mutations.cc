#include "tests/support/source_mutations.h"

#include <algorithm>
#include <array>
#include <utility>

#include "engine/text/tokens.h"
#include "moves/model/facts.h"
#include "moves/syntax/syntax_query.h"

namespace warpath::test {
namespace {

using namespace warpath::model;

constexpr auto kOddWords = std::to_array<std::string_view>({"{",
                                                            "}",
                                                            "(",
                                                            ")",
                                                            "[",
                                                            "]",
                                                            "<",
                                                            ">",
                                                            ">>",
                                                            ">>>",
                                                            "<<<",
                                                            ";",
                                                            ",",
                                                            "::",
                                                            "...",
                                                            "template<",
                                                            "for(;;)",
                                                            "if(",
                                                            "else",
                                                            "do",
                                                            "while(x)",
                                                            "case 1:",
                                                            "switch(a){",
                                                            "return",
                                                            "operator",
                                                            "typename",
                                                            "decltype(x)",
                                                            "#if 1\n",
                                                            "#else\n",
                                                            "#endif\n",
                                                            "#define A A+A\n",
                                                            "\\\n",
                                                            "/*",
                                                            "*/",
                                                            "\"",
                                                            "'",
                                                            "R\"x(",
                                                            "asm(\"\":\"=r\"(x):\"r\"(y));",
                                                            "[&]{",
                                                            "({",
                                                            "})",
                                                            "struct S{",
                                                            "enum{a=b,c};",
                                                            "namespace n{",
                                                            "extern \"C\"{",
                                                            "x++",
                                                            "p+=4;",
                                                            "a?b:c",
                                                            "int i=0;",
                                                            "float*p=x+i;",
                                                            "(float)",
                                                            "1/0",
                                                            "9223372036854775807",
                                                            "-9223372036854775807-1",
                                                            "<<63",
                                                            "%0",
                                                            "__global__ void k(",
                                                            "0x",
                                                            "1e",
                                                            "\xff",
                                                            "~",
                                                            "!",
                                                            "=",
                                                            "&&",
                                                            "&",
                                                            "*"});

std::string kind_of(const Expr& e) {
  return std::string(name(e.kind));
}
std::string kind_of(const Stmt& s) {
  return std::string(name(s.kind));
}

/// Text of the tree, to compare two.
void print(const Expr& e, std::string& out) {
  out += kind_of(e) + std::to_string(e.span.begin) + "-" + std::to_string(e.span.end) + "(";
  for (const Expr* arg : e.args) print(*arg, out);
  out += ")";
}

std::string print(const Unit& unit) {
  std::string out;
  for (const Function* f : unit.functions()) {
    out += "F" + std::string(f->name);
    if (f->body == nullptr) continue;
    walk(*f->body, [&](const Stmt& s) {
      out += kind_of(s) + std::to_string(s.span.begin) + "-" + std::to_string(s.span.end) + ";";
      for (const Expr* e : expressions_of(s)) print(*e, out);
      return true;
    });
  }
  return out;
}

class Checker {
 public:
  explicit Checker(const Unit& unit) : unit_(unit) {}

  std::string run() {
    const Span all{0, unit_.source().size()};
    for (const Span span : unit_.opaque()) within(all, span, "opaque span");
    for (const Function* f : unit_.functions()) {
      within(all, f->span, "function");
      within(f->span, f->name_span, "function name");
      if (f->body == nullptr) continue;
      within(f->span, f->body->span, "function body");
      walk(*f->body, [&](const Stmt& s) { return statement(s), wrong_.empty(); });
    }
    return wrong_;
  }

 private:
  void fail(const std::string& what) {
    if (wrong_.empty()) wrong_ = what;
  }
  void within(Span outer, Span inner, const std::string& what) {
    if (inner.begin > inner.end || !outer.contains(inner)) {
      fail(what + " [" + std::to_string(inner.begin) + ", " + std::to_string(inner.end) +
           ") is not inside [" + std::to_string(outer.begin) + ", " + std::to_string(outer.end) +
           ")");
    }
  }

  void statement(const Stmt& s) {
    const std::string what = kind_of(s);
    std::size_t last = s.span.begin;
    for (const Stmt* child : s.children) {
      within(s.span, child->span, what + " child");
      if (child->span.begin < last) fail("statements of a block overlap");
      last = child->span.end;
      if (child->parent != &s) fail("parent of a statement");
    }
    for (const Stmt* part : {s.init, s.body, s.otherwise}) {
      if (part == nullptr) continue;
      within(s.span, part->span, what + " part");
      if (part->parent != &s) fail("parent of the part of a " + what);
    }
    if (!s.header.empty()) within(s.span, s.header, what + " header");
    for (const Declarator* d : s.declarators) {
      within(s.span, d->span, "declarator");
      if (!d->name_span.empty()) within(d->span, d->name_span, "declared name");
    }
    for (const Expr* e : expressions_of(s)) {
      within(s.span, e->span, what + " expression");
      if (e->parent != nullptr) fail("root of an expression has a parent");
      if (e->stmt != &s) fail("statement of an expression in a " + what);
      expression(*e);
    }
  }

  void expression(const Expr& e) {
    within(e.outer, e.span, kind_of(e) + " outer");
    for (const Expr* arg : e.args) {
      within(e.span, arg->outer, kind_of(e) + " operand " + kind_of(*arg));
      if (arg->parent != &e) fail("parent of an expression");
      expression(*arg);
    }
  }

  const Unit& unit_;
  std::string wrong_;
};

void use_facts(const Unit& unit) {
  for (const Function* f : unit.functions()) {
    if (f->body == nullptr) continue;
    const KernelFacts facts = analyse(unit, *f);
    std::string why;
    for (const auto& loop : facts.loops) (void)facts.independent_over(*loop, why);
    for (const Access& access : facts.accesses) {
      (void)access.index.text();
      (void)facts.resolved(access.index).key();
      (void)facts.provably_nonnegative(access.index, access.guards, access.loops);
      if (access.stmt != nullptr) (void)facts.uniformly_reached(*access.stmt);
    }
    walk(*f->body, [&](const Stmt& s) {
      for (const Expr* e : expressions_of(s)) {
        (void)type_of(facts, *e);
        (void)facts.polynomial(*e);
        (void)constant_value(unit, *e);
      }
      return true;
    });
    (void)facts.estimate({});
  }
}

}  // namespace

std::string mutated(const std::string& source, const std::vector<std::string>& corpus, Rng& rng) {
  std::string out = source;
  const std::uint64_t edits = 1 + rng.below(6);
  for (std::uint64_t i = 0; i < edits; ++i) {
    if (out.empty()) out = " ";
    const std::vector<Token> tokens = tokenize(out).tokens;
    const auto pick = [&] { return tokens.empty() ? Token{} : tokens[rng.below(tokens.size())]; };
    const std::size_t at = rng.below(out.size());
    switch (rng.below(9)) {
      case 0:
        out.erase(at, 1 + rng.below(4));
        break;
      case 1:
        out[at] = static_cast<char>(rng.below(256));
        break;
      case 2: {
        const Token t = pick();
        out.erase(t.begin, t.size());
        break;
      }
      case 3: {
        const Token t = pick();
        out.insert(t.begin, out.substr(t.begin, t.size()) + " ");
        break;
      }
      case 4: {
        const Token a = pick();
        const Token b = pick();
        const std::string text = out.substr(b.begin, b.size());
        out.replace(a.begin, a.size(), text);
        break;
      }
      case 5: {
        const std::string_view word = kOddWords[rng.below(kOddWords.size())];
        const std::uint64_t times = rng.below(40) == 0 ? 2000 : 1;
        const std::size_t where = pick().begin;
        std::string text;
        for (std::uint64_t n = 0; n < times; ++n) text += std::string(word) + " ";
        out.insert(where, text);
        break;
      }
      case 6: {
        const std::string& other = corpus[rng.below(corpus.size())];
        if (other.empty()) break;
        const std::size_t from = rng.below(other.size());
        out.insert(pick().begin, other.substr(from, 1 + rng.below(200)));
        break;
      }
      case 7: {
        const Token a = pick();
        const Token b = pick();
        const std::size_t from = std::min(a.begin, b.begin);
        const std::size_t to = std::max(a.begin, b.begin);
        const std::string text = out.substr(from, std::min<std::size_t>(to - from, 400));
        out.insert(to, text);
        break;
      }
      default: {
        const Token a = pick();
        const Token b = pick();
        const std::size_t from = std::min(a.begin, b.begin);
        out.erase(from, std::min<std::size_t>(std::max(a.begin, b.begin) - from, 300));
      }
    }
  }
  constexpr std::size_t kLongest = 60000;
  if (out.size() > kLongest) out.resize(kLongest);
  return out;
}

std::string check_model(const std::string& source) {
  const Unit unit = parse(source);
  std::string wrong = Checker(unit).run();
  if (!wrong.empty()) return wrong;
  if (print(unit) != print(parse(source))) return "a second parse gives another tree";
  use_facts(unit);
  return {};
}

}  // namespace warpath::test
