#include "runners/cuda/gates/buffer_names.h"

#include "runners/arguments.h"
#include "runners/cuda/compile/compile.h"

namespace warpath::cuda {

BufferNames main_buffer_names(const GateSubject& subject) {
  BufferNames names;
  for (const ArgSpec* const arg : kernel_arguments(*subject.spec)) names.push_back(arg->name);
  if (subject.variant != nullptr) {
    for (const ScratchBuffer& buffer : subject.variant->scratch) names.push_back(buffer.name);
  }
  return names;
}

BufferNames buffer_names(const GateSubject& subject, std::string_view entry) {
  if (subject.variant != nullptr && entry != subject.code->lowered_name) {
    for (const auto* steps : {&subject.variant->before, &subject.variant->after}) {
      for (const LaunchStep& step : *steps) {
        if (step.kind == LaunchStep::Kind::kernel && step.kernel_name == entry)
          return step.arguments;
      }
    }
  }
  return main_buffer_names(subject);
}

}  // namespace warpath::cuda
