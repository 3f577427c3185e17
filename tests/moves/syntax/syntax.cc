#include <doctest/doctest.h>

#include <algorithm>
#include <filesystem>
#include <fstream>
#include <iterator>
#include <string>
#include <vector>

#include "moves/model/facts.h"
#include "moves/syntax/syntax_query.h"
#include "moves/syntax/unit.h"

using namespace warpath;
using namespace warpath::model;

TEST_SUITE_BEGIN("model_syntax");

namespace {

const std::string kRoot = WARPATH_SOURCE_ROOT;

std::string read_file(const std::string& path) {
  std::ifstream in(path, std::ios::binary);
  return {std::istreambuf_iterator<char>(in), std::istreambuf_iterator<char>()};
}

/// The body of a kernel that holds `text`.
Unit kernel_with(const std::string& text) {
  return parse(
      "template <typename T> struct V {};\nstruct S { int x; };\n__global__ void k(float* a, const "
      "float* b, int n) {\n" +
      text + "\n}\n");
}

const Stmt& first_statement(const Unit& unit) {
  return *unit.find_function("k")->body->children[0];
}

/// The tree of an expression as nested kinds: (binary + (name a) (number 1)).
std::string tree(const Expr& e) {
  std::string out = "(" + std::string(name(e.kind));
  if (!e.op.empty()) out += " " + std::string(e.op);
  if (!e.name.empty()) out += " " + std::string(e.name);
  for (const Expr* arg : e.args) out += " " + tree(*arg);
  return out + ")";
}

std::string tree_of(const std::string& expression) {
  const Unit unit = kernel_with(expression + ";");
  const Stmt& s = first_statement(unit);
  return s.kind == StmtKind::expression ? tree(*s.expr) : std::string(name(s.kind));
}

}  // namespace

TEST_CASE(
    "every kernel of the repository parses without an opaque span, but for the odd one made to "
    "confuse") {
  std::size_t kernels = 0;
  std::size_t clear = 0;
  for (const char* folder : {"/specs", "/tests/data"}) {
    for (const auto& entry : std::filesystem::recursive_directory_iterator(kRoot + folder)) {
      if (entry.path().extension() != ".cu") continue;
      const Unit unit = parse(read_file(entry.path().string()));
      for (const Function* f : unit.functions()) {
        if (!f->is_global || (f->body == nullptr && f->opaque.empty())) continue;
        ++kernels;
        if (f->opaque.empty()) ++clear;
      }
    }
  }
  CHECK(kernels > 250);
  CHECK(clear * 100 >= kernels * 99);
}

TEST_CASE("constructs that CUDA code is full of are understood") {
  const Unit unit = parse(read_file(kRoot + "/tests/data/model/constructs.cu"));
  for (const Function* f : unit.functions()) {
    CAPTURE(f->name);
    for (const Span span : f->opaque) CAPTURE(unit.plain_text(span));
    CHECK(f->opaque.empty());
  }
  const Function* templated = unit.find_kernel("templated<float, 4, true>");
  REQUIRE(templated != nullptr);
  CHECK(templated->is_global);
  CHECK(templated->template_parameters.size() == 3);
  CHECK(templated->template_parameters[0].is_type);
  CHECK(unit.text(templated->launch_bounds) == "__launch_bounds__(BLOCK, 2)");
  CHECK(templated->launch_bounds_args.size() == 2);
  REQUIRE(templated->parameters.size() == 3);
  CHECK(templated->parameters[0]->name == "in");
  CHECK(templated->parameters[0]->has(kConst));
  CHECK((templated->parameters[0]->pointer_qualifiers & kRestrict) != 0);
  CHECK(templated->parameters[2]->is_constant());
  CHECK(unit.find_function("host_side") != nullptr);
  CHECK(unit.constants().at("BLOCK") == 256);
  CHECK(unit.constants().at("WIDE") == 1);
  CHECK(unit.constants().at("kPad") == 17);
  CHECK(unit.constants().at("kHeight") == 9);
}

TEST_CASE("expressions have the tree that C++ gives them") {
  CHECK(tree_of("a[0] = n + 1 * 2") ==
        "(assign = (subscript (name a) (number 0)) (binary + (name n) (binary * (number 1) (number "
        "2))))");
  CHECK(tree_of("n = a - b - n") ==
        "(assign = (name n) (binary - (binary - (name a) (name b)) (name n)))");
  CHECK(tree_of("n ? n : n ? n : 1") ==
        "(conditional (name n) (name n) (conditional (name n) (name n) (number 1)))");
  CHECK(tree_of("n = n = 1") == "(assign = (name n) (assign = (name n) (number 1)))");
  CHECK(tree_of("*a++") == "(unary * (postfix ++ (name a)))");
  CHECK(tree_of("n < 1 && n > (2)") ==
        "(binary && (binary < (name n) (number 1)) (binary > (name n) (number 2)))");
  CHECK(tree_of("f<4>(n)") == "(call (name f<4>) (name n))");
  CHECK(tree_of("(float)n * 2") == "(binary * (cast ( (name n)) (number 2))");
  CHECK(tree_of("(n) * 2") == "(binary * (name n) (number 2))");
  CHECK(tree_of("(n) - 2") == "(binary - (name n) (number 2))");
  CHECK(tree_of("(float*)a") == "(cast ( (name a))");
  CHECK(tree_of("(unknown)a") == "(cast ( (name a))");
  CHECK(tree_of("float(n) + S(n)") == "(binary + (cast (name n)) (cast (name n)))");
  CHECK(tree_of("a->b.c[n]") == "(subscript (member . c (member -> b (name a))) (name n))");
  CHECK(tree_of("static_cast<V<V<float>>*>(a)") == "(cast static_cast (name a))");
  CHECK(tree_of("sizeof(float) * sizeof n") ==
        "(binary * (size_of sizeof) (size_of sizeof (name n)))");
  CHECK(tree_of("n << 1 >> 2 & 3") ==
        "(binary & (binary >> (binary << (name n) (number 1)) (number 2)) (number 3))");
  CHECK(tree_of("!n == ~n") == "(binary == (unary ! (name n)) (unary ~ (name n)))");
  CHECK(tree_of("n, n") == "(comma (name n) (name n))");
}

TEST_CASE("declarations are told from products and calls") {
  CHECK(tree_of("S * p") == "declaration");
  CHECK(tree_of("unknown * p = 0") == "declaration");
  CHECK(tree_of("n * n") == "(binary * (name n) (name n))");
  CHECK(tree_of("V<float> v") == "declaration");
  CHECK(tree_of("unsigned long long x(3)") == "declaration");
  CHECK(tree_of("g(n)") == "(call (name g) (name n))");
  const Unit unit = kernel_with("static const unsigned int *const *p = 0, q[2][3] = {}, *r;");
  const Stmt& s = first_statement(unit);
  REQUIRE(s.declarators.size() == 3);
  const Declarator& p = *s.declarators[0];
  CHECK(p.name == "p");
  CHECK(p.pointer_depth == 2);
  CHECK(unit.text(p.type) == "unsigned int");
  CHECK(p.has(kConst));
  CHECK(p.has(kStatic));
  const Declarator& q = *s.declarators[1];
  CHECK(q.extents.size() == 2);
  CHECK(unit.text(*q.extents[1]) == "3");
  CHECK(s.declarators[2]->pointer_depth == 1);
}

TEST_CASE("statements hold their parts") {
  const Unit unit =
      kernel_with("#pragma unroll\nfor (int i = 0; i < n; i++) if (i) a[i] = 1; else { break; }");
  const Function& k = *unit.find_function("k");
  REQUIRE(k.body->children.size() == 2);
  const Stmt& loop = *k.body->children[1];
  CHECK(loop.kind == StmtKind::for_);
  REQUIRE(loop.pragma != nullptr);
  CHECK(unit.text(*loop.pragma) == "#pragma unroll");
  CHECK(unit.text(*loop.expr) == "i < n");
  CHECK(unit.text(*loop.step) == "i++");
  CHECK(unit.text(loop.header) == "for (int i = 0; i < n; i++)");
  CHECK(loop.body->kind == StmtKind::if_);
  CHECK(loop.body->otherwise->children[0]->kind == StmtKind::break_);
  CHECK(enclosing_loop(*loop.body->otherwise->children[0]) == &loop);
  CHECK(loop.body->body->expr->arg(0).stmt == loop.body->body);
}

TEST_CASE("conditions may begin with a statement") {
  const Unit unit = kernel_with(
      "if (n = 2; n > 1) a[0] = 1;\nif (int m = n; m) a[1] = m;\nwhile (int q = n) a[q] = 2;");
  const Function& k = *unit.find_function("k");
  REQUIRE(k.body->children.size() == 3);
  CHECK(k.opaque.empty());
  const Stmt& first = *k.body->children[0];
  REQUIRE(first.init != nullptr);
  CHECK(first.init->expr->stmt == first.init);
  CHECK(unit.text(*first.expr) == "n > 1");
  CHECK(k.body->children[1]->init->declarators.size() == 1);
  CHECK(k.body->children[2]->expr == nullptr);
}

TEST_CASE("what is not understood is opaque and no wider than its statement") {
  const Unit unit = kernel_with("a[0] = 1; @ what ever; a[1] = f(1, ] , 2); a[2] = 3;");
  const Function& k = *unit.find_function("k");
  REQUIRE(!k.opaque.empty());
  CHECK(unit.text(k.opaque[0]) == "@ what ever;");
  CHECK(k.body->children.front()->kind == StmtKind::expression);
}

TEST_CASE("names are found in their scopes") {
  const Unit unit =
      kernel_with("int i = 1; { float i = 2; a[0] = i; } for (int n = 0; n < 4; ++n) a[n] = i;");
  const Function& k = *unit.find_function("k");
  std::vector<std::string> types;
  walk_expressions(*k.body, [&](const Expr& e) {
    if (const Declarator* d = declaration_of(unit, e);
        d != nullptr && e.stmt->kind == StmtKind::expression) {
      types.push_back(std::string(e.name) + ":" + std::string(unit.text(d->type)) +
                      (d->is_parameter ? "!" : ""));
    }
    return true;
  });
  CHECK(types == std::vector<std::string>{"a:float!", "i:float", "a:float!", "n:int", "i:int"});
  CHECK(visible(unit, k, "n", k.body->children[0]->span.begin)->is_parameter);
}

TEST_CASE("constants are folded, with macros, tunables and template arguments") {
  ParseOptions options;
  options.bindings = {{"TILE", 32}};
  options.kernel_name = "k<float, 8>";
  const Unit unit = parse(
      "#ifndef TILE\n#define TILE 16\n#endif\n#define HALF (TILE / 2)\n#define SHIFTED (1 << 4)\n"
      "template <typename T, int N> __global__ void k(T* a) { constexpr int n = N * HALF; int m = "
      "n; a[0] = sizeof(T) + m; }\n",
      options);
  CHECK(constant_value(unit, "TILE + HALF") == 48);
  CHECK(constant_value(unit, "SHIFTED % 5 == 1 ? 7 : 8") == 7);
  CHECK(constant_value(unit, "unknown + 1") == std::nullopt);
  CHECK(constant_value(unit, "1 / 0") == std::nullopt);
  const Function& k = *unit.find_kernel("k<float, 8>");
  CHECK(constant_value(unit, *k.body->children[0]->declarators[0]->value()) == 128);
  CHECK(unit.resolved_type("T") == "float");
}

TEST_CASE("conditions decide what is parsed") {
  const std::string text =
      "#if VARIANT == 1\n__global__ void one() {}\n#else\n__global__ void other() {}\n#endif\n";
  ParseOptions options;
  options.bindings = {{"VARIANT", 1}};
  CHECK(parse(text, options).find_function("one") != nullptr);
  CHECK(parse(text, options).find_function("other") == nullptr);
  CHECK(parse(text).find_function("other") != nullptr);
  const Unit open = parse(
      "__global__ void k(int* a) {\n#if __CUDA_ARCH__ >= 900\n a[0] = 1;\n#else\n a[0] = "
      "2;\n#endif\n}\n");
  CHECK(open.find_function("k")->unresolved_conditionals);
  CHECK(open.conditionals().size() == 2);
}

TEST_CASE("a condition is decided where it is the same on all devices that kernels are built for") {
  const std::pair<const char*, const char*> decided[] = {
      {"#if __CUDA_ARCH__ >= 350", "yes"},
      {"#ifdef __CUDA_ARCH__", "yes"},
      {"#if defined(__CUDA_ARCH__) && __CUDA_ARCH__ < 530", "no"},
      {"#if __CUDA_ARCH__ / 100 < 5", "no"},
      {"#ifdef __HIP_PLATFORM_HCC__", "no"},
      {"#if __CUDA_ARCH__ >= 350 || defined __HIP_PLATFORM_HCC__", "yes"},
      {"#if defined(_MSC_VER)", "no"}};
  for (const auto& [condition, branch] : decided) {
    CAPTURE(condition);
    const std::string text = "__global__ void k(int* yes, int* no) {\n" + std::string(condition) +
                             "\n yes[0] = 1;\n#else\n no[0] = 1;\n#endif\n}\n";
    const Unit unit = parse(text);
    const Function* const k = unit.find_function("k");
    CHECK_FALSE(k->unresolved_conditionals);
    const auto& children = k->body->children;
    CHECK(std::count_if(children.begin(), children.end(), [&](const Stmt* s) {
            return unit.text(s->span).starts_with(branch);
          }) == 1);
    CHECK(std::none_of(children.begin(), children.end(), [&](const Stmt* s) {
      return unit.text(s->span).starts_with(branch == std::string("yes") ? "no" : "yes");
    }));
  }
  for (const char* const condition :
       {"#if __CUDA_ARCH__ >= 800", "#if __CUDA_ARCH__ / 100 == 9", "#if CUDA_VERSION < 9000",
        "#ifdef __GNUC__", "#if __CUDA_ARCH__ >= LEAST"}) {
    CAPTURE(condition);
    const std::string text = "#define LEAST 800\n__global__ void k(int* a) {\n" +
                             std::string(condition) + "\n a[0] = 1;\n#endif\n}\n";
    const Unit unit = parse(text);
    CHECK(unit.find_function("k")->unresolved_conditionals);
  }
}

TEST_CASE("a macro may stand for the head of a loop") {
  const Unit known = parse(
      "#define EACH(i, n) for (int i = 0; i < (n); ++i)\n__global__ void k(int* a, int n) { "
      "EACH(i, n) { a[i] = 1; } }\n");
  const Stmt& s = first_statement(known);
  CHECK(s.kind == StmtKind::macro);
  CHECK(known.find_function("k")->opaque.empty());
  REQUIRE(s.body != nullptr);
  CHECK(s.body->children.size() == 1);
  const Unit unknown = parse("__global__ void k(int* a, int n) { EACH(i, n) { a[i] = 1; } }\n");
  CHECK(unknown.find_function("k")->opaque.empty());
  CHECK(first_statement(unknown).kind == StmtKind::macro);
  CHECK(analyse(unknown, *unknown.find_function("k")).veto.find("EACH") != std::string::npos);
}

TEST_CASE(
    "comparisons are no template arguments, and an object made in passing is no declaration") {
  const Unit unit = parse(
      "template <class T> __global__ void k(int* a, int n, int w) {\n  for (int i = 0; i < n; i++) "
      "{\n    if (i < 0 || i > n - 1 || w < 0 || "
      "w > n - 1) { continue; }\n    a[i] = 1;\n  }\n  typename T::Load(w).Store(a, "
      "reinterpret_cast<int (*)[4]>(&n));\n}\n");
  CHECK(unit.find_function("k")->opaque.empty());
}

TEST_CASE("words of somebody's own may qualify a pointer, and decltype may name a scope") {
  const Unit unit = parse(
      "template <class T> __global__ void k(const float* a_ptr, float* b, T tiles) {\n  const "
      "float * MY_RESTRICT a = a_ptr;\n  constexpr int "
      "units = decltype(tiles)::kUnits;\n  float kept[decltype(T::w)::kUnits];\n  kept[0] = "
      "a[0];\n  b[0] = kept[0] + units;\n}\n");
  const Function& k = *unit.find_function("k");
  CHECK(k.opaque.empty());
  CHECK(first_statement(unit).declarators[0]->name == "a");
}

TEST_CASE("helpers for edits") {
  const Unit unit = parse(
      "__global__ void k(int* a) {\n    // sets it\n    a[0] = 1;\n    int fresh = 2, "
      "fresh_2;\n}\n");
  const Stmt& s = first_statement(unit);
  CHECK(indentation(unit, s.span.begin) == "    ");
  CHECK(indent_unit(unit) == "    ");
  CHECK(unit.text(whole_lines(unit, s.span)) == "    a[0] = 1;\n");
  CHECK(unit.text(whole_lines(unit, s.span, true)) == "    // sets it\n    a[0] = 1;\n");
  CHECK(fresh_name(unit, "fresh") == "fresh_3");
  CHECK(fresh_name(unit, "int") == "int_2");
  CHECK(fresh_name(unit, "size_t") == "size_t_2");
  CHECK(fresh_name(unit, "cuda_sum") == "own_cuda_sum");
  CHECK(fresh_name(unit, "__square") == "own_square");
  CHECK(indented("a;\n\nb;\n", "  ") == "  a;\n\n  b;\n");
  CHECK(line_of(unit, s.span.begin) == 3);
  CHECK(same_text(unit, *s.expr, *s.expr));
}

TEST_CASE("functions without effects are known") {
  const Unit unit = parse(
      "__device__ float square(float x) { return x * x; }\n__device__ float cell(float* p) { "
      "return *p += 1; }\n"
      "__device__ float expf(float x) { x++; return x; }\n");
  CHECK(is_pure_function(unit, "square"));
  CHECK_FALSE(is_pure_function(unit, "cell"));
  CHECK_FALSE(is_pure_function(unit, "expf"));
  CHECK(is_pure_function(unit, "sqrtf"));
  CHECK(is_pure_function(unit, "__float2bfloat16_rn"));
  CHECK_FALSE(is_pure_function(unit, "printf"));
  CHECK_FALSE(is_pure_function(unit, "atomicAdd"));
}

TEST_SUITE_END();
