#pragma once

#include <filesystem>
#include <functional>
#include <memory>
#include <mutex>
#include <string>

#include "engine/base/error.h"

namespace warpath::cuda {

/// Who has a device, as its lock file says.
struct LockHolder {
  long pid = 0;  ///< 0: unknown
  std::string command;
  std::string since;  ///< UTC
  /// "process 4711 (warpath run ...) since 2026-11-22T19:03:11Z"
  [[nodiscard]] std::string text() const;
};

/// A device that somebody else has, and that was not to be waited for.
class DeviceTaken : public Error {
 public:
  explicit DeviceTaken(const std::string& message) : Error(ErrorCode::environment, message) {}
};

/// The right to use one GPU. One process has it at a time; the kernel takes it back when the
/// process ends, however it ends. Engines of one process share it and take turns. A device is had
/// for as long as an engine is open: whatever an engine starts on it, none of another's runs
/// beside.
///
/// The lock is an advisory one (flock) on `warpath-gpu-UUID.lock` in a folder that all users of the
/// machine share; what the file says is for people. Containers with folders of their own do not see
/// each other's locks.
class DeviceLock {
 public:
  /// Null where another process has it: `holder` says who. Throws Error(environment) where there
  /// can be no lock file.
  [[nodiscard]] static std::shared_ptr<DeviceLock> try_take(const std::filesystem::path& folder,
                                                            const std::string& uuid,
                                                            LockHolder& holder);

  struct Wish {
    std::filesystem::path folder;
    std::string uuid;
    std::string label;  ///< of the device, for messages
    bool waits = true;
    /// gets a line for each holder that is waited for
    std::function<void(const std::string&)> say;
  };
  /// Waits for it. Throws DeviceTaken where it is not to wait, Error(environment) where there can
  /// be no lock file.
  [[nodiscard]] static std::shared_ptr<DeviceLock> take(const Wish& wish);

  /// Held while something runs on the device.
  [[nodiscard]] std::mutex& turn() { return turn_; }

  explicit DeviceLock(int fd) : fd_(fd) {}
  ~DeviceLock();
  DeviceLock(const DeviceLock&) = delete;
  DeviceLock& operator=(const DeviceLock&) = delete;

 private:
  int fd_;
  std::mutex turn_;
};

/// WARPATH_LOCKS, else /tmp.
[[nodiscard]] std::filesystem::path default_lock_folder();

}  // namespace warpath::cuda
