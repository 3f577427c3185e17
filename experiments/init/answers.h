#pragma once

#include <cstdint>
#include <map>
#include <nlohmann/json_fwd.hpp>
#include <optional>
#include <string>
#include <vector>

#include "experiments/project/host_launch.h"
#include "experiments/project/kernel_signature.h"
#include "moves/syntax/unit.h"

namespace warpath {

/// What the user says of a kernel in the place of guesses, by name:
/// - a number, or a size that the spec has: its value; a template parameter: its type or value;
/// - `grid.x`, `block.y`, `smem`: an expression over the kernel's parameters;
/// - `template_arguments`: all of these;
/// - a tensor: its shape `[rows, 4]`, its integers `LOW..HIGH` (HIGH is none of them), its role,
///   or a rule of contents (`zeros`, or one in JSON);
/// - a path in the spec: JSON, or a text.
/// A tensor may have several, one in a line each.
using Answers = std::map<std::string, std::string, std::less<>>;

/// NAME=VALUE each. Throws Error(bad_input).
[[nodiscard]] Answers parse_answers(const std::vector<std::string>& words);
/// One more answer; of a tensor beside those that are there.
void add_answer(Answers& answers, const std::string& name, const std::string& value);

/// The integers among them.
[[nodiscard]] std::map<std::string, std::int64_t> integers_answered(const Answers& answers);
/// Gives the template parameters that are answered their values, which are no guesses.
void take_answers(const Answers& answers, std::vector<TemplateArgument>& arguments);
/// The launch with the axes and integers that are answered in the place of its own. Throws
/// Error(bad_input) for an axis that is no expression over the kernel's parameters.
[[nodiscard]] std::optional<HostLaunch> answered_launch(const Answers& answers,
                                                        const model::Function& kernel,
                                                        std::optional<HostLaunch> launch);
/// The launch that a line of host code makes: `k<float><<<n / 256, 256>>>(x, y, n)`. Throws
/// Error(bad_input) if it is none of the kernel.
[[nodiscard]] HostLaunch launch_in_words(const std::string& words, const model::Function& kernel);

/// The spec of a kernel with these template parameters with its answers, which are no guesses any
/// more. Throws Error(bad_input) for a name that it does not have, or a value that none of its has.
[[nodiscard]] std::string with_answers(const std::string& spec,
                                       const Answers& answers,
                                       const model::Function& kernel);

/// The name that answers the guess at a path of the spec, empty for one about the kernel's text;
/// its value as an answer.
[[nodiscard]] std::string answer_name(const nlohmann::ordered_json& spec, const std::string& path);
[[nodiscard]] std::string answer_value(const nlohmann::ordered_json& spec, const std::string& path);
/// NAME = VALUE: why.
[[nodiscard]] std::string guess_line(const nlohmann::ordered_json& spec,
                                     const nlohmann::ordered_json& guess);

}  // namespace warpath
