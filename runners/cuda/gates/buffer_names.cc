#include "runners/cuda/gates/buffer_names.h"

#include "engine/spec/parameters.h"
#include "runners/cuda/compile/compile.h"
#include "runners/inputs/arguments.h"

namespace warpath::cuda {

BufferNames main_buffer_names(const GateSubject& subject) {
  BufferNames names;
  const std::vector<ParameterLayout> layouts = parameter_layouts(*subject.spec);
  const std::vector<const ArgSpec*> arguments = parameter_arguments(*subject.spec);
  for (std::size_t i = 0; i < layouts.size(); ++i)
    names.push_back(arguments[i] == nullptr ? layouts[i].struct_name : arguments[i]->name);
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
