#include "runners/cuda/compile/nvrtc.h"

namespace warpath::cuda {

struct Nvrtc::Table {};

std::optional<Nvrtc> Nvrtc::open(const std::string& library, std::string& why) {
  why = library +
        ": this program was built without the CUDA headers; install them (nvrtc.h) and build again";
  return std::nullopt;
}

NvrtcOutput Nvrtc::compile(const NvrtcInput& /*input*/) const {
  return {};
}

}  // namespace warpath::cuda
