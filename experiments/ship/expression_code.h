#pragma once

#include <functional>
#include <string>

#include "engine/spec/expression.h"

namespace warpath {

/// How an expression of C names a scalar argument or tunable: a term of type `long long` or `int`.
using NameInC = std::function<std::string(const std::string& name)>;

/// The expression in C, with the same value or, where that does not exist (overflow, division by
/// zero), with `bad`, a variable of type int, set to 1. Uses the functions of
/// experiments/ship/templates/sizes.h.in.
[[nodiscard]] std::string c_expression(const Expression& expression, const NameInC& name_in_c);

/// The expression in Python, where it has a value; ZeroDivisionError otherwise. Uses the functions
/// of experiments/ship/templates/python.py.in.
[[nodiscard]] std::string python_expression(const Expression& expression,
                                            const NameInC& name_in_python);

}  // namespace warpath
