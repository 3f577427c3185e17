#pragma once

#include <functional>
#include <map>
#include <optional>
#include <set>
#include <string>
#include <vector>

#include "engine/text/source_edit.h"
#include "moves/normal/helper_call.h"

namespace warpath {

/// A helper's body as statements of the kernel.
struct BodyText {
  std::string head;          ///< shared arrays, for the head of the kernel
  std::string lines;         ///< unindented; parameters first
  std::string value;         ///< what is returned, an expression that is evaluated behind the lines
  std::string type;          ///< of the value; empty: void
  bool is_variable = false;  ///< the value is a variable that the lines declare
  bool has_effects = false;  ///< evaluating the value has
};

/// What a variable with the function's value is called.
[[nodiscard]] std::string value_name(const model::Function& function);

/// The body with its parameters bound to the arguments and fresh names for its variables. nullopt
/// with one line in `why` if its returns, parameters or arrays cannot be written there.
[[nodiscard]] std::optional<BodyText> body_of(const NormalSite& site,
                                              const HelperCall& helper,
                                              std::string& why);

/// The value of a call as an expression that may stand in its place, wherever that is: of a helper
/// that consists of one return of a value of its parameters. nullopt if the body is more, or its
/// arguments cannot be written in it.
[[nodiscard]] std::optional<std::string> value_in_place(const NormalSite& site,
                                                        const HelperCall& helper);

}  // namespace warpath
