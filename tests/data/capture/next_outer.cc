// Asks for the next definition of its own name: whose is next depends on who asks.

#include <dlfcn.h>

extern "C" int answer();

extern "C" __attribute__((visibility("default"))) int answer() {
  const auto next = reinterpret_cast<int (*)()>(::dlsym(RTLD_NEXT, "answer"));
  return next == nullptr || next == &answer ? -1 : 1 + next();
}
