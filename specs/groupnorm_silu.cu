// o = silu(w[c] * (x - mean) / sqrt(var + 1e-5) + b[c]), statistics over one group of C / G
// channels of one image. x, o: [B, C, HW]; w, b: [C]. One thread a group.
extern "C" __global__ void groupnorm_silu(
    float* o, const float* x, const float* w, const float* b, int B, int C, int HW, int G) {
  int group = blockIdx.x * blockDim.x + threadIdx.x;
  if (group >= B * G) return;
  int channels = C / G;
  int size = channels * HW;
  int start = group * size;

  float mean = 0.0f;
  for (int i = 0; i < size; i++) {
    mean += x[start + i];
  }
  mean /= size;

  float var = 0.0f;
  for (int i = 0; i < size; i++) {
    float d = x[start + i] - mean;
    var += d * d;
  }
  var /= size;

  float rstd = 1.0f / sqrtf(var + 1e-5f);
  for (int i = 0; i < size; i++) {
    int c = (group % G) * channels + i / HW;
    float y = (x[start + i] - mean) * rstd * w[c] + b[c];
    o[start + i] = y / (1.0f + expf(-y));
  }
}
