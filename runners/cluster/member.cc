#include "runners/cluster/member.h"

namespace warpath::cluster {

void Member::send(const EngineMessage& message) {
  const std::string frame = encode(message);
  const std::lock_guard lock(writing);
  put(frame);
}

void Member::put(std::string_view frames) {
  if (!socket.write(frames)) socket.shut_down();
}

void Member::ping() {
  static const std::string kPing = encode(EngineMessage(Ping{}));
  const std::unique_lock lock(writing, std::try_to_lock);
  if (lock) socket.try_write(kPing);
}

std::string Member::text() const {
  if (who.host.empty()) return "a member";
  return who.host + (who.job.empty() ? " (process " + std::to_string(who.pid) + ")"
                                     : " (job " + who.job + ")");
}

}  // namespace warpath::cluster
