#include "moves/launch/launch_places.h"

#include <array>
#include <string_view>

#include "moves/syntax/syntax_query.h"

namespace warpath {

using namespace model;

namespace {

constexpr std::array<std::string_view, 2> kNames{"blockIdx", "gridDim"};

}  // namespace

std::optional<LaunchPlaces> launch_places(const KernelModel& kernel,
                                          std::size_t axis,
                                          std::string& why) {
  const Stmt& body = *kernel.kernel->body;
  for (const std::string_view name : kNames) {
    for (const Macro& macro : kernel.unit.macros()) {
      if (macro.body.find(name) != std::string::npos)
        return why = "a macro uses the indices of the launch", std::nullopt;
    }
    for (const Function* const function : kernel.unit.functions()) {
      const bool called =
          !function->is_global && function->body != nullptr && mentions(body, function->name);
      if (called && mentions(*function->body, name))
        return why = std::string(function->name) + " uses the indices of the launch", std::nullopt;
    }
  }
  LaunchPlaces out;
  bool whole = false;
  walk_expressions(body, [&](const Expr& e) {
    for (const std::string_view name : kNames) {
      if (!e.is_name(name)) continue;
      const Expr* const of = e.parent;
      if (of == nullptr || !of->is_op(ExprKind::member, ".") || of->name.size() != 1) {
        whole = true;
      } else if (of->name[0] == "xyz"[axis]) {
        (name == kNames[0] ? out.blocks : out.grids).push_back(of);
      }
    }
    return true;
  });
  if (whole)
    return why = "an index of the launch is used in a way that is not understood", std::nullopt;
  return out;
}

}  // namespace warpath
