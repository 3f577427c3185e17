#pragma once

#include <initializer_list>
#include <map>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

namespace warpath {

/// One flag of a command, `--name`.
struct Flag {
  enum class Takes : unsigned char { nothing, one, repeated, several };
  std::string name;  ///< without dashes
  /// name of its value in the help: "FILE"; empty if it has none
  std::string value;
  std::string help;
  /// repeated: may be given again; several: also takes all words up to the next flag
  Takes takes = Takes::one;
  std::vector<std::string> words = {};  ///< the values it accepts; empty: others than words
};

/// The words of a command line, grouped by flag.
class Arguments {
 public:
  [[nodiscard]] bool has(std::string_view flag) const {
    return values_.find(flag) != values_.end();
  }
  /// The value of a flag given at most once.
  [[nodiscard]] std::optional<std::string> value(std::string_view flag) const;
  /// All values of a flag, in order; empty if it was not given.
  [[nodiscard]] std::vector<std::string> values(std::string_view flag) const;
  /// The words that give these flags and words again, but for some flags.
  [[nodiscard]] std::vector<std::string> line_without(
      std::initializer_list<std::string_view> flags) const;
  /// Words that are not part of a flag, in order.
  [[nodiscard]] const std::vector<std::string>& words() const { return words_; }

 private:
  friend Arguments parse_arguments(std::string_view,
                                   std::span<const Flag>,
                                   std::span<const std::string>);
  std::map<std::string, std::vector<std::string>, std::less<>> values_;
  std::vector<std::string> words_;
};

/// Groups `words` by `flags`: `--flag value`, `--flag=value`, and after `--` only plain words.
/// `--help` is always accepted. Throws Error(bad_input) for an unknown flag (suggesting the
/// nearest), a missing or superfluous value, and a repeated flag that is not repeatable. `command`
/// ("warpath run") is named in messages.
[[nodiscard]] Arguments parse_arguments(std::string_view command,
                                        std::span<const Flag> flags,
                                        std::span<const std::string> words);

/// The candidate nearest to `word`, differing in at most a third of its letters; empty if there is
/// none.
[[nodiscard]] std::string nearest(std::string_view word, std::span<const std::string> candidates);

/// Two columns, the second wrapped at 100 characters.
[[nodiscard]] std::string help_text(std::span<const Flag> flags);

/// The word as a shell reads it: in quotes where it needs them.
[[nodiscard]] std::string quoted_word(const std::string& word);

}  // namespace warpath
