#include "moves/triton/triton_shapes.h"

#include <algorithm>

#include "engine/base/words.h"

namespace warpath {
namespace {

using python::Node;
using python::NodeKind;
using python::Statement;
using python::StatementKind;
using Shape = std::optional<TritonShape>;

constexpr int kMostShapeSteps = 2000;

/// Functions of triton.language whose result has the shape that the arguments are brought to.
constexpr WordList kElementwise(
    "cdiv minimum maximum where load swizzle2d program_id num_programs");
/// The same of Python.
constexpr WordList kElementwiseInPython("min max abs float int");
/// Those whose result has the shape of the first argument.
constexpr WordList kAsFirst("multiple_of max_contiguous");

/// The name itself, or a sum that it is a part of.
bool goes_on(const Node& node, std::string_view name) {
  if (node.is(NodeKind::name)) return node.text == name;
  return node.is(NodeKind::binary) && std::ranges::any_of(node.children, [&](const auto& child) {
           return goes_on(*child, name);
         });
}

/// The statement changes the name's value by an operator.
bool goes_on(const Statement& statement, std::string_view name) {
  if (statement.kind == StatementKind::augmented) return true;
  return statement.kind == StatementKind::assign && statement.targets.size() == 1 &&
         statement.value != nullptr && goes_on(*statement.value, name);
}

}  // namespace

Shape broadcast(const Shape& a, const Shape& b) {
  if (!a || !b) return std::nullopt;
  TritonShape longer = *a, shorter = *b;
  if (longer.size() < shorter.size()) longer.swap(shorter);
  const std::size_t ahead = longer.size() - shorter.size();
  for (std::size_t i = 0; i < shorter.size(); ++i) {
    std::string& one = longer[ahead + i];
    if (one == "1")
      one = shorter[i];
    else if (shorter[i] != "1" && shorter[i] != one)
      return std::nullopt;
  }
  return longer;
}

Shape TritonShapes::of(const Node& node) {
  if (++steps_ > kMostShapeSteps) return std::nullopt;
  switch (node.kind) {
    case NodeKind::number:
    case NodeKind::string:
      return TritonShape{};
    case NodeKind::name:
      return name(node.text);
    case NodeKind::unary:
    case NodeKind::binary:
    case NodeKind::comparison:
      return all_of(node);
    case NodeKind::method:
      return node.text == "to" ? of(*node.children[0]) : std::nullopt;
    case NodeKind::subscript:
      return subscript(node);
    case NodeKind::call:
      return call(node);
    default:
      return std::nullopt;
  }
}

Shape TritonShapes::all_of(const Node& node) {
  Shape out = TritonShape{};
  for (const auto& child : node.children) out = broadcast(out, of(*child));
  return out;
}

Shape TritonShapes::name(std::string_view name) {
  const auto definitions = kernel_.definitions(name);
  if (definitions.empty()) {
    // a parameter or a constant of the file, unless it is a member of a value
    const std::string_view first = name.substr(0, name.find('.'));
    return kernel_.definitions(first).empty() ? Shape(TritonShape{}) : std::nullopt;
  }
  const auto assumed = assumed_.find(name);
  if (assumed != assumed_.end()) return assumed->second;
  // first without the statements that go on from the name's own value
  assumed_.emplace(name, std::nullopt);
  Shape out = kernel_.is_parameter(name) ? Shape(TritonShape{}) : std::nullopt;
  bool known = true;
  for (const std::size_t at : definitions) {
    if (goes_on(kernel_.statement(at), name)) continue;
    const Shape own = defined(kernel_.statement(at), name);
    known = known && own && (!out || *out == *own);
    out = own;
  }
  assumed_[name] = known ? out : std::nullopt;
  for (const std::size_t at : definitions) {
    const Statement& one = kernel_.statement(at);
    if (!known || !goes_on(one, name)) continue;
    const Shape own = one.value == nullptr ? std::nullopt : broadcast(out, of(*one.value));
    known = out && own == out;
  }
  assumed_.erase(name);
  return known ? out : std::nullopt;
}

/// Of what a statement assigns to a name.
Shape TritonShapes::defined(const Statement& statement, std::string_view name) {
  if (statement.kind == StatementKind::loop) return TritonShape{};
  if (statement.kind != StatementKind::assign || !statement.understood ||
      statement.value == nullptr)
    return std::nullopt;
  const Node& value = *statement.value;
  if (!value.is(NodeKind::tuple)) return of(value);
  const auto target = static_cast<std::size_t>(std::ranges::find(statement.targets, name) -
                                               statement.targets.begin());
  return value.children.size() == statement.targets.size() ? of(*value.children[target])
                                                           : std::nullopt;
}

Shape TritonShapes::call(const Node& node) {
  const std::string language = kernel_.of_language("");
  const bool of_triton = node.text.starts_with(language);
  const std::string_view function = of_triton ? node.text.substr(language.size()) : node.text;
  if (of_triton && function == "arange" && node.children.size() == 2) {
    const std::string begin(kernel_.text().text(node.children[0]->outer)),
        end(kernel_.text().text(node.children[1]->outer));
    return TritonShape{begin == "0" ? end : end + " - " + begin};
  }
  if (of_triton ? kElementwise.contains(function) : kElementwiseInPython.contains(function))
    return all_of(node);
  if (of_triton && kAsFirst.contains(function) && !node.children.empty())
    return of(*node.children[0]);
  constexpr std::string_view kTo = ".to";
  return node.text.ends_with(kTo) ? name(node.text.substr(0, node.text.size() - kTo.size()))
                                  : std::nullopt;
}

/// x[:, None]
Shape TritonShapes::subscript(const Node& node) {
  const Shape whole = of(*node.children[0]);
  if (!whole) return std::nullopt;
  TritonShape out;
  std::size_t next = 0;
  for (std::size_t i = 1; i < node.children.size(); ++i) {
    const Node& part = *node.children[i];
    const bool adds = part.is(NodeKind::name) && part.text == "None";
    const bool keeps = part.is(NodeKind::slice) && part.children.empty() && next < whole->size();
    if (!adds && !keeps) return std::nullopt;
    out.push_back(adds ? "1" : (*whole)[next++]);
  }
  return next == whole->size() ? Shape(std::move(out)) : std::nullopt;
}

}  // namespace warpath
