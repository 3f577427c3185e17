#include "engine/base/file_reader.h"

#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <cstring>
#include <string>
#include <string_view>
#include <utility>

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

std::function<std::string_view()> FileReader::pieces(std::uint64_t bytes) const {
  return [this, bytes, at = std::uint64_t{0}, piece = std::string()]() mutable {
    constexpr std::uint64_t kPiece = std::uint64_t{1} << 18U;
    piece.resize(std::min(kPiece, bytes - at));
    read(at, std::as_writable_bytes(std::span(piece)));
    at += piece.size();
    return std::string_view(piece);
  };
}

void FileReader::require(const Hash128& sum) const {
  PieceHasher hasher;
  const auto next = pieces(size_);
  for (auto piece = next(); !piece.empty(); piece = next()) hasher.add(piece);
  if (const Hash128 own = hasher.digest(); own != sum)
    throw bad_input(file_.string(), own.hex(), sum.hex() + ": the file was altered");
}

}  // namespace warpath
