#pragma once

#include <filesystem>
#include <string>

#include "engine/base/temporary_folder.h"
#include "runners/cluster/options.h"
#include "runners/cluster/placement.h"
#include "runners/cluster/socket.h"

namespace warpath::cluster {

/// Where members find the engine: a port of this machine, and a new folder, which all machines see,
/// with the key that they prove themselves with.
class MeetingPoint {
 public:
  /// `program`: path of this executable. Removes what engines of this machine left there that were
  /// killed. Throws Error(environment) if the folder or the port cannot be had.
  MeetingPoint(const ClusterOptions& options, const std::string& program);

  [[nodiscard]] Listener& listener() { return listener_; }
  [[nodiscard]] const std::string& key() const { return key_; }
  [[nodiscard]] const std::filesystem::path& folder() const { return folder_.path(); }
  /// What starts a member on any of the machines.
  [[nodiscard]] const MemberCommand& command() const { return command_; }

 private:
  const TemporaryFolder folder_;
  const std::string key_;
  Listener listener_;
  const MemberCommand command_;
};

}  // namespace warpath::cluster
