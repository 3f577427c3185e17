#pragma once

#include <filesystem>
#include <functional>
#include <memory>
#include <mutex>
#include <string>

#include "engine/base/error.h"

namespace warpath::cuda {

/// The holder of a device according to its lock file.
struct LockHolder {
  long pid = 0;  ///< 0: unknown
  std::string command;
  std::string since;  ///< UTC
  /// "process 4711 (warpath run ...) since 2026-11-22T19:03:11Z"
  [[nodiscard]] std::string text() const;
};

/// Thrown if a device is locked by another process and the caller does not wait.
class DeviceTaken : public Error {
 public:
  explicit DeviceTaken(const std::string& message) : Error(ErrorCode::environment, message) {}
};

/// The right to use one GPU. One process holds it at a time; the kernel releases it when the
/// process ends for any reason. Engines of one process share it and take turns. It is held as long
/// as an engine is open, so that nothing of another engine runs on the device beside its work.
///
/// An advisory lock (flock) on `warpath-gpu-UUID.lock` in a folder shared by all users of the
/// machine; the file's contents are informational. Containers with separate folders do not see each
/// other's locks.
class DeviceLock {
 public:
  /// Null if another process holds it; `holder` then says who. Throws Error(environment) if the
  /// lock file cannot be created.
  [[nodiscard]] static std::shared_ptr<DeviceLock> try_take(const std::filesystem::path& folder,
                                                            const std::string& uuid,
                                                            LockHolder& holder);

  struct Wish {
    std::filesystem::path folder;
    std::string uuid;
    std::string label;  ///< the device's name, for messages
    bool waits = true;
    /// receives a line for each holder waited for
    std::function<void(const std::string&)> say;
  };
  /// Waits for the lock. Throws DeviceTaken if it is held and not to be waited for,
  /// Error(environment) if the lock file cannot be created.
  [[nodiscard]] static std::shared_ptr<DeviceLock> take(const Wish& wish);

  /// Must be held while something runs on the device.
  [[nodiscard]] std::mutex& turn() { return turn_; }

  explicit DeviceLock(int fd) : fd_(fd) {}
  ~DeviceLock();
  DeviceLock(const DeviceLock&) = delete;
  DeviceLock& operator=(const DeviceLock&) = delete;

 private:
  int fd_;
  std::mutex turn_;
};

/// WARPATH_LOCKS or, if that is not set, /tmp.
[[nodiscard]] std::filesystem::path default_lock_folder();

}  // namespace warpath::cuda
