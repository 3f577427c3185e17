#include "experiments/init/spec_draft.h"

#include <algorithm>
#include <filesystem>
#include <map>
#include <nlohmann/json.hpp>
#include <set>

#include "engine/base/error.h"
#include "engine/spec/spec_load.h"
#include "engine/text/tokens.h"
#include "experiments/init/analysis_text.h"
#include "experiments/init/argument_sizes.h"
#include "experiments/init/draft_tensors.h"
#include "experiments/init/index_coverage.h"
#include "experiments/init/thread_layout.h"
#include "experiments/init/usual_tolerance.h"
#include "experiments/init/whole_extents.h"
#include "experiments/project/foreign_names.h"
#include "experiments/project/kernel_signature.h"
#include "experiments/project/kernel_text.h"
#include "experiments/project/warp_steps.h"
#include "moves/model/facts.h"
#include "moves/syntax/syntax_query.h"
#include "runners/cuda/compile/headers.h"

namespace warpath {

using json = nlohmann::ordered_json;
using model::Polynomial;

namespace {

constexpr int kTemplateValue = 4;

/// A header of kernels, or of a library that the user names: the others are the host's.
bool is_kernel_header(std::string_view name, const std::vector<std::string>& folders) {
  const auto allowed = cuda::allowed_includes();
  if (std::ranges::find(allowed, name) != allowed.end()) return true;
  std::error_code none;
  return std::ranges::any_of(folders, [&](const std::string& folder) {
    return std::filesystem::is_regular_file(std::filesystem::path(folder) / name, none);
  });
}

/// What one draft is made of, in the order in which it becomes known.
class Drafting {
 public:
  Drafting(const model::Unit& unit, const model::Function& kernel, const DraftOptions& options)
      : unit_(unit), kernel_(kernel), options_(options) {}

  SpecDraft run() {
    read_signature();
    TextOptions text{.keeps_header =
                         [this](std::string_view name) {
                           return is_kernel_header(name, options_.system_folders);
                         },
                     .keeps_namespace =
                         [this](std::string_view name) {
                           return name == "nvcuda" || !options_.system_folders.empty();
                         },
                     .settable = {},
                     .named = names_of_arguments()};
    source_ = text_of_kernel(text);
    const std::string name(kernel_.name), foreign = foreign_scope(source_);
    if (!foreign.empty() && options_.system_folders.empty())
      throw refused(name + ", which needs " + foreign,
                    "a text that declares it; --include FOLDER or --system-include FOLDER says "
                    "where its header is");
    for (const KernelParameter& p : parameters_) {
      if (!p.pointer && is_called(p.name))
        throw refused("kernel " + name + ", parameter " + p.name + ", a function object",
                      "numbers and pointers; write a kernel around it that calls the function");
    }
    const model::ParseOptions parsing{.bindings = {}, .defined = {}, .kernel_name = instance_};
    const model::Unit normal =
        model::parse(normal_text(source_, name, instance_, parameters_), parsing);
    model::FactSources sources;
    sources.parameters_apart = true;
    const model::Unit plain =
        model::parse(with_integer_contents(model::analyse(normal, own(normal), sources)), parsing);
    const model::KernelFacts facts = model::analyse(plain, own(plain), sources);
    layout_ = thread_layout(facts, source_, options_.launch, parameters_, arguments_);
    DraftTensors tensors(
        facts, parameters_, layout_,
        options_.launch ? options_.launch->bytes : std::map<std::string, Polynomial>{});
    tensors.find_extents();
    choose_sizes(facts, tensors);
    tensors.settle(sizes_.gpu, sizes_.host);
    if (fit_sizes(sizes_, limits(tensors), step_)) tensors.settle(sizes_.gpu, sizes_.host);
    // which threads share a warp follows from the extents
    const bool several_axes = layout_.block[1].value * layout_.block[2].value > 1;
    const bool of_warps =
        several_axes && (facts.has_warp_ops || source_.find("__shfl") != std::string::npos);
    if (tensors.by_block() || of_warps) {
      for (ThreadExtent& extent : layout_.block) extent.tunable.clear();
    }
    for (const ThreadExtent& extent : layout_.block) {
      if (extent.in_text && !extent.tunable.empty()) text.settable.insert(extent.tunable);
    }
    for (const auto& [constant, unused] : options_.constants) text.settable.insert(constant);
    source_ = final_text(text);
    return {.spec = spec(tensors).dump(2) + "\n", .source = source_};
  }

 private:
  [[nodiscard]] std::set<std::string, std::less<>> names_of_arguments() const {
    std::set<std::string, std::less<>> out;
    for (const TemplateArgument& argument : arguments_) {
      for (const Token& token : tokenize(argument.value).tokens)
        if (token.kind == TokenKind::identifier) out.insert(spelling(argument.value, token));
    }
    return out;
  }

  /// With the types that the file does not declare, as the guess has them.
  [[nodiscard]] std::string text_of_kernel(const TextOptions& text) const {
    std::string out;
    for (const std::string& type : foreign_) out += declaration_as_float(unit_, type);
    return out + kernel_text(unit_, kernel_, text);
  }

  /// What the spec has: with structs.
  [[nodiscard]] std::string final_text(const TextOptions& text) const {
    return options_.whole == nullptr ? text_of_kernel(text)
                                     : kernel_text(*options_.whole, *options_.whole_kernel, text);
  }

  [[nodiscard]] Error refused(const std::string& value, const std::string& expected) const {
    return bad_input(options_.file, value, expected);
  }

  [[nodiscard]] const model::Function& own(const model::Unit& unit) const {
    const model::Function* const kernel = unit.find_kernel(instance_);
    if (kernel == nullptr || kernel->body == nullptr)
      throw refused(std::string(kernel_.name),
                    "a kernel whose text is not made by a macro; write the spec by hand "
                    "(docs/spec.md)");
    return *kernel;
  }

  [[nodiscard]] bool is_called(const std::string& name) const {
    bool out = false;
    model::walk_expressions(*kernel_.body, [&](const model::Expr& e) {
      out = out || (e.is(model::ExprKind::call) && model::callee(e) == name);
      return true;
    });
    return out;
  }

  void read_signature() {
    arguments_ = template_arguments(
        unit_, kernel_,
        options_.launch ? options_.launch->template_arguments : std::vector<std::string>{},
        kTemplateValue);
    take_answers(options_.answers, arguments_);
    instance_ = instance_name(kernel_, arguments_);
    std::string why;
    const auto read = kernel_parameters(unit_, kernel_, arguments_, why, &foreign_);
    if (!read)
      throw refused("kernel " + std::string(kernel_.name) + ", " + why,
                    "numbers, and pointers to numbers or vectors of them; write a kernel around it "
                    "that takes these, or the spec by hand (docs/spec.md)");
    parameters_ = *read;
    if (std::ranges::none_of(parameters_, [](const auto& p) { return p.pointer; }))
      throw refused("kernel " + std::string(kernel_.name) + " without a pointer",
                    "one that takes the memory it writes; write a kernel around it that does");
  }

  [[nodiscard]] static bool is_integer(const KernelParameter& p) {
    return !p.pointer && !info(p.dtype).is_float && p.dtype != DType::boolean;
  }

  void choose_sizes(const model::KernelFacts& facts, DraftTensors& tensors) {
    SizeQuestion question;
    for (const KernelParameter& p : parameters_) {
      if (is_integer(p)) question.integers.push_back(p.name);
      if (p.is_enumeration) question.choices.insert(p.name);
    }
    for (const std::string& size : layout_.sizes) question.integers.push_back(size);
    for (const std::string& size : tensors.sizes()) {
      question.integers.push_back(size);
      question.alone.insert(size);
    }
    std::int64_t least = 8;
    for (const KernelParameter& p : parameters_) {
      if (p.pointer) least = std::min<std::int64_t>(least, info(p.dtype).size_bytes * p.lanes);
    }
    const std::int64_t at_once = elements_read_at_once(source_, least);
    for (std::size_t axis = 0; axis < 3; ++axis) {
      const GridExtent& extent = layout_.grid[axis];
      auto names = extent.exact ? extent.exact->names() : extent.size.names();
      if (names.size() == 1) {
        const std::int64_t threads = layout_.block[axis].value;
        if (extent.exact && threads > 1 && facts.has_barrier)
          question.steps.emplace(*names.begin(), threads);
        if (facts.has_barrier && keeps_from_barriers(*facts.kernel, *names.begin()))
          question.whole.insert(*names.begin());
        question.alone.insert(*names.begin());
        const auto extents = extents_of_points(facts, kLaunchAxes[axis]);
        if (!extents.empty()) question.of_points[*names.begin()] = extents;
      }
      question.of_grid.merge(names);
      const auto step = extent.step.constant();
      if (step && !layout_.assumed.empty()) question.multiples.insert(*step);
      const std::int64_t covered =
          Expression::parse(layout_.text(extent.step), "step").evaluate({}, "step");
      if (const auto size = extent.size.as_name(); size && covered > 1 && facts.has_barrier)
        question.steps.emplace(*size, covered);
    }
    question.strides = tensors.strides();
    for (const std::string& name : question.of_grid) question.strides.erase(name);
    question.extents = question.of_grid;
    question.extents.merge(tensors.names());
    for (const auto& loop : facts.loops) {
      if (loop->counted) question.extents.merge(loop->end.names());
    }
    for (const ThreadExtent& extent : layout_.block) {
      if (!layout_.assumed.empty()) question.multiples.insert(extent.value);
    }
    question.multiples.insert(tensors.multiples().begin(), tensors.multiples().end());
    question.multiples.insert(at_once);
    if (at_once > 1) {  // a last tile that is not whole may be more than its vectors allow for
      for (const auto& loop : facts.loops)
        if (loop->counted) question.multiples.merge(tiles_of(loop->end));
      for (const GridExtent& extent : layout_.grid)
        question.multiples.merge(tiles_of(extent.exact ? *extent.exact : extent.step));
    }
    question.divisors = names_divided_by(source_);
    question.windows = tensors.windows();
    question.rank = tensors.rank();
    step_ = size_step(question.multiples);
    question.given = integers_answered(options_.answers);
    if (options_.launch)
      question.given.insert(options_.launch->integers.begin(), options_.launch->integers.end());
    question.given.insert(layout_.given.begin(), layout_.given.end());
    question.given.insert(options_.constants.begin(), options_.constants.end());
    for (const std::string& name : tensors.allocated_names()) {
      if (!question.given.contains(name)) question.extents.insert(name);
    }
    sizes_ = argument_sizes(question);
  }

  /// What the sizes must not exceed: elements of tensors, blocks along y and z, blocks in all,
  /// dynamic shared memory.
  std::vector<SizeLimit> limits(const DraftTensors& tensors) const {
    constexpr std::int64_t kMostElements[] = {std::int64_t{1} << 26U, kMostFollowed};
    constexpr std::int64_t kMostShared = 48 << 10;
    constexpr std::int64_t kMostBlocks[] = {std::int64_t{1} << 24U, std::int64_t{1} << 14U};
    std::vector<SizeLimit> out;
    for (const KernelParameter& p : parameters_) {
      if (!p.pointer) continue;
      SizeLimit elements{.factors = {}, .gpu = kMostElements[0], .host = kMostElements[1]};
      for (const std::string& extent : tensors.of(p.name).shape)
        elements.factors.push_back(Expression::parse(extent, "shape"));
      out.push_back(std::move(elements));
    }
    SizeLimit blocks{.factors = {}, .gpu = kMostBlocks[0], .host = kMostBlocks[1]};
    for (std::size_t axis = 0; axis < 3; ++axis) {
      blocks.factors.push_back(Expression::parse(layout_.grid_text(axis, false), "grid"));
      if (axis > 0)
        out.push_back({.factors = {blocks.factors.back()}, .gpu = 65535, .host = 65535});
    }
    out.push_back(std::move(blocks));
    out.push_back({.factors = {Expression::parse(layout_.smem_text(false), "shared memory")},
                   .gpu = kMostShared,
                   .host = kMostShared});
    return out;
  }

  void guess(const std::string& path, const std::string& why) {
    guessed_.push_back({{"path", path}, {"why", why}});
  }

  json scalar(const KernelParameter& p, const std::string& path) {
    json out = {{"name", p.name}};
    const std::string_view dtype = info(p.dtype).name;
    if (p.dtype == DType::boolean) {
      guess(path + "/value", "a number that nothing in the text states");
      return {{"name", p.name}, {"type", "bool"}, {"value", true}};
    }
    if (info(p.dtype).is_float) {
      out["type"] = "float";
      if (p.dtype != DType::f32) out["dtype"] = dtype;
      const bool small = p.name.find("eps") != std::string::npos;
      out["value"] = small ? 1e-5 : 0.5;
      if (options_.launch && options_.launch->numbers.contains(p.name))
        out["value"] = options_.launch->numbers.at(p.name);
      else
        guess(path + "/value", "a number that nothing in the text states");
      return out;
    }
    out["type"] = "int";
    if (p.dtype != DType::i32) out["dtype"] = dtype;
    out["value"] = sizes_.gpu.at(p.name);
    if (const auto why = sizes_.why.find(p.name); why != sizes_.why.end())
      guess(path + "/value", why->second);
    return out;
  }

  json launch(bool tunables) const {
    const auto expression = [](const std::string& text) {
      const Expression parsed = Expression::parse(text, "launch");
      return parsed.is_constant() ? json(parsed.evaluate({}, "launch")) : json(parsed.text());
    };
    json grid, block;
    for (std::size_t axis = 0; axis < 3; ++axis) {
      const json blocks = expression(layout_.grid_text(axis, tunables)),
                 threads = expression(layout_.block_text(axis, tunables));
      if (axis == 0 || blocks != 1) grid[kLaunchAxes[axis]] = blocks;
      if (axis == 0 || threads != 1) block[kLaunchAxes[axis]] = threads;
    }
    json out = {{"grid", grid}, {"block", block}};
    const json bytes = expression(layout_.smem_text(tunables));
    if (bytes != 0) out["dynamic_smem_bytes"] = bytes;
    return out;
  }

  json tunables() {
    json out = json::array();
    for (const ThreadExtent& extent : layout_.block) {
      const bool listed =
          std::ranges::any_of(out, [&](const json& one) { return one["name"] == extent.tunable; });
      if (extent.tunable.empty() || listed) continue;
      const bool line = layout_.block[1].value * layout_.block[2].value == 1;
      std::set<std::int64_t> values{extent.value};
      for (const std::int64_t value : line ? std::vector<std::int64_t>{64, 128, 256, 512}
                                           : std::vector<std::int64_t>{4, 8, 16, 32}) {
        if (line || extent.in_text || value * 16 <= 512) values.insert(value);
      }
      out.push_back({{"name", extent.tunable},
                     {"values", values},
                     {"default", extent.value},
                     {"help", extent.in_text ? "constant of the source" : "threads of a block"}});
    }
    return out;
  }

  void guess_layout(const json& tunables) {
    for (const LayoutGuess& one : layout_.guesses) {
      std::string path = "/kernel/io/launch/" + one.part;
      if (one.part == "block") {
        const std::string& tunable = layout_.block[one.axis].tunable;
        path += std::string("/") + kLaunchAxes[one.axis];
        for (std::size_t i = 0; i < tunables.size() && !tunable.empty(); ++i) {
          if (tunables[i]["name"] == tunable) path = "/tunables/" + std::to_string(i) + "/default";
        }
        if (tunable.empty() && one.axis > 0 && layout_.block[one.axis].value == 1) continue;
      }
      if (one.part == "grid") path += std::string("/") + kLaunchAxes[one.axis];
      guess(path, one.why);
    }
  }

  json workloads() {
    json scalars = json::object();
    for (const auto& [name, value] : sizes_.host) {
      if (sizes_.gpu.at(name) != value) scalars[name] = value;
    }
    json host = {{"name", "host"}, {"target", "host"}};
    if (!scalars.empty()) host["scalars"] = scalars;
    return json::array({{{"name", "gpu"}, {"target", "gpu"}}, host});
  }

  json spec(const DraftTensors& tensors) {
    const std::string root = "/kernel/io/args/";
    for (std::size_t i = 0; i < arguments_.size(); ++i) {
      if (arguments_[i].why.empty()) continue;
      guess("/kernel/metadata/name_expressions/0", arguments_[i].why);
    }
    if (options_.launch && options_.launch->instances_differ)
      guess("/kernel/metadata/name_expressions/0",
            "the " + std::to_string(options_.launch->launches) +
                " launches give other template arguments; those at line " +
                std::to_string(options_.launch->line) + " are taken");
    if (options_.launch && options_.launch->calls_differ)
      guess("/kernel/metadata/name_expressions/0",
            "calls of the launching function give it other template arguments; the first's are "
            "taken");
    json args = json::array();
    const auto add = [&](json arg, const std::string& name) {
      const auto parameter = options_.member_of.find(name);
      if (parameter != options_.member_of.end()) arg["member_of"] = parameter->second;
      if (options_.constants.contains(name)) arg["is_meta"] = true;
      args.push_back(std::move(arg));
    };
    for (const KernelParameter& p : parameters_) {
      const std::string path = root + std::to_string(args.size());
      if (!p.pointer) {
        add(scalar(p, path), p.name);
        continue;
      }
      const DraftTensor& tensor = tensors.of(p.name);
      json described = {{"shape", json::array()}, {"dtype", info(p.dtype).name}};
      for (const std::string& extent : tensor.shape) {
        const Expression parsed = Expression::parse(extent, "shape");
        described["shape"].push_back(parsed.is_constant() ? json(parsed.evaluate({}, "shape"))
                                                          : json(parsed.text()));
      }
      if (!tensor.init.is_null()) described["init"] = tensor.init;
      if (!tensor.indexes.empty()) described["indexes"] = tensor.indexes;
      if (tensor.role != "input") written_[p.name] = p.dtype;
      add({{"name", p.name}, {"type", "tensor"}, {"role", tensor.role}, {"tensor_spec", described}},
          p.name);
      for (const auto& [part, why] : tensor.guesses) guess(path + part, why);
    }
    std::vector<std::string> extra = layout_.sizes;
    extra.insert(extra.end(), tensors.sizes().begin(), tensors.sizes().end());
    for (const std::string& size : extra) {
      if (const auto why = sizes_.why.find(size); why != sizes_.why.end())
        guess(root + std::to_string(args.size()) + "/value", why->second);
      args.push_back({{"name", size},
                      {"type", "int"},
                      {"value", sizes_.gpu.at(size)},
                      {"is_meta", true},
                      {"is_size", true}});
    }
    for (const std::string& note : options_.notes) guess("/kernel/source_file", note);
    for (const auto& [name, taken] : options_.replaced) {
      if (source_.find(replacement_mark(name)) != std::string::npos)
        guess("/kernel/source_file", name + " is declared nowhere; " + taken + " is taken");
    }
    for (const std::string& type : foreign_)
      guess("/kernel/source_file",
            type + " is a type that the file does not declare, or not by itself; float is taken");
    const json varied = tunables();
    for (const auto& [word, value] : unit_.bindings()) {  // which a build defines
      if (word.starts_with("CUD") || source_.find(word) == std::string::npos) continue;
      const auto tunable =
          std::ranges::find_if(varied, [&](const json& one) { return one["name"] == word; });
      const std::string place =
          tunable == varied.end()
              ? root + std::to_string(args.size()) + "/value"
              : "/tunables/" + std::to_string(tunable - varied.begin()) + "/default";
      guess(place, word + " is declared nowhere");
      if (tunable == varied.end())
        args.push_back({{"name", word}, {"type", "int"}, {"value", value}, {"is_meta", true}});
    }
    const std::string name(kernel_.name);
    json metadata = {{"kernel_name", name}};
    if (instance_ != name) metadata["name_expressions"] = {instance_};
    guess_layout(varied);
    guess("/tolerance", "how much rounding may differ is the caller's to say");
    if (source_.find("__constant__") != std::string::npos)
      guess("/kernel/source_file",
            "constant memory that the host sets is not: it holds what the text says, or zeros");
    if (source_.find(kWarpStep) != std::string::npos)
      guess("/kernel/source_file",
            "where threads of a warp exchange values in step, __syncwarp() is written out");
    json out = {{"name", name},
                {"description", name + " of " + options_.file},
                {"kernel",
                 {{"source_file", options_.source_file},
                  {"metadata", metadata},
                  {"io", {{"args", args}, {"launch", launch(true)}}},
                  {"workloads", workloads()}}}};
    if (!options_.system_include_folders.empty())
      out["kernel"]["system_include_folders"] = options_.system_include_folders;
    if (!varied.empty()) out["tunables"] = varied;
    out["reference"] = {{"kernel",
                         {{"source_file", options_.source_file},
                          {"kernel_name", instance_},
                          {"launch", launch(false)}}}};
    out["tolerance"] = usual_tolerance(written_);
    out["guessed"] = guessed_;
    return out;
  }

  const model::Unit& unit_;
  const model::Function& kernel_;
  const DraftOptions& options_;
  std::vector<TemplateArgument> arguments_;
  std::string instance_, source_;
  std::vector<KernelParameter> parameters_;
  ThreadLayout layout_;
  ArgumentSizes sizes_;
  std::int64_t step_ = 1;  ///< of which sizes are multiples
  std::map<std::string, DType> written_;
  std::set<std::string> foreign_;
  json guessed_ = json::array();
};

}  // namespace

SpecDraft draft_spec(const model::Unit& unit,
                     const model::Function& kernel,
                     const DraftOptions& options) {
  try {
    return Drafting(unit, kernel, options).run();
  } catch (const Error& error) {
    const std::string what = error.what();
    if (what.starts_with(options.file + ":")) throw;
    throw bad_input(options.file, std::string(kernel.name),
                    "a kernel whose sizes are integers that a spec knows (" + what +
                        "); write the spec by hand (docs/spec.md)");
  }
}

}  // namespace warpath
