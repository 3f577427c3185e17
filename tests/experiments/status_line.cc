#include "experiments/console/status_line.h"

#include <doctest/doctest.h>
#include <pty.h>
#include <unistd.h>

#include <cstdio>
#include <cstdlib>
#include <memory>
#include <string>

using namespace warpath;

namespace {

/// A variable of the environment for as long as the object lives.
class Variable {
 public:
  Variable(const char* name, const char* value) : name_(name) {
    if (const char* const before = std::getenv(name))
      before_ = std::make_unique<std::string>(before);
    value == nullptr ? ::unsetenv(name) : ::setenv(name, value, 1);
  }
  ~Variable() { before_ ? ::setenv(name_, before_->c_str(), 1) : ::unsetenv(name_); }
  Variable(const Variable&) = delete;
  Variable& operator=(const Variable&) = delete;

 private:
  const char* name_;
  std::unique_ptr<std::string> before_;
};

class Terminal {
 public:
  Terminal() {
    int own = -1;
    REQUIRE(::openpty(&screen_, &own, nullptr, nullptr, nullptr) == 0);
    out_ = ::fdopen(own, "w");
  }
  ~Terminal() {
    std::fclose(out_);
    ::close(screen_);
  }
  Terminal(const Terminal&) = delete;
  Terminal& operator=(const Terminal&) = delete;
  [[nodiscard]] std::FILE* out() const { return out_; }
  /// What has arrived so far, not empty.
  [[nodiscard]] std::string seen() const {
    std::fflush(out_);
    char buffer[4096];
    const ssize_t count = ::read(screen_, buffer, sizeof buffer);
    return count > 0 ? std::string(buffer, static_cast<std::size_t>(count)) : "";
  }

 private:
  int screen_ = -1;
  std::FILE* out_ = nullptr;
};

std::string printed_on_a_terminal(Tone tone) {
  const Terminal terminal;
  StatusLine status(terminal.out());
  status.print("x", tone);
  return terminal.seen();
}

}  // namespace

TEST_SUITE_BEGIN("status_line");

TEST_CASE("on a terminal good news are green, bad news red, and others as they are") {
  const Variable wanted("NO_COLOR", nullptr), kind("TERM", "xterm");
  CHECK(printed_on_a_terminal(Tone::good) == "\033[32mx\033[0m\r\n");
  CHECK(printed_on_a_terminal(Tone::bad) == "\033[31mx\033[0m\r\n");
  CHECK(printed_on_a_terminal(Tone::plain) == "x\r\n");
}

TEST_CASE("who wants no colours, or has a terminal without, gets none") {
  const Variable kind("TERM", "xterm");
  {
    const Variable refused("NO_COLOR", "1");
    CHECK(printed_on_a_terminal(Tone::good) == "x\r\n");
  }
  const Variable empty("NO_COLOR", "");
  CHECK(printed_on_a_terminal(Tone::good) != "x\r\n");
  const Variable dumb("TERM", "dumb");
  CHECK(printed_on_a_terminal(Tone::good) == "x\r\n");
}

TEST_CASE("a redrawn line is gone before a line that stays") {
  const Terminal terminal;
  StatusLine status(terminal.out());
  status.hasten();
  CHECK_FALSE(status.show([](std::size_t) { return std::string("3/9"); }, "news"));
  CHECK(terminal.seen() == "\r\033[K3/9");
  status.print("done");
  CHECK(terminal.seen() == "\r\033[Kdone\r\n");
}

TEST_CASE("a log has plain lines, with the news") {
  const std::unique_ptr<std::FILE, int (*)(std::FILE*)> file(std::tmpfile(), &std::fclose);
  StatusLine status(file.get());
  status.hasten();
  CHECK(status.show([](std::size_t) { return std::string("3/9"); }, "news"));
  status.print("bad", Tone::bad);
  std::rewind(file.get());
  char text[64]{};
  CHECK(std::string(text, std::fread(text, 1, sizeof text, file.get())) == "3/9  (news)\nbad\n");
}

TEST_SUITE_END();
