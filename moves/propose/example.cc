#include "moves/propose/example.h"

#include <algorithm>
#include <cctype>
#include <charconv>
#include <sstream>

#include "engine/base/ascii.h"
#include "engine/base/error.h"
#include "engine/run/record.h"

namespace warpath {
namespace {

std::string stripped(std::string_view text) {
  const std::size_t begin = text.find_first_not_of(" \t");
  if (begin == std::string_view::npos) return "";
  return std::string(text.substr(begin, text.find_last_not_of(" \t") + 1 - begin));
}

std::vector<std::string> split(std::string_view text, char at) {
  std::vector<std::string> out;
  while (true) {
    const std::size_t end = std::min(text.find(at), text.size());
    out.push_back(stripped(text.substr(0, end)));
    if (end == text.size()) return out;
    text.remove_prefix(end + 1);
  }
}

std::int64_t integer(const std::string& text, const std::string& place) {
  std::int64_t out = 0;
  const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), out);
  if (error != std::errc() || end != text.data() + text.size())
    throw bad_input(place, text, "an integer");
  return out;
}

DType dtype(const std::string& text, const std::string& place) {
  const std::optional<DType> found = parse_dtype(text);
  if (!found) throw bad_input(place, text, "a dtype");
  return *found;
}

/// Reads one file, line by line.
class Reader {
 public:
  Reader(std::string_view text, const std::string& place) : place_(place) {
    out_.spec.name = "example";
    out_.spec.origin = place;
    out_.spec.workloads.emplace_back().name = "default";
    std::istringstream lines{std::string(text)};
    int number = 0;
    for (std::string line; std::getline(lines, line);) {
      at_ = place_ + ":" + std::to_string(++number);
      if (line.starts_with("--- ")) {
        begin(line.substr(4), line);
      } else if (part_ == nullptr) {
        out_.heading += line + "\n";
        if (!stripped(line).empty()) head(line);
      } else {
        if (part_ == &out_.spec.source) out_.heading += line + "\n";
        *part_ += line + "\n";
      }
    }
    if (out_.step.move.empty()) throw bad_input(place_, "", "a line \"step: MOVE\"");
    if (out_.spec.source.empty()) throw bad_input(place_, "", "a part \"--- before\"");
    name_kernel();
  }
  [[nodiscard]] MoveExample take() { return std::move(out_); }

 private:
  void begin(const std::string& name, const std::string& line) {
    if (name == "before") {
      part_ = &out_.spec.source;
      out_.heading += line + "\n";
    } else if (name == "after") {
      part_ = &out_.after;
    } else if (name == "terms") {
      part_ = &out_.terms;
    } else {
      throw bad_input(at_, line, "--- before, --- after or --- terms");
    }
  }

  void head(const std::string& line) {
    const std::size_t colon = line.find(':');
    if (colon == std::string::npos) throw bad_input(at_, line, "KEY: VALUE");
    const std::string key = stripped(line.substr(0, colon)),
                      value = stripped(line.substr(colon + 1));
    LaunchPlan& plan = out_.spec.io.launch;
    if (key == "step") {
      const std::vector<MoveInstance> steps = parse_move_script(value, at_);
      if (steps.size() != 1) throw bad_input(at_, value, "one step");
      out_.step = steps.front();
    } else if (key == "given") {
      out_.given = parse_move_script(value, at_);
    } else if (key == "language") {
      if (value != "triton") throw bad_input(at_, value, "triton");
      out_.spec.kernel_type = KernelType::triton;
    } else if (key == "input" || key == "output" || key == "inout") {
      tensor(key, value);
    } else if (key == "scalar") {
      scalar(value);
    } else if (key == "grid") {
      axes(value, plan.grid);
    } else if (key == "block") {
      axes(value, plan.block);
    } else if (key == "smem") {
      plan.dynamic_smem_bytes = Expression::parse(value, at_);
    } else if (key == "tunable") {
      tunable(value);
    } else if (key == "tolerance") {
      const double bound = std::stod(value);
      out_.spec.tolerance[""] = {.atol = bound, .rtol = bound, .norm = bound, .exact = bound == 0};
    } else if (key == "operations") {
      const std::size_t equals = value.find('=');
      if (equals == std::string::npos) throw bad_input(at_, value, "TYPE = COUNT");
      out_.spec.bound.flops.insert_or_assign(stripped(value.substr(0, equals)),
                                             Expression::parse(value.substr(equals + 1), at_));
    } else if (key == "constraint") {
      out_.spec.constraints.push_back(Expression::parse(value, at_));
    } else {
      throw bad_input(at_, key,
                      "step, given, language, input, output, inout, scalar, grid, block, smem, "
                      "tunable, tolerance, operations or constraint");
    }
  }

  /// "float32 x[n, m]", "int32 p[n + 1] = row pointers"
  void tensor(const std::string& role, const std::string& value) {
    const std::size_t blank = value.find(' '), open = value.find('['), close = value.find(']');
    if (blank == std::string::npos || open == std::string::npos || close == std::string::npos)
      throw bad_input(at_, value, "DTYPE NAME[EXTENTS]");
    const std::string content = stripped(value.substr(close + 1));
    if (!content.empty() && (content != "= row pointers" || role == "output"))
      throw bad_input(at_, content, "nothing, or = row pointers of an input");
    ArgSpec arg;
    arg.name = stripped(value.substr(blank, open - blank));
    arg.role = role == "input"    ? ArgRole::input
               : role == "output" ? ArgRole::output
                                  : ArgRole::inout;
    arg.tensor.emplace().dtype = dtype(value.substr(0, blank), at_);
    for (const std::string& extent : split(value.substr(open + 1, close - open - 1), ',')) {
      arg.tensor->shape.push_back(Expression::parse(extent, at_));
    }
    if (arg.role != ArgRole::output) arg.tensor->content.emplace<InitRule>();
    if (!content.empty())
      std::get<InitRule>(arg.tensor->content).kind = InitRule::Kind::csr_row_pointers;
    out_.spec.io.args.push_back(std::move(arg));
  }

  /// "int32 n = 1000"
  void scalar(const std::string& value) {
    const std::size_t blank = value.find(' '), equals = value.find('=');
    if (blank == std::string::npos || equals == std::string::npos)
      throw bad_input(at_, value, "DTYPE NAME = VALUE");
    ArgSpec arg;
    arg.name = stripped(value.substr(blank, equals - blank));
    arg.role = ArgRole::scalar;
    arg.dtype = dtype(value.substr(0, blank), at_);
    arg.type = info(arg.dtype).is_float ? ArgType::floating : ArgType::integer;
    const std::string number = stripped(value.substr(equals + 1));
    if (arg.type == ArgType::floating)
      arg.value = std::stod(number);
    else
      arg.value = integer(number, at_);
    out_.spec.io.args.push_back(std::move(arg));
  }

  void axes(const std::string& value, std::array<Expression, 3>& to) {
    const std::vector<std::string> texts = split(value, ';');
    for (std::size_t i = 0; i < std::min<std::size_t>(3, texts.size()); ++i)
      to[i] = Expression::parse(texts[i], at_);
  }

  /// "BLOCK = 256 of 64, 128, 256"
  void tunable(const std::string& value) {
    const std::size_t equals = value.find('='), of = value.find(" of ");
    if (equals == std::string::npos || of == std::string::npos)
      throw bad_input(at_, value, "NAME = DEFAULT of VALUES");
    Tunable out{.name = stripped(value.substr(0, equals)),
                .values = {},
                .default_value = integer(stripped(value.substr(equals + 1, of - equals - 1)), at_),
                .help = ""};
    for (const std::string& one : split(value.substr(of + 4), ','))
      out.values.push_back(integer(one, at_));
    out_.spec.tunables.push_back(std::move(out));
  }

  /// The name before the parameters of the first `__global__` or `@triton.jit` function.
  void name_kernel() {
    const std::string& source = out_.spec.source;
    const bool is_triton = out_.spec.kernel_type == KernelType::triton;
    const std::string mark = is_triton ? "@triton.jit" : "__global__";
    const std::size_t global = source.find(mark);
    const std::size_t open =
        global == std::string::npos
            ? global
            : source.find('(', source.find(is_triton ? "def " : "void", global));
    if (open == std::string::npos) throw bad_input(place_, "", "a " + mark + " function");
    std::size_t begin = open;
    while (begin > 0 && is_word(source[begin - 1])) --begin;
    out_.spec.kernel_name = source.substr(begin, open - begin);
  }

  std::string place_, at_;
  MoveExample out_;
  std::string* part_ = nullptr;
};

/// Lines of `after` that `before` lacks, with "+", and the other way round, with "-".
std::string changed_terms(const Variant& before, const Variant& after) {
  const std::string one = terms_text(before), other = terms_text(after);
  const auto missing = [](const std::string& in, const std::string& from, char sign) {
    std::istringstream lines(in);
    std::string out;
    for (std::string line; std::getline(lines, line);) {
      if (("\n" + from).find("\n" + line + "\n") == std::string::npos) out += sign + line + "\n";
    }
    return out;
  };
  return missing(one, other, '-') + missing(other, one, '+');
}

}  // namespace

DeviceFacts example_device() {
  DeviceFacts facts;
  facts.runner = "compile";
  facts.name = "H200 (assumed)";
  facts.arch = "sm_90a";
  facts.multiprocessors = 132;
  facts.max_smem_per_block_bytes = 227 << 10;
  facts.is_gpu = true;
  return facts;
}

MoveExample parse_example(std::string_view text, const std::string& place) {
  return Reader(text, place).take();
}

ExampleResult run_example(const MoveExample& example, const MoveTable& moves) {
  Variant before = baseline_variant(example.spec);
  const DeviceFacts device = example_device();
  const auto take = [&](const MoveInstance& wanted) {
    const Move* const move = moves.find(wanted.move);
    std::string why = "no such move";
    auto step = move == nullptr
                    ? std::nullopt
                    : apply_step(*move, {.spec = example.spec, .variant = before, .device = device},
                                 wanted, why);
    if (!step) throw bad_input(example.spec.origin, wanted.text(), "a step that applies: " + why);
    return std::move(*step);
  };
  for (const MoveInstance& given : example.given) before = take(given).variant;
  const MoveContext context{.spec = example.spec, .variant = before, .device = device};
  const std::optional<AppliedStep> step = take(example.step);
  const Move& move = *moves.find(example.step.move);
  return {.instance = step->instance,
          .before = before,
          .after = step->variant,
          .terms = changed_terms(before, step->variant),
          .domain = move.domain(context, step->instance.site)};
}

}  // namespace warpath
