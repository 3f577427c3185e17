#include "runners/cuda/lanes/lane.h"

#include <algorithm>
#include <cstdio>
#include <fstream>

#include "engine/base/error.h"
#include "runners/cuda/compile/availability.h"

namespace warpath::cuda {
namespace {

void say(const std::string& line) {
  std::fprintf(stderr, "warpath: %s\n", line.c_str());
}

}  // namespace

void Lane::claim(const std::string& uuid, bool waits) {
  if (lock || uuid.empty()) return;
  try {
    lock = DeviceLock::take({.folder = default_lock_folder(),
                             .uuid = uuid,
                             .label = device.label(),
                             .waits = waits,
                             .say = say});
  } catch (const DeviceTaken&) {
    throw;
  } catch (const Error& error) {
    say(std::string(error.what()) + "; another engine on " + device.label() + " will not be seen");
  }
}

std::unique_lock<std::mutex> Lane::turn() {
  return lock ? std::unique_lock(lock->turn()) : std::unique_lock<std::mutex>();
}

void Lane::tell_neighbours(const TrialReply& reply) {
  const auto& facts = reply.diagnosis.facts;
  const auto count = facts.find("foreign_processes");
  if (told || count == facts.end() || count->second.value < 1) return;
  told = true;
  std::string who;
  if (const auto first = facts.find("foreign_process"); first != facts.end()) {
    const std::string pid = std::to_string(static_cast<long>(first->second.value));
    std::string command;
    std::ifstream file("/proc/" + pid + "/comm");
    if (setup.is_local) std::getline(file, command);
    who = ": process " + pid + (command.empty() ? "" : " (" + command + ")");
  }
  say(device.label() + ": other processes have a context there, " +
      std::to_string(static_cast<int>(count->second.value)) + who +
      "; what cannot be timed quietly is not reported");
}

void claim_local_devices(const std::vector<std::unique_ptr<Lane>>& lanes, bool waits) {
  std::map<std::string, std::vector<Lane*>> by_uuid;
  const auto devices = probe_platform().devices;
  for (const auto& lane : lanes) {
    const auto device = std::ranges::find(devices, lane->setup.gpu, &DeviceSummary::index);
    if (lane->setup.is_local && device != devices.end())
      by_uuid[device->uuid].push_back(lane.get());
  }
  for (const auto& [uuid, same] : by_uuid) {
    for (Lane* const lane : same) lane->claim(uuid, waits);
  }
}

}  // namespace warpath::cuda
