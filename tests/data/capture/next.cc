// Prints what a library finds behind itself.

#include <cstdio>

extern "C" int answer();
extern "C" int used();

int main() { std::printf("%d\n", answer() + used()); }
