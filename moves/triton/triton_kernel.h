#pragma once

#include <cstddef>
#include <functional>
#include <map>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "engine/plugin/move.h"
#include "engine/text/source_edit.h"
#include "moves/triton/python_text.h"

namespace warpath {

/// A call that loads or stores.
struct TritonAccess {
  const python::Node* call = nullptr;
  const python::Node* address = nullptr;  ///< null: it has none
  std::size_t statement = 0;
  bool store = false;
  const ArgSpec* argument = nullptr;  ///< the tensor; null: not known
};

/// The kernel of a variant in Triton, as far as moves read it. References must outlive it.
class TritonKernel {
 public:
  explicit TritonKernel(const MoveContext& context);
  TritonKernel(const TritonKernel&) = delete;
  TritonKernel& operator=(const TritonKernel&) = delete;

  /// Why the kernel is not read, in one line; empty: it is.
  [[nodiscard]] const std::string& problem() const { return problem_; }
  [[nodiscard]] const python::Text& text() const { return text_; }
  /// Statements of the body: indices [first(), last()) into text().statements().
  [[nodiscard]] std::size_t first() const { return first_; }
  [[nodiscard]] std::size_t last() const { return last_; }
  [[nodiscard]] const python::Statement& statement(std::size_t i) const {
    return text_.statements()[i];
  }
  /// In order of the text. Those in statements that are not understood are missing.
  [[nodiscard]] const std::vector<TritonAccess>& accesses() const { return accesses_; }
  /// Statements that loop over range() or tl.range().
  [[nodiscard]] const std::vector<std::size_t>& loops() const { return loops_; }

  /// The name that the file gives to a function of triton.language: "tl.load".
  [[nodiscard]] std::string of_language(std::string_view function) const {
    return language_ + "." + std::string(function);
  }
  [[nodiscard]] bool calls(const python::Node& node, std::string_view function) const {
    return node.is_call_of(of_language(function));
  }
  /// The spec's argument that is passed for a parameter; null for other names and for constants.
  [[nodiscard]] const ArgSpec* argument(std::string_view parameter) const;
  /// A parameter that is a constant when the kernel is compiled.
  [[nodiscard]] bool is_constant(std::string_view parameter) const;
  [[nodiscard]] bool is_parameter(std::string_view name) const;

  /// The one statement that gives a local its value; nullopt for parameters, and for names that get
  /// several.
  [[nodiscard]] std::optional<std::size_t> definition(std::string_view name) const;
  /// All statements that give a name a value, in order.
  [[nodiscard]] std::span<const std::size_t> definitions(std::string_view name) const;
  /// Nothing in the body gives the parameter another value.
  [[nodiscard]] bool is_kept(std::string_view parameter) const;
  /// `found` holds for the node or for one that its value is computed from.
  [[nodiscard]] bool reaches(const python::Node& node,
                             const std::function<bool(const python::Node&)>& found) const;
  /// A name that the file does not have.
  [[nodiscard]] std::string fresh(std::string_view wish) const;
  /// Where a line at the head of the body is inserted, behind assertions that stand there, and what
  /// the line begins with.
  [[nodiscard]] std::size_t head() const { return statement(head_).line; }
  [[nodiscard]] std::string indentation() const {
    return std::string(statement(head_).indent, ' ');
  }

 private:
  void find_language();
  bool find_function(const std::string& name);
  bool bind_parameters(const KernelSpec& spec);
  bool read_body();
  void find_accesses();
  [[nodiscard]] const ArgSpec* tensor_of(const python::Node& address) const;

  const python::Text text_;
  std::string problem_, language_;
  std::size_t function_ = 0, first_ = 0, last_ = 0, head_ = 0;
  std::map<std::string_view, const ArgSpec*> parameters_;  // null: a constant
  std::map<std::string_view, std::vector<std::size_t>> definitions_;
  std::vector<TritonAccess> accesses_;
  std::vector<std::size_t> loops_;
};

/// Edits that give a call the argument `keyword=value`, behind the others or in the place of the
/// one it has; with an empty value they take it away. False if a comment would be lost, or the
/// argument is not a literal.
[[nodiscard]] bool set_keyword(const python::Text& text,
                               const python::Node& call,
                               std::string_view keyword,
                               std::string_view value,
                               std::vector<Edit>& edits);
/// Edits that take the argument away; false if a comment would be lost.
[[nodiscard]] bool drop_argument(const python::Text& text,
                                 const python::Node& call,
                                 const python::Node& argument,
                                 std::vector<Edit>& edits);

/// The value of an integer literal; nullopt for anything else.
[[nodiscard]] std::optional<std::int64_t> number_of(const python::Node& node);

}  // namespace warpath
