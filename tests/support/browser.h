#pragma once

#include <sys/types.h>

#include <map>
#include <nlohmann/json.hpp>
#include <string>
#include <vector>

#include "tests/support/temporary_folder.h"

namespace warpath::test {

/// Headless Chromium with one tab, driven by the DevTools protocol over a pipe (descriptors 3 and 4
/// of the browser; messages end in NUL), so that nothing listens on a port. Not thread-safe.
class Browser {
 public:
  /// Empty: there is none, and tests are skipped.
  [[nodiscard]] static std::string program();

  /// Starts it; width x height in CSS pixels.
  explicit Browser(int width = 1200, int height = 900);
  ~Browser();  ///< ends it
  Browser(const Browser&) = delete;
  Browser& operator=(const Browser&) = delete;

  /// Waits until the page has loaded, at most `seconds`; false if it has not.
  [[nodiscard]] bool open(const std::string& address, double seconds = 60);
  /// The value of a JavaScript expression. Fails the test if it throws.
  [[nodiscard]] nlohmann::json value(const std::string& expression);
  /// Polls until the expression is true; false if it is not within `seconds`.
  [[nodiscard]] bool wait_until(const std::string& expression, double seconds = 20);
  /// A press and release of the left button.
  void click(double x, double y);
  void type(const std::string& text);
  /// PNG of the window, or of the whole page.
  void screenshot(const std::string& file, bool whole = false);
  /// Errors and exceptions that the console showed so far.
  [[nodiscard]] const std::vector<std::string>& problems() const { return problems_; }

 private:
  nlohmann::json call(const std::string& method,
                      const nlohmann::json& parameters = nlohmann::json::object());
  /// The next message; null after `seconds` without one.
  nlohmann::json receive(double seconds);
  void note(const nlohmann::json& message);

  TemporaryFolder folder_;
  pid_t pid_ = -1;
  int to_ = -1, from_ = -1;
  std::string read_;
  std::string session_;
  int calls_ = 0;
  bool loaded_ = false;
  std::vector<std::string> problems_;
};

}  // namespace warpath::test
