#pragma once

// The JSON form of every struct of engine/spec/spec.h, described once for reading, writing, the
// check for unknown keys and the schema. Included by spec_load.cc and spec_schema.cc only.

#include "engine/spec/spec_fields_io.h"

namespace warpath {

template <>
struct Description<Tolerance> {
  static constexpr std::string_view title = "tolerance";
  static constexpr std::string_view help =
      "Pass if |out - ref| <= atol + rtol*|ref| for every element and ||out - ref|| <= "
      "norm*||ref||.";
  template <class V>
  static void fields(V& v) {
    using T = Tolerance;
    v(&T::atol, {"atol", "absolute, per element"});
    v(&T::rtol, {"rtol", "relative, per element"});
    v(&T::norm, {"norm", "relative, in the 2-norm over the tensor"});
    v(&T::exact, {"exact", "bytewise equality instead"});
  }
};

template <>
struct Description<ReferenceKernel> {
  static constexpr std::string_view title = "reference_kernel";
  static constexpr std::string_view help = "A second, naive kernel with the same arguments.";
  template <class V>
  static void fields(V& v) {
    using T = ReferenceKernel;
    v(&T::source, {"source_code", "its text"});
    v(&T::source_file, {"source_file", "its file, relative to the spec"});
    v(&T::kernel_name, {"kernel_name", "its entry", true});
    v(&T::launch, {"launch", "its launch geometry", true});
  }
};

template <>
struct Description<ReferenceHostOp> {
  static constexpr std::string_view title = "reference_host_op";
  static constexpr std::string_view help = "A built-in fp64 host operation.";
  template <class V>
  static void fields(V& v) {
    using T = ReferenceHostOp;
    v(&T::op, {"op", "name of the operation", true});
    v(&T::operands, {"operands", "its parameter -> argument name or literal"});
  }
};

template <>
struct Description<ReferenceCommand> {
  static constexpr std::string_view title = "reference_command";
  static constexpr std::string_view help =
      "An external program: reads DIR/<arg>.npy and DIR/scalars.json, writes DIR/<output>.npy.";
  template <class V>
  static void fields(V& v) {
    using T = ReferenceCommand;
    v(&T::argv, {"argv", "program and arguments; {dir} stands for the exchange folder", true});
    v(&T::timeout_s, {"timeout_s", "seconds it may take"});
  }
};

/// An object of workloads, each an object of outputs.
template <>
struct Codec<ReferenceOutputs> {
  using Inner = Codec<decltype(ReferenceOutputs::of_workload)>;
  static void read(const JsonCursor& at, ReferenceOutputs& out) {
    Inner::read(at, out.of_workload);
  }
  static nlohmann::json write(const ReferenceOutputs& value) {
    return Inner::write(value.of_workload);
  }
  static nlohmann::json schema(SchemaDefs& defs) { return Inner::schema(defs); }
};

template <>
struct Description<Reference> {
  static constexpr std::string_view title = "reference";
  static constexpr std::string_view help =
      "Exactly one of the keys: what the outputs must equal, independent of the candidate.";
  template <class V>
  static void fields(V& v) {
    v.template held<ReferenceKernel>({"kernel", "a second kernel, run by the harness"});
    v.template held<ReferenceHostOp>({"host_op", "a built-in operation in fp64"});
    v.template held<ReferenceCommand>(
        {"command", "an external program that reads and writes .npy files"});
    v.template held<ReferenceOutputs>(
        {"outputs",
         "values by workload and output, computed elsewhere from the spec's own inputs"});
  }
};

template <>
struct Description<Tunable> {
  static constexpr std::string_view title = "tunable";
  static constexpr std::string_view help =
      "An integer that moves may change: a macro and a name in expressions.";
  template <class V>
  static void fields(V& v) {
    using T = Tunable;
    v(&T::name, {"name", "identifier; the compiler gets -D<name>=<value>", true});
    v(&T::values, {"values", "allowed values, ascending", true});
    v(&T::default_value, {"default", "the baseline's value, one of `values`", true});
    v(&T::help, {"help", "what it is"});
  }
};

template <>
struct Description<WorkBound> {
  static constexpr std::string_view title = "bound";
  static constexpr std::string_view help = "Compulsory work of one launch, for the roofline.";
  template <class V>
  static void fields(V& v) {
    using T = WorkBound;
    v(&T::bytes, {"bytes", "bytes that must move between memory and chip"});
    v(&T::flops,
      {"flops", "operations by type: float64 float32 float16 bfloat16 tf32 int8 int32 sfu"});
  }
};

template <>
struct Description<DeviceProfile> {
  static constexpr std::string_view title = "device_profile";
  static constexpr std::string_view help =
      "The device the author had in mind. Informative: runners measure.";
  template <class V>
  static void fields(V& v) {
    using T = DeviceProfile;
    v(&T::gpu_name, {"gpu_name", "model"});
    v(&T::arch, {"arch", "such as sm_90a"});
    v(&T::sms, {"sms", "multiprocessors"});
    v(&T::regs_per_sm, {"regs_per_sm", "32-bit registers of one"});
    v(&T::smem_per_sm, {"smem_per_sm", "bytes of shared memory of one"});
    v(&T::hbm_bw_gbps, {"hbm_bw_gbps", "memory bandwidth, GB/s"});
  }
};

template <>
struct Description<Workload> {
  static constexpr std::string_view title = "workload";
  static constexpr std::string_view help =
      "One set of sizes and inputs that the kernel is run with.";
  template <class V>
  static void fields(V& v) {
    using T = Workload;
    v(&T::name, {"name", "unique within the spec", true});
    v(&T::role, {"role", "score: counted; regress: correctness only; guard: must not get slower"});
    v(&T::target,
      {"target",
       "which runners use it; those of target any serve where a runner has none of its own"});
    v(&T::weight, {"weight", "share in the objective `weighted`"});
    v(&T::scalars, {"scalars", "values of scalar arguments by name"});
    v(&T::init, {"init", "init rules by tensor name"});
    v(&T::tensors, {"tensors", "whole tensor_specs by tensor name"});
    v(&T::launch, {"launch", "launch geometry; parts left out come from io.launch"});
    v(&T::min_speedup, {"min_speedup", "guard: floor on baseline/candidate; 0: the run's option"});
    v(&T::l2, {"l2",
               "level-2 cache of timed launches: hot, cold, or both (hot counts); default: the "
               "run's option"});
  }
};

/// A workload in the form of another system: a whole io contract.
struct RepresentativeShape {
  std::string name;
  std::optional<IOContract> io;
  double weight = 1;
  std::optional<LaunchPlan> launch_update;
};
template <>
struct Description<RepresentativeShape> {
  static constexpr std::string_view title = "representative_shape";
  static constexpr std::string_view help =
      "A workload given as a whole io contract; becomes a workload.";
  template <class V>
  static void fields(V& v) {
    using T = RepresentativeShape;
    v(&T::name, {"name", "unique within the spec", true});
    v(&T::io, {"io", "the contract with this workload's shapes and values"});
    v(&T::weight, {"weight", "share in the objective"});
    v(&T::launch_update, {"launch_update", "parts of the launch geometry that differ"});
  }
};

// Reading these two needs the io contract, so they are functions of the whole spec, defined in
// spec_load.cc.
struct WorkloadsField {
  static void read(const JsonCursor& at, KernelSpec& out);
  static nlohmann::json write(const KernelSpec& spec) {
    return Codec<std::vector<Workload>>::write(spec.workloads);
  }
  static nlohmann::json schema(SchemaDefs& defs) {
    return Codec<std::vector<Workload>>::schema(defs);
  }
};
struct RepresentativeShapesField {
  static void read(const JsonCursor& at, KernelSpec& out);
  static nlohmann::json write(const KernelSpec&) { return {}; }
  static nlohmann::json schema(SchemaDefs& defs) {
    return Codec<std::vector<RepresentativeShape>>::schema(defs);
  }
};
template <>
struct Description<ReferencePython> {
  static constexpr std::string_view title = "reference_python";
  static constexpr std::string_view help =
      "A Python reference of other systems: its tolerance counts, no runner calls it.";
  template <class V>
  static void fields(V& v) {
    using T = ReferencePython;
    v(&T::module, {"module", "Python module", true});
    v(&T::function, {"function", "function in it", true});
    v(&T::rtol, {"rtol", "relative tolerance"});
    v(&T::atol, {"atol", "absolute tolerance"});
  }
};

/// metadata.reference of other systems: its tolerance is used, its Python function is not.
struct PythonReferenceField {
  static void read(const JsonCursor& at, KernelSpec& out);
  static nlohmann::json write(const KernelSpec& spec) {
    const auto* python = std::get_if<ReferencePython>(&spec.reference);
    return python != nullptr ? Codec<ReferencePython>::write(*python) : nlohmann::json();
  }
  static nlohmann::json schema(SchemaDefs& defs) { return Codec<ReferencePython>::schema(defs); }
};
/// One tolerance for all outputs, or one by output name beside "default".
struct ToleranceField {
  static void read(const JsonCursor& at, KernelSpec& out);
  static nlohmann::json write(const KernelSpec& spec);
  static nlohmann::json schema(SchemaDefs& defs);
};
struct ReferenceField {
  static void read(const JsonCursor& at, KernelSpec& out) {
    out.reference = std::monostate();  // takes precedence over metadata.reference
    Codec<Reference>::read(at, out.reference);
    if (out.reference.index() == 0) at.fail("exactly one of kernel, host_op, command, outputs");
  }
  static nlohmann::json write(const KernelSpec& spec) {
    if (spec.reference.index() == 0 || std::holds_alternative<ReferencePython>(spec.reference))
      return {};
    return Codec<Reference>::write(spec.reference);
  }
  static nlohmann::json schema(SchemaDefs& defs) { return Codec<Reference>::schema(defs); }
};
/// A record of a run refers to a library's headers by this hash.
struct HeadersKeyField {
  static void read(const JsonCursor& at, KernelSpec& out) {
    SystemHeaders expected;
    expected.key = at.text();
    out.system_headers = std::make_shared<const SystemHeaders>(std::move(expected));
  }
  static nlohmann::json write(const KernelSpec& spec) {
    if (spec.system_headers == nullptr) return {};
    return spec.system_headers->key;
  }
  static nlohmann::json schema(SchemaDefs& defs) { return Codec<std::string>::schema(defs); }
};
/// timing_aggregation is a synonym of objective.
struct TimingAggregationField {
  static void read(const JsonCursor& at, KernelSpec& out) {
    Codec<Objective>::read(at, out.objective);
  }
  static nlohmann::json write(const KernelSpec&) { return {}; }
  static nlohmann::json schema(SchemaDefs& defs) { return Codec<Objective>::schema(defs); }
};

template <>
struct Description<Guess> {
  static constexpr std::string_view title = "guess";
  static constexpr std::string_view help = "A part of the spec that `warpath init` guessed.";
  template <class V>
  static void fields(V& v) {
    using T = Guess;
    v(&T::path, {"path", "JSON pointer to it within the spec", true});
    v(&T::why, {"why", "one line", true});
  }
};

template <>
struct Description<KernelSpec> {
  static constexpr std::string_view title = "spec";
  static constexpr std::string_view help =
      "A kernel, its contract, its workloads and how it is judged.";
  template <class V>
  static void fields(V& v) {
    using T = KernelSpec;
    v(&T::name, {"name", "name of the spec and of its run folder: letters, digits, . _ -", true});
    v(&T::description, {"description", "one line for people"});
    v.group({"kernel", "what is optimised", true}, [](auto& kernel) { kernel_fields(kernel); });
    v(&T::device_profile,
      {"device_profile", "the device the author had in mind; runners measure instead"});
    v(&T::launch_owner,
      {"launch",
       "free; fixed: grid, block, cluster and shared memory are the caller's, no variant "
       "changes them"});
    v(&T::tunables, {"tunables", "integers that moves may change"});
    v(&T::constraints,
      {"constraints", "expressions that must not be 0, over scalars and tunables"});
    v.template custom<ReferenceField>({"reference", "what the outputs must equal"});
    v.template custom<ToleranceField>(
        {"tolerance", "one tolerance, or one by output name beside \"default\""});
    v(&T::objective,
      {"objective", "how workloads become one time: geomean, weighted (mean) or worst"});
    v(&T::bound, {"bound", "compulsory work, for the roofline"});
    v(&T::guessed, {"guessed", "what `warpath init` guessed, for people: `validate` prints it"});
  }

 private:
  template <class V>
  static void kernel_fields(V& v) {
    using T = KernelSpec;
    v(&T::kernel_type,
      {"kernel_type", "language: cuda, triton or ptx; multi_kernel cannot be run"});
    v(&T::source, {"source_code", "the whole translation unit"});
    v(&T::source_file,
      {"source_file",
       "its file, relative to the spec; beside source_code only the name of its origin"});
    v(&T::include_folders,
      {"include_folders",
       "folders of the project's headers, relative to the spec; they become part of the source"});
    v(&T::system_include_folders,
      {"system_include_folders", "folders of libraries' headers, relative to the spec"});
    v.template custom<HeadersKeyField>(
        {"headers_key", "written into records: hash of the headers found in those folders"});
    v.group({"metadata", "how it is compiled", true},
            [](auto& metadata) { metadata_fields(metadata); });
    v(&T::io, {"io", "contract with the caller", true});
    v.template custom<WorkloadsField>(
        {"workloads", "sizes and inputs; default: one, as the arguments say"});
    v.template custom<RepresentativeShapesField>(
        {"representative_shapes", "workloads in the form of other systems"});
    v.template custom<TimingAggregationField>(
        {"timing_aggregation", "objective in the form of other systems"});
    v.ignored({"invocation_example", "no effect"}, nlohmann::json::object());
  }
  template <class V>
  static void metadata_fields(V& v) {
    using T = KernelSpec;
    v(&T::kernel_name, {"kernel_name", "entry point", true});
    v(&T::compiler_options, {"compiler_options", "options of every compile"});
    v(&T::name_expressions,
      {"name_expressions", "template instantiation to launch, such as row_sum<float, 4>"});
    v(&T::compiler,
      {"backend", "what compiles it for a GPU: nvrtc, or nvcc for what NVRTC refuses"});
    v.ignored({"jitify", "no effect"}, nlohmann::json::object());
    v.template custom<PythonReferenceField>({"reference", "Python reference of other systems"});
  }
};

}  // namespace warpath
