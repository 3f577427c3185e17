#include "tests/support/browser.h"

#include <doctest/doctest.h>
#include <fcntl.h>
#include <poll.h>
#include <signal.h>
#include <sys/wait.h>
#include <unistd.h>

#include <array>
#include <chrono>
#include <fstream>
#include <thread>

#include "engine/base/base64.h"

namespace warpath::test {

using nlohmann::json;

namespace {

constexpr double kCallSeconds = 60;

/// In the child: the pipes at the descriptors that the browser expects, above whatever they were.
[[noreturn]] void become(const std::vector<std::string>& words, int in, int out) {
  const int read_end = fcntl(in, F_DUPFD, 10), write_end = fcntl(out, F_DUPFD, 10);
  dup2(read_end, 3);
  dup2(write_end, 4);
  const int nowhere = open("/dev/null", O_RDWR);
  for (const int standard : {0, 1, 2}) dup2(nowhere, standard);
  for (int other = 5; other < 64; ++other) close(other);
  std::vector<char*> argv;
  for (const std::string& word : words) argv.push_back(const_cast<char*>(word.c_str()));
  argv.push_back(nullptr);
  execvp(argv[0], argv.data());
  _exit(127);
}

}  // namespace

std::string Browser::program() {
  for (const char* const path :
       {"/usr/bin/chromium", "/usr/bin/chromium-browser", "/usr/bin/google-chrome"}) {
    if (access(path, X_OK) == 0) return path;
  }
  return {};
}

Browser::Browser(int width, int height) {
  std::array<int, 2> down{}, up{};
  REQUIRE(pipe2(down.data(), O_CLOEXEC) == 0);
  REQUIRE(pipe2(up.data(), O_CLOEXEC) == 0);
  const std::vector<std::string> words{
      program(),
      "--headless=new",
      "--no-sandbox",
      "--disable-gpu",
      "--no-first-run",
      "--disable-dev-shm-usage",
      "--disable-extensions",
      "--disable-background-networking",
      "--hide-scrollbars",
      "--remote-debugging-pipe",
      "--user-data-dir=" + folder_.path().string(),
      "--window-size=" + std::to_string(width) + "," + std::to_string(height),
      "about:blank"};
  pid_ = fork();
  if (pid_ == 0) {
    setpgid(0, 0);
    become(words, down[0], up[1]);
  }
  close(down[0]);
  close(up[1]);
  to_ = down[1];
  from_ = up[0];
  const json target = call("Target.createTarget", {{"url", "about:blank"}});
  session_ = call("Target.attachToTarget", {{"targetId", target.at("targetId")}, {"flatten", true}})
                 .at("sessionId");
  for (const char* const domain : {"Page.enable", "Runtime.enable", "Log.enable"})
    static_cast<void>(call(domain));
  static_cast<void>(
      call("Emulation.setDeviceMetricsOverride",
           {{"width", width}, {"height", height}, {"deviceScaleFactor", 1}, {"mobile", false}}));
}

Browser::~Browser() {
  close(to_);
  close(from_);
  kill(-pid_, SIGKILL);
  waitpid(pid_, nullptr, 0);
}

json Browser::receive(double seconds) {
  const auto end = std::chrono::steady_clock::now() + std::chrono::duration<double>(seconds);
  for (;;) {
    if (const auto stop = read_.find('\0'); stop != std::string::npos) {
      json message = json::parse(read_.substr(0, stop));
      read_.erase(0, stop + 1);
      return message;
    }
    const auto left = std::chrono::duration_cast<std::chrono::milliseconds>(
        end - std::chrono::steady_clock::now());
    pollfd ready{.fd = from_, .events = POLLIN, .revents = 0};
    if (left.count() <= 0 || poll(&ready, 1, static_cast<int>(left.count())) <= 0) return {};
    std::array<char, 65536> some;
    const ssize_t n = read(from_, some.data(), some.size());
    REQUIRE_MESSAGE(n > 0, "the browser ended");
    read_.append(some.data(), static_cast<std::size_t>(n));
  }
}

void Browser::note(const json& message) {
  const std::string method = message.value("method", "");
  const json parameters = message.value("params", json::object());
  if (method == "Page.loadEventFired") loaded_ = true;
  if (method == "Runtime.exceptionThrown") problems_.push_back(parameters.dump());
  if (method == "Runtime.consoleAPICalled" && parameters.value("type", "") == "error")
    problems_.push_back(parameters.dump());
  if (method == "Log.entryAdded" && parameters.at("entry").value("level", "") == "error")
    problems_.push_back(parameters.dump());
}

json Browser::call(const std::string& method, const json& parameters) {
  json message{{"id", ++calls_}, {"method", method}, {"params", parameters}};
  if (!session_.empty()) message["sessionId"] = session_;
  const std::string text = message.dump() + '\0';
  for (std::size_t done = 0; done < text.size();) {
    const ssize_t n = write(to_, text.data() + done, text.size() - done);
    REQUIRE_MESSAGE(n > 0, "the browser ended");
    done += static_cast<std::size_t>(n);
  }
  for (;;) {
    const json answer = receive(kCallSeconds);
    REQUIRE_MESSAGE(!answer.is_null(), "no answer to " << method);
    if (answer.value("id", 0) != calls_) {
      note(answer);
      continue;
    }
    REQUIRE_MESSAGE(!answer.contains("error"), method << ": " << answer.dump());
    return answer.at("result");
  }
}

bool Browser::open(const std::string& address, double seconds) {
  loaded_ = false;
  static_cast<void>(call("Page.navigate", {{"url", address}}));
  while (!loaded_) {
    const json message = receive(seconds);
    if (message.is_null()) return false;
    note(message);
  }
  return true;
}

json Browser::value(const std::string& expression) {
  const json result =
      call("Runtime.evaluate", {{"expression", expression}, {"returnByValue", true}});
  REQUIRE_MESSAGE(!result.contains("exceptionDetails"), expression << ": " << result.dump());
  return result.at("result").value("value", json());
}

bool Browser::wait_until(const std::string& expression, double seconds) {
  for (int i = 0; i < static_cast<int>(seconds * 20); ++i) {
    if (value(expression) == true) return true;
    std::this_thread::sleep_for(std::chrono::milliseconds(50));
  }
  return false;
}

void Browser::click(double x, double y) {
  for (const char* const type : {"mouseMoved", "mousePressed", "mouseReleased"})
    static_cast<void>(call("Input.dispatchMouseEvent", {{"type", type},
                                                        {"x", x},
                                                        {"y", y},
                                                        {"button", "left"},
                                                        {"buttons", 1},
                                                        {"clickCount", 1}}));
}

void Browser::type(const std::string& text) {
  static_cast<void>(call("Input.insertText", {{"text", text}}));
}

void Browser::screenshot(const std::string& file, bool whole) {
  const json result =
      call("Page.captureScreenshot", {{"format", "png"}, {"captureBeyondViewport", whole}});
  const auto bytes = base64_decode(result.at("data").get<std::string>());
  REQUIRE(bytes);
  std::ofstream(file, std::ios::binary)
      .write(reinterpret_cast<const char*>(bytes->data()),
             static_cast<std::streamsize>(bytes->size()));
}

}  // namespace warpath::test
