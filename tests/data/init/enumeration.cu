enum class Mode { twice, half };

// An enumeration passed by value.
__global__ void scaled(const float* x, float* y, Mode mode, int columns, int rows) {
  int column = blockIdx.x * blockDim.x + threadIdx.x, row = blockIdx.y * blockDim.y + threadIdx.y;
  if (column >= columns || row >= rows) return;
  y[row * columns + column] = x[row * columns + column] * (mode == Mode::twice ? 2.f : 0.5f);
}
