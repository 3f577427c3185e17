#include "experiments/project/foreign_names.h"

#include <doctest/doctest.h>

#include <map>
#include <string>

#include "experiments/project/warp_steps.h"

using namespace warpath;

TEST_SUITE_BEGIN("foreign_names");

TEST_CASE("a function that nothing declares is what it is named for, behind its name") {
  std::map<std::string, std::string> replaced;
  CHECK(with_foreign_names("y = ScalarConvert<float, Acc>::to(f(x) + ScalarConvert<int, "
                           "unsigned int>::to(n));",
                           replaced) ==
        "y = /* ScalarConvert */ static_cast<Acc>(static_cast<float>(f(x) + /* ScalarConvert */ "
        "static_cast<unsigned int>(static_cast<int>(n))));");
  CHECK(with_foreign_names("n = a::CeilDiv(f(x, 1), (long)m) * 2; return divUp(n, m);", replaced) ==
        "n = /* CeilDiv */ (((f(x, 1)) + ( (long)m) - 1) / ( (long)m)) * 2; return /* divUp */ "
        "(((n) + ( m) - 1) / ( m));");
  CHECK(replaced ==
        std::map<std::string, std::string>{{"CeilDiv", "a quotient that is rounded up"},
                                           {"ScalarConvert", "a cast to its last argument"},
                                           {"divUp", "a quotient that is rounded up"}});
  replaced.clear();
  CHECK(with_foreign_names("y[i] = g - THCNumerics<T>::exp(x); at::gpuAtomicAddNoReturn(y, x);",
                           replaced) ==
        "y[i] = g - /* THCNumerics */ exp(x); /* gpuAtomicAddNoReturn */ atomicAdd(y, x);");
  CHECK(
      with_foreign_names("void f(at::Half* x, c10::BFloat16 y);", replaced) ==
      "#include <cuda_bf16.h>\n#include <cuda_fp16.h>\nvoid f(/* Half */ __half* x, /* BFloat16 */ "
      "__nv_bfloat16 y);");
  CHECK(replaced ==
        std::map<std::string, std::string>{
            {"BFloat16", "__nv_bfloat16"},
            {"Half", "__half"},
            {"THCNumerics", "the function or operator of this name, or the largest float"},
            {"gpuAtomicAddNoReturn", "atomicAdd"}});
  CHECK(with_foreign_names("m = -THCNumerics<T>::max();", replaced) ==
        "m = -/* THCNumerics */ static_cast<T>(3.402823466e38f);");
  const std::string half = "void f(at::Half* x);";
  CHECK(with_foreign_names(half, replaced, true) == half);
  CHECK(with_foreign_names("m = THCNumerics<T>::min(); *y = THCNumerics<T>::div(*y, f(a, b));",
                           replaced) ==
        "m = /* THCNumerics */ static_cast<T>(-3.402823466e38f); *y = /* THCNumerics */ ((*y) / ( "
        "f(a, "
        "b)));");
  replaced.clear();
  for (const char* const own :
       {"void gpuAtomicAdd(int*, int);\nint f() { gpuAtomicAdd(p, 1); }", "my::Half x;",
        "at::Half x = at::Half::from_bits(1);",
        "namespace at { struct alignas(2) API Half { short x; }; }\nat::Half y;",
        "y = THCNumerics<T>::own(x);", "int __shfl(int, int);\nint f() { return __shfl(1, 2); }",
        "y = THCNumerics<T>::div(x);",
        R"(template <class A, class B> struct ScalarConvert { static B to(A); };
           y = ScalarConvert<float, int>::to(x);)",
        "y = Scale<float, int>::to(x);", "y = bit_cast<float>(x);",
        "int ceil_div(int a, int b);\nint f() { return ceil_div(1, 2); }",
        "#define DIVUP(a, b) ((a) / (b))\nint f() { return DIVUP(1, 2); }", "x = divUp(1);"}) {
    CHECK(with_foreign_names(own, replaced) == own);
  }
  CHECK(replaced.empty());
}

TEST_CASE("a function object of a library is a class with its function") {
  std::map<std::string, std::string> replaced;
  const std::string text = with_foreign_names("y = f(x, thrust::plus<T>());", replaced);
  CHECK(text.ends_with("y = f(x, /* plus */ thrust_plus<T>());"));
  CHECK(text.starts_with("template <typename T>\nstruct thrust_plus {"));
  CHECK(replaced.at("plus") == "a + b");
  for (const char* const own : {"y = std::plus<T>();", "y = thrust::plus;",
                                "namespace thrust { template <class T> struct plus { }; }\n"
                                "y = thrust::plus<T>();"})
    CHECK(with_foreign_names(own, replaced) == own);
}

TEST_CASE("threads of a warp that exchange values in step read, then write") {
  const std::string step(kWarpStep);
  CHECK(with_warp_steps("void f(volatile float* p, int i) { if (i < 8) p[i] += p[i + 8]; }") ==
        "void f(volatile float* p, int i) { if (i < 8) " + step +
            "{ const auto warp_step = p[i] + (p[i + 8]); __syncwarp(); p[i] = warp_step; "
            "__syncwarp(); } }");
  CHECK(with_warp_steps("{ volatile int* p = s; p[i] = max(p[i], p[i ^ 1]); }") ==
        "{ volatile int* p = s; " + step +
            "{ const auto warp_step = max(p[i], p[i ^ 1]); __syncwarp(); p[i] = warp_step; "
            "__syncwarp(); } }");
  for (const char* const other :
       {"void f(float* p, int i) { p[i] += p[i + 8]; }",
        "void f(volatile float* p, int i) { p[i] = 0; q = p[i]; }",
        "void f(volatile float* p) { } void g(float* p) { p[0] += p[1]; }",
        "{ { volatile int* p = s; } p[0] += p[1]; }"})
    CHECK(with_warp_steps(other) == other);
}

TEST_SUITE_END();
