#include "engine/log/record_store.h"

#include <fcntl.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <span>
#include <utility>
#include <vector>

#include "engine/base/compression.h"
#include "engine/base/error.h"
#include "engine/log/run_folder.h"

namespace warpath {
namespace {

/// Files are summed up by blocks of this size, so that going on needs none of those before.
constexpr std::size_t kBlock = std::size_t{1} << 18U;
/// Shorter texts do not become smaller.
constexpr std::size_t kLeastCompressed = 160;

/// A record: its size as stored, its size as text (0: stored as it is), then its bytes, then zeros
/// up to the next unit.
struct Head {
  std::uint32_t stored = 0;
  std::uint32_t text = 0;
};

Hash128 chained(const Hash128& chain, std::string_view block) {
  return Hasher().add(chain).add(block).digest();
}

void append(std::string& out, const Head& head) {
  out.append(reinterpret_cast<const char*>(&head), sizeof head);
}

}  // namespace

RecordStore::~RecordStore() {
  if (fd_ >= 0) ::close(fd_);
}

RecordRef RecordStore::put(std::string_view text) {
  WARPATH_CHECK(text.size() < UINT32_MAX);
  const std::uint64_t ref = (start_ + end_.size()) / kUnit;
  if (ref >= kNoRecord) throw environment_error(file_.string() + ": has no room for more records");
  std::vector<std::byte> packed;
  if (text.size() >= kLeastCompressed)
    packed = zlib_deflate(std::as_bytes(std::span(text)), Effort::fast);
  if (!packed.empty() && packed.size() < text.size()) {
    append(end_, {.stored = static_cast<std::uint32_t>(packed.size()),
                  .text = static_cast<std::uint32_t>(text.size())});
    end_.append(reinterpret_cast<const char*>(packed.data()), packed.size());
  } else {
    append(end_, {.stored = static_cast<std::uint32_t>(text.size())});
    end_ += text;
  }
  end_.resize((end_.size() + kUnit - 1) / kUnit * kUnit);
  if (fd_ >= 0 && end_.size() >= kBlock) write_end();
  return static_cast<RecordRef>(ref);
}

std::string RecordStore::bytes_at(std::uint64_t offset, std::size_t count) const {
  if (offset >= start_) {
    WARPATH_CHECK(offset - start_ + count <= end_.size());
    return end_.substr(offset - start_, count);
  }
  std::string out(count, '\0');
  const std::size_t in_file = std::min<std::uint64_t>(count, start_ - offset);
  for (std::size_t done = 0; done < in_file;) {
    const ::ssize_t n =
        ::pread(fd_, out.data() + done, in_file - done, static_cast<off_t>(offset + done));
    if (n < 0 && errno == EINTR) continue;
    if (n < 0) throw disk_error(file_, "cannot be read");
    if (n == 0) throw environment_error(file_.string() + ": was cut short while in use");
    done += static_cast<std::size_t>(n);
  }
  out.replace(in_file, count - in_file, end_, 0, count - in_file);
  return out;
}

std::string RecordStore::get(RecordRef ref) const {
  const std::uint64_t begin = ref * kUnit;
  const std::string raw = bytes_at(begin, sizeof(Head));
  Head head;
  std::copy_n(raw.data(), sizeof head, reinterpret_cast<char*>(&head));
  std::string stored = bytes_at(begin + sizeof head, head.stored);
  if (head.text == 0) return stored;
  const auto text = zlib_inflate(std::as_bytes(std::span(stored)), head.text);
  if (!text) throw environment_error(file_.string() + ": was altered while in use");
  return {reinterpret_cast<const char*>(text->data()), text->size()};
}

void RecordStore::open(const std::filesystem::path& file, int flags) {
  WARPATH_CHECK(fd_ < 0 && start_ == 0 && end_.empty());
  file_ = file;
  fd_ = ::open(file.c_str(), O_RDWR | O_CLOEXEC | flags, 0666);
  if (fd_ < 0) throw disk_error(file, "cannot be opened");
}

void RecordStore::begin(const std::filesystem::path& file) {
  open(file, O_CREAT | O_TRUNC);
}

void RecordStore::resume(const std::filesystem::path& file, const Extent& extent) {
  std::error_code error;
  if (std::filesystem::file_size(file, error) < extent.bytes || error)
    throw bad_input(file.string(), "", std::to_string(extent.bytes) + " bytes or more");
  open(file, 0);
  start_ = extent.bytes - extent.bytes % kBlock;
  for (std::uint64_t at = 0; at < start_; at += kBlock)
    chain_ = chained(chain_, bytes_at(at, kBlock));
  const std::uint64_t whole = std::exchange(start_, extent.bytes);
  end_ = bytes_at(whole, extent.bytes - whole);
  start_ = whole;
  written_ = extent.bytes;
  if (const Hash128 sum = chained(chain_, end_); sum != extent.sum) {
    ::close(std::exchange(fd_, -1));
    end_.clear();
    start_ = written_ = 0;
    chain_ = {};
    throw bad_input(file.string(), sum.hex(), extent.sum.hex() + ": the file was altered");
  }
  if (::ftruncate(fd_, static_cast<off_t>(written_)) != 0)
    throw disk_error(file_, "cannot be cut to what a snapshot knows");
}

/// Brings the file to the end of `end_`, of which whole blocks are forgotten.
void RecordStore::write_end() {
  const std::string_view all = end_;
  for (std::size_t from = written_ - start_; from < all.size();) {
    const ::ssize_t n =
        ::pwrite(fd_, all.data() + from, all.size() - from, static_cast<off_t>(start_ + from));
    if (n < 0 && errno == EINTR) continue;
    if (n < 0) throw disk_error(file_, "cannot be written");
    from += static_cast<std::size_t>(n);
  }
  written_ = start_ + all.size();
  std::size_t whole = 0;
  for (; whole + kBlock <= all.size(); whole += kBlock)
    chain_ = chained(chain_, all.substr(whole, kBlock));
  start_ += whole;
  end_.erase(0, whole);
}

RecordStore::Extent RecordStore::flush(bool sync) {
  WARPATH_CHECK(fd_ >= 0);
  write_end();
  if (sync && ::fdatasync(fd_) != 0) throw disk_error(file_, "cannot be synced");
  return {.bytes = written_, .sum = chained(chain_, end_)};
}

}  // namespace warpath
