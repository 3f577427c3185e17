#include "runners/cuda/capture/log_file.h"

#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>

#include <cerrno>
#include <cstdio>
#include <cstring>
#include <fstream>
#include <iterator>

#define XXH_INLINE_ALL
#include <xxhash.h>

namespace warpath::capture {
namespace {

/// False with errno if not all of it can be written.
bool write_all(int descriptor, const char* data, std::size_t size) {
  while (size > 0) {
    const ssize_t written = ::write(descriptor, data, size);
    if (written < 0 && errno == EINTR) continue;
    if (written < 0) return false;
    data += written;
    size -= static_cast<std::size_t>(written);
  }
  return true;
}

/// The words of this process's command line, as a JSON array.
std::string command_line() {
  std::ifstream file("/proc/self/cmdline", std::ios::binary);
  std::string words;
  for (std::string word; std::getline(file, word, '\0');)
    words += (words.empty() ? "" : ",") + quoted(word);
  return "[" + words + "]";
}

}  // namespace

std::string quoted(std::string_view text) {
  std::string out = "\"";
  for (const char c : text) {
    const auto code = static_cast<unsigned char>(c);
    if (c == '"' || c == '\\') {
      out += '\\';
      out += c;
    } else if (code < 0x20 || code > 0x7e) {
      char escaped[8];
      std::snprintf(escaped, sizeof escaped, "\\u%04x", code);
      out += escaped;
    } else {
      out += c;
    }
  }
  return out + "\"";
}

std::string hex(std::span<const std::byte> bytes) {
  constexpr const char* kDigits = "0123456789abcdef";
  std::string out;
  for (const std::byte b : bytes) {
    out += kDigits[std::to_integer<unsigned>(b) >> 4U];
    out += kDigits[std::to_integer<unsigned>(b) & 15U];
  }
  return out;
}

std::string content_hash(std::span<const std::byte> bytes) {
  XXH128_canonical_t digits;
  XXH128_canonicalFromHash(&digits, XXH3_128bits(bytes.data(), bytes.size()));
  return hex(std::as_bytes(std::span(digits.digest)));
}

void LogFile::write(const std::string& object) {
  if (!open()) return;
  if (descriptor_ < 0) start();
  if (!open()) return;
  const std::string line = object + "\n";
  if (!write_all(descriptor_, line.data(), line.size())) give_up("log");
}

bool LogFile::store(const std::string& name, std::span<const std::byte> content) {
  if (!open()) return false;
  const std::string path = folder_ + "/" + name;
  struct stat known{};
  if (::stat(path.c_str(), &known) == 0) return true;
  ::mkdir(path.substr(0, path.rfind('/')).c_str(), 0777);
  const std::string temporary = path + "." + std::to_string(::getpid());
  const int file = ::open(temporary.c_str(), O_WRONLY | O_CREAT | O_TRUNC | O_CLOEXEC, 0666);
  bool done =
      file >= 0 && write_all(file, reinterpret_cast<const char*>(content.data()), content.size());
  if (file >= 0) ::close(file);
  done = done && ::rename(temporary.c_str(), path.c_str()) == 0;
  if (!done) ::unlink(temporary.c_str());
  return done;
}

void LogFile::start() {
  const std::string stem = folder_ + "/log/" + std::to_string(::getpid());
  ::mkdir((folder_ + "/log").c_str(), 0777);
  std::string name;
  // a process may replace its program: its number is then taken
  for (int i = 0; i < 1000 && descriptor_ < 0; ++i) {
    name = stem + (i == 0 ? "" : "." + std::to_string(i)) + ".jsonl";
    descriptor_ = ::open(name.c_str(), O_WRONLY | O_CREAT | O_EXCL | O_APPEND | O_CLOEXEC, 0666);
    if (descriptor_ < 0 && errno != EEXIST) break;
  }
  if (descriptor_ < 0) return give_up(name);
  write("{\"type\":\"process\",\"schema\":1,\"pid\":" + std::to_string(::getpid()) +
        ",\"command\":" + command_line() + "}");
}

void LogFile::give_up(const std::string& name) {
  std::fprintf(stderr, "warpath capture: %s: %s; nothing more is recorded of this process\n",
               name.c_str(), std::strerror(errno));
  folder_.clear();
}

}  // namespace warpath::capture
