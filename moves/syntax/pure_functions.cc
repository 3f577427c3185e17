#include <algorithm>
#include <array>

#include "engine/base/words.h"
#include "moves/syntax/storage.h"
#include "moves/syntax/syntax_query.h"

namespace warpath::model {
namespace {

constexpr WordList kStems(
    "abs acos acosh asin asinh atan atan2 atanh cbrt ceil copysign cos cosh cospi erf erfc "
    "erfcinv erfcx erfinv exp exp10 exp2 expm1 fabs fdim fdivide floor fma fmax fmin fmod "
    "hypot ilogb isfinite isinf isnan ldexp lgamma llrint llround log log10 log1p log2 logb "
    "lrint lround max min nearbyint norm norm3d normcdf normcdfinv pow rcbrt remainder rhypot "
    "rint rnorm3d round rsqrt sigmoid signbit sin sinh sinpi sqrt tan tanh tgamma trunc umin "
    "umax llmin llmax ullmin ullmax labs llabs __popc __popcll __clz __clzll __brev __brevll "
    "__ffs __ffsll __mul24 __umul24 __mulhi __umulhi __umul64hi __mul64hi __sad __usad "
    "__saturate __byte_perm __funnelshift_l __funnelshift_r __fdividef __expf __exp10f __logf "
    "__log2f __log10f __sinf __cosf __tanf __powf __frcp_rn __fsqrt_rn __frsqrt_rn "
    "__int_as_float __float_as_int __uint_as_float __float_as_uint __double_as_longlong "
    "__longlong_as_double __dp4a __dp2a_lo __dp2a_hi __ldg __ldcs __ldca __ldcg __ldlu __ldcv "
    "dim3 __habs __hadd __hsub __hmul __hdiv __hfma __hneg __hmax __hmin __hgt __hlt __hge "
    "__hle __heq __hadd2 __hsub2 __hmul2 __hfma2 __h2div __hmax2 __hmin2 hexp hlog hsqrt "
    "hrsqrt hrcp h2exp h2sqrt htanh __low2float __high2float __low2half __high2half "
    "__low2bfloat16 __high2bfloat16 __halves2half2 __halves2bfloat162 __floats2half2_rn "
    "__floats2bfloat162_rn __builtin_expect __builtin_assume_aligned cuCadd cuCmul cuCsub "
    "cuCreal cuCimag cuCreall cuCrealf cuCimagf cuCaddf cuCmulf cuCsubf cuCabsf cuCabs");

/// make_float4, make_half2, make_cuComplex.
bool makes_vector(std::string_view name) {
  if (!name.starts_with("make_")) return false;
  name.remove_prefix(5);
  return is_library_type(name) || name.starts_with("cu") || name == "bfloat162";
}

/// float2half_rn, __int2float_rz, __bfloat162float, make_float4, ...
bool is_conversion(std::string_view name) {
  if (makes_vector(name) || name.starts_with("__fadd_") || name.starts_with("__fmul_") ||
      name.starts_with("__fsub_") || name.starts_with("__fmaf_") || name.starts_with("__fdiv_") ||
      name.starts_with("__dadd_") || name.starts_with("__dmul_") || name.starts_with("__fma_")) {
    return true;
  }
  if (!name.starts_with("__") || name.find('2') == std::string_view::npos)
    return name.starts_with("__nv_cvt_");
  constexpr auto kTypes =
      std::to_array<std::string_view>({"float", "half", "bfloat16", "double", "int", "uint", "ll",
                                       "ull", "short", "ushort", "char", "uchar"});
  for (const std::string_view from : kTypes) {
    for (const std::string_view to : kTypes) {
      const std::string stem = "__" + std::string(from) + "2" + std::string(to);
      if (name.starts_with(stem)) return true;
      if (name.starts_with("__" + std::string(from) + "22" + std::string(to)) ||
          name.starts_with("__" + std::string(from) + "162" + std::string(to)))
        return true;
    }
  }
  return name.starts_with("__nv_cvt_");
}

bool is_stem(std::string_view name) {
  return kStems.contains(name);
}

bool is_pure_at(const Unit& unit, std::string_view name, int depth, int& budget);

bool is_pure_body(const Unit& unit, const Expr& value, int depth, int& budget) {
  bool pure = true;
  walk(value, [&](const Expr& e) {
    const bool changes = e.kind == ExprKind::assign || e.op == "++" || e.op == "--" ||
                         e.kind == ExprKind::opaque || e.kind == ExprKind::lambda ||
                         e.kind == ExprKind::statement || e.kind == ExprKind::launch;
    const bool impure = e.kind == ExprKind::call && !is_pure_at(unit, callee(e), depth + 1, budget);
    if (changes || impure) pure = false;
    return pure;
  });
  return pure;
}

bool is_pure_at(const Unit& unit, std::string_view name, int depth, int& budget) {
  constexpr int kDepth = 4;
  if (name.empty() || depth > kDepth || --budget < 0) return false;
  if (const Macro* macro = unit.macro(name); macro != nullptr && macro->function_like) {
    const Expr* const value = unit.macro_expression(name);
    return value != nullptr && is_pure_body(unit, *value, depth, budget);
  }
  if (const Function* function = unit.find_function(name)) {
    const Expr* const value = returned_expression(*function);
    return value != nullptr && is_pure_body(unit, *value, depth, budget);
  }
  for (const Function* f : unit.functions()) {
    // declared here, or overloaded: its own, whatever its name
    if (f->name == name && f->record == nullptr) return false;
  }
  if (name == "numeric_limits" || name == "std::numeric_limits" ||
      name == "cuda::std::numeric_limits") {
    return std::ranges::none_of(unit.functions(), [](const Function* f) {
      return f->record != nullptr && f->record->name == "numeric_limits";
    });
  }
  return is_library_function(name);
}

}  // namespace

const Expr* returned_expression(const Function& function) {
  if (function.body == nullptr) return nullptr;
  const Expr* value = nullptr;
  for (const Stmt* s : function.body->children) {
    if (s->kind == StmtKind::directive || s->kind == StmtKind::empty) continue;
    if (s->kind != StmtKind::return_ || value != nullptr) return nullptr;
    value = s->expr;
    if (value == nullptr) return nullptr;
  }
  return value;
}

bool is_library_function(std::string_view name) {
  if (name.starts_with("::")) name.remove_prefix(2);
  if (name.starts_with("std::")) name.remove_prefix(5);
  return is_stem(name) || is_conversion(name) ||
         (name.size() > 1 && name.ends_with('f') && is_stem(name.substr(0, name.size() - 1)));
}

bool is_pure_function(const Unit& unit, std::string_view name) {
  int budget = 200;  // functions looked into
  return is_pure_at(unit, name, 0, budget);
}

}  // namespace warpath::model
