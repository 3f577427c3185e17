#include "runners/cluster/meeting_point.h"

#include "engine/base/error.h"
#include "runners/cluster/access_key.h"
#include "runners/cuda/compile/folder_cache.h"

namespace warpath::cluster {
namespace {

namespace fs = std::filesystem;

constexpr std::string_view kKeyFile = "key";

/// Machines share the folder around it: the name is that of this one.
std::string folder_name() {
  return "cluster-" + host_name();
}

fs::path root_of(const ClusterOptions& options) {
  const fs::path root =
      options.folder.empty() ? cuda::default_cache_folder("cluster") : fs::absolute(options.folder);
  std::error_code error;
  fs::create_directories(root, error);
  if (error) throw environment_error("cluster.folder: " + root.string() + ": " + error.message());
  TemporaryFolder::remove_leftovers(folder_name(), root);
  return root;
}

}  // namespace

MeetingPoint::MeetingPoint(const ClusterOptions& options, const std::string& program)
    : folder_(folder_name(), root_of(options)),
      key_(create_key(folder_ / kKeyFile)),
      listener_(options.port),
      command_{options.program.empty() ? fs::absolute(program).string() : options.program,
               "worker",
               "member",
               "--connect",
               (options.address.empty() ? host_name() : options.address) + ":" +
                   std::to_string(listener_.port()),
               "--key",
               (folder_ / kKeyFile).string()} {}

}  // namespace warpath::cluster
