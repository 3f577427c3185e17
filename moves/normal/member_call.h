#pragma once

#include <map>
#include <optional>
#include <set>
#include <string>
#include <vector>

#include "moves/normal/helper_call.h"

namespace warpath {

/// A call of a member function: `Sum<4>::of(v)`, `op(a, b)` and `op.apply(a, b)` of a variable,
/// `Sum()(a, b)` of a new object.
struct MemberCall {
  const model::Record* record = nullptr;
  std::string name;  ///< "of", "operator()"
  /// template arguments of the class, by parameter
  std::map<std::string, std::string, std::less<>> types;
  std::vector<std::string> arguments;  ///< template arguments of the function
  std::string prefix;                  ///< of its members in the kernel: "Sum<4>::", "op."
  /// the variable that it is called on; null: it is static, or on a new object
  const model::Declarator* object = nullptr;
};

/// nullopt if the call is of something else, or the class is not known.
[[nodiscard]] std::optional<MemberCall> member_call(const NormalSite& site,
                                                    const model::Expr& call);

/// Member functions of the file that it may mean.
[[nodiscard]] std::vector<const model::Function*> candidates(const NormalSite& site,
                                                             const MemberCall& member);

/// Names that the function uses of its class, which need the prefix in the kernel. False with one
/// line in `why` if some cannot stand there.
[[nodiscard]] bool names_of_class(const NormalSite& site,
                                  const MemberCall& member,
                                  const model::Function& function,
                                  std::set<std::string, std::less<>>& names,
                                  std::string& why);

/// What stands behind the "=" of a template parameter, with the arguments of those `before` it in
/// their place; empty if nothing does, or if a name in it means something else in the kernel.
[[nodiscard]] std::string default_argument(
    const NormalSite& site,
    const model::TemplateParameter& parameter,
    const std::map<std::string, std::string, std::less<>>& before);

/// A name in the text is a variable, a type or a template parameter of the kernel.
[[nodiscard]] bool names_of_kernel(const NormalSite& site, std::string_view text);

/// The pieces between top-level commas; brackets of template arguments count, too.
[[nodiscard]] std::vector<std::string> split_arguments(std::string_view text);

}  // namespace warpath
