#include "experiments/init/guesses.h"

#include <istream>
#include <nlohmann/json.hpp>
#include <ostream>
#include <set>

#include "engine/base/error.h"

namespace warpath {

using json = nlohmann::ordered_json;

namespace {

/// The first guess that is not in `asked`; null if there is none.
json next_guess(const json& spec, const std::set<std::string>& asked) {
  for (const json& guess : spec.value("guessed", json::array()))
    if (!asked.contains(guess.dump())) return guess;
  return nullptr;
}

}  // namespace

void ask_guesses(Answers& answers,
                 std::istream& in,
                 std::ostream& out,
                 const std::function<std::string(const Answers&)>& drafted) {
  std::set<std::string> asked;
  json document = json::parse(drafted(answers));
  for (json guess = next_guess(document, asked); !guess.is_null();
       guess = next_guess(document, asked)) {
    const std::string name = answer_name(document, guess.at("path"));
    out << guess_line(document, guess) << "\n";
    if (name.empty()) {
      asked.insert(guess.dump());
      continue;
    }
    out << "> " << std::flush;
    std::string line;
    if (!std::getline(in, line)) return;
    if (line.empty()) {
      asked.insert(guess.dump());
      continue;
    }
    Answers with = answers;
    add_answer(with, name, line);
    try {
      document = json::parse(drafted(with));
      answers = std::move(with);
      asked.insert(guess.dump());
    } catch (const Error& error) {
      out << error.what() << "\n";
    }
  }
}

}  // namespace warpath
