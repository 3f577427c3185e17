#include <algorithm>
#include <array>

#include "engine/spec/expression_tree.h"
#include "moves/edit/span_rewrite.h"
#include "moves/triton/triton_bounds.h"
#include "moves/triton/triton_move.h"
#include "register_moves.h"

namespace warpath {
namespace {

using python::Node;
using python::NodeKind;
using python::Statement;
using python::StatementKind;

/// An expression's text with arguments by the spec's names and locals by what they are, to compare
/// it with a factor of the grid. Empty if it has no such form.
class GridTerm {
 public:
  explicit GridTerm(const TritonKernel& kernel) : kernel_(kernel) {}

  std::string of(const Node& node) {
    if (++steps_ > 50) return "";
    if (const auto value = number_of(node)) return std::to_string(*value);
    if (node.is(NodeKind::name)) {
      if (kernel_.is_parameter(node.text)) {
        if (!kernel_.is_kept(node.text)) return "";
        const ArgSpec* const argument = kernel_.argument(node.text);
        return argument == nullptr ? std::string(node.text) : argument->name;
      }
      const auto at = kernel_.definition(node.text);
      const bool plain = at && kernel_.statement(*at).kind == StatementKind::assign &&
                         kernel_.statement(*at).targets.size() == 1 &&
                         kernel_.statement(*at).value != nullptr;
      return plain ? of(*kernel_.statement(*at).value) : "";
    }
    const bool divides = kernel_.calls(node, "cdiv") && node.children.size() == 2;
    if (!divides && !node.is(NodeKind::binary)) return "";
    const std::string a = of(*node.children[0]), b = of(*node.children[1]);
    return a.empty() || b.empty() ? "" : joined(divides ? "cdiv" : node.text, a, b);
  }

  static std::string of(const Expression::Node& node) {
    const auto operands = [&](std::string_view op) {
      return joined(op, of(*node.children[0]), of(*node.children[1]));
    };
    switch (node.op) {
      case ExpressionOp::constant:
        return std::to_string(node.value);
      case ExpressionOp::name:
        return node.name;
      case ExpressionOp::add:
        return operands("+");
      case ExpressionOp::sub:
        return operands("-");
      case ExpressionOp::mul:
        return operands("*");
      case ExpressionOp::div:
        return operands("//");
      case ExpressionOp::ceil_div:
        return operands("cdiv");
      default:
        return "?";
    }
  }

 private:
  static std::string joined(std::string_view op, const std::string& a, const std::string& b) {
    return std::string(op) + "(" + a + ", " + b + ")";
  }

  const TritonKernel& kernel_;
  int steps_ = 0;
};

/// The product has this factor.
bool has_factor(const Expression::Node& product, const std::string& factor) {
  if (GridTerm::of(product) == factor) return true;
  return product.op == ExpressionOp::mul &&
         std::ranges::any_of(product.children,
                             [&](const auto& child) { return has_factor(*child, factor); });
}

/// Walks the programs of a matrix of tiles in groups of rows, each column by column, so that those
/// that run at one time share what they load. A permutation of the programs: what each computes
/// stays. The matrix is that of a grid of two axes, or of one that the kernel divides by the number
/// of columns.
class TritonProgramOrder final : public TritonMove {
 public:
  [[nodiscard]] std::string_view name() const override { return "triton_program_order"; }

  [[nodiscard]] std::optional<MoveInstance> inverse(const MoveContext& context,
                                                    const MoveInstance& done) const override {
    if (!not_triton(context.spec).empty()) return std::nullopt;
    const TritonKernel kernel(context);
    if (!kernel.problem().empty()) return std::nullopt;
    const Calls calls = calls_of(kernel);
    if (calls.orders.size() != 1) return std::nullopt;
    const auto group = group_of(*calls.orders[0]);
    const std::vector<std::int64_t> known = values();
    if (!group || std::ranges::find(known, *group) == known.end()) return std::nullopt;
    return MoveInstance{done.move, done.site, {{"group", *group}}};
  }

 private:
  static std::vector<std::int64_t> values() { return {2, 4, 8, 16, 32}; }

  [[nodiscard]] std::vector<Tunable> parameters(std::string_view site) const override {
    if (!site.empty()) return {};
    return {Tunable{"group", values(), 8, "rows of programs that are walked together"}};
  }

  [[nodiscard]] std::vector<MoveInstance> candidates(const MoveContext&,
                                                     const TritonKernel&) const override {
    std::vector<MoveInstance> out;
    for (const std::int64_t group : {8, 4, 16, 2})
      out.push_back({std::string(name()), "", {{"group", group}}});
    return out;
  }

  struct Calls {
    std::array<std::vector<const Node*>, 2> ids;  ///< of program_id, by axis
    std::vector<const Node*> orders;              ///< of swizzle2d
    std::size_t seen = 0;                         ///< calls of program_id
  };
  static Calls calls_of(const TritonKernel& kernel) {
    Calls out;
    for (std::size_t i = kernel.first(); i < kernel.last(); ++i) {
      if (kernel.statement(i).value == nullptr) continue;
      python::walk(*kernel.statement(i).value, [&](const Node& node) {
        if (kernel.calls(node, "swizzle2d")) out.orders.push_back(&node);
        if (!kernel.calls(node, "program_id")) return;
        const auto axis = triton_axis(node);
        if (axis) ++out.seen;
        if (axis && *axis < 2) out.ids[*axis].push_back(&node);
      });
    }
    return out;
  }

  static std::optional<std::int64_t> group_of(const Node& order) {
    const Node* const group = order.argument(std::size_t{4});
    return group == nullptr ? std::nullopt : number_of(*group);
  }

  [[nodiscard]] std::vector<Edit> edits(const MoveContext& context,
                                        const TritonKernel& kernel,
                                        const MoveInstance& wanted,
                                        std::string& why) const override {
    const std::int64_t group = wanted.parameters.at("group");
    const Calls calls = calls_of(kernel);
    if (calls.orders.size() == 1 && group_of(*calls.orders[0])) {
      if (*group_of(*calls.orders[0]) == group)
        return why = "the programs are walked so already", std::vector<Edit>{};
      const python::Span old = calls.orders[0]->argument(std::size_t{4})->outer;
      return {{old.begin, old.end, std::to_string(group)}};
    }
    if (!calls.orders.empty() || kernel.text().count("num_programs") > 0)
      return why = "the kernel has an order of programs of its own", std::vector<Edit>{};
    // a helper that asks for its program would get the old one
    if (kernel.text().count("program_id") != calls.seen)
      return why = "program_id stands where it is not read", std::vector<Edit>{};
    if (waits(kernel)) return why = "programs may wait for each other", std::vector<Edit>{};
    for (const Workload* const workload : workloads_of(context)) {
      const LaunchNumbers numbers =
          evaluate(launch_for(context.spec, context.variant, *workload),
                   context.spec.bindings(*workload, context.variant.tunables), "launch");
      const auto programs = static_cast<std::uint64_t>(numbers.grid[0]) * numbers.grid[1];
      if (programs > INT32_MAX) return why = "there are too many programs", std::vector<Edit>{};
    }
    if (calls.ids[0].empty()) return why = "the grid has one axis or none", std::vector<Edit>{};
    return calls.ids[1].empty() ? one_axis(context, kernel, calls, group, why)
                                : two_axes(kernel, calls, group, why);
  }

  /// A `while` loop goes on until memory has another value, which a program that comes later may be
  /// to write.
  static bool waits(const TritonKernel& kernel) {
    const auto looks = [&](const Node& node) {
      return kernel.calls(node, "load") ||
             (node.is(NodeKind::call) && node.text.starts_with(kernel.of_language("atomic_")));
    };
    for (std::size_t loop = kernel.first(); loop < kernel.last(); ++loop) {
      const Statement& one = kernel.statement(loop);
      if (one.word != "while") continue;
      if (one.value == nullptr) return true;
      bool found = false;
      python::walk(*one.value, [&](const Node& node) {
        found = found || looks(node);
        if (!node.is(NodeKind::name)) return;
        for (const std::size_t at : kernel.definitions(node.text)) {
          if (kernel.text().is_within(at, loop))
            found = found || kernel.statement(at).value == nullptr ||
                    kernel.reaches(*kernel.statement(at).value, looks);
        }
      });
      if (found) return true;
    }
    return false;
  }

  /// A load whose address does not depend on both of what tells programs apart.
  static bool shares(const TritonKernel& kernel,
                     const std::function<bool(const Node&)>& row,
                     const std::function<bool(const Node&)>& column) {
    return std::ranges::any_of(kernel.accesses(), [&](const TritonAccess& access) {
      if (access.store || access.address == nullptr) return false;
      const bool is_block = kernel.reaches(
          *access.address, [&](const Node& node) { return kernel.calls(node, "arange"); });
      return is_block &&
             !(kernel.reaches(*access.address, row) && kernel.reaches(*access.address, column));
    });
  }

  static std::vector<Edit> two_axes(const TritonKernel& kernel,
                                    const Calls& calls,
                                    std::int64_t group,
                                    std::string& why) {
    const auto of_axis = [&](std::size_t axis) {
      return [&kernel, axis](const Node& node) {
        return kernel.calls(node, "program_id") && triton_axis(node) == axis;
      };
    };
    if (!shares(kernel, of_axis(1), of_axis(0)))
      return why = "programs share no operands", std::vector<Edit>{};
    const std::array<std::string, 2> names{kernel.fresh("program_column"),
                                           kernel.fresh("program_row")};
    const auto call = [&](const char* function, int axis) {
      return kernel.of_language(function) + "(" + std::to_string(axis) + ")";
    };
    std::vector<Edit> out{{kernel.head(), kernel.head(),
                           kernel.indentation() + names[1] + ", " + names[0] + " = " +
                               kernel.of_language("swizzle2d") + "(" + call("program_id", 1) +
                               ", " + call("program_id", 0) + ", " + call("num_programs", 1) +
                               ", " + call("num_programs", 0) + ", " + std::to_string(group) +
                               ")\n"}};
    for (std::size_t axis = 0; axis < 2; ++axis) {
      for (const Node* const id : calls.ids[axis])
        out.push_back({id->span.begin, id->span.end, names[axis]});
    }
    return out;
  }

  /// A statement `name = program // columns` or `name = program % columns`.
  struct Division {
    std::size_t statement = 0;
    const Node* program = nullptr;
    const Node* columns = nullptr;
  };
  static std::vector<Division> divisions(const TritonKernel& kernel, std::string_view op) {
    std::vector<Division> out;
    for (std::size_t i = kernel.first(); i < kernel.last(); ++i) {
      const Statement& one = kernel.statement(i);
      const bool plain = one.kind == StatementKind::assign && one.understood &&
                         one.targets.size() == 1 && one.value != nullptr &&
                         one.value->is(NodeKind::binary) && one.value->text == op &&
                         kernel.definition(one.targets[0]) == i;
      if (!plain) continue;
      const Node* const program = one.value->children[0].get();
      if (is_program(kernel, *program)) out.push_back({i, program, one.value->children[1].get()});
    }
    return out;
  }
  /// tl.program_id(0), or a name for it.
  static bool is_program(const TritonKernel& kernel, const Node& node) {
    if (node.is(NodeKind::name)) {
      const auto at = kernel.definition(node.text);
      return at && kernel.statement(*at).value != nullptr &&
             kernel.calls(*kernel.statement(*at).value, "program_id") &&
             kernel.statement(*at).targets.size() == 1 &&
             triton_axis(*kernel.statement(*at).value) == 0;
    }
    return kernel.calls(node, "program_id") && triton_axis(node) == 0;
  }

  static std::vector<Edit> one_axis(const MoveContext& context,
                                    const TritonKernel& kernel,
                                    const Calls& calls,
                                    std::int64_t group,
                                    std::string& why) {
    const auto rows = divisions(kernel, "//"), columns = divisions(kernel, "%");
    if (rows.size() != 1 || columns.size() != 1)
      return why = "the programs are no matrix of tiles", std::vector<Edit>{};
    const Division &row = rows[0], &column = columns[0];
    const python::Text& text = kernel.text();
    const std::string program(text.text(row.program->outer)), width(text.text(row.columns->outer));
    const Statement &first = kernel.statement(std::min(row.statement, column.statement)),
                    &second = kernel.statement(std::max(row.statement, column.statement));
    const bool named = row.program->is(NodeKind::name);
    const bool alone = named ? text.count(program) == 3 : calls.ids[0].size() == 2;
    if (text.text(column.program->outer) != program || text.text(column.columns->outer) != width ||
        !alone || (named && calls.ids[0].size() != 1))
      return why = "the program's index is used otherwise", std::vector<Edit>{};
    if (first.parent != second.parent || first.parent + 1 != kernel.first())
      return why = "the tile is chosen in a branch", std::vector<Edit>{};
    GridTerm term(kernel);
    const std::string factor = term.of(*row.columns);
    const LaunchPlan& plan = context.variant.launch;
    if (has_own_plans(context.spec) || factor.empty() ||
        !has_factor(*expression_tree(plan.grid[0]), factor))
      return why = "the grid is not rows of " + width + " programs", std::vector<Edit>{};
    const auto reads = [&](const Division& division) {
      const Node* const value = kernel.statement(division.statement).value.get();
      return [value](const Node& node) { return &node == value; };
    };
    if (!shares(kernel, reads(row), reads(column)))
      return why = "programs share no operands", std::vector<Edit>{};
    if (text.source().substr(first.span.end, second.line - first.span.end) != "\n")
      return why = "the tile's row and column stand apart", std::vector<Edit>{};
    std::string line(kernel.statement(row.statement).targets[0]);
    line += ", " + std::string(kernel.statement(column.statement).targets[0]) + " = " +
            kernel.of_language("swizzle2d") + "(" + program + " // " + width + ", " + program +
            " % " + width + ", " + kernel.of_language("num_programs") + "(0) // " + width + ", " +
            width + ", " + std::to_string(group) + ")";
    return {{first.span.begin, second.span.end, std::move(line)}};
  }
};

}  // namespace

void register_move_triton_program_order(MoveRegistry& registry) {
  registry.add("triton_program_order", "walk the programs in Triton in groups of rows of tiles",
               [] { return std::make_unique<TritonProgramOrder>(); });
}

}  // namespace warpath
