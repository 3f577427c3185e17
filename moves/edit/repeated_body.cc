#include "moves/edit/repeated_body.h"
#include "moves/model/kernel_model.h"
#include "moves/syntax/syntax_query.h"

#include <algorithm>

namespace warpath {

using namespace model;

std::string carried_variable(const KernelModel& kernel, const std::vector<const Stmt*>& repeated) {
  const auto inside = [&](const Declarator* d) {
    return d != nullptr && d->stmt != nullptr &&
           std::any_of(repeated.begin(), repeated.end(),
                       [&](const Stmt* s) { return is_inside(*d->stmt, *s); });
  };
  for (const Stmt* stmt : repeated) {
    for (const std::string& name : kernel.facts.names_written(*stmt)) {
      const Declarator* const before = visible(kernel.unit, *kernel.kernel, name, stmt->span.begin);
      if (before != nullptr && !inside(before)) return name;
    }
    for (const Access* access : kernel.facts.accesses_in(*stmt)) {
      const Array& array = kernel.facts.arrays[static_cast<std::size_t>(access->array)];
      if (access->writes() && array.space == Space::local && !inside(array.declarator))
        return array.name;
    }
  }
  return "";
}

}  // namespace warpath
