#include "moves/triton/triton_loop_body.h"

#include <algorithm>
#include <cstdint>
#include <map>
#include <optional>
#include <set>
#include <string_view>

#include "engine/base/words.h"

namespace warpath {
namespace {

using python::Node;
using python::NodeKind;
using python::Statement;
using python::StatementKind;

/// Functions that do no more than compute.
constexpr WordList kPlainCalls("range min max abs float int");
constexpr WordList kPlainMethods("to trans sum max min");
/// Those of triton.language that reach memory, or other threads, in ways that are not followed.
constexpr WordList kReachingCalls(
    "debug_barrier inline_asm_elementwise device_print device_assert store_tensor_descriptor "
    "load_tensor_descriptor dot_scaled");

bool may_alias(const KernelSpec& spec, const ArgSpec& a, const ArgSpec& b) {
  return std::ranges::any_of(spec.io.may_alias, [&](const std::vector<std::string>& group) {
    return std::ranges::find(group, a.name) != group.end() &&
           std::ranges::find(group, b.name) != group.end();
  });
}

/// What stores of accesses() do is known.
bool computes(const TritonKernel& kernel, const Node& call) {
  if (call.is(NodeKind::method)) return kPlainMethods.contains(call.text);
  std::string_view function = call.text;
  const std::string language = kernel.of_language("");
  if (function.starts_with(language)) {
    function.remove_prefix(language.size());
    return !function.starts_with("atomic") && !kReachingCalls.contains(function) &&
           function.find('.') == std::string_view::npos;
  }
  const std::size_t dot = function.rfind('.');
  return dot == std::string_view::npos ? kPlainCalls.contains(function)
                                       : kPlainMethods.contains(function.substr(dot + 1));
}

/// How a statement goes on from a name's value.
enum class Update : std::uint8_t { none, sum, greatest, least };

bool is_name(const Node& node, std::string_view name) {
  return node.is(NodeKind::name) && node.text == name;
}

bool reads(const Node& node, std::string_view name) {
  bool found = false;
  visit_names(node, [&](std::string_view one) { found = found || one == name; });
  return found;
}

/// What an augmented assignment does: "+=".
std::string_view operator_of(const TritonKernel& kernel, const Statement& one) {
  const char* const begin = one.targets.front().data() + one.targets.front().size();
  const auto from = static_cast<std::size_t>(begin - kernel.text().source().data());
  const std::string_view between = kernel.text().text({from, one.value->outer.begin});
  const std::size_t first = between.find_first_not_of(' ');
  return first == std::string_view::npos
             ? between
             : between.substr(first, between.find_last_not_of(' ') + 1 - first);
}

/// none unless the name's own value stands there once, as what is added to or compared with.
Update update_of(const TritonKernel& kernel, const Statement& one, std::string_view name) {
  if (one.targets.size() != 1 || one.targets.front() != name) return Update::none;
  const Node& value = *one.value;
  if (one.kind == StatementKind::augmented) {
    const std::string_view op = operator_of(kernel, one);
    return !reads(value, name) && (op == "+=" || op == "-=") ? Update::sum : Update::none;
  }
  if (one.kind != StatementKind::assign) return Update::none;
  std::size_t own = 0, all = 0;
  for (const auto& child : value.children) {
    own += is_name(*child, name) ? 1U : 0U;
    all += reads(*child, name) ? 1U : 0U;
  }
  if (own != 1 || all != 1) return Update::none;
  if (value.is(NodeKind::binary)) {
    const bool first = is_name(*value.children[0], name);
    return value.text == "+" || (value.text == "-" && first) ? Update::sum : Update::none;
  }
  if (kernel.calls(value, "dot")) {
    const Node* sums = value.argument(std::size_t{2});
    if (sums == nullptr) sums = value.argument("acc");
    return sums != nullptr && is_name(*sums, name) ? Update::sum : Update::none;
  }
  if (value.children.size() != 2) return Update::none;
  const auto calls = [&](std::string_view of_triton, std::string_view of_python) {
    return kernel.calls(value, of_triton) || value.is_call_of(of_python);
  };
  if (calls("maximum", "max")) return Update::greatest;
  return calls("minimum", "min") ? Update::least : Update::none;
}

/// The order of a loop's iterations, as far as names go.
class HandedOn {
 public:
  HandedOn(const TritonKernel& kernel, std::size_t loop)
      : kernel_(kernel), loop_(loop), body_(body_of(kernel, loop)) {}

  std::string refusal() {
    std::size_t within = Statement::kNone;
    for (const std::size_t at : body_) {
      const Statement& one = kernel_.statement(at);
      const bool plain = one.kind == StatementKind::assign ||
                         one.kind == StatementKind::augmented ||
                         one.kind == StatementKind::expression || one.kind == StatementKind::loop;
      if (!plain || !one.understood || one.value == nullptr) return "its body is not straight code";
      if (within != Statement::kNone && !kernel_.text().is_within(at, within))
        return "a line stands behind the loop in it";
      if (one.kind == StatementKind::loop) within = at;
      for (const std::string_view name : one.targets) given_[name].push_back(at);
    }
    const std::string_view variable = kernel_.statement(loop_).targets.front();
    if (given_.contains(variable)) return "its body changes " + std::string(variable);
    for (const auto& [name, at] : given_) {
      if (accumulates(name)) accumulators_.insert(name);
    }
    if (std::string why = carried(); !why.empty()) return why;
    given_.emplace(variable, std::vector<std::size_t>{loop_});
    for (const auto& [name, at] : given_) {
      if (!accumulators_.contains(name) && is_used_behind(name))
        return std::string(name) + " is used behind it";
    }
    return "";
  }

 private:
  /// All that the body does with the name is to add to it, or all that it does is to compare.
  [[nodiscard]] bool accumulates(std::string_view name) const {
    std::optional<Update> common;
    for (const std::size_t at : body_) {
      const Statement& one = kernel_.statement(at);
      const bool gives = std::ranges::find(one.targets, name) != one.targets.end();
      if (!gives && !reads(*one.value, name)) continue;
      const Update update = gives ? update_of(kernel_, one, name) : Update::none;
      if (update == Update::none || common.value_or(update) != update) return false;
      common = update;
    }
    return common.has_value();
  }

  /// A name that is read before an iteration gives it its value.
  [[nodiscard]] std::string carried() const {
    std::set<std::string_view> known;
    for (const std::size_t at : body_) {
      const Statement& one = kernel_.statement(at);
      std::string_view found;
      const auto check = [&](std::string_view name) {
        if (given_.contains(name) && !accumulators_.contains(name) && !known.contains(name))
          found = name;
      };
      visit_names(*one.value, check);
      if (one.kind == StatementKind::augmented) check(one.targets.front());
      if (!found.empty()) return std::string(found) + " goes from one iteration to the next";
      // its later iterations see what the earlier ones left
      if (one.kind == StatementKind::loop)
        std::erase_if(known, [&](std::string_view name) { return given_.at(name).back() > at; });
      known.insert(one.targets.begin(), one.targets.end());
    }
    return "";
  }

  /// A statement outside may read what the last iteration left in the name.
  [[nodiscard]] bool is_used_behind(std::string_view name) const {
    for (std::size_t at = kernel_.first(); at < kernel_.last(); ++at) {
      const Statement& one = kernel_.statement(at);
      if (at == loop_ || kernel_.text().is_within(at, loop_)) continue;
      if (!one.understood) return true;
      const bool reads_it = (one.value != nullptr && reads(*one.value, name)) ||
                            (one.kind == StatementKind::augmented && one.targets.front() == name);
      if (reads_it && reaches(at) && !gets_another(name, at)) return true;
    }
    return false;
  }

  /// The loop around both; kNone if there is none.
  [[nodiscard]] std::size_t common_loop(std::size_t at) const {
    for (std::size_t around = kernel_.statement(loop_).parent; around != Statement::kNone;
         around = kernel_.statement(around).parent) {
      const Statement& one = kernel_.statement(around);
      const bool loops = one.kind == StatementKind::loop || one.word == "while";
      if (loops && (at == around || kernel_.text().is_within(at, around))) return around;
    }
    return Statement::kNone;
  }
  /// The statement may be carried out after the loop.
  [[nodiscard]] bool reaches(std::size_t at) const {
    return at > loop_ || common_loop(at) != Statement::kNone;
  }

  /// Whenever the statement is carried out after the loop, the name has got a value in between.
  [[nodiscard]] bool gets_another(std::string_view name, std::size_t at) const {
    const std::size_t around = common_loop(at);
    return std::ranges::any_of(kernel_.definitions(name), [&](std::size_t given) {
      const Statement& one = kernel_.statement(given);
      if (given >= at || given == loop_ || kernel_.text().is_within(given, loop_)) return false;
      if (at > loop_ ? given < loop_ : !kernel_.text().is_within(given, around)) return false;
      if (one.kind == StatementKind::loop) return kernel_.text().is_within(at, given);
      return one.kind == StatementKind::assign && one.value != nullptr &&
             !reads(*one.value, name) &&
             (one.parent == kernel_.statement(at).parent ||
              kernel_.text().is_within(at, one.parent));
    });
  }

  const TritonKernel& kernel_;
  const std::size_t loop_;
  const std::vector<std::size_t> body_;
  std::map<std::string_view, std::vector<std::size_t>> given_;
  std::set<std::string_view> accumulators_;
};

}  // namespace

std::vector<std::size_t> body_of(const TritonKernel& kernel, std::size_t loop) {
  std::vector<std::size_t> out;
  for (std::size_t i = loop + 1; i < kernel.last() && kernel.text().is_within(i, loop); ++i)
    out.push_back(i);
  return out;
}

std::string loads_what_it_stores(const MoveContext& context,
                                 const TritonKernel& kernel,
                                 std::size_t loop) {
  std::vector<const ArgSpec*> loaded, stored;
  for (const TritonAccess& access : kernel.accesses()) {
    if (!kernel.text().is_within(access.statement, loop)) continue;
    if (access.argument == nullptr) return "an access of the loop is of an unknown tensor";
    (access.store ? stored : loaded).push_back(access.argument);
  }
  for (const ArgSpec* const one : stored) {
    for (const ArgSpec* const other : loaded) {
      if (one == other || may_alias(context.spec, *one, *other))
        return "the loop loads what it stores";
    }
  }
  std::string unknown;
  for (const std::size_t i : body_of(kernel, loop)) {
    if (kernel.statement(i).value == nullptr) continue;
    python::walk(*kernel.statement(i).value, [&](const Node& node) {
      const bool calls = node.is(NodeKind::call) || node.is(NodeKind::method);
      if (calls && !computes(kernel, node)) unknown = node.text;
    });
  }
  return unknown.empty() ? "" : "the loop calls " + unknown + ", which may reach memory";
}

std::string hands_values_on(const TritonKernel& kernel, std::size_t loop) {
  return HandedOn(kernel, loop).refusal();
}

}  // namespace warpath
