extern "C" __global__ void transpose_rows_reference(float* odata, const float* idata, int width, int height) {
  const long long i = static_cast<long long>(blockIdx.x) * blockDim.x + threadIdx.x;
  if (i < static_cast<long long>(width) * height) odata[i] = idata[i % height * width + i / height];
}
