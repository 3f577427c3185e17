#pragma once

#include <functional>
#include <iosfwd>
#include <string>

#include "experiments/init/answers.h"

namespace warpath {

/// Asks for every guess of the spec that `drafted` makes with the answers so far, by the name that
/// answers it, with the guess as the default of an empty line. What is answered goes to `answers`,
/// so that what follows from it is no question any more; one about the kernel's text is only shown;
/// where `drafted` throws with it, what is wrong is said and the same is asked again. The end of
/// the input leaves the other guesses as they are.
void ask_guesses(Answers& answers,
                 std::istream& in,
                 std::ostream& out,
                 const std::function<std::string(const Answers&)>& drafted);

}  // namespace warpath
