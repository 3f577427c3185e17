#include "engine/base/file_reader.h"

#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <cstring>
#include <string_view>
#include <utility>
#include <vector>

#include "engine/base/error.h"
#include "engine/base/hash_pieces.h"

namespace warpath {

FileReader::FileReader(std::filesystem::path file)
    : file_(std::move(file)), fd_(::open(file_.c_str(), O_RDONLY | O_CLOEXEC)) {
  struct stat info{};
  if (fd_ < 0 || ::fstat(fd_, &info) != 0) {
    const std::string why = std::strerror(errno);
    if (fd_ >= 0) ::close(fd_);
    throw bad_input(file_.string(), "", "a readable file (" + why + ")");
  }
  size_ = static_cast<std::uint64_t>(info.st_size);
}

FileReader::~FileReader() {
  ::close(fd_);
}

void FileReader::read(std::uint64_t offset, std::span<std::byte> to) const {
  while (!to.empty()) {
    const ::ssize_t n = ::pread(fd_, to.data(), to.size(), static_cast<off_t>(offset));
    if (n < 0 && errno == EINTR) continue;
    if (n <= 0)
      throw bad_input(file_.string(), "", n < 0 ? std::strerror(errno) : "a file that is longer");
    to = to.subspan(static_cast<std::size_t>(n));
    offset += static_cast<std::uint64_t>(n);
  }
}

void FileReader::read_pieces(std::uint64_t bytes,
                             const std::function<void(std::string_view)>& use) const {
  std::vector<std::byte> piece(std::size_t{1} << 18U);
  for (std::uint64_t at = 0; at < bytes; at += piece.size()) {
    piece.resize(std::min<std::uint64_t>(piece.size(), bytes - at));
    read(at, piece);
    use({reinterpret_cast<const char*>(piece.data()), piece.size()});
  }
}

void FileReader::require(const Hash128& sum) const {
  PieceHasher hasher;
  read_pieces(size_, [&](std::string_view piece) { hasher.add(piece); });
  if (const Hash128 own = hasher.digest(); own != sum)
    throw bad_input(file_.string(), own.hex(), sum.hex() + ": the file was altered");
}

}  // namespace warpath
