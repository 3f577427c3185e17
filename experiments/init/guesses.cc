#include "experiments/init/guesses.h"

#include <istream>
#include <nlohmann/json.hpp>
#include <ostream>

namespace warpath {

using json = nlohmann::ordered_json;

namespace {

std::string shown(const json& spec, const json& guess) {
  const std::string path = guess.at("path");
  return path + " = " + spec.at(json::json_pointer(path)).dump() + ": " +
         guess.at("why").get<std::string>();
}

/// A number, true, false or a list as JSON; anything else is a text (an expression).
json answer_value(const std::string& text) {
  json value = json::parse(text, nullptr, false);
  return value.is_discarded() ? json(text) : value;
}

}  // namespace

std::string ask_guesses(const std::string& spec,
                        std::istream& in,
                        std::ostream& out,
                        const std::function<std::string(const std::string&)>& problem) {
  json document = json::parse(spec);
  json left = json::array();
  const json guesses = document.value("guessed", json::array());
  bool ended = false;
  for (const json& guess : guesses) {
    const json::json_pointer path(guess.at("path").get<std::string>());
    for (bool again = !ended; again;) {
      out << shown(document, guess) << "\n> " << std::flush;
      std::string line;
      ended = !std::getline(in, line);
      if (ended || line.empty()) {
        left.push_back(guess);
        break;
      }
      json changed = document;
      changed[path] = answer_value(line);
      const std::string wrong = problem(changed.dump());
      again = !wrong.empty();
      if (again) out << wrong << "\n";
      if (!again) document = std::move(changed);
    }
    if (ended && (left.empty() || left.back() != guess)) left.push_back(guess);
  }
  document["guessed"] = left;
  if (left.empty()) document.erase("guessed");
  return document.dump(2) + "\n";
}

}  // namespace warpath
