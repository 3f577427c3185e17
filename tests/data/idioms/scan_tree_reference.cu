extern "C" __global__ void scan_tree_reference(float* g_odata, const float* g_idata) {
  if (threadIdx.x != 0) return;
  double sum = 0;
  for (long long i = blockIdx.x * 1024ll; i < (blockIdx.x + 1) * 1024ll; ++i) {
    g_odata[i] = static_cast<float>(sum);
    sum += g_idata[i];
  }
}
