#include "experiments/console/command_line.h"

#include <algorithm>
#include <numeric>

#include "engine/base/error.h"

namespace warpath {
namespace {

constexpr std::size_t kHelpColumn = 30;
constexpr std::size_t kHelpWidth = 100;

/// Levenshtein distance.
std::size_t distance(std::string_view a, std::string_view b) {
  std::vector<std::size_t> row(b.size() + 1);
  std::iota(row.begin(), row.end(), std::size_t{0});
  for (std::size_t i = 1; i <= a.size(); ++i) {
    std::size_t diagonal = row[0];
    row[0] = i;
    for (std::size_t j = 1; j <= b.size(); ++j) {
      const std::size_t replaced = diagonal + (a[i - 1] == b[j - 1] ? 0U : 1U);
      diagonal = row[j];
      row[j] = std::min({row[j] + 1, row[j - 1] + 1, replaced});
    }
  }
  return row.back();
}

const Flag* find_flag(std::span<const Flag> flags, std::string_view name) {
  const auto it =
      std::find_if(flags.begin(), flags.end(), [&](const Flag& flag) { return flag.name == name; });
  return it == flags.end() ? nullptr : &*it;
}

[[noreturn]] void unknown_flag(std::string_view command,
                               std::span<const Flag> flags,
                               std::string_view name) {
  std::vector<std::string> names;
  for (const Flag& flag : flags) names.push_back(flag.name);
  const std::string near = nearest(name, names);
  throw bad_input(command, "--" + std::string(name),
                  near.empty()
                      ? "one of its flags; `" + std::string(command) + " --help` lists them"
                      : "a known flag; did you mean --" + near + "?");
}

bool is_flag(std::string_view word) {
  return word.size() > 2 && word.starts_with("--");
}

}  // namespace

std::optional<std::string> Arguments::value(std::string_view flag) const {
  const auto it = values_.find(flag);
  if (it == values_.end() || it->second.empty()) return std::nullopt;
  return it->second.back();
}

std::vector<std::string> Arguments::values(std::string_view flag) const {
  const auto it = values_.find(flag);
  return it == values_.end() ? std::vector<std::string>{} : it->second;
}

Arguments parse_arguments(std::string_view command,
                          std::span<const Flag> flags,
                          std::span<const std::string> words) {
  Arguments out;
  for (std::size_t i = 0; i < words.size(); ++i) {
    const std::string& word = words[i];
    if (word == "--") {
      out.words_.insert(out.words_.end(), words.begin() + static_cast<std::ptrdiff_t>(i) + 1,
                        words.end());
      break;
    }
    if (word == "--help" || word == "-h") {
      out.values_["help"];
      continue;
    }
    if (!is_flag(word)) {
      if (word.size() > 1 && word[0] == '-')
        throw bad_input(command, word, "flags with two dashes");
      out.words_.push_back(word);
      continue;
    }
    const auto equals = word.find('=');
    const std::string name = word.substr(2, equals == std::string::npos ? equals : equals - 2);
    const Flag* flag = find_flag(flags, name);
    if (flag == nullptr) unknown_flag(command, flags, name);
    const bool again = out.has(name);
    auto& values = out.values_[name];
    using enum Flag::Takes;
    if (again && flag->takes != repeated && flag->takes != several) {
      throw bad_input(command, "--" + name + " again", "it once");
    }
    if (flag->takes == nothing) {
      if (equals != std::string::npos)
        throw bad_input("--" + name, word.substr(equals + 1), "no value");
      continue;
    }
    const std::size_t before = values.size();
    if (equals != std::string::npos) {
      values.push_back(word.substr(equals + 1));
    } else {
      while (i + 1 < words.size() && !words[i + 1].starts_with("--") &&
             (flag->takes == several || values.size() == before)) {
        values.push_back(words[++i]);
      }
    }
    if (values.size() == before || values.back().empty())
      throw bad_input("--" + name, "", "a value: " + flag->value);
  }
  return out;
}

std::vector<std::string> Arguments::line_without(
    std::initializer_list<std::string_view> flags) const {
  std::vector<std::string> out;
  for (const auto& [name, values] : values_) {
    if (std::find(flags.begin(), flags.end(), name) != flags.end()) continue;
    if (values.empty()) out.push_back("--" + name);
    for (const std::string& value : values) out.push_back("--" + name + "=" + value);
  }
  if (!words_.empty()) out.emplace_back("--");
  out.insert(out.end(), words_.begin(), words_.end());
  return out;
}

std::string nearest(std::string_view word, std::span<const std::string> candidates) {
  std::string best;
  std::size_t least = std::max<std::size_t>(2, word.size() / 3) + 1;
  for (const std::string& candidate : candidates) {
    const std::size_t d = distance(word, candidate);
    if (d < least && d < candidate.size()) least = d, best = candidate;
  }
  return best;
}

std::string help_text(std::span<const Flag> flags) {
  std::string out;
  for (const Flag& flag : flags) {
    std::string line = "  --" + flag.name + (flag.value.empty() ? "" : " " + flag.value);
    line.resize(std::max(line.size() + 2, kHelpColumn), ' ');
    std::size_t column = line.size();
    for (std::size_t begin = 0; begin < flag.help.size();) {
      const std::size_t end = std::min(flag.help.find(' ', begin), flag.help.size());
      const std::string word = flag.help.substr(begin, end - begin);
      if (column + word.size() > kHelpWidth) {
        line += "\n" + std::string(kHelpColumn, ' ');
        column = kHelpColumn;
      }
      line += word + " ";
      column += word.size() + 1;
      begin = end + 1;
    }
    while (line.back() == ' ') line.pop_back();
    out += line + "\n";
  }
  return out;
}

std::string quoted_word(const std::string& word) {
  constexpr std::string_view kPlain =
      "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789_./:=,+-@%";
  if (!word.empty() && word.find_first_not_of(kPlain) == std::string::npos) return word;
  std::string out = "'";
  for (const char c : word) out += c == '\'' ? std::string("'\\''") : std::string(1, c);
  return out + "'";
}

}  // namespace warpath
