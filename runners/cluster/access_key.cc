#include "runners/cluster/access_key.h"

#include <fcntl.h>
#include <sys/random.h>
#include <sys/stat.h>
#include <unistd.h>

#include <array>
#include <cerrno>
#include <cstring>

#include "engine/base/error.h"

namespace warpath::cluster {
namespace {

constexpr std::size_t kBytes = 32;
constexpr mode_t kOthers = S_IRWXG | S_IRWXO;

}  // namespace

std::string create_key(const std::filesystem::path& file) {
  std::array<unsigned char, kBytes> bytes{};
  const auto fail = [&] {
    return environment_error(file.string() + ": cannot be written: " + std::strerror(errno));
  };
  if (::getrandom(bytes.data(), bytes.size(), 0) != static_cast<ssize_t>(bytes.size()))
    throw fail();
  std::string key;
  for (const unsigned char byte : bytes) {
    constexpr std::string_view kDigits = "0123456789abcdef";
    key += kDigits[byte >> 4U];
    key += kDigits[byte & 15U];
  }
  const int fd = ::open(file.c_str(), O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC, S_IRUSR | S_IWUSR);
  if (fd < 0) throw fail();
  const bool written = ::write(fd, key.data(), key.size()) == static_cast<ssize_t>(key.size());
  if (::close(fd) != 0 || !written) throw fail();
  return key;
}

std::string read_key(const std::filesystem::path& file) {
  const std::string place = "--key " + file.string();
  const int fd = ::open(file.c_str(), O_RDONLY | O_CLOEXEC);
  if (fd < 0) throw bad_input(place, std::strerror(errno), "a file that can be read");
  struct stat facts{};
  std::array<char, 2 * kBytes + 1> text{};
  const bool known = ::fstat(fd, &facts) == 0;
  const ssize_t got = ::read(fd, text.data(), text.size());
  ::close(fd);
  if (!known || !S_ISREG(facts.st_mode) || facts.st_uid != ::geteuid() ||
      (facts.st_mode & kOthers) != 0)
    throw bad_input(place, "", "a file of this user, with mode 600");
  if (got != static_cast<ssize_t>(2 * kBytes))
    throw bad_input(place, "", std::to_string(2 * kBytes) + " characters");
  return {text.data(), 2 * kBytes};
}

bool same_key(std::string_view a, std::string_view b) {
  unsigned char difference = a.size() == b.size() ? 0 : 1;
  for (std::size_t i = 0; i < a.size() && i < b.size(); ++i)
    difference |= static_cast<unsigned char>(a[i] ^ b[i]);
  return difference == 0;
}

}  // namespace warpath::cluster
