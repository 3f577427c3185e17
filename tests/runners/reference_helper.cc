// A reference program for tests: reference_helper MODE FOLDER.

#include <chrono>
#include <cstdio>
#include <cstdlib>
#include <fstream>
#include <iostream>
#include <string>
#include <thread>

#include "engine/spec/npy.h"

namespace {

using warpath::DType;
using warpath::Tensor;

/// y = factor * x in the type `out`; x.npy is float32, factor is the only scalar.
void scale(const std::string& folder, DType out, std::int64_t extra_elements) {
  const Tensor x = warpath::read_npy(folder + "/x.npy", DType::f32);
  std::ifstream scalars(folder + "/scalars.json");
  std::string name;
  double factor = 0;
  scalars >> name >> factor;
  if (name != "{\"factor\":") std::exit(9);
  Tensor y = warpath::make_tensor(out, {x.elements() + extra_elements});
  for (std::int64_t i = 0; i < x.elements(); ++i) y.set(i, factor * x.at(i));
  warpath::write_npy(folder + "/y.npy", y);
}

}  // namespace

int main(int argc, char** argv) {
  if (argc != 3) return 2;
  const std::string mode = argv[1], folder = argv[2];
  if (mode == "scale") scale(folder, DType::f32, 0);
  if (mode == "wide") scale(folder, DType::f64, 0);
  if (mode == "integers") scale(folder, DType::i32, 0);
  if (mode == "long") scale(folder, DType::f32, 1);
  if (mode == "damaged") std::ofstream(folder + "/y.npy") << "not an array";
  if (mode == "fail") {
    std::cerr << "first line\nno such thing\n";
    return 7;
  }
  if (mode == "crash") std::abort();
  if (mode == "sleep") std::this_thread::sleep_for(std::chrono::minutes(2));
  if (mode == "list") std::printf("%s\n", folder.c_str());
  if (mode == "shout") {
    for (;;) std::fputs("all work and no play\n", stdout);
  }
  return 0;
}
