// The next definition of the name.

extern "C" int answer();
extern "C" int used();

extern "C" __attribute__((visibility("default"))) int answer() { return 41; }

/// Called by the program, so that it is linked to this library.
extern "C" __attribute__((visibility("default"))) int used() { return 0; }
