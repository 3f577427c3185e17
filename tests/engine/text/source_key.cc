#include "engine/text/source_key.h"

#include <doctest/doctest.h>

#include <string>
#include <string_view>
#include <vector>

using warpath::Hash128;
using warpath::source_key;
using warpath::SourceKeyRules;

TEST_SUITE_BEGIN("source_key");

namespace {

struct Pair {
  std::string why;
  std::string a, b;
};

Hash128 key(std::string_view source) {
  return source_key(source, {});
}

/// A kernel with `body`, between declarations that make it a whole file.
std::string kernel(const std::string& body) {
  return "__device__ float scale = 2.0f;\n"
         "extern \"C\" __global__ void k(float* o, const float* x, int n) {\n" +
         body + "\n}\n";
}

}  // namespace

TEST_CASE("what a compiler does not see does not count") {
  const std::vector<Pair> pairs{
      {"line comment", "int a; // one", "int a; // two"},
      {"block comment is a blank", "int/**/a;", "int a;"},
      {"comment over lines", "int a; /* \n\n */ int b;", "int a; int b;"},
      {"white space", "void f(){return;}", "void f ( ) \n{\n\treturn ; }"},
      {"line splice in a name", "int al\\\npha;", "int alpha;"},
      {"line splice in a comment", "// a \\\n b\nint x;", "int x;"},
      {"carriage returns", "int a;\r\nint b;\r\n", "int a;\nint b;\n"},
      {"digraphs", "int a<:2:> = <%1, 2%>;", "int a[2] = {1, 2};"},
      {"blanks in a directive", "#  define  N   4\nint a[N];", "#define N 4 // four\nint a[N];"},
      {"directive over lines", "#define N \\\n 4\n", "#define N 4\n"},
      {"pragma layout", "#pragma   unroll 4\n", "#pragma unroll 4\n"},
      {"renamed parameter", "void f(int a, float* b) { b[a] = 1; }",
       "void f(int i, float* out) { out[i] = 1; }"},
      {"renamed local", kernel("int i = threadIdx.x; if (i < n) o[i] = x[i];"),
       kernel("int t = threadIdx.x; if (t < n) o[t] = x[t];")},
      {"renamed everywhere", kernel("int i = threadIdx.x; if (i < n) o[i] = x[i];"),
       "__device__ float scale = 2.0f;\nextern \"C\" __global__ void k(float* out, const float* "
       "in, int count) {\n"
       "int t = threadIdx.x; if (t < count) out[t] = in[t];}"},
      {"renamed loop variable", kernel("for (int i = 0; i < n; ++i) o[i] = 0;"),
       kernel("for (int j = 0; j < n; ++j) o[j] = 0;")},
      {"renamed nested loops without braces",
       kernel("for (int i = 0; i < 4; ++i) for (int j = 0; j < i; ++j) o[i] += x[j];"),
       kernel("for (int p = 0; p < 4; ++p) for (int q = 0; q < p; ++q) o[p] += x[q];")},
      {"renamed shared array",
       kernel("__shared__ float tile[32][33]; tile[threadIdx.y][threadIdx.x] = x[0];"),
       kernel("__shared__ float s[32][33]; s[threadIdx.y][threadIdx.x] = x[0];")},
      {"several declarators", kernel("int a = 1, *b = &a; o[a] = *b;"),
       kernel("int p = 1, *q = &p; o[p] = *q;")},
      {"renamed across a pragma",
       kernel("float s = 0;\n#pragma unroll\nfor (int i = 0; i < 8; ++i) s += x[i]; o[0] = s;"),
       kernel(
           "float sum = 0;\n#pragma unroll\nfor (int u = 0; u < 8; ++u) sum += x[u]; o[0] = sum;")},
      {"in a template", "template <typename T> __global__ void k(T* o) { T v = o[0]; o[1] = v; }",
       "template <typename T> __global__ void k(T* p) { T w = p[0]; p[1] = w; }"},
      {"vector types",
       kernel("float4 v = reinterpret_cast<const float4*>(x)[0]; o[0] = v.x + v.w;"),
       kernel("float4 pack = reinterpret_cast<const float4*>(x)[0]; o[0] = pack.x + pack.w;")},
      {"shadowing kept", kernel("int a = 1; { int a = 2; o[a] = 0; } o[a] = 1;"),
       kernel("int b = 1; { int b = 2; o[b] = 0; } o[b] = 1;")},
      {"range for", kernel("int v[2] = {1, 2}; for (int e : v) o[e] = 0;"),
       kernel("int w[2] = {1, 2}; for (int f : w) o[f] = 0;")},
      {"condition", kernel("if (int a = n) o[a] = 1; else o[-a] = 2;"),
       kernel("if (int b = n) o[b] = 1; else o[-b] = 2;")},
      {"names of another function", "void f(int a) { a = 1; } void g(int b) { b = 2; }",
       "void f(int x) { x = 1; } void g(int x) { x = 2; }"},
      {"in a namespace", "namespace m { void f(int a) { a = 1; } }",
       "namespace m { void f(int b) { b = 1; } }"},
  };
  for (const Pair& pair : pairs) {
    CAPTURE(pair.why);
    CHECK(key(pair.a) == key(pair.b));
  }
}

TEST_CASE("what changes the program changes the key") {
  const std::vector<Pair> pairs{
      {"called function", kernel("o[0] = expf(x[0]);"), kernel("o[0] = sinf(x[0]);")},
      {"called function, a local of that name in another scope",
       kernel("{ int expf = 1; o[1] = expf; } o[0] = expf(x[0]);"),
       kernel("{ int sinf = 1; o[1] = sinf; } o[0] = sinf(x[0]);")},
      {"called function, a local of that name in another function",
       "void g(int expf) { expf = 1; }" + kernel("o[0] = expf(x[0]);"),
       "void g(int sinf) { sinf = 1; }" + kernel("o[0] = sinf(x[0]);")},
      {"address of a function", kernel("float (*f)(float) = expf; o[0] = f(x[0]);"),
       kernel("float (*f)(float) = sinf; o[0] = f(x[0]);")},
      {"function as template argument", kernel("int a = apply<3, expf, 4>(n), b = 1; o[a] = b;"),
       kernel("int a = apply<3, sinf, 4>(n), b = 1; o[a] = b;")},
      {"builtin variable", kernel("int i = threadIdx.x; o[i] = 0;"),
       kernel("int i = blockIdx.x; o[i] = 0;")},
      {"builtin variable in a loop's shadow",
       kernel("for (int warpSize = 0; warpSize < 2; ++warpSize) ; o[warpSize] = 0;"),
       kernel("for (int blah = 0; blah < 2; ++blah) ; o[blah] = 0;")},
      {"swapped operands", kernel("int a = 1, b = 2; o[0] = a - b;"),
       kernel("int a = 1, b = 2; o[0] = b - a;")},
      {"swapped parameters", "void f(int a, int b) { g[a] = b; }",
       "void f(int b, int a) { g[a] = b; }"},
      {"other parameter used", kernel("o[0] = x[n];"), kernel("x[0] = o[n];")},
      {"shadowing lost", kernel("int a = 1; { int a = 2; o[a] = 0; }"),
       kernel("int a = 1; { int b = 2; o[a] = 0; }")},
      {"shadowing undone in use", kernel("int a = 1; { int b = 2; o[a] = 0; }"),
       kernel("int a = 1; { int b = 2; o[b] = 0; }")},
      {"for scope leaks to a global",
       "__device__ int i, j;" + kernel("for (int i = 0; i < n; ++i) ; o[i] = 0;"),
       "__device__ int i, j;" + kernel("for (int j = 0; j < n; ++j) ; o[j] = 0;")},
      {"use before the declaration", kernel("o[0] = PI; float PI = 3;"),
       kernel("o[0] = TAU; float TAU = 3;")},
      {"use in the bounds of its own declaration", kernel("int FLT[FLT]; o[0] = FLT[0];"),
       kernel("int DBL[DBL]; o[0] = DBL[0];")},
      {"members", kernel("float2 v; v.x = 1; v.y = 2; o[0] = v.x;"),
       kernel("float2 v; v.x = 1; v.y = 2; o[0] = v.y;")},
      {"member with the name of a local", kernel("int x1 = 0; P p; p.x1 = x1;"),
       kernel("int y1 = 0; P p; p.y1 = y1;")},
      {"type behind an arrow",
       kernel("int a = 1; auto f = [](int) -> half { return 0; }; o[a] = f(1);"),
       kernel("int a = 1; auto f = [](int) -> half2 { return 0; }; o[a] = f(1);")},
      {"fields of a file's struct", "struct S { int a; int b; };", "struct S { int b; int a; };"},
      {"fields of a local struct", kernel("struct S { int a, b; }; S s{1, 2}; o[s.a] = 0;"),
       kernel("struct S { int b, a; }; S s{1, 2}; o[s.a] = 0;")},
      {"enumerators of a local enum", kernel("enum { A, B }; int c = A; o[c] = B;"),
       kernel("enum { B, A }; int c = A; o[c] = B;")},
      {"macro body", "#define N 4\nint a[N];", "#define N 8\nint a[N];"},
      {"macro with and without parameters", "#define F(x) 1\n", "#define F (x) 1\n"},
      {"macro uses a local", "#define NEXT i + 1\n" + kernel("int i = 0, j = 5; o[NEXT] = j;"),
       "#define NEXT i + 1\n" + kernel("int j = 0, i = 5; o[NEXT] = i;")},
      {"macro turns a name into text", "#define S(x) #x\nconst char* f(int a) { return S(a); }",
       "#define S(x) #x\nconst char* f(int b) { return S(b); }"},
      {"macro turns blanks into text", "#define S(x) #x\nconst char* s = S(a+b);",
       "#define S(x) #x\nconst char* s = S(a + b);"},
      {"macro joins names",
       "#define J(a) a##1\nvoid f(int p, int q1) { int p1 = 0; g = J(p) + q1; }",
       "#define J(a) a##1\nvoid f(int q, int q1) { int p1 = 0; g = J(q) + q1; }"},
      {"header may define macros", "#include \"own.h\"\nvoid f(int a) { g = USE; }",
       "#include \"own.h\"\nvoid f(int b) { g = USE; }"},
      {"line number is a value", "int a = __LINE__;", "\nint a = __LINE__;"},
      {"conditional structure", "#if A\nint a;\n#else\nint b;\n#endif",
       "#if B\nint a;\n#else\nint b;\n#endif"},
      {"literal", kernel("o[0] = 1.0f;"), kernel("o[0] = 1.0;")},
      {"hexadecimal float", kernel("o[0] = 0x1p-3f;"), kernel("o[0] = 0x1p+3f;")},
      {"string", "const char* s = \"a b\";", "const char* s = \"a  b\";"},
      {"comment marks in a string", "const char* s = \"// a\";", "const char* s = \"// b\";"},
      {"raw string", "const char* s = R\"(a\\\nb)\";", "const char* s = R\"(ab)\";"},
      {"plus plus", "int c = a+ +b;", "int c = a++b;"},
      {"split operator", "a > >b", "a >>b"},
      {"joined names", "int ab;", "int a b;"},
      {"pragma", "#pragma unroll 4\n", "#pragma unroll 8\n"},
      {"pragma place",
       kernel("#pragma unroll\nfor (int i = 0; i < 2; ++i) ; for (int j = 0; j < 2; ++j) ;"),
       kernel("for (int i = 0; i < 2; ++i) ;\n#pragma unroll\nfor (int j = 0; j < 2; ++j) ;")},
      {"type", kernel("float a = 0; o[0] = a;"), kernel("double a = 0; o[0] = a;")},
      {"type as unnamed parameter", "void f(const half) { g = (half)1; }",
       "void f(const half2) { g = (half2)1; }"},
      {"type behind an empty macro", "#define IN\nvoid f(IN alpha) { g = (alpha)1; }",
       "#define IN\nvoid f(IN beta) { g = (beta)1; }"},
      {"local type", kernel("using T = float; T v = 1; o[0] = sizeof(T);"),
       kernel("using U = double; U v = 1; o[0] = sizeof(U);")},
      {"external shared array",
       kernel("extern __shared__ float a[]; __shared__ float b[2]; o[0] = a[0];"),
       kernel("extern __shared__ float b[]; __shared__ float a[2]; o[0] = a[0];")},
      {"kernel name", "__global__ void f(int a) {}", "__global__ void g(int a) {}"},
      {"asm text", kernel("asm(\"add\" : \"=r\"(n));"), kernel("asm(\"sub\" : \"=r\"(n));")},
      {"asm operand by name",
       kernel("int a = 0, b = 1; asm(\"mov %[a], 1;\" : [a] \"=r\"(a)); o[0] = b;"),
       kernel("int b = 0, a = 1; asm(\"mov %[a], 1;\" : [b] \"=r\"(b)); o[0] = a;")},
      {"constant of a default argument", "const int A = 1, B = 2; void f(int n = A) {}",
       "const int A = 1, B = 2; void f(int n = B) {}"},
      {"constructor", "struct S { S(); int m; }; S::S() : m(1) {}",
       "struct S { S(); int m; }; S::S() : m(2) {}"},
      {"lambda capture by value and by reference",
       kernel("int a = 1; auto f = [a] { return a; }; o[0] = f();"),
       kernel("int a = 1; auto f = [&a] { return a; }; o[0] = f();")},
  };
  for (const Pair& pair : pairs) {
    CAPTURE(pair.why);
    CHECK(key(pair.a) != key(pair.b));
  }
}

TEST_CASE("names fixed from outside are not renamed") {
  const std::string a = "void f(int TILE) { g[TILE] = 1; }",
                    b = "void f(int WIDE) { g[WIDE] = 1; }";
  CHECK(source_key(a, {}) == source_key(b, {}));
  CHECK(source_key(a, {{"TILE"}, true}) != source_key(b, {{"TILE"}, true}));
  CHECK(source_key(a, {{}, false}) != source_key(b, {{}, false}));
}

TEST_CASE("deep nesting and wild structure have a key") {
  std::string deep = "void f(int a) {";
  for (int i = 0; i < 20000; ++i) deep += "if (a) {";
  for (int i = 0; i < 20000; ++i) deep += "}";
  const std::string renamed = "void f(int b) {" + deep.substr(15);
  CHECK(key(deep + "}") == key(deep + " }"));
  std::string chain = "void f(int a) {";
  for (int i = 0; i < 20000; ++i) chain += "for (int i = 0;;) ";
  CHECK(key(chain + ";}") != key(chain + ";;}"));
  for (const std::string source : {"", "{", "}", ")", "f(", "void f(int a", "#", "#define",
                                   "void f() { for (", "a<b<c<", "case"}) {
    CAPTURE(source);
    CHECK(key(source) == key(source));
  }
}

TEST_SUITE_END();
