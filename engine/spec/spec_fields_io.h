#pragma once

// The JSON form of the io contract: arguments, tensors, init rules, launch plans. See
// spec_fields.h.

#include "engine/json/json_codec.h"
#include "engine/spec/spec.h"

namespace warpath {

template <>
struct EnumWords<KernelType> {
  static constexpr std::array<std::pair<std::string_view, KernelType>, 4> rows{
      {{"cuda", KernelType::cuda},
       {"triton", KernelType::triton},
       {"ptx", KernelType::ptx},
       {"multi_kernel", KernelType::multi_kernel}}};
};
template <>
struct EnumWords<ArgType> {
  static constexpr std::array<std::pair<std::string_view, ArgType>, 5> rows{
      {{"tensor", ArgType::tensor},
       {"int", ArgType::integer},
       {"float", ArgType::floating},
       {"str", ArgType::string},
       {"bool", ArgType::boolean}}};
};
template <>
struct EnumWords<ArgRole> {
  static constexpr std::array<std::pair<std::string_view, ArgRole>, 4> rows{
      {{"input", ArgRole::input},
       {"output", ArgRole::output},
       {"inout", ArgRole::inout},
       {"scalar", ArgRole::scalar}}};
};
template <>
struct EnumWords<WorkloadRole> {
  static constexpr std::array<std::pair<std::string_view, WorkloadRole>, 3> rows{
      {{"score", WorkloadRole::score},
       {"regress", WorkloadRole::regress},
       {"guard", WorkloadRole::guard}}};
};
template <>
struct EnumWords<WorkloadTarget> {
  static constexpr std::array<std::pair<std::string_view, WorkloadTarget>, 3> rows{
      {{"any", WorkloadTarget::any}, {"gpu", WorkloadTarget::gpu}, {"host", WorkloadTarget::host}}};
};
template <>
struct EnumWords<DeviceCompiler> {
  static constexpr std::array<std::pair<std::string_view, DeviceCompiler>, 2> rows{
      {{"nvrtc", DeviceCompiler::nvrtc}, {"nvcc", DeviceCompiler::nvcc}}};
};
template <>
struct EnumWords<LaunchOwner> {
  static constexpr std::array<std::pair<std::string_view, LaunchOwner>, 2> rows{
      {{"free", LaunchOwner::search}, {"fixed", LaunchOwner::caller}}};
};
template <>
struct EnumWords<L2Timing> {
  static constexpr std::array<std::pair<std::string_view, L2Timing>, 3> rows{
      {{"hot", L2Timing::hot}, {"cold", L2Timing::cold}, {"both", L2Timing::both}}};
};
template <>
struct EnumWords<Objective> {
  static constexpr std::array<std::pair<std::string_view, Objective>, 5> rows{
      {{"geomean", Objective::geomean},
       {"weighted", Objective::weighted},
       {"worst", Objective::worst},
       {"weighted_mean", Objective::weighted},
       {"worst_case", Objective::worst}}};
};
template <>
struct EnumWords<InitRule::Kind> {
  using enum InitRule::Kind;
  static constexpr std::array<std::pair<std::string_view, InitRule::Kind>, 10> rows{
      {{"randn", randn},
       {"uniform", uniform},
       {"zeros", zeros},
       {"ones", ones},
       {"full", full},
       {"arange", arange},
       {"randint", randint},
       {"permutation", permutation},
       {"csr_row_pointers", csr_row_pointers},
       {"csr_column_indices", csr_column_indices}}};
};
template <>
struct EnumWords<DType> {
  static constexpr auto rows = [] {
    std::array<std::pair<std::string_view, DType>, kDTypes.size()> out{};
    for (std::size_t i = 0; i < out.size(); ++i) out[i] = {kDTypes[i].name, kDTypes[i].dtype};
    return out;
  }();
};

template <>
struct Codec<Expression> {
  static void read(const JsonCursor& at, Expression& out) {
    if (at.value().is_number_integer()) {
      out = Expression(at.integer());
    } else if (at.value().is_string()) {
      out = Expression::parse(at.text(), at.place());
    } else {
      at.fail("an integer or an expression (text)");
    }
  }
  static nlohmann::json write(const Expression& value) {
    if (value.is_constant()) return value.evaluate({}, "");
    return value.text();
  }
  static nlohmann::json schema(SchemaDefs& defs) {
    defs.try_emplace("expression",
                     nlohmann::json{{"type", {"integer", "string"}},
                                    {"description",
                                     "integer, or integer expression over scalars and tunables"}});
    return {{"$ref", "#/$defs/expression"}};
  }
};

/// x, y, z; an omitted axis keeps its value.
template <>
struct Codec<std::array<Expression, 3>> {
  static constexpr std::array<std::string_view, 3> kAxes{"x", "y", "z"};
  static void read(const JsonCursor& at, std::array<Expression, 3>& out) {
    at.require_object();
    for (const auto& [key, value] : at.value().items()) {
      if (key != "x" && key != "y" && key != "z")
        JsonCursor(value, at.file(), at.pointer_to(key)).fail("a known key (x y z)");
    }
    for (std::size_t i = 0; i < 3; ++i) {
      if (const auto axis = at.find(kAxes[i])) Codec<Expression>::read(*axis, out[i]);
    }
  }
  static nlohmann::json write(const std::array<Expression, 3>& value) {
    auto out = nlohmann::json::object();
    for (std::size_t i = 0; i < 3; ++i)
      out[std::string(kAxes[i])] = Codec<Expression>::write(value[i]);
    return out;
  }
  static nlohmann::json schema(SchemaDefs& defs) {
    auto properties = nlohmann::json::object();
    for (const auto axis : kAxes) properties[std::string(axis)] = Codec<Expression>::schema(defs);
    defs.try_emplace("extent3", nlohmann::json{{"type", "object"},
                                               {"properties", properties},
                                               {"additionalProperties", false}});
    return {{"$ref", "#/$defs/extent3"}};
  }
};

using ScalarValue = std::variant<std::int64_t, double, bool>;
template <>
struct Codec<ScalarValue> {
  static void read(const JsonCursor& at, ScalarValue& out) {
    if (at.value().is_boolean()) {
      out = at.boolean();
    } else if (at.value().is_number_integer()) {
      out = at.integer();
    } else if (at.value().is_number()) {
      out = at.number();
    } else {
      at.fail("a number, true or false");
    }
  }
  static nlohmann::json write(const ScalarValue& value) {
    return std::visit([](const auto& x) { return nlohmann::json(x); }, value);
  }
  static nlohmann::json schema(SchemaDefs&) { return {{"type", {"number", "boolean"}}}; }
};

/// A bound of an init rule: integers and expressions are exact, numbers with a decimal point are
/// for real types.
template <std::optional<Expression> InitRule::* Exact, double InitRule::* Real>
struct InitBound {
  static void read(const JsonCursor& at, InitRule& out) {
    const bool real = at.value().is_number_float();
    if (real && out.kind != InitRule::Kind::randint &&
        out.kind != InitRule::Kind::csr_column_indices) {
      out.*Real = at.number();
    } else if (real && at.number() == static_cast<double>(static_cast<std::int64_t>(bounded(at)))) {
      out.*Exact = Expression(static_cast<std::int64_t>(at.number()));
    } else {
      Codec<Expression>::read(at, (out.*Exact).emplace());
    }
  }
  static nlohmann::json write(const InitRule& rule) {
    if (rule.*Exact) return Codec<Expression>::write(*(rule.*Exact));
    return rule.*Real == InitRule{}.*Real ? nlohmann::json() : nlohmann::json(rule.*Real);
  }
  static nlohmann::json schema(SchemaDefs&) { return {{"type", {"number", "string"}}}; }

 private:
  static double bounded(const JsonCursor& at) {
    const double x = at.number();
    if (!(x > -0x1p53 && x < 0x1p53)) at.fail("an integer, an expression or a number below 2^53");
    return x;
  }
};

template <>
struct Description<InitRule> {
  static constexpr std::string_view title = "init";
  static constexpr std::string_view help =
      "How a tensor is filled; element i depends on the seed and i alone.";
  template <class V>
  static void fields(V& v) {
    using T = InitRule;
    v(&T::kind, {"kind", "rule", true});
    v(&T::seed, {"seed", "seed of the values"});
    v(&T::mean, {"mean", "randn: mean; csr_row_pointers: mean row length"});
    v(&T::std, {"std", "randn: standard deviation"});
    v.template custom<InitBound<&T::low, &T::low_value>>(
        {"low", "uniform, randint: inclusive lower bound"});
    v.template custom<InitBound<&T::high, &T::high_value>>(
        {"high", "uniform, randint: exclusive upper bound; csr_column_indices: number of columns"});
    v(&T::fill_value, {"fill_value", "full: the value"});
    v(&T::start, {"start", "arange: first value"});
    v(&T::step, {"step", "arange: difference along the last dimension"});
    v(&T::skew, {"skew",
                 "randint: share of elements that are `low`; csr_row_pointers: strength of the "
                 "long tail; 0 to 1"});
    v(&T::row_pointers, {"row_pointers", "csr_column_indices: name of the row-pointer tensor"});
  }
};

enum class Compression : std::uint8_t { none, zlib };
template <>
struct EnumWords<Compression> {
  static constexpr std::array<std::pair<std::string_view, Compression>, 2> rows{
      {{"none", Compression::none}, {"zlib", Compression::zlib}}};
};
/// EmbeddedData as written.
struct EmbeddedFields {
  std::string data_b64;
  DType dtype = DType::f32;
  std::vector<std::int64_t> shape;
  Compression compress = Compression::none;
};
template <>
struct Description<EmbeddedFields> {
  static constexpr std::string_view title = "data";
  static constexpr std::string_view help = "Values of a tensor: row major, little endian.";
  template <class V>
  static void fields(V& v) {
    using T = EmbeddedFields;
    v(&T::data_b64, {"data_b64", "the bytes in base64", true});
    v(&T::dtype, {"dtype", "element type, that of the tensor_spec", true});
    v(&T::shape, {"shape", "extents, those of the tensor_spec", true});
    v(&T::compress, {"compress", "what was applied before base64"});
  }
};
/// EmbeddedData as a file.
struct DataFile {
  std::string file;
  DType dtype = DType::f32;
};
template <>
struct Description<DataFile> {
  static constexpr std::string_view title = "data_file";
  static constexpr std::string_view help = "Values of a tensor: a .npy file.";
  template <class V>
  static void fields(V& v) {
    using T = DataFile;
    v(&T::file, {"file", "its path, relative to the spec", true});
    v(&T::dtype, {"dtype", "element type, that of the tensor_spec", true});
  }
};
/// Written with the values: a file is read once.
template <>
struct Codec<EmbeddedData> {
  static void read(const JsonCursor& at, EmbeddedData& out);
  static nlohmann::json write(const EmbeddedData& value);
  static nlohmann::json schema(SchemaDefs& defs);
};

template <>
struct Description<TensorSpec> {
  static constexpr std::string_view title = "tensor_spec";
  static constexpr std::string_view help =
      "Shape, type and content of a tensor; neither init nor data: uninitialised.";
  template <class V>
  static void fields(V& v) {
    using T = TensorSpec;
    v(&T::shape, {"shape", "extents, outermost first", true});
    v(&T::dtype, {"dtype", "element type", true});
    v.template alternative<InitRule>(&T::content, {"init", "rule that fills it"});
    v.template alternative<EmbeddedData>(&T::content, {"data", "values written here"});
    v(&T::indexes,
      {"indexes",
       "tensor whose first dimension these integers index; out-of-range values are refused"});
    v(&T::alignment_bytes, {"alignment_bytes", "alignment of the base address, a power of two"});
  }
};

struct ArgRoleField {
  static void read(const JsonCursor& at, ArgSpec& out) {
    Codec<ArgRole>::read(at, out.role);
    if ((out.role == ArgRole::scalar) == (out.type == ArgType::tensor) &&
        out.role != ArgRole::input) {
      at.fail(out.type == ArgType::tensor ? "input, output or inout for a tensor"
                                          : "input or scalar for a scalar");
    }
    if (out.type != ArgType::tensor) out.role = ArgRole::scalar;
  }
  static nlohmann::json write(const ArgSpec& arg) {
    return arg.role == ArgRole::scalar ? nlohmann::json() : Codec<ArgRole>::write(arg.role);
  }
  static nlohmann::json schema(SchemaDefs& defs) { return Codec<ArgRole>::schema(defs); }
};
/// Sets what the type implies: role and element type of scalars.
struct ArgTypeField {
  static void read(const JsonCursor& at, ArgSpec& out) {
    Codec<ArgType>::read(at, out.type);
    out.role = out.type == ArgType::tensor ? ArgRole::input : ArgRole::scalar;
    out.dtype = standard(out.type);
  }
  static nlohmann::json write(const ArgSpec& arg) { return Codec<ArgType>::write(arg.type); }
  static nlohmann::json schema(SchemaDefs& defs) { return Codec<ArgType>::schema(defs); }
  static DType standard(ArgType type) {
    if (type == ArgType::floating) return DType::f32;
    return type == ArgType::boolean ? DType::boolean : DType::i32;
  }
};
struct ArgDTypeField {
  static void read(const JsonCursor& at, ArgSpec& out) {
    Codec<DType>::read(at, out.dtype);
    const bool fits = (out.type == ArgType::integer && !info(out.dtype).is_float &&
                       out.dtype != DType::boolean) ||
                      (out.type == ArgType::floating && info(out.dtype).is_float) ||
                      (out.type == ArgType::boolean && out.dtype == DType::boolean);
    if (!fits)
      at.fail(
          "an integer type for int, a floating type for float (a tensor has it in tensor_spec)");
  }
  static nlohmann::json write(const ArgSpec& arg) {
    return arg.dtype == ArgTypeField::standard(arg.type) ? nlohmann::json()
                                                         : Codec<DType>::write(arg.dtype);
  }
  static nlohmann::json schema(SchemaDefs& defs) { return Codec<DType>::schema(defs); }
};
struct ArgValueField {
  static void read(const JsonCursor& at, ArgSpec& out) {
    switch (out.type) {
      case ArgType::integer:
        out.value = at.integer();
        break;
      case ArgType::floating:
        out.value = at.number();
        break;
      case ArgType::boolean:
        out.value = at.boolean();
        break;
      case ArgType::string:
        out.value = at.text();
        break;
      case ArgType::tensor:
        at.fail("no value: a tensor has tensor_spec");
    }
  }
  static nlohmann::json write(const ArgSpec& arg) {
    return std::visit(
        [](const auto& x) {
          if constexpr (std::is_same_v<std::decay_t<decltype(x)>, std::monostate>) {
            return nlohmann::json();
          } else {
            return nlohmann::json(x);
          }
        },
        arg.value);
  }
  static nlohmann::json schema(SchemaDefs&) { return {{"type", {"number", "boolean", "string"}}}; }
};

template <>
struct Description<ArgSpec> {
  static constexpr std::string_view title = "argument";
  static constexpr std::string_view help =
      "One argument of the kernel, in the order of its parameters.";
  template <class V>
  static void fields(V& v) {
    using T = ArgSpec;
    v(&T::name, {"name", "identifier; expressions use those of scalars", true});
    v.template custom<ArgTypeField>({"type", "tensor, or the kind of scalar", true});
    v.template custom<ArgRoleField>({"role", "what the kernel does with a tensor"});
    v.template custom<ArgDTypeField>(
        {"dtype", "type of a scalar as the kernel receives it (int: int32, float: float32)"});
    v.template custom<ArgValueField>(
        {"value", "value of a scalar, unless every workload gives one"});
    v(&T::is_meta, {"is_meta", "compile-time only: defined as a macro, not passed"});
    v(&T::is_size, {"is_size", "with is_meta: not defined either, known to the spec alone"});
    v(&T::member_of,
      {"member_of", "name of the parameter, a struct passed by value, that this is a member of"});
    v(&T::tensor, {"tensor_spec", "shape and content of a tensor"});
  }
};

/// Triton's block size; overridden by a CUDA plan's own block.
struct NumWarpsField {
  static void read(const JsonCursor& at, LaunchPlan& out) {
    const std::int64_t warps = at.integer();
    if (warps < 1 || warps > 32) at.fail("an integer from 1 to 32");
    if (out.block == LaunchPlan{}.block) out.block[0] = Expression(32 * warps);
  }
  static nlohmann::json write(const LaunchPlan&) { return {}; }
  static nlohmann::json schema(SchemaDefs&) {
    return {{"type", "integer"}, {"minimum", 1}, {"maximum", 32}};
  }
};

/// Writes every part, since parts omitted from a workload's plan come from the contract's.
template <auto Member>
struct WholePart {
  using M = std::decay_t<decltype(LaunchPlan{}.*Member)>;
  static void read(const JsonCursor& at, LaunchPlan& out) { Codec<M>::read(at, out.*Member); }
  static nlohmann::json write(const LaunchPlan& plan) { return Codec<M>::write(plan.*Member); }
  static nlohmann::json schema(SchemaDefs& defs) { return Codec<M>::schema(defs); }
};

template <>
struct Description<LaunchPlan> {
  static constexpr std::string_view title = "launch";
  static constexpr std::string_view help =
      "Launch geometry, as expressions over the scalars and tunables.";
  template <class V>
  static void fields(V& v) {
    using T = LaunchPlan;
    v.template custom<WholePart<&T::grid>>({"grid", "blocks; an axis left out is 1"});
    v.template custom<WholePart<&T::block>>({"block", "threads of a block; an axis left out is 1"});
    v.template custom<WholePart<&T::cluster>>(
        {"cluster", "blocks of a cluster; an axis left out is 1"});
    v.template custom<WholePart<&T::dynamic_smem_bytes>>(
        {"dynamic_smem_bytes", "dynamic shared memory of a block"});
    v.template custom<NumWarpsField>(
        {"num_warps", "of a Triton kernel; gives block.x where there is no block"});
    v.ignored({"num_stages", "no effect: a tunable of that name is Triton's"},
              {{"type", "integer"}});
  }
};

template <>
struct Description<IOContract> {
  static constexpr std::string_view title = "io";
  static constexpr std::string_view help = "The contract of the kernel with its caller.";
  template <class V>
  static void fields(V& v) {
    using T = IOContract;
    v(&T::args, {"args", "arguments in order", true});
    v(&T::launch, {"launch", "launch geometry of the baseline", true});
    v(&T::may_alias,
      {"may_alias", "groups of tensors that may share one buffer; default: none do"});
  }
};

}  // namespace warpath
