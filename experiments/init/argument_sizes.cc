#include "experiments/init/argument_sizes.h"

#include <algorithm>
#include <cstdint>
#include <map>
#include <numeric>
#include <optional>
#include <regex>
#include <set>
#include <string>
#include <vector>

#include "engine/base/dtype.h"
#include "engine/base/error.h"
#include "engine/text/tokens.h"
#include "engine/text/vector_type.h"

namespace warpath {
namespace {

constexpr std::int64_t kMostMultiple = 4096;
constexpr std::int64_t kMostProduct = std::int64_t{1} << 40U;

/// Values of what is named like no extent of data.
std::optional<std::int64_t> by_name(const std::string& name) {
  const auto has = [&](const char* pattern) {
    return std::regex_search(name, std::regex(pattern, std::regex::icase));
  };
  if (has("pad(?!ded)|offset|start|begin|axis")) return 0;
  if (has("^stride(_?[xyzhwd])?$|^d[whdt]$|dilation|group|step")) return 1;
  if (has("kernel_?(size|w|h|d)|^k(size|[whdt])$|pool|radius|window|filter")) return 3;
  return std::nullopt;
}

std::int64_t rounded_up(std::int64_t value, std::int64_t multiple) {
  return (value + multiple - 1) / multiple * multiple;
}

/// The product of `factors`; the largest number where that is no 64-bit number or they cannot be
/// evaluated.
std::int64_t product(const std::vector<Expression>& factors, const Bindings& values) {
  std::int64_t out = 1;
  for (const Expression& factor : factors) {
    try {
      if (__builtin_mul_overflow(out, factor.evaluate(values, "size"), &out)) return INT64_MAX;
    } catch (const Error&) {
      return INT64_MAX;
    }
  }
  return out;
}

/// Halves what `open` lets change until the product is at most `most`; true if anything changed.
bool fit(ArgumentSizes& sizes,
         Bindings& values,
         const std::set<std::string>& open,
         const std::vector<Expression>& factors,
         std::int64_t most,
         std::int64_t step) {
  std::set<std::string> names;
  for (const Expression& factor : factors) {
    for (const std::string& name : factor.names()) {
      const auto stride = sizes.strides.find(name);
      if (stride == sizes.strides.end()) {
        names.insert(name);
      } else {
        for (const std::string& extent : stride->second.names()) names.insert(extent);
      }
    }
  }
  bool changed = false;
  while (product(factors, values) > most) {
    std::int64_t* largest = nullptr;
    for (const std::string& name : names) {
      const auto value = values.find(name);
      if (value == values.end() || !open.contains(name) || value->second <= step) continue;
      if (largest == nullptr || value->second > *largest) largest = &value->second;
    }
    if (largest == nullptr) return changed;
    *largest = std::max(step, rounded_up(*largest / 2, step));
    sizes.settle_strides();
    changed = true;
  }
  return changed;
}

}  // namespace

bool is_leading_dimension(const std::string& name) {
  static const std::regex kName("ld_?[a-z]?|.*leading_dim.*", std::regex::icase);
  return std::regex_match(name, kName);
}

std::set<std::string> names_divided_by(const std::string& text) {
  const std::vector<Token> tokens = without_comments(tokenize(text).tokens);
  const auto word = [&](std::size_t i) {
    return i < tokens.size() ? spelling(text, tokens[i]) : std::string();
  };
  const auto is_name = [&](std::size_t i) {
    return i < tokens.size() && tokens[i].kind == TokenKind::identifier;
  };
  /// Names from `i` on, to the end of the operand or, of a whole value, to that of the expression.
  const auto names_from = [&](std::size_t i, bool whole) {
    std::set<std::string> out;
    for (int depth = 0; i < tokens.size(); ++i) {
      const std::string one = word(i);
      if (one == "(" || one == "[" || one == "{") ++depth;
      if (one == ")" || one == "]" || one == "}") --depth;
      if (depth < 0 || one == ";" || (depth == 0 && one == ",")) break;
      if (is_name(i)) out.insert(one);
      const std::string next = word(i + 1);
      const bool goes_on =
          one == "." || one == "->" || next == "(" || next == "[" || next == "." || next == "->";
      if (!whole && depth == 0 && !goes_on) break;
    }
    return out;
  };
  std::set<std::string> out;
  std::map<std::string, std::set<std::string>> of_value;
  for (std::size_t i = 0; i < tokens.size(); ++i) {
    const std::string one = word(i);
    if (one == "/" || one == "%") out.merge(names_from(i + 1, false));
    if (one == "/=" || one == "%=") out.merge(names_from(i + 1, true));
    if (one == "=" && i > 0 && is_name(i - 1)) of_value[word(i - 1)].merge(names_from(i + 1, true));
  }
  for (std::size_t before = 0; before != out.size();) {
    before = out.size();
    const std::set<std::string> known = out;
    for (const std::string& name : known) {
      if (const auto found = of_value.find(name); found != of_value.end())
        out.insert(found->second.begin(), found->second.end());
    }
  }
  return out;
}

std::int64_t elements_read_at_once(const std::string& text, std::int64_t element_bytes) {
  const std::vector<Token> tokens = without_comments(tokenize(text).tokens);
  std::int64_t most = 1;
  for (std::size_t i = 0; i + 1 < tokens.size(); ++i) {
    if (tokens[i].kind != TokenKind::identifier) continue;
    const auto vector = vector_type_of(spelling(text, tokens[i]));
    std::size_t next = i + 1;
    if (spelling(text, tokens[next]) == "const" && next + 1 < tokens.size()) ++next;
    if (!vector || spelling(text, tokens[next]) != "*") continue;
    const std::int64_t bytes =
        static_cast<std::int64_t>(info(vector->element).size_bytes) * vector->lanes;
    most = std::max(most, bytes / element_bytes);
  }
  return most;
}

std::int64_t size_step(const std::set<std::int64_t>& multiples) {
  std::int64_t step = 1;
  for (const std::int64_t one : multiples) {
    const std::int64_t next = std::lcm(step, std::max<std::int64_t>(one, 1));
    if (next <= kMostMultiple) step = next;
  }
  return step;
}

bool fit_sizes(ArgumentSizes& sizes, const std::vector<SizeLimit>& limits, std::int64_t step) {
  std::set<std::string> guessed;
  for (const auto& [name, why] : sizes.why)
    if (!sizes.strides.contains(name)) guessed.insert(name);
  std::set<std::string> open = guessed;  // on the host all that is smaller there
  for (const auto& [name, value] : sizes.host) {
    if (value < sizes.gpu.at(name) && !sizes.strides.contains(name)) open.insert(name);
  }
  bool changed = false;
  for (const SizeLimit& limit : limits) {
    for (const std::int64_t multiple : {step, std::int64_t{1}}) {
      changed = fit(sizes, sizes.gpu, guessed, limit.factors, limit.gpu, multiple) || changed;
      changed = fit(sizes, sizes.host, open, limit.factors, limit.host, multiple) || changed;
    }
  }
  return changed;
}

ArgumentSizes argument_sizes(const SizeQuestion& question) {
  constexpr std::int64_t kGpu[] = {std::int64_t{1} << 22U, 2048, 256, 64};
  constexpr std::int64_t kHost[] = {10000, 100, 20, 12};
  constexpr std::int64_t kWindow = 3;
  constexpr std::int64_t kInner = 16;  // trips of a loop that no tensor knows
  std::size_t most = question.rank;
  for (const auto& [name, extents] : question.of_points) most = std::max(most, extents.size() + 1);
  const std::size_t rank = std::clamp<std::size_t>(most, 1, 4) - 1;
  const std::int64_t multiple = size_step(question.multiples);
  ArgumentSizes out;
  for (const std::string& name : question.integers) {
    const bool extent = question.extents.contains(name);
    std::int64_t gpu = 1, host = 1;
    if (question.choices.contains(name)) {
      gpu = host = 0;
    } else if (const auto value = by_name(name); value && !question.alone.contains(name)) {
      gpu = host = std::max<std::int64_t>(*value, question.divisors.contains(name) ? 1 : 0);
    } else if (question.windows.contains(name) && !question.alone.contains(name)) {
      gpu = host = kWindow;
    } else if (extent) {
      gpu = rounded_up(kGpu[rank], multiple);
      host = rounded_up(kHost[rank], multiple);
    } else {
      gpu = host = kInner;
    }
    const auto step = question.steps.find(name);
    if (step != question.steps.end() && question.whole.contains(name)) {
      gpu = rounded_up(gpu, step->second);
      host = rounded_up(host, step->second);
    }
    if (const auto given = question.given.find(name); given != question.given.end()) {
      gpu = given->second;
      // whole blocks stay whole
      if (step != question.steps.end() && gpu % step->second == 0)
        host = rounded_up(host, step->second);
      host = extent ? std::min(host, gpu) : gpu;
    } else {
      out.why[name] = extent ? "a size that nothing in the text states"
                      : question.choices.contains(name)
                          ? std::string(kFirstEnumerator)
                          : "a number that nothing in the text states";
    }
    out.gpu[name] = gpu;
    out.host[name] = host;
  }
  for (const auto& [name, extents] : question.of_points) {
    if (!out.why.contains(name)) continue;
    for (Bindings* const sizes : {&out.gpu, &out.host}) {
      std::int64_t& points = sizes->at(name);
      for (const std::string& extent : extents) {
        const auto found = sizes->find(extent);
        const std::int64_t factor = found == sizes->end() || extent == name ? 1 : found->second;
        if (factor > 1 && points <= kMostProduct / factor) points *= factor;
      }
    }
  }
  for (const std::string& name : question.integers) {
    if (question.extents.contains(name) || !out.why.contains(name) || !is_leading_dimension(name))
      continue;
    for (const std::string& extent : question.extents) {
      if (!out.gpu.contains(extent)) continue;
      out.gpu[name] = std::max(out.gpu[name], out.gpu[extent]);
      out.host[name] = std::max(out.host[name], out.host[extent]);
    }
    out.why[name] = "a row's stride; the largest size is taken";
  }
  for (const auto& [name, extent] : question.strides) {
    if (!out.why.contains(name)) continue;
    out.strides.emplace(name, Expression::parse(extent, "stride"));
    out.why[name] = "a stride; " + extent + ", without gaps, is taken";
  }
  out.settle_strides();
  return out;
}

void ArgumentSizes::settle_strides() {
  for (Bindings* const values : {&gpu, &host}) {
    for (const auto& [name, extent] : strides) {
      try {
        const std::int64_t value = extent.evaluate(*values, "stride");
        if (value <= INT32_MAX) values->at(name) = value;
      } catch (const Error&) {
        continue;  // larger than any number
      }
    }
  }
}

}  // namespace warpath
