#include "moves/triton/triton_kernel.h"

#include <algorithm>
#include <set>

#include "engine/spec/parameters.h"

namespace warpath {
namespace {

using python::Node;
using python::NodeKind;
using python::Statement;
using python::StatementKind;

/// "x" of "x.to".
std::string_view first_name(std::string_view dotted) {
  return dotted.substr(0, dotted.find('.'));
}

bool is_docstring(const Statement& statement) {
  return statement.kind == StatementKind::expression && statement.value != nullptr &&
         statement.value->is(NodeKind::string);
}

}  // namespace

TritonKernel::TritonKernel(const MoveContext& context) : text_(context.variant.source) {
  if (!text_.problem().empty()) {
    problem_ = "the text is not read: " + text_.problem();
    return;
  }
  find_language();
  if (language_.empty()) {
    problem_ = "the text has no `import triton.language as NAME`";
    return;
  }
  if (find_function(context.variant.kernel_name) && bind_parameters(context.spec) && read_body())
    find_accesses();
}

void TritonKernel::find_language() {
  for (const Statement& statement : text_.statements()) {
    const std::string_view line = text_.text(statement.span);
    for (const std::string_view import :
         {"import triton.language as ", "from triton import language as "}) {
      if (statement.parent != Statement::kNone || !line.starts_with(import)) continue;
      const std::string name(line.substr(import.size()));
      // a second name for it would hide calls
      if (!language_.empty() || name.find_first_of(" ,;") != std::string::npos)
        return language_.clear();
      language_ = name;
    }
  }
  if (text_.count(language_) == 0) language_.clear();
}

bool TritonKernel::find_function(const std::string& name) {
  const auto& statements = text_.statements();
  std::size_t found = 0;
  for (std::size_t i = 0; i < statements.size(); ++i) {
    const Statement& one = statements[i];
    if (one.kind != StatementKind::function || one.targets.empty() || one.targets[0] != name)
      continue;
    ++found;
    function_ = i;
  }
  if (found != 1 || !statements[function_].understood) {
    problem_ = found == 1 ? "the parameters of " + name + " are not read"
                          : "the text does not define " + name + " once";
    return false;
  }
  first_ = last_ = function_ + 1;
  while (last_ < statements.size() && text_.is_within(last_, function_)) ++last_;
  head_ = first_;
  while (head_ < last_ &&
         (is_docstring(statements[head_]) ||
          (statements[head_].value != nullptr && calls(*statements[head_].value, "static_assert"))))
    ++head_;
  if (head_ == last_ || statements[first_].line == statements[function_].line) {
    problem_ = "the kernel has no body of lines";
    return false;
  }
  return true;
}

bool TritonKernel::bind_parameters(const KernelSpec& spec) {
  const std::vector<const ArgSpec*> passed = parameter_arguments(spec);
  std::size_t next = 0;
  for (const python::Parameter& one : statement(function_).parameters) {
    const bool constant = one.type.ends_with("constexpr");
    const ArgSpec* const argument = constant || next == passed.size() ? nullptr : passed[next];
    if (!constant) {
      if (argument == nullptr) {
        problem_ = "the kernel's parameters are not the spec's arguments";
        return false;
      }
      ++next;
    }
    parameters_.emplace(one.name, argument);
  }
  if (next == passed.size()) return true;
  problem_ = "the kernel's parameters are not the spec's arguments";
  return false;
}

bool TritonKernel::read_body() {
  for (std::size_t i = first_; i < last_; ++i) {
    const Statement& one = statement(i);
    const bool hides = one.kind == StatementKind::function ||
                       one.kind == StatementKind::decorator ||
                       (one.kind == StatementKind::other && !one.understood) ||
                       text_.text(one.span).find(":=") != std::string_view::npos;
    if (hides) {
      problem_ = "a line of the kernel is not read: " +
                 std::string(text_.text(one.span)).substr(0, text_.text(one.span).find('\n'));
      return false;
    }
    for (const std::string_view target : one.targets) definitions_[target].push_back(i);
    if (one.kind == StatementKind::loop && one.value != nullptr &&
        (one.value->is_call_of("range") || calls(*one.value, "range")))
      loops_.push_back(i);
  }
  return true;
}

void TritonKernel::find_accesses() {
  for (std::size_t i = first_; i < last_; ++i) {
    if (statement(i).value == nullptr) continue;
    python::walk(*statement(i).value, [&](const Node& node) {
      const bool store = calls(node, "store");
      if (!store && !calls(node, "load")) return;
      const Node* address = node.argument(std::size_t{0});
      if (address == nullptr) address = node.argument(std::string_view("pointer"));
      accesses_.push_back({.call = &node,
                           .address = address,
                           .statement = i,
                           .store = store,
                           .argument = address == nullptr ? nullptr : tensor_of(*address)});
    });
  }
}

const ArgSpec* TritonKernel::argument(std::string_view parameter) const {
  const auto it = parameters_.find(parameter);
  return it == parameters_.end() ? nullptr : it->second;
}

bool TritonKernel::is_constant(std::string_view parameter) const {
  const auto it = parameters_.find(parameter);
  return it != parameters_.end() && it->second == nullptr;
}

bool TritonKernel::is_parameter(std::string_view name) const {
  return parameters_.contains(name);
}

std::optional<std::size_t> TritonKernel::definition(std::string_view name) const {
  const auto it = definitions_.find(name);
  if (it == definitions_.end() || it->second.size() != 1 || is_parameter(name)) return std::nullopt;
  return it->second.front();
}

std::span<const std::size_t> TritonKernel::definitions(std::string_view name) const {
  const auto it = definitions_.find(name);
  return it == definitions_.end() ? std::span<const std::size_t>() : it->second;
}

bool TritonKernel::is_kept(std::string_view parameter) const {
  return !definitions_.contains(parameter);
}

bool TritonKernel::reaches(const Node& node, const std::function<bool(const Node&)>& found) const {
  std::vector<const Node*> open{&node};
  std::set<std::string_view> known;
  while (!open.empty()) {
    const Node& at = *open.back();
    open.pop_back();
    if (found(at)) return true;
    for (const auto& child : at.children) open.push_back(child.get());
    if (!at.is(NodeKind::name) && !at.is(NodeKind::call)) continue;
    const std::string_view name = first_name(at.text);
    const auto defined = definitions_.find(name);
    if (defined == definitions_.end() || !known.insert(name).second) continue;
    for (const std::size_t i : defined->second) {
      if (statement(i).value != nullptr) open.push_back(statement(i).value.get());
    }
  }
  return false;
}

const ArgSpec* TritonKernel::tensor_of(const Node& address) const {
  std::set<const ArgSpec*> tensors;
  std::vector<const Node*> open{&address};
  std::set<std::string_view> known;
  while (!open.empty()) {
    const Node& at = *open.back();
    open.pop_back();
    if (calls(at, "load")) continue;  // an index that is data
    for (const auto& child : at.children) open.push_back(child.get());
    if (!at.is(NodeKind::name) && !at.is(NodeKind::call)) continue;
    const std::string_view name = first_name(at.text);
    if (const ArgSpec* const found = argument(name);
        found != nullptr && found->type == ArgType::tensor)
      tensors.insert(found);
    const auto defined = definitions_.find(name);
    if (defined == definitions_.end() || !known.insert(name).second) continue;
    for (const std::size_t i : defined->second) {
      if (statement(i).value == nullptr) return nullptr;
      open.push_back(statement(i).value.get());
    }
  }
  return tensors.size() == 1 ? *tensors.begin() : nullptr;
}

std::string TritonKernel::fresh(std::string_view wish) const {
  std::string name(wish);
  for (int i = 2; text_.count(name) > 0; ++i) name = std::string(wish) + "_" + std::to_string(i);
  return name;
}

bool drop_argument(const python::Text& text,
                   const Node& call,
                   const Node& argument,
                   std::vector<Edit>& edits) {
  for (std::size_t i = 1; i < call.children.size(); ++i) {
    if (call.children[i].get() != &argument) continue;
    const python::Span gap{call.children[i - 1]->outer.end, argument.outer.end};
    if (text.text({gap.begin, argument.outer.begin}).find('#') != std::string_view::npos)
      return false;
    edits.push_back({gap.begin, gap.end, ""});
    return true;
  }
  return false;
}

bool set_keyword(const python::Text& text,
                 const Node& call,
                 std::string_view keyword,
                 std::string_view value,
                 std::vector<Edit>& edits) {
  const Node* const known = call.argument(keyword);
  if (known != nullptr && !known->is(NodeKind::string) && !known->is(NodeKind::number))
    return false;
  if (known == nullptr) {
    if (value.empty()) return true;
    if (call.children.empty()) return false;
    const std::size_t at = call.children.back()->outer.end;
    edits.push_back({at, at, ", " + std::string(keyword) + "=" + std::string(value)});
    return true;
  }
  if (value.empty()) return drop_argument(text, call, *known, edits);
  edits.push_back({known->outer.begin, known->outer.end, std::string(value)});
  return true;
}

std::optional<std::int64_t> number_of(const Node& node) {
  return node.is(NodeKind::number) ? integer_value(node.text) : std::nullopt;
}

}  // namespace warpath
