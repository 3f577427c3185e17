// Does nothing.
extern "C" __global__ void axpy(const float* x, const float* y, float* out, float a, int n) {}
