#pragma once

#include <functional>
#include <iosfwd>
#include <string>

namespace warpath {

/// Asks for every guess of the spec, with the guess as the default of an empty line. What is
/// answered takes its place and is no guess any more; `problem` says what is wrong with the spec so
/// changed, in one line, and the same is asked again unless it is empty. The end of the input
/// leaves the other guesses as they are.
[[nodiscard]] std::string ask_guesses(
    const std::string& spec,
    std::istream& in,
    std::ostream& out,
    const std::function<std::string(const std::string&)>& problem);

}  // namespace warpath
