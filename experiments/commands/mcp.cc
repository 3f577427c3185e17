#include <fcntl.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <cstdio>
#include <cstring>
#include <optional>
#include <string>

#include "engine/base/error.h"
#include "engine/json/json_reader.h"
#include "experiments/agent/asking.h"
#include "experiments/agent/mcp_server.h"
#include "experiments/agent/mcp_tools.h"
#include "experiments/setup/revision.h"
#include "register_commands.h"

namespace warpath {
namespace {

constexpr int kFirstOwnDescriptor = 3;

/// stdin and stdout, taken away from the rest of the process and its children for as long as the
/// process lives: what is printed by mistake goes to stderr.
class ClientPipes {
 public:
  ClientPipes()
      : in_(::fcntl(STDIN_FILENO, F_DUPFD_CLOEXEC, kFirstOwnDescriptor)),
        out_(::fcntl(STDOUT_FILENO, F_DUPFD_CLOEXEC, kFirstOwnDescriptor)) {
    std::fflush(stdout);
    const int nothing = ::open("/dev/null", O_RDONLY | O_CLOEXEC);
    const bool done = in_ >= 0 && out_ >= 0 && nothing >= 0 && ::dup2(nothing, STDIN_FILENO) >= 0 &&
                      ::dup2(STDERR_FILENO, STDOUT_FILENO) >= 0;
    if (!done)
      throw environment_error(std::string("warpath mcp: stdin or stdout: ") + std::strerror(errno));
    ::close(nothing);
  }
  ~ClientPipes() {
    ::close(in_);
    ::close(out_);
  }
  ClientPipes(const ClientPipes&) = delete;
  ClientPipes& operator=(const ClientPipes&) = delete;

  /// The next line without its end; nullopt at the end of the input. Of a line that is longer than
  /// any message may be, only its beginning.
  std::optional<std::string> line() {
    std::string out;
    for (;;) {
      const std::size_t end = buffer_.find('\n', at_);
      const std::size_t stop = std::min(end, buffer_.size());
      out.append(buffer_, at_,
                 std::min(stop - at_, kMaxJsonBytes + 1 - std::min(out.size(), kMaxJsonBytes + 1)));
      at_ = stop;
      if (end != std::string::npos) {
        ++at_;
        return out;
      }
      if (!fill()) return out.empty() ? std::nullopt : std::optional(out);
    }
  }

  /// Nothing happens if the client has gone.
  void write(const std::string& message) const {
    const std::string text = message + "\n";
    for (std::size_t done = 0; done < text.size();) {
      const ::ssize_t n = ::write(out_, text.data() + done, text.size() - done);
      if (n < 0 && errno == EINTR) continue;
      if (n < 0) return;
      done += static_cast<std::size_t>(n);
    }
  }

 private:
  bool fill() {
    at_ = 0;
    buffer_.resize(std::size_t{1} << 16U);
    ::ssize_t n = 0;
    do n = ::read(in_, buffer_.data(), buffer_.size());
    while (n < 0 && errno == EINTR);
    buffer_.resize(static_cast<std::size_t>(std::max<::ssize_t>(n, 0)));
    return n > 0;
  }

  int in_, out_;
  std::string buffer_;
  std::size_t at_ = 0;
};

/// A client ends the session by closing its side, or by a signal, which the record survives.
int mcp(const Arguments& arguments, const Program& program) {
  const Plugins plugins;
  const Asking asking(arguments.words()[0], plugins, program);
  ClientPipes pipes;
  McpServer server(mcp_instructions(), std::string(revision()), mcp_tools(asking),
                   [&](const std::string& message) { pipes.write(message); });
  while (const auto line = pipes.line()) {
    if (line->find_first_not_of(" \t\r") != std::string::npos) server.receive(*line);
  }
  server.finish();
  return 0;
}

}  // namespace

void register_command_mcp(CommandRegistry& registry) {
  registry.push_back(
      {.name = "mcp",
       .usage = "RUN",
       .help = "serve a recorded run to a coding agent over stdin and stdout by the Model Context "
               "Protocol: tools ask, tell, inspect, diagnose and status",
       .least_words = 1,
       .most_words = 1,
       .run = mcp});
}

}  // namespace warpath
